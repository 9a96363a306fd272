"""Numbers and findings as a reader wants them."""

from dataclasses import fields
from typing import Any

import pytest

from ssdscope.plots import PAGE, css_variables, inline_svg, style
from ssdscope.report import words


def finding(**values: Any) -> dict[str, Any]:
    common = {"unit": "ns", "interval": None, "reason": None, "evidence": {}, "value": None}
    return common | values


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
    detected = finding(outcome="detected", value=130_600.0, interval=[130_000.0, 131_000.0])
    assert words.value(detected) == "130.6 µs"
    assert words.interval(detected) == "130 … 131 µs"
    for pages, text in ((1, "1 page"), (4, "4 pages")):
        assert words.value(finding(outcome="detected", value=pages, unit="pages")) == text
    absent = finding(outcome="absent", bound=0.02, unit="ns/byte", reason="flat")
    assert words.value(absent) == "none"
    refused = finding(
        outcome="undetectable",
        reason="interference",
        what_was_seen="others moved 7 bytes",
        what_would_help="stop the others",
    )
    assert words.remark(refused) == "others moved 7 bytes. Would help: stop the others."
    assert words.written(refused | {"bytes_written": 0}) == words.NOTHING
    assert words.written(refused | {"bytes_written": 32_110_000_000}) == "32.11 GB"
    partly = finding(
        outcome="detected",
        value=1.0,
        evidence={"linear_everywhere": False, "linear_region_bytes": [4096, 32768]},
    )
    assert "from 4 KiB to 32 KiB" in words.remark(partly)


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
