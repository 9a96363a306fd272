"""The search among designs that differ in what is no number, one respect and two at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ssdscope.twin.fit import ENOUGH, Fitter, Tried
from ssdscope.twin.running import AT_ONCE

if TYPE_CHECKING:
    from ssdscope.twin.design import Design

__all__ = ["climbed"]

OF_REST = ("gc.", "over_provisioning")
"""Beginnings of keys that show where a drive is at rest alone."""
RUN_WHOLE = 16
"""Neighbours that run all: those that promise most by what is cheap."""
PAIRED, FITTED, LEAST_FITTED = 6, 8, 2
"""Promising neighbours that are tried in pairs; those whose numbers are fitted, at most; and of
those that were run at least, though the work is done."""
PROMISING = 1.25
"""A neighbour is fitted well if, quickly fitted, its cost is so many times that of the best."""
BETTER = 0.95
"""A structure is better if its cost is so many times that of before."""
STEPS = 3


def climbed(
    fitter: Fitter,
    at: Tried,
    around: Callable[[Design], Iterable[Design]],
    most_s: float,
) -> Tried:
    """Go to the better neighbour, until there is none or the work is done.

    Parameters
    ----------
    at
        Where to begin.
    around
        Gives the neighbours of a design.
    most_s
        Work of the fitter's runner at which it ends.
    """
    seen: set[str] = set()
    while at.cost > ENOUGH and fitter.runner.spent_s < most_s:
        at = fitter.sloped(at)
        hopes = _promising(fitter, at, around, seen, most_s)
        better = at
        for number, each in enumerate(hopes[:FITTED]):
            if number >= LEAST_FITTED and fitter.runner.spent_s >= most_s:
                break
            if (found := _tried(fitter, each, at)).cost < BETTER * at.cost:
                better = found
                break
        if better is at:
            break
        at = fitter.fitted(better, STEPS)
    return at


def _promising(
    fitter: Fitter,
    at: Tried,
    around: Callable[[Design], Iterable[Design]],
    seen: set[str],
    most_s: float,
) -> list[Tried]:
    """Run neighbours as they are, and pairs of those that promise most; these first."""
    singles = _hopeful(fitter, at, around(at.design), seen, most_s)
    firsts = singles[:PAIRED]
    # What the second changes is put into the first.
    pairs = [
        _both(at.design, one.design, other.design)
        for place, one in enumerate(firsts)
        for other in firsts[:place]
    ]
    return _best_first(fitter, at, singles + _hopeful(fitter, at, pairs, seen, most_s))


def _hopeful(
    fitter: Fitter, at: Tried, designs: Iterable[Design], seen: set[str], most_s: float
) -> list[Tried]:
    """Run those that were not seen; give those that promise to be better, the best first."""
    fresh: dict[str, Design] = {}
    for each in designs:
        if each.key not in seen:
            fresh[each.key] = each
    seen |= fresh.keys()
    quick = _best_first(fitter, at, fitter.tried_quickly(list(fresh.values()), at))
    chosen = [each.design for each in quick[:RUN_WHOLE]]
    chosen += [each.design for each in quick[RUN_WHOLE:] if _of_rest(each.design, at.design)]
    least = fitter.promised(at, at)
    whole = _best_first(fitter, at, list(_as_far(fitter, chosen, most_s)))
    return [each for each in whole if fitter.promised(each, at) < least]


def _as_far(fitter: Fitter, designs: Sequence[Design], most_s: float) -> Iterator[Tried]:
    """Run designs, a few at a time, until the work is done."""
    for at in range(0, len(designs), AT_ONCE):
        if at and fitter.runner.spent_s >= most_s:
            return
        yield from fitter.tried(designs[at : at + AT_ONCE])


def _best_first(fitter: Fitter, at: Tried, every: Sequence[Tried]) -> list[Tried]:
    return sorted(every, key=lambda each: fitter.promised(each, at))


def _of_rest(design: Design, base: Design) -> bool:
    """Say whether two designs differ in what shows where a drive is at rest alone."""
    return any(key.startswith(OF_REST) for key in design.differs(base))


def _tried(fitter: Fitter, each: Tried, at: Tried) -> Tried:
    """Fit a neighbour as far as it is promising: first with the slopes that are known."""
    quick = fitter.quick(each, at)
    if quick.cost > PROMISING * at.cost:
        return quick
    return fitter.fitted(replace(quick, slopes=None), STEPS)


def _both(base: Design, one: Design, other: Design) -> Design:
    """Put what two designs change in a base into one."""
    changed = base.differs(other)
    values = {key: value for key, value in one.values.items() if key not in changed}
    values |= {key: other.values[key] for key in sorted(changed) if key in other.values}
    return replace(one, values=values).evened()
