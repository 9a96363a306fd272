"""Which of the paper's claims hold on a drive that is not the paper's.

Claims about sizes, policies and shares kept free compare drives, so they cannot be asked of one.
"""

from collections.abc import Mapping

import numpy as np

from ssdscope.studies.machado2015.procedure import Cell, Cells
from ssdscope.studies.record import Claim, Verdict

MUCH = 1.1
"""A pattern that takes so many times as long is called slower; less is called the same."""
WHY = "another drive than the paper's; here"

Means = Mapping[str, Mapping[int, float]]


def compare(cells: Cells) -> list[Claim]:
    """Give every claim whose patterns were measured."""
    served = [cell for cell in cells.values() if not cell.failure]
    means: dict[str, dict[int, float]] = {}
    for cell in served:
        means.setdefault(cell.pattern, {})[cell.size_bytes] = cell.mean_ns
    asked = [
        _slower("sequential reads are much faster than random reads", means, "randread", "read"),
        _same("random reads take as long as writes", means, "randwrite", "randread"),
        _same("random writes take about as long as sequential ones", means, "randwrite", "write"),
    ]
    return [*_confidence(served), *(claim for claim in asked if claim is not None)]


def _confidence(served: list[Cell]) -> list[Claim]:
    if not served:
        return []
    widths = [(cell.ci95_high_ns - cell.ci95_low_ns) / 2 / cell.mean_ns for cell in served]
    narrow = sum(width <= 0.05 for width in widths)
    what = "means have an error of at most 5 % at 95 % confidence"
    ours = f"{narrow} of {len(widths)} points; the widest is {100 * max(widths):.0f} %"
    if narrow == len(widths):
        return [Claim(what, "yes", ours, "", Verdict.AGREES)]
    why = f"{WHY} 300 requests are too few for that"
    return [Claim(what, "yes", ours, "", Verdict.DIFFERS, why)]


def _slower(what: str, means: Means, slow: str, fast: str) -> Claim | None:
    ratios = _ratios(means, slow, fast)
    if ratios is None:
        return None
    typical, ours = float(np.median(ratios)), _told(ratios)
    if typical > MUCH:
        return Claim(what, "much faster", ours, "", Verdict.AGREES)
    why = f"{WHY} order makes little difference to 300 requests one at a time"
    return Claim(what, "much faster", ours, "", Verdict.DIFFERS, why)


def _same(what: str, means: Means, one: str, other: str) -> Claim | None:
    ratios = _ratios(means, one, other)
    if ratios is None:
        return None
    typical, ours = float(np.median(ratios)), _told(ratios)
    if 1 / MUCH <= typical <= MUCH:
        return Claim(what, "similar", ours, "", Verdict.AGREES)
    why = f"{WHY} {one} takes {typical:.2f} times as long as {other} (median of the sizes)"
    return Claim(what, "similar", ours, "", Verdict.DIFFERS, why)


def _ratios(means: Means, one: str, other: str) -> list[float] | None:
    """Compare two patterns at every size both were measured at; None without any."""
    sizes = means.get(one, {}).keys() & means.get(other, {}).keys()
    return [means[one][size] / means[other][size] for size in sorted(sizes)] or None


def _told(ratios: list[float]) -> str:
    return f"{min(ratios):.2f} to {max(ratios):.2f} times as long, median {np.median(ratios):.2f}"
