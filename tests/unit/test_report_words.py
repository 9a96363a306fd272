"""Numbers and findings as a reader wants them."""

from dataclasses import fields, replace
from typing import Any

import pytest

from ssdscope.findings import (
    Absent,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Line,
    Reason,
    Undetectable,
    series,
)
from ssdscope.plots import PAGE, css_variables, inline_svg, style
from ssdscope.report import words


def detected(name: str, value: float, **values: Any) -> Detected:
    return Detected(
        name=name, probe="p", value=value, **{"interval": None, "effect": 1.0, **values}
    )


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [(950, "950 ns"), (82_400, "82.4 µs"), (1.5e6, "1.5 ms"), (2e9, "2 s"), (None, words.NOTHING)],
)
def test_times(time_ns: float | None, text: str) -> None:
    assert words.time(time_ns) == text


def test_sizes_and_rates() -> None:
    assert words.size(4096) == "4 KiB"
    assert words.size(1 << 20) == "1 MiB"
    assert words.bandwidth(2.15e9) == "2.15 GB/s"
    assert words.iops(45_700) == "45.7 k"
    assert words.percent(17.451) == "1,745 %"


def test_findings_in_words() -> None:
    alpha = detected("read_latency_alpha_ns", 130_600.0, interval=(130_000.0, 131_000.0))
    assert words.value(alpha) == "130.6 µs"
    assert words.interval(alpha) == "130 … 131 µs"
    for pages, text in ((1, "1 page"), (4, "4 pages")):
        assert words.value(detected("placement_pages", pages)) == text
    beta = "read_latency_beta_ns_per_byte"
    assert words.value(Absent(name=beta, probe="p", bound=0.02, reason="flat")) == "none"
    refused = Undetectable(name=beta, probe="p", reason=Reason.INTERFERENCE)
    assert words.value(refused) == words.NOTHING
    assert words.remark(refused) == refused.in_words()
    assert words.written(refused) == words.NOTHING
    assert words.written(replace(refused, bytes_written=32_110_000_000)) == "32.11 GB"


def test_a_line_that_ends_says_where() -> None:
    line = Line(intercept=1.0, slope=1.0, first=4096, last=32768, error=0.02)
    shown = Exhibit(
        name="size-sweep",
        title="t",
        caption="c",
        x=Axis("size", "bytes"),
        y=Axis("latency", "ns"),
        series=(series("reads", [4096, 32768, 65536], [1, 2, 3]),),
        fitted=(line,),
    )
    alpha = "read_latency_alpha_ns"
    partly = detected(alpha, 1.0, evidence=Evidence(exhibits=(shown,)))
    assert "from 4 KiB to 32 KiB" in words.remark(partly)
    whole = replace(shown, fitted=(replace(line, last=65536),))
    assert words.remark(detected(alpha, 1.0, evidence=Evidence(exhibits=(whole,)))) == ""


def test_a_picture_follows_the_page_and_names_itself() -> None:
    figure, axes = style.new_figure(PAGE)
    axes.plot([1, 2], [3, 4], color=PAGE.s1)
    svg = inline_svg(figure, "name", 'a "quoted" <description>')
    assert svg.startswith("<svg ")
    assert "var(--s1)" in svg
    assert "#fe00" not in svg
    assert "&quot;quoted&quot; &lt;description&gt;" in svg
    assert svg == inline_svg(figure, "name", 'a "quoted" <description>'), "not reproducible"


def test_every_role_has_a_variable() -> None:
    assert css_variables(PAGE).count("--") == len(fields(PAGE))
