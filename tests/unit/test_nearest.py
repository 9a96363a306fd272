"""Words that place a drive among the presets say no more than the figures do."""

import pytest

from ssdscope.findings import Findings
from ssdscope.report.nearest import FIGURES, nearest, presets
from ssdscope.report.uses import ranked


@pytest.mark.parametrize("times", [1.0, 1.005])
def test_a_figure_that_is_equal_is_neither_better_nor_worse(times: float) -> None:
    for each in FIGURES:
        own = presets()["nvme-tlc"]["figures"].get(each.key)
        if own is not None:
            better, worse, count = ranked(each, times * own)
            assert better + worse <= count - 1


@pytest.mark.parametrize(
    ("times", "said"),
    [(1.0, "huang-hdd-s (equal in"), (1.04, "huang-hdd-s (4 % apart in"),
     (1.3, "huang-hdd-s (1.3 times apart in")],
)  # fmt: skip
def test_how_far_figures_are_apart_is_said_in_the_words_for_it(times: float, said: str) -> None:
    known = presets()["huang-hdd-s"]["figures"]
    points = [
        {"rw": each.rw, "block_bytes": each.block_bytes, "iodepth": each.iodepth}
        | {"split": "grid", "sort": "burst", each.field: times * known[each.key]}
        for each in FIGURES
        if each.field == "mean_ns"
    ]
    placed = nearest({"performance": {"points": points, "sustained": []}}, Findings())
    assert placed is not None
    assert said in placed.sentence
