"""Models of real drives: none dies, host-bound runs count, and a knee is no line."""

import numpy as np
import pytest
from tests.unit.real_grids import HEADER, drive, require

from ssdscope import stats
from ssdscope.models import evaluation, features, fitting, samples
from ssdscope.models.samples import CYCLE, Sample
from ssdscope.models.screening import Screening
from ssdscope.models.table import load


def test_features_that_are_constant_but_for_rounding_do_not_spoil_a_model() -> None:
    """Reads only: log2(0.01) in each row has a deviation of 1e-14, and folds had no factor."""
    _, rows = load(require("980pro-63-rows-fit-crash.parquet"))
    sample = Sample.of(rows, "train", "latency")
    for model, feature_set in (("service", "service"), ("gp", "physics")):
        unseen = fitting.unseen_predictions(model, feature_set, sample, 1)
        assert stats.prediction_errors(sample.values, unseen.predicted).mre < 0.08


def test_host_bound_runs_are_kept_and_their_rate_is_predicted() -> None:
    rows = drive("sata-samsung-pm883")
    bound = [each for each in rows if each.host_bound]
    assert len(bound) == 18
    assert all(each.usable for each in rows)
    fitted = fitting.fit(rows, HEADER, model="gp", feature_set="extended", tails=False, seed=1)
    assert fitted.about["rows"] == len(rows)
    assert fitted.about["screening"] == {"runs": 98, "left_out": {}, "host_bound": 18}
    assert "18 of 98 runs are host-bound" in fitted.about["remarks"][0]
    assert CYCLE in fitted.predictions
    rates = [fitted.answers(each.row.vector)["iops"]["value"] for each in bound]
    by_latency = [
        each.row.vector.q_dep * 1e9 / fitted.answers(each.row.vector)["latency_ns"]["value"]
        for each in bound
    ]
    measured = np.array([each.row.iops for each in bound])
    own, little = (np.abs(np.array(each) / measured - 1).mean() for each in (rates, by_latency))
    assert own < 0.75 * little
    assert not {"cycle_ns"} & set(fitted.answers(bound[0].row.vector))


def test_runs_that_cannot_be_are_left_out_and_counted() -> None:
    from dataclasses import replace

    rows = drive("sata-samsung-860pro")
    wrong = [replace(each, row=replace(each.row, iops=1.2 * each.row.iops)) for each in rows[:7]]
    screening = Screening.of([*wrong, *rows[7:]])
    assert screening.left_out == {"against Little's law": 7}
    assert "7 of 98 runs are left out: 7 against Little's law" in screening.remarks()[0]


@pytest.mark.parametrize("name", ["nvme-samsung-evo-2t", "nvme-zn540-conv"])
def test_the_larger_of_two_bounds_is_nearer_than_a_line_in_logarithms(name: str) -> None:
    found = evaluation.evaluate(
        drive(name), models=["knee"], feature_sets=["extended", "times"], seed=1
    )
    grouped = {each["name"]: each["mre"] for each in found if each["split"] == "grouped"}
    assert grouped["knee"] < 0.8 * grouped[evaluation.INTERPOLATION]
    assert grouped[evaluation.INTERPOLATION] < grouped[evaluation.NEAREST]


def test_folds_of_a_grid_hold_whole_workloads() -> None:
    sample = Sample.of(drive("sata-crucial-mx200"), "train", "latency")
    folds = sample.folds(1)
    workloads = {tuple(each) for each in sample.inputs}
    assert len(workloads) == 26
    pairs = {(tuple(each), fold) for each, fold in zip(sample.inputs, folds, strict=True)}
    assert len(pairs) == len(workloads)
    assert len(sample) >= samples.LEAST_ROWS
    assert features.columns("extended", sample.inputs).shape == (98, 8)
