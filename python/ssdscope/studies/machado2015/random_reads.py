"""Why random reads looked like writes: what could cause it, tried one by one.

The paper found random reads as slow as writes and sensitive to the settings of collection, and
left the reason open. Here the same random list is run as reads, as reads on an aged drive, as
reads between writes, and with its read bit cleared, on every drive and at all ten sizes.
Attribution says where the time of a read goes.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ssdscope.errors import DeviceError
from ssdscope.plots import panels
from ssdscope.probes.budget import StageProgress
from ssdscope.results import Log
from ssdscope.seeds import stream
from ssdscope.studies import judging
from ssdscope.studies.machado2015.procedure import (
    CONFIGURATIONS,
    REGION_BYTES,
    REQUESTS,
    SIZES_BYTES,
)
from ssdscope.studies.record import Columns, Measured, Reading, Table
from ssdscope.targets import Device
from ssdscope.targets.records import OP_READ, OP_WRITE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = tuple(each for each in CONFIGURATIONS if each.policy == "greedy")
"""The policies are equal on every read and write of figure 1. Those of 32 GB come first."""
LARGE = sum(each.size_gb == 32 for each in LINES)
SMALL_EFFECT_PERCENT = (0.1, 10)
"""What the settings change by where they have a small effect: seen, and not much."""
READS_IN_ORDER, WRITES_IN_ORDER = "reads in order", "writes in order"
READS, AS_WRITES = "random reads", "random reads, read bit cleared"
ADDRESS_CAUSES = ("gc", "merge", "rmw", "map")
"""Parts of a latency that depend on the address, or on what was written before."""

HEADS = (
    "run in place of the paper's random reads",
    "times reads in order",
    "times writes in order",
    "lines of 32 GB apart",
    "all lines apart",
    "all symptoms, 32 GB",
    "all symptoms",
)

Means = Mapping[str, npt.NDArray[np.float64]]
"""Mean response times in ns of what was run, by size and line; NaN where the drive got stuck."""


def investigate(
    seed: int, progress: StageProgress, sizes: Sequence[int] = SIZES_BYTES
) -> tuple[Means, dict[str, float]]:
    """Run the candidates on all configurations.

    Returns
    -------
    means, parts
        The times, and the shares of the causes in that of a random read of the largest size.
    """
    drives = [configuration.open(seed).device for configuration in LINES]
    rows = []
    for done, size in enumerate(sizes, start=1):
        rng = stream(seed, "studies.machado2015.random_reads")
        offsets = rng.integers(0, REGION_BYTES // size, size=REQUESTS) * size
        rows.append([_run(drive, offsets, size) for drive in drives])
        progress(f"random reads: {size // 1024} KB", done / len(sizes))
    means = {
        name: np.array([[_mean(logs[name]) for logs in row] for row in rows]) for name in rows[0][0]
    }
    return means, _shares(rows[-1][-1][READS])


def measure(seed: int, as_writes: bool, progress: StageProgress) -> Measured:
    """Run the candidates, and say which shows the paper's symptoms.

    Parameters
    ----------
    as_writes
        Ask them of the list with its read bit cleared.
    """
    means, parts = investigate(seed, progress)
    columns: Columns = {
        "run": [name for name in means for _ in SIZES_BYTES],
        "size_bytes": [*SIZES_BYTES] * len(means),
        **{
            f"mean_ns_{line.min_free_percent}_percent_{line.size_gb}gb": [
                mean for each in means.values() for mean in each[:, place]
            ]
            for place, line in enumerate(LINES)
        },
    }
    read = readings(means, AS_WRITES if as_writes else READS)
    return Measured(read, partial(_drawn, means), columns, [attribution(parts)], table(means))


def _run(device: Device, offsets: npt.NDArray[np.int64], size: int) -> dict[str, Log | None]:
    """Run each candidate from the same fresh state; those in order come first."""
    in_order, aged = np.arange(REQUESTS) * size, device.fork()
    filled = _log(aged, OP_WRITE, offsets, size)
    both = np.tile([OP_READ, OP_WRITE], REQUESTS)
    mixed = _log(device.fork(), both, np.repeat(offsets, 2), size)
    return {
        READS_IN_ORDER: _log(device.fork(), OP_READ, in_order, size),
        WRITES_IN_ORDER: _log(device.fork(), OP_WRITE, in_order, size),
        READS: _log(device.fork(), OP_READ, offsets, size),
        "random reads after random writes": filled and _log(aged, OP_READ, offsets, size),
        "random reads between random writes": mixed and mixed.select(mixed.op == OP_READ),
        AS_WRITES: filled,
    }


def _log(
    device: Device, op: int | npt.NDArray[np.int64], offsets: npt.NDArray[np.int64], size: int
) -> Log | None:
    """Run a list; None where the drive gets stuck."""
    ops = np.broadcast_to(op, offsets.size)
    try:
        return device.run_list(ops, offsets, np.full(offsets.size, size))
    except DeviceError:
        return None


def _mean(log: Log | None) -> float:
    return float("nan") if log is None else float(log.latency_ns.mean())


def _shares(reads: Log | None) -> dict[str, float]:
    """Give the share of each cause in the time of all reads."""
    if reads is None or reads.attribution_ns is None:
        return {}
    whole = float(reads.latency_ns.sum())
    return {cause: float(column.sum()) / whole for cause, column in reads.attribution_ns.items()}


def readings(means: Means, shown: str = READS) -> dict[str, Reading]:
    """Say which of what was run shows all that the paper saw of its random reads."""
    effect = _effect(means[READS])
    found = {"random reads, settings": Reading(f"largest difference {effect:.2g} %", effect)}
    for where, of in {"the 32 GB drives": _large(means), "all drives": means}.items():
        reads, writes = (_range(each) for each in _over(of, shown))
        said = f"{reads} times reads in order, {writes} times writes in order, lines up to "
        said += f"{_effect(of[shown]):.1f} % apart"
        showing = [name for name in _candidates(of) if _symptoms(of, name)]
        found[f"symptoms: {where}"] = Reading(said, _symptoms(of, shown))
        found[f"cause: {where}"] = Reading(", ".join(showing) or "none", float(len(showing)))
    return found


def _large(means: Means) -> Means:
    return {name: each[:, :LARGE] for name, each in means.items()}


def _candidates(means: Means) -> list[str]:
    return [name for name in means if name not in {READS_IN_ORDER, WRITES_IN_ORDER}]


def _over(means: Means, name: str) -> list[npt.NDArray[np.float64]]:
    """Compare with reads and with writes in order, wherever both were served."""
    ratios = [means[name] / means[other] for other in (READS_IN_ORDER, WRITES_IN_ORDER)]
    return [each[~np.isnan(each)] for each in ratios]


def _effect(means: npt.NDArray[np.float64]) -> float:
    """Return how much longer the slowest line takes than the fastest, in percent, at most."""
    served = means[~np.isnan(means).all(axis=1)]
    return float(100 * np.max(np.nanmax(served, axis=1) / np.nanmin(served, axis=1) - 1))


def _symptoms(means: Means, name: str) -> bool:
    """Say whether a candidate shows all symptoms: slower than reads, like writes, affected."""
    reads, writes = _over(means, name)
    low, high = SMALL_EFFECT_PERCENT
    return bool(
        reads.size
        and min(reads) > judging.SIMILAR_WITHIN
        and all(judging.similar(ratio, 1) for ratio in writes)
        and low <= _effect(means[name]) <= high
    )


def _range(ratios: npt.NDArray[np.float64]) -> str:
    low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return low if low == high else f"{low} to {high}"


def table(means: Means) -> Table:
    """List the candidates with the symptoms they show."""
    rows = []
    for name in _candidates(means):
        both = (_large(means), means)
        effects = [f"{_effect(of[name]):.1f} %" for of in both]
        shown = ["yes" if _symptoms(of, name) else "no" for of in both]
        rows.append((name, *map(_range, _over(means, name)), *effects, *shown))
    return Table(HEADS, tuple(rows))


def attribution(shares: Mapping[str, float]) -> str:
    """Say where the time of the largest random reads goes, with 50 % kept free."""
    parts = {cause: share for cause, share in shares.items() if share}
    text = ", ".join(f"{cause} {100 * share:.1f} %" for cause, share in parts.items())
    depends = [cause for cause in ADDRESS_CAUSES if cause in parts]
    verdict = (
        f"{' and '.join(depends)} depend on address or collection"
        if depends
        else "no part depends on address or collection, and reads start no collection"
    )
    return f"time of a random read by cause: {text}; {verdict}"


def _drawn(means: Means) -> "Figure":
    """Draw what was run in place of the paper's random reads, over reads in order, by size."""
    figure, axes = panels.canvas(3, width=4.0, height=4.0)
    sizes = [size / 1024 for size in SIZES_BYTES]
    for each, at in zip(axes, (0, 1, len(LINES) - 1), strict=True):
        panels.head(each, f"{LINES[at].size_gb} GB, {LINES[at].min_free_percent} % kept free")
        base = means[READS_IN_ORDER][:, at]
        names = (*_candidates(means), WRITES_IN_ORDER)
        panels.lines(
            each,
            [
                panels.Line(name, sizes, list(means[name][:, at] / base), index, 10 - 1.6 * index)
                for index, name in enumerate(names)
            ],
        )
        panels.size_axis(each, SIZES_BYTES)
        each.tick_params(axis="x", labelsize=7)
        each.set_ylim(bottom=0)
        each.set_ylabel("times reads in order")
    panels.remark(axes[2], ["a line that ends:", "the drive gets stuck"], (0.98, 0.97))
    panels.legend_below(figure, axes[0], 3)
    return figure
