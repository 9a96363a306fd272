"""Attributes of the disk beneath a target: read always, set for a while where that is asked for.

The native module holds the fixed list of what may be set, and the journal by which it comes back
(docs/quiet.md). It sets everything back when a `QuietQueue` is left, and at the latest when the
process ends; `restore_left` does it for one that was killed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ssdscope import _native
from ssdscope.errors import UsageError
from ssdscope.targets.device import translated_errors

QUIET_VALUES = {"scheduler": "none", "nomerges": "2", "wbt_lat_usec": "0", "iostats": "1"}
"""What measuring asks of a queue: requests go on as they come, alone, not held back, counted."""


@dataclass(frozen=True)
class Restored:
    """What became of one attribute, or of a whole journal where `setting` is None.

    Attributes
    ----------
    outcome
        ``restored``, ``unchanged``, ``left_alone``, ``failed``, ``in_use``, ``obsolete`` or
        ``refused``.
    detail
        The values, or the reason.
    """

    disk: str
    setting: str | None
    outcome: str
    detail: str

    def in_words(self) -> str:
        """Say it in a line."""
        what = self.disk if self.setting is None else f"{self.disk}: {self.setting}"
        return f"{what} {self.outcome.replace('_', ' ')}: {self.detail}"


def restore_left() -> list[Restored]:
    """Set back what killed processes have left; nothing happens the second time.

    Raises
    ------
    DeviceError
        If the folder of journals cannot be trusted.
    """
    with translated_errors():
        return _restored(_native.restore_attributes())


def disk_beneath(uri: str) -> str | None:
    """Give the kernel's name of the disk that a path lies on; None if it is no path, or no disk."""
    path = Path(uri)
    return _native.disk_beneath(str(path)) if path.exists() else None


def read_attributes(disk: str) -> dict[str, str]:
    """Read those attributes of a disk that ssdscope may set."""
    with translated_errors():
        values: dict[str, str] = json.loads(_native.read_attributes(disk))
    return values


class QuietQueue:
    """Sets the queue of a disk for measuring, until it is left.

    Parameters
    ----------
    uri
        The target. What it does not have, or has already, is left as it is.

    Attributes
    ----------
    changed
        Attribute to the value before and the value set.

    Raises
    ------
    UsageError
        If the target lies on no disk.
    DeviceError
        If this user may not, or another ssdscope has set attributes of that disk.
    """

    def __init__(self, uri: str) -> None:
        disk = disk_beneath(uri)
        if disk is None:
            raise UsageError(
                f"{uri}: lies on no disk whose queue could be set",
                hint="leave --quiet-queue out; it is for disks and files on them",
            )
        self.disk = disk
        self.changed: dict[str, tuple[str, str]] = {}
        with translated_errors():
            there = read_attributes(disk)
            self._native = _native.attributes(disk)
            for name, value in QUIET_VALUES.items():
                if there.get(name, value) == value:
                    continue
                before = self._native.set(name, value)
                if before is not None:
                    self.changed[name] = (before, value)

    def restore(self) -> list[Restored]:
        """Set everything back; a second call does nothing."""
        with translated_errors():
            return _restored(self._native.restore())

    def __enter__(self) -> Self:
        """Keep it set."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Set everything back."""
        self.restore()


def _restored(text: str) -> list[Restored]:
    rows: list[dict[str, Any]] = json.loads(text)
    return [Restored(**row) for row in rows]
