"""Files of ours at places the user named: whole or not at all, and never instead of a device.

A file is written beside its place and renamed over it, so that nobody reads half of it. A
rename would also put a plain file where ``/dev/null`` or a named pipe is; what exists and is
no plain file is therefore written into, as is what stdout leads to, and a link leads to what it
names. What may be replaced at all says `results.guard`.
"""

import contextlib
import io
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ssdscope.errors import OutputError, UsageError
from ssdscope.results import reasons
from ssdscope.targets.names import printable

_NAME_KEPT = 40
_OWN_STREAMS = (1, 2)


def destination(path: str | Path) -> Path:
    """Resolve a place for a file, before anything is measured for it.

    Raises
    ------
    UsageError
        If no file can be there.
    """
    if not str(path).strip() or str(path) == ".":
        raise UsageError(f"cannot write {str(path)!r}: it is not the name of a file")
    try:
        place = Path(path).resolve()
        if Path(path).exists() and not place.exists():
            return Path(path)  # a link of the kernel's, as /dev/stdout into a pipe
        if place.is_dir():
            raise UsageError(f"cannot write {path}: it is a folder", hint="name a file inside it")
        if not place.parent.is_dir():
            raise UsageError(f"cannot write {path}: there is no folder {Path(path).parent}")
        place.exists()
    except OSError as error:
        why, hint = reasons.reason(error), reasons.hint(error)
        raise UsageError(f"cannot write {path}: {why}", hint=hint) from error
    except (RuntimeError, ValueError) as error:  # links in a circle, or a NUL in the name
        raise UsageError(f"cannot write {path}: {error}") from error
    return place


def is_special(path: Path) -> bool:
    """Say whether something stands there that is no plain file: a device, a pipe, our stdout."""
    return path.exists() and (not path.is_file() or _own_stream(path) is not None)


def _own_stream(place: Path) -> int | None:
    """Give the stream of ours that leads to a place, as ``/dev/stdout`` in ``> page.html``."""
    for stream in _OWN_STREAMS:
        with contextlib.suppress(OSError):
            if os.path.samestat(place.stat(), os.fstat(stream)):
                return stream
    return None


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, as `write_bytes` does."""
    write_bytes(path, printable(text).encode())


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file, at once where that is possible, as `whole_file` does."""
    with whole_file(path) as file:
        file.write(content)


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Give a file to write into, which is at its place when all of it is written.

    Raises
    ------
    UsageError
        If no file can be there.
    OutputError
        If it cannot be written; what was there before is untouched.
    """
    place = destination(path)
    part = None if is_special(place) else new_beside(place)
    try:
        if part is None:
            stream = _own_stream(place)
            with open(place if stream is None else stream, "wb", closefd=stream is None) as file:
                yield file
            return
        with part.open("xb") as file:
            yield file
        if place.exists():
            shutil.copymode(place, part)
        part.replace(place)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        if part is not None:
            with contextlib.suppress(OSError):
                part.unlink()


def new_beside(place: Path) -> Path:
    """Name a file beside a place, which is not there yet."""
    return place.with_name(f"{place.name[:_NAME_KEPT]}.{secrets.token_hex(4)}.part")


@contextlib.contextmanager
def creating(path: Path) -> Iterator[IO[str]]:
    """Give a text to write a table into, which is a file when it is whole.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    from ssdscope.results.marks import remember

    text = io.StringIO(newline="")
    yield text
    write_text(path, text.getvalue())
    remember(path)


def unwritable(path: str | Path, error: OSError) -> OutputError:
    """Say that a file cannot be written, and why."""
    return OutputError(f"cannot write {path}: {reasons.reason(error)}", hint=reasons.hint(error))
