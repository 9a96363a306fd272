"""The twin: a known staircase is recovered, and what cannot be fitted is refused with a reason."""

import numpy as np
import pytest

from ssdscope.errors import ConfigError
from ssdscope.findings import (
    DEPTH_SWEEP,
    SIZE_SWEEP,
    Axis,
    Evidence,
    Exhibit,
    Findings,
    Reason,
    Undetectable,
    series,
)
from ssdscope.targets.drive_writer import drive_toml, open_drive
from ssdscope.targets.records import DeviceInfo
from ssdscope.twin import Staircase, build, fit_staircase

PAGE = 4096
SIZES = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256]) * PAGE
INFO = DeviceInfo("file", 1 << 30, 512, "wall", False, False, False, False)


@pytest.mark.parametrize(
    "truth",
    [
        Staircase(8, 130_600, 500, 0.4656, 0.0),
        Staircase(16, 60_000, 2_000, 0.5, 0.0),
        Staircase(1, 80_000, 1_000, 2.0, 0.0),
        Staircase(12, 90_000, 0, 0.3, 0.0),
    ],
)
def test_a_known_staircase_is_recovered(truth: Staircase) -> None:
    latency = truth.latency_ns(SIZES, PAGE)
    fit = fit_staircase(SIZES, latency, truth.plateau_iops(PAGE), PAGE)
    assert fit.units == truth.units
    assert fit.unit_ns == pytest.approx(truth.unit_ns, rel=0.02)
    assert fit.latency_ns(SIZES, PAGE) == pytest.approx(latency, rel=0.01)
    assert fit.error < 0.01


def findings(truth: Staircase) -> Findings:
    """What the probe `latency` measures, though it could tell nothing from it."""
    rates = [1e4, truth.plateau_iops(PAGE)]
    swept = (
        (
            "read_latency_alpha_ns",
            SIZE_SWEEP,
            series("reads", SIZES, truth.latency_ns(SIZES, PAGE)),
        ),
        ("queue_depth_knee", DEPTH_SWEEP, series("rate", [1, 256], rates)),
    )
    return Findings(
        Undetectable(
            name=name,
            probe="latency",
            reason=Reason.MODEL_MISFIT,
            evidence=Evidence(
                exhibits=(
                    Exhibit(
                        name=exhibit,
                        title="t",
                        caption="c",
                        x=Axis("x"),
                        y=Axis("y"),
                        series=(measured,),
                    ),
                )
            ),
        )
        for name, exhibit, measured in swept
    )


def test_the_twin_answers_as_fitted() -> None:
    truth = Staircase(8, 100_000, 1_000, 0.5, 0.0)
    held_out = [
        {"rw": "randread", "block_bytes": size, "iodepth": 1, "mean_ns": float(mean)}
        for size, mean in zip(SIZES.tolist(), truth.latency_ns(SIZES, PAGE), strict=True)
    ]
    held_out.append({"rw": "write", "block_bytes": 4096, "iodepth": 1, "mean_ns": 1.0})
    twin = build(findings(truth), INFO, held_out, name="x", seed=1)
    assert not isinstance(twin, str)
    document = twin.to_json()
    assert document["errors"]["n"] == len(SIZES), "writes are not held against a read-only twin"
    assert document["errors"]["mre"] < 0.02
    assert document["not_modelled"]


def test_a_hostile_name_stays_inside_its_comment() -> None:
    truth = Staircase(8, 100_000, 1_000, 0.5, 0.0)
    twin = build(findings(truth), INFO, [], name='a"\n[nand]\nchannels = 99', seed=1)
    assert not isinstance(twin, str)
    assert twin.toml.count("\n[nand]\n") == 1
    open_drive(twin.toml, "twin", 1)


def test_what_is_nothing_like_flash_gets_no_twin() -> None:
    truth = Staircase(8, 8_000_000, 1_000, 0.5, 0.0)
    near, far = (
        {"rw": "read", "block_bytes": 4096, "iodepth": 1, "mean_ns": mean}
        for mean in (8_000_000.0, 100_000.0)
    )
    assert not isinstance(build(findings(truth), INFO, [near], name="x", seed=1), str)
    reason = build(findings(truth), INFO, [near, far], name="x", seed=1)
    assert isinstance(reason, str)
    assert "moving parts" in reason


def test_no_twin_without_measurements() -> None:
    reason = build(Findings(), INFO, [], name="x", seed=1)
    assert reason == "the latency of reads could not be measured"


def test_an_impossible_drive_is_refused() -> None:
    with pytest.raises(ConfigError, match="nand"):
        drive_toml({"ftl.kind": "page", "nand.channels": 0}, [])
