"""Where a search begins: drives that were drawn once, and did what the measured one does.

Each was simulated on the workloads that designs are fitted to (`scripts.twin_table`), so that those
that come nearest are known without running any. Each is a whole drive, whose parts belong together.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.twin.design import Design
from ssdscope.twin.rows import KIB, SHARES, WANTED, Row

if TYPE_CHECKING:
    import numpy.typing as npt

    from ssdscope.twin.found import Found

__all__ = ["Drawn", "asked", "drawn_drives", "nearest", "packed"]

REQUESTS = 400
"""Of a burst of the table, as of a survey."""
MILLI = 1000
"""Logarithms are kept in thousandths."""
MISSING = np.iinfo(np.int16).min
FAR = 3.0
"""What a workload counts as, as a logarithm, that a drawn drive could not run."""


def asked() -> list[Row]:
    """List what every drawn drive was asked."""
    parts = (1.0,) * (len(SHARES) - 1)
    return [
        Row(sort, rw, size * KIB, depth, REQUESTS, 1.0, parts if sort == "burst" else ())
        for sort, wanted in WANTED.items()
        if sort != "long"
        for (rw, depth), sizes in wanted.items()
        for size in sizes
    ]


@dataclass(frozen=True)
class Drawn:
    """Drives that were drawn, and what each takes.

    Attributes
    ----------
    designs
        The drives.
    logs
        Logarithms of nanoseconds, shape (drives, numbers of `asked`); not a number where a drive
        could not.
    """

    designs: Sequence[Design]
    logs: npt.NDArray[np.float64]


def packed(designs: Sequence[Design], logs: npt.NDArray[np.float64]) -> dict[str, np.ndarray]:
    """Write drives as arrays for a file."""
    told = json.dumps([[each.capacity_bytes, dict(each.values)] for each in designs])
    whole = np.nan_to_num(np.rint(logs * MILLI), nan=MISSING).astype(np.int16)
    return {"drives": np.frombuffer(zlib.compress(told.encode(), 9), np.uint8), "logs": whole}


@cache
def drawn_drives() -> Drawn:
    """Read the drives that come with the program."""
    with files("ssdscope.twin").joinpath("drawn.npz").open("rb") as file:
        kept = np.load(file)
        told, logs = json.loads(zlib.decompress(kept["drives"].tobytes())), kept["logs"]
    designs = [Design(values, capacity) for capacity, values in told]
    return Drawn(designs, np.where(logs == MISSING, np.nan, logs / MILLI))


def nearest(drawn: Drawn, rows: Sequence[Row], found: Found, most: int) -> Iterator[Design]:
    """Return drawn drives of the kind that was found, the nearest first, with what was found.

    Parameters
    ----------
    drawn
        The drives.
    rows
        What was measured.
    found
        What is known of the inside.
    most
        How many are wanted.
    """
    allowed = [at for at, each in enumerate(drawn.designs) if found.allows(each)]
    distance = _distances(drawn.logs[allowed], rows)
    for at in np.argsort(distance, kind="stable")[:most]:
        yield found.put_into(drawn.designs[allowed[int(at)]])


def _distances(logs: npt.NDArray[np.float64], rows: Sequence[Row]) -> npt.NDArray[np.float64]:
    """Return how far drives are from what was measured, over the numbers that both have."""
    places, at = dict[str, slice](), 0
    for row in asked():
        places[row.name] = slice(at, at := at + row.logs().size)
    total, weight = np.zeros(len(logs)), 0.0
    for row in rows:
        wanted, where = row.logs(), places.get(row.name)
        if where is None:
            continue
        theirs = logs[:, where]
        if wanted.size == 1 < theirs.shape[1]:
            # A course of which only the mean was told.
            wanted = np.repeat(wanted, theirs.shape[1])
        off = np.nan_to_num(np.clip(theirs - wanted, -FAR, FAR), nan=FAR)
        total += np.abs(off).mean(axis=1) * row.counts
        weight += row.counts
    return total / max(weight, 1.0)
