"""What the paper says of figure 1, beside what the runs say.

A number of the paper agrees if ours is within one percentage point of it (the paper prints
whole or half percents). Nothing in the column "ours" is written down here.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from ssdscope.studies.machado2015.procedure import PATTERNS, SIZES_BYTES, Cell, Cells
from ssdscope.studies.record import Claim, Verdict

WITHIN_POINTS = 1.0
EQUAL_WITHIN = 1e-3
MIB = 1 << 20
FULL_REASON = (
    "the overhead appears once 300 requests have used up the free blocks, so only at the largest "
    "sizes; below, no block is cleaned"
)


def compare(cells: Cells) -> list[Claim]:
    """Give every claim of section 3 and of the slides."""
    return [
        _confidence(cells.values()),
        _best_and_worst(cells),
        _never_cleans(cells),
        *_overhead_32gb(cells),
        _no_more_at_90(cells),
        *_overhead_4gb(cells),
        _random_writes_of_the_worst(cells),
        _policies_equal(cells),
        _sequential_reads_flat(cells),
        _random_reads_slower(cells),
        _random_reads_like_writes(cells),
    ]


def _mean(cells: Cells, line: str, pattern: str, size: int) -> float:
    """Mean response time in ns; NaN where the drive got stuck."""
    return cells[line, pattern, size].mean_ns


def _overhead(cells: Cells, slow: str, fast: str, pattern: str, sizes: Sequence[int]) -> float:
    """How much slower one line is than another, in percent, averaged over sizes."""
    ratios = [_mean(cells, slow, pattern, s) / _mean(cells, fast, pattern, s) for s in sizes]
    return 100 * (float(np.mean(ratios)) - 1)


def _near(paper_percent: float, ours_percent: float) -> bool:
    return abs(paper_percent - ours_percent) <= WITHIN_POINTS


def _number(what: str, paper: float, ours: float, why: str, unit: str = "%") -> Claim:
    verdict = Verdict.AGREES if _near(paper, ours) else Verdict.EXPLAINED
    return Claim(what, paper, round(ours, 2), unit, verdict, "" if _near(paper, ours) else why)


def _statement(what: str, paper: str, ours: str, holds: bool, why: str = "") -> Claim:
    if holds:
        return Claim(what, paper, ours, "", Verdict.AGREES)
    reason = why or "our runs show otherwise, and we have found no reason for it"
    verdict = Verdict.EXPLAINED if why else Verdict.DIFFERS
    return Claim(what, paper, ours, "", verdict, reason)


def _confidence(cells: Iterable[Cell]) -> Claim:
    served = [cell for cell in cells if not cell.failure]
    widths = [(c.ci95_high_ns - c.ci95_low_ns) / 2 / c.mean_ns for c in served]
    # The interval that takes the requests as independent, as papers mostly do.
    naive = [1.96 * c.stddev_ns / np.sqrt(c.requests) / c.mean_ns for c in served]
    count, would = (sum(width <= 0.05 for width in each) for each in (widths, naive))
    wide = [cell for cell, width in zip(served, widths, strict=True) if width > 0.05]
    cleaned = sum(cell.block_erases > 0 for cell in wide)
    return _statement(
        "means have an error of at most 5 % at 95 % confidence",
        "yes",
        f"{count} of {len(widths)} points; the widest is {100 * max(widths):.0f} %",
        max(widths) <= 0.05,
        f"in {cleaned} of the {len(wide)} wide points cleaning starts during the run and comes in "
        "bursts, so neighbouring requests are not independent and 300 are too few; taking them as "
        f"independent, {would} points would pass",
    )


def _best_and_worst(cells: Cells) -> Claim:
    top = SIZES_BYTES[-1]
    means = {
        line: cell.mean_ns
        for (line, pattern, size), cell in cells.items()
        if pattern == "write" and size == top and not cell.failure
    }
    fastest, slowest = min(means.values()), max(means.values())
    best = sorted(line for line, mean in means.items() if mean <= fastest * (1 + EQUAL_WITHIN))
    worst = sorted(line for line, mean in means.items() if mean >= slowest * (1 - EQUAL_WITHIN))
    holds = all("5% min/32GB" in line for line in best) and all(
        "50% min/4GB" in line for line in worst
    )
    return _statement(
        "sequential writes of 4 MB: fastest and slowest configuration",
        "5% min/32GB and 50% min/4GB",
        f"{_configuration(best)} ({fastest / 1e6:.2f} ms) and "
        f"{_configuration(worst)} ({slowest / 1e6:.2f} ms)",
        holds,
    )


def _configuration(lines: Sequence[str]) -> str:
    """Drop the policy: both policies are in the list, or say which one is."""
    without = sorted({line.split("/", 1)[1] for line in lines})
    return " = ".join(without)


def _never_cleans(cells: Cells) -> Claim:
    erases = sum(cell.block_erases for cell in cells.values() if cell.line.endswith("/5% min/32GB"))
    return _statement(
        "32 GB with 5 % never starts collecting",
        "0 blocks erased",
        f"{erases} blocks erased in 80 runs",
        erases == 0,
    )


def _overhead_32gb(cells: Cells) -> list[Claim]:
    slow, fast = "Greedy/50% min/32GB", "Greedy/5% min/32GB"
    ours = _overhead(cells, slow, fast, "write", SIZES_BYTES[-1:])
    mean = _overhead(cells, slow, fast, "write", SIZES_BYTES)
    return [
        _number("32 GB: keeping 50 % free instead of 5 %, writes of 4 MB", 5.5, ours, FULL_REASON),
        _number("the same, mean of the ten sizes", 5.5, mean, FULL_REASON),
    ]


def _no_more_at_90(cells: Cells) -> Claim:
    worst = max(
        abs(
            _mean(cells, "Greedy/90% min/32GB", p, s) / _mean(cells, "Greedy/50% min/32GB", p, s)
            - 1
        )
        for p in PATTERNS
        for s in SIZES_BYTES
    )
    return _statement(
        "32 GB: 90 % costs no more than 50 %",
        "the same",
        f"largest difference of 40 points {100 * worst:.2g} %",
        worst < EQUAL_WITHIN,
    )


def _overhead_4gb(cells: Cells) -> list[Claim]:
    slow, fast, ideal = "Greedy/50% min/4GB", "Greedy/5% min/4GB", "Greedy/5% min/32GB"
    at_1m = _overhead(cells, slow, fast, "write", [MIB])
    at_4m = _overhead(cells, slow, fast, "write", SIZES_BYTES[-1:])
    no_gc = _overhead(cells, slow, ideal, "write", SIZES_BYTES[-1:])
    return [
        _number("4 GB: keeping 50 % free instead of 5 %, writes of 1 MB", 7.0, at_1m, FULL_REASON),
        _number(
            "the same at 4 MB",
            7.0,
            at_4m,
            "at 4 MB the small drive collects with 5 % too; against a drive that does not collect, "
            f"the overhead is {no_gc:.2f} %",
        ),
    ]


def _random_writes_of_the_worst(cells: Cells) -> Claim:
    line = "Greedy/50% min/4GB"
    ratios = {
        size: _mean(cells, line, "randwrite", size) / _mean(cells, line, "write", size)
        for size in SIZES_BYTES
    }
    stuck = [f"{size // 1024} KB" for size, ratio in ratios.items() if np.isnan(ratio)]
    worst = float(np.nanmax(list(ratios.values())))
    ours = f"up to {worst:.1f} times as long" + (
        f"; the drive gets stuck at {', '.join(stuck)}" if stuck else ""
    )
    return _statement(
        "4 GB with 50 %: random writes take about as long as sequential ones",
        "comparable",
        ours,
        worst < 1.1 and not stuck,
        "with the smallest reserve that allows 50 %, one block per plane lies between the mark and "
        "a full drive: random overwrites leave planes without an invalid page, and cleaning frees "
        "nothing; the reserve used in 2015 is not in the paper and must have been larger",
    )


def _policies_equal(cells: Cells) -> Claim:
    pairs = [
        (cell.mean_ns, cells[line.replace("Greedy", "Wear-Aware"), pattern, size].mean_ns)
        for (line, pattern, size), cell in cells.items()
        if line.startswith("Greedy")
    ]
    equal = sum(a == b or (np.isnan(a) and np.isnan(b)) for a, b in pairs)
    return _statement(
        "greedy and wear-aware do not differ",
        "no difference",
        f"{equal} of {len(pairs)} pairs equal to the nanosecond",
        equal == len(pairs),
    )


def _sequential_reads_flat(cells: Cells) -> Claim:
    spread = _spread(cells, "read")
    return _statement(
        "sequential reads do not depend on the collection settings",
        "no effect",
        f"largest difference between lines {100 * spread:.2g} %",
        spread < EQUAL_WITHIN,
    )


def _spread(cells: Cells, pattern: str) -> float:
    """Largest relative difference between lines at one size."""
    spreads = []
    for size in SIZES_BYTES:
        means = [c.mean_ns for (_, p, s), c in cells.items() if (p, s) == (pattern, size)]
        spreads.append(np.nanmax(means) / np.nanmin(means) - 1)
    return float(max(spreads))


def _random_reads_slower(cells: Cells) -> Claim:
    ratios = [
        cell.mean_ns / cells[line, "read", size].mean_ns
        for (line, pattern, size), cell in cells.items()
        if pattern == "randread"
    ]
    return _statement(
        "sequential reads are much faster than random reads",
        "much faster",
        f"random over sequential: {min(ratios):.4f} to {max(ratios):.4f}",
        min(ratios) > 1.1,
        "in this firmware a read costs the same at any address; see random-reads",
    )


def _random_reads_like_writes(cells: Cells) -> Claim:
    line, size = "Greedy/5% min/32GB", SIZES_BYTES[-1]
    ratio = _mean(cells, line, "randwrite", size) / _mean(cells, line, "randread", size)
    spread = _spread(cells, "randread")
    return _statement(
        "random reads take as long as writes, and the settings affect them",
        "similar to writes",
        f"writes of 4 MB take {ratio:.2f} times as long; settings change reads by "
        f"{100 * spread:.2g} %",
        ratio < 1.1 and spread > EQUAL_WITHIN,
        "the trace of random reads run as writes shows all the symptoms, reads show none; "
        "see random-reads",
    )
