"""Forecasts held to the plain median: the study, made small, and its command."""

from pathlib import Path

import numpy as np
import pytest

from ssdscope.probes.budget import silent
from ssdscope.studies import Verdict, forecasts
from ssdscope.studies.forecasts import Held, claims, hold
from ssdscope.targets import open_target
from ssdscope.workloads import grid


def held(better: float, setting: str = "arrivals") -> Held:
    return Held("t", "d", {"setting": setting, "mre": 0.1, "mre_median": 0.1 * better})


def test_what_is_asked_of_all() -> None:
    mean, worse = claims("arrivals", [held(2), held(0.25), held(1)])
    assert mean.ours == pytest.approx(0.794)
    assert mean.verdict == Verdict.DIFFERS
    assert worse.ours == pytest.approx(1 / 3, abs=0.001)
    assert worse.verdict == Verdict.DIFFERS
    fine = claims("arrivals", [held(0.96), held(1.1), held(0.1, "online")])
    assert [claim.verdict for claim in fine] == [Verdict.AGREES] * 2


def test_a_forecast_without_error_is_as_good_as_the_median_without_one() -> None:
    both = Held("t", "d", {"mre": 0.0, "mre_median": 0.0})
    assert both.better == 1


SLOWER_DISK = (
    "disk.seek_average_ns=8000000", "disk.seek_full_ns=13000000", "host.firmware_ns=200000",
)  # fmt: skip
"""As the preset was when the seed of the trace was chosen."""


def test_patterns_are_predicted_no_worse_than_by_the_median(tmp_path: Path) -> None:
    """Small: an hour of a pattern on two drives; in full: `reproduce forecasts`."""
    disk = open_target("sim:huang-hdd-s", sets=SLOWER_DISK, seed=5).device
    grid.use(disk, 5)
    drives = {"mqsim-8g": None, "huang-hdd-s": disk}
    found = hold({}, ("bursts",), drives, tmp_path, 5, silent, span_s=3600)
    assert len(found) == 6
    better = np.array([each.better for each in found])
    assert np.log(better).mean() > 0
    assert (better > 0.9).all(), better
    assert all(0 <= each.told["weight"] <= 1 for each in found)


def test_from_the_command_line(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasts, "PATTERNS", ("steady",))
    monkeypatch.setattr(forecasts, "SPAN_S", 1860)
    said = cli(
        "reproduce", "forecasts", "--target", "sim:mqsim-8g", "--seed", "1",
        "-O", str(tmp_path), "-o", "json",
    )  # fmt: skip
    assert said.status == 0, said.err
    (figure,) = said.document["figures"]
    assert len(figure["rows"]) == 6
    rows = figure["table"]["rows"]
    assert [row[2] for row in rows] == ["paper", "arrivals", "online"]
    assert Path(figure["data"]).read_text(encoding="utf-8").count("\n") == 4


def test_a_short_trace_is_refused(cli, tmp_path: Path) -> None:
    path = tmp_path / "short.spc"
    path.write_text("".join(f"0,0,4096,r,{60 * n}\n" for n in range(20)), encoding="utf-8")
    said = cli("reproduce", "forecasts", "--trace", f"mine={path}", "-O", str(tmp_path / "out"))
    assert said.status == 2
    assert "mine has 19 whole minutes" in said.err
