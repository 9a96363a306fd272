"""Read latency against size: alpha (per request) and beta (per byte).

Reads at depth 1 of sizes from 4 KiB to 1 MiB. A drive that stripes a large request over its
channels climbs in steps, so the line is fitted to the sizes, from the smallest on, that one
line meets, and that stretch is part of the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.discipline import (
    MAX_DROPPED_SHARE,
    MAX_LOOKS,
    Blocks,
    base_request_bytes,
    cautions,
    looks,
    read_blocks,
)
from ssdscope.probes.finding import Absent, Ambiguous, Detected, Finding, Reason, Undetectable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

ALPHA, BETA = "read_latency_alpha_ns", "read_latency_beta_ns_per_byte"

MULTIPLES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
MIN_SIZES = 4
FIRST_BLOCKS = 24
SHARE_OF_WALL = 1 / 6
GOOD_WIDTH = 0.05
"""Relative width of an interval at which measuring may stop."""
LINEAR_WITHIN = 0.01
"""Beyond noise, how far a median may lie from the line and still be called on it."""
NO_EFFECT = 0.02
"""A part of the latency smaller than this share does not matter to anyone."""
USELESS_WIDTH = 0.5
"""An interval half as wide as its value says nothing."""
OTHER_LINE = 0.1
"""A line that a looser tolerance would choose, and that differs more, leaves the answer open."""
REPLICATES = 300
PROBE_NAME = "latency"


@dataclass(frozen=True)
class LineEstimate:
    """A line through the medians of a stretch of sizes, with intervals.

    Attributes
    ----------
    alpha_ns, beta_ns_per_byte
        Low, value, high.
    """

    stretch: slice
    alpha_ns: tuple[float, float, float]
    beta_ns_per_byte: tuple[float, float, float]
    max_relative_error: float
    others: tuple[tuple[float, float], ...] = ()
    """Alpha and beta where a line may miss the points by more."""

    def open_to_choice(self) -> tuple[bool, bool]:
        """Tell of alpha and of beta whether the tolerance decides what it is."""
        mine = np.array([self.alpha_ns[1], self.beta_ns_per_byte[1]])
        others = np.array(self.others).reshape(-1, 2)
        alpha, beta = (np.abs(others - mine) > OTHER_LINE * np.abs(mine)).any(axis=0)
        return bool(alpha), bool(beta)


def test_sizes(info: DeviceInfo) -> NDArray[np.uint64]:
    """Sizes the sweep reads, in bytes; fewer on a small drive, a multiple of four in number."""
    base = base_request_bytes(info)
    sizes = [
        base * multiple for multiple in MULTIPLES if base * multiple <= info.capacity_bytes // 8
    ]
    return np.array(sizes[: len(sizes) // MIN_SIZES * MIN_SIZES], dtype=np.uint64)


def detect(bench: Bench, rng: np.random.Generator) -> list[Finding]:
    """Answer alpha and beta."""
    sizes = test_sizes(bench.info)
    if len(sizes) < MIN_SIZES:
        return [
            Undetectable(name=name, probe=PROBE_NAME, reason=Reason.RANGE_TOO_SMALL)
            for name in (ALPHA, BETA)
        ]
    with bench.without_caches():
        measured, kept, line = _measure(bench, sizes, rng)
    evidence = _evidence(bench.info, sizes, measured, kept, line)
    common: dict[str, Any] = {
        "probe": PROBE_NAME,
        "evidence": evidence,
        "requests": measured.requests,
    }
    reason = _refusal(measured, kept)
    if reason is not None:
        return [Undetectable(name=name, reason=reason, **common) for name in (ALPHA, BETA)]
    if line is None:
        return _no_line("no line meets any four neighbouring sizes", common)
    first = float(sizes[line.stretch.start])
    span = float(sizes[line.stretch.stop - 1]) - first
    at_first = line.alpha_ns[1] + line.beta_ns_per_byte[1] * first
    if line.alpha_ns[0] <= 0 and line.stretch.start > 0:
        return _no_start(line, float(stats.log_median(kept[:, 0])), common)
    told = [
        _answer(ALPHA, line.alpha_ns, line.alpha_ns[1] / at_first, common),
        _answer(BETA, line.beta_ns_per_byte, line.beta_ns_per_byte[1] * span / at_first, common),
    ]
    refused = _no_line("it bends: which line it follows is a matter of tolerance", common)
    return [
        no_line if is_open else answer
        for answer, no_line, is_open in zip(told, refused, line.open_to_choice(), strict=True)
    ]


def _measure(
    bench: Bench, sizes: NDArray[np.uint64], rng: np.random.Generator
) -> tuple[Blocks, NDArray[Any], LineEstimate | None]:
    """Double the number of blocks until the intervals are narrow or the budget is spent."""
    measured = Blocks.none(len(sizes))
    first = FIRST_BLOCKS * (min(bench.budget.repetitions, 4) if bench.virtual else 1)
    for look, blocks in enumerate(looks(bench, first, SHARE_OF_WALL), start=1):
        measured = measured.joined(read_blocks(bench, sizes, blocks, rng))
        bench.progress("read latency against size", look / MAX_LOOKS / 2)
        kept = measured.undisturbed()
        line = _estimate(sizes, kept, rng)
        if line is not None and _narrow(line):
            break
    return measured, kept, line


def _estimate(
    sizes: NDArray[Any], kept: NDArray[Any], rng: np.random.Generator
) -> LineEstimate | None:
    """Fit the linear stretch; None if there is none or there is nothing to fit."""
    if len(kept) < 2 or (kept <= 0).any():
        return None
    xs = sizes.astype(float)
    medians = stats.log_median(kept, axis=0)
    draws = stats.block_bootstrap(
        kept,
        lambda blocks: stats.log_median(blocks, axis=0),
        replicates=REPLICATES,
        seed=int(rng.integers(2**32)),
    )
    # The worst of 16 medians lies within three standard errors of its place.
    noise = 3 * float(np.median(np.log(draws).std(axis=0)))
    stretch = stats.linear_stretch(xs, medians, LINEAR_WITHIN + noise, MIN_SIZES)
    if stretch is None:
        return None
    fit = stats.fit_line(xs[stretch], medians[stretch])
    low, high = _interval(xs, medians, draws, stretch, LINEAR_WITHIN + noise)
    others = [
        _line(xs, medians, within + noise) for within in (2 * LINEAR_WITHIN, 4 * LINEAR_WITHIN)
    ]
    return LineEstimate(
        stretch,
        (float(low[0]), fit.intercept, float(high[0])),
        (float(low[1]), fit.slope, float(high[1])),
        fit.max_relative_error,
        tuple(other for other in others if other is not None),
    )


def _line(xs: NDArray[Any], ys: NDArray[Any], tolerance: float) -> tuple[float, float] | None:
    """Give alpha and beta of the stretch that a line meets."""
    stretch = stats.linear_stretch(xs, ys, tolerance, MIN_SIZES)
    if stretch is None:
        return None
    fit = stats.fit_line(xs[stretch], ys[stretch])
    return fit.intercept, fit.slope


def _interval(
    xs: NDArray[Any],
    medians: NDArray[Any],
    draws: NDArray[Any],
    stretch: slice,
    tolerance: float,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give low and high of (alpha, beta): the wider of noise and of leaving one size out.

    Each draw chooses its stretch anew, so that a stretch which noise decides makes a wide
    interval. Resampling alone would call a line through a gentle curve exact on a drive without
    noise.
    """
    lines = [_line(xs, draw, tolerance) for draw in draws]
    noise = stats.percentile_interval([line for line in lines if line is not None] or [(0, 0)])
    points, ys = xs[stretch], medians[stretch]
    rest = [np.arange(len(points)) != left_out for left_out in range(len(points))]
    fits = [stats.fit_line(points[each], ys[each]) for each in rest]
    both = np.vstack([noise, [(fit.intercept, fit.slope) for fit in fits]])
    return both.min(axis=0), both.max(axis=0)


def _narrow(line: LineEstimate) -> bool:
    return all(
        high - low <= GOOD_WIDTH * abs(value)
        for low, value, high in (line.alpha_ns, line.beta_ns_per_byte)
    )


def _refusal(measured: Blocks, kept: NDArray[Any]) -> Reason | None:
    if (measured.latency_ns <= 0).mean() > MAX_DROPPED_SHARE:
        return Reason.EFFECT_BELOW_NOISE  # answers faster than the clock can tell
    if len(kept) < (1 - MAX_DROPPED_SHARE) * len(measured.latency_ns):
        return Reason.INTERFERENCE
    return None


def _answer(
    name: str, estimate: tuple[float, float, float], effect: float, common: dict[str, Any]
) -> Finding:
    low, value, high = estimate
    if low <= 0 or effect < NO_EFFECT:
        what = "a cost per request" if name == ALPHA else "a cost per byte"
        # A clock of whole nanoseconds cannot tell less than one over the largest request.
        resolution = 1.0 if name == ALPHA else 1.0 / max(common["evidence"]["sizes_bytes"])
        return Absent(
            name=name,
            bound=max(high, resolution),
            reason=f"the measurements are explained without {what}",
            **common,
        )
    if high - low > USELESS_WIDTH * value:
        return Undetectable(name=name, reason=Reason.EFFECT_BELOW_NOISE, **common)
    return Detected(name=name, value=value, interval=(low, high), effect=effect, **common)


def _no_start(line: LineEstimate, smallest_ns: float, common: dict[str, Any]) -> list[Finding]:
    """Refuse alpha: the line passes the origin, but only at sizes where no start would show."""
    alpha = Ambiguous(
        name=ALPHA,
        candidates=(0.0, smallest_ns),
        reason="latency is a line at large sizes only, where the cost of a request does not show",
        **common,
    )
    return [alpha, _answer(BETA, line.beta_ns_per_byte, 1.0, common)]


def _no_line(detail: str, common: dict[str, Any]) -> list[Finding]:
    """Refuse both: no line, or none that hangs not on the tolerance, is the drive's."""
    evidence = common["evidence"] | {"detail": detail}
    told = common | {"evidence": evidence}
    return [Undetectable(name=name, reason=Reason.MODEL_MISFIT, **told) for name in (ALPHA, BETA)]


def _evidence(
    info: DeviceInfo,
    sizes: NDArray[np.uint64],
    measured: Blocks,
    kept: NDArray[Any],
    line: LineEstimate | None,
) -> dict[str, Any]:
    """Gather what a plot needs: medians with intervals, the line, and where it holds."""
    evidence: dict[str, Any] = {
        "sizes_bytes": sizes.tolist(),
        "blocks": len(measured.latency_ns),
        "blocks_dropped": len(measured.latency_ns) - len(kept),
        "cautions": cautions(info),
    }
    if len(kept) and (kept > 0).all():
        medians = stats.log_median(kept, axis=0)
        draws = stats.block_bootstrap(kept, lambda b: stats.log_median(b, axis=0), replicates=400)
        low, high = stats.percentile_interval(draws)
        bandwidth = sizes / medians
        reached = int(np.argmax(bandwidth >= 0.9 * bandwidth.max()))
        evidence |= {
            "median_latency_ns": medians.tolist(),
            "median_low_ns": low.tolist(),
            "median_high_ns": high.tolist(),
            "n90_bytes": int(sizes[reached]),
        }
    if line is not None:
        last = line.stretch.stop - 1
        evidence |= {
            "linear_region_bytes": [int(sizes[line.stretch.start]), int(sizes[last])],
            "linear_everywhere": line.stretch == slice(0, len(sizes)),
            "alpha_ns": line.alpha_ns[1],
            "beta_ns_per_byte": line.beta_ns_per_byte[1],
            "max_relative_error": line.max_relative_error,
        }
    return evidence
