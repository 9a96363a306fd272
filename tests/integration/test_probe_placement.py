"""What the family `dies` says of drives with so many pages in a row."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from ssdscope.findings import Absent, Ambiguous, Detected, Evidence, Finding, Reason, Undetectable
from ssdscope.inference.series import Series
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.dies import placement, rows
from ssdscope.probes.plan import Stopped
from ssdscope.probes.shared.at_once import kept_by
from ssdscope.recovery.generator import draw
from ssdscope.targets import Device
from ssdscope.targets.drive_writer import Value, drive_toml, open_drive

DEFAULT = Budget.parse("default")
BASE: dict[str, Value] = {
    "default_state": "sequential",
    "over_provisioning_ratio": 0.25,
    "nand.channels": 4,
    "nand.pages_per_block": 96,
    "nand.page_bytes": 4096,
    "nand.blocks_per_plane": 256,
    "nand.read_ns": 60_000,
    "nand.program_ns": 300_000,
    "nand.erase_ns": 1_500_000,
    "channel.ns_per_byte": 3.0,
    "host.bytes_per_second": 600e6,
    "host.command_ns": 2_000,
    "ftl.kind": "page",
    "disturbance.noise_sigma": 0.1,
    "disturbance.spike_ratio": 0.01,
    "disturbance.spike_ns": 500_000,
}


def told(
    changes: Mapping[str, Value],
    unit: int | None = None,
    cache: tuple[int, int] | None = None,
) -> dict[str, Finding]:
    device: Device = open_drive(drive_toml({**BASE, **changes}, []), "drive", 1)
    bench = Bench(device, DEFAULT, 1)
    before = device.counters()
    if cache is not None:
        for name, size in zip(("read_cache_bytes", "read_cache_unit_bytes"), cache, strict=True):
            bench.known[name] = Detected(
                name=name, probe="test", value=size, interval=None, effect=1
            )
    if unit is not None:
        none = Absent(name="merge_unit_bytes", probe="test", bound=0, reason="page-mapped")
        found = Detected(name="rmw_unit_bytes", probe="test", value=unit, interval=None, effect=1)
        bench.known |= {each.name: each for each in (none, found)}
    answers = answered(bench)
    after = device.counters()
    assert before is not None
    assert after is not None
    assert after["host_bytes_written"] == before["host_bytes_written"]
    assert list(answers) == [placement.WAY, placement.PAGES]
    return answers


def answered(bench: Bench) -> dict[str, Finding]:
    return {each.name: each for each in placement.answers(bench, kept_by(bench), "dies")}


def values(found: dict[str, Finding]) -> tuple[object, object]:
    way, pages = found["placement"], found["placement_pages"]
    assert isinstance(way, Detected), way
    assert isinstance(pages, Detected), pages
    return way.value, pages.value


@pytest.mark.always(3)
@pytest.mark.parametrize("pages", [3, 4, 8])
@pytest.mark.parametrize("phase", [0, 1536])
def test_pages_in_a_row_are_counted(pages: int, phase: int) -> None:
    layout: dict[str, Value] = {"ftl.placement_pages": pages, "ftl.phase_bytes": phase}
    assert values(told(layout, unit=4096)) == ("multi-channel", pages)


def test_a_unit_in_one_row_is_on_one_channel() -> None:
    found = told({"ftl.map_unit_bytes": 32_768, "ftl.placement_pages": 8}, unit=32_768)
    assert values(found) == ("one-channel", 8)


@pytest.mark.parametrize("block_bytes", [512, 4096])
def test_pages_on_different_channels(block_bytes: int) -> None:
    assert values(told({"host.logical_block_bytes": block_bytes})) == ("multi-channel", 1)


@pytest.mark.parametrize(("page_bytes", "pages"), [(4096, 2), (8192, 1), (16_384, 3)])
def test_large_blocks_do_not_hide_pages(page_bytes: int, pages: int) -> None:
    layout: dict[str, Value] = {
        "nand.page_bytes": page_bytes,
        "nand.blocks_per_plane": (1 << 20) // page_bytes,
        "host.logical_block_bytes": 4096,
        "ftl.placement_pages": pages,
    }
    assert values(told(layout, unit=page_bytes)) == ("multi-channel", pages)


def test_a_cache_that_stays_on_is_emptied_in_between() -> None:
    drive: dict[str, Value] = {
        "read_cache.bytes": 1 << 20,
        "read_cache.unit_bytes": 16_384,
        "read_cache.read_ahead_bytes": 65_536,
        "read_cache.switchable": False,
        "ftl.placement_pages": 3,
    }
    found = told(drive, unit=4096, cache=(1 << 20, 16_384))
    assert values(found) == ("multi-channel", 3)


@pytest.mark.parametrize(("together", "pages"), [(True, 2), (False, 4)])
def test_planes_that_work_together_end_a_run(together: bool, pages: int) -> None:
    layout: dict[str, Value] = {
        "nand.planes": 2,
        "nand.blocks_per_plane": 128,
        "scheduler.multi_plane": together,
        "ftl.plane_order": "PDWC",
        "ftl.placement_pages": 2,
    }
    assert values(told(layout, unit=4096)) == ("multi-channel", pages)


@pytest.mark.parametrize("block_bytes", [512, 4096])
def test_pages_that_one_command_reads_are_not_taken_for_one(block_bytes: int) -> None:
    """Dies that do not overlap make runs of two commands' pages each."""
    layout: dict[str, Value] = {
        "host.logical_block_bytes": block_bytes,
        "nand.dies": 2,
        "nand.planes": 4,
        "nand.blocks_per_plane": 64,
        "scheduler.die_interleave": False,
        "ftl.plane_order": "PDWC",
    }
    assert values(told(layout)) == ("multi-channel", 1)


def test_planes_that_share_little_more_than_a_command_leave_it_open() -> None:
    """What both read follows on one channel, which takes longer than reading."""
    device = open_drive(draw(153470763, 96).toml(), "drive", 1)
    bench = Bench(device, DEFAULT, 1)
    for name, size in {"merge_unit_bytes": 6_291_456, "rmw_unit_bytes": 65_536}.items():
        bench.known[name] = Detected(name=name, probe="", value=size, interval=None, effect=1.0)
    found = answered(bench)
    pages = found["placement_pages"]
    assert isinstance(pages, Ambiguous)
    assert set(pages.candidates) == {8, 768}
    assert isinstance(found["placement"], Ambiguous)


def test_planes_that_work_together_are_seen_behind_a_link_nearly_as_slow_as_a_read() -> None:
    """The second of two reads of a block has begun when another one's command comes."""
    layout: dict[str, Value] = {
        "nand.planes": 3,
        "nand.blocks_per_plane": 96,
        "nand.read_ns": 25_000,
        "host.logical_block_bytes": 512,
        "host.command_ns": 22_000,
        "disturbance.noise_sigma": 0.02,
        "ftl.plane_order": "PDWC",
    }
    assert values(told(layout)) == ("multi-channel", 1)


def test_what_a_cache_keeps_hides_no_end_of_a_page() -> None:
    """Requests about two boundaries of a row may share a block, which is read once only.

    That every block is a page shows by how long chips take for one and for two.
    """
    drive: dict[str, Value] = {
        "host.logical_block_bytes": 4096,
        "read_cache.bytes": 1 << 20,
        "read_cache.unit_bytes": 4096,
        "read_cache.switchable": False,
        "ftl.placement_pages": 4,
    }
    pages = told(drive, cache=(1 << 20, 4096))["placement_pages"]
    assert isinstance(pages, Detected), pages
    assert pages.value == 4


def test_without_the_unit_only_pages_are_told() -> None:
    found = told({"ftl.placement_pages": 3})
    assert isinstance(found["placement"], Ambiguous)
    pages = found["placement_pages"]
    assert isinstance(pages, Detected)
    assert pages.value == 3


@pytest.mark.parametrize(
    "changes", [{"host.queue_depth": 1}, {"nand.read_ns": 0, "channel.ns_per_byte": 0.001}]
)
def test_it_refuses(changes: dict[str, Value]) -> None:
    for found in told(changes).values():
        assert isinstance(found, Undetectable)
        assert found.reason is Reason.LINK_BOUND


def test_a_cache_of_unknown_size_is_not_guessed_at() -> None:
    with pytest.raises(Stopped) as refused:
        told({"read_cache.bytes": 1 << 20, "read_cache.switchable": False})
    assert refused.value.reason is Reason.CACHE_NOT_CONTROLLABLE


@pytest.mark.parametrize(("cut", "clear"), [(0, True), (4, True), (14, False)])
def test_runs_of_several_lengths_are_refused(
    monkeypatch: pytest.MonkeyPatch, cut: int, clear: bool
) -> None:
    """Ten runs in forty may be cut by pages of a table; more are of another length."""
    lengths = np.where(np.arange(rows.STARTS) < cut, 5, 8)
    distances = np.array([0, 1, 2, 4, 5, 6, 7, 8, 16])
    took = np.where(distances < lengths[:, None], 2.0, 1.0)
    x = (1e6 * np.arange(1, rows.STARTS + 1))[:, None] + 512 * distances
    numbers = np.repeat(-1 - np.arange(rows.STARTS), distances.size)
    noise = np.random.default_rng(1).normal(0, 0.02, took.shape)
    ends = Series.of(x, took * np.exp(noise), stratum=numbers)
    bench = Bench(open_drive(drive_toml(BASE, []), "drive", 1), DEFAULT, 1)
    monkeypatch.setattr(bench, "take", lambda _plan: ends)
    found = placement._runs(bench, kept_by(bench))
    assert found is Reason.MODEL_MISFIT if not clear else found.length == 8 * 512


def test_runs_that_pages_of_the_table_have_shifted_are_told_nonetheless() -> None:
    layout: dict[str, Value] = {
        "nand.ways": 2,
        "nand.dies": 2,
        "nand.planes": 2,
        "nand.page_bytes": 2048,
        "nand.pages_per_block": 48,
        "nand.blocks_per_plane": 90,
        "scheduler.multi_plane": False,
        "ftl.plane_order": "PDWC",
        "ftl.allocation": "address",
        "ftl.reclaim_unit_bytes": 4 * 48 * 2048,
        "map.kind": "demand",
        "map.cache_bytes": 300_664,
        "map.load_bytes": 512,
    }
    assert values(told(layout, unit=2048)) == ("multi-channel", 2)


@pytest.mark.parametrize("page_shows", [True, False])
def test_a_unit_longer_than_a_run_is_on_several_channels_whatever_a_page_is(
    monkeypatch: pytest.MonkeyPatch, page_shows: bool
) -> None:
    drive: dict[str, Value] = {
        "nand.page_bytes": 16_384,
        "nand.blocks_per_plane": 64,
        "host.logical_block_bytes": 4096,
        "ftl.map_unit_bytes": 32_768,
        "read_cache.bytes": 1 << 20,
        "read_cache.unit_bytes": 16_384,
        "read_cache.switchable": False,
    }
    if not page_shows:
        monkeypatch.setattr(placement, "_page", lambda *_: None)
    found = told(drive, unit=32_768, cache=(1 << 20, 16_384))
    pages, way = found["placement_pages"], found["placement"]
    if page_shows:
        assert isinstance(pages, Detected), pages
        assert pages.value == 1  # A row is one page, which chips read at once.
    else:
        assert isinstance(pages, Ambiguous)
    assert isinstance(way, Detected)
    assert way.value == "multi-channel"


def test_merge_units_of_any_size_may_make_a_long_run() -> None:
    bench = Bench(open_drive(drive_toml(BASE, []), "drive", 1), DEFAULT, 1)
    run_bytes, page_bytes = 1_572_864, 16_384  # two merge units on chips that take turns
    told = placement._Told(bench, 1.0, Evidence(), "dies")
    answers = {each.name: each for each in told.with_page(page_bytes, (run_bytes,))}
    pages = answers["placement_pages"]
    assert isinstance(pages, Ambiguous)
    assert {1, 8, 48, 96} <= set(pages.candidates)
