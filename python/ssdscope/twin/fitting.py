"""From what was measured to one design: many beginnings, few that are fitted, one at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ssdscope.twin.begin import Drawn, nearest
from ssdscope.twin.choices import neighbours
from ssdscope.twin.design import SPARE
from ssdscope.twin.fit import ENOUGH, Fitter, Tried
from ssdscope.twin.free import at_bounds, free_of, moved
from ssdscope.twin.running import Runner
from ssdscope.twin.search import climbed

if TYPE_CHECKING:
    from ssdscope.twin.design import Design, Value
    from ssdscope.twin.found import Found
    from ssdscope.twin.rows import Row

__all__ = ["Likeness", "fitted"]

BEGUN, QUICKLY, TRIED = 32, 8, 3
"""Beginnings that are run; that are fitted with slopes of another; and that are searched from."""
QUICK_SHARE, SEARCH_SHARE = 0.6, 0.85
"""Of the work: up to where what is quick to run is searched by, and all; the rest is for numbers at
the end."""
NEAR = 1.5
"""A beginning whose cost is so many times that of the best is not searched from."""
LIKELY = 1.2
"""Likewise, so that its long writes are not run."""
STEPS, LAST_STEPS = 4, 4
"""Of the numbers of a beginning, and of what was found in the end."""
OTHERS = 7
"""Designs that are kept beside the one that came nearest."""
ALLOWED = 6.0
"""What all misses of a design may cost more than those of the nearest: about three standard errors,
were they independent."""
SPARES = (0.5, 1.0, 2.0)
"""Times as much spare space, or as many log blocks, before they are fitted."""
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
    share = QUICK_SHARE if len(quick) < len(rows) else SEARCH_SHARE
    _search_from(begun, fitter, found, share * work_s)
    spent_s = fitter.runner.spent_s
    best = min(fitter.kept, key=lambda each: each.cost)
    if len(quick) < len(rows):
        near = _likely(fitter.kept, best)
        fitter = Fitter(Runner(rows, seed, spent_s, spent, work_s, all_reads=True), found.known())
        best = _on_all(near, fitter)
        best = climbed(fitter, best, partial(neighbours, found=found), SEARCH_SHARE * work_s)
    best = fitter.fitted(replace(best, slopes=None), LAST_STEPS)
    runner = fitter.runner
    others = list(_allowed(fitter.kept, best, ALLOWED))[:OTHERS]
    free = frozenset(free_of(best.design))
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
    """Fit beginnings, and search around those that then are nearest, as long as there is work.

    Most are fitted with the slopes of the nearest, which cost nothing.
    """
    first = fitter.fitted(begun[0], STEPS)
    like = fitter.sloped(first)
    quick = [fitter.quick(each, like, STEPS) for each in begun[1:QUICKLY]]
    best = sorted(quick, key=lambda each: each.cost)[: TRIED - 1]
    every = [first, *(fitter.fitted(replace(each, slopes=None), STEPS) for each in best)]
    every.sort(key=lambda each: each.cost)
    around = partial(neighbours, found=found)
    for number, each in enumerate(every):
        spent_s, least = fitter.runner.spent_s, min(one.cost for one in fitter.kept)
        if number and (spent_s > most_s or least < ENOUGH or each.cost > NEAR * every[0].cost):
            break
        climbed(fitter, each, around, most_s)


def _likely(kept: Sequence[Tried], best: Tried) -> list[Tried]:
    """Return the nearest of the structures that are hardly further off than the best."""
    first = [best, *_allowed(kept, best, math.inf)][:TRIED]
    return [each for each in first if each.cost < LIKELY * best.cost + ENOUGH]


def _on_all(near: Sequence[Tried], fitter: Fitter) -> Tried:
    """Fit the one of them to all rows that is nearest with some spare space."""
    pairs = [(like, other) for like in near for other in _of_spares(like.design)]
    ran = fitter.tried([other for _, other in pairs])
    at = min(range(len(ran)), key=lambda each: ran[each].cost)
    return fitter.fitted(ran[at], STEPS, pairs[at][0])


def _of_spares(design: Design) -> Iterator[Design]:
    """Return it with less and more of what only shows in long writes, which were not run yet."""
    key = "ftl.log_blocks" if design.log_block else SPARE
    every = [each for each in free_of(design) if each.key == key]
    yield from (moved(design, {each: math.log(by)}) for each in every for by in SPARES)
    if not every:
        yield design


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
    fitted_keys = {each.key for each in free_of(design)}
    kept = {k: v for k, v in design.values.items() if k not in fitted_keys}
    return replace(design, values=kept).key


def _differ(design: Design, others: Sequence[Design]) -> Iterator[str]:
    """Say of each key of structure what the designs have."""
    fitted_keys = {each.key for each in free_of(design)}
    keys = {key for each in others for key in design.differs(each)} - fitted_keys - FOLLOWS
    for key in sorted(keys):
        values: list[Value | None] = [each.values.get(key) for each in (design, *others)]
        first, *rest = dict.fromkeys(map(str, values))
        yield f"{key}: {first}, or {' or '.join(rest)}"
