"""A launcher under which the kernel refuses io_uring: a seccomp filter, for this process alone.

    python without_io_uring.py EPERM COMMAND...

The switch ``kernel.io_uring_disabled`` would do the same for every process of the machine.
"""

import ctypes
import errno
import os
import struct
import sys

IO_URING_SETUP = 425
"""The number of the call, on every architecture."""
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
"""Instructions of the filter (linux/bpf_common.h): load a word, compare, return."""
ALLOW, ERRNO = 0x7FFF0000, 0x00050000


class Program(ctypes.Structure):
    """``struct sock_fprog`` of linux/filter.h."""

    _fields_ = (("count", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def forbid(number: int, answer: int) -> None:
    """Have a system call answered by an errno, in this process and those that it starts."""
    instructions = (
        (LOAD, 0, 0, 0),  # the number of the call stands first
        (JUMP_IF_EQUAL, 0, 1, number),
        (RETURN, 0, 0, ERRNO | answer),
        (RETURN, 0, 0, ALLOW),
    )
    code = ctypes.create_string_buffer(
        b"".join(struct.pack("=HBBI", *each) for each in instructions)
    )
    program = Program(len(instructions), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in (
        (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0),
    ):
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), "no seccomp filter here")


if __name__ == "__main__":
    forbid(IO_URING_SETUP, getattr(errno, sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])
