"""What decides a row: rules, and what words of a paper come to in numbers.

A verdict is only worth something if it could have been another. So a paper's words have one meaning
each, and every row has tests in which other drives turn it, to either side that its rule bounds.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace

from ssdscope.studies.record import Claim, Verdict

QUOTED_WITHIN = 0.10
"""A number that a paper quotes, unless its own digits or a stated interval say more."""
SIMILAR_WITHIN = 1.5
NOT_SO = "ours shows otherwise, and we have found no reason for it"
OTHER_DRIVE = "of another drive"


@dataclass(frozen=True)
class Rule:
    """What a value has to be for a row to agree; several parts have to hold together.

    Attributes
    ----------
    within
        What it may be off by on either side, as a share of the paper's number.
    between
        The least and the most that it may be.
    above, below
        What it has to be more than, or less than.
    factor
        It may be so many times the paper's number, or the paper's so many times it.
    times
        Of an error: it may be so many times the paper's, or the paper's so many times it. A
        smaller one is `easier`.
    """

    within: float | None = None
    between: tuple[float, float] | None = None
    above: float | None = None
    below: float | None = None
    factor: float | None = None
    times: float | None = None

    @classmethod
    def names(cls) -> list[str]:
        """List the parts."""
        return [each.name for each in fields(cls)]

    @property
    def sides(self) -> tuple[str, ...]:
        """Which sides are bounded: "low", "high" or both."""
        two_sided = (self.within, self.between, self.factor, self.times)
        both = any(part is not None for part in two_sided)
        low, high = both or self.above is not None, both or self.below is not None
        return ("low",) * low + ("high",) * high

    def verdict(self, paper: float | str, asked: Sequence[float]) -> Verdict:
        """Decide upon values, which all have to be so; there has to be one."""
        verdicts = {self._of_one(paper, value) for value in asked} or {Verdict.DIFFERS}
        return worst(verdicts)

    def _of_one(self, paper: float | str, value: float) -> Verdict:
        number = float("nan") if isinstance(paper, str) else paper
        if self.times is not None and 0 <= value < number / self.times:
            return Verdict.EASIER
        held = [
            self.within is None or quoted(number, value, self.within),
            self.between is None or self.between[0] <= value <= self.between[1],
            self.above is None or value > self.above,
            self.below is None or value < self.below,
            self.factor is None or number / self.factor <= value <= number * self.factor,
            self.times is None or number / self.times <= value <= number * self.times,
        ]
        return Verdict.AGREES if all(held) else Verdict.DIFFERS


def worst(verdicts: Collection[Verdict]) -> Verdict:
    """Return the worst of some verdicts; there is one at least."""
    return next(each for each in reversed(Verdict) if each in verdicts)


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


def of_another_drive(row: Claim) -> Claim:
    """Return a row of a study's procedure on somebody's own drive, which needs no explanation."""
    if row.verdict == Verdict.AGREES:
        return row
    return replace(row, verdict=Verdict.DIFFERS, why=OTHER_DRIVE, tried="")
