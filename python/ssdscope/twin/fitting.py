"""From what was measured to one design: many beginnings, few that are fitted, one at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

BEGUN, TRIED, SLOPED = 32, 8, 3
"""Beginnings that run what is quick to run; of them those that run all; and that are fitted."""
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


def fitted(
    drawn: Drawn, rows: Sequence[Row], found: Found, seed: int, work_s: float
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
    """
    runner = Runner(rows, seed)
    fitter = Fitter(runner, found.known())
    begun = _begun(drawn, fitter, found)
    if not begun:
        return "no drive that can be simulated has what was found"
    sloped = [fitter.fitted(each, STEPS) for each in begun[:SLOPED]]
    best = min(sloped, key=lambda each: each.cost)
    for each in sorted(sloped, key=lambda each: each.cost):
        if runner.spent_s > work_s or best.cost < ENOUGH:
            break
        found_here = climbed(
            fitter, each, partial(neighbours, found=found), lambda: runner.spent_s > work_s
        )
        best = min(best, found_here, key=lambda one: one.cost)
    best = fitter.fitted(replace(best, slopes=None), LAST_STEPS)
    others = list(_allowed([*sloped, *fitter.kept], best))[:OTHERS]
    free = frozenset(free_of(best.design, frozenset()))
    return Likeness(
        best.design, best.error, tuple(each.design for each in others),
        tuple(_differ(best.design, [each.design for each in others])),
        tuple(at_bounds(best.design, free)), runner.spent_s > work_s,
    )  # fmt: skip


def _begun(drawn: Drawn, fitter: Fitter, found: Found) -> list[Tried]:
    """Run beginnings, first what is quick, then all; the nearest first."""
    rows = fitter.runner.rows
    quick = [row for row in rows if row.sort in ("read", "burst")]
    first = Fitter(Runner(quick, fitter.runner.seed))
    every = first.tried(list(nearest(drawn, rows, found, BEGUN)))
    fitter.runner.spent_s += first.runner.spent_s
    can = sorted((each for each in every if each.runs), key=lambda each: each.cost)
    tried = fitter.tried([each.design for each in can[:TRIED]])
    return sorted(tried, key=lambda each: each.cost)


def _allowed(every: Sequence[Tried], best: Tried) -> Iterator[Tried]:
    """Give designs that are hardly further off than the best, each of another structure."""
    structures = {_structure(best.design)}
    for each in sorted(every, key=lambda each: each.cost):
        more = (each.cost - best.cost) * each.misses.size
        if more <= ALLOWED and _structure(each.design) not in structures:
            structures.add(_structure(each.design))
            yield each


def _structure(design: Design) -> str:
    fitted_keys = {each.key for each in free_of(design, frozenset())}
    kept = {k: v for k, v in design.values.items() if k not in fitted_keys}
    return repr(sorted(kept.items(), key=str))


def _differ(design: Design, others: Sequence[Design]) -> Iterator[str]:
    """Say of each key of structure what the designs have."""
    fitted_keys = {each.key for each in free_of(design, frozenset())}
    keys = {key for each in (design, *others) for key in each.values} - fitted_keys - FOLLOWS
    for key in sorted(keys):
        values: list[Value | None] = [each.values.get(key) for each in (design, *others)]
        distinct = list(dict.fromkeys(map(str, values)))
        if len(distinct) > 1:
            yield f"{key}: {distinct[0]}, or {' or '.join(distinct[1:])}"
