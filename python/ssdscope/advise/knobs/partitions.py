"""Where partitions and volumes begin: sfdisk, LVM, dm-crypt."""

import math

from ssdscope.advise.facts import MERGE, PHASE, RMW, SECTOR_BYTES, Facts, up
from ssdscope.advise.knobs.knob import Knob, Worked
from ssdscope.advise.streams import KIB, MIB, Stream, random_writes, size
from ssdscope.targets.names import shell_word

LARGEST_BLOCK_BYTES = 64 * MIB
"""Partitions that begin at multiples of larger blocks would waste more than they gain."""
LARGEST_SECTOR_BYTES = 4 * KIB
"""Of dm-crypt."""
MOST_CHUNK_BYTES = 1 << 30
"""Of LVM's thin pools."""
SFDISK, LVM = "sfdisk 2.38", "LVM 2.03"


def _grain(facts: Facts) -> tuple[int, str]:
    """Give what begins of partitions are to be multiples of, and its name."""
    block = facts.block
    if block is not None and block[0] <= LARGEST_BLOCK_BYTES:
        return block
    return facts.unit_bytes, "RMW unit"


def start(facts: Facts) -> Worked:
    """Return the first byte: a multiple of 1 MiB and of the unit, behind where units begin.

    Where that would be too far, it is the first unit from 1 MiB on.
    """
    unit, name = _grain(facts)
    value = math.lcm(MIB, unit)
    text = f"lcm(1 MiB, {name} {size(unit)}) = {size(value)}"
    if value > LARGEST_BLOCK_BYTES:
        value = up(MIB, unit)
        text = f"1 MiB rounded up to whole {name}s of {size(unit)} = {size(value)}"
    if phase := facts.first_of(unit):
        return Worked(value + phase, f"{text}, and units begin at {size(phase)}")
    return Worked(value, text)


def writes_from(facts: Facts, start_bytes: int) -> Stream:
    """Give writes of whole units, as files that a file system aligns, from a start on."""
    return random_writes(_grain(facts)[0], starts_bytes=start_bytes, tell_start=True)


ALIGNED = "for writes that begin at multiples of a unit in the file system: a start moves no others"


def _starts(facts: Facts, _formula: int) -> list[int]:
    return [MIB, *(each * MIB + facts.first_of(_grain(facts)[0]) for each in (2, 4, 8))]


def _sfdisk(facts: Facts, value: int) -> str:
    return f"echo start={amount(value)} | sfdisk --label gpt {shell_word(facts.device)}"


def amount(value: int) -> str:
    """Write bytes as sfdisk and blkdiscard take them on every drive.

    Bare numbers of sfdisk are blocks of the drive. Places that are no whole KiB only drives with
    blocks of 512 bytes have.
    """
    for unit_bytes, name in ((MIB, "MiB"), (KIB, "KiB")):
        if value % unit_bytes == 0:
            return f"{value // unit_bytes}{name}"
    return str(value // SECTOR_BYTES)


def _chunk(facts: Facts) -> Worked:
    unit = facts.unit_bytes
    value = math.lcm(64 * KIB, unit)
    text = f"lcm(64 KiB, RMW unit {size(unit)}) = {size(value)}"
    if value > MOST_CHUNK_BYTES:
        value = min(up(unit, 64 * KIB), MOST_CHUNK_BYTES)
        text = f"RMW unit {size(unit)} in whole 64 KiB, at most 1 GiB"
    return Worked(value, text)


def _kib(value: int) -> str:
    return f"{value // KIB}k"


def _sector(facts: Facts) -> Worked:
    unit = facts.unit_bytes
    block = facts.today("physical_block_size") or SECTOR_BYTES
    if unit < LARGEST_SECTOR_BYTES <= block:
        return Worked(LARGEST_SECTOR_BYTES, f"block {size(block)} >= 4 KiB")
    value = LARGEST_SECTOR_BYTES if unit >= LARGEST_SECTOR_BYTES else SECTOR_BYTES
    return Worked(value, f"RMW unit {size(unit)} {'>=' if value > SECTOR_BYTES else '<'} 4 KiB")


def _own_sector(facts: Facts) -> int:
    """Return what cryptsetup takes by itself: the physical block; 512 bytes if not known."""
    return min(LARGEST_SECTOR_BYTES, facts.today("physical_block_size") or SECTOR_BYTES)


KNOBS = (
    Knob(
        "sfdisk",
        "partition start",
        (RMW,),
        "lcm(1 MiB, merge unit if it is at most 64 MiB, else RMW unit); beyond 64 MiB, 1 MiB in "
        "whole units",
        start,
        _sfdisk,
        amount,
        MIB,
        SFDISK,
        writes_from,
        _starts,
        also=(MERGE, PHASE),
        at_most=ALIGNED,
    ),
    Knob(
        "lvm",
        "dataalignment",
        (RMW,),
        "as a partition's start",
        start,
        lambda facts, value: (
            f"pvcreate --dataalignment {value // SECTOR_BYTES}s {shell_word(facts.device)}"
        ),
        lambda value: f"{value // SECTOR_BYTES}s",
        MIB,
        LVM,
        writes_from,
        _starts,
        also=(MERGE, PHASE),
        at_most=ALIGNED,
    ),
    Knob(
        "lvm",
        "thin chunk size",
        (RMW,),
        "a multiple of 64 KiB and of the RMW unit, at most 1 GiB",
        _chunk,
        lambda _facts, value: f"lvcreate --type thin-pool --chunksize {_kib(value)} --size SIZE VG",
        _kib,
        64 * KIB,
        LVM,
        lambda facts, value: random_writes(value, starts_bytes=facts.start_bytes),
        also=(PHASE,),
        at_most="for the first write to each chunk, which is zeroed whole",
    ),
    Knob(
        "dm-crypt",
        "sector-size",
        (RMW,),
        "4096 if the RMW unit or the physical block is 4 KiB or more",
        _sector,
        lambda facts, value: (
            f"cryptsetup luksFormat --sector-size {value} {shell_word(facts.device)}"
        ),
        default=_own_sector,
        product="cryptsetup 2.6",
        no_stream="encrypted on the host",
    ),
)
