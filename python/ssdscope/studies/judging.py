"""What words of a paper come to in numbers, the same in all studies.

A verdict is only worth something if it could have been another. So a paper's words have one meaning
each, and every claim has a test in which another drive makes it say `differs`.
"""

from dataclasses import replace

from ssdscope.studies.record import Claim, Verdict

QUOTED_WITHIN = 0.10
"""A number that a paper quotes, unless its own digits or a stated interval say more."""
SIMILAR_WITHIN = 1.5
MAGNITUDE = (7.0, 14.0)
UNKNOWN = "ours shows otherwise, and we have found no reason for it"
OTHER_DRIVE = "of another drive"


def quoted(paper: float, ours: float, within: float = QUOTED_WITHIN) -> bool:
    """Say whether ours is the number that a paper quotes.

    Parameters
    ----------
    paper, ours
        In one unit; the paper's is not 0.
    within
        What ours may be off by, as a share of the paper's.
    """
    return abs(ours - paper) <= within * abs(paper)


def similar(one: float, other: float) -> bool:
    """Say whether two positive values are what a paper calls similar, or comparable."""
    return 1 / SIMILAR_WITHIN <= one / other <= SIMILAR_WITHIN


def order_of_magnitude(ratio: float) -> bool:
    """Say whether a ratio is what a paper calls an order of magnitude."""
    low, high = MAGNITUDE
    return low <= ratio <= high


def claim(
    what: str, paper: float | str, ours: float | str, unit: str, *, holds: bool, why: str = UNKNOWN
) -> Claim:
    """Give the row of a claim that holds, or differs."""
    verdict = Verdict.AGREES if holds else Verdict.DIFFERS
    return Claim(what, paper, ours, unit, verdict, "" if holds else why)


def explained(row: Claim, why: str, tried: str) -> Claim:
    """Explain a row that differs by a cause that was tried; one that agrees stays as it is.

    Parameters
    ----------
    why
        The cause.
    tried
        The run that shows it, and what it gave.
    """
    if row.verdict != Verdict.DIFFERS:
        return row
    return replace(row, verdict=Verdict.EXPLAINED, why=why, tried=tried)


def of_another_drive(row: Claim) -> Claim:
    """Give a row of a study's procedure on somebody's own drive, which needs no explanation."""
    if row.verdict == Verdict.AGREES:
        return row
    return replace(row, verdict=Verdict.DIFFERS, why=OTHER_DRIVE, tried="")
