"""The drives of the recovery study, and its rule book against its code."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ssdscope.recovery.generator import CAPACITY_BYTES, Drawn, draw, draw_flat
from ssdscope.recovery.measured import Case
from ssdscope.recovery.observability import MASKS, RULES
from ssdscope.recovery.reference_curves import Line
from ssdscope.recovery.reference_reads import OrderEffect
from ssdscope.recovery.reference_writes import Overwritten
from ssdscope.recovery.shape import Values, shape_of
from ssdscope.recovery.truth import ABSENT, KINDS, NO_ONE, Truth, configured, judged_right
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


def merge_pairs(planes: int) -> Values:
    """Twelve planes, merge units on pairs of them: of three planes a die some lie across two."""
    return drive(
        nand__channels=1, nand__ways=12 // planes, nand__planes=planes,
        scheduler__multi_plane=False, ftl__kind="log-block", ftl__plane_order="CPWD",
        ftl__merge_unit_bytes=2 * 64 * 4096,
    )  # fmt: skip


def rows_in_superblocks(**keys: object) -> Values:
    return drive(
        nand__channels=4, nand__page_bytes=16_384, ftl__map_unit_bytes=32_768,
        ftl__placement_pages=4, ftl__allocation="address",
        ftl__reclaim_unit_bytes=2 * shape_of(drive(nand__page_bytes=16_384)).block_bytes, **keys,
    )  # fmt: skip


def bent(alpha: float = 1.0, beta: float = 1.0) -> dict[str, Any]:
    """Lines whose lower half differs so much."""
    lower = SimpleNamespace(lower_half=Line(alpha * 1e5, beta * 10, 0.02))
    return {"line": Line(1e5, 10, 0.02), "latencies": lower}


@dataclass(frozen=True)
class Depths:
    """A knee, and how much deeper or less deep other shares are."""

    knee: int
    wide: int = 0

    def depth_of(self, share: float) -> int:
        return self.knee + (self.wide if share > 0.9 else -self.wide)


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
    "region": (
        drive(pslc__bytes=1 << 20),
        drive(pslc__bytes=1 << 20, pslc__overflow="direct"),
    ),
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
    "straddling": (merge_pairs(planes=3), merge_pairs(planes=4)),
    "table-in-rows": (rows_in_superblocks(map__kind="demand"), rows_in_superblocks()),
    "moving-table": (
        drive(map__kind="demand", disturbance__foreign_write_ratio=0.3),
        drive(map__kind="zones", disturbance__foreign_write_ratio=0.3),
    ),
    "noisy": (drive(disturbance__noise_sigma=0.142), drive(disturbance__noise_sigma=0.141)),
}
MEASURED = {
    "stirred": (
        {"truths": {"allocation": Truth("address")}, "order_effect": OrderEffect(0.03, 0.0)},
        {"truths": {"allocation": Truth("order")}, "order_effect": OrderEffect(0.03, 0.0)},
    ),
    "in-turn": ({"turns": 2}, {"turns": 1}),
    "beside": (
        {"overwritten": Overwritten(share=0.1, shown=0.12, contrast=1.0)},
        {"overwritten": Overwritten(share=0.1, shown=0.105, contrast=1.0)},
    ),
    "alpha-bent": (bent(alpha=1.12), bent(beta=1.12)),
    "beta-bent": (bent(beta=1.12), bent(alpha=1.12)),
    "shallow": ({"rates": Depths(knee=20, wide=3)}, {"rates": Depths(knee=20, wide=2)}),
    "deepened": (
        {"rates": Depths(knee=20), "noisy_knee": 23},
        {"rates": Depths(knee=20), "noisy_knee": 22},
    ),
}
"""What a case of one that is masked measures, and of one that is not."""


@pytest.mark.parametrize("name", MASKS)
def test_a_rule_masks_one_drive_and_not_the_other(name: str) -> None:
    pair = MEASURED.get(name)
    cases: list[Any] = (
        [SimpleNamespace(**each) for each in pair]
        if pair
        else [
            SimpleNamespace(values=v, twin=SimpleNamespace(shape=shape_of(v))) for v in FLIPS[name]
        ]
    )
    assert [MASKS[name](case) for case in cases] == [True, False]


def test_what_has_no_one_value_is_masked() -> None:
    met = set()
    for drawn in DRIVES[:40]:
        case = Case(drawn)
        for name, truth in configured(drawn.values, case.twin.shape).items():
            if truth == NO_ONE:
                met.add(name)
                assert any(MASKS[mask](case) for mask in RULES[name].masks if mask in FLIPS)
    assert met >= {"placement_pages", "internal_volume_bits"}


@pytest.mark.parametrize(("pages", "seen"), [(1, 1), (2, 1), (3, 3), (4, 2)])
def test_pages_below_a_logical_block_are_seen_as_blocks(pages: int, seen: int) -> None:
    values = drive(
        nand__page_bytes=2048, host__logical_block_bytes=4096, ftl__placement_pages=pages,
        ftl__map_unit_bytes=2048 * pages,
    )  # fmt: skip
    truths = configured(values, shape_of(values))
    assert truths["placement_pages"].value == seen
    assert truths["placement"].value == ("one-channel" if pages > 2 else "multi-channel")


def test_merge_units_that_lie_in_different_ways_have_no_one_placement() -> None:
    for planes, placement, pages in ((3, NO_ONE, NO_ONE), (4, Truth("one-channel"), Truth(128))):
        values = merge_pairs(planes)
        truths = configured(values, shape_of(values))
        assert (truths["placement"], truths["placement_pages"]) == (placement, pages)


def test_pages_in_a_row_are_those_of_what_works_as_one() -> None:
    """Planes that no command serves together lengthen a row, whatever pages of a table may do."""
    for together, pages in ((True, 2), (False, 4)):
        values = drive(ftl__placement_pages=2, ftl__plane_order="PDWC",
                       scheduler__multi_plane=together)  # fmt: skip
        assert configured(values, shape_of(values))["placement_pages"] == Truth(pages)
    values = rows_in_superblocks(map__kind="demand")
    assert configured(values, shape_of(values))["placement_pages"] == Truth(4)


def test_what_decides_where_data_lie_is_the_allocation() -> None:
    """Units that fill every plane hide the order, and are placed by it all the same."""
    superblock = shape_of(drive()).planes * shape_of(drive()).block_bytes

    def allocation(**keys: Any) -> object:
        values = drive(**keys)
        return configured(values, shape_of(values))["allocation"].value

    assert allocation() == "address"
    assert allocation(ftl__allocation="order") == "order"
    assert allocation(ftl__allocation="order", ftl__map_unit_bytes=4 * 4096) == "order"
    # A superblock by address takes what comes next to its next die; planes of one die are alike.
    assert allocation(ftl__reclaim_unit_bytes=superblock) == "order"
    assert allocation(ftl__reclaim_unit_bytes=superblock // 2) == "address"
    assert allocation(ftl__kind="log-block", ftl__merge_unit_bytes=superblock) == "address"


def test_one_die_has_no_placement_and_no_interleaving() -> None:
    values = drive(nand__channels=1, nand__planes=1)
    truths = configured(values, shape_of(values))
    assert truths["placement"] == Truth("one-channel", present=False)
    assert truths["placement_pages"] == ABSENT
    assert truths["interleave_degree"] == Truth(1, present=False)


def test_a_table_on_demand_has_no_zones_which_a_unit_says_too() -> None:
    values = drive(map__kind="demand", map__cache_bytes=4096)
    assert configured(values, shape_of(values))["map_zone_bytes"] == Truth(4096, present=False)


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
    def bits(**keys: Any) -> Truth:
        values = drive(**keys)
        return configured(values, shape_of(values))["internal_volume_bits"]

    assert bits() == Truth("12")
    assert bits(nand__channels=8) == Truth("12,13,14")
    assert bits(nand__channels=6) == Truth("12")
    assert bits(nand__channels=3) == ABSENT
    assert bits(ftl__placement_pages=2) == Truth("13")
    # By order of arrival only a unit's own pages are where the address says, as filled or not.
    assert bits(ftl__allocation="order") == ABSENT
    assert bits(ftl__allocation="order", ftl__map_unit_bytes=8192) == Truth("12")
    # An eighth of a page of phase blurs the bit, three leave none that halves the drive.
    assert bits(ftl__map_unit_bytes=8192, ftl__phase_bytes=512) == Truth("12")
    assert bits(ftl__map_unit_bytes=8192, ftl__phase_bytes=1536) == NO_ONE


def test_types_of_pages_are_those_that_differ_in_time() -> None:
    times = {"nand__program_by_type_ns": [500_000, 700_000, 900_000]}
    assert configured(drive(**times), shape_of(drive()))["page_types"] == Truth(3)
    alike = drive(nand__read_by_type_ns=[60_000, 60_000])
    for values in (drive(), alike):
        assert configured(values, shape_of(values))["page_types"] == Truth(1, present=False)


def test_answers_are_judged_by_their_kind() -> None:
    assert judged_right("rmw_unit_bytes", Truth(4096), 4096.0)
    assert not judged_right("rmw_unit_bytes", Truth(4096), 4100)
    assert judged_right("allocation", Truth("order"), "order")
    assert not judged_right("allocation", Truth("order"), "address")
    assert judged_right("write_buffer_bytes", Truth(100), 110)
    assert not judged_right("write_buffer_bytes", Truth(100), 111)
    assert not judged_right("rmw_unit_bytes", NO_ONE, 1)
    assert judged_right("interleave_degree", Truth(1, present=False), 1)
    assert judged_right("trim_effect", Truth(0.4), 7.0)
    assert not judged_right("trim_effect", Truth(0.01, present=False), 0.01)
