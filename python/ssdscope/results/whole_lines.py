"""A text file of whole lines that one process adds to, each at once on disk.

What was begun and not ended when a machine stopped is no line: it is cut off before the next one
is added, and not earlier, for until then the file may turn out to be somebody else's. Two
processes that add at once would mix their lines, so the second is refused. Where the command has
claimed the file (`results.claims`), it is what was judged, or refused.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from ssdscope.errors import UsageError
from ssdscope.results.claims import claim_of, holds, lock
from ssdscope.results.files import is_special, unwritable

ANOTHER = "name another file"
_CHUNK_BYTES = 2**20


class WholeLines:
    """Lines that are there, and more to come.

    Use as a context manager, or call `close`.

    Parameters
    ----------
    path
        The file; created if it is missing.

    Attributes
    ----------
    path
        The file.

    Raises
    ------
    UsageError
        If another process adds to it, it is no plain file, or it holds no line.
    OutputError
        If it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if is_special(path):
            raise UsageError(f"cannot write {path}: it is not a plain file")
        claim = claim_of(path)
        try:
            # Not buffered: what a full disk did not take must not be tried again behind our back.
            opener = None if claim is None else claim.open
            self._file = open(path, "ab", buffering=0, opener=opener)  # noqa: SIM115
        except OSError as error:
            raise unwritable(path, error) from error
        try:
            self._alone()
            same = Path(f"/proc/self/fd/{self._file.fileno()}")
            self._reader = same.open("rb")
        except OSError as error:
            self._file.close()
            raise UsageError(f"cannot read {path}: {error.strerror}", hint=ANOTHER) from error
        except BaseException:
            self._file.close()
            raise
        try:
            size_bytes = self._reader.seek(0, os.SEEK_END)
            self._end = self._held_bytes = self._behind_last_line(size_bytes)
            self._torn = self._end < size_bytes
            if self._torn and not self._end:
                raise UsageError(f"{path} is no journal: it has no whole line", hint=ANOTHER)
        except BaseException:
            self.close()
            raise

    def _alone(self) -> None:
        if not holds(self._file.fileno()):
            lock(self._file.fileno(), self.path)

    def _behind_last_line(self, begin: int) -> int:
        """Find where the last whole line ends, from the end of the file on."""
        while begin:
            end, begin = begin, max(begin - _CHUNK_BYTES, 0)
            self._reader.seek(begin)
            place = self._reader.read(end - begin).rfind(b"\n")
            if place >= 0:
                return begin + place + 1
        return 0

    @property
    def lines(self) -> list[str]:
        """What it held when it was opened."""
        return [line for _, line in self.placed()]

    def placed(self) -> Iterator[tuple[int, str]]:
        """Read what it held when it was opened: line by line, each with where it begins.

        Raises
        ------
        UsageError
            If it holds no text.
        """
        place = 0
        while place < self._held_bytes:
            yield place, self.read(place)
            place += self._last_read_bytes

    def read(self, place: int) -> str:
        """Read the line that begins at a place.

        Raises
        ------
        UsageError
            If it is no text.
        """
        try:
            self._reader.seek(place)
            line = self._reader.readline()
            self._last_read_bytes = len(line)
            return line.decode("utf-8").rstrip("\n")
        except UnicodeDecodeError as error:
            raise UsageError(
                f"{self.path} is no journal: it holds no text", hint=ANOTHER
            ) from error
        except OSError as error:
            raise UsageError(f"cannot read {self.path}: {error.strerror}") from error

    def append(self, line: str) -> int:
        """Add a line, at once on disk.

        Returns
        -------
        int
            Where it begins.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        content, place = line.encode("utf-8") + b"\n", self._end
        try:
            if self._torn:
                self._file.truncate(place)
                self._reader.seek(0, os.SEEK_END)  # forgets what it read ahead of what is cut off
            self._torn = True
            rest = content
            while rest:
                rest = rest[self._file.write(rest) :]
            self._torn = False
        except OSError as error:
            raise unwritable(self.path, error) from error
        self._end += len(content)
        return place

    def close(self) -> None:
        """Let others write."""
        for file in (self._file, self._reader):
            with contextlib.suppress(OSError):  # told when the line was added
                file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
