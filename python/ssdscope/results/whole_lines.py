"""A text file of whole lines that one process adds to, each at once on disk.

What was begun and not ended when a machine stopped is no line: it is cut off before the next one
is added, and not earlier, for until then the file may turn out to be somebody else's. Two
processes that add at once would mix their lines, so the second is refused.
"""

import contextlib
import fcntl
from pathlib import Path
from types import TracebackType
from typing import Self

from ssdscope.errors import UsageError
from ssdscope.results.files import is_special, unwritable

ANOTHER = "name another file"


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
    lines
        What it held when it was opened.

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
        try:
            self._file = path.open("a+b")
        except OSError as error:
            raise unwritable(path, error) from error
        try:
            self._alone()
            self._file.seek(0)
            content = self._file.read()
            self._torn = not content.endswith(b"\n") and bool(content)
            self._end = content.rfind(b"\n") + 1
            self.lines = _lines(path, content[: self._end])
            if self._torn and not self.lines:
                raise UsageError(f"{path} is no journal: it has no whole line", hint=ANOTHER)
        except BaseException:
            self._file.close()
            raise

    def _alone(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"another process is writing {self.path}",
                hint=f"wait until it has ended, or {ANOTHER}",
            ) from error
        except OSError:
            return  # some network file systems have no locks

    def append(self, line: str) -> None:
        """Add a line, at once on disk.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        try:
            if self._torn:
                self._file.truncate(self._end)
                self._torn = False
            self._file.write(line.encode("utf-8") + b"\n")
            self._file.flush()
        except OSError as error:
            raise unwritable(self.path, error) from error

    def close(self) -> None:
        """Let others write."""
        with contextlib.suppress(OSError):  # told when the line was added
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _lines(path: Path, content: bytes) -> list[str]:
    try:
        return content.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no journal: it holds no text", hint=ANOTHER) from error
