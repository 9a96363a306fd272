"""What is true of hard disks, alone or side by side in an array: findings of their own."""

from collections.abc import Mapping, Sequence

from ssdscope.recovery.observability import Visibility
from ssdscope.recovery.shape import Values, number
from ssdscope.recovery.truth import ABSENT, KINDS, NO_ONE, Kind, Truth

DISK_KINDS: dict[str, Kind] = {
    "rotation_ns": Kind.NUMERIC,
    "seek_track_ns": Kind.NUMERIC,
    "seek_full_ns": Kind.NUMERIC,
    "disk_cache_bytes": Kind.NUMERIC,
    "disk_cache_segments": Kind.EXACT,
}
"""What a hard disk has, in the order of the contract."""
EVERY_KIND: Mapping[str, Kind] = {**KINDS, **DISK_KINDS}
_MINUTE_NS = 60_000_000_000
_TOGETHER = ("disk_cache_bytes", "disk_cache_segments")
"""What members of an array have each for itself, so that all of them together have more."""


def truths_of_disks(members: Sequence[Values]) -> dict[str, Truth]:
    """Give the truths of a hard disk, or of a RAID-0 array of some.

    A request for one place moves one arm: spindle and arms of like disks show as those of one.
    What unlike disks do not have in common has no single truth.
    """
    each = [_of_one(values) for values in members]
    first, count = each[0], len(members)
    if any(other != first for other in each):
        return {
            name: first[name] if all(one[name] == first[name] for one in each) else NO_ONE
            for name in DISK_KINDS
        }
    return {
        name: Truth(count * int(truth.value or 0)) if name in _TOGETHER and truth.present else truth
        for name, truth in first.items()
    }


def _of_one(values: Values) -> dict[str, Truth]:
    cache = number(values, "disk.read_cache_bytes")
    return {
        "rotation_ns": Truth(round(_MINUTE_NS / number(values, "disk.rpm"))),
        "seek_track_ns": Truth(number(values, "disk.seek_track_ns")),
        "seek_full_ns": Truth(number(values, "disk.seek_full_ns")),
        "disk_cache_bytes": Truth(cache) if cache else ABSENT,
        "disk_cache_segments": Truth(number(values, "disk.read_cache_segments", 16))
        if cache
        else ABSENT,
    }


def visible_of_disks(members: Sequence[Values]) -> dict[str, Visibility]:
    """Say whether each can be told: beside what a request takes that moves no arm.

    A host can switch the caches of a disk off, and wait for each request: so nothing is masked.
    What a cache saves is half a revolution on average.
    """
    values, truths = members[0], truths_of_disks(members)
    still_ns = number(values, "host.firmware_ns") + number(values, "host.command_ns")
    rotation_ns = _MINUTE_NS / number(values, "disk.rpm")
    moves_ns = {
        "rotation_ns": rotation_ns,
        "seek_track_ns": number(values, "disk.seek_track_ns"),
        "seek_full_ns": number(values, "disk.seek_full_ns"),
    }
    return {
        name: Visibility((), moves_ns.get(name, rotation_ns / 2) / still_ns)
        for name, truth in truths.items()
        if truth.present and truth != NO_ONE
    }
