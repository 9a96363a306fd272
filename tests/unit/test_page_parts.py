"""Parts of the page: maps, the course of writes, presets, twin, advice, downloads, the drawing."""

import base64
import csv
import html
import io
import json
import math
import re
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from tests.unit.report_documents import CAPACITY, document, four, kept, point

from ssdscope.findings import (
    Absent,
    Ambiguous,
    Detected,
    Evidence,
    Findings,
    Reason,
    Undetectable,
)
from ssdscope.plots import PAGE, inline_svg, pointing, style
from ssdscope.report import (
    advising,
    downloads,
    drawing,
    evidence,
    figures,
    heat,
    nearest,
    sections,
    summary,
    twins,
)
from ssdscope.report.page import render
from ssdscope.targets.presets import preset_names

HOSTILE = "</svg><script>alert(1)</script>"


def detected(name: str, value: float | str, effect: float = 1.0) -> Detected:
    return Detected(name=name, probe="p", value=value, interval=None, effect=effect)


def test_a_map_has_a_cell_for_each_point_and_darker_is_more() -> None:
    points = [point("randread", s, d, s * d) for s in (4096, 65536) for d in (1, 4)]
    told = heat.latency(document([*points[:-1], point("randread", 65536, 4, 1000000000.0)]))[0]
    assert told.origin == "measured"
    assert [name for name, _ in told.rows] == ["1", "4"]
    assert told.rows[1][1][1].text == "1 s"
    shades = [cell.shade for _, row in told.rows for cell in row]
    assert shades[0] == heat.FAINT
    assert max(shades) == shades[-1] == heat.STRONG
    gap = heat.latency(document([*points[:3], point("randread", 4096, 8, 1.0)]))[0]
    assert gap.rows[-1][1][1].note == "not measured"


def test_figures_of_a_busy_machine_are_bounds_wherever_they_stand() -> None:
    points = [point("randread", 4096, depth, 1e5) for depth in (1, 4, 16, 64)]
    held = document([*points[:-1], point("randread", 4096, 64, 8e5, waited_share=0.25)])
    (shown,) = heat.latency(held)
    cells = [cell.text for _, row in shown.rows for cell in row]
    assert cells == ["100 µs"] * 3 + ["≤ 800 µs"]
    means = "1 of 4 are bounds (≤, ≥): the machine kept them waiting for up to 25 % of their time."
    assert shown.caption == means
    (chart,) = figures.performance_charts(held)
    assert chart.caption.endswith(means)
    assert chart.table.rows[-1][5:] == (
        "≤ 800 µs",
        "≤ 800 µs",
        "≤ 800 µs",
        "≤ 1.6 ms",
        "≥ 80 k",
        "≥ 328 MB/s",
    )
    (quiet,) = figures.performance_charts(document(points))
    assert "bounds" not in quiet.caption
    mix = heat.mixture(held)
    assert mix is not None
    assert mix.rows[-1][1][0].text == "≥ 80 k"


def test_too_few_points_make_no_map() -> None:
    assert heat.latency(document(four())) == []


def test_mixes_come_from_the_model_and_say_so() -> None:
    cells = [[{"value": 2e5, "low": 1e5, "high": 4e5}]]
    mix = {"block_bytes": 4096, "depths": [8], "wr_ratios": [50], "cells": cells}
    told = heat.mixture(document(four(), models=[{"mix": mix}]))
    assert told is not None
    assert told.origin == "model"
    assert "not measured" in told.caption
    assert told.rows[0][1][0].text == "40 k"
    assert told.rows[0][1][0].note == "90 % interval 20 k to 80 k IOPS"
    ends = heat.mixture(document(four()))
    assert ends is not None
    assert ends.origin == "measured"
    assert ends.columns == ["reads", "writes (burst)"]


@pytest.mark.parametrize(
    ("before", "rates", "place"),
    [
        ([100.0], [100.0, 98.0, 40.0, 38.0, 38.0], 2),
        ([100.0], [30.0, 29.0, 29.0], 0),
        ([], [100.0, 20.0, 25.0, 100.0], None),
        ([], [100.0, 99.0, 98.0], None),
    ],
)
def test_the_steepest_fall_is_one_that_does_not_come_back(
    before: list[float], rates: list[float], place: int | None
) -> None:
    found, share = figures.steepest_fall(before, rates)
    assert found == place
    assert (share > 0) == (place is not None)


def test_a_cliff_is_most_of_the_fall() -> None:
    _, cliff = figures.steepest_fall([], [100.0, 100.0, 10.0, 9.0])
    _, slope = figures.steepest_fall([], [100.0 * 0.8**n for n in range(10)])
    assert cliff > figures.CLIFF_SHARE > slope


def test_the_course_is_drawn_only_where_the_drive_was_filled() -> None:
    rows = [kept("randwrite", 4096, 16, 1e6), kept("write", 4096, 16, 1e5)]
    told = figures.settling_chart(document([*four(), point("randwrite", 4096, 16, 1e5)], rows))
    assert told is not None
    assert "steady" in told.svg
    assert "cliff" in told.svg
    for row in rows:
        row["course"]["bytes_written"] = CAPACITY // 2
    assert figures.settling_chart(document(four(), rows)) is None


def test_a_drive_is_nearest_to_itself_and_far_from_what_is_unlike() -> None:
    names = preset_names()
    assert set(nearest.presets()) == set(names)
    told = document([])
    for each in nearest.FIGURES:
        value = nearest.presets()["kuo-samsung-slc"]["figures"][each.key]
        mean = value if each.field == "mean_ns" else 1e5
        told["performance"]["points"].append(
            point(each.rw, each.block_bytes, each.iodepth, mean) | {each.field: value}
        )
    found = nearest.nearest(told, Findings([detected("merge_unit_bytes", 4 << 20)]))
    assert found is not None
    assert "most like kuo-samsung-slc (equal in 5 figures)" in found.sentence
    assert found.table.rows[-1][:3] == ("Merge unit found", "4 MiB", "4 MiB")
    nearest_one, *others = found.peers
    assert (nearest_one.name, nearest_one.apart) == ("kuo-samsung-slc", "equal")
    assert nearest_one.kind == "SSD, log blocks"
    assert all(each.about and each.kind for each in others)
    assert nearest.kind_of("nvme-tlc") == "NVMe SSD, TLC, page-mapped"
    assert nearest.kind_of("ryu-hdd") == "hard disk"
    for each in told["performance"]["points"]:
        each |= {"mean_ns": 1e12, "iops": 1e-3, "bandwidth_bytes_per_s": 1.0}
    unlike = nearest.nearest(told, Findings())
    assert unlike is not None
    assert unlike.sentence.startswith("Unlike every preset")


def test_too_few_figures_are_near_nothing() -> None:
    assert nearest.nearest(document(four()[:1]), Findings()) is None
    assert nearest.distance({"a": 2.0, "b": 8.0}, {"a": 1.0, "b": 8.0}) == pytest.approx(
        math.exp(math.log(2) / math.sqrt(2))
    )


def built(median: float, p90: float, **values: Any) -> dict[str, Any]:
    rows = [{"rw": "randread", "block_bytes": 4096, "iodepth": 1, "mean_ns": 1e5,
             "predicted_ns": 1.1e5}]  # fmt: skip
    errors = {"n": 20, "median_ape": median, "p90_ape": p90, "mre": median}
    return {"toml": "x = 1", "held_out": rows, "errors": errors, "not_modelled": []} | values


def filling(*rates: float) -> dict[str, Any]:
    """A document of a drive that was written in order, at these rates in rounds of 0.1 GB."""
    row = kept("write", 1 << 20, 16, 1e6)
    row["course"] |= {"rates_bytes_per_s": list(rates), "round_bytes": 100_000_000}
    return document([], [kept("write", 4096, 16, 1e6), row])


def test_writes_in_order_are_drawn_as_a_region_fills() -> None:
    falls = figures.filling_chart(filling(2e9, 2e9, 2e9, 5e8, 5e8, 5e8), Findings())
    assert falls is not None
    assert "After 300 MB it falls from 2 GB/s to 500 MB/s" in falls.caption
    assert falls.table is not None
    assert falls.table.rows[3] == ("400 MB", "500 MB/s")
    region = Findings([detected("pslc_bytes", 250_000_000)])
    holds = figures.filling_chart(filling(2e9, 2e9, 2e9, 2e9, 2e9), region)
    assert holds is not None
    assert "The rate held for all 500 MB" in holds.caption
    assert "fast region (pSLC)" in holds.svg
    assert figures.filling_chart(filling(2e9, 2e9, 2e9, 2e9, 2e9), Findings()) is None
    slowly = filling(*(1e9 * 0.93**place for place in range(12)))
    assert figures.filling_chart(slowly, Findings()) is None, "zones of a disk are no region"
    assert "as the drive fills" in render(filling(2e9, 2e9, 2e9, 5e8, 5e8))


def test_a_twin_says_whether_it_is_a_sketch() -> None:
    said = [
        twins.twin(document([], twin=built(0.01, 0.02, **values)))
        for values in ({"sketch": False}, {"sketch": True}, {})
    ]
    assert [each is not None and each.sketch for each in said] == [False, True, True]
    none = twins.twin(document([], twin={"reason": "worse than the mean"}))
    assert none is not None
    assert none.reason == "worse than the mean"
    assert none.chart is None
    assert twins.twin(document([])) is None


def knob(name: str, command: str | None, because: str, **values: Any) -> dict[str, Any]:
    source = "default" if command is None else "detected"
    return {"tool": "t", "knob": name, "command": command, "formula": "f", "because": because,
            "source": source, **values}  # fmt: skip


def test_advice_with_the_greatest_gain_comes_first_and_no_reason_is_empty() -> None:
    told = [
        knob("small", "a", "x", gain={"ratio": 1.05, "low": 1.04, "high": 1.06}),
        knob("great", "b", "x", gain={"ratio": 12.0, "low": 11.0, "high": 13.0}),
        knob("plain", "c", "x"),
        knob("habit", None, "x", habit="Wait.", source="detected"),
        knob("left", None, "tool default, because "),
        knob("also", None, "tool default, because "),
    ]
    found = advising.advice(document([], advice=told))
    assert found is not None
    assert [each.knob for each in found.settings] == ["great", "small", "plain", "habit"]
    assert [each.gains for each in found.settings] == [
        ["12 times as fast (11 to 13) as found"], ["5 % faster (4 to 6) as found"], [], [],
    ]  # fmt: skip
    page = render(document([], advice=told))
    assert page.count('data-copies="type-') == 3, "what cannot be typed has no box"
    assert len(found.stays) == 1
    assert found.stays[0].names == "t: left, t: also"
    assert found.stays[0].why


def test_downloads_hold_what_the_page_was_made_of() -> None:
    told = document(four())
    told["performance"]["points"][0]["failure"] = "=cmd()"
    found = Findings([detected("rmw_unit_bytes", 4096)])
    files = {
        each.name: base64.b64decode(each.uri.partition("base64,")[2]).decode()
        for each in downloads.downloads(told, found)
    }
    assert json.loads(files["report.json"]) == json.loads(json.dumps(told))
    rows = list(csv.DictReader(io.StringIO(files["performance.csv"])))
    assert len(rows) == 4
    assert float(rows[1]["mean_ns"]) == 1.1e5
    assert rows[0]["failure"] == "'=cmd()", "a spreadsheet would run it"
    assert next(csv.DictReader(io.StringIO(files["findings.csv"])))["value"] == "4096"


def test_the_drawing_shows_how_sure_each_part_is() -> None:
    found = Findings([
        detected("merge_unit_bytes", 4 << 20),
        Ambiguous(name="rmw_unit_bytes", probe="p", candidates=(4096.0, 8192.0), reason=HOSTILE),
        Absent(name="read_cache_bytes", probe="p", bound=0.1, reason="r"),
        Undetectable(name="write_buffer_bytes", probe="p", reason=Reason.INTERFERENCE),
        detected("interleave_degree", 64),
    ])  # fmt: skip
    svg = drawing.inside(document(four()), found)
    assert svg is not None
    tree = ET.fromstring(svg)
    words = "".join(tree.itertext())
    for text in ("✓ Merge unit", "4 MiB", "? RMW unit", "4 KiB or 8 KiB", "○ Read cache",
                 "∅ Write buffer", "64 units"):  # fmt: skip
        assert text in words
    looks = [each.get("class", "") for each in tree.iter() if "part" in each.get("class", "")]
    assert {"part detected", "part ambiguous", "part absent", "part undetectable"} <= set(looks)
    assert HOSTILE not in svg


def test_candidates_that_take_too_much_room_are_counted() -> None:
    sizes = tuple(float(100 + (1 << power)) for power in range(27, 30))
    several = Ambiguous(name="map_cache_bytes", probe="p", candidates=sizes, reason="r")
    svg = drawing.inside(document(four()), Findings([several]))
    assert svg is not None
    assert "3 candidates" in svg


def test_nothing_found_is_not_drawn() -> None:
    refused = Undetectable(name="rmw_unit_bytes", probe="p", reason=Reason.INTERFERENCE)
    assert drawing.inside(document(four()), Findings()) is None
    assert drawing.inside(document(four()), Findings([refused])) is None


def test_refusals_with_one_reason_take_one_line() -> None:
    names = ("rmw_unit_bytes", "merge_unit_bytes", "map_zone_bytes")
    seen = Evidence(detail="any two reads wait for each other")
    found = Findings(
        Undetectable(name=name, probe="p", reason=Reason.LINK_BOUND, evidence=seen)
        for name in names[:2]
    )
    assert [(each.names, each.short) for each in evidence.refused(found)] == [
        ("RMW unit, Merge unit", "any two reads wait for each other")
    ]
    alike = Findings(Absent(name=name, probe="p", bound=0.1, reason="r") for name in names)
    lines = evidence.absent(alike)
    assert [each.names for each in lines] == ["RMW unit, Merge unit, Map zone"]
    assert evidence.cards(alike) == []


def test_the_strongest_effect_has_the_first_card() -> None:
    found = Findings([detected("rmw_unit_bytes", 4096, 0.1), detected("merge_unit_bytes", 1, 9.0)])
    names = [card.answers[0].key for card in evidence.cards(found)]
    assert names == ["merge_unit_bytes", "rmw_unit_bytes"]


def test_what_a_stage_left_out_is_told() -> None:
    told = document([])
    assert sections.left_out(told) == []
    told["provenance"]["outcomes"] = {
        "findings": {"outcome": "x", "left_out": ["one", "two"]},
        "twin": {"outcome": "y", "left_out": []},
    }
    assert sections.left_out(told) == [("findings", "one; two")]


def test_a_real_drive_has_its_identity_on_top() -> None:
    told = document(four())
    told["target"]["declared"] = {
        "model": "ACME 1", "firmware": "F2", "serial": "…1234", "health": {"celsius": 41},
    }  # fmt: skip
    first = summary.lines(told, Findings())[0]
    assert first == ("Drive", "ACME 1 · firmware F2 · serial …1234 · 41 °C · k")
    assert len(summary.lines(told, Findings())) == 6


def test_points_of_a_picture_are_where_it_draws_them() -> None:
    figure, axes = style.new_figure(PAGE)
    axes.set_yscale("log")
    axes.plot([0, 10], [1, 100], label="line", color=PAGE.s1)
    axes.set_xlim(0, 10)
    axes.set_ylim(1, 100)
    pointing.set_unit(axes.yaxis, "ns")
    svg = inline_svg(figure, "name", "words")
    written = re.search('data-plot="([^"]*)"', svg)
    assert written is not None
    told = json.loads(html.unescape(written[1]))
    left, top, width, height = told["box"]
    (x0, y0, *first), (x1, y1, *last) = told["series"][0]["points"]
    assert (first, last) == ([0, 1], [10, 100])
    assert np.allclose([x0, x1], [left, left + width], atol=0.2)
    assert np.allclose([y0, y1], [top + height, top], atol=0.2)
    assert told["y"] == {"label": "", "unit": "ns", "log": True, "low": 1, "high": 100}
    assert 'class="xtick"' in svg


def test_a_picture_without_points_answers_nothing() -> None:
    figure, axes = style.new_figure(PAGE)
    axes.set_axis_off()
    assert "data-plot" not in inline_svg(figure, "name", "words")


def test_a_document_that_is_still_growing_makes_a_page() -> None:
    told = document([])
    del told["provenance"]["interrupted"]
    assert "Too little was measured" in render(told)
