"""Whether a period of small writes consists of several units, told apart by full queues.

A drive may write two neighbouring units side by side, or one after the other if both are on one
chip. A write that straddles them is slower in the second case only, so that latency repeats with
the placement and not with the unit. With a full queue side by side costs as much as in turn:
the chips have twice as much to do.

Bursts of writes across a boundary, at random periods, are held against bursts that end before it
or begin at it: the same units on the same chips, one at a time. Bursts are divided into stretches
of a few completions; how much longer these take is the median of the ratios of all pairs
(Hodges, Lehmann), to which a merge now and then adds little. What consists of several units must
show its own boundary in every other period, too: of half of one that is too long to be looked for
all parts cost alike on average, as every other boundary of it is within a unit.

Where one command is served at a time, or forced writes pass a buffer with units of its own, no
queue is ever full. There every place at which units could begin is looked at, as some lie on one
chip; and a unit shows by being written whole, which saves reading it: that decides where bursts do
not, and must bear out what bursts say where forced writes may have shown units of the buffer: those
repeat in the address, too, and are read by nobody.
As a boundary between two chips costs nothing there, and one block has no place to cross inside,
what is found without full queues, or is below four blocks, must pass `unit_parts`, too, and cost as
much to go beyond everywhere; and what was not clear may still pass it. (Where many reads at once
gain and writes do not, all that is near each other is on one chip.) So must all that forced writes
show: a unit of the buffer leaves it at once, and as much across two of them in turn, which looks
like reading that a whole unit saves.
All is held against being written by twos and threes: all of a unit is written sooner than a part of
it, and several units are not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Reason
from ssdscope.probes import unit_parts
from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import in_peace
from ssdscope.probes.gaps import between_bursts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ssdscope.probes.write_through import Writer
    from ssdscope.targets.records import DeviceInfo

DEPTH, BURST, STRETCH = 64, 128, 8
BURST_NS = 250_000_000
"""Longer a burst is not to take, lest others disturb it; but it has two stretches at least."""
STRETCHES = (128, 512, 1024)
"""Of each kind in the first look, and in all at the end of each other."""
BURSTS_SHARE = 8
"""Which part of the capacity bursts may write for one split; of which there are five at most."""
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
ALIKE, UNLIKE = 0.3, 0.15
"""Of that. Two units whose chips share some of their work cost less than two on one chip, and to
cross pages of one unit costs next to nothing."""
SERIAL_UNLIKE = 0.06
"""Of that, where one command is served at a time: chips that share a write show hardly more."""
WHOLES, WHOLE_SHIFTS = 192, (0, -1, 1, -2, 2)
WHOLE_SHOWS, SURE, SUSPECT = 0.03, 4.0, 3.0
"""What writing a unit whole must save, in the logarithm and in standard errors; and how much makes
it unclear."""
STRANGE = 0.5
"""Of what a unit saves: what is no multiple of one saves less, in the logarithm."""
DEAR = 0.5
"""Of what it costs most to go beyond: what is more costs as much."""
ACROSS, ALONE = 0, 1


def writes_bytes(info: DeviceInfo, largest_bytes: int) -> int:
    """Give the most that is written, with as much again that others disturbed."""
    wholes = 4 * len(WHOLE_SHIFTS) * WHOLES * largest_bytes
    edges = 6 * unit_parts.LOOKS[0] * largest_bytes
    halves = 2 * sum(unit_parts.PARTS) * unit_parts.LOOKS[1] * 2 * largest_bytes
    parts = unit_parts.writes_bytes(info) + min(halves, info.capacity_bytes)
    return 5 * info.capacity_bytes // BURSTS_SHARE + wholes + edges + parts


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
        Whether the drive serves one command at a time, or one chip all of them.
    queued
        Whether it is known to take more than one.
    """

    blocks: int
    boundary: int
    write_ns: float
    serial: bool
    queued: bool


def innermost(writer: Writer, period: Period) -> int | None:
    """Give the unit that a period consists of, in logical blocks; None if it is not clear."""
    clear = _by_bursts_or_wholes(writer, period)
    alone = writer.forced or (period.serial and not period.queued)
    if clear is not None and not (alone or clear < 2 * BLOCKS):
        return None if _is_part(writer, replace(period, blocks=clear)) else clear
    whole = replace(period, blocks=clear or period.blocks)
    if unit_parts.is_one(writer, whole.blocks, _begins(writer, whole), strict=clear is None):
        part = _edges_differ(writer, period, whole.blocks) or _is_part(writer, whole)
        return None if part else whole.blocks
    if clear is None:
        return None
    if not alone and unit_parts.saves_in_full_queues(writer, clear, _begins(writer, whole)):
        return clear
    return _part(writer, whole) if period.serial and not writer.forced else None


def _begins(writer: Writer, period: Period) -> Callable[[np.random.Generator, int], NDArray[Any]]:
    """Give what gives first bytes of random units as large as the period."""

    def places(rng: np.random.Generator, count: int) -> NDArray[Any]:
        at = np.full(count, period.boundary % period.blocks)
        return _places(writer.bench.info, rng, period.blocks, at)

    return places


def _edges_differ(writer: Writer, period: Period, part: int) -> bool:
    """Say whether most parts of a period cost less to go beyond than others: pages of one unit.

    As a whole page is not read they look like units, but to go beyond all of them costs more. Where
    units lie on one chip in rows, it is the other way round: to go beyond most costs a program. And
    where they lie there by twos, a second one is sent as slowly as it is read, and saves nothing.
    """
    if period.blocks == part:
        return False
    begins = [
        _begins(writer, replace(period, boundary=period.boundary + number * part))
        for number in range(period.blocks // part)
    ]
    found = [unit_parts.edge(writer, part, each, number) for number, each in enumerate(begins)]
    edges = {number: edge for number, edge in enumerate(found) if edge is not None}
    if len(edges) < 2:
        return False
    least, most = (choose(edges, key=lambda each: edges[each].more_ns) for choose in (min, max))
    dear = sum(each.more_ns > DEAR * edges[most].more_ns for each in edges.values())
    apart = edges[most].more_ns - edges[least].more_ns
    surely = apart > SURE * np.hypot(edges[most].error_ns, edges[least].error_ns)
    if not surely or dear > len(edges) / 2:
        return False
    return unit_parts.sent_too_fast(writer, part, begins[least])


def _is_part(writer: Writer, unit: Period) -> bool:
    """Say whether what was found is surely a half or a third of a unit, which is written sooner.

    Bursts compare two costs, and what disturbs the greater one makes the other as large. And pages
    of a unit, each of which is read by itself, look like units to writes that go beyond them.
    """
    for times in unit_parts.PARTS:
        for number in range(times):
            begin = unit.boundary + number * unit.blocks
            whole = replace(unit, blocks=times * unit.blocks, boundary=begin)
            begins = _begins(writer, whole)
            shorter = partial(
                unit_parts.whole_is_shorter,
                *(writer, unit.blocks, whole.blocks, begins),
                sure=SURE,
                most_writes=unit_parts.LOOKS[1],
            )
            try:
                if shorter() and shorter(look=1):
                    return True
            except Stopped as stop:
                if stop.reason not in {Reason.INTERFERENCE, Reason.BUDGET_EXHAUSTED}:
                    raise
    return False


def _part(writer: Writer, period: Period) -> int | None:
    """Give a part of the period that is surely one unit.

    Where rows of units follow each other on chips that work side by side, boundaries between rows
    cost nothing, and none within the period is like its own.
    """
    for split in SERIAL_SPLITS:
        part, rest = divmod(period.blocks, split)
        if rest or part < BLOCKS:
            continue
        begins = _begins(writer, replace(period, blocks=part))
        if not unit_parts.whole_is_shorter(writer, 1, part, begins):
            continue
        if unit_parts.is_one(writer, part, begins, strict=True):
            return None if _edges_differ(writer, period, part) else part
    return None


def _by_bursts_or_wholes(writer: Writer, period: Period) -> int | None:
    unit = _by_bursts(writer, period)
    if unit not in {None, period.blocks} and not _returns(writer, period):
        unit = None
    if not writer.forced and (unit is not None or not period.serial):
        return unit
    whole = _by_wholes(writer, replace(period, blocks=unit or period.blocks))
    return whole if unit in {None, whole} else None


def _by_bursts(writer: Writer, period: Period) -> int | None:
    """Divide the period while bursts find boundaries inside."""
    for split in SERIAL_SPLITS if period.serial else SPLITS:
        unit, rest = divmod(period.blocks, split)
        if rest or unit < BLOCKS:
            continue
        consists = _agreed(_bursts(writer, period, unit), period.serial)
        if consists is None:
            return None
        if consists:
            return _by_bursts(writer, replace(period, blocks=unit, boundary=period.boundary % unit))
    return period.blocks


def _returns(writer: Writer, period: Period) -> bool:
    """Say whether every other boundary of a period costs as much, as it does not of half of one."""
    twice = replace(period, blocks=2 * period.blocks)
    return bool(_agreed(_bursts(writer, twice, period.blocks), period.serial))


def _by_wholes(writer: Writer, period: Period) -> int | None:
    """Give the smallest part of a period, or all of it, that saves reading by being written whole.

    A part of a unit saves little, and it takes as long as the unit, which need not be read. What
    holds a unit and a part of another saves as well: the unit, as one block aside it holds none.
    """
    largest = _wholes(writer, period)
    saving: dict[int, float] = {}
    sure = False
    for number in range(period.blocks // BLOCKS, 0, -1):
        part, rest = divmod(period.blocks, number)
        if rest:
            continue
        logs = largest if number == 1 else _wholes(writer, replace(period, blocks=part))
        saved, error = _saved(logs)
        shorter = float(np.median(largest[0]) - np.median(logs[0]))
        if saved > SUSPECT * error and (number == 1 or shorter > saved / 3):
            sure = sure if saving else saved > max(SURE * error, WHOLE_SHOWS)
            saving[part] = saved
    unit = min(saving, default=0)
    # A block aside a unit is two; what is no multiple of it saves less, and its multiples may.
    strange = [saved for part, saved in saving.items() if part % unit]
    return unit if sure and all(each < STRANGE * saving[unit] for each in strange) else None


def _wholes(writer: Writer, period: Period) -> list[NDArray[Any]]:
    """Write as much as a unit where every other would begin, and one and two blocks aside.

    Returns
    -------
    list of ndarray
        By shift, logarithms of latency.
    """
    bench = writer.bench
    block, rng = bench.info.logical_block_bytes, bench.rng(f"whole units {period.blocks}")
    which = rng.permuted(np.resize(np.arange(len(WHOLE_SHIFTS)), WHOLES * len(WHOLE_SHIFTS)))
    at = period.boundary + np.array(WHOLE_SHIFTS)[which]
    # Every other: of two parts of a unit one block aside straddles it for one of the sides only.
    places = _places(bench.info, rng, 2 * period.blocks, at)

    def write(part: slice) -> NDArray[Any]:
        return writer.latency_ns(places[part], period.blocks * block)

    writer.renew()
    logs = np.log(between_bursts(bench, places.size, write, longest=places.size))
    by_shift = [logs[which == number] for number in range(len(WHOLE_SHIFTS))]
    return [each[~np.isnan(each)] for each in by_shift]


def _saved(logs: list[NDArray[Any]]) -> tuple[float, float]:
    """How much shorter writes are at a boundary than one block aside, in the logarithm; its error.

    Two blocks aside must cost no more than one, or it would only be the placement; else nothing.
    """
    whole, *aside = (float(np.median(each)) for each in logs)
    saved, more = min(aside[:2]) - whole, max(aside[2:]) - max(aside[:2])
    deviations = np.concatenate([np.abs(each - np.median(each)) for each in logs])
    error = 2.6 * float(np.median(deviations)) / np.sqrt(WHOLES)  # of a difference of medians
    return (saved if more <= saved / 2 else 0.0), error


def _bursts(writer: Writer, period: Period, unit: int) -> NDArray[Any]:
    """Write bursts until two halves agree whether units of that size begin within the period, too.

    Returns
    -------
    ndarray of float, shape (rounds, 2 boundaries, 2 ways, stretches)
        Logarithms of what stretches take: at the period's boundary and inside; across and alone.
    """
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
        if _agreed(logs, period.serial) is not None:
            break
    return logs


def _agreed(logs: NDArray[Any], serial: bool) -> bool | None:
    """Judge by two halves that must agree."""
    first, second = (_verdict(logs[half::2], serial) for half in (0, 1))
    return first if first == second else None


def _verdict(logs: NDArray[Any], serial: bool) -> bool | None:
    own, inner = _costs(logs)
    if own < SHOWS:
        return None
    if inner <= (SERIAL_UNLIKE if serial else UNLIKE) * own:
        return False
    return True if inner >= ALIKE * own else None


def _costs(logs: NDArray[Any]) -> tuple[float, float]:
    """How much longer across than alone: at the period's boundary, and inside."""
    sides = [_longer(logs[:, at, ACROSS].ravel(), logs[:, at, ALONE].ravel()) for at in (0, 1)]
    return sides[0], sides[1]


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
