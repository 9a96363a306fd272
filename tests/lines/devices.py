"""Loop devices with blocks of a size, and the tools that are run on them."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 300


class RefusedError(Exception):
    """A tool refused a line, or did something else than the line says."""


class NotHereError(Exception):
    """This machine lacks what a line is tried with: a tool, a driver, or the rights."""


def need(*tools: str) -> None:
    """Require tools.

    Raises
    ------
    NotHereError
        If one is missing.
    """
    if os.geteuid() != 0:
        raise NotHereError("a loop device needs root")
    for tool in tools:
        if shutil.which(tool) is None:
            raise NotHereError(f"{tool} is not installed")


def ran(*words: str, stdin: str = "") -> str:
    """Run a tool; give what it said.

    Raises
    ------
    RefusedError
        If it failed.
    """
    # Lines are typed in English, and LVM complains of every file that is open.
    environment = {**os.environ, "LC_ALL": "C", "LVM_SUPPRESS_FD_WARNINGS": "1"}
    done = subprocess.run(
        words, input=stdin, capture_output=True, text=True, timeout=PATIENCE_S, env=environment
    )
    if done.returncode:
        raise RefusedError(f"{' '.join(words)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout + done.stderr


def typed(text: str, stdin: str = "") -> str:
    """Type a line into a shell, as it is advised."""
    return ran("sh", "-c", text, stdin=stdin)


@contextmanager
def loop(block_bytes: int, capacity_bytes: int) -> Iterator[str]:
    """Return a loop device that reads as zeros; its file takes no room until it is written."""
    need("losetup")
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "image"
        with image.open("wb") as file:
            file.truncate(capacity_bytes // block_bytes * block_bytes)
        words = ["losetup", "--find", "--show", "--partscan", f"--sector-size={block_bytes}"]
        made = subprocess.run([*words, str(image)], capture_output=True, text=True, timeout=60)
        if made.returncode:
            raise NotHereError(f"no loop device: {made.stderr.strip()}")
        device = made.stdout.strip()
        try:
            yield device
        finally:
            subprocess.run(["losetup", "--detach", device], check=True, timeout=60)


@contextmanager
def mounted(device: str, kind: str = "ext4") -> Iterator[Path]:
    """Make a file system on a device, and mount it."""
    need(f"mkfs.{kind}", "mount")
    words = {"ext4": ["-q", "-F", "-b", "4096"], "xfs": ["-q", "-f"]}[kind]
    ran(f"mkfs.{kind}", *words, device)
    with tempfile.TemporaryDirectory() as folder:
        try:
            ran("mount", device, folder)
        except RefusedError as why:
            raise NotHereError(f"no {kind} in this kernel: {why}") from None
        try:
            yield Path(folder)
        finally:
            ran("umount", folder)


def version(*words: str) -> str:
    """Return the first line that a tool says of itself."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S)
    return (done.stdout + done.stderr).strip().splitlines()[0].strip()
