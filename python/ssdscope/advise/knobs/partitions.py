"""Where partitions and volumes begin: sfdisk, LVM, dm-crypt."""

import math

from ssdscope.advise.facts import MERGE, PHASE, RMW, SECTOR_BYTES, Facts
from ssdscope.advise.knobs.knob import Knob, Worked
from ssdscope.advise.streams import KIB, MIB, Stream, random_writes, size
from ssdscope.targets.names import shell_word

LARGEST_BLOCK_BYTES = 64 * MIB
"""Partitions that begin at multiples of larger blocks would waste more than they gain."""


def _grain(facts: Facts) -> tuple[int, str]:
    """Give what begins of partitions are to be multiples of, and its name."""
    block = facts.block
    if block is not None and block[0] <= LARGEST_BLOCK_BYTES:
        return block
    return facts.unit_bytes, "RMW unit"


def start(facts: Facts) -> Worked:
    """Give the first byte: a multiple of 1 MiB and of the unit, behind where units begin."""
    unit, name = _grain(facts)
    value = math.lcm(MIB, unit)
    text = f"lcm(1 MiB, {name} {size(unit)}) = {size(value)}"
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
    line = shell_word(f"start={value // SECTOR_BYTES}")
    return f"echo {line} | sfdisk --label gpt {shell_word(facts.device)}"


def _chunk(facts: Facts) -> Worked:
    value = math.lcm(64 * KIB, facts.unit_bytes)
    text = f"lcm(64 KiB, RMW unit {size(facts.unit_bytes)}) = {size(value)}"
    return Worked(value, text)


def _kib(value: int) -> str:
    return f"{value // KIB}k"


def _sector(facts: Facts) -> Worked:
    value = 4096 if facts.unit_bytes >= 4096 else 512
    return Worked(value, f"RMW unit {size(facts.unit_bytes)} {'>=' if value > 512 else '<'} 4 KiB")


KNOBS = (
    Knob(
        "sfdisk",
        "partition start",
        (RMW,),
        "lcm(1 MiB, merge unit if it is at most 64 MiB, else RMW unit), in 512-byte sectors",
        start,
        _sfdisk,
        lambda value: str(value // SECTOR_BYTES),
        MIB,
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
        writes_from,
        _starts,
        also=(MERGE, PHASE),
        at_most=ALIGNED,
    ),
    Knob(
        "lvm",
        "thin chunk size",
        (RMW,),
        "a multiple of 64 KiB and of the RMW unit",
        _chunk,
        lambda _facts, value: f"lvcreate --type thin-pool --chunksize {_kib(value)} --size SIZE VG",
        _kib,
        64 * KIB,
        lambda facts, value: random_writes(value, starts_bytes=facts.start_bytes),
        also=(PHASE,),
        at_most="for the first write to each chunk, which is zeroed whole",
    ),
    Knob(
        "dm-crypt",
        "sector-size",
        (RMW,),
        "4096 if the RMW unit is 4 KiB or more",
        _sector,
        lambda facts, value: (
            f"cryptsetup luksFormat --sector-size {value} {shell_word(facts.device)}"
        ),
        default=512,
        no_stream="encrypted on the host",
    ),
)
