"""Read latency against size: alpha (per request) and beta (per byte).

Physics: a request costs the drive something whatever its size (command, firmware, table, sensing)
and something for each byte (bus, link). Drives that stripe a large request over channels climb
in steps between, and which steps a read meets depends on where it lies.
Statistic: random reads at depth 1 of sizes from 4 KiB to 1 MiB, in randomised blocks; of each
size the mean of the middle half, which spikes leave alone and which moves evenly where reads fall
into two classes; and the line that makes relative errors small, over the longest stretch from
the smallest size on that it misses by at most 10 % (root mean square). Intervals come from the
scatter between stretches of time, so that drift counts. On a real drive they are sittings that
lie apart, and what differs between them counts in whole, since it differs from run to run.
Decision: what is below 3 % of the shortest read is absent; what is not known to a few percent is
told as below noise; where a somewhat tighter or looser limit would choose another line, the
curve has none of its own (`model_misfit`).
Assumptions: a drive in use: the first quarter of the reads only warms its tables and caches.
Cost: 5,000 to 82,000 reads on a simulated drive with the full budget. Source: PROBING 2.2, 2.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.findings import (
    SIZE_SWEEP,
    Absent,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Finding,
    Line,
    Reason,
    Undetectable,
    series,
)
from ssdscope.probes.calm import Calm
from ssdscope.probes.discipline import (
    MAX_DROPPED_SHARE,
    Blocks,
    base_request_bytes,
    cautions,
    looks,
    read_blocks,
    undivided,
)
from ssdscope.probes.machine import quiet_sittings
from ssdscope.targets.quiet import machine_busy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.quiet import Quiet
    from ssdscope.targets.records import DeviceInfo

ALPHA, BETA = "read_latency_alpha_ns", "read_latency_beta_ns_per_byte"

MULTIPLES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
MIN_SIZES = 4
FIRST_BLOCKS = 64
PIECE_BLOCKS = 16
"""Read in one go: short enough to fall between the visits of others."""
MOST_LOOKS = 5
SITTINGS, SITTING_BLOCKS = 16, 6
"""A look at a real drive: so many sittings, with pauses between, of so many blocks."""
PAUSES = 40
"""So many pauses fill the time that this probe may take."""
SHARE_OF_WALL = 1 / 6
WARMING_SHARE = 0.25
"""Of the blocks: what was read before says which tables and caches the first of them meet."""
BATCHES = 12
"""Stretches of time whose scatter makes the intervals."""
GOOD_WIDTH = 0.05
"""Relative width of an interval at which measuring may stop."""
LINE_MISSES = 0.10
"""Of a line as a description of a drive: the tolerance of every number that a probe tells."""
OTHER_LIMITS = (0.08, 0.12)
OTHER_LINE = 0.1
"""A line that another limit would choose, and that differs more, leaves the answer open."""
NO_EFFECT = 0.03
"""A part of the shortest read that is smaller does not matter to anyone."""
USELESS_WIDTH = 0.12
"""An interval so wide, as a share of its value, may lie 10 % beside what it should hold."""
PROBE_NAME = "latency"


@dataclass(frozen=True)
class LineEstimate:
    """A line through the latencies of a stretch of sizes, with intervals.

    Attributes
    ----------
    latency_ns
        Low, value, high of each size of the sweep, shape (3, sizes).
    stretch
        The sizes that the line describes; None if it describes none.
    alpha_ns, beta_ns_per_byte
        Low, value, high.
    """

    latency_ns: NDArray[Any]
    stretch: slice | None = None
    alpha_ns: tuple[float, float, float] = (0.0, 0.0, 0.0)
    beta_ns_per_byte: tuple[float, float, float] = (0.0, 0.0, 0.0)
    max_relative_error: float = 0.0
    typical_relative_error: float = 0.0
    others: tuple[tuple[float, float], ...] = ()
    """Alpha and beta by other limits; without those that no line meets."""

    def open_to_choice(self) -> tuple[bool, bool]:
        """Tell of alpha and of beta whether the limit decides what it is."""
        if len(self.others) < len(OTHER_LIMITS):
            return True, True
        mine = np.array([self.alpha_ns[1], self.beta_ns_per_byte[1]])
        alpha, beta = (np.abs(np.array(self.others) - mine) > OTHER_LINE * np.abs(mine)).any(axis=0)
        return bool(alpha), bool(beta)

    def narrow(self) -> bool:
        """Whether more blocks would tell little more."""
        return self.stretch is not None and all(
            high - low <= GOOD_WIDTH * abs(value)
            for low, value, high in (self.alpha_ns, self.beta_ns_per_byte)
        )


def test_sizes(info: DeviceInfo) -> NDArray[np.uint64]:
    """Sizes the sweep reads, in bytes; fewer on a small drive, a multiple of four in number."""
    base = base_request_bytes(info)
    sizes = [
        base * multiple for multiple in MULTIPLES if base * multiple <= info.capacity_bytes // 8
    ]
    return np.array(sizes[: len(sizes) // MIN_SIZES * MIN_SIZES], dtype=np.uint64)


def whole_sizes(bench: Bench, sizes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Keep the sizes that reach the drive in one request, a multiple of four in number."""
    whole = undivided(bench, sizes, bench.rng("undivided"))
    return whole[: len(whole) // MIN_SIZES * MIN_SIZES]


def _unanswered(reason: Reason) -> list[Finding]:
    return [Undetectable(name=name, probe=PROBE_NAME, reason=reason) for name in (ALPHA, BETA)]


def detect(bench: Bench, rng: np.random.Generator) -> list[Finding]:
    """Answer alpha and beta."""
    sizes = test_sizes(bench.info)
    if len(sizes) < MIN_SIZES:
        return _unanswered(Reason.RANGE_TOO_SMALL)
    sizes = whole_sizes(bench, sizes)
    if len(sizes) < MIN_SIZES:
        return _unanswered(Reason.REQUEST_SPLIT)
    with bench.without_caches():
        measured, kept, line = _measure(bench, sizes, rng)
    common: dict[str, Any] = {
        "probe": PROBE_NAME,
        "evidence": _evidence(bench.info, sizes, measured, kept, line),
        "requests": measured.requests,
    }
    reason, quiet = _refusal(measured, kept), bench.quiet
    if quiet is not None:
        common["evidence"] = common["evidence"].noting(
            waited_share=quiet.waited_share, others_cpu_share=quiet.others_cpu_share
        )
        if quiet.drowned:
            reason = Reason.MACHINE_BUSY
            common["evidence"] = common["evidence"].saying(machine_busy(quiet))
    if reason is not None or line is None:
        reason = reason or Reason.EFFECT_BELOW_NOISE
        common["evidence"] = common["evidence"].unfitted()
        return [Undetectable(name=name, reason=reason, **common) for name in (ALPHA, BETA)]
    if line.stretch is None:
        detail = f"no line meets the first {MIN_SIZES} sizes"
        return [_no_line(name, detail, common) for name in (ALPHA, BETA)]
    first, last = float(sizes[0]), float(sizes[line.stretch.stop - 1])
    shortest_ns = line.alpha_ns[1] + line.beta_ns_per_byte[1] * first
    parts = (
        (ALPHA, line.alpha_ns, 1 / shortest_ns),
        (BETA, line.beta_ns_per_byte, (last - first) / shortest_ns),
    )
    open_alpha, open_beta = line.open_to_choice()
    unsure = open_alpha or _short_reads_changed(sizes, kept, line), open_beta
    return [
        _no_line(name, "it bends, or changed meanwhile: the line is a matter of choice", common)
        if is_unsure
        else _answer(name, estimate, share_of_one, common)
        for (name, estimate, share_of_one), is_unsure in zip(parts, unsure, strict=True)
    ]


def _measure(
    bench: Bench, sizes: NDArray[np.uint64], rng: np.random.Generator
) -> tuple[Blocks, NDArray[Any], LineEstimate | None]:
    """Double the number of blocks until the intervals are narrow or the budget is spent."""
    if not bench.virtual:
        return _measure_apart(bench, sizes, rng)
    measured, calm = Blocks.none(len(sizes)), Calm(bench)
    first = FIRST_BLOCKS * min(bench.budget.repetitions, 4)
    for look, blocks in enumerate(looks(bench, first, SHARE_OF_WALL, MOST_LOOKS), start=1):
        for count in np.diff(np.append(np.arange(0, blocks, PIECE_BLOCKS), blocks)):
            read = partial(read_blocks, bench, sizes, int(count), rng)
            measured = measured.joined(calm.measured(read))
        bench.progress("read latency against size", look / MOST_LOOKS / 2)
        kept = measured.undisturbed()
        line = estimate_line(sizes, kept[int(WARMING_SHARE * len(kept)) :])
        if line is not None and line.narrow() and _refusal(measured, kept) is None:
            break
    return measured, kept, line


def _measure_apart(
    bench: Bench, sizes: NDArray[np.uint64], rng: np.random.Generator
) -> tuple[Blocks, NDArray[Any], LineEstimate | None]:
    """Measure a real drive in sittings that lie apart, without those in which others worked."""
    calm, sittings, quiets = Calm(bench), list[Blocks](), list["Quiet | None"]()
    pause_ns = int(1e9 * bench.deadline(SHARE_OF_WALL).left_s / PAUSES)
    for look, count in enumerate(looks(bench, SITTINGS, SHARE_OF_WALL, MOST_LOOKS), start=1):
        for _ in range(count):
            bench.take_quiet()
            read = partial(read_blocks, bench, sizes, SITTING_BLOCKS, rng)
            sittings.append(calm.measured(read))
            quiets.append(bench.quiet)
            bench.idle(pause_ns)
        bench.progress("read latency against size", look / MOST_LOOKS / 2)
        chosen = [sittings[index] for index in quiet_sittings(quiets)]
        measured = reduce(Blocks.joined, chosen, Blocks.none(len(sizes)))
        kept = measured.undisturbed()
        line = estimate_line(sizes, kept[int(WARMING_SHARE * len(kept)) :], apart=True)
        if line is not None and line.narrow() and _refusal(measured, kept) is None:
            break
    bench.hear(quiets)
    return measured, kept, line


def _short_reads_changed(sizes: NDArray[np.uint64], kept: NDArray[Any], line: LineEstimate) -> bool:
    """Say whether what reads cost however short they are changed in a long measurement.

    What others write may move tables to faster cells meanwhile. A drift is common to all sizes.
    """
    early = kept[: int(WARMING_SHARE * len(kept))]
    before = estimate_line(sizes, early) if len(early) > 4 * FIRST_BLOCKS else None
    if before is None:
        return False
    faster = before.latency_ns[1] / line.latency_ns[1]
    return bool(
        abs(faster[0] / faster[-1] - 1) * line.latency_ns[1][0] > OTHER_LINE * line.alpha_ns[1]
    )


def estimate_line(
    sizes: NDArray[Any], kept: NDArray[Any], *, apart: bool = False
) -> LineEstimate | None:
    """Fit the line to the latencies of blocks; None if there are too few.

    Parameters
    ----------
    kept
        Shape (blocks, sizes), in the order of time.
    apart
        Whether stretches lie apart, on a machine whose state differs from run to run.
    """
    if len(kept) < 2 * BATCHES or (kept <= 0).any():
        return None
    xs = sizes.astype(float)
    typical = stats.middle_mean(kept)
    stretches = np.array_split(kept, BATCHES)
    batches = np.array([stats.middle_mean(batch) for batch in stretches])
    halves = [[stats.middle_mean(batch[half::2]) for half in (0, 1)] for batch in stretches]
    pairs = np.array(halves) if apart else None
    latency = np.array(
        [
            _around(value, batches[:, size], None if pairs is None else pairs[:, :, size])
            for size, value in enumerate(typical)
        ]
    ).T
    stretch = stats.initial_line(xs, typical, LINE_MISSES, MIN_SIZES)
    if stretch is None:
        return LineEstimate(latency)
    fit = stats.fit_line(xs[stretch], typical[stretch])
    lines = [stats.fit_line(xs[stretch], batch[stretch]) for batch in batches]
    parts = None
    if pairs is not None:
        parts = [[stats.fit_line(xs[stretch], half[stretch]) for half in pair] for pair in pairs]
    others = (stats.initial_line(xs, typical, limit, MIN_SIZES) for limit in OTHER_LIMITS)
    fits = [stats.fit_line(xs[other], typical[other]) for other in others if other is not None]
    return LineEstimate(
        latency,
        stretch,
        _around(
            fit.intercept,
            [line.intercept for line in lines],
            parts and [[half.intercept for half in pair] for pair in parts],
        ),
        _around(
            fit.slope,
            [line.slope for line in lines],
            parts and [[half.slope for half in pair] for pair in parts],
        ),
        fit.max_relative_error,
        fit.typical_relative_error,
        tuple((other.intercept, other.slope) for other in fits),
    )


def _around(value: float, batches: Any, halves: Any = None) -> tuple[float, float, float]:
    """Give low, value and high, by the scatter of the batches; with halves as another run would."""
    half = stats.student(batches).half_width if halves is None else stats.lasting(batches, halves)
    return value - half, value, value + half


def _refusal(measured: Blocks, kept: NDArray[Any]) -> Reason | None:
    if (measured.latency_ns <= 0).mean() > MAX_DROPPED_SHARE:
        return Reason.EFFECT_BELOW_NOISE  # answers faster than the clock can tell
    if (~measured.valid).mean() > MAX_DROPPED_SHARE:
        return Reason.DEVICE_ERRORS
    if len(kept) < (1 - MAX_DROPPED_SHARE) * len(measured.latency_ns):
        return Reason.INTERFERENCE
    return None


def _answer(
    name: str, estimate: tuple[float, float, float], share_of_one: float, common: dict[str, Any]
) -> Finding:
    """Answer one of the two, given what share of the shortest read one of its unit is."""
    low, value, high = estimate
    if high * share_of_one < NO_EFFECT:
        what = "a cost per request" if name == ALPHA else "a cost per byte"
        # A clock of whole nanoseconds cannot tell less than one over the largest request.
        resolution = 1.0 if name == ALPHA else 1.0 / _largest_bytes(common["evidence"])
        return Absent(
            name=name,
            bound=max(high, resolution),
            reason=f"the measurements are explained without {what}",
            **common,
        )
    if high - low > USELESS_WIDTH * value:
        return Undetectable(name=name, reason=Reason.EFFECT_BELOW_NOISE, **common)
    effect = value * share_of_one
    return Detected(name=name, value=value, interval=(low, high), effect=effect, **common)


def _no_line(name: str, detail: str, common: dict[str, Any]) -> Finding:
    """Refuse: no line, or none that hangs not on the limit, is the drive's."""
    told = common | {"evidence": common["evidence"].unfitted().saying(detail)}
    return Undetectable(name=name, reason=Reason.MODEL_MISFIT, **told)


def _evidence(
    info: DeviceInfo,
    sizes: NDArray[np.uint64],
    measured: Blocks,
    kept: NDArray[Any],
    line: LineEstimate | None,
) -> Evidence:
    """Gather latencies with intervals, the line, and where it holds."""
    blocks = len(measured.latency_ns)
    evidence = Evidence(
        figures={"blocks": blocks, "blocks_dropped": blocks - len(kept)},
        cautions=tuple(cautions(info)),
    )
    if line is None:
        return evidence
    low, typical, high = line.latency_ns
    bandwidth = sizes / typical
    exhibit = Exhibit(
        name=SIZE_SWEEP,
        title="Read latency against size",
        caption=f"Mean of the middle half of {len(kept)} randomised blocks, less those that warmed "
        "the drive; depth 1, random offsets.",
        x=Axis("read size", "bytes", log=True),
        y=Axis("latency", "ns", log=True),
        series=(series("reads, 95 % interval", sizes, typical, "points", low=low, high=high),),
    )
    evidence = evidence.showing(exhibit).noting(
        n90_bytes=int(sizes[int(np.argmax(bandwidth >= 0.9 * bandwidth.max()))])
    )
    return evidence if line.stretch is None else _with_line(evidence, sizes, line, line.stretch)


def _with_line(
    evidence: Evidence, sizes: NDArray[np.uint64], line: LineEstimate, stretch: slice
) -> Evidence:
    """Add the line, and how far it may be relied on."""
    first, last = int(sizes[0]), int(sizes[stretch.stop - 1])
    fitted = Line(
        intercept=line.alpha_ns[1],
        slope=line.beta_ns_per_byte[1],
        first=first,
        last=last,
        error=line.typical_relative_error,
        word="alpha + beta·size",
    )
    return evidence.fitting(SIZE_SWEEP, fitted).noting(
        linear_region_bytes=(first, last),
        linear_everywhere=stretch.stop == len(sizes),
        alpha_ns=line.alpha_ns[1],
        beta_ns_per_byte=line.beta_ns_per_byte[1],
        max_relative_error=line.max_relative_error,
        typical_relative_error=line.typical_relative_error,
    )


def _largest_bytes(evidence: Evidence) -> float:
    swept = evidence.exhibit(SIZE_SWEEP)
    return max(swept.series[0].x) if swept else 1.0
