"""A kind of model that cannot be fitted costs no more than itself, and is named."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.unit.made_up_runs import HEADER, collection

from ssdscope.errors import UsageError
from ssdscope.models import evaluation, fitting, registry
from ssdscope.models.fitting import Choice, Unseen
from ssdscope.models.gaussian import GaussianProcess, _cholesky
from ssdscope.models.samples import Sample
from ssdscope.models.scaling import deviations


class Broken:
    """Fails as libraries do: on all rows, or on folds alone, or with numbers that are none."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.model_ = self

    def get_params(self) -> dict[str, Any]:
        return {}

    def fit(self, rows: np.ndarray, _values: np.ndarray) -> "Broken":
        if self.how == "always" or (self.how == "at last" and len(rows) == 60):
            raise np.linalg.LinAlgError("11-th leading minor not positive definite")
        return self

    def evaluate(self, rows: np.ndarray) -> np.ndarray:
        return np.full(len(rows), np.nan if self.how == "nan" else 1e6)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    kind = registry.Family(lambda _seed: Broken(request.param), "fails")
    monkeypatch.setitem(registry.FAMILIES, "broken", kind)
    return str(request.param)


@pytest.mark.parametrize("broken", ["always", "at last", "nan"], indirect=True)
def test_the_others_are_chosen_from(broken: str) -> None:
    fitted = fitting.fit(
        collection(60), HEADER, model=["broken", "ols"], feature_set="extended", tails=False, seed=1
    )
    assert fitted.model == "ols"
    (remark,) = fitted.about["remarks"] if broken != "at last" else [""]
    assert broken == "at last" or "broken on extended features is left out" in remark


@pytest.mark.parametrize("broken", ["always"], indirect=True)
@pytest.mark.usefixtures("broken")
def test_if_none_is_left_that_is_said_without_a_traceback() -> None:
    with pytest.raises(UsageError, match=r"no model could be fitted .*11-th leading minor"):
        fitting.fit(collection(60), HEADER, model="broken", seed=1)
    with pytest.raises(UsageError, match="no model could be fitted"):
        evaluation.evaluate(collection(60), models=["broken"], feature_sets=["extended"], seed=1)


@pytest.mark.parametrize("broken", ["always"], indirect=True)
@pytest.mark.usefixtures("broken")
def test_evaluation_goes_on_without_it() -> None:
    fits = fitting.Fits()
    found = evaluation.evaluate(
        collection(60), models=["broken", "ols"], feature_sets=["extended"], seed=1, fits=fits
    )
    assert {each["name"] for each in found} >= {"ols", evaluation.CONSTANT}
    assert [name for name, _ in fits.left_out] == ["broken"]
    assert "cannot be fitted (LinAlgError: 11-th" in fits.remarks()[0]


def test_a_covariance_without_a_factor_gets_a_larger_diagonal() -> None:
    singular = np.ones((40, 40)) - 1e-6 * np.eye(40)
    factor = np.tril(_cholesky(singular.copy()))
    assert factor @ factor.T == pytest.approx(singular, abs=1e-4)
    with pytest.raises(np.linalg.LinAlgError, match=r"no factor with 0\.01"):
        _cholesky(-np.eye(3))


def test_a_column_that_is_constant_but_for_rounding_is_constant() -> None:
    constant = np.log2(0.01) + 1e-15 * (np.arange(57) % 2)
    assert 0 < constant.std() < 1e-14
    columns = np.column_stack([constant, np.arange(57.0), np.zeros(57)])
    assert deviations(columns) == pytest.approx([1, np.arange(57).std(), 1])
    rng = np.random.default_rng(1)
    values = np.exp(np.sin(columns[:, 1] / 9) + rng.normal(0, 0.01, 57))
    one, other = (
        GaussianProcess(log_target=True, random_state=0).fit(each, values).predict(each)
        for each in (columns, columns[:, 1:2])
    )
    assert one == pytest.approx(other, rel=0.01)


def test_what_is_chosen_by_luck_is_not_calibrated_by_it() -> None:
    """Kinds that only guess: the best on nine rows is no better than others on the tenth."""
    rng = np.random.default_rng(1)
    truth, folds, best, met = np.ones(10), np.arange(10), [], []
    for _ in range(40):
        guesses = [Unseen(np.exp(rng.normal(0, 0.3, 10)), folds) for _ in range(60)]
        errors = [float(np.abs(each.predicted - 1).mean()) for each in guesses]
        choices = [Choice("x", "y", *each) for each in zip(errors, guesses, strict=True)]
        best.append(min(errors))
        met.append(np.abs(fitting.unseen_of_chosen(choices, truth).predicted - 1).mean())
    assert np.mean(met) > 1.1 * np.mean(best)
    alone = fitting.unseen_of_chosen(choices[:1], truth)
    assert (alone.predicted == choices[0].unseen.predicted).all()


def test_runs_of_a_host_that_cannot_keep_up_are_learnt_from() -> None:
    run = collection(40)[0]
    for share, host_bound, usable in ((0.97, False, True), (0.86, True, True), (0.6, False, False)):
        slow = replace(run, row=replace(run.row, iops=share * run.row.iops, requests=10**6))
        assert (slow.host_bound, slow.usable) == (host_bound, usable)
    rows = [
        replace(each, row=replace(each.row, iops=0.86 * each.row.iops, requests=10**6))
        for each in collection(60)
    ]
    sample = Sample.of(rows, "train", "cycle")
    assert sample.values == pytest.approx(Sample.of(rows, "train", "latency").values / 0.86)
