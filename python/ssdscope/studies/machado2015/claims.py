"""What the paper says of figure 1, asked of the points of ten configurations, whichever drive's.

A claim holds or not, by the words of `ssdscope.studies.judging`; why one does not hold is for
`causes` to find out. Nothing in the column "ours" is written down here.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ssdscope.studies import judging
from ssdscope.studies.machado2015.procedure import (
    CONFIGURATIONS,
    PATTERNS,
    SIZES_BYTES,
    Cells,
    Configuration,
)
from ssdscope.studies.record import Claim

EQUAL_WITHIN = 1e-3
ERROR_WITHIN = 0.05
"""The paper's error of a mean, at 95 % confidence."""
MIB = 1 << 20
LARGEST = SIZES_BYTES[-1]
OVERHEAD_32GB, OVERHEAD_4GB = 5.5, 7.0
"""What keeping 50 % free instead of 5 % costs in the paper, in percent, "on average"."""
IDEAL, KEPT_32GB = "Greedy/5% min/32GB", "Greedy/50% min/32GB"
SMALL, KEPT_4GB = "Greedy/5% min/4GB", "Greedy/50% min/4GB"


def compare(cells: Cells) -> dict[str, Claim]:
    """Give every claim of section 3, of the conclusion and of the slides, by a short name."""
    return {
        "confidence": confidence(cells),
        "best and worst": _best_and_worst(cells),
        "never cleans": _never_cleans(cells),
        **_overheads(cells),
        "90 %": _no_more_at_90(cells),
        "largest effect": _largest_effect(cells),
        "writes, settings": _settings(cells, "write", "writes in order"),
        "random writes": random_writes(cells),
        "policies": _policies_equal(cells),
        "reads, settings": _reads_unaffected(cells),
        **of_random_reads(cells, "randread"),
    }


def of_random_reads(cells: Cells, pattern: str) -> dict[str, Claim]:
    """Give what the paper says of its random reads, asked of a pattern that may stand for them."""
    return {
        "random reads": random_reads_slower(cells, pattern),
        "random reads, writes": random_reads_like_writes(cells, pattern),
        "random reads, settings": _settings(cells, pattern, "random reads"),
    }


def half_widths(cells: Cells, *, independent: bool = False) -> np.ndarray:
    """Give half the 95 % interval of each mean, as a share of it; infinite without a mean.

    Parameters
    ----------
    independent
        Take the requests of a run as independent, as papers mostly do.
    """
    asked = [cell for cell in cells.values() if cell.pattern in PATTERNS]
    halves = [
        1.96 * cell.stddev_ns / np.sqrt(cell.requests) / cell.mean_ns
        if independent
        else (cell.ci95_high_ns - cell.ci95_low_ns) / 2 / cell.mean_ns
        for cell in asked
        if not cell.failure
    ]
    return np.array(halves + [np.inf] * (len(asked) - len(halves)))


def confidence(cells: Cells) -> Claim:
    """Ask for the error of the means."""
    widths = half_widths(cells)
    served = widths[np.isfinite(widths)]
    stuck = len(widths) - len(served)
    widest = f"; the widest is {100 * served.max():.0f} %" if len(served) else ""
    return judging.claim(
        "means have an error of at most 5 % at 95 % confidence",
        "yes",
        f"{sum(widths <= ERROR_WITHIN)} of {len(widths)} points{widest}"
        + (f"; {stuck} have no mean" if stuck else ""),
        "",
        holds=bool((widths <= ERROR_WITHIN).all()),
    )


def _mean(cells: Cells, line: str, pattern: str, size: int) -> float:
    """Mean response time in ns; NaN where the drive got stuck."""
    return cells[line, pattern, size].mean_ns


def overhead(cells: Cells, slow: str, fast: str, sizes: Sequence[int] = SIZES_BYTES) -> float:
    """Give how much longer one line writes in order than another, in percent: mean of sizes."""
    ratios = [_mean(cells, slow, "write", s) / _mean(cells, fast, "write", s) for s in sizes]
    return 100 * (float(np.mean(ratios)) - 1)


def percent(what: str, paper: float, ours: float) -> Claim:
    """Give the row of a percentage that the paper quotes."""
    holds = judging.quoted(paper, ours)
    told = "no mean" if np.isnan(ours) else round(ours, 2)
    return judging.claim(what, paper, told, "%", holds=holds)


def _overheads(cells: Cells) -> dict[str, Claim]:
    rows = {}
    for size_gb, paper, slow, fast, points in (
        (32, OVERHEAD_32GB, KEPT_32GB, IDEAL, (LARGEST,)),
        (4, OVERHEAD_4GB, KEPT_4GB, SMALL, (MIB, LARGEST)),
    ):
        what = f"{size_gb} GB: keeping 50 % free instead of 5 %, writes in order"
        for size in points:
            told = f"{what} of {size // MIB} MB"
            ours = overhead(cells, slow, fast, [size])
            rows[f"{size_gb} GB, {size // MIB} MB"] = percent(told, paper, ours)
        ours = overhead(cells, slow, fast)
        rows[f"{size_gb} GB, mean"] = percent(f"{what}, mean of the ten sizes", paper, ours)
    return rows


def _best_and_worst(cells: Cells) -> Claim:
    means = {
        line: cell.mean_ns
        for (line, pattern, size), cell in cells.items()
        if (pattern, size) == ("write", LARGEST) and not cell.failure
    }
    fastest, slowest = min(means.values()), max(means.values())
    best = [line for line, mean in means.items() if mean <= fastest * (1 + EQUAL_WITHIN)]
    worst = [line for line, mean in means.items() if mean >= slowest * (1 - EQUAL_WITHIN)]
    return judging.claim(
        "writes in order of 4 MB: fastest and slowest configuration",
        "5% min/32GB and 50% min/4GB",
        f"{_settings_of(best)} ({fastest / 1e6:.2f} ms) and "
        f"{_settings_of(worst)} ({slowest / 1e6:.2f} ms)",
        "",
        holds=all("/5% min/32GB" in line for line in best)
        and all("/50% min/4GB" in line for line in worst),
    )


def _settings_of(lines: Sequence[str]) -> str:
    """Name the lines without their policies."""
    return " = ".join(sorted({line.split("/", 1)[1] for line in lines}))


def _never_cleans(cells: Cells) -> Claim:
    asked = [
        cell
        for cell in cells.values()
        if cell.line.endswith("/5% min/32GB") and cell.pattern in PATTERNS
    ]
    erases = sum(cell.block_erases for cell in asked)
    return judging.claim(
        "32 GB with 5 % never starts collecting",
        "0 blocks erased",
        f"{erases} blocks erased in {len(asked)} runs",
        "",
        holds=erases == 0,
    )


def _no_more_at_90(cells: Cells) -> Claim:
    worst = max(
        abs(_mean(cells, "Greedy/90% min/32GB", p, s) / _mean(cells, KEPT_32GB, p, s) - 1)
        for p in PATTERNS
        for s in SIZES_BYTES
    )
    return judging.claim(
        "32 GB: 90 % costs no more than 50 %",
        "the same",
        f"largest difference of 40 points {100 * worst:.2g} %",
        "",
        holds=worst < EQUAL_WITHIN,
    )


def _largest_effect(cells: Cells) -> Claim:
    """Compare all pairs of configurations that differ in one thing alone."""
    share, policy, size = "the share kept free", "policy", "size"
    effects = dict.fromkeys((share, size, policy), 0.0)
    for one, other in combinations(CONFIGURATIONS, 2):
        differing = [
            name
            for name, differs in (
                (policy, one.policy != other.policy),
                (share, one.min_free_percent != other.min_free_percent),
                (size, one.size_gb != other.size_gb),
            )
            if differs
        ]
        if len(differing) == 1:
            effects[differing[0]] = max(effects[differing[0]], _effect(cells, one, other))
    return judging.claim(
        "of the settings the share kept free has the largest effect, on writes in order",
        share,
        ", ".join(f"{name} up to {effect:.2f} %" for name, effect in effects.items()),
        "",
        holds=effects[share] > max(effects[policy], effects[size]),
    )


def _effect(cells: Cells, one: Configuration, other: Configuration) -> float:
    """Give how much longer the slower of two takes at most, in percent."""
    pairs = (
        [_mean(cells, each.label, "write", size) for each in (one, other)] for size in SIZES_BYTES
    )
    return max(100 * (max(pair) / min(pair) - 1) for pair in pairs)


def _ratios(cells: Cells, slow: str, fast: str) -> list[float]:
    """Compare two patterns on every line and at every size that both were run at."""
    return [
        cell.mean_ns / cells[line, fast, size].mean_ns
        for (line, pattern, size), cell in cells.items()
        if pattern == slow and (line, fast, size) in cells
    ]


def told(ratios: Sequence[float]) -> str:
    """Write a range of ratios, and how many there could be none of."""
    known = [ratio for ratio in ratios if not np.isnan(ratio)]
    if not known:
        return "no point that both were served at"
    stuck = len(ratios) - len(known)
    text = f"{min(known):.2f} to {max(known):.2f} times as long"
    return text + (f"; no mean at {stuck} of {len(ratios)} points" if stuck else "")


def random_writes(cells: Cells) -> Claim:
    """Ask whether random writes are comparable with those in order, on every line."""
    ratios = _ratios(cells, "randwrite", "write")
    return judging.claim(
        "random writes take about as long as those in order, in every configuration",
        "comparable",
        told(ratios),
        "",
        holds=all(judging.similar(ratio, 1) for ratio in ratios),
    )


def _policies_equal(cells: Cells) -> Claim:
    pairs = [
        (cell.mean_ns, cells[line.replace("Greedy", "Wear-Aware"), pattern, size].mean_ns)
        for (line, pattern, size), cell in cells.items()
        if line.startswith("Greedy") and pattern in PATTERNS
    ]
    equal = sum(a == b or (np.isnan(a) and np.isnan(b)) for a, b in pairs)
    return judging.claim(
        "greedy and wear-aware do not differ",
        "no difference",
        f"{equal} of {len(pairs)} pairs equal to the nanosecond",
        "",
        holds=equal == len(pairs),
    )


def spread(cells: Cells, pattern: str) -> float:
    """Give the largest ratio of the slowest line to the fastest; NaN if one has no mean."""
    ratios = []
    for size in SIZES_BYTES:
        means = [cell.mean_ns for (_, p, s), cell in cells.items() if (p, s) == (pattern, size)]
        ratios.append(np.max(means) / np.min(means))
    return float(np.max(ratios))


def _apart(ratio: float) -> str:
    if np.isnan(ratio):
        return "there are lines without a mean"
    return f"largest difference between lines {100 * (ratio - 1):.2g} %"


def _reads_unaffected(cells: Cells) -> Claim:
    most = spread(cells, "read")
    return judging.claim(
        "reads in order do not depend on the settings of collection",
        "no effect",
        _apart(most),
        "",
        holds=most - 1 < EQUAL_WITHIN,
    )


def _settings(cells: Cells, pattern: str, name: str) -> Claim:
    """Ask for an effect of the settings that is small: the lines are not equal, but similar."""
    most = spread(cells, pattern)
    return judging.claim(
        f"the settings have a small effect on {name}",
        "a small effect",
        _apart(most),
        "",
        holds=most - 1 > EQUAL_WITHIN and judging.similar(most, 1),
    )


def random_reads_slower(cells: Cells, pattern: str = "randread") -> Claim:
    """Ask whether random reads, or what stands for them, are far slower than those in order."""
    ratios = _ratios(cells, pattern, "read")
    return judging.claim(
        "random reads take much longer than those in order",
        "much longer",
        told(ratios),
        "",
        holds=all(ratio > judging.SIMILAR_WITHIN for ratio in ratios),
    )


def random_reads_like_writes(cells: Cells, pattern: str = "randread") -> Claim:
    """Ask whether random reads, or what stands for them, take as long as writes in order."""
    ratios = _ratios(cells, pattern, "write")
    return judging.claim(
        "random reads take about as long as writes in order",
        "similar",
        told(ratios),
        "",
        holds=all(judging.similar(ratio, 1) for ratio in ratios),
    )
