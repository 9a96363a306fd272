"""Drives put together: md arrays, bcache."""

from ssdscope.advise.facts import MERGE, N90, PAGE_BYTES, RMW, Facts, doublings, up
from ssdscope.advise.facts import power_of_two as pow2
from ssdscope.advise.knobs.knob import Knob, Worked
from ssdscope.advise.streams import KIB, MIB, random_writes, size
from ssdscope.targets.names import shell_word

CHUNK_BYTES = 512 * KIB
"""What mdadm and bcache take themselves, for a chunk and for a bucket."""
LEAST_CHUNK_BYTES = 64 * KIB
MOST_BUCKET_BYTES, LEAST_BUCKETS = 16 * MIB, 513
"""Of bcache's superblock; and of its driver, which keeps a 1,024th of the next power of two free.

The tool is content with 128 buckets, and the driver then refuses the cache.
"""
MDADM = "mdadm 4.2"
ONE_DRIVE = "takes several drives"


def _kib(value: int) -> str:
    return f"{value // KIB}K"


def _striped(facts: Facts) -> Worked:
    found, text = facts.n90()
    value = pow2(max(LEAST_CHUNK_BYTES, up(found, PAGE_BYTES)))
    return Worked(value, f"{text}; the power of two at or above is {size(value)}")


def _parity(facts: Facts) -> Worked:
    value = pow2(max(CHUNK_BYTES, facts.unit_bytes))
    text = f"max(512 KiB, RMW unit {size(facts.unit_bytes)}); the power of two is {size(value)}"
    return Worked(value, text)


def _mdadm(level: int, least: int, facts: Facts, value: int) -> str:
    others = " ".join(f"/dev/OTHER{number}" for number in range(1, least))
    return (
        f"mdadm --create /dev/md0 --level={level} --raid-devices={least} --chunk={_kib(value)} "
        f"{shell_word(facts.device)} {others}"
    )


def _most_bucket(facts: Facts) -> int:
    """Return the largest bucket that the cache may have."""
    if not facts.capacity_bytes:
        return MOST_BUCKET_BYTES
    fits = max(PAGE_BYTES, facts.capacity_bytes // (LEAST_BUCKETS + 1))
    return min(MOST_BUCKET_BYTES, 1 << (fits.bit_length() - 1))


def _bucket(facts: Facts) -> Worked:
    merge, most = facts.whole(MERGE), _most_bucket(facts)
    value = min(pow2(max(merge, PAGE_BYTES)), most)
    over = f", at most {size(most)}" if merge > most else ""
    return Worked(value, f"merge unit {size(merge)}{over}")


def _bcache(facts: Facts, value: int) -> str:
    # The driver takes no block above a page, whatever the tool writes.
    bucket, block = _kib(value), _kib(PAGE_BYTES)
    return f"make-bcache -C --bucket {bucket} --block {block} {shell_word(facts.device)}"


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
        MDADM,
        no_stream=ONE_DRIVE,
    ),
    Knob(
        "mdadm",
        "chunk (RAID-5, RAID-6)",
        (RMW,),
        "the power of two at or above max(512 KiB, RMW unit)",
        _parity,
        lambda facts, value: _mdadm(5, 3, facts, value),
        _kib,
        CHUNK_BYTES,
        MDADM,
        no_stream=ONE_DRIVE,
    ),
    Knob(
        "bcache",
        "bucket",
        (MERGE,),
        "bucket = the power of two at or above the merge unit, at most 16 MiB and a 514th of the "
        "drive; block = a page of memory",
        _bucket,
        _bcache,
        _kib,
        CHUNK_BYTES,
        "bcache-tools 1.0.8",
        lambda facts, value: random_writes(value, starts_bytes=facts.start_bytes),
        lambda facts, formula: doublings(CHUNK_BYTES, min(2 * formula, _most_bucket(facts))),
        at_most="for writes to the cache that fill whole buckets",
    ),
)
