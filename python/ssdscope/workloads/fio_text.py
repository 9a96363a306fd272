"""The text of a fio job file: sections with their options, and all that is wrong in it.

An included file gives options of the section that names it. It lies beside the job file or below:
a job file is data from elsewhere, and reads nothing else of this machine.
"""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ssdscope.errors import UsageError

FILE_BYTES_MAX = 1 << 20
INCLUDES_MAX = 64
"""Files that one job file may include, those of included files among them."""
ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blockalign": "ba",
    "blocksize_range": "bsrange",
    "fileoffset": "offset",
    "io_limit": "io_size",
    "timeout": "runtime",
    "threads": "thread",
    "wait_for_previous": "stonewall",
    "rwmixwrite": "rwmixread",
}
"""Names of fio's that say the same as others."""
_SECTION = re.compile(r"\[(?P<name>[^\]]*)\].*")


@dataclass(frozen=True)
class Given:
    """An option as it stands in a file.

    Attributes
    ----------
    name
        As it was written.
    text
        Its value; None where it stands alone.
    place
        File and line, for messages.
    """

    name: str
    text: str | None
    place: str


@dataclass(frozen=True)
class Section:
    """A section: a job, with what ``[global]`` said up to there; options by their first names."""

    name: str
    place: str
    options: dict[str, Given]


class Faults:
    """Collects what is wrong, so that a user sees all of it at once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lines: list[str] = []
        self._hints: list[str] = []

    def add(self, place: str, message: str, hint: str | None = None) -> None:
        """Note what is wrong at a place."""
        line = f"{place}: {message}"
        if line not in self._lines:
            self._lines.append(line)
            self._hints += [hint] if hint else []

    def stop(self) -> None:
        """Raise, if anything is wrong.

        Raises
        ------
        UsageError
            With all of it, a line each; of one fault with its hint.
        """
        if self._lines:
            hint = self._hints[0] if len(self._hints) == 1 else None
            raise UsageError("\n".join(self._lines), hint=hint)


def read_job_text(path: str) -> str:
    """Read a job file, or one that it includes.

    Raises
    ------
    UsageError
        If it cannot be read, is no text, or is longer than `FILE_BYTES_MAX`.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not a text in UTF-8", hint="a job file is text") from error
    if len(content) > FILE_BYTES_MAX:
        raise UsageError(f"{path}: more than {FILE_BYTES_MAX:,} bytes, which no job file has")
    return text


def sections_of(text: str, faults: Faults) -> list[Section]:
    """Cut a job file into jobs.

    Parameters
    ----------
    text
        Its text; included files are looked for beside the path that `faults` knows.
    """
    return _Reader(faults).read(text)


class _Reader:
    """Reads lines into sections."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._folder = Path(faults.path).parent
        self._included = 0
        self._common: dict[str, Given] = {}
        self._current: dict[str, Given] | None = None
        self._sections: list[Section] = []

    def read(self, text: str) -> list[Section]:
        """Read the job file itself."""
        for place, line in _lines(text, self._faults.path):
            if line.startswith("["):
                self._begin(place, line)
            else:
                self._take(place, line)
        return self._sections

    def _begin(self, place: str, line: str) -> None:
        match = _SECTION.fullmatch(line)
        name = match["name"].strip() if match else ""
        if match is None:
            self._faults.add(place, f"{line!r} has no closing bracket; the file may be cut here")
        elif not name:
            self._faults.add(place, "a section needs a name")
        is_common = name.startswith("global")  # as fio compares it
        self._current = self._common if is_common else dict(self._common)
        if not is_common:
            self._sections.append(Section(name, place, self._current))

    def _take(self, place: str, line: str) -> None:
        word, equals, value = line.partition("=")
        given = Given(word.strip(), value.strip() if equals else None, place)
        if line.split()[0] == "include":
            self._include(place, line.removeprefix("include").strip())
        elif self._current is None:
            self._faults.add(
                place, f"{line!r} stands before the first section", "begin with [global]"
            )
        else:
            self._current[ALIASES.get(given.name, given.name)] = given

    def _include(self, place: str, name: str) -> None:
        """Take the options of another file for the section that names it."""
        path = PurePosixPath(name)
        if not name or path.is_absolute() or ".." in path.parts:
            self._faults.add(
                place,
                f"include {name}: only a file beside the job file, or below, is read",
                "copy it there, and write its name alone",
            )
            return
        self._included += 1
        if self._included > INCLUDES_MAX:
            if self._included == INCLUDES_MAX + 1:
                self._faults.add(
                    place, f"more than {INCLUDES_MAX} files are included; one may include itself"
                )
            return
        try:
            text = read_job_text(str(self._folder / path))
        except UsageError as error:
            self._faults.add(place, f"include {name}: {error.message}", error.hint)
            return
        for at, line in _lines(text, str(self._folder / path)):
            if line.startswith("["):
                self._faults.add(
                    at, f"{line} begins a section, and an included file has only options"
                )
                return
            self._take(at, line)


def _lines(text: str, path: str) -> list[tuple[str, str]]:
    """Return the lines that say something, each with its place."""
    cut = ((number, re.split(r"[;#]", raw, maxsplit=1)[0].strip())
           for number, raw in enumerate(text.splitlines(), start=1))  # fmt: skip
    return [(f"{path}, line {number}", line) for number, line in cut if line]
