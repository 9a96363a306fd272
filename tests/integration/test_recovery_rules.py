"""Every row of the rule book flips: a drive on which the property shows, and one on which not.

What hides all of them is the same: chips and tables as fast as memory behind a slow link. What
each rule masks is in `test_recovery_drives`.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest

from ssdscope.studies.recovery import reference_reads as reads
from ssdscope.studies.recovery import reference_writes as writes
from ssdscope.studies.recovery.generator import Drawn, draw
from ssdscope.studies.recovery.measured import Case
from ssdscope.studies.recovery.observability import RULES, Visibility, visibility
from ssdscope.studies.recovery.twin import Twin, read

MIB = 1 << 20
CHIPS: dict[str, Any] = {
    "default_state": "sequential",
    "over_provisioning_ratio": 0.25,
    "nand.channels": 2,
    "nand.ways": 2,
    "nand.blocks_per_plane": 96,
    "nand.pages_per_block": 48,
    "nand.page_bytes": 4096,
    "nand.read_ns": 60_000,
    "nand.program_ns": 200_000,
    "nand.erase_ns": 2_000_000,
    "nand.endurance_erases": 1_000_000,
    "channel.ns_per_byte": 2.0,
    "host.logical_block_bytes": 512,
    "host.command_ns": 5_000,
    "ftl.plane_order": "CWDP",
}
PAGE = CHIPS | {
    "ftl.kind": "page",
    "ftl.allocation": "order",
    "ftl.map_unit_bytes": 8192,
    "ftl.placement_pages": 2,
    "ftl.phase_bytes": 1024,
    "gc.background": True,
    "gc.high_water_ratio": 0.15,
    "write_buffer.bytes": MIB,
    "read_cache.bytes": MIB,
    "read_cache.read_ahead_bytes": 128 << 10,
    "map.kind": "zones",
    "map.zone_bytes": 5 * MIB,
    "map.resident_zones": 2,
    "map.load_ns": 300_000,
    "map.write_back_ns": 100_000,
}
BITS = CHIPS | {"ftl.kind": "page", "ftl.allocation": "address"}
REGION = CHIPS | {
    "ftl.kind": "page",
    "nand.bits_per_cell": 3,
    "nand.program_ns": 900_000,
    "pslc.bytes": 4 * 4 * 16 * 4096,
    "pslc.program_ns": 200_000,
}
LOGS = CHIPS | {
    "ftl.kind": "log-block",
    "ftl.merge_unit_bytes": 2 * 48 * 4096,
    "ftl.log_blocks": 5,
}
DRIVES = {"page": PAGE, "bits": BITS, "region": REGION, "logs": LOGS}
SHOWN_BY = {
    "internal_volume_bits": "bits",
    "pslc_bytes": "region",
    "merge_unit_bytes": "logs",
    "open_units": "logs",
    "queue_depth_knee": "bits",
}
"""On the others it is the drive `page`."""

NO_TIME = {
    "nand.read_ns": 0,
    "nand.program_ns": 0,
    "nand.erase_ns": 0,
    "channel.ns_per_byte": 0.001,
    "host.command_ns": 200_000,
    "host.bytes_per_second": 1e15,
    "map.load_ns": 0,
    "map.write_back_ns": 0,
    "pslc.read_ns": 0,
    "pslc.program_ns": 0,
}


def drawn(values: dict[str, Any], disturbance: dict[str, Any] | None = None) -> Drawn:
    return Drawn(1, 0, values, disturbance or {}, flat=False, redraws=0)


@cache
def seen_on(name: str, *, no_time: bool) -> dict[str, Visibility]:
    values = DRIVES[name]
    if no_time:
        tables = {key.partition(".")[0] for key in values} | {"host"}
        values = values | {k: v for k, v in NO_TIME.items() if k.partition(".")[0] in tables}
    return visibility(Case(drawn(values)))


@pytest.mark.parametrize("name", RULES)
def test_a_property_shows_on_one_drive_and_not_on_the_other(name: str) -> None:
    drive = SHOWN_BY.get(name, "page")
    shown = seen_on(drive, no_time=False)[name]
    assert shown.observable, shown
    hidden = seen_on(drive, no_time=True).get(name)
    assert hidden is None or not hidden.observable, hidden


def test_no_order_shows_where_all_pages_follow_each_other_on_one_thing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There pairs of reads may differ by what is looked up for them, but not by where they lie."""
    monkeypatch.setattr(reads, "chunk", lambda _: 0.3)
    for channels, contrast in ((1, 0.0), (2, 0.3)):
        values = BITS | {"nand.channels": channels, "nand.ways": 1, "host.queue_depth": 1}
        case = Case(drawn(values))
        assert RULES["allocation"].contrast(case) == contrast


def test_a_region_of_one_bit_per_cell_leaves_it_open_that_no_order_shows() -> None:
    """It lays out anew what leaves it, of drives that place by order, too."""
    for region, contrast in ((REGION, 0.0), (BITS, None)):
        values = region | {"ftl.allocation": "address"}
        case = Case(drawn(values))
        case.__dict__["order_effect"] = reads.OrderEffect(mean=0.0, least=0.0)
        found = RULES["allocation"].contrast(case)
        assert found == contrast if contrast is not None else found > 0.1


def test_the_crest_of_a_drift_lengthens_every_request_by_all_of_it() -> None:
    drift = {"disturbance.drift_ratio": 0.2, "disturbance.drift_period_ns": 10**9}
    drifting = drawn(PAGE, drift)
    places = np.arange(32, dtype=np.uint64) * np.uint64(MIB)
    plain, crest = (
        read(twin.fork(), places, 4096).mean()
        for twin in (Twin(drifting), Twin(drifting, crest=True))
    )
    assert crest / plain == pytest.approx(1.2, abs=1e-3)


def test_the_knee_with_drift_is_that_of_a_drive_at_its_crest() -> None:
    """Answers that come late put requests out of step, which costs more than a shallower queue."""
    drift = {"disturbance.drift_ratio": 0.3, "disturbance.drift_period_ns": 10**9}
    still, drifting = (Case(drawn(PAGE, each))._knee() for each in ({}, drift))
    assert max(map(float, drifting.also)) > 1.1 * max(map(float, still.also))
    assert min(map(float, drifting.also)) == pytest.approx(min(map(float, still.also)))


def test_where_pages_of_a_table_on_demand_lie_is_no_effect_of_the_order() -> None:
    """Units that cover all dies alike leave nothing for the order to change."""
    values = PAGE | {
        "ftl.map_unit_bytes": 65_536, "ftl.placement_pages": 1, "ftl.phase_bytes": 0,
        "map.kind": "demand", "map.cache_bytes": 512, "map.load_bytes": 2048,
        "nand.blocks_per_plane": 400,
    }  # fmt: skip
    effect = reads.order(Twin(drawn(values)))
    assert effect.mean < 0.01


def test_what_a_protected_buffer_still_holds_is_no_effect_of_the_order() -> None:
    values = PAGE | {
        "ftl.allocation": "address", "ftl.map_unit_bytes": 16_384, "ftl.placement_pages": 1,
        "ftl.phase_bytes": 0, "nand.blocks_per_plane": 400,
        "write_buffer.bytes": 6 << 20, "write_buffer.unit_bytes": 4096,
        "write_buffer.drain": "full", "write_buffer.power_loss_protected": True,
        "write_buffer.switchable": False,
    }  # fmt: skip
    effect = reads.order(Twin(drawn(values)))
    assert effect.mean < 0.01


def test_a_buffer_that_forced_writes_pass_hides_no_order() -> None:
    """A quarter of the chips is filled at a time, each in its turn; the buffer sorts what waits."""
    effect = reads.order(Twin(draw(1815125923, 13)))
    assert effect.least > 0.05


def test_what_a_cache_that_stays_on_keeps_hides_no_order() -> None:
    """Blocks that look up entries of a table on demand are whole units here, and all of the data.

    Superblocks cover all dies, so that pages go round them by the order of writing.
    """
    values = BITS | {
        "host.logical_block_bytes": 4096, "nand.blocks_per_plane": 200,
        "ftl.reclaim_unit_bytes": 4 * 48 * 4096,
        "map.kind": "demand", "map.cache_bytes": 128 << 10,
        "read_cache.bytes": 64 << 20, "read_cache.switchable": False,
    }  # fmt: skip
    effect = reads.order(Twin(drawn(values)))
    assert effect.least > 0.1


def test_how_often_zones_of_a_table_are_loaded_is_no_effect_of_the_order() -> None:
    """Units that cover all dies alike leave nothing for the order to change."""
    values = PAGE | {
        "ftl.map_unit_bytes": 32_768, "ftl.placement_pages": 1, "ftl.phase_bytes": 0,
        "map.load_ns": 2_000_000, "nand.blocks_per_plane": 400,
    }  # fmt: skip
    effect = reads.order(Twin(drawn(values)))
    assert effect.mean < 0.001


def test_spare_space_is_that_of_whole_units_whatever_a_buffer_lets_go_of() -> None:
    """One that empties at once programs a unit twice: as its first blocks come, and its last."""
    values = CHIPS | {
        "ftl.kind": "page", "ftl.allocation": "order",
        "nand.channels": 1, "nand.ways": 1, "nand.page_bytes": 16_384, "ftl.map_unit_bytes": 16_384,
        "channel.ns_per_byte": 4.0,
    }  # fmt: skip
    buffer = {
        "write_buffer.bytes": 29 * 4096, "write_buffer.unit_bytes": 4096,
        "write_buffer.drain": "eager", "write_buffer.order": "fifo",
        "write_buffer.concurrent_drains": 32, "write_buffer.switchable": False,
    }  # fmt: skip
    twins = [Twin(drawn(each)) for each in (values, values | buffer)]
    spare = [writes.overwritten(twin).share for twin in twins]
    assert spare[1] == pytest.approx(spare[0], rel=0.02)
