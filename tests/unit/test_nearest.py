"""Words that place a drive among the presets say no more than the figures do."""

from typing import Any

import pytest

from ssdscope.findings import Findings
from ssdscope.report.nearest import FIGURES, nearest, presets
from ssdscope.report.uses import ranked, uses


@pytest.mark.parametrize("times", [1.0, 1.005])
def test_a_figure_that_is_equal_is_neither_better_nor_worse(times: float) -> None:
    for each in FIGURES:
        own = presets()["nvme-tlc"]["figures"].get(each.key)
        if own is not None:
            better, worse, count = ranked(each, times * own)
            assert better + worse <= count - 1


def document_of(times: float, **more: float) -> dict[str, Any]:
    """Make a document of times that are so many times those of a preset."""
    known = presets()["huang-hdd-s"]["figures"]
    points = [
        {"rw": each.rw, "block_bytes": each.block_bytes, "iodepth": each.iodepth}
        | {"split": "grid", "sort": "burst", each.field: times * known[each.key]}
        | more
        for each in FIGURES
        if each.field == "mean_ns"
    ]
    return {"performance": {"points": points, "sustained": []}}


@pytest.mark.parametrize(
    ("times", "said"),
    [(1.0, "huang-hdd-s (equal in"), (1.04, "huang-hdd-s (4 % apart in"),
     (1.3, "huang-hdd-s (1.3 times apart in")],
)  # fmt: skip
def test_how_far_figures_are_apart_is_said_in_the_words_for_it(times: float, said: str) -> None:
    placed = nearest(document_of(times), Findings())
    assert placed is not None
    assert said in placed.sentence


def test_figures_of_a_busy_machine_are_bounds_and_never_worse() -> None:
    quiet, busy = document_of(2.0), document_of(2.0, waited_share=0.2)
    worse = uses(quiet)
    assert worse is not None
    assert worse.unfit
    assert uses(busy) is None
    placed = nearest(busy, Findings())
    assert placed is not None
    assert "2 of 2 are bounds" in placed.sentence
    assert placed.table.rows[0][1].startswith("≤ ")
    better = uses(document_of(1e-3, waited_share=0.2))
    assert better is not None
    assert "take at most" in better.fits[0].text
    assert "(20 % waiting)" in better.fits[0].text
