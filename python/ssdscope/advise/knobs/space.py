"""Room on the drive: spare area, loads in bulk, and how logs are committed."""

import math

from ssdscope import stats
from ssdscope.advise.facts import PSLC, RMW, SPARE, TRIM, Facts, up
from ssdscope.advise.knobs.knob import Knob, Worked
from ssdscope.advise.streams import KIB, MIB, Stream, load, sequential_writes, settled_writes, size
from ssdscope.targets.names import shell_word

WRITE_AMPLIFICATION = 2.5
"""What uniform random writes may cost at most: with 28 % of spare space (PROBING 3.2)."""
COMMIT_BYTES = 4 * KIB
ENDS = 2
"""MiB that the partition tables at both ends take."""
SHARE = 1000
"""The knob's value is in thousandths of the capacity."""


def _left_free(facts: Facts) -> Worked:
    spare = facts.number(SPARE)
    wanted = float(stats.spare_factor(WRITE_AMPLIFICATION)) - 1
    value = max(0, math.ceil(SHARE * (1 - (1 + spare) / (1 + wanted))))
    now = float(stats.write_amplification(1 + spare)) if spare > 0 else math.inf
    text = (
        f"spare space now {spare:.1%}: uniform random writes are amplified {now:.3g} times; "
        f"{wanted:.0%} would make that 2.5"
    )
    return Worked(value, text)


def _partition(facts: Facts, value: int) -> str:
    """Return the line: what may be refused first, then all between both tables is discarded.

    By itself blkdiscard refuses a drive with a table at a terminal; that nobody uses it, sfdisk
    has seen. A size with a unit sfdisk would cut to a drive that is too small: a number of its
    blocks it refuses.
    """
    device, block = shell_word(facts.device), facts.today("logical_block_size")
    whole = facts.capacity_bytes // MIB
    used = max(1, whole * (SHARE - value) // SHARE - ENDS)
    if block:
        line = shell_word(f"start=1MiB, size={used * MIB // block}")
    else:
        line = f'"start=1MiB, size=$(({used} * {MIB} / $(blockdev --getss {device})))"'
    between = f"--offset 1MiB --length {max(1, whole - ENDS)}MiB"
    return f"echo {line} | sfdisk --label gpt {device} && blkdiscard --force {between} {device}"


def _loads(_facts: Facts, size_bytes: int) -> Stream:
    return load(max(MIB, size_bytes // MIB * MIB))


def _commit(facts: Facts) -> Worked:
    value = up(COMMIT_BYTES, facts.unit_bytes)
    return Worked(value, f"4 KiB in whole RMW units of {size(facts.unit_bytes)}")


KNOBS = (
    Knob(
        "spare-area",
        "share left unpartitioned",
        (SPARE, TRIM),
        "the least that makes the write amplification 2.5 under uniform random writes",
        _left_free,
        _partition,
        lambda value: f"{value / 10:g} %",
        0,
        "",
        lambda _facts, value: settled_writes(1 - value / SHARE),
        at_most="for uniform random writes of a drive in use",
    ),
    Knob(
        "bulk-load",
        "bytes between idle periods",
        (PSLC,),
        "no more than the fast region takes",
        lambda facts: Worked(facts.whole(PSLC), f"fast region {size(facts.whole(PSLC))}"),
        lambda _facts, value: f"Load at most {size(value)} in a row, then leave the drive idle.",
        size,
        stream=_loads,
        before=lambda facts, value: _loads(facts, 2 * value),
        typed_in=None,
    ),
    Knob(
        "wal",
        "bytes per group commit",
        (RMW,),
        "4 KiB or more, in whole RMW units",
        _commit,
        lambda _facts, value: f"Gather commits of the log into multiples of {value:,} bytes.",
        default=COMMIT_BYTES,
        stream=lambda facts, value: sequential_writes(
            value, starts_bytes=facts.start_bytes, durable=True
        ),
        typed_in=None,
        at_most="if so many bytes always wait to be committed at once",
    ),
)
