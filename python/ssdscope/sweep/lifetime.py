"""Binds a process to the life of the one that began it: the kernel kills it when that ends."""

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> None:
    """Let the kernel kill this process as soon as its parent ends, by SIGKILL too.

    Parameters
    ----------
    parent
        The process that began this one. If it has ended by now, this one ends here.
    """
    # The flag holds only for an end that is still to come: set it first, then look.
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
