"""What is true of a drawn drive, property by property, and what counts as having said it.

The formulas stand in `docs/observability.md`, in the same order.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ssdscope.findings.properties import TOLERANCE
from ssdscope.studies.recovery.addresses import (
    in_words,
    pages_in_a_row,
    volume_bits,
    volume_sets,
)
from ssdscope.studies.recovery.shape import Shape, Values, number

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
        None if the drive does not have it.
    also
        Answers that say the same in other words, or that the drive's behaviour bears out as well.
        For a numeric property any value between the least and the greatest of them and `value`.
    """

    value: Answer | None
    also: tuple[Answer, ...] = ()

    @property
    def present(self) -> bool:
        """Whether the drive has it."""
        return self.value is not None


ABSENT = Truth(None)


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
    return _units(values, shape) | _memory(values) | _map(values, shape) | _places(values, shape)


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
        "reclaim_unit_bytes": _through_region(values, shape, shape.span_bytes)
        if page_mapped
        else ABSENT,
        "alignment_phase_bytes": Truth(number(values, "ftl.phase_bytes")) if found else ABSENT,
        "gc_period_bytes": _through_region(values, shape, period),
        "open_units": ABSENT if page_mapped else Truth(streams),
        "idle_gc_onset_ns": Truth(number(values, "gc.idle_ns", 100_000_000)) if idle else ABSENT,
        "pslc_bytes": _size(values, "pslc.bytes"),
    }


def _through_region(values: Values, shape: Shape, size: int) -> Truth:
    """Give what whole blocks hold, or those of a one-bit region that is written first.

    These hold whole units, and where several planes are collected as one whole turns round them.
    """
    if number(values, "pslc.bytes") == 0:
        return Truth(size)
    pages = number(values, "nand.pages_per_block")
    unit_pages = shape.unit_bytes // shape.page_bytes
    row = unit_pages // shape.unit_planes
    if shape.collected_bytes > shape.unit_planes * shape.block_bytes:
        row *= max(shape.run_pages // unit_pages, 1)
    held = pages // number(values, "nand.bits_per_cell", 1) // row * row
    return Truth(size, (size * held // pages,))


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
        return {"map_zone_bytes": Truth(None, (shape.unit_bytes,)), "map_cache_bytes": cached}
    return {"map_zone_bytes": ABSENT, "map_cache_bytes": ABSENT}


def _halved(values: Values, shape: Shape, row: int, seen: int) -> tuple[int, ...]:
    """Give half a row, in seen pages, where pages of the table may move data by so much.

    By address a row goes to a superblock, in which what comes next takes the next place, so that
    every other of the table's pages may leave rows on two planes, half on either.
    """
    superblocks = number(values, "ftl.reclaim_unit_bytes") > shape.block_bytes
    by_address = values.get("ftl.allocation", "address") == "address"
    moved = superblocks and by_address and values.get("map.kind") == "demand"
    return (row // 2 // seen,) if moved and row == 2 * max(shape.unit_bytes, seen) else ()


def _places(values: Values, shape: Shape) -> dict[str, Truth]:
    rows, seen = rows_bytes(values, shape), seen_page_bytes(values, shape)
    row, unlike = rows[0], len({each is None for each in rows}) == 2
    ways = ("one-channel", "multi-channel")
    managed = shape.collected_bytes if values["ftl.kind"] == "log-block" else shape.unit_bytes
    if shape.dies == 1 and row is None:
        placement, pages = Truth(None, ("one-channel",)), ABSENT
    elif row is None:
        placement = Truth("one-channel", ways if unlike else ())
        pages = Truth(managed // seen, (shape.run_pages,))
    else:
        way = "one-channel" if row >= managed > seen else "multi-channel"
        placement = Truth(way, ways if unlike else ())
        pages = Truth(row // seen, (shape.run_pages, *_halved(values, shape, row, seen)))
    return {
        "placement": placement,
        "placement_pages": pages,
        "interleave_degree": Truth(shape.dies) if shape.dies > 1 else Truth(None, (1,)),
        "internal_volume_bits": _bits(values, shape),
    }


def _bits(values: Values, shape: Shape) -> Truth:
    """Name the bits; none is true, too, if by either layout none divides the dies."""
    bits, laid_out = (in_words(volume_bits(values, shape, filled=each)) for each in (False, True))
    also = [each for filled in (False, True) for each in volume_sets(values, shape, filled=filled)]
    named = tuple(each for each in dict.fromkeys(also) if each)
    return Truth(bits if bits and laid_out else None, named)


def judged_right(kind: Kind, truth: Truth, value: Answer) -> bool:
    """Whether a value is one of the truths, or within the tolerance of them."""
    right = [each for each in (truth.value, *truth.also) if each is not None]
    if not right:
        return False
    if kind == Kind.PRESENCE:
        return truth.present
    if kind == Kind.EXACT or isinstance(value, str):
        return value in right
    numbers = [float(each) for each in right]
    return min(numbers) * (1 - TOLERANCE) <= value <= max(numbers) * (1 + TOLERANCE)


Truths = Mapping[str, Truth]
