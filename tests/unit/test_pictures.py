"""The picture of a finding: described by a probe, drawn without knowing which."""

import numpy as np
import pytest

from ssdscope.plots import PAGE, charts, findings, inline_svg
from ssdscope.probes.finding import UNITS
from ssdscope.probes.picture import Axis, Picture, series
from ssdscope.report import words


def described(look: str, *, log: bool) -> dict[str, object]:
    xs = np.array([4096, 8192, 65536, 1 << 20])
    ys = np.array([1e5, 2e5, 4e5, 8e6])
    shown = series("reads", xs, ys, look, low=ys * 0.9, high=ys * 1.1)  # type: ignore[arg-type]
    return Picture(
        "Latency against size",
        "A caption.",
        Axis("working set", "bytes", log=log),
        Axis("latency", "ns", log=log),
        [shown, series("writes", xs, 2 * ys, "line")],
        [(8192, "unit & phase"), (1 << 40, "beyond")],
    ).to_json()


@pytest.mark.parametrize("look", ["points", "line", "steps", "bars"])
@pytest.mark.parametrize("log", [True, False])
def test_every_look_is_drawn_with_its_marks_and_names(look: str, log: bool) -> None:
    svg = inline_svg(findings.picture(described(look, log=log), PAGE), "x", "a picture")
    assert svg.startswith("<svg")
    for text in ("reads", "writes", "working set", "unit &amp; phase"):
        assert text in svg
    assert "beyond" not in svg, "a mark outside of the picture is left out"


def test_a_picture_of_one_value_is_drawn() -> None:
    one = Picture("t", "c", Axis("n"), Axis("rate", "iops", log=True), [series("a", [1], [5.0])])
    assert "svg" in inline_svg(findings.picture(one.to_json(), PAGE), "x", "a picture")


def test_a_trace_of_too_few_requests_for_any_window_is_drawn_empty() -> None:
    few = {"start_s": [0.0], "requests": [9], "p50_ns": [None]}
    tail = {"start_s": [0.0], "requests": [9], "p99_ns": [None]}
    figure = charts.timeline({"width_s": 1.0, "read": few | {"tail": tail}}, PAGE)
    assert "time in the trace" in inline_svg(figure, "trace", "a trace")


def test_every_property_has_a_name_on_the_page() -> None:
    assert set(words.PROPERTY_NAMES) == set(UNITS)


@pytest.mark.parametrize(
    ("unit", "text"),
    [("bytes", "1.5 MiB"), ("ns", "1.57 ms"), ("bytes/s", "1.57 MB/s"), ("iops", "1.57 M")],
)
def test_values_are_written_in_the_unit_of_their_axis(unit: str, text: str) -> None:
    assert words.of_unit(1.5 * (1 << 20), unit) == text
