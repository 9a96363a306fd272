"""Files of ours that appear at their places whole, and those that belong together, together.

What is written has no name until it is whole, so that a process that is killed leaves nothing. Then
all of a set is put on disk and named beside its places, and one rename after the other puts it
there. Each exchanges the new file for the old one: if what comes out is not what was judged, or a
later rename of the set fails, the old files go back.
"""

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import IO, cast

from ssdscope.errors import OutputError
from ssdscope.results import renaming
from ssdscope.results.claims import REPLACED, Claim, identity_of


class ChangedError(OutputError):
    """Something stands at a place that was not there when the place was judged."""


class Part:
    """What is to be at a place, while it is written.

    Parameters
    ----------
    claim
        The place.

    Attributes
    ----------
    file
        To write into.

    Raises
    ------
    OSError
        If there can be none.
    """

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self._name: str | None = None
        self._undo: Callable[[], object] | None = None
        folder = claim.folder_fd
        try:
            flags = os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC
            file = os.open(".", flags, 0o666, dir_fd=folder)
        except OSError:  # this file system has only files with names
            self._name = self._new_name()
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            file = os.open(self._name, flags, 0o666, dir_fd=folder)
        self.file = cast("IO[bytes]", os.fdopen(file, "w+b"))

    def make_ready(self) -> None:
        """Put all on disk, under a name beside the place; only renames are left.

        Raises
        ------
        OSError
            If the disk is full or failing.
        """
        self.file.flush()
        if self.claim.was is not None:
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(self.claim.content, f"/proc/self/fd/{self.file.fileno()}")
        os.fsync(self.file.fileno())
        if self._name is None:
            name = self._new_name()
            self._give_name(name)
            self._name = name

    def put(self) -> None:
        """Rename it to its place.

        Raises
        ------
        ChangedError
            If something is there that was not judged; it stays.
        OSError
            If the rename fails.
        """
        folder, name, part = self.claim.folder_fd, self.claim.name, self._name or ""
        if self.claim.status() is None:
            try:
                renaming.move(folder, part, name)
            except FileExistsError as error:
                raise self._changed() from error
            self._undo = partial(renaming.move, folder, name, part)
            return
        if not self.claim.unchanged:
            raise self._changed()
        if not renaming.exchange(folder, part, name):
            os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
            self._name = None
            return
        self._undo = partial(renaming.exchange, folder, part, name)
        old = self.claim.status(part)
        if old is None or identity_of(old) != self.claim.was:
            self.take_back()
            raise self._changed()

    def take_back(self) -> None:
        """Give its place back to what was there, where the file system still has that."""
        if self._undo is not None:
            with contextlib.suppress(OSError):
                self._undo()
            self._undo = None

    def settle(self) -> None:
        """Remove what was replaced; from now on this is what stands there."""
        self.claim.became(self.file.fileno())
        self.close()

    def keep(self) -> str:
        """Give it a name of its own beside its place, for good."""
        if self._name is None:
            return str(self.claim.place)
        stem, dot, ending = self.claim.name.rpartition(".")
        kept = f"{stem or ending}.{secrets.token_hex(4)}{dot and stem and '.' + ending}"
        renaming.move(self.claim.folder_fd, self._name, kept)
        self._name = None
        return str(self.claim.place.with_name(kept))

    def close(self) -> None:
        """Let go of it; what has a name that is not its place's is gone, as is what it replaced."""
        with contextlib.suppress(OSError):
            self.file.close()
        if self._name is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._name, dir_fd=self.claim.folder_fd)
            self._name = None

    def _new_name(self) -> str:
        return self.claim.private(secrets.token_hex(4))

    def _give_name(self, name: str) -> None:
        """Link the file, or copy it where the kernel will not."""
        folder = self.claim.folder_fd
        try:
            os.link(f"/proc/self/fd/{self.file.fileno()}", name, dst_dir_fd=folder)
        except OSError:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            copy = cast("IO[bytes]", os.fdopen(os.open(name, flags, 0o666, dir_fd=folder), "w+b"))
            self._name = name
            self.file.seek(0)
            shutil.copyfileobj(self.file, copy)
            self.file.close()
            self.file = copy
            copy.flush()
            os.fsync(copy.fileno())

    def _changed(self) -> ChangedError:
        return ChangedError(f"cannot write {self.claim.path}: {REPLACED}")


def publish(parts: Sequence[Part], removed: Sequence[Claim] = ()) -> None:
    """Put files at their places, all or none.

    Parameters
    ----------
    removed
        Places whose files go when the others are there.

    Raises
    ------
    ChangedError
        If something stands at a place that was not judged; the new files are kept under other
        names, which it says.
    OSError
        If the disk is full or failing, with `filename`; what was there before is untouched.
    """
    for part in parts:
        with _named_in_errors(part):
            part.make_ready()
    try:
        put_all(parts)
    except ChangedError as error:
        kept = ", ".join(part.keep() for part in parts)
        error.hint = f"what was measured is in {kept}"
        raise
    finally:
        for part in parts:
            part.close()
    for claim in removed:
        remove(claim)
    for folder in {part.claim.place.parent for part in parts}:
        _sync(folder)


def put_all(parts: Sequence[Part]) -> None:
    """Rename one after the other; if one fails, take the others back.

    An interrupt waits until it is done (`cli.interrupts`).
    """
    done: list[Part] = []
    try:
        for part in parts:
            with _named_in_errors(part):
                part.put()
            done.append(part)
    except BaseException:
        for part in reversed(done):
            part.take_back()
        raise
    for part in parts:
        part.settle()


def remove(claim: Claim) -> None:
    """Remove what stands at a place, if it is a plain file and what was judged."""
    if claim.special:
        return
    taken = claim.private(secrets.token_hex(4))
    with contextlib.suppress(OSError):
        renaming.move(claim.folder_fd, claim.name, taken)
        moved = claim.status(taken)
        if moved is not None and identity_of(moved) == claim.was:
            os.unlink(taken, dir_fd=claim.folder_fd)
        else:
            renaming.move(claim.folder_fd, taken, claim.name)


@contextlib.contextmanager
def _named_in_errors(part: Part) -> Iterator[None]:
    """Say in errors of the system which place they are about."""
    try:
        yield
    except OSError as error:
        error.filename = str(part.claim.path)
        raise


def _sync(folder: "os.PathLike[str]") -> None:
    """Put the names in a folder on disk, where that is possible."""
    with contextlib.suppress(OSError):
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(file)
        finally:
            os.close(file)
