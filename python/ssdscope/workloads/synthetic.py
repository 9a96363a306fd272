"""Traces made up after published statistics of real ones, and labelled so.

The real Financial and WebSearch traces are UMass's (CC BY 4.0) and are read as files like any
other. What is made here has their published rate, share of reads and number of volumes; sizes,
burstiness, overwriting and runs as measured on the parts of Financial1 (10,000 requests) and
WebSearch1 (a minute) that could be had; and assumptions where nothing is known. It is never
the trace itself: a result on it does not say what the trace would give.

Arrivals within a minute are a renewal process with hyper-exponential gaps of two phases and
balanced means (what storage arrivals fit best: Wajahat and others, 2020), whose rate and
share of reads wander from minute to minute, log-normal and logit-normal.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ssdscope.errors import UsageError
from ssdscope.seeds import stream
from ssdscope.targets.records import OP_READ, OP_WRITE
from ssdscope.targets.traces import LATENCY_UNKNOWN, SYNTHETIC_MARK, TraceRows

MINUTE_S = 60
SECTOR_BYTES = 512
WANDER = 0.9
"""How much of a minute's departure from the mean the next one keeps; assumed."""
REQUESTS_MAX = 50_000_000

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Sizes = tuple[tuple[int, float], ...]

FINANCIAL_READS: Sizes = (
    (8192, 0.712), (512, 0.149), (3072, 0.058), (1024, 0.047), (2048, 0.014), (4096, 0.020),
)  # fmt: skip
FINANCIAL_WRITES: Sizes = (
    (3072, 0.297), (1024, 0.172), (512, 0.130), (3584, 0.128), (8192, 0.083), (2560, 0.043),
    (49152, 0.037), (1536, 0.032), (4096, 0.030), (2048, 0.020), (12288, 0.014), (6656, 0.014),
)  # fmt: skip
FINANCIAL2_SIZES: Sizes = ((512, 0.25), (2048, 0.45), (4096, 0.2), (8192, 0.1))
WEB_SIZES: Sizes = ((8192, 0.601), (32768, 0.198), (16384, 0.122), (24576, 0.078))


@dataclass(frozen=True)
class Profile:
    """The statistics that a trace is made after.

    Attributes
    ----------
    name
        Of the real trace.
    requests, span_s, read_share, volumes
        Of the whole real trace, as published.
    gap_scv
        Squared coefficient of variation of the times between requests.
    rate_sigma, mix_sigma
        How far a minute's log rate, and logit share of reads, wander. Assumed.
    rd_sizes, wr_sizes
        Sizes in bytes with their shares.
    rd_sequential, wr_sequential
        Share of requests that continue the last one of their direction and volume.
    rd_again, wr_again
        Share of other requests that go where an earlier one of their kind went.
    unit_bytes
        Addresses are multiples of it.
    volume_bytes
        How far a volume reaches.
    busy_volumes
        How many of the volumes bear the load, equally; the others a thousandth of it.
    sources
        Where each group of numbers comes from.
    """

    name: str
    requests: int
    span_s: int
    read_share: float
    volumes: int
    gap_scv: float
    rate_sigma: float
    mix_sigma: float
    rd_sizes: Sizes
    wr_sizes: Sizes
    rd_sequential: float
    wr_sequential: float
    rd_again: float
    wr_again: float
    unit_bytes: int
    volume_bytes: int
    busy_volumes: int
    sources: dict[str, str]

    @property
    def label(self) -> str:
        """What the first line of the trace says."""
        after = f"made after published statistics of {self.name}"
        return f"{SYNTHETIC_MARK} {after}, not the trace itself"


_PUBLISHED = "requests, span, share of reads, volumes: published"
_FINANCIAL1 = Profile(
    name="Financial1", requests=5_334_987, span_s=43_700, read_share=0.232, volumes=24,
    gap_scv=10.3, rate_sigma=0.3, mix_sigma=0.5,
    rd_sizes=FINANCIAL_READS, wr_sizes=FINANCIAL_WRITES,
    rd_sequential=0.4, wr_sequential=0.4, rd_again=0.4, wr_again=0.65,
    unit_bytes=512, volume_bytes=512 * 2**20, busy_volumes=20,
    sources={
        "published": _PUBLISHED,
        "measured": "sizes, gaps, runs, overwriting: its first 10,000 requests",
        "assumed": "wandering, reach of a volume, load per volume",
    },
)  # fmt: skip
_WEBSEARCH1 = Profile(
    name="WebSearch1", requests=1_055_448, span_s=2_880, read_share=0.9998, volumes=6,
    gap_scv=1.8, rate_sigma=0.1, mix_sigma=0.0,
    rd_sizes=WEB_SIZES, wr_sizes=((8192, 1.0),),
    rd_sequential=0.0, wr_sequential=0.0, rd_again=0.0, wr_again=0.0,
    unit_bytes=8192, volume_bytes=17 * 2**30, busy_volumes=3,
    sources={
        "published": _PUBLISHED,
        "measured": "sizes, gaps, load per volume: its first minute",
        "assumed": "wandering",
    },
)  # fmt: skip
_LIKE_WEBSEARCH1 = {
    "published": _PUBLISHED,
    "measured": "nothing of this trace; sizes, gaps, load per volume as of WebSearch1",
    "assumed": "that it resembles WebSearch1; wandering",
}

PROFILES: dict[str, Profile] = {
    "financial1": _FINANCIAL1,
    "financial2": replace(
        _FINANCIAL1, name="Financial2", requests=3_699_194, span_s=41_100, read_share=0.823,
        volumes=19, busy_volumes=17, rd_sizes=FINANCIAL2_SIZES, wr_sizes=FINANCIAL2_SIZES,
        sources={
            "published": _PUBLISHED,
            "measured": "nothing of this trace; gaps, runs, overwriting as of Financial1",
            "assumed": "sizes (mean 2.7 KB), that it resembles Financial1; wandering",
        },
    ),
    "websearch1": _WEBSEARCH1,
    "websearch2": replace(
        _WEBSEARCH1, name="WebSearch2", requests=4_579_809, span_s=15_480,
        sources=_LIKE_WEBSEARCH1,
    ),
    "websearch3": replace(
        _WEBSEARCH1, name="WebSearch3", requests=4_261_709, span_s=16_200, read_share=0.9997,
        volumes=9, sources=_LIKE_WEBSEARCH1,
    ),
}  # fmt: skip


def synthesise(profile: Profile, *, seconds: float, seed: int) -> TraceRows:
    """Make up a trace.

    Parameters
    ----------
    profile
        What it shall be like.
    seconds
        How long it shall be.
    seed
        Of everything random; the same one gives the same trace.

    Returns
    -------
    TraceRows
        Requests by time, without latencies.

    Raises
    ------
    UsageError
        If that is no time, or too many requests.
    """
    if not 1 <= seconds < np.inf:
        raise UsageError(f"a trace of {seconds:g} s cannot be made")
    rate = profile.requests / profile.span_s
    if rate * seconds > REQUESTS_MAX:
        raise UsageError(
            f"{seconds:g} s after {profile.name} are more than {REQUESTS_MAX:,} requests",
            hint="make a shorter one",
        )
    rng = stream(seed, "workloads.synthetic")
    minutes = int(np.ceil(seconds / MINUTE_S))
    wander = np.exp(_wandering(rng, minutes, profile.rate_sigma))
    rates = rate * wander / np.average(wander, weights=_lengths(minutes, seconds))
    arrival_s = arrivals(rng, rates, seconds, profile.gap_scv)
    minute = (arrival_s / MINUTE_S).astype(np.int64)
    reads = rng.random(len(arrival_s)) < _read_shares(rng, profile, minutes)[minute]
    op = np.where(reads, OP_READ, OP_WRITE).astype(np.uint8)
    volume = _volumes(rng, profile, len(op))
    size = np.where(
        reads, _sizes(rng, profile.rd_sizes, len(op)), _sizes(rng, profile.wr_sizes, len(op))
    )
    return TraceRows(
        arrival_ns=np.round((arrival_s - arrival_s[0]) * 1e6).astype(np.uint64) * np.uint64(1000),
        op=op,
        volume=volume.astype(np.uint64),
        offset_bytes=_addresses(rng, profile, volume, op, size).astype(np.uint64),
        bytes=size.astype(np.uint64),
        latency_ns=np.full(len(op), LATENCY_UNKNOWN),
    )


def _wandering(rng: np.random.Generator, minutes: int, sigma: float) -> Floats:
    """Draw a stationary autoregressive series, one value per minute, of this deviation."""
    steps = rng.normal(0.0, sigma, minutes)
    series = np.empty(minutes)
    level = steps[0]
    for minute, step in enumerate(steps):
        level = WANDER * level + np.sqrt(1 - WANDER**2) * step if minute else step
        series[minute] = level
    return series


def arrivals(rng: np.random.Generator, rates: Floats, seconds: float, gap_scv: float) -> Floats:
    """Draw arrival times: gaps of mean 1, on a clock that runs at each minute's rate."""
    lengths = _lengths(len(rates), seconds)
    ticks = np.append(0.0, np.cumsum(rates * lengths))
    gaps = hyper_exponential(rng, gap_scv, int(np.ceil(ticks[-1])))
    # As many requests as the rate means, whatever the gaps come to.
    at = np.cumsum(gaps) * (ticks[-1] / gaps.sum())
    edges = np.append(MINUTE_S * np.arange(len(rates)), seconds)
    times: Floats = np.minimum(np.interp(at, ticks, edges), np.nextafter(seconds, 0))
    return times


def _lengths(minutes: int, seconds: float) -> Floats:
    """Give the seconds of each minute: the last one may be shorter."""
    lengths: Floats = np.minimum(MINUTE_S, seconds - MINUTE_S * np.arange(minutes))
    return lengths


def hyper_exponential(rng: np.random.Generator, scv: float, count: int) -> Floats:
    """Draw times of mean 1 from two exponential phases with balanced means, to this SCV."""
    share = (1 + np.sqrt((scv - 1) / (scv + 1))) / 2
    short = rng.random(count) < share
    means: Floats = np.where(short, 1 / (2 * share), 1 / (2 * (1 - share)))
    drawn: Floats = rng.exponential(means)
    return drawn


def _read_shares(rng: np.random.Generator, profile: Profile, minutes: int) -> Floats:
    logit = np.log(profile.read_share / (1 - profile.read_share))
    shares = 1 / (1 + np.exp(-(logit + _wandering(rng, minutes, profile.mix_sigma))))
    scaled: Floats = np.minimum(shares * profile.read_share / shares.mean(), 1.0)
    return scaled


def _volumes(rng: np.random.Generator, profile: Profile, count: int) -> Ints:
    idle = profile.volumes - profile.busy_volumes
    shares = np.append(
        np.full(profile.busy_volumes, (1 - 0.001 * idle) / profile.busy_volumes),
        np.full(idle, 0.001),
    )
    return rng.choice(profile.volumes, count, p=shares)


def _sizes(rng: np.random.Generator, sizes: Sizes, count: int) -> Ints:
    sizes_bytes, shares = np.array([s for s, _ in sizes]), np.array([p for _, p in sizes])
    return rng.choice(sizes_bytes, count, p=shares / shares.sum())


def _addresses(
    rng: np.random.Generator, profile: Profile, volume: Ints, op: npt.NDArray[np.uint8], size: Ints
) -> Ints:
    """Place requests: in runs, whose first one is new or goes where an earlier one went."""
    count = len(op)
    order = np.lexsort((np.arange(count), op, volume))
    group = volume[order] * 2 + op[order]
    fresh_group = np.append(True, group[1:] != group[:-1])[:count]
    reads = op[order] == OP_READ
    again = np.where(reads, profile.rd_again, profile.wr_again)
    follows = rng.random(count) < np.where(reads, profile.rd_sequential, profile.wr_sequential)
    heads = np.flatnonzero(~follows | fresh_group)
    run = np.cumsum(~follows | fresh_group) - 1
    units = profile.volume_bytes // profile.unit_bytes
    begin = rng.integers(0, units, len(heads)) * profile.unit_bytes
    begin = begin[_origins(rng, rng.random(len(heads)) < again[heads], fresh_group[heads])]
    before = np.cumsum(size[order]) - size[order]
    placed = np.empty(count, dtype=np.int64)
    placed[order] = begin[run] + before - before[heads][run]
    return placed


def _origins(
    rng: np.random.Generator, again: npt.NDArray[np.bool_], first: npt.NDArray[np.bool_]
) -> Ints:
    """Say whose address each has: its own, or an earlier one's of its group.

    How far back is log-uniform, so that what was just touched is touched most. Chains of
    those that go where others went are followed to their beginning, doubling the step.
    """
    index = np.arange(len(again))
    since = index - np.maximum.accumulate(np.where(first, index, 0))
    back = np.floor(np.exp(rng.random(len(again)) * np.log1p(since))).astype(np.int64)
    origin = np.where(again & (since > 0), index - np.clip(back, 1, np.maximum(since, 1)), index)
    while not np.array_equal(further := origin[origin], origin):
        origin = further
    return origin


def spc_text(rows: TraceRows) -> str:
    """Write requests in SPC's form."""
    letters = np.array(["r", "w"])[rows.op]
    columns = (
        rows.volume.tolist(),
        (rows.offset_bytes // np.uint64(SECTOR_BYTES)).tolist(),
        rows.bytes.tolist(),
        letters.tolist(),
        (rows.arrival_ns // np.uint64(1000)).tolist(),
    )
    return "".join(
        f"{volume},{sector},{size},{letter},{us // 1_000_000}.{us % 1_000_000:06d}\n"
        for volume, sector, size, letter, us in zip(*columns, strict=True)
    )
