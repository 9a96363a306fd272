"""Other processes that use a file or a device for as long as a test wants, and namespaces for them.

A holder ends when its standard input does, so none outlives the tests; a namespace and its mounts
end with the last process in it.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

OTHER_MOUNTS = ("unshare", "--mount", "--propagation", "private")
OTHER_PROCESSES = (*OTHER_MOUNTS, "--pid", "--fork", "--mount-proc")
"""What a command is put behind to run in namespaces of its own, as in a container."""

NO_CAPABILITIES = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
"""What a command is put behind to be root without any power over other processes."""

TOGETHER = "import ctypes, fcntl, mmap, os, socket, struct, subprocess, sys\n"
READY = "\nprint('ready', flush=True)\nsys.stdin.read()\n"


@contextmanager
def holding(
    program: str, *words: str | Path, within: tuple[str, ...] = ()
) -> Iterator[subprocess.Popen[str]]:
    """Let another process do something, with `words` in ``sys.argv[1:]``, and stay as it is.

    A test is skipped where the machine does not allow it.
    """
    if within and shutil.which(within[0]) is None:
        pytest.skip(f"{within[0]} is not installed")
    process = subprocess.Popen(
        [*within, sys.executable, "-I", "-S", "-c", TOGETHER + program + READY, *map(str, words)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        if process.stdout.readline() != "ready\n":
            _, said = process.communicate(timeout=30)
            pytest.skip(f"cannot prepare this here: {said.strip()[-300:]}")
        yield process
    finally:
        process.communicate(timeout=30)


@contextmanager
def served(socket: Path, *command: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Start a server that makes a socket, and end it."""
    if shutil.which(str(command[0])) is None:
        pytest.skip(f"{command[0]} is not installed")
    process = subprocess.Popen(
        list(map(str, command)), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 30
    try:
        while not socket.exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.01)
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=30)


MOUNT = "subprocess.run(['mount', *sys.argv[1:]], check=True, stderr=2)"
"""A program for a holder in a namespace of its own: it mounts what its words say."""


@contextmanager
def mounted_elsewhere(*words: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Mount something in a mount namespace that only one other process is in."""
    with holding(MOUNT, *words, within=OTHER_MOUNTS) as process:
        yield process


@contextmanager
def mounted_here(at: Path, *words: str | Path) -> Iterator[Path]:
    """Mount something over a folder or file that exists, and undo it."""
    tried = subprocess.run(
        ["mount", *map(str, words), str(at)], capture_output=True, text=True, timeout=30
    )
    if tried.returncode:
        pytest.skip(f"cannot mount here: {tried.stderr.strip()}")
    try:
        yield at
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True, timeout=30)
