"""The twin: a known drive is met by what its findings and curves say, and bad input is refused."""

from typing import Any

import numpy as np
import pytest
from tests.unit.test_twin_parts import PAGE

from ssdscope.errors import ConfigError
from ssdscope.findings import Detected, Findings, Undetectable
from ssdscope.findings.reasons import Reason
from ssdscope.targets.drive_writer import drive_toml, open_drive
from ssdscope.targets.records import DeviceInfo
from ssdscope.twin import Twin, build
from ssdscope.twin.begin import asked
from ssdscope.twin.design import Design
from ssdscope.twin.rows import Row
from ssdscope.twin.running import Runner, means_ns

TRUTH = Design(
    {**PAGE.values, "ftl.map_unit_bytes": 8192, "host.queue_depth": 1}, capacity_bytes=64 << 20
)
INFO = DeviceInfo("file", 64 << 20, 512, "wall", False, False, False, False)
READS = [row for row in asked() if row.sort == "read"]
WORK_S = 6.0
"""Less than a twin is given: the drive is a simple one."""


def points(rows: list[Row], split: str) -> list[dict[str, Any]]:
    """What a survey of the drive measures."""
    means = means_ns(Runner(rows, 7), TRUTH)
    return [
        row.told() | {"mean_ns": float(mean), "requests": 100, "bursts": 1, "split": split}
        for row, mean in zip(rows, means, strict=True)
    ]


def unit(size: int) -> Findings:
    detected = Detected(name="rmw_unit_bytes", probe="p", value=size, interval=None, effect=1.0)
    reason = Reason.EFFECT_BELOW_NOISE
    refused = Undetectable(name="write_buffer_bytes", probe="p", reason=reason)
    return Findings([detected, refused])


def held() -> list[Row]:
    rows = (("randread", 12_288, 2), ("read", 32_768, 8), ("randread", 8192, 1))
    return [Row("read", rw, size, depth, 100, 1.0) for rw, size, depth in rows]


def test_a_twin_of_a_known_drive_answers_as_it_does() -> None:
    measured = {"points": points(READS, "grid") + points(held(), "off-grid")}
    hostile = 'a"\n[nand]\nchannels = 99'
    twin = build(unit(8192), INFO, measured, name=hostile, seed=1, work_s=WORK_S)
    assert not isinstance(twin, str)
    document = twin.to_json()
    assert document["errors"]["n"] == len(held())
    assert document["errors"]["p90_ape"] < 0.05
    assert not document["sketch"]
    lacking = document["not_modelled"]
    assert "write_buffer_bytes: write buffer undetectable; as fits best" in lacking
    assert "merge_unit_bytes: not looked for; as fits best" in lacking
    assert not any(each.startswith("rmw_unit_bytes") for each in lacking)
    assert twin.toml.count("\n[nand]\n") == 1, "a hostile name stays inside its comment"
    opened = open_drive(twin.toml, "twin", 1)
    assert opened.info.capacity_bytes == INFO.capacity_bytes
    assert opened.info.logical_block_bytes == INFO.logical_block_bytes


def test_what_is_further_off_than_the_usual_latency_is_no_twin() -> None:
    grid = points(READS, "grid")
    usual = float(np.exp(np.mean(np.log([row["mean_ns"] for row in grid]))))
    odd = [row | {"mean_ns": usual, "split": "off-grid"} for row in grid]
    measured = {"points": grid + odd}
    reason = build(unit(8192), INFO, measured, name="x", seed=1, work_s=WORK_S)
    assert isinstance(reason, str)
    assert "no better than always answering" in reason


def test_no_twin_without_measurements() -> None:
    reason = build(Findings(), INFO, {"points": []}, name="x", seed=1)
    assert reason == "the latency of reads could not be measured"


@pytest.mark.parametrize(
    ("median", "p90", "sketch"), [(0.04, 0.14, False), (0.04, 0.16, True), (0.06, 0.14, True)]
)
def test_a_twin_beyond_the_bar_is_a_sketch(median: float, p90: float, sketch: bool) -> None:
    errors = [*[median] * 8, p90, p90]
    rows = [{"mean_ns": 1.0, "predicted_ns": 1 + error} for error in errors]
    assert Twin("", rows, 0.0).sketch == sketch


@pytest.mark.parametrize("unit_bytes", [2048, 6144, 12_288])
@pytest.mark.parametrize("merge_bytes", [0, 3 << 20])
def test_a_design_has_the_capacity_that_was_measured(unit_bytes: int, merge_bytes: int) -> None:
    capacity = 60 << 20
    keys: dict[str, str | int | float | bool | list[int]] = {
        "nand.channels": 3, "nand.page_bytes": 2048, "ftl.map_unit_bytes": unit_bytes,
        "over_provisioning_ratio": 0.3,
    }  # fmt: skip
    if merge_bytes:
        keys |= {"ftl.kind": "log-block", "ftl.merge_unit_bytes": merge_bytes, "ftl.log_blocks": 4}
        keys["nand.pages_per_block"] = merge_bytes // 3 // 2048
    design = Design({**TRUTH.values, **keys}, capacity).evened()
    opened = open_drive(drive_toml(design.file(), []), "design", 1)
    step = merge_bytes or unit_bytes
    assert opened.info.capacity_bytes == -(-capacity // step) * step


def test_an_impossible_drive_is_refused() -> None:
    with pytest.raises(ConfigError, match="nand"):
        drive_toml({"ftl.kind": "page", "nand.channels": 0}, [])
