"""When a trial is hopeless: the rule that spares the rest of its load.

Each trial first runs a part of the load on a fork of its drive. Of the trials that ran the whole,
it is known how many times the figure of the part their whole had. The smallest of these ratios
times the part is the best that a trial can hope for, and a tenth better than that is allowed for.
If even this breaks a limit, or a trial that keeps all limits is at least as good in everything
that is minimised, the whole is not run. Nothing is stopped before `ENOUGH` trials ran the whole.

A cost is known beforehand, and needs no hope.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ssdscope.search.figures import is_rate
from ssdscope.search.limits import Limit, shown

ENOUGH = 10
SLACK = 0.1
Figures = Mapping[str, float]


@dataclass(frozen=True)
class Ratios:
    """By figure, how many times its part the whole was: the least, the median, the most."""

    least: Figures
    median: Figures
    most: Figures


@dataclass(frozen=True)
class Judge:
    """What is known when a trial begins.

    Attributes
    ----------
    minimise, limits
        What is wanted.
    ratios
        Of the trials so far; None if there are too few.
    rivals
        What is minimised of the trials that keep all limits and that none beats.
    """

    minimise: tuple[str, ...]
    limits: tuple[Limit, ...]
    ratios: Ratios | None = None
    rivals: tuple[tuple[float, ...], ...] = field(default=())

    def hopeless(self, part: Figures, exact: Figures) -> str | None:
        """Say why the whole need not be run; None if there is hope.

        Parameters
        ----------
        part
            Figures after the part.
        exact
            Figures that are known already: costs.
        """
        if self.ratios is None:
            return None
        hoped = dict(exact) | self._hoped(part, self.ratios)
        for limit in self.limits:
            if limit.of in hoped and limit.excess(hoped[limit.of]):
                best = shown(limit.of, hoped[limit.of])
                return f"{limit.of} could be {best} at best, the limit is {limit}"
        mine = [hoped.get(name, -math.inf) for name in self.minimise]
        for rival in self.rivals:
            if all(theirs <= own for theirs, own in zip(rival, mine, strict=True)):
                names = zip(self.minimise, mine, rival, strict=True)
                told = (f"{name} {shown(name, own)} against {shown(name, theirs)}"
                        for name, own, theirs in names)  # fmt: skip
                return f"at best it could have {', '.join(told)} of an earlier trial"
        return None

    def expected(self, part: Figures, exact: Figures) -> dict[str, float]:
        """Give what the whole would probably have had."""
        if self.ratios is None:
            return dict(exact)
        median = self.ratios.median
        return dict(exact) | {name: part[name] * median[name] for name in part if name in median}

    def _hoped(self, part: Figures, ratios: Ratios) -> dict[str, float]:
        return {
            name: part[name] * ratios.most[name] * (1 + SLACK)
            if is_rate(name)
            else part[name] * ratios.least[name] * (1 - SLACK)
            for name in part
            if name in ratios.least
        }


def ratios_of(pairs: Sequence[tuple[Figures, Figures]]) -> Ratios | None:
    """Learn from trials that ran both: pairs of the part's figures and the whole's.

    A figure that some part did not have, or had as nothing, tells nothing.
    """
    if len(pairs) < ENOUGH:
        return None
    names = set.intersection(*({*part} & {*whole} for part, whole in pairs))
    by_name = {
        name: [whole[name] / part[name] for part, whole in pairs]
        for name in sorted(names)
        if all(part[name] > 0 for part, _ in pairs)
    }
    return Ratios(
        {name: min(each) for name, each in by_name.items()},
        {name: statistics.median(each) for name, each in by_name.items()},
        {name: max(each) for name, each in by_name.items()},
    )
