"""Whether a period of small writes consists of several units, told apart by full queues.

A drive may write two neighbouring units side by side, or one after the other if both are on one
chip. A write that straddles them is slower in the second case only, so that latency repeats with
the placement and not with the unit. With a full queue side by side costs as much as in turn:
the chips have twice as much to do.

Bursts of writes across a boundary, at random periods, are held against bursts that end before it
or begin at it: the same units on the same chips, one at a time. Bursts are divided into stretches
of a few completions; how much longer these take is the median of the ratios of all pairs
(Hodges, Lehmann), to which a merge now and then adds little.

Where one command is served at a time no queue is ever full. There every place at which units could
begin is looked at, as some lie on one chip; and if none costs anything, a unit shows by being
written whole, which saves reading it (`saves_reading`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import in_peace
from ssdscope.probes.finding import Reason
from ssdscope.probes.gaps import between_bursts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.write_through import Writer
    from ssdscope.targets.records import DeviceInfo

DEPTH, BURST, STRETCH = 64, 128, 8
BURST_NS = 250_000_000
"""Longer a burst is not to take, lest others disturb it; but it has two stretches at least."""
STRETCHES = (128, 512, 1024)
"""Of each kind in the first look, and in all at the end of each other."""
BURSTS_SHARE = 8
"""Which part of the capacity bursts may write for one split; of half of it in all."""
PERSISTENCE = 3
"""How many times as many stretches are tried where others disturb."""
BLOCKS = 2
"""In a write: the least that straddles."""
REGION_BYTES, FEWEST_PERIODS = 1 << 20, 8
"""A burst stays within so much, so that log blocks are merged rarely."""
SPLITS = (2, 3)
SERIAL_SPLITS = (2, 3, 4, 6, 8)
SHOWS = 0.1
"""How much longer it must take to write across the period's own boundary."""
ALIKE, UNLIKE = 0.5, 0.15
"""Of that. Between lies what a drive does that takes one command at a time, so that its queue is
never full."""
WHOLES, WHOLE_SHIFTS = 96, (0, -1, 1, -2, 2)
WHOLE_SHOWS = 0.03
ACROSS, ALONE = 0, 1


def writes_bytes(info: DeviceInfo, largest_bytes: int) -> int:
    """Give the most that is written, with as much again that others disturbed."""
    return info.capacity_bytes // 2 + 4 * len(WHOLE_SHIFTS) * WHOLES * largest_bytes


@dataclass(frozen=True)
class Period:
    """What repeats, all in logical blocks.

    Attributes
    ----------
    boundary
        A place within it at which a unit begins.
    write_ns
        What a write takes, roughly.
    serial
        Whether the drive serves one command at a time.
    """

    blocks: int
    boundary: int
    write_ns: float
    serial: bool


def innermost(writer: Writer, period: Period) -> int | None:
    """Give the unit that a period consists of, in logical blocks; None if it is not clear."""
    for split in SERIAL_SPLITS if period.serial else SPLITS:
        unit, rest = divmod(period.blocks, split)
        if rest or unit < BLOCKS:
            continue
        consists = _consists(writer, period, unit)
        if consists is None:
            inside = replace(period, boundary=period.boundary + unit)
            alone = saves_reading(writer, period) and not saves_reading(writer, inside)
            return period.blocks if period.serial and alone else None
        if consists:
            return innermost(writer, replace(period, blocks=unit, boundary=period.boundary % unit))
    return period.blocks


def saves_reading(writer: Writer, period: Period) -> bool:
    """Whether writing a period whole is faster than writing as much one block aside.

    Two blocks aside must cost no more than one, or it would only be the placement; in both halves.
    """
    bench = writer.bench
    block, rng = bench.info.logical_block_bytes, bench.rng(f"whole units {period.blocks}")
    which = rng.permuted(np.resize(np.arange(len(WHOLE_SHIFTS)), WHOLES * len(WHOLE_SHIFTS)))
    at = period.boundary + np.array(WHOLE_SHIFTS)[which]
    places = _places(bench.info, rng, period.blocks, at)

    def write(part: slice) -> NDArray[Any]:
        return writer.latency_ns(places[part], period.blocks * block)

    logs = np.log(between_bursts(bench, places.size, write, longest=places.size))
    for half in (slice(0, None, 2), slice(1, None, 2)):
        whole, *aside = (
            float(np.nanmedian(logs[half][which[half] == number]))
            for number in range(len(WHOLE_SHIFTS))
        )
        saved, more = min(aside[:2]) - whole, max(aside[2:]) - max(aside[:2])
        if saved < WHOLE_SHOWS or more > saved / 2:
            return False
    return True


def _consists(writer: Writer, period: Period, unit: int) -> bool | None:
    """Whether units of that size begin within the period, too; two halves must agree."""
    info = writer.bench.info
    size = int(np.clip(BURST_NS / period.write_ns, 2 * STRETCH, BURST)) // STRETCH * STRETCH
    rng = writer.bench.rng(f"inner units {period.blocks} {unit}")
    logs = np.empty((0, 2, 2, size // STRETCH))
    for stretches in STRETCHES:
        asked = stretches * 4 * STRETCH * BLOCKS * info.logical_block_bytes
        if asked > info.capacity_bytes // BURSTS_SHARE:
            break
        while np.isfinite(logs).all(axis=(1, 2)).sum() < stretches:
            logs = np.concatenate([logs, _round(writer, rng, period, unit, size)])
            if logs[:, 0, 0].size > PERSISTENCE * stretches:
                raise Stopped(Reason.INTERFERENCE, "others used the drive during most bursts")
        first, second = (_verdict(logs[half::2]) for half in (0, 1))
        if first is not None and first == second:
            return first
    return None


def _verdict(logs: NDArray[Any]) -> bool | None:
    """Judge by logarithms: of rounds, of both boundaries, across and alone, of stretches."""
    own, inner = (
        _longer(logs[:, which, ACROSS].ravel(), logs[:, which, ALONE].ravel()) for which in (0, 1)
    )
    if own < SHOWS:
        return None
    if inner <= UNLIKE * own:
        return False
    return True if inner >= ALIKE * own else None


def _longer(some: NDArray[Any], others: NDArray[Any]) -> float:
    """How much longer, as a share, by the median of all pairs."""
    first, second = some[np.isfinite(some)], others[np.isfinite(others)]
    if not first.size or not second.size:
        return 0.0
    return float(np.expm1(np.median(first[:, None] - second[None, :])))


def _round(
    writer: Writer, rng: np.random.Generator, period: Period, unit: int, size: int
) -> NDArray[Any]:
    """Write a burst each: at the period's boundary and at one inside, across and alone."""
    logs = np.empty((1, 2, 2, size // STRETCH))
    for number in rng.permutation(4):
        writer.renew()  # With empty log blocks again, hardly any is merged.
        which, how = divmod(int(number), 2)
        before = np.full(size, 1) if how == ACROSS else rng.choice((0, BLOCKS), size)
        at = period.boundary + which * unit - before
        logs[0, which, how] = _stretches(writer, rng, period.blocks, at)
    return logs


def _stretches(
    writer: Writer, rng: np.random.Generator, period_blocks: int, at: NDArray[Any]
) -> NDArray[Any]:
    """Write at places of random periods; logarithms of what so many completions take.

    NaN if others disturbed.
    """
    info = writer.bench.info
    places = _places(info, rng, period_blocks, at)
    call = partial(writer.ends_ns, places, BLOCKS * info.logical_block_bytes, iodepth=DEPTH)
    try:
        ends = np.concatenate([[0.0], in_peace(writer.bench, call)])
    except Stopped as stop:
        if stop.reason is not Reason.INTERFERENCE:
            raise
        return np.full(at.size // STRETCH, np.nan)
    return np.asarray(np.log(np.maximum(np.diff(ends[::STRETCH]), 1.0)))


def _places(
    info: DeviceInfo, rng: np.random.Generator, period_blocks: int, at: NDArray[Any]
) -> NDArray[Any]:
    """Give first bytes of writes at places of random periods that are near each other."""
    block = info.logical_block_bytes
    periods = info.capacity_bytes // block // period_blocks
    near = min(max(REGION_BYTES // block // period_blocks, FEWEST_PERIODS), periods - 4)
    first = int(rng.integers(1, max(periods - near - 2, 2)))
    return np.asarray(((first + rng.integers(0, near, at.size)) * period_blocks + at) * block)
