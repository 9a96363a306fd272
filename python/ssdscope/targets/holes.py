"""What of a file was never written: reads of it are answered without the drive."""

import errno
import os

from ssdscope.errors import DeviceError
from ssdscope.targets.opening import Target

WORTH_SAYING = 0.01
"""A smaller share is a crumb."""


def holes_share(target: Target) -> float:
    """Give the share of a file that no place of its drive holds; 0 of what is no file.

    Space that is only set aside (``fallocate``) counts as well: the file system answers zeros.
    A file system that cannot tell says that all of a file is data.

    Parameters
    ----------
    target
        Open; of a RAID-0 it is the members' mean, as all hold the same part of it.

    Raises
    ------
    DeviceError
        If the file cannot be read any more.
    """
    if target.members:
        return sum(holes_share(member) for member in target.members) / len(target.members)
    if target.kind != "file":
        return 0.0
    try:
        opened = os.open(target.place, os.O_RDONLY)
        try:
            return _holes_bytes(opened, target.capacity_bytes) / target.capacity_bytes
        finally:
            os.close(opened)
    except OSError as error:
        raise DeviceError(f"cannot read {target.uri}: {error.strerror}") from error


def in_words(target: Target) -> str | None:
    """Say that reads will not reach the drive, where more than a crumb was never written."""
    share = holes_share(target)
    if share <= WORTH_SAYING:
        return None
    return (
        f"{share:.0%} of {target.uri} was never written; reads of that do not reach the "
        "drive, and say nothing of it: fill the file first, as with dd if=/dev/urandom"
    )


def _holes_bytes(opened: int, size_bytes: int) -> int:
    holes = at = 0
    while at < size_bytes:
        try:
            data_from = min(os.lseek(opened, at, os.SEEK_DATA), size_bytes)
        except OSError as error:
            if error.errno == errno.ENXIO:  # no data behind here
                return holes + size_bytes - at
            raise
        holes += data_from - at
        at = os.lseek(opened, data_from, os.SEEK_HOLE) if data_from < size_bytes else size_bytes
    return holes
