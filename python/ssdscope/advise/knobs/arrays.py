"""Drives put together: md arrays, bcache."""

import math

from ssdscope.advise.facts import MERGE, N90, PAGE_BYTES, RMW, Facts, doublings, up
from ssdscope.advise.facts import power_of_two as pow2
from ssdscope.advise.knobs.knob import Knob, Worked
from ssdscope.advise.streams import KIB, random_writes, size
from ssdscope.targets.names import shell_word

CHUNK_BYTES = 512 * KIB
"""What mdadm and bcache take themselves, for a chunk and for a bucket."""
LEAST_CHUNK_BYTES = 64 * KIB
ONE_DRIVE = "takes several drives"


def _kib(value: int) -> str:
    return f"{value // KIB}K"


def _striped(facts: Facts) -> Worked:
    found, text = facts.n90()
    value = pow2(max(LEAST_CHUNK_BYTES, up(found, PAGE_BYTES)))
    return Worked(value, f"{text}; the power of two at or above is {size(value)}")


def _parity(facts: Facts) -> Worked:
    value = math.lcm(CHUNK_BYTES, facts.unit_bytes)
    return Worked(value, f"lcm(512 KiB, RMW unit {size(facts.unit_bytes)}) = {size(value)}")


def _mdadm(level: int, least: int, facts: Facts, value: int) -> str:
    others = " ".join(f"/dev/OTHER{number}" for number in range(1, least))
    return (
        f"mdadm --create /dev/md0 --level={level} --raid-devices={least} --chunk={_kib(value)} "
        f"{shell_word(facts.device)} {others}"
    )


def _bucket(facts: Facts) -> Worked:
    value = pow2(facts.whole(MERGE))
    return Worked(value, f"merge unit {size(facts.whole(MERGE))}")


def _bcache(facts: Facts, value: int) -> str:
    block = _kib(pow2(max(facts.unit_bytes if facts.known(RMW) else 0, PAGE_BYTES)))
    return f"make-bcache -C --bucket {_kib(value)} --block {block} {shell_word(facts.device)}"


KNOBS = (
    Knob(
        "mdadm",
        "chunk (RAID-0, RAID-10)",
        (N90,),
        "the power of two at or above max(64 KiB, n90)",
        _striped,
        lambda facts, value: _mdadm(0, 2, facts, value),
        _kib,
        CHUNK_BYTES,
        no_stream=ONE_DRIVE,
    ),
    Knob(
        "mdadm",
        "chunk (RAID-5, RAID-6)",
        (RMW,),
        "a multiple of 512 KiB and of the RMW unit",
        _parity,
        lambda facts, value: _mdadm(5, 3, facts, value),
        _kib,
        CHUNK_BYTES,
        no_stream=ONE_DRIVE,
    ),
    Knob(
        "bcache",
        "bucket",
        (MERGE,),
        "bucket = merge unit, block = RMW unit",
        _bucket,
        _bcache,
        _kib,
        CHUNK_BYTES,
        lambda facts, value: random_writes(value, starts_bytes=facts.start_bytes),
        lambda _facts, formula: doublings(CHUNK_BYTES, 2 * formula),
        also=(RMW,),
        at_most="for writes to the cache that fill whole buckets",
    ),
)
