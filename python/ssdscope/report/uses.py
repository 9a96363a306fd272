"""For whom the drive is, and for whom not: what it does best and worst among the presets.

Nothing is called fast by itself. A use needs one kind of request; the drive is for it if it does
that better than three quarters of the presets do, measured likewise, and not for it if it does that
worse than three quarters of them. Random writes that go on are held against the drive's own burst.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ssdscope.report import words
from ssdscope.report.nearest import EQUAL, FIGURES, Compared, compared_points, presets
from ssdscope.report.parts import Document, burst_of, measured

MOST = 0.75
"""Of the presets, that are worse in what a drive is for, and better in what it is not for."""
FALL = 2.0
"""Times that a burst is faster than what lasts, from which on the burst says too much."""
NEEDS = {
    "read_iops": "databases and virtual machines that read small records at random",
    "read_ns": "programs that wait for one small read after the other",
    "stream_in": "backups, video and other large files that are read",
    "write_ns": "small writes now and then, as of a desktop",
    "stream_out": "recording and copying large files in bursts",
}
"""By the figure that decides: who needs it."""
REQUESTS = {
    "randread": "random reads", "read": "sequential reads",
    "randwrite": "random writes", "write": "sequential writes",
}  # fmt: skip
LASTING = "databases that write small records at random all day"


@dataclass(frozen=True)
class Use:
    """A sentence of the page, without its first words, and the figure that it rests on."""

    text: str
    key: str


@dataclass(frozen=True)
class Uses:
    """For whom the drive is, and for whom not."""

    fits: list[Use]
    unfit: list[Use]


def uses(document: Document) -> Uses | None:
    """Say for whom the drive is, and for whom not; None where nothing stands out.

    A drive that the machine kept waiting may be better than it looked, so it is called worse by
    nothing that is a bound.
    """
    own = compared_points(document)
    fits, unfit = [], []
    for each in FIGURES:
        if each.key not in own or each.key not in NEEDS:
            continue
        point = own[each.key]
        better, worse, count = ranked(each, float(point[each.field]))
        said = f"{NEEDS[each.key]}: {_does(each, point)}"
        if better >= MOST * count:
            fits.append(Use(f"{said}, better than {better} of {count} presets", each.key))
        elif worse >= MOST * count and not point.get("waited_share"):
            unfit.append(Use(f"{said}, worse than {worse} of {count} presets", each.key))
    unfit += _falls(document)
    return Uses(fits, unfit) if fits or unfit else None


def ranked(of: Compared, value: float) -> tuple[int, int, int]:
    """Count the presets that a value is better than, those that it is worse than, and all."""
    others = [
        float(each["figures"][of.key]) for each in presets().values() if of.key in each["figures"]
    ]
    above = sum(value > EQUAL * other for other in others)
    below = sum(other > EQUAL * value for other in others)
    better, worse = (below, above) if of.is_time else (above, below)
    return better, worse, len(others)


def _does(of: Compared, point: Mapping[str, Any]) -> str:
    """Say what it does: a time, or a rate."""
    requests = f"{REQUESTS[of.rw]} of {words.size(of.block_bytes)}"
    deep = f", {of.iodepth} at a time" if of.iodepth > 1 else ""
    deep += ", in a burst" if "write" in of.rw else ""
    match of.field:
        case "iops":
            return f"{of.bound(point)} {requests} a second{deep}"
        case "mean_ns":
            return f"{requests} take {of.bound(point)} each{deep}"
    return f"{requests} at {of.bound(point)}{deep}"


def _falls(document: Document) -> Iterator[Use]:
    """Say that random writes do not last, where the smallest ones fall most."""
    for kept in measured(document, sort="sustained", rw="randwrite", block_bytes=4096):
        burst = burst_of(document, kept)
        if burst is None or kept["mean_ns"] < FALL * burst["mean_ns"]:
            continue
        fast, slow = (words.iops(each["iops"]) for each in (burst, kept))
        yield Use(
            f"{LASTING}: {fast} random writes of 4 KiB a second become {slow}, with "
            f"{kept['iodepth']} in flight",
            "kept",
        )
        return
