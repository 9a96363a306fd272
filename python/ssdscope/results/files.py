"""Files of ours at places the user named: whole or not at all, and never instead of a device.

A file is written without a name and put at its place when it is whole, so that nobody reads half of
it (`results.publishing`). That would also put a plain file where ``/dev/null`` or a named pipe is;
what exists and is no plain file is therefore written into, as is what stdout leads to, and a link
leads to what it names. What may be replaced at all says `results.guard`.
"""

import contextlib
import io
import os
import zipfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import IO

from ssdscope.errors import OutputError, UsageError
from ssdscope.results import reasons
from ssdscope.results.claims import Claim, claim_of, own_stream
from ssdscope.results.marks import MADE_BY, is_ours, lists
from ssdscope.results.publishing import Part, publish
from ssdscope.targets.names import printable

_TOGETHER: ContextVar["Together | None"] = ContextVar("together", default=None)


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
    return path.exists() and (not path.is_file() or own_stream(path.stat()) is not None)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, as `write_bytes` does."""
    write_bytes(path, printable(text).encode())


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file, at once where that is possible, as `whole_file` does."""
    with whole_file(path) as file:
        file.write(content)


def write_archive(path: str | Path, content: bytes) -> None:
    """Write a zip archive, with our mark as its comment."""
    marked = io.BytesIO(content)
    with zipfile.ZipFile(marked, "a") as archive:
        archive.comment = MADE_BY.encode()
    write_bytes(path, marked.getvalue())


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Give a file to write into, which is at its place when all of it is written.

    Raises
    ------
    UsageError
        If no file can be there, or another process writes one there.
    OutputError
        If it cannot be written; what was there before is untouched.
    """
    with Together() as alone, alone.file(path) as file:
        yield file


@contextlib.contextmanager
def together() -> Iterator[None]:
    """Let pictures and tables that are made inside appear together, or none of them."""
    with Together() as several:
        token = _TOGETHER.set(several)
        try:
            yield
        finally:
            _TOGETHER.reset(token)


class Together:
    """Files that belong together: leaving it puts all at their places, an error none.

    Use as a context manager.

    Raises
    ------
    UsageError
        If no file can be at a place, or another process writes there.
    OutputError
        If one cannot be written; what was there before is untouched.
    """

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._tables: dict[Path, bytes] = {}
        self._removed: list[Claim] = []
        self._open = contextlib.ExitStack()

    def __enter__(self) -> "Together":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_about: object) -> None:
        try:
            if kind is None:
                self.publish()
        except OSError as error:
            raise unwritable(error.filename, error) from error
        finally:
            self.let_go()

    def publish(self) -> None:
        """Put all at their places.

        Raises
        ------
        OSError
            If the disk is full or failing; what was there before is untouched.
        """
        self._list_tables()
        publish(self._parts, self._removed)

    def let_go(self) -> None:
        """Close what is open; what is not at its place is gone."""
        for part in self._parts:
            part.close()
        self._open.close()

    def claim(self, path: str | Path) -> Claim:
        """Give the claim of a place: that of the command, or one for as long as this."""
        known = claim_of(path)
        if known is not None:
            return known
        claim = self._open.enter_context(Claim(path, destination(path)))
        # In the folder of a command nothing but ours has passed its guard.
        guarded = claim_of(Path(path).parent) is not None and not claim.special
        if guarded and claim.was is not None and not is_ours(claim.place, claim.content):
            raise OutputError(
                f"cannot write {path}: something was put there that ssdscope did not write",
                hint="name another folder",
            )
        return claim

    def part(self, path: str | Path) -> Part:
        """Begin a file.

        Raises
        ------
        OSError
            If there can be none.
        """
        part = Part(self.claim(path))
        self._parts.append(part)
        return part

    @contextlib.contextmanager
    def file(self, path: str | Path) -> Iterator[IO[bytes]]:
        """Give a file to write into; what is no plain file is written into at once."""
        claim = self.claim(path)
        try:
            if claim.special:
                with _opened_special(claim) as file:
                    yield file
            else:
                yield self.part(path).file
        except OutputError:
            raise
        except OSError as error:
            raise unwritable(path, error) from error

    def write(self, path: str | Path, content: bytes) -> None:
        """Write a file."""
        with self.file(path) as file:
            file.write(content)

    def table(self, path: Path, content: bytes) -> None:
        """Write a table. It has no room for a mark: a list in its folder says that it is ours."""
        self.write(path, content)
        self._tables[path] = content

    def remove(self, path: str | Path) -> None:
        """Remove a file when the others are at their places."""
        self._removed.append(self.claim(path))

    def _list_tables(self) -> None:
        """Note the tables before they are there: a crash in between leaves none that is strange."""
        for path, content in lists(self._tables).items():
            self.write(path, content)
            self._parts.insert(0, self._parts.pop())


@contextlib.contextmanager
def _opened_special(claim: Claim) -> Iterator[IO[bytes]]:
    """Open what is no plain file, if it is what was judged."""
    stream = own_stream(claim.content.stat())
    if stream is not None:
        with open(stream, "wb", closefd=False) as file:
            yield file
        return
    opened = os.open(claim.content, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(opened, "wb") as file:
        yield file


def write_with_others(path: str | Path, content: bytes) -> None:
    """Write a file, with others if it is made `together` with them."""
    several = _TOGETHER.get()
    if several is None:
        write_bytes(path, content)
    else:
        several.write(path, content)


@contextlib.contextmanager
def creating(path: Path) -> Iterator[IO[str]]:
    """Give a text to write a table into, which is a file when it is whole.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    text = io.StringIO(newline="")
    yield text
    content = printable(text.getvalue()).encode()
    several = _TOGETHER.get()
    if several is not None:
        several.table(path, content)
        return
    with Together() as alone:
        alone.table(path, content)


def unwritable(path: str | Path, error: OSError) -> OutputError:
    """Say that a file cannot be written, and why."""
    return OutputError(f"cannot write {path}: {reasons.reason(error)}", hint=reasons.hint(error))
