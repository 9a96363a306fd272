"""File systems made for a drive: ext4, XFS, F2FS, Btrfs, ZFS."""

import math

from ssdscope.advise.facts import (
    INTERLEAVE,
    MERGE,
    PAGE_BYTES,
    PHASE,
    PLACEMENT,
    RMW,
    Facts,
    doublings,
    power_of_two,
    up,
)
from ssdscope.advise.knobs.knob import Knob, Worked
from ssdscope.advise.streams import KIB, MIB, Stream, random_writes, size
from ssdscope.targets.names import shell_word

STRIPE_MAX_BYTES = 128 * MIB
"""ext4's block groups hold so much; a stripe cannot be longer."""
STRIDE_LEAST_BYTES = 8 * KIB
MOST_LOG_UNIT_BYTES = 256 * KIB
"""Of XFS, which pads writes of its log to whole units."""
SEGMENT_BYTES = 2 * MIB
"""Of F2FS."""
NODE_BYTES = 16 * KIB
RECORD_BYTES = 128 * KIB
"""Btrfs's and ZFS's own sizes of a node and of a record."""
ASHIFT, ASHIFT_MAX = 12, 16


NEW_EXTENTS = "for new extents of whole stripes: what is inside a file lies where it is written"
"""Neither ext4 nor XFS moves writes: both only choose where space begins that they allocate."""


def _extents(facts: Facts, stripe_bytes: int) -> Stream:
    """Give writes of whole extents, which the allocator begins where a stripe does.

    Without one it begins them at any block.
    """
    span = _stripe_bytes(facts)
    first = facts.start_bytes
    grain = min(stripe_bytes or PAGE_BYTES, span)
    return random_writes(span, starts_bytes=first, grain_bytes=grain, unit_bytes=span)


def _stripe_bytes(facts: Facts) -> int:
    return min(up(facts.span[0], PAGE_BYTES), STRIPE_MAX_BYTES)


def _stripes(facts: Facts, _formula: int) -> list[int]:
    span = _stripe_bytes(facts)
    return [each for each in (facts.unit_bytes, span // 2) if PAGE_BYTES <= each < span]


def _stride(facts: Facts) -> int:
    return up(max(STRIDE_LEAST_BYTES, facts.unit_bytes), PAGE_BYTES) // PAGE_BYTES


def _ext4(facts: Facts) -> Worked:
    value = _stripe_bytes(facts)
    text = (
        f"stride = max(8 KiB, RMW unit {size(facts.unit_bytes)}) / 4 KiB = {_stride(facts)}; "
        f"stripe_width = {facts.span[1]} {size(facts.span[0])} / 4 KiB = {value // PAGE_BYTES}"
    )
    return Worked(value, text)


def _mkfs_ext4(facts: Facts, value: int) -> str:
    options = f"stride={_stride(facts)},stripe_width={value // PAGE_BYTES}"
    return f"mkfs.ext4 -E {options} {shell_word(facts.device)}"


def _xfs(facts: Facts) -> Worked:
    value = _stripe_bytes(facts)
    return Worked(value, f"su = {facts.span[1]} {size(facts.span[0])} in whole blocks of 4 KiB")


def _mkfs_xfs(facts: Facts, value: int) -> str:
    log = min(up(facts.unit_bytes, PAGE_BYTES), MOST_LOG_UNIT_BYTES)
    return f"mkfs.xfs -d su={value // KIB}k,sw=1 -l su={log // KIB}k {shell_word(facts.device)}"


def _sections(facts: Facts) -> Worked:
    block = facts.whole(MERGE)
    value = math.ceil(block / SEGMENT_BYTES)
    return Worked(value, f"merge unit {size(block)} / 2 MiB = {value}")


def _nodes(facts: Facts) -> Worked:
    value = power_of_two(min(max(facts.unit_bytes, NODE_BYTES), 64 * KIB))
    return Worked(value, f"RMW unit {size(facts.unit_bytes)}, at least 16 and at most 64 KiB")


def _ashift(facts: Facts) -> Worked:
    physical = facts.today("physical_block_size") or 512
    value = min(ASHIFT_MAX, math.ceil(math.log2(max(facts.unit_bytes, physical))))
    over = "" if physical <= facts.unit_bytes else f", physical block {size(physical)}"
    return Worked(value, f"log2(RMW unit {size(facts.unit_bytes)}{over}) = {value}")


def _records(facts: Facts, ashift: int) -> Stream:
    """Give writes of whole records, which begin at any multiple of the allocation unit."""
    unit = facts.unit_bytes
    first = facts.start_bytes
    return random_writes(
        max(RECORD_BYTES, unit), starts_bytes=first, grain_bytes=1 << ashift, unit_bytes=unit
    )


KNOBS = (
    Knob(
        "ext4",
        "stride, stripe_width",
        (RMW,),
        "stride = max(8 KiB, RMW unit) and stripe_width = merge unit, or else all interleaved "
        "units, up to 128 MiB; in blocks of 4 KiB",
        _ext4,
        _mkfs_ext4,
        lambda value: f"{value // PAGE_BYTES} blocks",
        0,
        _extents,
        _stripes,
        also=(MERGE, INTERLEAVE, PLACEMENT, PHASE),
        at_most=NEW_EXTENTS,
    ),
    Knob(
        "xfs",
        "su, sw",
        (RMW,),
        "su = merge unit, or else all interleaved units, up to 128 MiB; sw = 1",
        _xfs,
        _mkfs_xfs,
        size,
        0,
        _extents,
        _stripes,
        also=(MERGE, INTERLEAVE, PLACEMENT, PHASE),
        at_most=NEW_EXTENTS,
    ),
    Knob(
        "f2fs",
        "segments per section",
        (MERGE,),
        "merge unit over segments of 2 MiB, rounded up",
        _sections,
        lambda facts, value: f"mkfs.f2fs -s {value} -z 1 {shell_word(facts.device)}",
        default=1,
        stream=lambda facts, value: random_writes(
            value * SEGMENT_BYTES, starts_bytes=facts.start_bytes
        ),
        candidates=lambda _facts, formula: doublings(1, 2 * formula),
        at_most="for whole sections that are free: old files among new ones keep sections in use",
    ),
    Knob(
        "btrfs",
        "nodesize",
        (RMW,),
        "RMW unit, at least 16 KiB and at most 64 KiB",
        _nodes,
        lambda facts, value: f"mkfs.btrfs -n {value // KIB}k {shell_word(facts.device)}",
        lambda value: f"{value // KIB}k",
        NODE_BYTES,
        # A change to a node writes it whole, however large it is.
        lambda facts, value: random_writes(
            value, starts_bytes=facts.start_bytes, useful=NODE_BYTES / value
        ),
        lambda _facts, _formula: (NODE_BYTES, 2 * NODE_BYTES, 4 * NODE_BYTES),
        at_most="for metadata: data are written in extents of their own",
    ),
    Knob(
        "zfs",
        "ashift",
        (RMW,),
        "log2 of the RMW unit or, if that is larger, of the physical block; at most 16; it cannot "
        "be changed later",
        _ashift,
        lambda facts, value: f"zpool create -o ashift={value} POOL {shell_word(facts.device)}",
        default=ASHIFT,
        stream=_records,
        candidates=lambda _facts, formula: range(ASHIFT, max(ASHIFT, formula) + 1),
        also=(PHASE,),
        at_most="for whole records that are not compressed",
    ),
)
