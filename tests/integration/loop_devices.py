"""Loop devices of our own, for tests that need a block device which may be lost."""

import errno
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NEEDS_LOOP_DEVICES = [
    pytest.mark.skipif(os.geteuid() != 0, reason="a loop device needs root"),
    pytest.mark.skipif(shutil.which("losetup") is None, reason="losetup is not installed"),
]


def needs_loop_devices(test: Any) -> Any:
    """Mark one test of a file whose others need none."""
    for mark in NEEDS_LOOP_DEVICES:
        test = mark(test)
    return test


def done(*words: str | Path, stdin: str | None = None) -> str:
    """Run a tool that must succeed; a test that lacks it is skipped and says so."""
    if shutil.which(str(words[0])) is None:
        pytest.skip(f"{words[0]} is not installed")
    ran = subprocess.run(
        list(map(str, words)), input=stdin, capture_output=True, text=True, timeout=60, check=False
    )
    if ran.returncode and os.strerror(errno.ENOTCONN) in ran.stderr:
        # mkfs.btrfs looks at every mount of the machine before it writes into a file.
        pytest.skip(f"{words[0]} refuses because of a dead mount on this machine: {ran.stderr}")
    assert ran.returncode == 0, f"{words}: {ran.stderr}"
    return ran.stdout.strip()


@contextmanager
def attached(image: Path, *options: str) -> Iterator[str]:
    """Attach a loop device to a file, and detach it whatever happens."""
    made = subprocess.run(
        ["losetup", "--find", "--show", *options, str(image)],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip(f"no loop device here: {made.stderr.strip()}")
    device = made.stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True, timeout=30)


@contextmanager
def mounted(device: str, at: Path) -> Iterator[Path]:
    """Mount a device, and unmount it whatever happens."""
    at.mkdir()
    tried = subprocess.run(["mount", device, str(at)], capture_output=True, text=True, timeout=30)
    if tried.returncode:
        pytest.skip(f"cannot mount here: {tried.stderr.strip()}")
    try:
        yield at
    finally:
        for _ in range(10):
            if subprocess.run(["umount", str(at)], timeout=30).returncode == 0:
                break
            time.sleep(0.1)  # whoever had a file open lets go of it in a moment
        else:
            raise RuntimeError(f"{at} stays mounted")
