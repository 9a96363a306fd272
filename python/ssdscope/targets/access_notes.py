"""What stands between a real target and its drive, or is left out of it, in words."""

from ssdscope.targets.opening import Target, identify
from ssdscope.units import format_capacity, format_size


def access_notes(target: Target) -> list[str]:
    """Say what a reader must know of how a target is opened; nothing of a simulated one.

    Parameters
    ----------
    target
        Open; of a RAID-0 it is what holds for its members.
    """
    if target.members:
        return [each for member in target.members for each in access_notes(member)]
    access = target.device.access() or {}
    notes = [_who(target)] if target.kind == "block" and target.device.info.writable else []
    if access.get("engine") == "threads":
        notes.append(f"requests go by threads: {access['engine_note']}")
    if window := access.get("window"):
        start, size = window
        notes.append(
            f"of {target.uri} only bytes {start:,} to {start + size - 1:,} ({format_size(size)}) "
            "are read and written; offsets count from there"
        )
    if access.get("preserves_content"):
        notes.append(
            f"{target.uri}: each write writes back what is there, which is read right before, "
            "outside the time that counts; a power cut in the middle of a write may cost a block"
        )
    if doubt := access.get("use_note"):
        notes.append(f"{target.uri}: {doubt}")
    if name := access.get("copy_on_write"):
        notes.append(
            f"warning: {target.uri} lies on {name}, which writes everything to a new place and "
            "may compress it: offsets in the file say nothing about places on the drive"
        )
    return notes


def _who(target: Target) -> str:
    """Say which drive is written to, so that a user can still stop."""
    known = identify(target.place)
    serial = f", serial {known['serial']}" if known["serial"] else ""
    model = known["model"] or known["device_type"] or "a block device"
    size = format_capacity(known["capacity_bytes"])
    return f"{target.uri} is open for writing: {model}, {size}{serial}, token {known['token']}"
