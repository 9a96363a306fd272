"""The pictures of kuo2009: nothing is cut off in silence, and cases are drawn as they are."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.plots import schemes
from ssdscope.plots.panels import Line, Panel, canvas, in_panels, limit
from ssdscope.studies.kuo2009 import cases, layout
from ssdscope.studies.kuo2009.bench import KIB, MIB
from ssdscope.studies.kuo2009.detecting import panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def words(axes: "Axes") -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_what_lies_above_an_axis_is_shown_and_counted() -> None:
    _, (axes,) = canvas(1)
    times = np.full(64, 100.0)
    times[[9, 40]] = (900.0, 35_278.0)
    limit(axes, np.arange(64), times)
    assert axes.get_ylim()[1] < 900
    assert words(axes) == ["2 above, up to 35,278"]
    (triangles,) = axes.lines
    assert np.asarray(triangles.get_xdata()).tolist() == [9, 40]
    assert np.asarray(triangles.get_ydata()).max() < axes.get_ylim()[1]


def test_an_axis_that_needs_no_end_holds_everything() -> None:
    _, (axes,) = canvas(1)
    limit(axes, np.arange(4), np.array([1.0, 2.0, 3.0, 4.0]))
    assert axes.get_ylim()[1] > 4
    assert not axes.texts


def test_detected_sizes_are_marked() -> None:
    line = Line(None, [1, 2, 3, 4], [1.0, 1.0, 1.0, 2.0])
    picture = in_panels(
        [panel(label, [line], found, MIB, name="MB") for label, found in (("one", 2 * MIB),
         ("none", None))]
    )  # fmt: skip
    one, none = picture.axes
    assert words(one) == ["detected 2 MB"]
    assert none.get_title(loc="left") == "none: none found"


def test_bars_lie_upon_each_other_under_their_names() -> None:
    bars = {"switch": [1, 2], "full": [3, 0]}
    (axes,) = in_panels([Panel("merges", y="merges", bars=bars, names=["on", "off"])]).axes
    tops = [_height(patch) for patch in axes.patches]
    assert tops == [1, 2, 4, 2]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["on", "off"]


def _height(box: Any) -> float:
    return float(box.get_y() + box.get_height())


def _width(box: Any) -> float:
    return float(box.get_width())


def test_a_layout_shows_every_page_written_and_hatches_those_read_first() -> None:
    written = {"25": (14, 12), "26": (9, 2), "27": (8, 0), "28": (8, 0)}
    for name, (pages, hatched) in written.items():
        picture = cases.layout(layout.LAYOUTS[name], layout.FILE, 4, 4, "")
        (axes,) = picture.axes
        boxes = [patch for patch in axes.patches if patch.get_hatch() is None]
        nand = [each for each in boxes if _width(each) == cases.NAND_WIDTH]
        assert len(nand) == pages
        assert sum(patch.get_hatch() is not None for patch in axes.patches) == hatched
        colours = {box.get_facecolor() for box in nand}
        assert len(colours) == 2  # the file's and hot data's


def test_cases_of_pages_hatch_what_was_counted() -> None:
    counted = {(KIB, 0): 1, (KIB, KIB): 1, (2 * KIB, 0): 0, (2 * KIB, KIB): 2}
    picture = cases.page_cases(counted, 2 * KIB)
    hatched = [
        sum(patch.get_hatch() is not None for patch in axes.patches) for axes in picture.axes
    ]
    assert hatched == [2, 2]


def test_lanes_share_a_scale_of_time() -> None:
    lanes = {
        "a": [schemes.Lane("one", [(0, 1000)], "first")],
        "b": [schemes.Lane("two", [(0, 9000)], "second")],
    }
    one, two = schemes.timings(lanes, {"first": "x", "second": "y"}).axes
    assert one.get_xlim() == two.get_xlim()
    assert two.get_xlim()[1] >= 9
