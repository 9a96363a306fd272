"""Which models there are: a name, what it is, and how it is made.

A new model is an estimator that passes ``check_estimator`` and keeps its fit as plain data in
``model_``, and a line here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ssdscope.errors import UsageError, nearest


@dataclass(frozen=True)
class Family:
    """A kind of model.

    Attributes
    ----------
    make
        Gives an estimator of the logarithm of a positive target, from a seed.
    about
        What it is, in a few words.
    most_rows
        Beyond so many rows it is not among those that are chosen from.
    chosen_from
        Whether it is tried where the best is asked for; baselines are not, nor is what a faster
        kind comes before.
    own_features
        The only set of features that it learns from, which only kinds with one do; empty if it
        takes any other.
    """

    make: Callable[[int], Any]
    about: str
    most_rows: int = 1 << 40
    chosen_from: bool = True
    own_features: str = ""


def _guide(seed: int) -> Any:
    from ssdscope.models.guide.estimators import GuideRegressor

    return GuideRegressor(log_target=True, random_state=seed)


def _guide_rows(seed: int) -> Any:
    from ssdscope.models.guide.estimators import GuideRegressor

    # A leaf may hold one workload: as few rows as a linear model of its features takes.
    return GuideRegressor(
        min_samples_leaf=1, log_target=True, repeats_together=False, random_state=seed
    )


def _bagged(seed: int) -> Any:
    from ssdscope.models.guide.estimators import GuideBagging

    return GuideBagging(log_target=True, random_state=seed)


def _guide_quantile(seed: int) -> Any:
    from ssdscope.models.guide.estimators import GuideQuantileRegressor

    return GuideQuantileRegressor(log_target=True, random_state=seed)


def _cart(seed: int) -> Any:
    from ssdscope.models.estimators import CartRegressor

    return CartRegressor(log_target=True, random_state=seed)


def _lightgbm(seed: int) -> Any:
    from ssdscope.models.estimators import LightgbmRegressor

    return LightgbmRegressor(log_target=True, random_state=seed)


def _gaussian(seed: int) -> Any:
    from ssdscope.models.gaussian import GaussianProcess

    return GaussianProcess(log_target=True, random_state=seed)


def _service(seed: int, *, tree: bool = False, knee: bool = False) -> Any:
    from ssdscope.models.features import TERMS
    from ssdscope.models.service import ServiceRegressor

    return ServiceRegressor(
        terms=len(TERMS), tree=tree, knee=knee, log_target=True, random_state=seed
    )


def _knee(seed: int) -> Any:
    return _service(seed, knee=True)


def _service_guide(seed: int) -> Any:
    return _service(seed, tree=True)


def _least_squares(_seed: int) -> Any:
    from ssdscope.models.estimators import LeastSquaresRegressor

    return LeastSquaresRegressor(log_target=True)


def _quantile(_seed: int) -> Any:
    from ssdscope.models.estimators import LinearQuantileRegressor

    return LinearQuantileRegressor(log_target=True)


def _lasso(_seed: int) -> Any:
    from ssdscope.models.lasso import LassoRegressor

    return LassoRegressor(log_target=True)


FAMILIES: dict[str, Family] = {
    "guide": Family(_guide, "one regression tree with linear leaves, after Loh's GUIDE"),
    "guide-rows": Family(
        _guide_rows,
        "the same, pruned by folds of rows, in which repeated workloads are held to themselves",
        chosen_from=False,
    ),
    "guide-bagged": Family(_bagged, "the mean of ten such trees", most_rows=4000),
    "guide-quantile": Family(
        _guide_quantile, "a GUIDE tree for the median", most_rows=4000, chosen_from=False
    ),
    "cart": Family(_cart, "one regression tree with constant leaves", chosen_from=False),
    "lightgbm": Family(_lightgbm, "boosted trees with linear leaves"),
    "gp": Family(_gaussian, "Gaussian process, for small samples", most_rows=4200),
    "service": Family(
        _service,
        "times that add up, and a Gaussian process of what they miss",
        own_features="service",
    ),
    "knee": Family(
        _knee,
        "the larger of the times alone and in the queue, and a Gaussian process of what they miss",
        own_features="times",
    ),
    "service-guide": Family(
        _service_guide,
        "times that add up, and a GUIDE tree of what they miss, which knows the share of each",
        chosen_from=False,
        own_features="times",
    ),
    "ols": Family(_least_squares, "ordinary least squares, a baseline", chosen_from=False),
    "quantile": Family(_quantile, "linear median regression, a baseline", chosen_from=False),
    "lasso": Family(_lasso, "least squares of few features out of many", chosen_from=False),
}
BEST = "best"
"""In place of a name: whichever predicts unseen rows best."""


def family(name: str) -> Family:
    """Look a kind of model up.

    Raises
    ------
    UsageError
        If there is none of this name, or what it needs is not installed.
    """
    if name not in FAMILIES:
        raise UsageError(f"there is no model {name!r}", hint=nearest(name, FAMILIES))
    if name == "lightgbm":
        from ssdscope.models.estimators import lightgbm

        lightgbm()
    return FAMILIES[name]


def pairs(names: Sequence[str], feature_sets: Sequence[str]) -> list[tuple[str, str]]:
    """Pair kinds of model with sets of features; one with a set of its own has that alone.

    Raises
    ------
    UsageError
        If there is no set that a kind learns from.
    """
    reserved = {each.own_features for each in FAMILIES.values()}
    found = []
    for name in names:
        own = family(name).own_features
        sets = [own] if own else [each for each in feature_sets if each not in reserved]
        if not sets:
            raise UsageError(
                f"{name} does not learn from {', '.join(feature_sets)} features",
                hint="use basic, extended or physics",
            )
        found += [(name, each) for each in sets]
    return found


def available(rows: int, *, baselines: bool = False) -> list[str]:
    """List the kinds of model that can be fitted here to so many rows."""
    found = []
    for name, each in FAMILIES.items():
        if rows > each.most_rows or not (each.chosen_from or baselines):
            continue
        try:
            family(name)
        except UsageError:
            continue
        found.append(name)
    return found
