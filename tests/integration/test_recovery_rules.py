"""Every row of the rule book flips: a drive on which the property shows, and one on which not.

What hides all of them is the same: chips and tables as fast as memory behind a slow link. What
each rule masks is in `test_recovery_drives`.
"""

from functools import cache
from typing import Any

import pytest

from ssdscope.recovery import reference_reads as reads
from ssdscope.recovery import reference_writes as writes
from ssdscope.recovery.generator import Drawn, draw
from ssdscope.recovery.measured import Case
from ssdscope.recovery.observability import MASKS, RULES, Visibility, visibility
from ssdscope.recovery.reference_curves import Rates, latencies
from ssdscope.recovery.truth import ABSENT, Truth
from ssdscope.recovery.twin import Twin

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
SHARP = BITS | {"host.queue_depth": 4}
SPARE = CHIPS | {"ftl.kind": "page", "ftl.allocation": "order", "nand.blocks_per_plane": 400}
ONE_DIE = BITS | {"nand.channels": 1, "nand.ways": 1, "nand.blocks_per_plane": 384}
TYPES = BITS | {"nand.read_by_type_ns": [48_000, 60_000, 72_000]}
AFAR = TYPES | {"host.command_ns": 500_000}
SHOWN_BY = {
    "page_types": "types",
    "internal_volume_bits": "bits",
    "pslc_bytes": "region",
    "merge_unit_bytes": "logs",
    "open_units": "logs",
    "queue_depth_knee": "sharp",
    "over_provisioning_ratio": "spare",
}
"""On the others it is the drive `page`."""
HIDDEN_ON = {"read_latency_alpha_ns": "one-die", "page_types": "afar"}
"""On the others it is the same drive, whose chips and tables are as fast as memory."""

MANY = BITS | {
    "nand.channels": 16, "nand.ways": 8, "nand.dies": 2, "nand.blocks_per_plane": 32,
    "channel.ns_per_byte": 0.1, "host.command_ns": 0, "host.bytes_per_second": 1e15,
    "host.queue_depth": 1024,
}  # fmt: skip
"""256 dies: a queue of 256 leaves half of them idle."""

DRIVES = {
    "page": PAGE, "bits": BITS, "region": REGION, "logs": LOGS, "sharp": SHARP, "spare": SPARE,
    "one-die": ONE_DIE, "types": TYPES, "afar": AFAR,
}  # fmt: skip

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


@pytest.mark.parametrize("name", [name for name in RULES if name != "array_members"])
def test_a_property_shows_on_one_drive_and_not_on_the_other(name: str) -> None:
    drive = SHOWN_BY.get(name, "page")
    shown = seen_on(drive, no_time=False)[name]
    assert shown.observable, shown
    elsewhere = HIDDEN_ON.get(name)
    hidden = seen_on(elsewhere or drive, no_time=elsewhere is None).get(name)
    assert hidden is None or not hidden.observable, hidden


def test_by_address_is_seen_where_an_order_would_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one die no order would, and what leaves a region of one bit per cell is laid out anew."""
    contrasts = [RULES["allocation"].contrast(Case(drawn(each))) for each in (BITS, ONE_DIE)]
    assert contrasts[0] > 0.1 > contrasts[1]
    # Pairs of reads may differ by what is looked up for them, but not by where they lie.
    monkeypatch.setattr(reads, "chunk", lambda _: 0.3)
    for channels, contrast in ((1, 0.0), (2, 0.3)):
        values = LOGS | {"nand.channels": channels, "nand.ways": 1, "host.queue_depth": 1}
        values |= {"ftl.merge_unit_bytes": 48 * 4096 * channels}
        assert RULES["allocation"].contrast(Case(drawn(values))) == contrast


def test_units_that_fill_every_plane_hide_the_order_that_places_them() -> None:
    values = BITS | {"ftl.allocation": "order", "ftl.map_unit_bytes": 4 * 4096}
    case = Case(drawn(values))
    assert case.truths["allocation"] == Truth("order")
    assert RULES["allocation"].contrast(case) < 0.01


def test_merges_that_lay_data_out_anew_look_like_an_order() -> None:
    """Merge units on one plane of four come to lie beside others; on all four they cannot."""
    stirred = [LOGS | {"ftl.merge_unit_bytes": planes * 48 * 4096} for planes in (1, 4)]
    assert [MASKS["stirred"](Case(drawn(each))) for each in stirred] == [True, False]


def test_alpha_and_beta_are_those_of_the_times_of_the_chips() -> None:
    """Of one die a read takes, for each page, a read and a transfer, and for each byte the link."""
    values = ONE_DIE | {"host.bytes_per_second": 1e9}
    line = latencies(Twin(drawn(values))).line()
    per_page = values["nand.read_ns"] + 4096 * values["channel.ns_per_byte"]
    assert line.alpha_ns == pytest.approx(values["host.command_ns"], rel=0.02)
    assert line.beta_ns_per_byte == pytest.approx(per_page / 4096 + 1, rel=0.02)


@pytest.mark.parametrize(
    ("changes", "masked"),
    [
        ({}, []),
        ({"nand.page_bytes": 16_384}, ["alpha-bent"]),
        (
            {"nand.page_bytes": 16_384, "nand.channels": 8, "nand.ways": 1},
            ["alpha-bent", "beta-bent"],
        ),
    ],
)
def test_a_line_that_hangs_on_the_sizes_is_not_observable(
    changes: dict[str, Any], masked: list[str]
) -> None:
    """Pages of 16 KiB make steps; many of them at a time a flat beginning."""
    case = Case(drawn(BITS | changes))
    assert [each for each in ("alpha-bent", "beta-bent") if MASKS[each](case)] == masked


NOISE = {"disturbance.noise_sigma": 0.15}


@pytest.mark.parametrize(
    ("values", "disturbance", "knee", "masked"),
    [
        # Reads wait for commands of the host from depth 4 on.
        (BITS | {"host.queue_depth": 4}, NOISE, 4, []),
        (BITS, {}, 11, ["shallow"]),
        (PAGE, {}, 58, []),
        (PAGE, NOISE, 58, ["deepened"]),
    ],
)
def test_a_knee_that_is_not_sharp_or_moves_is_not_observable(
    values: dict[str, Any], disturbance: dict[str, Any], knee: int, masked: list[str]
) -> None:
    case = Case(drawn(values, disturbance))
    assert case.rates.knee == pytest.approx(knee, abs=knee * 0.02)
    assert [each for each in ("shallow", "deepened") if MASKS[each](case)] == masked


def test_there_is_no_knee_where_depth_gains_nothing_or_never_enough() -> None:
    one, many = (Case(drawn(each))._knee() for each in (BITS | {"host.queue_depth": 1}, MANY))
    assert one == Truth(1, present=False)
    assert many == ABSENT


def test_the_depth_that_is_found_by_halving_is_the_least() -> None:
    rates = Rates(Twin(drawn(BITS)))
    wanted = 0.9 * rates.at(256)
    assert [rates.at(depth) >= wanted for depth in range(1, rates.knee + 3)].index(True) + 1 == (
        rates.knee
    )


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
