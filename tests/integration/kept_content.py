"""Scratch targets and somebody's data for tests, and whether the data are still what they were."""

import hashlib
import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

MIB = 2**20


def digest(*paths: str | Path) -> str:
    """One hash over the content of some files or devices."""
    whole = hashlib.sha256()
    for path in paths:
        with Path(path).open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def zeros(path: Path, size_bytes: int = MIB) -> Path:
    """Make a file that may be written: it has room, and holds nothing."""
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(bytes(size_bytes))
    return path


def holes(path: Path, size_bytes: int = 16 * MIB) -> Path:
    """Make a file that takes no room."""
    with path.open("wb") as file:
        file.truncate(size_bytes)
    return path


def precious(path: Path, size_bytes: int = MIB) -> Path:
    """Make a file full of somebody's data."""
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(hashlib.shake_256(b"years of work").digest(size_bytes))
    return path


def put(path: str | Path, offset_bytes: int, data: bytes) -> None:
    """Write into a file or device, and let nothing wait in the page cache of a device."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.pwrite(handle, data, offset_bytes)
        os.fsync(handle)
    finally:
        os.close(handle)


def await_first_write(process: subprocess.Popen[str], file: Path) -> None:
    """Wait until a file without any room has some, as far as that is seen without opening it."""
    end = time.monotonic() + 30
    while file.stat().st_blocks == 0:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "it began to write"
        time.sleep(0.005)


def written(cli: Callable[..., Any], target: str | Path, token: str, *words: str) -> Any:
    """Try to write, four requests if nothing else is said, with every leave that words give."""
    asked = words if "--rw" in words else ("--rw", "write", "--number-ios", "4", *words)
    return cli("run", str(target), *asked, "--seed", "1", "--destroy-data", token)


ALL = ("--overwrite-existing", "--allow-virtual")
"""Every option that gives a leave: no case of use may be overridden by them."""


def assert_refused(said: Any, *says: str, status: int = 2) -> None:
    """Refused: by its exit code, with one hint, and with one of these expressions in its words."""
    assert said.status == status, f"exit code {said.status}: {said.err}"
    assert "Traceback" not in said.err
    assert said.err.count("hint: ") == 1, said.err
    assert re.search("|".join(says), said.err), said.err


def assert_ends_refused(process: subprocess.Popen[str], *says: str, status: int = 2) -> None:
    """Refused, by a command of its own, which might go on for ever instead."""
    try:
        out, err = process.communicate(timeout=10)
    finally:
        process.kill()
        process.communicate()
    assert_refused(
        SimpleNamespace(status=process.returncode, out=out, err=err), *says, status=status
    )
