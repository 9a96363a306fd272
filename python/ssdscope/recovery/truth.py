"""What is true of a drawn drive, property by property: one thing, or nothing that can be said.

The formulas stand in `docs/observability.md`, in the same order.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ssdscope.findings import PROPERTIES
from ssdscope.recovery.addresses import (
    blurred,
    order_chooses_dies,
    pages_in_a_row,
    volume_bits,
)
from ssdscope.recovery.shape import Shape, Values, number

Answer = float | int | str


class Kind(StrEnum):
    """How an answer is judged."""

    EXACT = "exact"
    """Equal to the truth."""
    NUMERIC = "numeric"
    """Within a tolerance of it."""
    PRESENCE = "presence"
    """That there is something; its size is not judged."""


KINDS: dict[str, Kind] = {
    "rmw_unit_bytes": Kind.EXACT,
    "merge_unit_bytes": Kind.EXACT,
    "reclaim_unit_bytes": Kind.NUMERIC,
    "alignment_phase_bytes": Kind.EXACT,
    "write_buffer_bytes": Kind.NUMERIC,
    "write_buffer_unit_bytes": Kind.EXACT,
    "read_cache_bytes": Kind.NUMERIC,
    "read_cache_unit_bytes": Kind.EXACT,
    "read_ahead_bytes": Kind.NUMERIC,
    "map_zone_bytes": Kind.EXACT,
    "map_cache_bytes": Kind.NUMERIC,
    "allocation": Kind.EXACT,
    "placement": Kind.EXACT,
    "placement_pages": Kind.EXACT,
    "interleave_degree": Kind.EXACT,
    "internal_volume_bits": Kind.EXACT,
    "page_types": Kind.EXACT,
    "array_members": Kind.EXACT,
    "over_provisioning_ratio": Kind.NUMERIC,
    "gc_write_amplification": Kind.NUMERIC,
    "gc_period_bytes": Kind.NUMERIC,
    "idle_gc_onset_ns": Kind.NUMERIC,
    "pslc_bytes": Kind.NUMERIC,
    "open_units": Kind.EXACT,
    "trim_effect": Kind.PRESENCE,
    "read_latency_alpha_ns": Kind.NUMERIC,
    "read_latency_beta_ns_per_byte": Kind.NUMERIC,
    "queue_depth_knee": Kind.NUMERIC,
}
"""Every property of the contract, in its order."""


@dataclass(frozen=True)
class Truth:
    """What is true of one property of one drive.

    Attributes
    ----------
    value
        The one right answer; None if no value is true.
    present
        Whether the drive has it. With a value it need not: "1 die at a time" is no interleaving.
        Without one it may: whatever is named then is wrong, and so is "absent".
    """

    value: Answer | None
    present: bool = True


ABSENT = Truth(None, present=False)
NO_ONE = Truth(None)
"""There, but no one value is true of all of the drive, or of all that sees it."""


def runs_width(values: Values, shape: Shape) -> int:
    """Planes that runs go round by address alone: of a merge unit, or of the drive."""
    if values["ftl.kind"] == "log-block":
        return shape.collected_bytes // shape.block_bytes
    return shape.planes


def seen_page_bytes(values: Values, shape: Shape) -> int:
    """Give what a host takes for a page: nothing smaller than a logical block can be read."""
    return max(shape.page_bytes, number(values, "host.logical_block_bytes", 512))


def row_bytes(values: Values, shape: Shape) -> int | None:
    """Give how many bytes lie in a row on what works as one, in whole logical blocks; or all do."""
    return rows_bytes(values, shape)[0]


def rows_bytes(values: Values, shape: Shape) -> list[int | None]:
    """Give the same of every group of planes that runs go round, as merge units lie on them."""
    width = runs_width(values, shape)
    return [
        None
        if pages is None
        else math.lcm(pages * shape.page_bytes, seen_page_bytes(values, shape))
        for pages in (
            pages_in_a_row(values, shape, width, first) for first in range(0, shape.planes, width)
        )
    ]


def configured(values: Values, shape: Shape) -> dict[str, Truth]:
    """Give every truth that follows from the drawn keys by a formula.

    What has to be measured on the undisturbed drive is added by `measured.complete`.
    """
    return {
        **_units(values, shape),
        **_memory(values),
        **_map(values, shape),
        "allocation": Truth(_allocation(values, shape)),
        **_places(values, shape),
        "page_types": page_types(values),
        "array_members": ABSENT,
    }


def page_types(filed: Mapping[str, Any]) -> Truth:
    """Count the types of pages that differ in time, by what a drive file says; one is none."""
    times = [filed.get(f"nand.{kind}_by_type_ns") or [0] for kind in ("read", "program")]
    types = max(len(each) if len(set(each)) > 1 else 1 for each in times)
    return Truth(types, present=types > 1)


def _units(values: Values, shape: Shape) -> dict[str, Truth]:
    page_mapped = values["ftl.kind"] == "page"
    block = number(values, "host.logical_block_bytes", 512)
    rmw = Truth(shape.unit_bytes) if shape.unit_bytes > block else ABSENT
    merge = ABSENT if page_mapped else Truth(shape.collected_bytes)
    found = rmw.present or merge.present
    if page_mapped and values.get("ftl.allocation", "address") == "address":
        period = shape.collected_bytes
    else:
        period = shape.span_bytes if page_mapped else shape.collected_bytes
    one_stream = values.get("ftl.log_association", "one-to-one") == "many-to-one"
    streams = 1 if one_stream else number(values, "ftl.log_blocks", 8)
    folds = number(values, "pslc.bytes") > 0 and bool(values.get("pslc.fold_when_idle", True))
    idle = bool(values.get("gc.background", False)) or folds
    return {
        "rmw_unit_bytes": rmw,
        "merge_unit_bytes": merge,
        "reclaim_unit_bytes": Truth(shape.span_bytes) if page_mapped else ABSENT,
        "alignment_phase_bytes": Truth(number(values, "ftl.phase_bytes")) if found else ABSENT,
        "gc_period_bytes": Truth(period),
        "open_units": ABSENT if page_mapped else Truth(streams),
        "idle_gc_onset_ns": Truth(number(values, "gc.idle_ns", 100_000_000)) if idle else ABSENT,
        "pslc_bytes": _size(values, "pslc.bytes"),
    }


def _size(values: Values, key: str) -> Truth:
    size = number(values, key)
    return Truth(size) if size else ABSENT


def _memory(values: Values) -> dict[str, Truth]:
    truths = {}
    block = number(values, "host.logical_block_bytes", 512)
    for table in ("write_buffer", "read_cache"):
        truths[f"{table}_bytes"] = _size(values, f"{table}.bytes")
        unit = number(values, f"{table}.unit_bytes", 4096)
        there = truths[f"{table}_bytes"].present and unit > block
        truths[f"{table}_unit_bytes"] = Truth(unit) if there else ABSENT
    return truths | {"read_ahead_bytes": _size(values, "read_cache.read_ahead_bytes")}


def _map(values: Values, shape: Shape) -> dict[str, Truth]:
    kind = values.get("map.kind", "ram")
    if kind == "zones":
        zone = number(values, "map.zone_bytes")
        held = zone * number(values, "map.resident_zones", 1)
        return {
            "map_zone_bytes": Truth(zone),
            "map_cache_bytes": Truth(held) if held < shape.capacity_bytes else ABSENT,
        }
    if kind == "demand":
        entries = number(values, "map.cache_bytes") // number(values, "map.cached_entry_bytes", 8)
        held = entries * shape.unit_bytes
        cached = Truth(held) if held < shape.capacity_bytes else ABSENT
        return {"map_zone_bytes": Truth(shape.unit_bytes, present=False), "map_cache_bytes": cached}
    return {"map_zone_bytes": ABSENT, "map_cache_bytes": ABSENT}


def _allocation(values: Values, shape: Shape) -> str:
    """Give what decides on which block or die of the drive data come to lie."""
    if values["ftl.kind"] == "log-block":
        return "address"
    by_order = values.get("ftl.allocation", "address") == "order"
    return "order" if by_order or order_chooses_dies(values, shape) else "address"


def _places(values: Values, shape: Shape) -> dict[str, Truth]:
    rows = rows_bytes(values, shape)
    alone = shape.dies == 1 and rows[0] is None
    return {
        "placement": Truth("one-channel", present=False)
        if alone
        else _same([_way(values, shape, row) for row in rows]),
        "placement_pages": ABSENT if alone else _same([_pages(values, shape, row) for row in rows]),
        "interleave_degree": Truth(shape.dies, present=shape.dies > 1),
        "internal_volume_bits": _bits(values, shape),
    }


def _same(answers: Sequence[Answer]) -> Truth:
    """Give what is true of all merge units; nothing is, if they lie in different ways."""
    return Truth(answers[0]) if len(set(answers)) == 1 else NO_ONE


def _managed_bytes(values: Values, shape: Shape) -> int:
    """Give the unit whose placement is asked for: the merge unit, else the RMW unit."""
    return shape.collected_bytes if values["ftl.kind"] == "log-block" else shape.unit_bytes


def _way(values: Values, shape: Shape, row: int | None) -> str:
    managed, seen = _managed_bytes(values, shape), seen_page_bytes(values, shape)
    whole = row is None or row >= managed > seen
    return "one-channel" if whole else "multi-channel"


def _pages(values: Values, shape: Shape, row: int | None) -> int:
    in_a_row = _managed_bytes(values, shape) if row is None else row
    return in_a_row // seen_page_bytes(values, shape)


def _bits(values: Values, shape: Shape) -> Truth:
    bits = volume_bits(values, shape)
    if bits:
        return Truth(",".join(map(str, bits)))
    return NO_ONE if blurred(values, shape) else ABSENT


def judged_right(name: str, truth: Truth, value: Answer) -> bool:
    """Whether a value of a property is the truth, or within its tolerance of it."""
    if truth.value is None:
        return False
    if KINDS.get(name) == Kind.PRESENCE:
        return truth.present
    tolerance = PROPERTIES[name].tolerance
    if tolerance is None or isinstance(value, str) or isinstance(truth.value, str):
        return value == truth.value
    return abs(value - truth.value) <= tolerance * abs(truth.value)


Truths = Mapping[str, Truth]
