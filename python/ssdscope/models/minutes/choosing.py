"""What predicts, decided by how far predictions of minutes were off that were not learnt from.

A hundred minutes, some of them far off the others, cannot tell much apart. So nothing is taken for
better than something more cautious unless its errors are less by more than a standard error, in
pairs: what is hard to predict in a minute is so for all.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""How much of what models say is believed, the rest being what needs no model."""


def relative(guess: Array, truth: Array) -> Array:
    """Give relative errors."""
    off: Array = np.abs(guess / truth - 1)
    return off


def told_apart(errors: Array, best: Array) -> bool:
    """Tell whether errors exceed the best ones by more than a standard error."""
    more = errors - best
    return bool(more.mean() > more.std() / np.sqrt(len(more)))


def kinds(unseen: Mapping[str, Array], truth: Array) -> tuple[str, ...]:
    """Choose the kinds that cannot be told from the best one."""
    errors = {kind: relative(guess, truth) for kind, guess in unseen.items()}
    best = min(errors.values(), key=lambda each: float(each.mean()))
    return tuple(kind for kind, each in errors.items() if not told_apart(each, best))


def cautious(guesses: Sequence[Array], truth: Array) -> int:
    """Give the place of the first guess that cannot be told from the best; bolder ones follow."""
    errors = [relative(each, truth) for each in guesses]
    best = errors[_best(errors)]
    return next(place for place, each in enumerate(errors) if not told_apart(each, best))


def weight(naive: Array, guess: Array, truth: Array) -> float:
    """Say how much of a guess is to be believed, of `WEIGHTS`.

    It is no more than was best on the later half: what helped before may be over, and errors of
    wild minutes outweigh those of calm ones.
    """
    tries = [blended(naive, guess, each) for each in WEIGHTS]
    late = len(truth) // 2
    lately = _best([relative(each[late:], truth[late:]) for each in tries])
    return WEIGHTS[min(cautious(tries, truth), lately)]


def _best(errors: Sequence[Array]) -> int:
    return int(np.argmin([each.mean() for each in errors]))


def skill(guess: Array, naive: Array, truth: Array) -> float:
    """Give the share of a naive guess's mean relative error that another takes away."""
    most = relative(naive, truth).mean()
    return float(1 - relative(guess, truth).mean() / most) if most else float("nan")


def blended(naive: Array, guess: Array, share: float) -> Array:
    """Go this share of the way from one guess to the other, in the logarithm."""
    between: Array = naive * (guess / naive) ** share
    return between


def mean(guesses: Sequence[Array]) -> Array:
    """Take the geometric mean."""
    found: Array = np.exp(np.mean(np.log(guesses), axis=0))
    return found
