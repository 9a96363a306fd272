"""The probe `pslc` on drives with and without blocks written with one bit per cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.integration.small_drives import FLAT, KIB, LOG_BLOCK, NOISE, opened, probed

from ssdscope.findings import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes import pslc, pslc_stretches
from ssdscope.probes.bench import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.notes import Notes
from ssdscope.probes.session import run
from ssdscope.studies.recovery.generator import draw
from ssdscope.targets.drive_writer import open_drive

PLANES, PAGE_BYTES, STEP = 4, 4096, 192 * KIB


def region(blocks: int, overflow: str, **more: Any) -> dict[str, Any]:
    """So many blocks of 21 pages on each of four planes."""
    return {
        "nand.blocks_per_plane": 700,
        "nand.bits_per_cell": 3,
        "over_provisioning_ratio": 0.3,
        "pslc.bytes": blocks * PLANES * 21 * PAGE_BYTES,
        "pslc.program_ns": 120_000,
        "pslc.overflow": f'"{overflow}"',
    } | {f"pslc.{name}": value for name, value in more.items()}


@pytest.mark.parametrize("overflow", ["fold", "direct"])
@pytest.mark.parametrize(("blocks", "noise"), [(24, {}), (40, NOISE)])
def test_the_region_is_found(
    tmp_path: Path, overflow: str, blocks: int, noise: dict[str, Any]
) -> None:
    keys = region(blocks, overflow)
    found = probed("pslc", opened(tmp_path, keys, noise))["pslc_bytes"]
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(keys["pslc.bytes"], rel=0.08)
    assert found.interval is not None
    assert found.interval[0] <= keys["pslc.bytes"] <= found.interval[1]


def test_units_cut_by_the_ends_of_requests_are_taken_off(tmp_path: Path) -> None:
    units = {"ftl.map_unit_bytes": 32 * KIB, "ftl.phase_bytes": 4 * KIB, "nand.pages_per_block": 96}
    keys = region(24, "direct") | {"pslc.bytes": 24 * PLANES * 32 * PAGE_BYTES}
    found = probed("pslc", opened(tmp_path, keys, units))["pslc_bytes"]
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(keys["pslc.bytes"], rel=0.08)


def test_a_buffer_is_no_region(tmp_path: Path) -> None:
    """As large as a region, but a flush makes it fast again."""
    buffer = {"write_buffer.bytes": 8192 * KIB, "write_buffer.switchable": False}
    found = probed("pslc", opened(tmp_path, buffer))["pslc_bytes"]
    assert isinstance(found, Undetectable | Absent), found


def test_a_buffer_that_can_be_switched_off_does_not_matter(tmp_path: Path) -> None:
    keys = region(24, "direct")
    found = probed("pslc", opened(tmp_path, keys, {"write_buffer.bytes": 1024 * KIB}))["pslc_bytes"]
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(keys["pslc.bytes"], rel=0.08)


def test_a_buffer_that_stays_on_is_passed_by_forced_writes(tmp_path: Path) -> None:
    """As large as the region, it would hide that; writes must hold whole units for this."""
    keys = region(24, "direct") | {"ftl.map_unit_bytes": 16 * KIB}
    buffer = {"write_buffer.bytes": 8192 * KIB, "write_buffer.switchable": False}
    device = opened(tmp_path, keys, buffer)
    found = {each.name: each for each in run(["units", "pslc"], device, Budget.parse("full"), 1)}
    size = found["pslc_bytes"]
    assert isinstance(size, Detected), size
    assert size.value == pytest.approx(keys["pslc.bytes"], rel=0.08)


def test_a_small_region_is_told_in_single_units(tmp_path: Path) -> None:
    keys = region(2, "direct") | {"ftl.map_unit_bytes": 16 * KIB}
    found = run(["units", "pslc"], opened(tmp_path, keys, NOISE), Budget.parse("full"), 1)
    size = next(each for each in found if each.name == "pslc_bytes")
    assert isinstance(size, Detected), size
    assert size.value == pytest.approx(keys["pslc.bytes"], rel=0.1)


def test_a_region_of_two_requests_is_not_overlooked_where_the_unit_is_not_known(
    tmp_path: Path,
) -> None:
    """They hold whole units of any usual size, and are too long for it."""
    keys = region(1, "fold") | {"nand.channels": 1, "nand.planes": 1}
    keys["pslc.bytes"] = 84 * PAGE_BYTES
    found = probed("pslc", opened(tmp_path, keys, NOISE))["pslc_bytes"]
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(keys["pslc.bytes"], rel=0.08)


@pytest.mark.parametrize(("waits_ns", "outcome"), [(3e6, Undetectable), (1.2e6, Absent)])
def test_a_region_that_gains_little_is_not_called_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits_ns: float, outcome: type[Finding]
) -> None:
    """Behind it one write of ten waits, which makes the others a fifth longer in the mean."""

    def write(streams: pslc_stretches.Streams, requests: int, length: int) -> NDArray[Any]:
        number = np.arange(requests)
        waits = (number * length > 5e6) & (number % 10 == 0)
        return np.where(waits, waits_ns, 1e6) * streams.bench.rng("noise").normal(1, 0.01, requests)

    monkeypatch.setattr(pslc_stretches.Streams, "write", write)
    found = probed("pslc", opened(tmp_path, {}))["pslc_bytes"]
    assert isinstance(found, outcome), found


def test_a_region_is_told_behind_a_protected_buffer_that_is_full_first(tmp_path: Path) -> None:
    keys = region(24, "direct") | {
        "write_buffer.bytes": 3 * 1024 * KIB,
        "write_buffer.drain": '"full"',
        "write_buffer.concurrent_drains": 1,
        "write_buffer.switchable": False,
        "write_buffer.power_loss_protected": True,
    }
    found = run(["buffer", "pslc"], opened(tmp_path, keys), Budget.parse("full"), 1)
    size = next(each for each in found if each.name == "pslc_bytes")
    assert isinstance(size, Detected), size
    assert size.value == pytest.approx(keys["pslc.bytes"], rel=0.08)


@pytest.mark.parametrize(("behind_ns", "buffer"), [(2.2e6, True), (6e6, False)])
def test_a_buffer_is_full_late_where_it_is_emptied_meanwhile(
    behind_ns: float, buffer: bool
) -> None:
    """Of 80 requests 35 are in it, and the others left it: one in 1.8 times what one took."""
    latency = np.repeat([1e6, behind_ns], [80, 20])
    stretch = pslc.Stretch(np.array([80]), STEP, 1e6, behind_ns, latency[np.newaxis])
    assert pslc._fills_a_buffer(stretch, 35.0 * STEP) is buffer
    assert pslc._fills_a_buffer(stretch, 70.0 * STEP)


@pytest.mark.parametrize(("second", "agree"), [(36, True), (28, False)])
def test_equal_stretches_must_agree(second: int, agree: bool) -> None:
    """As they do not where others fill log blocks, too, which are no region."""
    coarse = [np.array([18, 18]), np.array([9, 9])]
    stretches = [
        pslc.Stretch(requests, length, 1.0, 2.0, np.ones((2, 60)))
        for requests, length in zip(
            [np.array([36, second]), *coarse], (STEP, 2 * STEP, 4 * STEP), strict=True
        )
    ]
    assert pslc._judged(stretches, 0.0, aligned=False)["agree"] is agree


@pytest.mark.parametrize("waits", [[71, 95, 119, 143], [95, 119, 143]])
def test_a_stretch_ends_where_all_waited_once_as_long_as_ever_behind(waits: list[int]) -> None:
    """A region of 14 MB was told to hold 19: it is folded in six parts, one wait for each."""
    times = np.random.default_rng(4).normal(2.7e6, 5e4, (5, 148))
    times[:, waits] = 97e6
    found = pslc_stretches._waited(times, 196_608, pslc_stretches.LEAST_SLOWER)
    assert found is not None
    assert found.requests.tolist() == [waits[0]] * 5


@pytest.mark.parametrize(("waits", "end"), [((), 672), ((300,), 744), ((100, 700), 744)])
def test_of_one_stretch_waits_must_come_evenly(waits: tuple[int, ...], end: int) -> None:
    times = np.full((1, 1055), 1.4e6)
    times[0, 672::96] = 180e6
    times[0, list(waits)] = 120e6
    assert pslc_stretches._before_all_waited(times, np.array([744])).tolist() == [end]


def test_a_stretch_that_waited_where_others_ended_has_ended_there() -> None:
    """Few wait at once behind an end, so that a later one may be taken for the first."""
    times = np.full((5, 100), 1e6)
    times[:, 67:] = 9e6
    times[[0, 1, 2, 4], 50] = 9e6
    ends = pslc_stretches._where_others_ended(times, np.array([50, 67, 50, 67, 50]))
    assert ends.tolist() == [50, 50, 50, 67, 50]


def test_a_region_that_is_always_full_is_not_told(tmp_path: Path) -> None:
    keys = region(8, "fold", fold_when_idle=False)
    found = probed("pslc", opened(tmp_path, keys))["pslc_bytes"]
    assert not isinstance(found, Detected), found


@pytest.mark.parametrize(("index", "region"), [(70, False), (15, True)])
def test_slow_parts_that_erases_may_make_are_told_from_lost_ones(index: int, region: bool) -> None:
    """Of neither drive it is sure; of one with a region a stretch was slow, and not again."""
    device = open_drive(draw(3237837982, index).toml(), "drawn", index)
    (found,) = run(["pslc"], device, Budget.parse("full"), index)
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.EFFECT_BELOW_NOISE
    assert found.evidence.figures["only_faint"] is not region


@pytest.mark.parametrize("kind", [{}, LOG_BLOCK, FLAT])
@pytest.mark.parametrize("noise", [{}, NOISE])
def test_without_a_region_nothing_is_found(
    tmp_path: Path, kind: dict[str, Any], noise: dict[str, Any]
) -> None:
    """Neither spare space running out nor log blocks are taken for one."""
    found = probed("pslc", opened(tmp_path, kind, noise))["pslc_bytes"]
    assert not isinstance(found, Detected), found


@pytest.mark.parametrize("off_ns", [2_100_000_000, 20_000_000_000])
def test_what_others_write_in_a_pause_takes_no_room(tmp_path: Path, off_ns: int) -> None:
    """Blocks that they begin, and do not fill, are not there for the stretch behind the pause."""
    others = {
        "disturbance.foreign_iops": 50,
        "disturbance.foreign_bytes": 16_384,
        "disturbance.foreign_write_ratio": 0.5,
        "disturbance.foreign_on_ns": 400_000_000,
        "disturbance.foreign_off_ns": off_ns,
        "gc.idle_ns": 500_000_000,
    }
    keys = region(3, "fold") | others | {"host.logical_block_bytes": 4096}
    device = opened(tmp_path, keys, {"ftl.map_unit_bytes": 4096})
    bench = Bench(device, Budget.parse("full"), 1)
    about: dict[str, Any] = {"name": "rmw_unit_bytes", "probe": "units"}
    bench.known["rmw_unit_bytes"] = Absent(bound=4096.0, reason="for a test", **about)
    with bench.allowance(device.info.capacity_bytes):
        (found,) = pslc.detect(bench)
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(keys["pslc.bytes"], rel=0.05)


def test_a_search_cut_short_shows_no_absence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a large simulated drive, unless the budget is full."""
    monkeypatch.setattr(pslc_stretches, "MOST_BYTES", 16 << 20)
    device = opened(tmp_path, {})
    (short,) = run(["pslc"], device, Budget.parse("default"), 1)
    assert isinstance(short, Undetectable), short
    assert short.reason is Reason.BUDGET_EXHAUSTED
    (whole,) = run(["pslc"], device, Budget.parse("full"), 1)
    assert isinstance(whole, Absent), whole


def test_what_erases_alone_make_slower_is_no_full_region() -> None:
    """A drive that collects in pauses is spared them for as much as it has freed."""
    none = np.empty(0)
    fine = pslc_stretches.Stretch(np.array([790.0]), 98_304, 2.0e6, 2.58e6, none)
    notes = Notes()
    assert not pslc._is_region(cast("pslc_stretches.Streams", None), fine, notes)
    assert "erases" in (notes.detail or "")


def test_a_region_that_folds_seldom_is_not_absent() -> None:
    """One of 38 MB waits one request in some twenty from then on: 16 % in the mean, and no more."""
    device = open_drive(draw(3018370720, 113).toml(), "drawn", 113)
    names = ["table", "units", "pslc"]
    found = {each.name: each for each in run(names, device, Budget.parse("full"), 113)}
    assert not isinstance(found["pslc_bytes"], Absent), found["pslc_bytes"]


def test_drift_is_no_wait() -> None:
    rng = np.random.default_rng(2)
    times = np.linspace(1e6, 1.4e6, 768) * rng.lognormal(0, 0.1, (1, 768))
    assert not pslc_stretches._waits_later(times)
    times[:, 300::20] *= 5
    assert pslc_stretches._waits_later(times)


def test_stretches_that_wait_from_the_first_request_on_tell_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where others ended before, no request of theirs was fast."""
    rng, steps = np.random.default_rng(1), np.where(np.arange(80) < 40, 1.0, 3.0)
    times = steps * rng.lognormal(0.0, 0.05, (4, 80))
    assert pslc_stretches._waited(times, 1 << 20, 1.3) is not None
    before: Any = lambda _times, ends: np.zeros_like(ends)  # noqa: E731
    monkeypatch.setattr(pslc_stretches, "_before_all_waited", before)
    assert pslc_stretches._waited(times, 1 << 20, 1.3) is None
