"""The nine micro-benchmarks: which parameter of a pattern each varies, and over what values.

The patterns are sequential and random reads and writes of 32 KB, one at a time: SR, RR, SW, RW.
Sequential ones go over a stretch that they fill once, random ones over the whole target.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import combinations

from ssdscope.plots.style import size_label, time_label
from ssdscope.studies.uflip.phases import Counts
from ssdscope.workloads import Flow, Flows, Workload

KIB, MIB = 1 << 10, 1 << 20
IO_BYTES = 32 * KIB
PATTERNS = {"SR": "read", "RR": "randread", "SW": "write", "RW": "randwrite"}
WRITING = ("SW", "RW")
BURST_PAUSE_NS = 100_000_000
STREAMS_BYTES = 2048 * MIB
"""What partitions are parts of, or half of a target that has no more."""
STREAM_IGNORED, STREAM_COUNT = 32, 128
"""Of each of several streams of writes: the first 1 MiB, where a drive takes up with a new place,
and then 4 MiB, which are a block or several of any drive of that time."""
AREA_IGNORED = 16_384
"""As many requests as an area of writes holds are left out, but no more than these (512 MiB)."""
MIXES = tuple("/".join(pair) for pair in combinations(PATTERNS, 2))


@dataclass(frozen=True)
class Room:
    """What experiments have.

    Attributes
    ----------
    capacity_bytes
        Of the target, in whole MiB.
    counts
        Requests of each run.
    seed
        Of what is drawn.
    paused_ns
        The longest that a run may pause in all; None where pauses take no time of ours.
    """

    capacity_bytes: int
    counts: Counts
    seed: int
    paused_ns: int | None = None


Build = Callable[[str, float, Room], Workload | Flows | None]


@dataclass(frozen=True)
class Benchmark:
    """One of the nine.

    Attributes
    ----------
    values
        Of the parameter, for each series.
    build
        Gives what to run for a series and a value, or nothing where the target is too small.
    label
        Writes a value below the axis.
    """

    parameter: str
    values: dict[str, tuple[float, ...]]
    build: Build
    label: Callable[[float], str]


def series_patterns(series: str) -> list[str]:
    """Give the patterns of a series: one, or the two of a mix."""
    return series.split("/")


def baseline(name: str, room: Room, *, block_bytes: int = IO_BYTES, **changed: object) -> Workload:
    """Give one of the four patterns, with some fields changed."""
    ignored, count = room.counts.ignored[name], room.counts.count
    size = room.capacity_bytes // block_bytes * block_bytes
    if name in ("SR", "SW"):
        size = min((ignored + count) * block_bytes, size)
    plan = Workload(
        rw=PATTERNS[name],
        block_bytes=block_bytes,
        size_bytes=size,
        requests=count,
        ramp_requests=ignored,
        seed=room.seed,
    )
    return replace(plan, **changed)  # type: ignore[arg-type]


def _granularity(name: str, value: float, room: Room) -> Workload:
    return baseline(name, room, block_bytes=int(value))


def _alignment(name: str, value: float, room: Room) -> Workload:
    plan = baseline(name, room)
    size = plan.size_bytes or 0
    if size == room.capacity_bytes:
        size -= IO_BYTES
    return replace(plan, offset_bytes=int(value), size_bytes=size)


def _locality(name: str, value: float, room: Room) -> Workload | None:
    if value > room.capacity_bytes:
        return None
    plan = baseline(name, room, size_bytes=int(value))
    if name not in WRITING:
        return plan
    held = min(int(value) // IO_BYTES, AREA_IGNORED)
    return replace(plan, ramp_requests=max(plan.ramp_requests, held))


def _partitioning(name: str, value: float, room: Room) -> Workload:
    size = min(STREAMS_BYTES, room.capacity_bytes // 2)
    plan = baseline(name, room, size_bytes=size, partitions=int(value))
    return _streams(plan, name, int(value))


def _order(name: str, value: float, room: Room) -> Workload:
    stride = (int(value) - 1) * IO_BYTES
    plan = baseline(name, room, stride_bytes=stride)
    return plan if abs(value) <= 1 else replace(plan, size_bytes=room.capacity_bytes)


def _parallelism(name: str, value: float, room: Room) -> Workload:
    jobs = int(value)
    share = room.capacity_bytes // jobs // MIB * MIB
    plan = baseline(name, room)
    apart = replace(
        plan,
        numjobs=jobs,
        offset_increment_bytes=share,
        size_bytes=min(plan.size_bytes or share, share),
        requests=max(room.counts.count // jobs, 1),
        ramp_requests=-(-plan.ramp_requests // jobs),
    )
    return _streams(apart, name, 1)


def _streams(plan: Workload, name: str, streams: int) -> Workload:
    """Let each of so many streams of a job come far enough, if they are writes in order."""
    if name != "SW":
        return plan
    return replace(
        plan,
        ramp_requests=max(plan.ramp_requests, STREAM_IGNORED * streams),
        requests=max(plan.requests or 0, STREAM_COUNT * streams),
    )


def _mix(series: str, value: float, room: Room) -> Flows:
    """Make `value` requests of the first pattern, then one of the second, each in its half."""
    first, second = series_patterns(series)
    turns, ratio = max(room.counts.count // (int(value) + 1), 1), int(value)
    ramp = -(-max(room.counts.ignored[each] for each in (first, second)) // (ratio + 1))
    half = room.capacity_bytes // 2 // MIB * MIB

    def half_of(name: str, begins: int, times: int) -> Workload:
        plan = baseline(name, room)
        return replace(
            plan,
            offset_bytes=begins,
            size_bytes=min(plan.size_bytes or half, half),
            requests=times * turns,
            ramp_requests=times * ramp,
        )

    return Flows(
        (
            Flow(f"first {first}", half_of(first, 0, ratio), turn=ratio),
            Flow(f"second {second}", half_of(second, half, 1), turn=1),
        )
    )


def _pause(name: str, value: float, room: Room) -> Workload:
    return _pausing(baseline(name, room, thinktime_ns=int(value)), room)


def _bursts(name: str, value: float, room: Room) -> Workload:
    pauses = {"thinktime_ns": BURST_PAUSE_NS, "thinktime_every": int(value)}
    return _pausing(baseline(name, room, **pauses), room)


def _pausing(plan: Workload, room: Room) -> Workload:
    """Make fewer requests where all the pauses would take too long."""
    if room.paused_ns is None or not plan.thinktime_ns:
        return plan
    pauses = max(room.paused_ns // plan.thinktime_ns, 2)
    most = max(pauses * plan.thinktime_every, 32)
    ramp = min(plan.ramp_requests, most)
    return replace(plan, requests=min(plan.requests or most, most), ramp_requests=ramp)


def _doublings(low: int, high: int, step: int = 1) -> tuple[float, ...]:
    return tuple(float(2**power) for power in range(low, high + 1, step))


def _for(names: Iterable[str], values: tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    return dict.fromkeys(names, values)


def _size(value: float) -> str:
    return size_label(value) if value else "0"


def _plain(value: float) -> str:
    return f"{value:g}"


def _time(value: float) -> str:
    return time_label(value) if value else "none"


BENCHMARKS = {
    "granularity": Benchmark(
        "request size (bytes)",
        _for(PATTERNS, _doublings(9, 18)),
        _granularity,
        _size,
    ),
    "alignment": Benchmark(
        "shift (bytes)",
        _for(PATTERNS, (0.0, *_doublings(9, 15))),
        _alignment,
        _size,
    ),
    "locality": Benchmark(
        "area (bytes)",
        _for(("SR", "SW"), _doublings(15, 23, 2)) | _for(("RR", "RW"), _doublings(15, 31, 2)),
        _locality,
        _size,
    ),
    "partitioning": Benchmark(
        "partitions",
        _for(("SR", "SW"), _doublings(0, 8)),
        _partitioning,
        _plain,
    ),
    "order": Benchmark(
        "increment (requests)",
        _for(("SR", "SW"), (-1.0, 0.0, *_doublings(0, 8))),
        _order,
        _plain,
    ),
    "parallelism": Benchmark(
        "requests at a time",
        _for(PATTERNS, _doublings(0, 4)),
        _parallelism,
        _plain,
    ),
    "mix": Benchmark(
        "requests of the first to one of the second",
        _for(MIXES, _doublings(0, 6, 2)),
        _mix,
        _plain,
    ),
    "pause": Benchmark(
        "pause",
        _for(PATTERNS, (0.0, *(1e5 * each for each in _doublings(0, 8, 2)))),
        _pause,
        _time,
    ),
    "bursts": Benchmark(
        "requests in a burst",
        _for(PATTERNS, tuple(10 * each for each in _doublings(0, 6, 2))),
        _bursts,
        _plain,
    ),
}
"""By name, in uFLIP's order."""
