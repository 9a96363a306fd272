"""The twin: a known drive is met by what its findings and curves say, and bad input is refused."""

from typing import Any

import numpy as np
import pytest

from ssdscope.errors import ConfigError
from ssdscope.findings import Detected, Findings
from ssdscope.targets.drive_writer import drive_toml, open_drive
from ssdscope.targets.records import DeviceInfo
from ssdscope.twin import Staircase, build, fit_staircase
from ssdscope.twin.design import Design
from ssdscope.twin.likeness import Measured, means_ns

PAGE = 4096
SIZES = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256]) * PAGE
TRUTH = Design(
    64 << 20, 512, channels=4, queue_depth=1, map_unit_bytes=8192, spare_ratio=0.2,
).timed({"firmware": 20_000.0, "link": 4.0, "read": 60_000.0, "transfer": 3.0})  # fmt: skip
INFO = DeviceInfo("file", 64 << 20, 512, "wall", False, False, False, False)
SIZES_KIB = (4, 8, 16, 24, 40, 64, 160)
READS = [(rw, kib << 10, 1) for rw in ("read", "randread") for kib in SIZES_KIB]
READS += [("randread", 4096, 16), ("randread", 65_536, 16)]


@pytest.mark.parametrize(
    "truth",
    [Staircase(8, 130_600, 500, 0.4656, 0.0), Staircase(1, 80_000, 1_000, 2.0, 0.0)],
)
def test_a_known_staircase_is_recovered(truth: Staircase) -> None:
    latency = truth.latency_ns(SIZES, PAGE)
    fit = fit_staircase(SIZES, latency, truth.plateau_iops(PAGE), PAGE)
    assert fit.units == truth.units
    assert fit.unit_ns == pytest.approx(truth.unit_ns, rel=0.02)
    assert fit.latency_ns(SIZES, PAGE) == pytest.approx(latency, rel=0.01)
    assert fit.error < 0.01


def points(
    design: Design, workloads: list[tuple[str, int, int]], split: str
) -> list[dict[str, Any]]:
    """What a survey of a design measures."""
    rows = [Measured(*each, 100, 1.0) for each in workloads]
    device = open_drive(drive_toml(design.values(), []), "truth", 7)
    return [
        row.told() | {"mean_ns": float(mean), "requests": 100, "bursts": 1, "split": split}
        for row, mean in zip(rows, means_ns(device, rows, 7, whole=True), strict=True)
    ]


def unit(size: int) -> Findings:
    return Findings(
        [Detected(name="rmw_unit_bytes", probe="p", value=size, interval=None, effect=1.0)]
    )


def test_a_twin_of_a_known_drive_answers_as_it_does() -> None:
    held = [("randread", 12_288, 2), ("read", 32_768, 8), ("randread", 8192, 1)]
    measured = {"points": points(TRUTH, READS, "grid") + points(TRUTH, held, "off-grid")}
    twin = build(unit(8192), INFO, measured, name='a"\n[nand]\nchannels = 99', seed=1)
    assert not isinstance(twin, str)
    document = twin.to_json()
    assert document["errors"]["n"] == len(held)
    assert document["errors"]["p90_ape"] < 0.03
    assert not document["sketch"]
    assert document["not_modelled"], "nobody looked for most of what a drive may have"
    assert twin.toml.count("\n[nand]\n") == 1, "a hostile name stays inside its comment"
    opened = open_drive(twin.toml, "twin", 1)
    assert opened.info.capacity_bytes == INFO.capacity_bytes
    assert opened.info.logical_block_bytes == INFO.logical_block_bytes


def test_what_is_further_off_than_the_usual_latency_is_no_twin() -> None:
    grid = points(TRUTH, READS, "grid")
    usual = float(np.exp(np.mean(np.log([row["mean_ns"] for row in grid]))))
    odd = [row | {"mean_ns": usual, "split": "off-grid"} for row in grid]
    reason = build(unit(8192), INFO, {"points": grid + odd}, name="x", seed=1)
    assert isinstance(reason, str)
    assert "no better than always answering" in reason


def test_no_twin_without_measurements() -> None:
    reason = build(Findings(), INFO, {"points": []}, name="x", seed=1)
    assert reason == "the latency of reads could not be measured"


@pytest.mark.parametrize("unit_bytes", [2048, 6144, 12_288])
@pytest.mark.parametrize("merge_bytes", [0, 3 << 20])
def test_a_design_has_the_capacity_that_was_measured(unit_bytes: int, merge_bytes: int) -> None:
    capacity = 60 << 20
    design = Design(
        capacity, 512, log_block=merge_bytes > 0, merge_unit_bytes=merge_bytes, channels=3,
        page_bytes=2048, map_unit_bytes=unit_bytes, spare_ratio=0.3, log_blocks=4,
    )  # fmt: skip
    opened = open_drive(drive_toml(design.values(), []), "design", 1)
    step = merge_bytes or unit_bytes
    assert opened.info.capacity_bytes == -(-capacity // step) * step


def test_an_impossible_drive_is_refused() -> None:
    with pytest.raises(ConfigError, match="nand"):
        drive_toml({"ftl.kind": "page", "nand.channels": 0}, [])
