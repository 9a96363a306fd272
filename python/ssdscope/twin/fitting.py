"""From what was measured to one design: many beginnings, few that are fitted, one at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ssdscope.twin.begin import Drawn, nearest
from ssdscope.twin.choices import neighbours
from ssdscope.twin.fit import ENOUGH, Fitter, Tried
from ssdscope.twin.free import at_bounds, free_of
from ssdscope.twin.running import Runner
from ssdscope.twin.search import climbed

if TYPE_CHECKING:
    from ssdscope.twin.design import Design, Value
    from ssdscope.twin.found import Found
    from ssdscope.twin.rows import Row

__all__ = ["Likeness", "fitted"]

BEGUN, TRIED = 32, 4
"""Beginnings that are run; and that are searched from."""
QUICK_SHARE, SEARCH_SHARE, FIRST_SHARE = 0.5, 0.85, 0.7
"""Of the work: up to where what is quick to run is searched by, and all; the rest is for numbers at
the end. And of the former, what the first beginning may take."""
NEAR = 1.5
"""A beginning whose cost is so many times that of the best is not searched from."""
STEPS, LAST_STEPS = 4, 4
"""Of the numbers of a beginning, and of what was found in the end."""
OTHERS = 7
"""Designs that are kept beside the one that came nearest."""
ALLOWED = 6.0
"""What all misses of a design may cost more than those of the nearest: about three standard errors,
were they independent."""
FOLLOWS = frozenset({"disk.cylinders"})
"""Keys that follow from others and from the capacity."""


@dataclass(frozen=True)
class Likeness:
    """The design that came nearest, and those that are allowed, too.

    Attributes
    ----------
    error
        Median of the misses on what was fitted, as a share.
    """

    design: Design
    error: float
    others: tuple[Design, ...] = ()
    differ: tuple[str, ...] = ()
    at_bounds: tuple[str, ...] = ()
    cut_short: bool = False
    worked_s: float = 0.0


def fitted(
    drawn: Drawn,
    rows: Sequence[Row],
    found: Found,
    seed: int,
    work_s: float,
    progress: Callable[[float], object] | None = None,
) -> Likeness | str:
    """Find the design most like the drive; or say why there is none.

    Parameters
    ----------
    drawn
        Drives to begin with.
    rows
        What it is held to.
    found
        What is known of the inside.
    seed
        Of the runs.
    work_s
        What may be run, counted, in seconds of one core.
    progress
        Told what share of that is done.
    """

    def spent(counted_s: float) -> None:
        if progress is not None:
            progress(min(counted_s / work_s, 1.0))

    if work_s <= 0:
        return "no time was left for it"
    quick = [row for row in rows if not row.slow]
    fitter = Fitter(Runner(quick, seed, progress=spent, most_s=work_s), found.known())
    begun = _begun(drawn, rows, fitter, found)
    if not begun:
        return "no drive that can be simulated has what was found"
    _search_from(begun, fitter, found, QUICK_SHARE * work_s)
    spent_s = fitter.runner.spent_s
    best = min(fitter.kept, key=lambda each: each.cost)
    if len(quick) < len(rows):
        first = [best.design, *(each.design for each in _allowed(fitter.kept, best, math.inf))]
        fitter = Fitter(Runner(rows, seed, spent_s, spent, work_s), found.known())
        best = min(fitter.tried(first[:TRIED]), key=lambda each: each.cost)
        best = fitter.fitted(best, STEPS)
        best = climbed(fitter, best, partial(neighbours, found=found), SEARCH_SHARE * work_s)
    best = fitter.fitted(replace(best, slopes=None), LAST_STEPS)
    runner = fitter.runner
    others = list(_allowed(fitter.kept, best, ALLOWED))[:OTHERS]
    free = frozenset(free_of(best.design, frozenset()))
    return Likeness(
        best.design, best.error, tuple(each.design for each in others),
        tuple(_differ(best.design, [each.design for each in others])),
        tuple(at_bounds(best.design, free)), runner.over, runner.spent_s,
    )  # fmt: skip


def _begun(drawn: Drawn, rows: Sequence[Row], fitter: Fitter, found: Found) -> list[Tried]:
    """Run beginnings; those that can be, the nearest first."""
    every = fitter.tried(list(nearest(drawn, rows, found, BEGUN)))
    return sorted((each for each in every if each.runs), key=lambda each: each.cost)


def _search_from(begun: Sequence[Tried], fitter: Fitter, found: Found, most_s: float) -> None:
    """Fit beginnings and search around them, one after the other, as long as there is work for it.

    The first may take most of that.
    """
    around = partial(neighbours, found=found)
    for number, each in enumerate(begun[:TRIED]):
        spent_s = fitter.runner.spent_s
        if number and (spent_s > most_s or min(one.cost for one in fitter.kept) < ENOUGH):
            break
        here = fitter.fitted(each, STEPS)
        if here.cost < NEAR * min(one.cost for one in fitter.kept):
            climbed(fitter, here, around, most_s if number else FIRST_SHARE * most_s)


def _allowed(every: Sequence[Tried], best: Tried, most: float) -> Iterator[Tried]:
    """Return designs that are hardly further off than the best, each of another structure.

    Parameters
    ----------
    most
        What all misses of a design may cost more.
    """
    structures = {_structure(best.design)}
    for each in sorted(every, key=lambda each: each.cost):
        more = (each.cost - best.cost) * each.misses.size
        if more <= most and _structure(each.design) not in structures:
            structures.add(_structure(each.design))
            yield each


def _structure(design: Design) -> str:
    fitted_keys = {each.key for each in free_of(design, frozenset())}
    kept = {k: v for k, v in design.values.items() if k not in fitted_keys}
    return replace(design, values=kept).key


def _differ(design: Design, others: Sequence[Design]) -> Iterator[str]:
    """Say of each key of structure what the designs have."""
    fitted_keys = {each.key for each in free_of(design, frozenset())}
    keys = {key for each in others for key in design.differs(each)} - fitted_keys - FOLLOWS
    for key in sorted(keys):
        values: list[Value | None] = [each.values.get(key) for each in (design, *others)]
        first, *rest = dict.fromkeys(map(str, values))
        yield f"{key}: {first}, or {' or '.join(rest)}"
