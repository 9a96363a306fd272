"""Files of ours at places the user named: whole or not at all, and never instead of a device.

A text is written beside its place and renamed over it, so that nobody reads half of it. A
rename would also put a plain file where ``/dev/null`` or a named pipe is; what exists and is
no plain file is therefore written into, and a link leads to what it names.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ssdscope.errors import OutputError, UsageError


def destination(path: str | Path) -> Path:
    """Resolve a place for a file, before anything is measured for it.

    Raises
    ------
    UsageError
        If no file can be there.
    """
    if not str(path).strip() or str(path) == ".":
        raise UsageError(f"cannot write {str(path)!r}: it is not the name of a file")
    place = Path(path).resolve()
    if place.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder", hint="name a file inside it")
    if not place.parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {Path(path).parent}")
    return place


def is_special(path: Path) -> bool:
    """Say whether something stands there that is no plain file: a device, a pipe."""
    return path.exists() and not path.is_file()


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, as `write_bytes` does."""
    write_bytes(path, text.encode())


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file, at once where that is possible.

    Raises
    ------
    UsageError
        If no file can be there.
    OutputError
        If it cannot be written; what was there before is untouched.
    """
    place = destination(path)
    part = place if is_special(place) else place.with_name(place.name + ".part")
    try:
        part.write_bytes(content)
        if part != place:
            part.replace(place)
    except OSError as error:
        if part != place:
            with contextlib.suppress(OSError):
                part.unlink()
        raise unwritable(path, error) from error


@contextlib.contextmanager
def creating(path: Path) -> Iterator[IO[str]]:
    """Open a text file to write a table into it.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: str | Path, error: OSError) -> OutputError:
    """Say that a file cannot be written, and why."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    return OutputError(
        f"cannot write {path}: {reason}", hint="free some space, or name another place"
    )
