"""Where a search begins: drives that were drawn once, and did what the measured one does.

Each was simulated on the workloads that designs are fitted to (`scripts.twin_table`), so that those
that come nearest are known without running any. Each is a whole drive, whose parts belong together.
"""

from __future__ import annotations

import itertools
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.twin.design import Design
from ssdscope.twin.free import paced
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
FAR, FURTHEST = 3.0, 12.0
"""What a workload counts as at most, as a logarithm; and where a drawn drive could not run it."""


def asked() -> list[Row]:
    """List what every drawn drive was asked: what is quick to run."""
    parts = (1.0,) * (len(SHARES) - 1)
    every = [
        Row(sort, rw, size * KIB, depth, REQUESTS, 1.0, parts if sort == "burst" else ())
        for sort, wanted in WANTED.items()
        for (rw, depth), sizes in wanted.items()
        for size in sizes
    ]
    return [row for row in every if not row.slow]


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
    offs, of_writes, counts = _offs(drawn.logs[allowed], rows)
    if not allowed or not counts.size:
        return
    reads, writes = (_usual(offs[:, each], counts[each]) for each in (~of_writes, of_writes))
    shift = np.where(of_writes, writes[:, None], reads[:, None])
    near, alike = (np.abs(np.clip(each, -FAR, FAR)) @ counts for each in (offs, offs - shift))
    orders = [np.argsort(each, kind="stable").tolist() for each in (near, alike)]
    for place, at in itertools.islice(enumerate(_in_turn(*orders)), most):
        base = drawn.designs[allowed[at]]
        # One that is as much slower in all is as good: its times are made shorter by that.
        slower = place % 2 == 1
        yield found.put_into(paced(base, float(reads[at]), float(writes[at])) if slower else base)


def _in_turn(*orders: Sequence[int]) -> Iterator[int]:
    for each in zip(*orders, strict=True):
        yield from each


def _usual(
    offs: npt.NDArray[np.float64], counts: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the weighted median of each drive; nothing where none was asked."""
    if not counts.size:
        return np.zeros(len(offs))
    order = np.argsort(offs, axis=1)
    half = np.cumsum(counts[order], axis=1) >= counts.sum() / 2
    at = np.take_along_axis(order, half.argmax(axis=1)[:, None], axis=1)
    usual: npt.NDArray[np.float64] = np.take_along_axis(offs, at, axis=1)[:, 0]
    return usual


def _offs(
    logs: npt.NDArray[np.float64], rows: Sequence[Row]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Return logarithms of what was measured over what drives took, where both were asked.

    Returns
    -------
    tuple
        Those, shape (drives, numbers); which are of writes; and how much each counts.
    """
    places, at = dict[str, slice](), 0
    for row in asked():
        places[row.name] = slice(at, at := at + row.logs().size)
    offs, of_writes, counts = [np.empty((len(logs), 0))], list[bool](), list[float]()
    for row in rows:
        wanted, where = row.logs(), places.get(row.name)
        if where is None:
            continue
        theirs = logs[:, where]
        # Of a course of which only the mean was told, all parts are held to that.
        offs.append(np.nan_to_num(np.clip(wanted - theirs, -FURTHEST, FURTHEST), nan=FURTHEST))
        of_writes += [row.sort == "burst"] * theirs.shape[1]
        counts += [row.counts / theirs.shape[1]] * theirs.shape[1]
    return np.hstack(offs), np.array(of_writes, bool), np.array(counts)
