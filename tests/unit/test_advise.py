"""Advice: the numbers follow the formulas, nothing is advised from what was not detected."""

import numpy as np
import pytest

from ssdscope.advise import advise
from ssdscope.errors import UsageError
from ssdscope.findings import (
    SIZE_SWEEP,
    Ambiguous,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Findings,
    Line,
    series,
)


def finding(name: str, value: float, evidence: Evidence | None = None) -> Detected:
    return Detected(
        name=name,
        probe="latency",
        value=value,
        interval=(value, value),
        effect=1.0,
        evidence=evidence or Evidence(),
    )


def swept(last: float) -> Evidence:
    """Reads of up to 64 KiB, and a line that holds up to `last`."""
    sizes = 4096 * 2.0 ** np.arange(5)
    shown = Exhibit(
        name=SIZE_SWEEP,
        title="t",
        caption="c",
        x=Axis("size", "bytes"),
        y=Axis("latency", "ns"),
        series=(series("reads", sizes, sizes),),
        fitted=(Line(intercept=0.0, slope=1.0, first=4096, last=last, error=0.0),),
    )
    return Evidence(exhibits=(shown,), figures={"n90_bytes": 32768})


# Ryu's drive B as PROBING.md section 5 works it out: n90 is about 93 KB.
RYU_B = Findings(
    [
        finding("read_latency_alpha_ns", 124_000.0, swept(65536)),
        finding("read_latency_beta_ns_per_byte", 12_000 / 1024),
        finding("queue_depth_knee", 9.3),
    ]
)


def test_read_ahead_of_ryu_b() -> None:
    by_knob = {each.knob: each for each in advise(RYU_B, "/dev/sdb")}
    read_ahead = by_knob["read-ahead"]
    assert read_ahead.value == str(96 * 1024 // 512)  # 95,232 bytes, up to whole pages
    assert read_ahead.command == "blockdev --setra 192 /dev/sdb"
    assert "9·alpha/beta" in read_ahead.because
    assert by_knob["chunk (RAID-0, RAID-10)"].value == "128K"
    assert by_knob["effective_io_concurrency"].value == "10"


def test_a_staircase_uses_the_measured_size_instead_of_the_formula() -> None:
    found = [
        finding("read_latency_alpha_ns", 130_600.0, swept(16384)),
        finding("read_latency_beta_ns_per_byte", 0.4656),
    ]
    read_ahead = advise(Findings(found), "sim:msr-32gb", ["linux"])[0]
    assert read_ahead.value == "64"
    assert "not one line" in read_ahead.because


def test_what_was_not_detected_keeps_the_default_and_says_why() -> None:
    either: tuple[float | str, ...] = (2.0, 4.0)
    unclear = Ambiguous(name="queue_depth_knee", probe="latency", candidates=either, reason="noise")
    found = Findings([unclear])
    for each in advise(found, "sim:x"):
        assert each.is_default
        assert each.command is None
        assert "tool default, because" in each.because
    knee = next(each for each in advise(found, "sim:x") if each.knob == "nr_requests")
    assert "queue_depth_knee is ambiguous" in knee.because


def test_names_from_outside_are_quoted_for_the_shell() -> None:
    read_ahead = advise(RYU_B, "/dev/sd x; rm -rf /", ["linux"])[0]
    assert read_ahead.command is not None
    assert read_ahead.command.endswith("'/dev/sd x; rm -rf /'")


def test_an_unknown_tool_is_refused() -> None:
    with pytest.raises(UsageError, match="no advice for 'emacs'"):
        advise(Findings(), "sim:x", ["emacs"])
