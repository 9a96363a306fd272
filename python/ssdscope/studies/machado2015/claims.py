"""What figure 1 is asked: readings of the points of ten configurations, whichever drive's.

What each reading is held against stands in `paper.toml`.
"""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from ssdscope.studies.machado2015.procedure import (
    CONFIGURATIONS,
    PATTERNS,
    SIZES_BYTES,
    Cells,
)
from ssdscope.studies.record import Reading

EQUAL_WITHIN = 1e-3
"""Two means less apart are of one rank."""
ERROR_PERCENT = 5
MIB = 1 << 20
LARGEST = SIZES_BYTES[-1]
IDEAL, KEPT_32GB = "Greedy/5% min/32GB", "Greedy/50% min/32GB"
SMALL, KEPT_4GB = "Greedy/5% min/4GB", "Greedy/50% min/4GB"
KEPT_90 = "Greedy/90% min/32GB"
ALONE = ("5% min/32GB", "50% min/4GB")
"""The settings that are fastest, and slowest; the policies are equal."""
WRITES = ("write", "randwrite")
NAMES = {
    "read": "reads in order",
    "randread": "random reads",
    "write": "writes in order",
    "randwrite": "random writes",
}
SETTINGS = {"the share kept free": "min_free_percent", "size": "size_gb", "policy": "policy"}
ALL_SIZES = "mean of the ten sizes"


def readings(cells: Cells, *, independent: bool = False) -> dict[str, Reading]:
    """Read off all that section 3, the conclusion and the slides say of figure 1."""
    return {
        "complete": _complete(cells),
        "confidence": confidence(cells, independent=independent),
        **{f"best and worst: {where}": each for where, each in _best_and_worst(cells).items()},
        "never cleans": _never_cleans(cells),
        **_overheads(cells, "32 GB", (KEPT_32GB, IDEAL), (LARGEST,)),
        **_overheads(cells, "4 GB", (KEPT_4GB, SMALL), (MIB, LARGEST)),
        **_overheads(cells, "90 % over 5 %", (KEPT_90, IDEAL), (LARGEST,)),
        **{f"smaller pays more: {name}": each for name, each in _smaller_pays_more(cells).items()},
        "90 %": _no_more_at_90(cells),
        **{f"largest effect: {name}": each for name, each in _largest_effects(cells).items()},
        **{f"settings: {NAMES[each]}": _settings(cells, each) for each in PATTERNS[1:]},
        "reads, settings": _settings(cells, "read"),
        "random writes": random_writes(cells),
        "policies": _policies_equal(cells),
        "random reads": random_reads_slower(cells),
        **random_reads_like_writes(cells),
    }


def of_one_drive(cells: Cells) -> dict[str, Reading]:
    """Read off what can be asked of one drive that is not the paper's, at the sizes it takes.

    Claims about sizes, policies and shares kept free compare drives.
    """
    patterns = {pattern for _, pattern, _ in cells}
    found = {"confidence": confidence(cells)}
    if {"read", "randread"} <= patterns:
        found["random reads"] = random_reads_slower(cells)
    if {"randread", *WRITES} <= patterns:
        found |= random_reads_like_writes(cells) | {"random writes": random_writes(cells)}
    return found


def _complete(cells: Cells) -> Reading:
    stuck = [bool(cell.failure) for cell in cells.values() if cell.pattern in PATTERNS]
    return Reading(f"{len(stuck) - sum(stuck)} of {len(stuck)} points", float(sum(stuck)))


def half_widths(cells: Cells, *, independent: bool = False) -> np.ndarray:
    """Return half the 95 % interval of each mean in percent of it.

    Parameters
    ----------
    independent
        Take the requests of a run as independent, as papers mostly do.
    """
    served = [cell for cell in cells.values() if cell.pattern in PATTERNS and not cell.failure]
    halves = [
        1.96 * cell.stddev_ns / np.sqrt(cell.requests) / cell.mean_ns
        if independent
        else (cell.ci95_high_ns - cell.ci95_low_ns) / 2 / cell.mean_ns
        for cell in served
    ]
    return 100 * np.array(halves)


def confidence(cells: Cells, *, independent: bool = False) -> Reading:
    """Read off the error of the means that there are."""
    widths = half_widths(cells, independent=independent)
    if not widths.size:
        return Reading("no point has a mean")
    said = f"{sum(widths <= ERROR_PERCENT)} of {widths.size} points"
    return Reading(f"{said}; the widest is {widths.max():.1f} %", list(widths))


def _mean(cells: Cells, line: str, pattern: str, size: int) -> float:
    """Mean response time in ns; NaN where the drive got stuck."""
    return cells[line, pattern, size].mean_ns


def overhead(
    cells: Cells, lines: tuple[str, str], pattern: str, sizes: Sequence[int] = SIZES_BYTES
) -> float:
    """Return how much longer the first of two lines takes, in percent: mean of sizes."""
    slow, fast = ([_mean(cells, line, pattern, size) for size in sizes] for line in lines)
    return 100 * (float(np.mean(np.divide(slow, fast))) - 1)


def of_percent(value: float) -> Reading:
    """Read off a percentage."""
    return Reading("no mean" if np.isnan(value) else round(value, 2), value)


def _overheads(
    cells: Cells, row: str, lines: tuple[str, str], sizes: Sequence[int]
) -> dict[str, Reading]:
    """Read off what one line costs over another: at some sizes, in the mean, and as a rate."""
    found = {}
    for pattern in WRITES:
        for size in sizes:
            cost = overhead(cells, lines, pattern, [size])
            found[f"{NAMES[pattern]} of {size // MIB} MB"] = cost
        found[f"{NAMES[pattern]}, {ALL_SIZES}"] = overhead(cells, lines, pattern)
    cost = overhead(cells, lines, "write", sizes[:1])
    found[f"writes in order of {sizes[0] // MIB} MB, as a rate"] = 100 - 100 / (1 + cost / 100)
    return {f"{row}: {case}": of_percent(cost) for case, cost in found.items()}


def _smaller_pays_more(cells: Cells) -> dict[str, Reading]:
    found = {}
    for name, sizes in {ALL_SIZES: SIZES_BYTES, "of 4 MB": (LARGEST,)}.items():
        large = overhead(cells, (KEPT_32GB, IDEAL), "write", sizes)
        small = overhead(cells, (KEPT_4GB, SMALL), "write", sizes)
        found[name] = Reading(f"{small:.2f} % against {large:.2f} %", small - large)
    return found


def _best_and_worst(cells: Cells) -> dict[str, Reading]:
    """Rank the configurations: at the one size where the writes are most, and at all sizes."""
    asked = {"writes in order of 4 MB": ("write", [LARGEST])} | {
        f"{NAMES[pattern]}, each of the ten sizes": (pattern, [*SIZES_BYTES]) for pattern in WRITES
    }
    return {where: _ranked(cells, *each) for where, each in asked.items()}


def _ranked(cells: Cells, pattern: str, sizes: Sequence[int]) -> Reading:
    """Say at how many sizes 5 % of 32 GB alone are fastest, and 50 % of 4 GB alone slowest."""
    ends = [_ends(cells, pattern, size) for size in sizes]
    best, worst = (sum(pair[at] == [alone] for pair in ends) for at, alone in enumerate(ALONE))
    said = f"fastest alone at {best} of {len(sizes)} sizes, slowest alone at {worst}"
    if len(sizes) == 1:
        said = " and ".join(" = ".join(lines) for lines in ends[0])
    return Reading(said, best == worst == len(sizes))


def _ends(cells: Cells, pattern: str, size: int) -> tuple[list[str], list[str]]:
    """Return the fastest settings and the slowest; where a drive gets stuck, it is slowest."""
    means = {
        line.split("/", 1)[1]: np.inf if cell.failure else cell.mean_ns
        for (line, p, s), cell in cells.items()
        if (p, s) == (pattern, size)
    }
    fastest, slowest = min(means.values()), max(means.values())
    best = [name for name, mean in means.items() if mean <= fastest * (1 + EQUAL_WITHIN)]
    worst = [name for name, mean in means.items() if mean >= slowest * (1 - EQUAL_WITHIN)]
    return best, worst


def _never_cleans(cells: Cells) -> Reading:
    asked = [
        cell
        for cell in cells.values()
        if cell.line.endswith("/5% min/32GB") and cell.pattern in PATTERNS
    ]
    erases = sum(cell.block_erases for cell in asked)
    return Reading(f"{erases} blocks erased in {len(asked)} runs", float(erases))


def _no_more_at_90(cells: Cells) -> Reading:
    """Compare the writes, since no read could differ."""
    apart = [
        abs(_mean(cells, KEPT_90, pattern, size) / _mean(cells, KEPT_32GB, pattern, size) - 1)
        for pattern in WRITES
        for size in SIZES_BYTES
    ]
    worst = 100 * max(apart)
    return Reading(f"largest difference of {len(apart)} points {worst:.2g} %", worst)


def _largest_effects(cells: Cells) -> dict[str, Reading]:
    return {
        "writes in order, at most": _largest_effect(cells, "write", np.max),
        f"writes in order, {ALL_SIZES}": _largest_effect(cells, "write", np.mean),
        f"random writes, {ALL_SIZES}": _largest_effect(cells, "randwrite", np.mean),
    }


def _largest_effect(
    cells: Cells, pattern: str, over_sizes: Callable[[Sequence[float]], float]
) -> Reading:
    """Compare all pairs of configurations that differ in one thing alone."""
    effects = dict.fromkeys(SETTINGS, 0.0)
    for one, other in combinations(CONFIGURATIONS, 2):
        differing = [
            name for name, key in SETTINGS.items() if getattr(one, key) != getattr(other, key)
        ]
        if len(differing) == 1:
            effect = float(over_sizes(_apart(cells, pattern, [one.label, other.label])))
            effects[differing[0]] = max(effects[differing[0]], effect)
    said = ", ".join(f"{name} {effect:.2f} %" for name, effect in effects.items())
    share, *others = effects.values()
    return Reading(said, share / max(others) if any(others) else float("inf") * share)


def _apart(cells: Cells, pattern: str, lines: Sequence[str]) -> list[float]:
    """Return how much longer the slowest line takes than the fastest, in percent of each size.

    Lines that got stuck are left out, and sizes that fewer than two were served at.
    """
    found = []
    for size in SIZES_BYTES:
        means = [_mean(cells, line, pattern, size) for line in lines]
        served = [mean for mean in means if not np.isnan(mean)]
        if len(served) > 1:
            found.append(100 * (max(served) / min(served) - 1))
    return found or [float("nan")]


def _ratios(cells: Cells, slow: str, fast: str) -> list[float]:
    """Compare two patterns on every line and at every size that both were run at."""
    return [
        cell.mean_ns / cells[line, fast, size].mean_ns
        for (line, pattern, size), cell in cells.items()
        if pattern == slow and (line, fast, size) in cells
    ]


def _of_ratios(ratios: Sequence[float]) -> Reading:
    """Read off a range of ratios, and at how many points there is none."""
    known = [ratio for ratio in ratios if not np.isnan(ratio)]
    if not known:
        return Reading("no point that both were served at")
    stuck = len(ratios) - len(known)
    said = f"{min(known):.2f} to {max(known):.2f} times as long"
    return Reading(said + (f"; no mean at {stuck} of {len(ratios)} points" if stuck else ""), known)


def random_writes(cells: Cells) -> Reading:
    """Compare random writes with those in order, on every line."""
    return _of_ratios(_ratios(cells, "randwrite", "write"))


def random_reads_slower(cells: Cells) -> Reading:
    """Compare random reads with those in order."""
    return _of_ratios(_ratios(cells, "randread", "read"))


def random_reads_like_writes(cells: Cells) -> dict[str, Reading]:
    """Compare random reads with both write tests."""
    return {
        f"random reads, writes: {NAMES[each]}": _of_ratios(_ratios(cells, "randread", each))
        for each in WRITES
    }


def _policies_equal(cells: Cells) -> Reading:
    """Compare the policies; only pairs that both collected in could differ."""
    pairs = [
        (cell, cells[line.replace("Greedy", "Wear-Aware"), pattern, size])
        for (line, pattern, size), cell in cells.items()
        if line.startswith("Greedy") and pattern in PATTERNS
    ]
    served = [pair for pair in pairs if not any(each.failure for each in pair)]
    equal = sum(one.mean_ns == other.mean_ns for one, other in served)
    collected = sum(min(one.block_erases, other.block_erases) > 0 for one, other in served)
    stuck = len(pairs) - len(served)
    said = f"{equal} of {len(served)} pairs equal to the nanosecond; {collected} of them collected"
    return Reading(
        said + (f"; {stuck} without a mean" if stuck else ""),
        equal == len(served) and collected > 0,
    )


def _settings(cells: Cells, pattern: str) -> Reading:
    """Return the largest difference of the slowest line from the fastest, in percent."""
    lines = list(dict.fromkeys(line for line, *_ in cells))
    most = float(np.max(_apart(cells, pattern, lines)))
    stuck = {size for (_, p, size), cell in cells.items() if p == pattern and cell.failure}
    known = f"; lines without a mean at {len(stuck)} sizes" if stuck else ""
    return Reading(f"largest difference between lines {most:.3g} %{known}", most)
