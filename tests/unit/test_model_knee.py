"""The larger of the times alone and in the queue, joined as sharply as runs show."""

import json

import numpy as np
import pytest

from ssdscope.models.knee import SHARPEST, _log_total, bounds_of
from ssdscope.models.service import ServiceRegressor
from ssdscope.models.service_model import ServiceModel, joined


def runs(order: float) -> tuple[np.ndarray, np.ndarray]:
    """Depths with two kinds of requests: terms of the queue, then of one alone; and latencies."""
    depth = np.tile(2.0 ** np.arange(11), 2)
    kind = np.repeat(np.eye(2), 11, axis=0)
    terms = np.hstack([kind * depth[:, None], kind])
    return terms, joined(terms, np.array([3e3, 12e3, 80e3, 20e3]), 1.0, order)


def test_both_bounds_and_a_sharp_knee_are_found() -> None:
    terms, latency = runs(SHARPEST)
    coefficients, order = bounds_of(terms, latency, np.full(4, 1e4))
    assert coefficients == pytest.approx([3e3, 12e3, 80e3, 20e3], rel=0.01)
    assert order > 8


def test_times_that_add_up_have_no_knee() -> None:
    terms, latency = runs(1.0)
    coefficients, order = bounds_of(terms, latency, np.full(4, 1e4))
    assert order == pytest.approx(1, abs=0.05)
    assert joined(terms, coefficients, 1.0, order) == pytest.approx(latency, rel=0.01)


def test_one_wild_run_moves_neither_bound() -> None:
    terms, latency = runs(SHARPEST)
    latency[5] *= 4
    coefficients, _ = bounds_of(terms, latency, np.full(4, 1e4))
    assert coefficients == pytest.approx([3e3, 12e3, 80e3, 20e3], rel=0.1)


def test_the_slopes_are_those_of_the_total() -> None:
    terms, queue = runs(2.0)[0], np.array([True, True, False, False])
    place = np.log([2e3, 5e3, 6e4, 3e4, 3.0])
    slopes = _log_total(place, terms, queue)[1]
    for column in range(5):
        step = np.zeros(5)
        step[column] = 1e-6
        ends = [_log_total(place + way * step, terms, queue)[0] for way in (1, -1)]
        assert slopes[:, column] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-6)


def test_a_knee_is_kept_as_plain_data() -> None:
    terms, latency = runs(SHARPEST)
    rows = np.hstack([np.log2(terms.max(axis=1))[:, None], terms])
    fitted = ServiceRegressor(4, knee=True, log_target=True, random_state=0).fit(rows, latency)
    assert fitted.model_.sharpness > 8
    assert fitted.predict(rows) == pytest.approx(latency, rel=0.02)
    again = ServiceModel.from_json(json.loads(json.dumps(fitted.model_.to_json())))
    assert (again.evaluate(rows) == fitted.predict(rows)).all()


def test_terms_are_of_the_queue_and_alone_in_pairs() -> None:
    terms, latency = runs(1.0)
    with pytest.raises(ValueError, match="as many terms of the queue as alone, got 3"):
        ServiceRegressor(3, knee=True).fit(terms, latency)
