"""Attributes of the kernel's queue, and discards."""

from pathlib import Path

from ssdscope.advise.facts import (
    INTERLEAVE,
    KNEE,
    MERGE,
    N90,
    RECLAIM,
    RMW,
    SECTOR_BYTES,
    TRIM,
    Facts,
    doublings,
    up,
)
from ssdscope.advise.gains import USED, Gain
from ssdscope.advise.knobs.knob import Knob, Worked
from ssdscope.advise.streams import KIB, MIB, random_reads, sequential_reads, size
from ssdscope.findings import PROPERTIES, Detected
from ssdscope.targets.names import shell_word

READ_AHEAD_BYTES, MOST_READ_AHEAD_BYTES = 128 * KIB, 8 * MIB
LEAST_QUEUE, MOST_QUEUE = 4, 1024
MOST_TRIM_BYTES = 128 * MIB
"""What ext4 takes: a group of blocks. It refuses to look for larger free space."""


def _read_ahead(facts: Facts) -> Worked:
    found, text = facts.n90()
    lanes = facts.lanes_bytes
    value = up(found, lanes)
    return Worked(value, f"{text}, in whole {size(lanes)}: {value // SECTOR_BYTES} sectors")


def _read_ahead_today(facts: Facts) -> int | None:
    kib = facts.today("read_ahead_kb")
    return None if kib is None else kib * KIB


def _queue(facts: Facts) -> Worked:
    value, text = max(LEAST_QUEUE, facts.depth), f"queue-depth knee {facts.number(KNEE):.4g}"
    today = facts.today("nr_requests")
    if today is not None and value > today:
        return Worked(today, f"{text}; the queue takes {today}")
    return Worked(value, text)


def _queue_file(facts: Facts) -> str:
    """Return the attribute's file; a partition has the queue of its disk, a link its target's."""
    name = facts.device.removeprefix("/dev/")
    if (there := Path(facts.device)).exists():
        name = there.resolve().name
    if Path(f"/sys/class/block/{name}/partition").exists():
        name = Path(f"/sys/class/block/{name}").resolve().parent.name
    return shell_word(f"/sys/block/{name}/queue/nr_requests")


def _limit_queue(facts: Facts, value: int) -> str:
    """Lower the limit: without a scheduler the kernel refuses more than the drive takes."""
    file = _queue_file(facts)
    lowers = f"echo {value} > {file}"
    if facts.today("nr_requests") is not None:
        return lowers
    return f'[ "$(cat {file})" -le {value} ] || {lowers}'


def _depths(facts: Facts, _formula: int) -> list[int]:
    today = facts.today("nr_requests")
    return doublings(LEAST_QUEUE, MOST_QUEUE if today is None else max(today, LEAST_QUEUE))


def _least_discard(facts: Facts) -> Worked:
    for name in (MERGE, RMW):
        if facts.known(name):
            value = min(max(facts.whole(name), MIB), MOST_TRIM_BYTES)
            over = ", at most 128 MiB" if value < facts.whole(name) else ""
            unit = f"{PROPERTIES[name].name} {size(facts.whole(name))}"
            return Worked(value, f"max(1 MiB, {unit}){over}")
    return Worked(MIB, "1 MiB, as no unit is known")


def _trimmed(facts: Facts) -> Gain | None:
    """Give what the probe measured: settled random writes without discards, and with them."""
    finding = facts.findings[TRIM]
    if not isinstance(finding, Detected) or finding.interval is None:
        return None
    noted = finding.evidence.figures
    share = noted.get("discarded_share")
    free = f"{share:.0%} of the drive" if isinstance(share, float) else "a part of the drive"
    before, after = (float(noted.get(key) or 0) / 4096 for key in ("before_ns", "after_ns"))
    ratio = float(finding.value)
    return Gain(
        ratio, *finding.interval, "random writes, nothing discarded",
        f"the same, {free} discarded", before, after, "drive", USED,
        f"if {free} is free and fstrim discards it: less free space gains less",
    )  # fmt: skip


KNOBS = (
    Knob(
        "linux",
        "read-ahead",
        (N90,),
        "n90 rounded up to whole interleaved units (4 KiB if not known), in 512-byte sectors",
        _read_ahead,
        lambda facts, value: f"blockdev --setra {value // SECTOR_BYTES} {shell_word(facts.device)}",
        lambda value: str(value // SECTOR_BYTES),
        READ_AHEAD_BYTES,
        "Linux 6.1",
        lambda _facts, value: sequential_reads(value),
        lambda _facts, _formula: doublings(READ_AHEAD_BYTES, MOST_READ_AHEAD_BYTES),
        also=(INTERLEAVE,),
        at_most="for files that are read in order and are not in RAM",
        today=_read_ahead_today,
    ),
    Knob(
        "linux",
        "nr_requests",
        (KNEE,),
        "the queue-depth knee, at most what the queue takes; deeper queues only add waiting",
        _queue,
        _limit_queue,
        stream=lambda _facts, value: random_reads(4 * KIB, value),
        candidates=_depths,
        # The kernel's own is what the drive takes, or twice that: it differs by drive.
        today=lambda facts: facts.today("nr_requests"),
        at_most="if so many random reads are always waiting",
    ),
    Knob(
        "linux",
        "fstrim --minimum",
        (TRIM,),
        "discards of at least a unit that is freed as a whole: merge unit or RMW unit, 1 MiB "
        "or more, 128 MiB or less",
        _least_discard,
        lambda _facts, value: f"fstrim --minimum {value} /MOUNTPOINT",
        default=None,
        gain=_trimmed,
        also=(MERGE, RMW, RECLAIM),
    ),
)
