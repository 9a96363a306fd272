"""Renames that never replace what nobody looked at: two names exchanged, or a name that is free.

Python has neither; the C library has both in one call, ``renameat2``. File systems that do not know
it say so.
"""

import ctypes
import errno
import os

_NO_REPLACE, _EXCHANGE = 1, 2
_UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


def exchange(folder: int, one: str, other: str) -> bool:
    """Exchange two names in an open folder, at once; False where the file system cannot.

    Raises
    ------
    OSError
        If it fails.
    """
    return _rename(folder, one, other, _EXCHANGE)


def move(folder: int, old: str, new: str) -> None:
    """Rename a file in an open folder.

    Raises
    ------
    FileExistsError
        If something has the new name.
    OSError
        If it fails otherwise.
    """
    if _rename(folder, old, new, _NO_REPLACE):
        return
    try:
        os.link(old, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except PermissionError:  # no links on this file system
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, dir_fd=folder))
        os.rename(old, new, src_dir_fd=folder, dst_dir_fd=folder)
    else:
        os.unlink(old, dir_fd=folder)


def _rename(folder: int, old: str, new: str, flags: int) -> bool:
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "renameat2"):
        return False
    failed = library.renameat2(folder, os.fsencode(old), folder, os.fsencode(new), flags)
    number = ctypes.get_errno()
    if failed and number in _UNKNOWN:
        return False
    if failed:
        raise OSError(number, os.strerror(number), new)
    return True
