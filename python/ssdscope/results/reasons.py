"""Why the system refuses a file, and what helps: a hint for each reason, in one place."""

import errno
import os

_ANOTHER = "name another place"
_HINTS = {
    errno.ENOSPC: f"free some space, or {_ANOTHER}",
    errno.EDQUOT: f"the quota of this user is used up: remove some files, or {_ANOTHER}",
    errno.EROFS: f"the file system is mounted read-only: {_ANOTHER}",
    errno.EACCES: f"this user may not write there: change the permissions, or {_ANOTHER}",
    errno.EPERM: f"the file may be marked as immutable (lsattr shows it): {_ANOTHER}",
    errno.EFBIG: "a file may not grow so large there: raise ulimit -f, or name a place on another "
    "file system",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EIO: f"the disk below it fails (dmesg says more): {_ANOTHER}",
    errno.ENODEV: f"the disk below it is gone: {_ANOTHER}",
    errno.ENXIO: f"nothing is behind that name: {_ANOTHER}",
    errno.EMFILE: "too many files are open: raise ulimit -n",
    errno.ENFILE: "too many files are open on this machine",
    errno.ENOMEM: "memory is short: close something, or run it on a larger machine",
    errno.ELOOP: f"the links lead in a circle: {_ANOTHER}",
    errno.ETXTBSY: f"it is a program that runs: {_ANOTHER}",
    errno.ESTALE: f"the network file system has lost it: {_ANOTHER}",
}


def reason(failure: OSError) -> str:
    """Say why, in the system's words."""
    return os.strerror(failure.errno) if failure.errno else str(failure)


def hint(failure: OSError) -> str:
    """Say what helps where a file cannot be written."""
    return known_hint(failure) or _ANOTHER


def known_hint(failure: OSError) -> str | None:
    """Say what helps, where the reason alone says so."""
    return _HINTS.get(failure.errno or 0)
