"""Traces made up after what servers do: one kind of change each, and all at once.

They are for whatever learns from the first part of a trace and is held to the rest. Rates, mixes
and sizes are drawn from the seed, so that two seeds of a pattern are two servers. None is after
a real trace, and each says so in its first lines.

``steady``
    Nothing changes.
``daily``
    The rate goes up and down, two to four times in the trace; something else stays.
``bursts``
    In one minute of six the rate is several times as high.
``batch``
    A job of large requests in order starts somewhere in the second half, and stays.
``moving``
    All is as before but the place: the working set moves through the drive.
``mix``
    A daily wave, bursts, a batch job and a working set that moves, each a part of the load.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ssdscope.errors import UsageError, nearest
from ssdscope.seeds import stream
from ssdscope.targets.records import OP_READ, OP_WRITE
from ssdscope.targets.traces import LATENCY_UNKNOWN, SYNTHETIC_MARK, TraceRows
from ssdscope.workloads.synthetic import (
    MINUTE_S,
    PROFILES,
    REQUESTS_MAX,
    arrivals,
    synthesise,
)

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
SMALL_BYTES = (4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB)
LARGE_BYTES = (128 * KIB, 256 * KIB)
SPACE_BYTES = 16 * GIB
"""How far working sets reach or move, so that all drives but the smallest have room."""
LEAST_S = 600
GAP_SCV = 4.0
"""Squared coefficient of variation of the times between requests of a source."""


@dataclass(frozen=True, eq=False)
class Source:
    """One source of requests.

    Attributes
    ----------
    rates
        Requests per second, by minute.
    read_share
        Of its requests.
    sizes_bytes, shares
        What they are long, and how often.
    follows
        The share that begins where the one before ended.
    begins_bytes
        Where its working set begins, by minute.
    reach_bytes
        How long its working set is; places near its beginning are hot.
    """

    rates: Floats
    read_share: float
    sizes_bytes: Sequence[int]
    shares: Floats
    follows: float
    begins_bytes: Floats
    reach_bytes: int


def make(name: str, *, seconds: float, seed: int) -> TraceRows:
    """Make up a trace after a pattern.

    Parameters
    ----------
    name
        Of `PATTERNS`.
    seconds
        How long it shall be.
    seed
        Of everything drawn; the same one gives the same trace.

    Returns
    -------
    TraceRows
        Requests by time, of one volume, without latencies.

    Raises
    ------
    UsageError
        If it is too short for a pattern, or too long.
    """
    if not LEAST_S <= seconds < np.inf:
        raise UsageError(
            f"no pattern shows in {seconds:g} s", hint=f"take a span of {LEAST_S} s or more"
        )
    rng = stream(seed, f"workloads.patterns.{name}")
    minutes = int(np.ceil(seconds / MINUTE_S))
    sources = PATTERNS[name](rng, minutes)
    if sum(float(each.rates.mean()) for each in sources) * seconds > REQUESTS_MAX:
        raise UsageError(
            f"{seconds:g} s are more than {REQUESTS_MAX:,} requests", hint="make a shorter one"
        )
    parts = [_requests(rng, each, seconds) for each in sources]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    at, op, offset, size = (column[order] for column in columns)
    return TraceRows(
        arrival_ns=np.round((at - at[0]) * 1e6).astype(np.uint64) * np.uint64(1000),
        op=op,
        volume=np.zeros(len(op), dtype=np.uint64),
        offset_bytes=offset.astype(np.uint64),
        bytes=size.astype(np.uint64),
        latency_ns=np.full(len(op), LATENCY_UNKNOWN),
    )


def _requests(
    rng: np.random.Generator, source: Source, seconds: float
) -> tuple[Floats, npt.NDArray[np.uint8], Ints, Ints]:
    """Draw times, operations, offsets and sizes of one source."""
    at = arrivals(rng, source.rates, seconds, GAP_SCV)
    count = len(at)
    op = np.where(rng.random(count) < source.read_share, OP_READ, OP_WRITE).astype(np.uint8)
    size = rng.choice(np.array(source.sizes_bytes), count, p=source.shares)
    heads = np.flatnonzero((rng.random(count) >= source.follows) | (np.arange(count) == 0))
    run = np.searchsorted(heads, np.arange(count), side="right") - 1
    # Squared, so that half of the requests go to a quarter of the working set.
    place = (rng.random(len(heads)) ** 2 * source.reach_bytes).astype(np.int64)
    before = np.cumsum(size) - size
    within = (place[run] + before - before[heads][run]) % source.reach_bytes
    begin = source.begins_bytes[(at / MINUTE_S).astype(np.int64)].astype(np.int64)
    return at, op, (begin + within) // (4 * KIB) * (4 * KIB), size


def _users(
    rng: np.random.Generator, minutes: int, *, part: float = 1.0, reach_bytes: int | None = None
) -> Source:
    """Draw what people do: small requests here and there, at a constant rate."""
    reach = int(2 ** rng.uniform(28, 32)) if reach_bytes is None else reach_bytes
    begin = rng.uniform(0, SPACE_BYTES - reach)
    return Source(
        rates=np.full(minutes, part * rng.uniform(10, 40)),
        read_share=float(rng.uniform(0.4, 0.95)),
        sizes_bytes=SMALL_BYTES,
        shares=rng.dirichlet(np.full(len(SMALL_BYTES), 2.0)),
        follows=float(rng.uniform(0, 0.4)),
        begins_bytes=np.full(minutes, begin),
        reach_bytes=reach,
    )


def _waving(rng: np.random.Generator, source: Source) -> Source:
    """Let the rate go up and down, about two to six times as high at noon as at night."""
    minutes = len(source.rates)
    phase = 2 * np.pi * (rng.random() + rng.uniform(2, 4) * np.arange(minutes) / minutes)
    return _changed(source, np.exp(rng.uniform(0.4, 0.9) * np.sin(phase)))


def _bursting(rng: np.random.Generator, source: Source) -> Source:
    """Multiply the rate of some minutes."""
    minutes = len(source.rates)
    times = np.exp(rng.uniform(np.log(3), np.log(12), minutes))
    return _changed(source, np.where(rng.random(minutes) < 1 / 6, times, 1.0))


def _changed(source: Source, times: Floats, begins_bytes: Floats | None = None) -> Source:
    return Source(
        source.rates * times,
        source.read_share,
        source.sizes_bytes,
        source.shares,
        source.follows,
        source.begins_bytes if begins_bytes is None else begins_bytes,
        source.reach_bytes,
    )


def _moving(rng: np.random.Generator, minutes: int, part: float = 1.0) -> Source:
    """Let the working set move by its own length every ten to forty minutes, round the space."""
    source = _users(rng, minutes, part=part, reach_bytes=int(2 ** rng.uniform(26, 29)))
    moved = np.arange(minutes) / rng.uniform(10, 40) * source.reach_bytes
    begins = (source.begins_bytes + moved) % (SPACE_BYTES - source.reach_bytes)
    return _changed(source, np.ones(minutes), begins)


def _job(rng: np.random.Generator, minutes: int) -> Source:
    """Draw a batch job that starts in the second half: large requests in order, mostly one way."""
    starts = rng.uniform(0.5, 0.9) * minutes
    return Source(
        rates=np.where(np.arange(minutes) >= starts, rng.uniform(5, 25), 0.0),
        read_share=float(rng.choice([0.05, 0.5, 0.95])),
        sizes_bytes=LARGE_BYTES,
        shares=np.array([0.5, 0.5]),
        follows=0.99,
        begins_bytes=np.zeros(minutes),
        reach_bytes=SPACE_BYTES,
    )


def _mixed(rng: np.random.Generator, minutes: int) -> list[Source]:
    return [
        _waving(rng, _users(rng, minutes, part=0.4)),
        _bursting(rng, _users(rng, minutes, part=0.3)),
        _moving(rng, minutes, part=0.4),
        _job(rng, minutes),
    ]


PATTERNS: dict[str, Callable[[np.random.Generator, int], list[Source]]] = {
    "steady": lambda rng, minutes: [_users(rng, minutes)],
    "daily": lambda rng, minutes: [
        _waving(rng, _users(rng, minutes)),
        _users(rng, minutes, part=0.2),
    ],
    "bursts": lambda rng, minutes: [_bursting(rng, _users(rng, minutes, part=0.5))],
    "batch": lambda rng, minutes: [_users(rng, minutes), _job(rng, minutes)],
    "moving": lambda rng, minutes: [_moving(rng, minutes)],
    "mix": _mixed,
}
ABOUT = {
    **{key: f"after what is published of {each.name}" for key, each in PROFILES.items()},
    "steady": "nothing changes",
    "daily": "the rate goes up and down",
    "bursts": "in one minute of six the rate is several times as high",
    "batch": "a job of large requests in order starts in the second half",
    "moving": "the working set moves through the drive",
    "mix": "a part of each of them",
}
"""What a trace can be made up after, in a few words."""


@dataclass(frozen=True)
class Recipe:
    """What a trace can be made up after, a pattern or a real one's published statistics.

    Attributes
    ----------
    name
        In lower case.
    label
        What the trace says in its first line.
    sources
        Where its numbers come from.
    span_s
        How long the real one is; without end for a pattern.
    make
        Gives the requests of so many seconds, from a seed.
    """

    name: str
    label: str
    sources: dict[str, str]
    span_s: float
    make: Callable[[float, int], TraceRows]


def recipe_of(name: str) -> Recipe:
    """Find a pattern or a profile of `synthetic` by name.

    Raises
    ------
    UsageError
        If there is neither.
    """
    key = name.lower().removeprefix("synthetic-")
    if key in PATTERNS:
        return Recipe(
            key,
            f"{SYNTHETIC_MARK} made up after the pattern {key}, not after a real trace",
            {"assumed": "all of it"},
            np.inf,
            lambda seconds, seed: make(key, seconds=seconds, seed=seed),
        )
    if key not in PROFILES:
        raise UsageError(
            f"there is no profile {name!r} to make a trace after",
            hint=nearest(key, (*PROFILES, *PATTERNS)),
        )
    profile = PROFILES[key]
    return Recipe(
        key,
        profile.label,
        profile.sources,
        profile.span_s,
        lambda seconds, seed: synthesise(profile, seconds=seconds, seed=seed),
    )
