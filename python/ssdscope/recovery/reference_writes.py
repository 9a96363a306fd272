"""Reference measurements by writes; what they give is as in `reference_reads`."""

from dataclasses import dataclass

import numpy as np

from ssdscope import seeds
from ssdscope.recovery.shape import number
from ssdscope.recovery.twin import Offsets, Twin, counter, force, write, write_through
from ssdscope.targets.device import Device
from ssdscope.targets.records import OP_DISCARD

WRITES = 96
SETTLED_WRITES = 150_000
SHOWS, IN_A_ROW, BESIDE_STEPS = 1.1, 4, 20
"""Times the mean before, from where a host can notice, if so many parts in a row take as long; and
for how many 200ths of the capacity it is looked for."""
SPANS = 20
"""Filled from one place, before what it waits for is looked at, and meanwhile."""
TRIMMED_LOGS_MOST, TRIMMED_BYTES = 65_536, 32 * 1024
TRIMMED_LITTLE, TRIMMED_DRAWS = (0.015, 0.06), 8
"""Effects of discards on log blocks that are the mean of so many draws: merges are few and long."""


def shifted(twin: Twin) -> float:
    """Time writes that straddle two units against writes of the same size that fill one."""
    unit, log_block = twin.shape.unit_bytes, twin.values["ftl.kind"] == "log-block"
    half = unit // 2 // twin.block_bytes * twin.block_bytes
    times = []
    for offset in (0, half):
        device = twin.fork()
        if log_block:
            # Within one merge unit, few enough for its log block to take: no merges.
            merge = twin.shape.collected_bytes
            count = max(min(WRITES, merge // unit // 4), 1)
            first = int(twin.random_units(1, high=0.9)[0] // merge + 1) * merge
            phase = number(twin.values, "ftl.phase_bytes")
            slots = twin.stream.permutation(merge // unit - 2)[:count] + 1
            starts = np.uint64(first - phase) + slots.astype(np.uint64) * np.uint64(unit)
        else:
            starts = twin.resident_units(WRITES)
        write_through(device, starts[:1], unit)
        times.append(np.median(write_through(device, starts + np.uint64(offset), unit)))
    return float(times[1] / times[0] - 1)


def merged(twin: Twin) -> float:
    """Whole merge units written in random order, shifted by half a unit against aligned."""
    unit = twin.shape.collected_bytes
    phase = number(twin.values, "ftl.phase_bytes")
    step = min(unit, 256 << 10) // twin.shape.unit_bytes * twin.shape.unit_bytes
    step = step if step and unit % step == 0 else twin.shape.unit_bytes
    times = []
    for offset in (0, unit // 2 // twin.shape.unit_bytes * twin.shape.unit_bytes):
        device = twin.fork()
        units = twin.stream.permutation(twin.shape.capacity_bytes // unit - 2)[:24] + 1
        starts = (units[:, None] * unit + np.arange(0, unit, step)).ravel() - phase + offset
        times.append(write_through(device, starts.astype(np.uint64), step).sum())
    return float(times[1] / times[0] - 1)


def knee(twin: Twin) -> float:
    """Time writes when the buffer is full, against writes into the empty buffer."""
    values, slow_from = twin.values, 12 if twin.values["ftl.kind"] == "page" else 3
    units = number(values, "write_buffer.bytes") // number(values, "write_buffer.unit_bytes", 4096)
    step = max(number(values, "write_buffer.unit_bytes", 4096), twin.shape.unit_bytes)
    contrasts = []
    for depth in (1, 8):
        device = twin.fork(caches=True)
        fast_count = max(units // 2, 2)
        count = slow_from * units + 512
        starts = twin.stream.integers(1, twin.shape.capacity_bytes // step - 1, count)
        latency = write(device, (starts * step).astype(np.uint64), twin.block_bytes, depth)
        contrasts.append(latency[-512:].mean() / latency[:fast_count].mean() - 1)
    return float(max(contrasts))


@dataclass(frozen=True)
class Overwritten:
    """What random overwrites fill before room is short.

    Attributes
    ----------
    share
        Of the capacity: before the first block is collected, or log blocks are full.
    shown
        Likewise, before writes take 10 % longer: later, if collection goes on beside them at first.
    contrast
        Of as many writes behind, against those before.
    """

    share: float
    shown: float
    contrast: float


def overwritten(twin: Twin, depth: int = 1) -> Overwritten:
    """Overwrite at random until room is short.

    On page-mapped drives that is when the first block is collected, which is measured; of log
    blocks when all of them are full but the one for sequential writes. What fills a buffer or a
    region of one bit per cell is faster: it does not count as before.
    """
    device, unit = twin.fork(), twin.shape.unit_bytes
    capacity = twin.shape.capacity_bytes
    if twin.values["ftl.kind"] == "log-block":
        written = max(log_bytes(twin) // unit, 1)
        before = float(force(device, twin.random_units(max(written * 9 // 10, 1)), unit).mean())
        after = float(force(device, twin.random_units(max(written, 64)), unit).mean())
        share = written * unit / capacity
        return Overwritten(share, share, after / before - 1)
    step, latencies = max(capacity // unit // 2000, 16 * depth), []
    written, none_yet = 0, counter(device, "gc_runs")
    most = 3 * capacity // 2 // unit
    while counter(device, "gc_runs") == none_yet and written < most:
        latencies.append(force(device, twin.random_units(step), unit, depth).mean())
        written += step
    fast = min(_fast_bytes(twin, depth) // (step * unit), max(len(latencies) - 2, 0))
    before = float(np.mean(latencies[fast : max(len(latencies) - 1, 1)]))
    begun, more = device.fork(), max(written // 2, 256)
    force(device, twin.random_units(more), unit, depth)
    after = float(force(device, twin.random_units(2 * more), unit, depth).mean()) / before
    shown = written + _beside(twin, begun, SHOWS * before, depth)
    return Overwritten(written * unit / capacity, shown * unit / capacity, after - 1)


def _fast_bytes(twin: Twin, depth: int) -> int:
    """Count the bytes that go faster than what follows them, a tenth more to be sure."""
    fast = number(twin.values, "pslc.bytes")
    if depth > 1:
        fast += number(twin.values, "write_buffer.bytes")
    return 11 * fast // 10


def _beside(twin: Twin, device: Device, most: float, depth: int) -> int:
    """Count the writes from the first collection on that take no longer than so much."""
    unit, phase = twin.shape.unit_bytes, number(twin.values, "ftl.phase_bytes")
    units = twin.shape.capacity_bytes // unit
    # Draws of its own: other references are not to depend on how many it takes.
    stream = seeds.stream((twin.shape.capacity_bytes, unit), "studies.recovery.references")
    step, longer = max(units // 200, 16 * depth), 0
    for beside in range(0, BESIDE_STEPS * step, step):
        places = stream.integers(1, units - 1, step) * unit - phase
        mean = force(device, places.astype(np.uint64), unit, depth).mean()
        longer = longer + 1 if mean > most else 0
        # Some places take longer by chance, and at first all planes begin to collect together.
        if longer == IN_A_ROW:
            return beside - (IN_A_ROW - 1) * step
    return BESIDE_STEPS * step


def log_bytes(twin: Twin) -> int:
    """Count the bytes of random writes that fill the log blocks."""
    blocks = number(twin.values, "ftl.log_blocks", 8)
    if twin.values.get("ftl.log_association", "one-to-one") == "one-to-one":
        return blocks * twin.shape.unit_bytes
    return (blocks - 1) * twin.shape.collected_bytes


def amplification(twin: Twin) -> float:
    """Bytes programmed per byte written by uniform overwrites of whole mapping units, settled."""
    device = twin.turned_over.fork()
    unit = twin.shape.unit_bytes
    log_block = twin.values["ftl.kind"] == "log-block"
    count = 2000 if log_block else min(twin.shape.capacity_bytes // unit, SETTLED_WRITES)
    flash, host = (counter(device, each) for each in _BYTES)
    force(device, twin.random_units(count), unit, depth=4)
    after = [counter(device, each) for each in _BYTES]
    return (after[0] - flash) / (after[1] - host)


_BYTES = ("flash_bytes_programmed", "host_bytes_written")


def periodic(twin: Twin, period_bytes: int) -> float:
    """Compare the slowest rewrite of one unit within a period, with the usual one."""
    unit = twin.shape.unit_bytes
    per_period = max(period_bytes // unit, 4)
    device = twin.settled.fork()
    one = twin.random_units(1, low=0.4, high=0.6)
    # What random writes left in log blocks goes first.
    log_block = twin.values["ftl.kind"] == "log-block"
    periods_before = 2 + (number(twin.values, "ftl.log_blocks", 8) if log_block else 0)
    write_through(device, np.repeat(one, periods_before * per_period), unit)
    latency = write_through(device, np.repeat(one, 3 * per_period), unit)
    rounds = latency[: 3 * per_period].reshape(3, -1)
    return float(np.median(rounds.max(axis=1)) / np.median(latency) - 1)


def collected_apart(twin: Twin) -> int:
    """Count the times, evenly apart, at which the planes of a drive that places by order collect.

    Blocks on all of them are filled side by side; but where victims still hold data, copies move
    the planes against each other, until they collect in turn. 1 if they do so together.
    """
    unit, shape = twin.shape.unit_bytes, twin.shape
    span, groups = shape.span_bytes // unit, shape.span_bytes // shape.collected_bytes
    device, one = twin.settled.fork(), twin.random_units(1, low=0.4, high=0.6)
    write_through(device, np.repeat(one, SPANS * span), unit)
    latency = write_through(device, np.repeat(one, SPANS * span), unit)
    usual = latency[: SPANS * span].reshape(SPANS, span).mean(axis=0)
    usual /= np.median(usual)
    near = np.arange(-1, 2)[:, None]
    for times in (each for each in range(groups, 1, -1) if groups % each == 0):
        at = np.round(usual.argmax() + np.arange(times) * span / times).astype(int)
        if usual[(at + near) % span].max(axis=0).min() >= SHOWS:
            return times
    return 1


def rested(twin: Twin, depth: int) -> float:
    """Random writes after a pause shorter than the onset, against after one much longer.

    A buffer that stays on is flushed before, as idle time may empty it, too. One that is protected
    is filled besides at depth, after a pause that leaves it as the longer one does.
    """
    onset = number(twin.values, "gc.idle_ns", 100_000_000)
    unit, means, count = twin.shape.unit_bytes, [], _gained(twin)
    held = number(twin.values, "write_buffer.bytes") // unit if depth > 1 else 0
    for pause in (onset // 2, 4 * onset + 2_000_000_000):
        device = twin.settled.fork()
        write_through(device, twin.random_units(1), unit)
        device.idle(pause)
        if depth == 1:
            means.append(write_through(device, twin.random_units(count), unit).mean())
        else:
            write(device, twin.random_units(held), unit, depth)
            means.append(write(device, twin.random_units(count), unit, depth).mean())
    return float(means[0] / means[1] - 1)


def _gained(twin: Twin) -> int:
    """Count the writes that a pause makes room for, or as many as are worth timing."""
    values, shape = twin.values, twin.shape
    if values["ftl.kind"] == "log-block":
        if values.get("ftl.log_association", "one-to-one") == "one-to-one":
            return number(values, "ftl.log_blocks", 8)
        return min(shape.collected_bytes // shape.unit_bytes, 4096)
    low, high = (float(values.get(f"gc.{each}_water_ratio", 0.0)) for each in ("low", "high"))
    gained = (high - low) * number(values, "nand.blocks_per_plane") * shape.span_bytes
    gained += number(values, "pslc.bytes")
    return int(min(max(gained / shape.unit_bytes, 256), 8192))


def region(twin: Twin, depth: int) -> float:
    """Time writes beyond the one-bit region against writes into it."""
    unit, device = twin.shape.unit_bytes, twin.fork()
    device.idle(10_000_000_000)
    fits = number(twin.values, "pslc.bytes") // unit
    held = number(twin.values, "write_buffer.bytes") // unit if depth > 1 else 0
    if 2 * held > fits:
        return 0.0
    write(device, twin.random_units(held), unit, depth)
    fast = write(device, twin.random_units(max(fits // 2, 8) - held), unit, depth).mean()
    write(device, twin.random_units(max(fits * 7 // 10, 8) + held), unit, depth)
    slow = write(device, twin.random_units(max(fits // 2, 8)), unit, depth).mean()
    return float(slow / fast - 1)


def streams(twin: Twin, limit: int) -> float:
    """One stream of writes in order more than there are open units for, against as many."""
    merge, shape = twin.shape.collected_bytes, twin.shape
    phase = number(twin.values, "ftl.phase_bytes")
    step = max(merge // 16 // shape.unit_bytes, 1) * shape.unit_bytes
    rounds = merge // step
    # Enough to fill all log blocks three times: a shared one is merged only when it is needed.
    wanted = 3 * (number(twin.values, "ftl.log_blocks", 8) + 1)
    means = []
    for count in (limit, limit + 1):
        device = twin.fork()
        turns = min(-(-wanted // count), (shape.capacity_bytes // merge - 2) // count)
        units = twin.stream.permutation(shape.capacity_bytes // merge - 2)[: turns * count] + 1
        places = np.arange(rounds)[None, :, None] * step + units.reshape(turns, 1, count) * merge
        latency = write_through(device, (places.ravel() - phase).astype(np.uint64), step)
        means.append(latency[latency.size // 2 :].mean())
    return float(means[1] / means[0] - 1)


def trimmed(twin: Twin) -> float:
    """Random writes to the first half of a settled drive, against the same after it was discarded.

    From the first one on, until as much was written as was discarded: what is freed helps sooner
    or later, by when it is collected. On log-block drives until all logs were filled four times;
    the mean of several draws if that is little. The gain is that of the size which gains more, one
    unit or as many as 32 KiB hold: the longer ones meet what is collected on other planes
    meanwhile, and leave a shared log block fewer merge units to be merged with.
    """
    unit, phase = twin.shape.unit_bytes, number(twin.values, "ftl.phase_bytes")
    # Draws of its own: other references are not to depend on how many there are.
    stream = seeds.stream((twin.shape.capacity_bytes, unit), "studies.recovery.references")

    def drawn(size: int) -> float:
        slots = twin.shape.capacity_bytes // 2 // size
        places = stream.integers(1, slots, _trimmed_count(twin, size)) * size
        return _trimmed(twin, (places - phase).astype(np.uint64), size)

    def gain(size: int) -> float:
        first = drawn(size)
        more = twin.values["ftl.kind"] == "log-block" and _is_little(first)
        return float(np.mean([first, *(drawn(size) for _ in range(TRIMMED_DRAWS - 1) if more)]))

    of_unit, longer = gain(unit), TRIMMED_BYTES // unit * unit
    if longer <= unit or of_unit >= SHOWS - 1:
        return of_unit
    return max(of_unit, gain(longer))


def _is_little(effect: float) -> bool:
    return TRIMMED_LITTLE[0] < effect < TRIMMED_LITTLE[1]


def _trimmed_count(twin: Twin, size: int) -> int:
    """Count the writes that a discard is measured by."""
    count = twin.shape.capacity_bytes // 2 // size
    if twin.values["ftl.kind"] == "page":
        return count
    return min(count, max(4 * log_bytes(twin) // size, 1024), TRIMMED_LOGS_MOST)


def _trimmed(twin: Twin, places: Offsets, size: int) -> float:
    times = []
    for discard in (False, True):
        device = twin.turned_over.fork()
        if discard:
            discard_before(device, twin.shape.capacity_bytes // 2)
        times.append(write(device, places, size).sum())
    return float(times[0] / times[1] - 1)


def discard_before(device: Device, end: int) -> None:
    """Discard everything before an end."""
    step = 1 << 20
    starts = np.arange(0, end // step * step, step, dtype=np.uint64)
    lengths = np.full(starts.size, step, np.uint64)
    device.run_list(np.full(starts.size, OP_DISCARD, np.uint8), starts, lengths)
