"""The rule of what an output may replace, for every option that names one.

Nothing that the command reads, whatever is said; nothing that ssdscope did not write, unless
that is asked for; no block device; nothing that another process writes. A place that cannot be
written is told before anything is measured for it.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ssdscope.errors import UsageError
from ssdscope.results import reasons
from ssdscope.results.claims import Claim
from ssdscope.results.files import destination, is_special
from ssdscope.results.marks import is_ours
from ssdscope.results.publishing import remove

LEAST_ROOM_BYTES = 64 * 2**10
"""With less room than this a file is not begun."""
_RESUMED = (".jsonl", ".npz", ".parquet", ".part")
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
    folder
        Whether it is a folder of files, whose names follow from what is measured.
    listed
        Whether it stands in such a folder: it is judged again when it is replaced, if at all.
    """

    path: str
    beside: str | None = None
    resumed: bool = False
    judged: bool = False
    folder: bool = False
    listed: bool = False

    def __str__(self) -> str:
        return self.path if self.beside is None else f"{self.path} (beside {self.beside})"


class Claims:
    """Places that this process alone writes, until `release`.

    Use as a context manager, or call `release`.

    Attributes
    ----------
    unlocked
        Places on file systems without locks: another run that writes there is not noticed.
    """

    def __init__(self) -> None:
        self.unlocked: list[str] = []
        self._open = contextlib.ExitStack()

    def take(self, output: Place) -> Claim:
        """Claim a place.

        Raises
        ------
        UsageError
            If another process writes there.
        """
        place = Path(output.path).resolve() if output.folder else destination(output.path)
        claim = self._open.enter_context(Claim(output.path, place, folder=output.folder))
        if not claim.locked and not claim.special:
            self.unlocked.append(output.path)
        return claim

    def release(self) -> None:
        """Let others write."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def claim_places(
    outputs: Sequence[Place], inputs: Iterable[str | Path], *, force: bool = False
) -> Claims:
    """Claim outputs, and refuse those that would destroy something or cannot be written.

    Parameters
    ----------
    outputs
        Every file that the command will write.
    inputs
        Every file that it reads: drives, members of arrays, traces, plans.
    force
        Whether what ssdscope did not write may be replaced. What a command would go on with is
        then removed, if it is not ours.

    Returns
    -------
    Claims
        To be kept until all is written.

    Raises
    ------
    UsageError
        If one is refused; nothing has been touched.
    """
    read = [Path(each) for each in inputs]
    files = [each for each in outputs if not each.folder]
    claims = Claims()
    try:
        for each in outputs:
            if each.folder:
                claims.take(each)
        _require_apart(files, read)
        taken = {each: claims.take(each) for each in files}
        for each in files:
            _settle(each, taken[each], read, force)
    except BaseException:
        claims.release()
        raise
    return claims


def _require_apart(outputs: Sequence[Place], read: Sequence[Path]) -> None:
    """Refuse outputs that are inputs, or one another."""
    written: list[Path] = []
    for output in outputs:
        place = destination(output.path)
        if any(_same(place, each) for each in read):
            raise _read_too(output)
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


def _settle(output: Place, claim: Claim, read: Sequence[Path], force: bool) -> None:
    """Judge what stands at a place that is claimed, and make it ready to be written.

    All is asked of what the claim holds open, as names may lead elsewhere by now.
    """
    if claim.was is not None and any(_is_claimed(claim, each) for each in read):
        raise _read_too(output)
    if claim.special:
        if claim.content.is_block_device():
            raise UsageError(f"cannot write {output}: it is a block device", hint=_ANOTHER)
        return
    strange = claim.was is not None and not is_ours(claim.place, claim.content)
    if strange and not force and not output.judged:
        raise UsageError(
            f"cannot write {output}: it holds something that ssdscope did not write",
            hint=f"{_ANOTHER}, or replace it with --force",
        )
    _require_room(output, claim.place)
    if strange and output.resumed and force:
        remove(claim)
        claim.forget()
    _clean(claim)
    if output.listed and not strange:
        claim.release()


def _is_claimed(claim: Claim, other: Path) -> bool:
    try:
        return claim.content.samefile(other)
    except OSError:
        return False


def _read_too(output: Place) -> UsageError:
    return UsageError(
        f"cannot write {output}: the command reads it, and inputs and outputs are files of their "
        "own",
        hint=_ANOTHER,
    )


def _clean(claim: Claim) -> None:
    """Remove what killed processes left beside a place."""
    for name in claim.left_over():
        left = claim.place.with_name(name)
        with contextlib.suppress(OSError):
            if not left.is_symlink() and is_ours(left):
                left.unlink()


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
    """List a folder, and what stands in it and may be replaced.

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
    there = [each for pattern in patterns for each in sorted(Path(folder).glob(pattern))]
    listed = [Place(str(each), resumed=each.suffix in _RESUMED, listed=True) for each in there]
    return [Place(folder, folder=True), *listed]


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
