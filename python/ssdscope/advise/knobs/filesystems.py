"""File systems made for a drive: ext4, XFS, F2FS, Btrfs, ZFS."""

import math

from ssdscope.advise.facts import (
    INTERLEAVE,
    MERGE,
    PAGE_BYTES,
    PHASE,
    PLACEMENT,
    RMW,
    SECTOR_BYTES,
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
SMALL_XFS_BYTES = 512 * MIB
LEAST_STRIPES = 64
"""Of a drive: XFS divides it into up to 32 groups, each of which takes whole stripes."""
SEGMENT_BYTES = 2 * MIB
"""Of F2FS."""
NODE_BYTES = 16 * KIB
RECORD_BYTES = 128 * KIB
"""Btrfs's and ZFS's own sizes of a node and of a record."""
ASHIFT, ASHIFT_OWN_MAX, ASHIFT_MAX = 12, 14, 16


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


def _span(facts: Facts) -> tuple[int, str]:
    """Return what a stripe covers, with its name: what takes too much of a small drive does not."""
    span = facts.span
    small = 0 < facts.capacity_bytes < LEAST_STRIPES * min(span[0], STRIPE_MAX_BYTES)
    return (facts.unit_bytes, "RMW unit") if small else span


def _stripe_bytes(facts: Facts) -> int:
    return min(up(_span(facts)[0], PAGE_BYTES), STRIPE_MAX_BYTES)


def _stripes(facts: Facts, _formula: int) -> list[int]:
    span = _stripe_bytes(facts)
    return [each for each in (facts.unit_bytes, span // 2) if PAGE_BYTES <= each < span]


def _usual_stride_bytes(facts: Facts) -> int:
    return up(max(STRIDE_LEAST_BYTES, facts.unit_bytes), PAGE_BYTES)


def _stride_bytes(facts: Facts, stripe_bytes: int) -> int:
    """Return a stride that goes into the stripe: mkfs.ext4 warns of another one."""
    usual = _usual_stride_bytes(facts)
    return stripe_bytes if stripe_bytes % usual else usual


def _ext4(facts: Facts) -> Worked:
    value = _stripe_bytes(facts)
    stride = _stride_bytes(facts, value)
    usual = f"max(8 KiB, RMW unit {size(facts.unit_bytes)})"
    misfit = value % _usual_stride_bytes(facts)
    how = f"the stripe, as {usual} does not go into it," if misfit else usual
    text = (
        f"stride = {how} / 4 KiB = {stride // PAGE_BYTES}; "
        f"stripe_width = {_span(facts)[1]} {size(_span(facts)[0])} / 4 KiB = {value // PAGE_BYTES}"
    )
    return Worked(value, text)


def _mkfs_ext4(facts: Facts, value: int) -> str:
    # Strides count blocks, and below 512 MiB a block would be of 1 KiB.
    stride = _stride_bytes(facts, value) // PAGE_BYTES
    options = f"stride={stride},stripe_width={value // PAGE_BYTES}"
    return f"mkfs.ext4 -b {PAGE_BYTES} -E {options} {shell_word(facts.device)}"


def _xfs(facts: Facts) -> Worked:
    value = _stripe_bytes(facts)
    return Worked(value, f"su = {_span(facts)[1]} {size(_span(facts)[0])} in whole blocks of 4 KiB")


def _mkfs_xfs(facts: Facts, value: int) -> str:
    log = min(up(facts.unit_bytes, PAGE_BYTES), MOST_LOG_UNIT_BYTES)
    # With stripes it makes eight groups of a small volume, and its log does not fit into one.
    few = ",agcount=4" if 0 < facts.capacity_bytes <= SMALL_XFS_BYTES else ""
    data = f"su={value // KIB}k,sw=1{few}"
    return f"mkfs.xfs -d {data} -l su={log // KIB}k {shell_word(facts.device)}"


def _sections(facts: Facts) -> Worked:
    block = facts.whole(MERGE)
    value = math.ceil(block / SEGMENT_BYTES)
    return Worked(value, f"merge unit {size(block)} / 2 MiB = {value}")


def _nodes(facts: Facts) -> Worked:
    value = power_of_two(min(max(facts.unit_bytes, NODE_BYTES), 64 * KIB))
    return Worked(value, f"RMW unit {size(facts.unit_bytes)}, at least 16 and at most 64 KiB")


def _ashift(facts: Facts) -> Worked:
    least = facts.least_unit_bytes
    value = min(ASHIFT_MAX, math.ceil(math.log2(least)))
    over = "" if least <= facts.unit_bytes else f", block {size(least)}"
    return Worked(value, f"log2(RMW unit {size(facts.unit_bytes)}{over}) = {value}")


def _own_ashift(facts: Facts) -> int:
    """Return what ZFS takes by itself: the physical block, at most 16 KiB; 4 KiB if not known."""
    physical = facts.today("physical_block_size") or 1 << ASHIFT
    return min(ASHIFT_OWN_MAX, math.ceil(math.log2(max(physical, SECTOR_BYTES))))


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
        "stripe_width = merge unit, or else all interleaved units, up to 128 MiB; stride = max(8 "
        "KiB, RMW unit), or the stripe if that does not go into it; in blocks of 4 KiB",
        _ext4,
        _mkfs_ext4,
        lambda value: f"{value // PAGE_BYTES} blocks",
        0,
        "e2fsprogs 1.47",
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
        "xfsprogs 6.1",
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
        product="f2fs-tools 1.15",
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
        "btrfs-progs 6.2",
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
        "log2 of the RMW unit or, if that is larger, of the physical block (4 KiB if not known); "
        "at most 16; it cannot be changed later",
        _ashift,
        lambda facts, value: f"zpool create -o ashift={value} POOL {shell_word(facts.device)}",
        default=_own_ashift,
        product="OpenZFS 2.1",
        stream=_records,
        candidates=lambda _facts, formula: range(ASHIFT, max(ASHIFT, formula) + 1),
        also=(PHASE,),
        at_most="for whole records that are not compressed",
    ),
)
