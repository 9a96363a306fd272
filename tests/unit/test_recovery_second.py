"""The second generator of the recovery study, and what is true of what it alone draws."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ssdscope.recovery import reference_reads
from ssdscope.recovery.arrays import DrawnArray
from ssdscope.recovery.firmware import CAPACITY_BYTES
from ssdscope.recovery.generator import draw
from ssdscope.recovery.known import known
from ssdscope.recovery.modern import CHANNELS, TIMERS_APART, UNIT_BYTES
from ssdscope.recovery.second import SecondDrawn, draw_second
from ssdscope.recovery.shape import number, shape_of
from ssdscope.recovery.truth import ABSENT, NO_ONE, Truth
from ssdscope.recovery.truth_of_arrays import seen_values, spread, told
from ssdscope.recovery.twin import Twin, counter, write
from ssdscope.targets.drive_writer import drive_toml, open_drive, open_striped

KIB = 1 << 10
SEED = 6
DRAWN = [draw_second(SEED, index) for index in range(160)]
SINGLE = [each for each in DRAWN if isinstance(each, SecondDrawn)]
ARRAYS = [each for each in DRAWN if isinstance(each, DrawnArray)]
MODERN = [each for each in SINGLE if each.make == "modern"]
MSR = [each for each in SINGLE if each.make == "msr"]


def test_the_same_seed_draws_the_same_drive_and_another_another() -> None:
    assert draw_second(SEED, 3) == DRAWN[3]
    assert draw_second(SEED + 1, 3) != DRAWN[3]
    assert {each.label for each in DRAWN} == {f"{SEED}:{index}s" for index in range(160)}


@pytest.mark.parametrize("drawn", DRAWN[:40], ids=lambda each: each.label)
def test_a_drawn_drive_opens_and_has_the_capacity_that_was_worked_out(
    drawn: SecondDrawn | DrawnArray,
) -> None:
    capacity = drawn.open().info.capacity_bytes
    seen = shape_of(drawn.values)
    assert 0.9 * CAPACITY_BYTES[0] <= capacity <= CAPACITY_BYTES[1]
    # Whole units of all members together may not fill an array.
    assert 0 <= capacity - seen.capacity_bytes < 2 * max(seen.unit_bytes, seen.collected_bytes)
    if isinstance(drawn, SecondDrawn):
        assert capacity == seen.capacity_bytes


def test_every_make_is_drawn() -> None:
    shares = {
        "modern": len(MODERN),
        "preset": len([each for each in SINGLE if each.make == "preset"]),
        "msr": len(MSR),
        "like": len([each for each in ARRAYS if each.alike]),
        "unlike": len([each for each in ARRAYS if not each.alike]),
    }
    wanted = {"modern": 0.45, "preset": 0.25, "msr": 0.1, "like": 0.1, "unlike": 0.1}
    assert shares == pytest.approx({make: 160 * share for make, share in wanted.items()}, abs=18)
    assert sum(each.redraws for each in DRAWN) < 2 * len(DRAWN)


def test_rules_of_its_own_draw_what_the_first_generator_does_not() -> None:
    units = [number(each.values, "ftl.map_unit_bytes") for each in MODERN]
    assert UNIT_BYTES[0] <= min(units) < 32 * KIB
    assert 128 * KIB < max(units) <= UNIT_BYTES[1]
    channels = {number(each.values, "nand.channels") for each in MODERN}
    assert min(channels) >= CHANNELS[0]
    assert max(channels) == CHANNELS[1]
    types = [each.more.get("nand.read_by_type_ns", []) for each in MODERN]
    assert {len(each) for each in types} == {0, 2, 3, 4}
    buffers = [each.values for each in MODERN if "write_buffer.bytes" in each.values]
    assert (
        sum(bool(each["write_buffer.power_loss_protected"]) for each in buffers) > len(MODERN) / 3
    )
    sizes = {number(each, "write_buffer.unit_bytes") for each in buffers}
    assert min(sizes) <= 1024
    assert max(sizes) >= 512 * KIB
    policies = [each.values["gc.policy"] for each in MODERN]
    assert policies.count("d-choices") > len(policies) / 8


def test_timers_of_idle_time_are_unlike_each_other() -> None:
    both = [each.values for each in MODERN if "write_buffer.idle_ns" in each.values]
    times = [number(each, "write_buffer.idle_ns") / number(each, "gc.idle_ns") for each in both]
    assert min(max(each, 1 / each) for each in times) > 0.99 * TIMERS_APART
    assert min(times) < 1 < max(times)


def test_the_mean_of_the_types_of_page_is_what_other_drives_have() -> None:
    for drawn in MODERN:
        for key, times in drawn.more.items():
            mean = number(drawn.values, key.replace("_by_type", ""))
            assert np.mean(times) == pytest.approx(mean, rel=0.01)


def test_the_first_generator_draws_what_it_drew_before() -> None:
    assert draw(7, 3).filed() == draw(7, 3).values


@pytest.mark.parametrize("drawn", MSR[:4], ids=lambda drawn: drawn.label)
def test_an_msr_drive_collects_once_for_each_block_that_one_page_fills(drawn: Any) -> None:
    """It stays on one plane of its element, whose blocks are full one after the other."""
    page, period = number(drawn.values, "nand.page_bytes"), shape_of(drawn.values).collected_bytes
    device = drawn.open_twin(noisy=False)
    blocks = number(drawn.values, "nand.blocks_per_plane")
    write(device, np.zeros(blocks * period // page, np.uint64), page)
    before = counter(device, "gc_runs")
    write(device, np.zeros(8 * period // page, np.uint64), page)
    assert counter(device, "gc_runs") - before == 8


@pytest.mark.parametrize("drawn", MSR[:4], ids=lambda drawn: drawn.label)
def test_an_msr_drive_fills_a_block_of_each_element_in_order(drawn: Any) -> None:
    """And collects one of each, whatever their number of planes."""
    page, shape = number(drawn.values, "nand.page_bytes"), shape_of(drawn.values)
    device = drawn.open_twin(noisy=False)
    pages = shape.capacity_bytes // page // shape.planes * shape.planes
    in_order = np.arange(pages, dtype=np.uint64) * np.uint64(page)
    for _ in range(2):
        write(device, in_order, page)
    before = counter(device, "gc_runs")
    write(device, in_order[: 8 * shape.span_bytes // page], page)
    assert counter(device, "gc_runs") - before == pytest.approx(8 * shape.planes, abs=1)


def test_units_of_members_are_seen_through_chunks() -> None:
    assert spread(16 * KIB, 3, 64 * KIB) == 16 * KIB
    assert spread(128 * KIB, 3, 64 * KIB) == 384 * KIB
    assert spread(48 * KIB, 3, 64 * KIB) is None


def member(**keys: Any) -> dict[str, Any]:
    """Make a small page-mapped drive, with changes; dots of keys are double underscores."""
    values: dict[str, Any] = {
        "default_state": "sequential",
        "over_provisioning_ratio": 0.25,
        "nand.channels": 4,
        "nand.blocks_per_plane": 40,
        "nand.pages_per_block": 64,
        "nand.page_bytes": 4096,
        "nand.read_ns": 50_000,
        "nand.program_ns": 500_000,
        "nand.erase_ns": 2_000_000,
        "channel.ns_per_byte": 2.0,
        "ftl.kind": "page",
        "ftl.plane_order": "CWDP",
        "ftl.map_unit_bytes": 16 * KIB,
        "host.logical_block_bytes": 512,
    }
    return values | {key.replace("__", "."): value for key, value in keys.items()}


@pytest.mark.parametrize(("chunk", "unit"), [(64 * KIB, 16 * KIB), (8 * KIB, 32 * KIB)])
def test_writes_of_the_rmw_unit_of_an_array_read_nothing_before(chunk: int, unit: int) -> None:
    values = member()
    assert told([values, values], chunk)["rmw_unit_bytes"] == Truth(unit)
    array = open_striped(
        [open_drive(drive_toml(values, []), "member", seed) for seed in range(2)], chunk
    )
    write(array, np.arange(8, dtype=np.uint64) * np.uint64(unit), unit)
    assert counter(array, "rmw_reads") == 0
    write(array, np.arange(8, dtype=np.uint64) * np.uint64(unit), unit // 2)
    assert counter(array, "rmw_reads") > 0


def test_chunks_that_cut_units_leave_no_single_truth() -> None:
    truths = told([member()] * 2, 24 * KIB)
    assert truths["rmw_unit_bytes"] == NO_ONE
    assert truths["gc_period_bytes"] == NO_ONE
    assert truths["over_provisioning_ratio"] == NO_ONE
    assert "over_provisioning_ratio" not in told([member()] * 2, 32 * KIB)
    assert truths["merge_unit_bytes"] == ABSENT
    ahead = member(read_cache__bytes=1 << 20, read_cache__read_ahead_bytes=64 * KIB)
    assert told([ahead] * 2, 64 * KIB)["read_ahead_bytes"] == NO_ONE
    assert told([ahead] * 2, 512 * KIB)["read_ahead_bytes"] == Truth(64 * KIB)


def test_a_bit_of_the_chunk_chooses_a_member() -> None:
    one_die = member(nand__channels=1, ftl__map_unit_bytes=4096)
    assert told([one_die] * 2, 64 * KIB)["internal_volume_bits"] == Truth("16")
    assert told([one_die] * 3, 64 * KIB)["internal_volume_bits"] == ABSENT
    truths = told([one_die] * 2, 64 * KIB)
    assert truths["placement_pages"] == Truth(16)


def test_members_that_take_one_command_at_a_time_are_what_works_side_by_side() -> None:
    """Whatever their dies do: two reads of one member wait for each other wherever they are."""
    one = member(host__queue_depth=1)
    truths = told([one] * 3, 64 * KIB)
    assert truths["interleave_degree"] == Truth(3)
    assert truths["placement_pages"] == Truth(16)
    assert told([one, member()], 64 * KIB)["interleave_degree"] == Truth(5)
    assert told([one] * 2, 64 * KIB)["internal_volume_bits"] == Truth("16")
    assert seen_values([one] * 3, 64 * KIB)["host.queue_depth"] == 3


def test_of_unlike_members_only_what_they_share_is_true() -> None:
    truths = told([member(), member(ftl__map_unit_bytes=32 * KIB)], 64 * KIB)
    assert truths["rmw_unit_bytes"] == NO_ONE
    assert truths["over_provisioning_ratio"] == NO_ONE
    assert truths["interleave_degree"] == Truth(8)
    assert truths["alignment_phase_bytes"] == NO_ONE
    assert truths["merge_unit_bytes"] == ABSENT
    assert truths["write_buffer_bytes"] == ABSENT
    assert told([member(), member(nand__channels=2)], 24 * KIB)["allocation"] == NO_ONE
    assert told([member(), member(ftl__map_unit_bytes=8192)], 24 * KIB)["rmw_unit_bytes"].present
    buffered = told([member(), member(write_buffer__bytes=1 << 20)], 64 * KIB)
    assert buffered["write_buffer_bytes"] == NO_ONE


def test_an_array_is_read_in_the_largest_blocks_of_its_members() -> None:
    def blocks(drawn: DrawnArray) -> list[float]:
        return [number(each.values, "host.logical_block_bytes", 512) for each in drawn.members]

    drawn = next(each for each in ARRAYS if blocks(each)[0] < max(blocks(each)))
    twin = Twin(drawn)
    assert twin.block_bytes == max(blocks(drawn))
    assert reference_reads.conflict(twin) > 0


def test_an_array_looks_like_a_drive_of_all_its_planes() -> None:
    values = member(write_buffer__bytes=1 << 20, map__kind="zones", map__zone_bytes=256 * KIB)
    seen = seen_values([values] * 3, 64 * KIB)
    shape, own = shape_of(seen), shape_of(values)
    assert shape.dies == 3 * own.dies
    assert shape.capacity_bytes == 3 * own.capacity_bytes
    assert seen["write_buffer.bytes"] == 3 << 20
    assert seen["map.zone_bytes"] == 768 * KIB
    assert seen_values([values] * 3, 512 * KIB)["map.resident_zones"] == 3


def test_what_has_no_single_truth_is_not_asked_of_the_references(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = next(each for each in ARRAYS if not each.alike)
    measured = SimpleNamespace(truths={"trim_effect": Truth(0.4), "allocation": Truth("order")})
    asked: dict[str, Truth] = {}
    monkeypatch.setattr("ssdscope.recovery.known.Case", lambda _: measured)
    monkeypatch.setattr(
        "ssdscope.recovery.known.visibility",
        lambda case: asked.update(case.truths) or {},
    )
    found = known(drawn)
    assert found.truths["allocation"] == NO_ONE
    assert found.truths["trim_effect"] == asked["trim_effect"] == Truth(0.4)
    assert asked["allocation"] == asked["placement_pages"] == ABSENT
    assert NO_ONE not in asked.values()
