"""The search among designs that differ in what is no number, one respect and two at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ssdscope.twin.fit import ENOUGH, Fitter, Tried

if TYPE_CHECKING:
    from ssdscope.twin.design import Design

__all__ = ["climbed"]

PAIRED, FITTED = 6, 8
"""Promising neighbours that are tried in pairs; and those whose numbers are fitted."""
PROMISING = 1.25
"""A neighbour is fitted well if, quickly fitted, its cost is so many times that of the best."""
BETTER = 0.95
"""A structure is better if its cost is so many times that of before."""
STEPS = 3


def climbed(
    fitter: Fitter,
    at: Tried,
    around: Callable[[Design], Iterable[Design]],
    spent: Callable[[], bool],
) -> Tried:
    """Go to the better neighbour, until there is none or the work is done.

    Parameters
    ----------
    at
        Where to begin, with slopes.
    around
        Gives the neighbours of a design.
    spent
        Whether the work is done.
    """
    seen: set[str] = set()
    better = at
    while at.cost > ENOUGH and not spent():
        hopes = _promising(fitter, at, around, seen)
        better = next(
            (found for each in hopes[:FITTED] if not spent() and
             (found := _tried(fitter, each, at)).cost < BETTER * at.cost), at,
        )  # fmt: skip
        if better is at:
            break
        at = fitter.fitted(better, STEPS)
    return at


def _promising(
    fitter: Fitter, at: Tried, around: Callable[[Design], Iterable[Design]], seen: set[str]
) -> list[Tried]:
    """Run neighbours as they are, and pairs of those that promise most; these first."""
    singles = _hopeful(fitter, at, around(at.design), seen)
    firsts = singles[:PAIRED]
    # What the second changes is put into the first.
    pairs = [
        _both(at.design, one.design, other.design)
        for place, one in enumerate(firsts)
        for other in firsts[:place]
    ]
    every = singles + _hopeful(fitter, at, pairs, seen)
    return sorted(every, key=lambda each: fitter.promised(each, at))


def _hopeful(fitter: Fitter, at: Tried, designs: Iterable[Design], seen: set[str]) -> list[Tried]:
    """Run those that were not seen; give those that promise to be better, the best first."""
    fresh: dict[str, Design] = {}
    for each in designs:
        key = repr(sorted(each.values.items(), key=str))
        if key not in seen:
            fresh[key] = each
    seen |= fresh.keys()
    promised = [(fitter.promised(each, at), each) for each in fitter.tried(list(fresh.values()))]
    least = fitter.promised(at, at)
    hopes = [each for each in promised if each[0] < least]
    return [each for _, each in sorted(hopes, key=lambda each: each[0])]


def _tried(fitter: Fitter, each: Tried, at: Tried) -> Tried:
    """Fit a neighbour as far as it is promising: first with the slopes that are known."""
    quick = fitter.quick(each, at)
    if quick.cost > PROMISING * at.cost:
        return quick
    return fitter.fitted(replace(quick, slopes=None), STEPS)


def _both(base: Design, one: Design, other: Design) -> Design:
    """Put what two designs change in a base into one."""
    keys: Sequence[str] = sorted(set(base.values) | set(other.values))
    changed = {key for key in keys if base.values.get(key) != other.values.get(key)}
    values = {key: value for key, value in one.values.items() if key not in changed}
    values |= {key: other.values[key] for key in changed if key in other.values}
    return replace(one, values=values).evened()
