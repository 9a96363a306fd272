"""Members of an array: chunks in turn that take longer or less long to read, and share nothing.

Pages of unlike types come in turn, too, and die by die. But what is of one drive shares its dies
and its link: two reads at once wait for each other whatever their pages are. Reads on two members
never do.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.noise import normal_scores
from ssdscope.inference.series import Rival, Series, Weighed, nothing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["apart", "members"]

MOST_MEMBERS, TURNS = 8, 3
"""Members that are looked for; and turns of all of them, at least."""
TINY = np.finfo(float).tiny
QUARTER = 1 / 4
"""Of what pairs on one member wait: what pairs on two wait if they are of one drive, at least."""


def members(steps: NDArray[np.int64], logs: NDArray[np.float64]) -> Weighed:
    """Find how many members take turns, and how long a chunk is.

    Parameters
    ----------
    steps, logs : ndarray, shape (n,)
        Places, in steps that every chunk holds whole; and the logarithm of what each takes.

    Returns
    -------
    Weighed
        The estimate is the number of members, `detail` has the ``chunk`` in steps. Rivals are other
        numbers; what it costs to name a level for each member is taken off the evidence.
    """
    scores = normal_scores(logs, np.zeros(logs.size))
    total, count, far = float(scores @ scores), logs.size, int(steps.max(initial=0)) + 1
    gained: list[tuple[float, int, int]] = []
    for number in range(2, MOST_MEMBERS + 1):
        for chunk in range(1, far // (TURNS * number) + 1):
            of = steps // chunk % number
            sums, each = np.bincount(of, scores, number), np.bincount(of, None, number)
            share = float((sums**2 / np.maximum(each, 1)).sum()) / total if total else 0.0
            gain = -count / 2 * math.log(max(1 - share, TINY)) - number * math.log(count)
            gained.append((gain, number, chunk))
    if not gained:
        return nothing()
    best, number, chunk = max(gained)
    rivals = [
        Rival("another number of members", best - max(g for g, n, _ in gained if n == other), other)
        for other in {n for _, n, _ in gained} - {number}
    ]
    of = steps // chunk % number
    medians = [float(np.median(logs[of == each])) for each in np.unique(of)]
    effect = math.expm1(max(medians) - min(medians))
    score = max(best - math.log(len(gained)), 0.0)
    return Weighed(float(number), None, score, effect, math.inf, (), {"chunk": chunk}).against(
        rivals
    )


def apart(series: Series) -> Weighed:
    """Say whether pairs on two members never wait, and those on one do.

    Parameters
    ----------
    series
        Pairs that are read at once: what the slower takes over what it takes alone, with `x` 1 of
        those on one member, and 0 of those on two.

    Returns
    -------
    Weighed
        The estimate is by how much pairs on one member take longer; the rival is a single drive, in
        which some of the others wait, too.
    """
    logs = np.log(series.y)
    one, two = logs[series.x == 1], logs[series.x == 0]
    if min(one.size, two.size) < 4:
        return nothing()
    longer = float(one.mean() - two.mean())
    errors = [float(each.var(ddof=1)) / each.size for each in (one, two)]
    score = max(longer, 0.0) ** 2 / max(2 * sum(errors), TINY)
    wait = QUARTER * float(one.mean())
    nearer = (float(two.mean()) - wait) ** 2 - float(two.mean()) ** 2
    margin = nearer / max(2 * errors[1], TINY)
    effect = math.expm1(max(longer, 0.0))
    return Weighed(math.exp(longer), None, score, effect, effect, (Rival("one drive", margin),))
