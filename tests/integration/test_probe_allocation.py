"""The probe `allocation` on drives that are written here, so that what it should find is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ssdscope.findings import Absent, Detected, Reason, Undetectable
from ssdscope.probes import allocation as allocation_probe
from ssdscope.probes import order_regions
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.studies.recovery.generator import draw
from ssdscope.targets import open_target

DRIVE = """
over_provisioning_ratio = 0.25
[nand]
channels = 4
blocks_per_plane = 800
pages_per_block = 64
page_bytes = 4096
read_ns = 60_000
program_ns = 400_000
erase_ns = 2_000_000
[channel]
ns_per_byte = 2
[ftl]
kind = "page"
placement_pages = 1
allocation = "{allocation}"
[write_buffer]
bytes = 25_165_824
drain = "full"
order = "fifo"
power_loss_protected = true
switchable = false
"""


def known(name: str, value: int) -> Detected:
    return Detected(name=name, probe=name, value=value, interval=None, effect=1.0)


@pytest.mark.parametrize("allocation", ["order", "address"])
def test_what_a_protected_buffer_holds_is_put_out_of_it(tmp_path: Path, allocation: str) -> None:
    """Read from memory, what was written at random would be as fast as what was in order."""
    file = tmp_path / "drive.toml"
    file.write_text(DRIVE.format(allocation=allocation), encoding="utf-8")
    device = open_target(str(file), seed=1).device
    bench = Bench(device, Budget.parse("full"), 1)
    bench.known["interleave_degree"] = known("interleave_degree", 4)
    bench.known["write_buffer_bytes"] = known("write_buffer_bytes", 25_165_824)
    bench.known["pslc_bytes"] = Absent(name="pslc_bytes", probe="region", bound=0.0, reason="none")
    layout = order_regions.lay_out(bench)
    assert layout is not None
    with bench.allowance(2 * device.info.capacity_bytes):
        order_regions.write_beside(bench, layout.part(0, order_regions.PAIRS))
        assert bench.bytes_written >= 25_165_824
        (answer,) = allocation_probe.detect(bench)
    assert isinstance(answer, Detected)
    assert answer.value == allocation


@pytest.mark.parametrize(
    "region", ["found", "perhaps full", "uneven", "no flush", "not asked", "absent"]
)
def test_a_region_that_may_be_there_lays_out_anew(tmp_path: Path, region: str) -> None:
    file = tmp_path / "drive.toml"
    plain = DRIVE.split("[write_buffer]")[0]
    file.write_text(plain.format(allocation="address"), encoding="utf-8")
    bench = Bench(open_target(str(file), seed=1).device, Budget.parse("full"), 1)
    bench.known["interleave_degree"] = known("interleave_degree", 4)
    about: dict[str, Any] = {"name": "pslc_bytes", "probe": "region"}
    if region == "found":
        bench.known["pslc_bytes"] = known("pslc_bytes", 1 << 20)
    elif region == "perhaps full":
        bench.known["pslc_bytes"] = Undetectable(reason=Reason.MASKED, **about)
    elif region == "uneven":
        bench.known["pslc_bytes"] = Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **about)
    elif region == "no flush":
        bench.known["pslc_bytes"] = Undetectable(reason=Reason.NOT_SUPPORTED, **about)
    elif region == "absent":
        bench.known["pslc_bytes"] = Absent(bound=0.0, reason="none", **about)
    with bench.allowance(2 * bench.info.capacity_bytes):
        (answer,) = allocation_probe.detect(bench)
    if region in ("absent", "not asked", "no flush"):
        assert isinstance(answer, Detected)
        assert answer.value == "address"
    else:
        assert isinstance(answer, Undetectable)
        assert answer.reason is Reason.MASKED


def test_a_small_trace_of_the_order_is_none_of_an_address() -> None:
    """It is surely below the margin, and surely there."""
    scatter = np.tile([-1.0, 1.0], 30)
    traced = allocation_probe._contrast(0.012 + 0.02 * scatter, 0.03)
    nothing = allocation_probe._contrast(0.001 + 0.02 * scatter, 0.03)
    assert not traced.equivalent
    assert not traced.shows
    assert nothing.equivalent


@pytest.mark.parametrize(
    ("seed", "index", "unit_bytes"),
    [(3237837982, 192, 24_576), (2267026688, 29, 65_536)],
    ids=["no region was told", "collects when idle"],
)
def test_the_spare_space_lasts_for_a_look(
    tmp_path: Path, seed: int, index: int, unit_bytes: int
) -> None:
    """Of the drives, 8 % is spare; what is written short of it goes where room was just made."""
    file = tmp_path / "drive.toml"
    file.write_text(draw(seed, index).toml(), encoding="utf-8")
    bench = Bench(open_target(str(file), seed=1).device, Budget.parse("full"), 1)
    bench.known["rmw_unit_bytes"] = known("rmw_unit_bytes", unit_bytes)
    bench.known["interleave_degree"] = known("interleave_degree", 2)
    bench.known["read_cache_bytes"] = known("read_cache_bytes", 1_216_512)
    bench.known["pslc_bytes"] = Undetectable(
        name="pslc_bytes", probe="region", reason=Reason.EFFECT_BELOW_NOISE
    )
    bench.known["merge_unit_bytes"] = Absent(
        name="merge_unit_bytes", probe="merge_unit", bound=0.0, reason="none"
    )
    with bench.allowance(bench.info.capacity_bytes):
        (answer,) = allocation_probe.detect(bench)
    assert isinstance(answer, Detected)
    assert answer.value == "order"


@pytest.mark.parametrize(("left", "fate"), [(0.03, "LASTS"), (0.015, "FADES"), (-0.03, "FADES")])
def test_a_trace_that_outlasts_log_blocks_is_of_an_order(
    tmp_path: Path, left: float, fate: str
) -> None:
    """Collection moves data meanwhile, so that of an effect of 13 % less than 3 % may be sure."""
    file = tmp_path / "drive.toml"
    plain = DRIVE.split("[write_buffer]")[0]
    file.write_text(plain.format(allocation="order"), encoding="utf-8")
    bench = Bench(open_target(str(file), seed=1).device, Budget.parse("full"), 1)
    layout = order_regions.lay_out(bench)
    assert layout is not None
    scatter = np.tile(np.linspace(-0.04, 0.04, order_regions.PAIRS), (2, 1))
    before = allocation_probe._contrasts(0.13 + scatter)
    with bench.allowance(bench.info.capacity_bytes):
        most = bench.info.capacity_bytes // 8
        found = allocation_probe._fate(bench, layout, before, lambda: left + scatter, most)
    assert found.name == fate


@pytest.mark.parametrize("alone", [0.007, 0.12])
def test_what_shows_at_depth_alone_may_be_planes_out_of_step(tmp_path: Path, alone: float) -> None:
    """One command would read them else; an order shows on a piece that is read by itself, too."""
    path = tmp_path / "drive.toml"
    path.write_text(DRIVE.format(allocation="address"), encoding="utf-8")
    bench = Bench(open_target(str(path), seed=1).device, Budget.parse("full"), 1)
    bench.known["interleave_degree"] = known("interleave_degree", 2)
    bench.known["merge_unit_bytes"] = Absent(
        name="merge_unit_bytes", probe="merge_unit", bound=0.0, reason="none"
    )
    rng = np.random.default_rng(1)
    logs = np.stack([rng.normal(alone, 0.08, 12), rng.normal(0.06, 0.025, 12)])
    contrasts = allocation_probe._contrasts(logs)
    assert contrasts[1].shows
    found = allocation_probe._finding(bench, logs, contrasts, allocation_probe._Fate.LASTS)
    if alone > 0.1:
        assert isinstance(found, Detected)
        assert found.value == "order"
    else:
        assert isinstance(found, Undetectable)
        assert found.reason is Reason.MASKED


@pytest.mark.parametrize("stays", [True, False])
def test_what_is_read_sooner_may_be_in_a_buffer_that_stays_on(tmp_path: Path, stays: bool) -> None:
    """One that lets go of long runs first holds what was written at random for good."""
    path = tmp_path / "drive.toml"
    text = DRIVE if stays else DRIVE.split("[write_buffer]")[0]
    path.write_text(text.format(allocation="address"), encoding="utf-8")
    bench = Bench(open_target(str(path), seed=1).device, Budget.parse("full"), 1)
    bench.known["interleave_degree"] = known("interleave_degree", 2)
    logs = np.random.default_rng(1).normal(-0.15, 0.03, (2, 12))
    contrasts = allocation_probe._contrasts(logs)
    found = allocation_probe._finding(bench, logs, contrasts, allocation_probe._Fate.LASTS)
    assert isinstance(found, Undetectable if stays else Detected)


@pytest.mark.parametrize(
    ("reason", "told"), [(Reason.MASKED, True), (Reason.PLP_NO_FLUSH_EFFECT, False)]
)
def test_what_lies_behind_a_protected_buffer_may_be_in_a_region(
    tmp_path: Path, reason: Reason, told: bool
) -> None:
    """Neither can be passed, and each lets go of data in an order of its own."""
    path = tmp_path / "drive.toml"
    path.write_text(DRIVE.format(allocation="address"), encoding="utf-8")
    bench = Bench(open_target(str(path), seed=1).device, Budget.parse("full"), 1)
    bench.known["pslc_bytes"] = Undetectable(name="pslc_bytes", probe="region", reason=reason)
    logs = np.random.default_rng(1).normal(0.09, 0.03, (2, 12))
    contrasts = allocation_probe._contrasts(logs)
    found = allocation_probe._finding(bench, logs, contrasts, allocation_probe._Fate.LASTS)
    assert isinstance(found, Detected if told else Undetectable)


@pytest.mark.parametrize(
    ("dies", "alone", "at_once", "told"),
    [
        (None, -0.06, -0.026, False),
        (None, -0.06, -0.06, True),
        (None, 0.29, 0.0, True),
        (2, -0.06, -0.026, True),
    ],
)
def test_without_dies_a_little_must_show_at_depth_too(
    tmp_path: Path, dies: int | None, alone: float, at_once: float, told: bool
) -> None:
    """Two planes of one chip read 5 % sooner what was written at random, wherever that goes."""
    path = tmp_path / "drive.toml"
    path.write_text(DRIVE.split("[write_buffer]")[0].format(allocation="address"), encoding="utf-8")
    bench = Bench(open_target(str(path), seed=1).device, Budget.parse("full"), 1)
    if dies is not None:
        bench.known["interleave_degree"] = known("interleave_degree", dies)
    rng = np.random.default_rng(1)
    logs = np.stack([rng.normal(alone, 0.02, 12), rng.normal(at_once, 0.05, 12)])
    contrasts = allocation_probe._contrasts(logs)
    assert contrasts[0].shows
    found = allocation_probe._finding(bench, logs, contrasts, allocation_probe._Fate.LASTS)
    assert isinstance(found, Detected if told else Undetectable)
