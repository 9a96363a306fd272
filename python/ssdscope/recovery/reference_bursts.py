"""Reference measurements by deep bursts: what shows past a write buffer that answers for the flash.

A protected buffer answers flushes and forced writes, so no single write waits for flash. Who writes
at depth for longer than the buffer lasts sees how fast it is emptied, and so all that decides how
long its contents take to flash. What they give is as in `reference_reads`, of no more than ten
minutes of the drive's own time.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ssdscope import seeds
from ssdscope.recovery.reference_writes import SHOWS, discard_before, log_bytes
from ssdscope.recovery.shape import number
from ssdscope.recovery.twin import Offsets, Twin
from ssdscope.targets.device import Device
from ssdscope.targets.records import OP_WRITE

Series = NDArray[np.float64]

DEPTH = 32
MOST_NS = 600_000_000_000
"""Drive time that an observer has."""
PIECE_BYTES = 128 << 10
PIECES = 256
"""That a buffer is filled by, unless they would be larger than `PIECE_BYTES`."""
HALF_MIN = 2
"""Writes that the first half of a buffer takes, at least."""
MEASURED = 1024
REST_NS = 2_000_000_000
MERGE_UNITS = 24
PERIODIC_WRITES, ROUNDS = 200_000, (8, 200)
"""Writes in which periods are looked for, and at least and at most so many of these."""
PARTS_MIN, PARTS_MOST = 4, 16
"""Of a period."""


def buffer_bytes(twin: Twin) -> int:
    """Count the bytes of the write buffer."""
    return number(twin.values, "write_buffer.bytes")


def filled(twin: Twin) -> float:
    """Write pieces from rest: those behind the buffer against those that fill its first half."""
    size = max(min(buffer_bytes(twin) // PIECES, PIECE_BYTES) // 4096 * 4096, twin.block_bytes)
    return max(_filled(twin, size, size), filled_by_blocks(twin))


def filled_by_blocks(twin: Twin) -> float:
    """Compare them by single blocks, each of which takes the room of a unit of the buffer."""
    unit = number(twin.values, "write_buffer.unit_bytes", 4096)
    return _filled(twin, twin.block_bytes, max(unit, twin.shape.unit_bytes), unit)


def _filled(twin: Twin, size: int, apart: int, room: int | None = None) -> float:
    """Write from rest at places so far apart; a write takes so much room."""
    device, half = _rested(twin), buffer_bytes(twin) // (room or size) // 2
    depth = int(np.clip(half // 2, 1, DEPTH))
    if half < HALF_MIN:
        return 0.0
    count = max(8 * half, 8 * depth)
    places = _stream(twin, "filled").integers(1, twin.shape.capacity_bytes // apart - 1, count)
    gaps = gaps_ns(device, (places * apart).astype(np.uint64), size, depth)
    return in_time(float(gaps[count // 2 :].mean() / gaps[:half].mean() - 1), device)


def _rested(twin: Twin) -> Device:
    """Return a copy with an empty buffer: it was filled, its contents discarded, the drive at rest.

    Most buffers are emptied by rest alone, and those that are not by discards.
    """
    device = twin.fork(caches=True)
    end = min(2 * buffer_bytes(twin), twin.shape.capacity_bytes) // PIECE_BYTES * PIECE_BYTES
    gaps_ns(device, np.arange(0, end, PIECE_BYTES, dtype=np.uint64), PIECE_BYTES)
    if device.info.discard:
        discard_before(device, end)
    device.idle(REST_NS)
    return device


def shifted(twin: Twin) -> float:
    """Write behind a full buffer what is as long as a unit, straddling two against filling one."""
    unit = twin.shape.unit_bytes
    half = unit // 2 // twin.block_bytes * twin.block_bytes
    units = _units(twin)
    # All of them once, so that their entries are in memory if there is room for these.
    count = max(2 * buffer_bytes(twin) // unit + DEPTH, units.size)
    starts = np.resize(units, count + MEASURED)
    return _slower(twin, (starts, starts + np.uint64(half)), unit, count)


def _units(twin: Twin) -> Offsets:
    """Draw units far enough apart that few are joined with a neighbour in the buffer."""
    unit, phase = twin.shape.unit_bytes, number(twin.values, "ftl.phase_bytes")
    stream, capacity = _stream(twin, "units"), twin.shape.capacity_bytes
    held = 4 * (buffer_bytes(twin) // unit + DEPTH)
    if twin.values["ftl.kind"] == "page":
        span, entries = _covered(twin)
        # Few enough of all of them that neighbours are seldom in the buffer at the same time.
        span = min(max(span, 8 * held * unit), capacity)
        units = stream.permutation(span // unit - 3)[: max(held, min(entries, MEASURED))]
    else:
        inside = twin.shape.collected_bytes // unit
        every_other = np.arange(0, max(inside - 1, 1), 2)
        groups = stream.permutation(capacity // twin.shape.collected_bytes - 1)
        groups = np.resize(groups, -(-(held + MEASURED) // every_other.size))
        units = (groups[:, None] * inside + stream.permutation(every_other)).ravel()
    return np.asarray((units + 1) * unit - phase, np.uint64)


def _covered(twin: Twin) -> tuple[int, int]:
    """Count bytes in a row, and entries anywhere, of which half of the table in memory knows."""
    values, capacity = twin.values, twin.shape.capacity_bytes
    match values.get("map.kind", "ram"):
        case "zones":
            zone = number(values, "map.zone_bytes")
            return zone * number(values, "map.resident_zones", 1) // 2, capacity
        case "demand":
            entry = number(values, "map.cached_entry_bytes", 8)
            return capacity, number(values, "map.cache_bytes") // entry // 2
        case _:
            return capacity, capacity


def merged(twin: Twin) -> float:
    """Write whole merge units behind a full buffer, shifted by half of one against aligned."""
    unit, small = twin.shape.collected_bytes, twin.shape.unit_bytes
    step = min(unit, PIECE_BYTES) // small * small
    step = step if step and unit % step == 0 else small
    count = 2 * buffer_bytes(twin) // unit + 1
    groups = twin.shape.capacity_bytes // unit - 2
    chosen = np.resize(_stream(twin, "merged").permutation(groups) + 1, count + MERGE_UNITS)
    places = (chosen[:, None] * unit + np.arange(0, unit, step)).ravel()
    starts: Offsets = (places - number(twin.values, "ftl.phase_bytes")).astype(np.uint64)
    half = np.uint64(unit // 2 // small * small)
    return _slower(twin, (starts, starts + half), step, count * (unit // step))


def streams(twin: Twin, limit: int) -> float:
    """Write one stream in order more than there are open units for, against as many."""
    merge, shape = twin.shape.collected_bytes, twin.shape
    phase, stream = number(twin.values, "ftl.phase_bytes"), _stream(twin, "streams")
    step = max(merge // 16 // shape.unit_bytes, 1) * shape.unit_bytes
    rounds, groups = merge // step, shape.capacity_bytes // merge - 2
    wanted = 3 * (number(twin.values, "ftl.log_blocks", 8) + 1)
    wanted = max(wanted, 4 * buffer_bytes(twin) // merge)
    means = []
    for count in (limit, limit + 1):
        turns = min(-(-wanted // count), groups // count)
        if not turns:
            return 0.0
        units = stream.permutation(groups)[: turns * count] + 1
        places = np.arange(rounds)[None, :, None] * step + units.reshape(turns, 1, count) * merge
        device = twin.fork()
        gaps = gaps_ns(device, (places.ravel() - phase).astype(np.uint64), step)
        means.append(in_time(gaps[gaps.size // 2 :].mean(), device))
    return float(means[1] / means[0] - 1) if min(means) > 0 else 0.0


def periodic(twin: Twin, period_bytes: int) -> float:
    """Compare the slowest part of a period, in which places are written in turn, with the usual.

    They are collected together, and more than the buffer holds, lest it keep all of them. What is
    written at depth comes back in bursts, so many periods are laid over each other; those of
    another length say what chance leaves.
    """
    return _periodic(twin, period_bytes // twin.shape.unit_bytes)[0]


def collected_apart(twin: Twin) -> int:
    """Count the times, evenly apart, at which the planes of a drive that places by order collect.

    What it is is as in `reference_writes`.
    """
    span, shape = twin.shape.span_bytes // twin.shape.unit_bytes, twin.shape
    contrasts = _periodic(twin, span, shape.span_bytes // shape.collected_bytes)
    shows = [times for times, each in enumerate(contrasts, 1) if each >= SHOWS - 1]
    return max(shows, default=1)


def _periodic(twin: Twin, per_period: int, times: int = 1) -> list[float]:
    """Return contrasts of a period of so many units, and of its equal parts up to so many."""
    unit, device, places = twin.shape.unit_bytes, twin.settled.fork(), _collected_together(twin)
    if places is None or per_period < PARTS_MIN:
        return [0.0]
    log_block = twin.values["ftl.kind"] == "log-block"
    # What random writes left in log blocks goes first.
    before = 2 + (number(twin.values, "ftl.log_blocks", 8) if log_block else 0)
    gaps_ns(device, np.resize(places, max(before * per_period, 2 * places.size)), unit)
    rounds = int(np.clip(PERIODIC_WRITES // per_period, *ROUNDS))
    gaps = gaps_ns(device, np.resize(places, rounds * per_period), unit)

    divide = [each for each in range(1, times + 1) if times % each == 0]
    found = {each: above_chance(gaps, per_period // each) for each in divide}
    return [in_time(found.get(each, 0.0), device) for each in range(1, times + 1)]


def above_chance(series: Series, period: int) -> float:
    """Lay periods over each other; compare the slowest part with the usual, less what others show.

    What comes back after a part of the period, as queues that keep step and types of pages do,
    comes back in other multiples of that part, too.
    """
    width = max(period // PARTS_MOST, 1)
    parts = [each for each in range(1, period // 2 + 1) if period % each == 0]
    others = [period + sign * each for each in parts for sign in (-1, 1)]
    chance = max((_slowest_part(series, each, width) for each in others if each > 1), default=0.0)
    return _slowest_part(series, period, width) - chance


def _slowest_part(series: Series, period: int, width: int) -> float:
    """Return what the slowest part of a period takes beyond the median, beside the mean."""
    rounds = series.size // period
    usual = series[: rounds * period].reshape(rounds, period).mean(axis=0)
    part = usual[: period // width * width].reshape(-1, width).mean(axis=1)
    return float((part.max() - np.median(part)) / series.mean())


def _collected_together(twin: Twin) -> Offsets | None:
    """Name places whose data lie in what is collected as one; None if the buffer holds them all."""
    shape, phase = twin.shape, number(twin.values, "ftl.phase_bytes")
    wanted = 2 * buffer_bytes(twin) // shape.unit_bytes + DEPTH
    if twin.values["ftl.kind"] == "log-block":
        inside = shape.collected_bytes // shape.unit_bytes
        if inside < wanted:
            return None
        middle = shape.capacity_bytes // shape.collected_bytes // 2
        units = middle * inside + np.arange(inside)
    elif twin.values.get("ftl.allocation", "address") == "order":
        units = shape.capacity_bytes // shape.unit_bytes // 3 + 2 * np.arange(wanted)
    else:
        apart = int(np.lcm(shape.stripe_bytes, shape.unit_bytes)) // shape.unit_bytes
        last = shape.capacity_bytes // shape.unit_bytes - 1
        units = np.arange(apart, last, apart)[:wanted]
    if units.size < wanted or units[-1] >= shape.capacity_bytes // shape.unit_bytes - 1:
        return None
    return np.asarray(units * shape.unit_bytes - phase, np.uint64)


def logs(twin: Twin) -> float:
    """Write at random at depth behind full log blocks, against what fills them.

    The buffer is full before the log blocks are, or nothing shows what they take.
    """
    unit, held = twin.shape.unit_bytes, buffer_bytes(twin)
    room = log_bytes(twin)
    if room < held or room // unit < 2 * DEPTH:
        return 0.0
    count, first = (2 * room + 2 * held) // unit, held // unit
    units = _stream(twin, "logs").integers(1, twin.shape.capacity_bytes // unit - 1, count)
    places = units * unit - number(twin.values, "ftl.phase_bytes")
    device = twin.fork()
    gaps = gaps_ns(device, places.astype(np.uint64), unit)
    before = gaps[first : first + room * 9 // 10 // unit]
    after = gaps[(held + room) * 11 // 10 // unit :]
    return in_time(float(after.mean() / before.mean() - 1), device)


def _slower(twin: Twin, ways: Sequence[Offsets], size: int, count: int) -> float:
    """Compare two ways to write behind the first so many writes."""
    means = []
    for starts in ways:
        device = twin.fork()
        inside = starts[starts + np.uint64(size) <= twin.shape.capacity_bytes]
        means.append(in_time(gaps_ns(device, inside, size)[count:].mean(), device))
    return float(means[1] / means[0] - 1) if min(means) > 0 else 0.0


def gaps_ns(device: Device, starts: Offsets, size: int, depth: int = DEPTH) -> Series:
    """Write at a depth; give the times between one end of a write and the next."""
    begun = device.now_ns()
    ops, lengths = np.full(starts.size, OP_WRITE, np.uint8), np.full(starts.size, size, np.uint64)
    log = device.run_list(ops, starts, lengths, iodepth=depth)
    return np.diff(np.sort(log.complete_ns.astype(float)), prepend=float(begun))


def in_time(found: float, device: Device) -> float:
    """Return what was found, or nothing if it took longer than an observer has."""
    return found if device.now_ns() <= MOST_NS else 0.0


def _stream(twin: Twin, purpose: str) -> np.random.Generator:
    # Draws of its own: other references are not to depend on how many it takes.
    return seeds.stream(
        (twin.shape.capacity_bytes, twin.shape.unit_bytes), f"studies.recovery.{purpose}"
    )
