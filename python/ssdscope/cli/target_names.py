"""Completion of targets: the drives that ship, other kinds, and files."""

import os

_OTHERS = {
    "raid0:": "RAID-0 of targets, as in raid0:A,B?chunk=64k",
    "null:": "completes everything at once",
}
_BEFORE_MEMBER = (",", "raid0:", "(")


def complete_target(incomplete: str) -> list[tuple[str, str]]:
    """Offer the targets that begin with what is typed.

    Where no name does, nothing is offered, and the shell completes names of files itself.
    """
    head = _before_last_member(incomplete)
    begun = incomplete.removeprefix(head)
    names = {f"sim:{name}": text for name, text in _presets().items()} | _OTHERS
    found = [(head + name, text) for name, text in names.items() if name.startswith(begun)]
    if not found or head:
        return found
    return [*found, *((path, "") for path in _files(incomplete))]


def complete_drive(incomplete: str) -> list[tuple[str, str]]:
    """Offer the drives that ship, with or without ``sim:``."""
    prefix = "sim:" if incomplete.startswith("sim:") else ""
    named = ((prefix + name, text) for name, text in _presets().items())
    return [(name, text) for name, text in named if name.startswith(incomplete)]


def _presets() -> dict[str, str]:
    from ssdscope.targets.presets import preset_description, preset_names

    return {name: preset_description(name) for name in preset_names()}


def _before_last_member(incomplete: str) -> str:
    """Give what stands before the member of an array that is being typed."""
    if not incomplete.startswith("raid0:"):
        return ""
    ends = [incomplete.rfind(mark) + len(mark) for mark in _BEFORE_MEMBER if mark in incomplete]
    return incomplete[: max(ends)]


def _files(incomplete: str) -> list[str]:
    """List files and folders here that begin so, hidden ones only if asked for."""
    try:
        with os.scandir() as found:
            entries = sorted((each.name, each.is_dir()) for each in found)
    except OSError:
        return []
    return [
        f"{name}/" if folder else name
        for name, folder in entries
        if name.startswith(incomplete) and (incomplete or not name.startswith("."))
    ]
