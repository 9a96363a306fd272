"""The drives of the recovery study, and its rule book against its code."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ssdscope.studies.recovery.generator import CAPACITY_BYTES, Drawn, draw, draw_flat
from ssdscope.studies.recovery.observability import MASKS, RULES
from ssdscope.studies.recovery.shape import Values, shape_of
from ssdscope.studies.recovery.truth import KINDS, Kind, Truth, configured, judged_right
from ssdscope.targets.drive_writer import open_drive

SEED = 4
PAGE_BOOK = Path(__file__).parents[2] / "docs" / "observability.md"
DRIVES = [draw(SEED, index) for index in range(200)]


def table(heading: str, columns: int) -> list[list[str]]:
    """Rows of the first table below a heading that has so many columns."""
    text = PAGE_BOOK.read_text(encoding="utf-8").partition(heading)[2]
    rows = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in text.partition("\n## ")[0].splitlines()
        if line.startswith("|")
    ]
    return [row for row in rows if len(row) == columns and not row[0].startswith(("---", "prop"))]


def test_the_same_seed_draws_the_same_drive_and_another_another() -> None:
    assert draw(SEED, 3) == draw(SEED, 3) == DRIVES[3]
    assert draw(SEED, 3).values != draw(SEED + 1, 3).values
    assert draw_flat(SEED, 3) == draw_flat(SEED, 3)


@pytest.mark.parametrize("drawn", [*DRIVES[:12], *(draw_flat(SEED, n) for n in range(4))])
def test_a_drawn_drive_opens_and_has_the_capacity_that_was_worked_out(drawn: Drawn) -> None:
    device = open_drive(drawn.twin_toml(), drawn.label, 1)
    assert device.info.capacity_bytes == shape_of(drawn.values).capacity_bytes
    assert device.info.logical_block_bytes in (512, 4096)


def test_capacities_are_those_of_the_bar() -> None:
    sizes = [shape_of(each.values).capacity_bytes for each in DRIVES]
    assert CAPACITY_BYTES[0] <= min(sizes) < 2 * CAPACITY_BYTES[0]
    assert CAPACITY_BYTES[1] / 2 < max(sizes) <= CAPACITY_BYTES[1]


def has(values: Values, key: str) -> bool:
    return bool(values.get(key, False))


def test_every_mechanism_is_drawn_for_a_quarter_of_the_drives_that_can_have_it() -> None:
    page = [each.values for each in DRIVES if each.values["ftl.kind"] == "page"]
    logs = [each.values for each in DRIVES if each.values["ftl.kind"] == "log-block"]
    both = [*page, *logs]
    cells = [each for each in page if int(each["nand.bits_per_cell"]) > 1]
    buffers = [each for each in both if has(each, "write_buffer.bytes")]
    caches = [each for each in both if has(each, "read_cache.bytes")]
    units = [each for each in both if shape_of(each).unit_bytes > shape_of(each).page_bytes]
    shares = {
        "page-mapped": len(page) / len(both),
        "log blocks": len(logs) / len(both),
        "many-to-one": share(logs, lambda v: v["ftl.log_association"] == "many-to-one"),
        "one-to-one": share(logs, lambda v: v["ftl.log_association"] == "one-to-one"),
        "unit above a page": len(units) / len(both),
        "not a power of two": share(both, lambda v: odd(shape_of(v).planes)),
        "odd merge unit": share(logs, lambda v: odd(shape_of(v).collected_bytes)),
        "phase": share(units, lambda v: has(v, "ftl.phase_bytes")),
        "in a row": share(both, lambda v: int(v["ftl.placement_pages"]) > 1),
        "order": share(page, lambda v: v["ftl.allocation"] == "order"),
        "superblock": share(page, lambda v: has(v, "ftl.reclaim_unit_bytes")),
        "one-bit region": share(cells, lambda v: has(v, "pslc.bytes")),
        "idle": share(both, lambda v: has(v, "gc.background")),
        "write buffer": len(buffers) / len(both),
        "protected": share(buffers, lambda v: has(v, "write_buffer.power_loss_protected")),
        "fixed buffer": share(buffers, lambda v: not v["write_buffer.switchable"]),
        "read cache": len(caches) / len(both),
        "read-ahead": share(caches, lambda v: has(v, "read_cache.read_ahead_bytes")),
        "zones": share(both, lambda v: v["map.kind"] == "zones"),
        "demand": share(page, lambda v: v["map.kind"] == "demand"),
        "several dies": share(both, lambda v: shape_of(v).dies > 1),
    }
    # 0.25, less what 40 draws of it scatter at most.
    assert {what: part for what, part in shares.items() if part < 0.2} == {}
    drains = Counter(each["write_buffer.drain"] for each in buffers)
    assert len(drains) == 4
    assert min(drains.values()) >= 0.15 * len(buffers)


def share(drives: list[Values], test: object) -> float:
    assert callable(test)
    return sum(map(bool, map(test, drives))) / len(drives)


def odd(number: int) -> bool:
    return number & (number - 1) != 0


def test_few_draws_are_thrown_away() -> None:
    assert sum(each.redraws for each in DRIVES) < len(DRIVES)


def test_the_book_says_of_every_property_how_it_is_judged_and_what_masks_it() -> None:
    judged = {name: kind for name, kind, *_ in table("## The truths", 4)}
    assert judged == {name: str(kind) for name, kind in KINDS.items()}
    rules = table("## What is observable", 3)
    masks = {
        name: (mask, reason.partition(":")[0]) for name, mask, reason in rules if name in KINDS
    }
    assert masks == {name: (", ".join(rule.masks), rule.reference) for name, rule in RULES.items()}
    assert [row[0] for row in rules if row[0] not in KINDS and row[0] != "rule"] == list(MASKS)


def drive(**keys: object) -> Values:
    """Make a small page-mapped drive, with changes; dots of keys are double underscores."""
    values: dict[str, Any] = {
        "nand.channels": 2,
        "nand.planes": 2,
        "nand.blocks_per_plane": 64,
        "nand.pages_per_block": 64,
        "nand.page_bytes": 4096,
        "over_provisioning_ratio": 0.25,
        "ftl.kind": "page",
        "ftl.plane_order": "CWDP",
        "host.logical_block_bytes": 512,
        "write_buffer.bytes": 1 << 20,
        "read_cache.bytes": 1 << 20,
    }
    return values | {key.replace("__", "."): value for key, value in keys.items()}


FLIPS = {
    "short-zones": (
        drive(map__kind="zones", map__zone_bytes=8192, map__resident_zones=1),
        drive(map__kind="zones", map__zone_bytes=8192, map__resident_zones=2),
    ),
    "busy": (
        drive(disturbance__foreign_iops=1, disturbance__foreign_off_ns=300_000_000),
        drive(disturbance__foreign_iops=1, disturbance__foreign_off_ns=500_000_000),
    ),
    "protected": (
        drive(write_buffer__power_loss_protected=True, write_buffer__switchable=False),
        drive(write_buffer__power_loss_protected=True, write_buffer__switchable=True),
    ),
    "one-command": (drive(host__queue_depth=1), drive(host__queue_depth=2)),
    "cached": (
        drive(read_cache__switchable=False, map__kind="zones", map__zone_bytes=1 << 20),
        drive(read_cache__switchable=False, map__kind="zones", map__zone_bytes=2 << 20),
    ),
    "region": (drive(pslc__bytes=1 << 20), drive()),
    "full-region": (drive(pslc__fold_when_idle=False), drive(pslc__fold_when_idle=True)),
    "merges": (drive(ftl__kind="log-block", ftl__merge_unit_bytes=1 << 20), drive()),
    "few-spans": (drive(nand__blocks_per_plane=8), drive(nand__blocks_per_plane=12)),
    "hidden-unit": (
        drive(
            write_buffer__power_loss_protected=True,
            write_buffer__switchable=False,
            ftl__placement_pages=2,
        ),
        drive(write_buffer__power_loss_protected=True, write_buffer__switchable=False),
    ),
    "hidden-logs": (
        drive(
            write_buffer__power_loss_protected=True,
            write_buffer__switchable=False,
            ftl__kind="log-block",
            ftl__merge_unit_bytes=1 << 20,
        ),
        drive(write_buffer__power_loss_protected=True, write_buffer__switchable=False),
    ),
    "blurred": (
        drive(ftl__map_unit_bytes=8192, ftl__phase_bytes=1024),
        drive(ftl__map_unit_bytes=8192),
    ),
}


@pytest.mark.parametrize("name", MASKS)
def test_a_rule_masks_one_drive_and_not_the_other(name: str) -> None:
    masked, free = FLIPS[name]
    assert MASKS[name](masked, shape_of(masked))
    assert not MASKS[name](free, shape_of(free))


@pytest.mark.parametrize(("pages", "seen"), [(1, 1), (2, 1), (3, 3), (4, 2)])
def test_pages_below_a_logical_block_are_seen_as_blocks(pages: int, seen: int) -> None:
    values = drive(
        nand__page_bytes=2048, host__logical_block_bytes=4096, ftl__placement_pages=pages,
        ftl__map_unit_bytes=2048 * pages,
    )  # fmt: skip
    truths = configured(values, shape_of(values))
    assert truths["placement_pages"].value == seen
    assert truths["placement"].value == ("one-channel" if pages > 2 else "multi-channel")


@pytest.mark.parametrize(("planes", "also"), [(3, True), (4, False)])
def test_merge_units_may_lie_on_one_die_or_across_two(planes: int, also: bool) -> None:
    """Of twelve planes in pairs the second pair lies across two dies of three planes."""
    values = drive(
        nand__channels=1, nand__ways=12 // planes, nand__planes=planes, nand__pages_per_block=64,
        scheduler__multi_plane=False, ftl__kind="log-block", ftl__plane_order="CPWD",
        ftl__merge_unit_bytes=128 * 4096, nand__page_bytes=4096,
    )  # fmt: skip
    truth = configured(values, shape_of(values))["placement"]
    assert truth.value == "one-channel"
    assert ("multi-channel" in truth.also) == also


@pytest.mark.parametrize(("table", "halved"), [("demand", True), ("ram", False)])
def test_pages_of_the_table_may_halve_rows_within_superblocks(table: str, halved: bool) -> None:
    values = drive(
        nand__channels=4, nand__page_bytes=16_384, ftl__map_unit_bytes=32_768,
        ftl__placement_pages=4, ftl__allocation="address", map__kind=table,
        ftl__reclaim_unit_bytes=2 * shape_of(drive(nand__page_bytes=16_384)).block_bytes,
    )  # fmt: skip
    truth = configured(values, shape_of(values))["placement_pages"]
    assert truth.value == 4
    assert (2 in truth.also) == halved


def test_truths_follow_from_the_keys() -> None:
    values = drive(
        ftl__map_unit_bytes=8192, ftl__phase_bytes=2048, map__kind="zones",
        map__zone_bytes=3 << 20, map__resident_zones=5, ftl__allocation="address",
    )  # fmt: skip
    truths = configured(values, shape_of(values))
    said = {name: each.value for name, each in truths.items() if each.present}
    assert said["rmw_unit_bytes"] == 8192
    assert said["alignment_phase_bytes"] == 2048
    assert said["map_cache_bytes"] == 15 << 20
    assert said["interleave_degree"] == 2
    assert said["gc_period_bytes"] == 2 * 64 * 4096
    assert said["reclaim_unit_bytes"] == 4 * 64 * 4096
    assert "merge_unit_bytes" not in said
    assert "open_units" not in said


def test_bits_that_choose_a_die_follow_from_the_keys() -> None:
    def bits(**keys: Any) -> tuple[Any, ...]:
        values = drive(**keys)
        truth = configured(values, shape_of(values))["internal_volume_bits"]
        return truth.value, truth.also

    assert bits() == ("12", ("12",))
    assert bits(nand__channels=8) == ("12,13,14", ("12,13,14",))
    assert bits(nand__channels=6) == ("12", ("12",))
    assert bits(nand__channels=3) == (None, ())
    assert bits(ftl__placement_pages=2) == ("13", ("13",))
    # By order of arrival only a unit's own pages are where the address says.
    assert bits(ftl__allocation="order") == (None, ("12",))
    assert bits(ftl__allocation="order", ftl__map_unit_bytes=8192) == ("12", ("12",))
    # One group of planes lies on its dies unevenly; as filled, all three take turns.
    groups = {"nand__ways": 2, "nand__planes": 3, "ftl__merge_unit_bytes": 4 * 64 * 4096}
    uneven = bits(
        ftl__kind="log-block", ftl__plane_order="PDWC", ftl__map_unit_bytes=8192,
        ftl__phase_bytes=4096, **groups,
    )  # fmt: skip
    assert uneven == (None, ("12", "13", "12,13"))
    # An eighth of a page of phase blurs the bit: it may be named or not.
    assert bits(ftl__map_unit_bytes=8192, ftl__phase_bytes=512)[0] == "12"


def test_answers_are_judged_by_their_kind() -> None:
    assert judged_right(Kind.EXACT, Truth(4096), 4096.0)
    assert not judged_right(Kind.EXACT, Truth(4096), 4100)
    assert judged_right(Kind.EXACT, Truth("order"), "order")
    assert judged_right(Kind.NUMERIC, Truth(100), 109)
    assert not judged_right(Kind.NUMERIC, Truth(100), 111)
    assert judged_right(Kind.NUMERIC, Truth(100, (120,)), 131)
    assert not judged_right(Kind.EXACT, Truth(None), 1)
    assert judged_right(Kind.EXACT, Truth(None, (1,)), 1)
    assert judged_right(Kind.PRESENCE, Truth(0.4), 7.0)
