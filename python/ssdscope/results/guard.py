"""The rule of what an output may replace, for every option that names one.

Nothing that the command reads, whatever is said; nothing that ssdscope did not write, unless
that is asked for; no block device. A place that cannot be written is told before anything is
measured for it.
"""

import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ssdscope.errors import UsageError
from ssdscope.results import reasons
from ssdscope.results.files import destination, is_special
from ssdscope.results.marks import is_ours

LEAST_ROOM_BYTES = 64 * 2**10
"""With less room than this a file is not begun."""
_RESUMED = (".jsonl", ".parquet", ".part")
"""Endings of files that are gone on with."""
_ANOTHER = "name another file for the output"


@dataclass(frozen=True)
class Place:
    """Where a file will be written.

    Attributes
    ----------
    path
        As the user wrote it, or as follows from that.
    beside
        The output that it belongs to, if it is not that itself.
    resumed
        Whether the command goes on with what is there.
    judged
        Whether it says itself, and better, what is wrong with what is there.
    """

    path: str
    beside: str | None = None
    resumed: bool = False
    judged: bool = False

    def __str__(self) -> str:
        return self.path if self.beside is None else f"{self.path} (beside {self.beside})"


def require_places(
    outputs: Sequence[Place], inputs: Iterable[str | Path], *, force: bool = False
) -> None:
    """Refuse outputs that would destroy something, or cannot be written.

    Parameters
    ----------
    outputs
        Every file that the command will write.
    inputs
        Every file that it reads: drives, members of arrays, traces, plans.
    force
        Whether what ssdscope did not write may be replaced. What a command would go on with is
        then removed, if it is not ours.

    Raises
    ------
    UsageError
        If one is refused; nothing has been touched.
    """
    read = [Path(each) for each in inputs]
    written: list[Path] = []
    strange: list[Path] = []
    for output in outputs:
        place = destination(output.path)
        if any(_same(place, each) for each in read):
            raise UsageError(
                f"cannot write {output}: the command reads it, and inputs and outputs are "
                "files of their own",
                hint=_ANOTHER,
            )
        if place.is_block_device():
            raise UsageError(f"cannot write {output}: it is a block device", hint=_ANOTHER)
        if is_special(place):
            continue
        if any(_same(place, each) for each in written):
            raise UsageError(
                f"cannot write {output}: another output goes there, and outputs are files of "
                "their own",
                hint=_ANOTHER,
            )
        written.append(place)
        if place.exists() and not is_ours(place):
            if not force and not output.judged:
                raise UsageError(
                    f"cannot write {output}: it holds something that ssdscope did not write",
                    hint=f"{_ANOTHER}, or replace it with --force",
                )
            strange += [place] if force and output.resumed else []
        _require_room(output, place)
    for place in strange:
        place.unlink()


def require_folder(path: str) -> None:
    """Refuse a folder that cannot be made or written into.

    Raises
    ------
    UsageError
        If it is one.
    """
    folder = Path(path)
    if not path.strip():
        raise UsageError(f"cannot write to {path!r}: it is not the name of a folder")
    try:
        while not folder.exists():
            folder = folder.parent
        if not folder.is_dir():
            raise UsageError(f"cannot write to {path}: {folder} is not a folder")
    except OSError as error:
        why, hint = reasons.reason(error), reasons.hint(error)
        raise UsageError(f"cannot write to {path}: {why}", hint=hint) from error
    _require_room(Place(path), folder / "any")


def places_in(folder: str, patterns: Iterable[str]) -> list[Place]:
    """List what stands in a folder and may be replaced.

    Parameters
    ----------
    patterns
        Of the names of all that may be written there.

    Raises
    ------
    UsageError
        If the folder cannot be made or written into.
    """
    require_folder(folder)
    return [
        Place(str(each), resumed=each.suffix in _RESUMED)
        for pattern in patterns
        for each in sorted(Path(folder).glob(pattern))
    ]


def _same(place: Path, other: Path) -> bool:
    """Say whether two paths lead to one file, by links of either kind too."""
    try:
        if place.exists() and other.exists():
            return place.samefile(other)
        return place == other.resolve()
    except (OSError, RuntimeError):
        return False


def _require_room(output: Place, place: Path) -> None:
    """Try what writing takes: a file may be made in the folder, and there is room for it."""
    try:
        if place.exists() and not os.access(place, os.W_OK):
            raise PermissionError(13, os.strerror(13))
        with tempfile.TemporaryFile(dir=place.parent) as file:
            file.write(bytes(LEAST_ROOM_BYTES))
            file.flush()
    except OSError as error:
        raise UsageError(
            f"cannot write {output}: {reasons.reason(error)}", hint=reasons.hint(error)
        ) from error
