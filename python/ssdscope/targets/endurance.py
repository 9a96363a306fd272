"""How much a target can be written before it is worn out, as far as anybody says so."""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import prod
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from ssdscope.targets.opening import identify

if TYPE_CHECKING:
    from ssdscope.targets.opening import Target

_PAGES = ("channels", "ways", "dies", "planes", "blocks_per_plane", "pages_per_block")


def rated_bytes(target: Target) -> int | None:
    """Give what the flash of a simulated target takes in all its life; None where nobody says.

    All its blocks times ``nand.endurance_erases``: at a write amplification of 1 the host can write
    so much. A hard disk has no such end. A real drive says it by its wear: see `by_wear`.
    """
    if target.members:
        parts = [rated_bytes(member) for member in target.members]
        return sum(part or 0 for part in parts) if all(parts) else None
    if target.kind == "block":
        return by_wear(identify(target.place).get("health") or {})
    nand = (target.drive or {}).get("nand")
    if nand is None:
        return None
    pages = prod(nand[key] for key in _PAGES)
    return int(pages * nand["page_bytes"] * nand["endurance_erases"])


def by_wear(health: Mapping[str, Any]) -> int | None:
    """Give what a drive takes in its life, by what it took for the share of it that is used.

    None if it does not say, or if less than a percent is used. Steps of a percent make this good
    to a factor of two at one percent, and to a tenth at ten.

    Parameters
    ----------
    health
        As `identify` gives it: ``used_percent`` and ``host_bytes_written``.
    """
    used, written = health.get("used_percent"), health.get("host_bytes_written")
    return int(written * 100 / used) if used and written else None


def disk_bytes(target: Target) -> int | None:
    """Give the size of the real drives that a target writes to; None if it writes to none.

    Of a file that is the file system that it lies on: its writes wear all of that.
    """
    sizes: dict[int, int] = {}
    for each in _leaves(target):
        if each.kind not in ("file", "block"):
            continue
        below = os.statvfs(each.place) if each.kind == "file" else None
        size = each.capacity_bytes if below is None else below.f_blocks * below.f_frsize
        found = FilePath(each.place).stat()
        sizes[found.st_dev if each.kind == "file" else found.st_rdev] = size
    return sum(sizes.values()) if sizes else None


def _leaves(target: Target) -> list[Target]:
    return [leaf for member in target.members for leaf in _leaves(member)] or [target]
