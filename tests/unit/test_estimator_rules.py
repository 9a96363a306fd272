"""All estimators keep scikit-learn's rules.

The rules are about how input is checked, which `fit` and `predict` do, and about how parameters
are kept, which each class does for itself. So every class that has a `fit` of its own is held to
all of them, its relatives to sharing that `fit`, and to the rules on parameters. With
``-m calibration`` every estimator is held to all.
"""

import warnings
from typing import Any
from unittest import SkipTest

import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.estimator_checks import estimator_checks_generator
from tests.violations import Violations

from ssdscope.models import registry
from ssdscope.models.estimators import (
    CartRegressor,
    LeastSquaresRegressor,
    LightgbmRegressor,
    LinearQuantileRegressor,
    Portable,
)
from ssdscope.models.gaussian import GaussianProcess
from ssdscope.models.guide import estimators as guide
from ssdscope.models.lasso import LassoRegressor
from ssdscope.models.service import ServiceRegressor

BOOSTED = [LightgbmRegressor(n_estimators=20)] if "lightgbm" in registry.available(9) else []
FIRST = [
    CartRegressor(random_state=0),
    guide.GuideRegressor(random_state=0),
    GaussianProcess(random_state=0),
    ServiceRegressor(random_state=0),
]
"""One for each `fit` that checks its input."""
RELATIVES = {
    Portable: [
        LeastSquaresRegressor(),
        LinearQuantileRegressor(),
        LassoRegressor(),
        *BOOSTED,
    ],
    guide._Guide: [
        guide.GuideBagging(n_estimators=3, random_state=0),
        guide.GuideQuantileRegressor(max_depth=2, cv=2, random_state=0),
    ],
    ServiceRegressor: [ServiceRegressor(tree=True, random_state=0)],
}
"""Those that share a `fit`, by whose it is."""
OF_EACH_CLASS = {
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_dont_overwrite_parameters",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_get_params_invariance",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_regressors_train",
    "check_set_params",
}
"""Rules that a class can break though its `fit` is another's."""


def held_to(estimator: BaseEstimator, only: set[str] | None = None) -> set[str]:
    """Try scikit-learn's own checks on an estimator; give the names of those that ran."""
    rule, ran = Violations(), set()
    for fresh, check in estimator_checks_generator(estimator):
        name = check.func.__name__
        if only is not None and name not in only:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default")
                check(fresh)
        except SkipTest:
            continue
        except Exception as error:  # noqa: BLE001 - whatever it is, it is reported by name
            rule.check(False, f"{estimator!r}, {name}", repr(error))
        else:
            rule.check(True, name)
        ran.add(name)
    rule.none(least=10)
    return ran


@pytest.mark.parametrize("estimator", FIRST, ids=lambda each: type(each).__name__)
def test_every_fit_keeps_all_of_scikit_learns_rules(estimator: BaseEstimator) -> None:
    assert len(held_to(estimator)) > 40


@pytest.mark.parametrize(
    ("base", "estimator"),
    [(base, each) for base, relatives in RELATIVES.items() for each in relatives],
    ids=lambda each: getattr(each, "__name__", repr(each)),
)
def test_relatives_share_what_was_tried(base: type[Any], estimator: BaseEstimator) -> None:
    kind = type(estimator)
    assert kind.fit is base.fit
    assert kind.predict is base.predict
    for name in ("get_params", "set_params", "__sklearn_tags__", "__setstate__", "__getstate__"):
        inherited = getattr(base, name)
        assert getattr(kind, name) == inherited, name
    assert kind.score is RegressorMixin.score
    assert len(held_to(estimator, OF_EACH_CLASS)) > 12, "some may be called otherwise by now"


def test_every_estimator_of_the_package_is_tried() -> None:
    """Also one that is added: each class with a `fit` is first, or a relative of one that is."""

    def below(kind: type[Any]) -> set[type[Any]]:
        return {kind}.union(*map(below, kind.__subclasses__()))

    tried = {
        type(each) for each in (*FIRST, *(each for some in RELATIVES.values() for each in some))
    }
    ours = {
        each
        for each in below(BaseEstimator)
        if each.__module__.startswith("ssdscope.models") and "__init__" in vars(each)
    }
    assert ours - tried <= ({LightgbmRegressor} if not BOOSTED else set())
    owners = {next(each for each in type(first).__mro__ if "fit" in vars(each)) for first in FIRST}
    assert {each for each in below(BaseEstimator) if "fit" in vars(each)} & ours <= owners


@pytest.mark.calibration
@pytest.mark.parametrize(
    "estimator",
    [each for relatives in RELATIVES.values() for each in relatives],
    ids=repr,
)
def test_every_estimator_keeps_all_of_scikit_learns_rules(estimator: BaseEstimator) -> None:
    assert len(held_to(estimator)) > 40
