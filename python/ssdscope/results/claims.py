"""One writer for one output: places for files that one process writes, until it ends.

A claim is a lock on an empty file beside the output, ``.NAME.DIGEST.lock``. The kernel drops the
lock when the process ends, by SIGKILL too. The file goes with the claim; one that a killed process
left is taken over. What stands at the place is locked itself as well, as it may have another name.

The place is resolved once, and its folder stays open: a link that is changed later leads nowhere
else. What stood there is known by device and inode, and held open, so that nothing else gets that
inode. Nothing but that is replaced (`results.publishing`).
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Self

from ssdscope.errors import OutputError, UsageError
from ssdscope.targets.names import printable, shell_words

Identity = tuple[int, int]
"""Device and inode."""

_NAME_KEPT = 40
_COMMAND_KEPT = 160
_OWN_STREAMS = (1, 2)
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF)
"""How a file system says that it has no locks, or none for what is open for reading."""
_LOOK = os.O_PATH | os.O_CLOEXEC
_LOCKABLE = os.O_NONBLOCK | os.O_CLOEXEC

REPLACED = "another file was put there after it was checked"

_held: dict[str, "Claim"] = {}
"""Claims of this process, by the path as it was named and as it resolved."""


def claim_of(path: str | Path) -> "Claim | None":
    """Give the claim that this process has of a path, whatever is a link by now."""
    return _held.get(_absolute(path))


def holds(file: int) -> bool:
    """Say whether a claim of this process has an open file locked."""
    identity = identity_of(os.fstat(file))
    return any(each.was == identity and each.locks_what_stands for each in _held.values())


def identity_of(status: os.stat_result) -> Identity:
    """Give what tells a file from all others."""
    return status.st_dev, status.st_ino


def own_stream(status: os.stat_result) -> int | None:
    """Give the stream of ours that leads to a file, as ``/dev/stdout`` in ``> page.html``."""
    for stream in _OWN_STREAMS:
        with contextlib.suppress(OSError):
            if os.path.samestat(status, os.fstat(stream)):
                return stream
    return None


class Claim:
    """A place for a file, or a folder for files, that this process alone writes.

    Use as a context manager, or call `release`.

    Parameters
    ----------
    path
        As the user wrote it.
    place
        Where that leads (`files.destination`).
    folder
        Whether it is a folder; it is created if it is missing.

    Attributes
    ----------
    folder_fd
        The folder that the file is in, open.
    name
        Of the file in that folder.
    was
        Of what may be replaced; None if nothing stands there.
    special
        Whether it is no plain file, but a device, a pipe, or a stream of ours: it is written into,
        and not locked.
    locked
        Whether the place is locked: some file systems have no locks.
    locks_what_stands
        Whether what stands there is locked itself.

    Raises
    ------
    UsageError
        If another process writes there, or nobody can.
    """

    def __init__(self, path: str | Path, place: Path, *, folder: bool = False) -> None:
        self.path, self.place = path, place
        self.name = "" if folder else place.name
        self.was: Identity | None = None
        self.special = self.locked = self.locks_what_stands = False
        self._judged = contextlib.ExitStack()
        self._judged_fd = -1
        self._open = contextlib.ExitStack()
        try:
            if folder:
                self._make(place)
            within = place if folder else place.parent
            self.folder_fd = os.open(within, _LOOK | os.O_DIRECTORY)
            self._open.callback(os.close, self.folder_fd)
            if not folder:
                self._judge()
            if not self.special:
                self._lock()
            if not folder and not self.special:
                self._judge()  # again: who had the lock may have replaced it meanwhile
                self._lock_what_stands()
        except OSError as error:
            self.release()
            raise UsageError(f"cannot write {path}: {os.strerror(error.errno or 0)}") from error
        except BaseException:
            self.release()
            raise
        for each in {_absolute(path), str(place)}:
            _held.setdefault(each, self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def release(self) -> None:
        """Let others write."""
        for each in [key for key, claim in _held.items() if claim is self]:
            del _held[each]
        self._judged.close()
        self._open.close()

    @property
    def content(self) -> Path:
        """Where what was judged can be read, whatever has its name by now."""
        return Path(f"/proc/self/fd/{self._judged_fd}")

    def status(self, name: str | None = None) -> os.stat_result | None:
        """Look at what has the name in the folder now, or another one; None if nothing has."""
        try:
            named = self.name if name is None else name
            return os.stat(named, dir_fd=self.folder_fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    @property
    def unchanged(self) -> bool:
        """Whether nothing stands there but what was judged."""
        now = self.status()
        return now is None or identity_of(now) == self.was

    def became(self, file: int) -> None:
        """Note that an open file of ours stands there now."""
        self._judged.close()
        self.locks_what_stands = False
        self._hold(os.open(f"/proc/self/fd/{file}", _LOOK))

    def open(self, _path: str, flags: int) -> int:
        """Open what was judged, or a new file where there was none: an opener for `open`.

        Raises
        ------
        OutputError
            If something else stands there.
        """
        new = os.O_CREAT | os.O_EXCL if self.was is None else 0
        flags = (flags & ~os.O_CREAT) | new | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(self.name, flags, 0o666, dir_fd=self.folder_fd)
        if self.was is None:
            self.became(file)
        elif identity_of(os.fstat(file)) != self.was:
            os.close(file)
            raise OutputError(f"cannot write {self.path}: {REPLACED}")
        return file

    def forget(self) -> None:
        """Note that nothing stands there any more."""
        self._judged.close()
        self.locks_what_stands, self.was = False, None

    def private(self, token: str, ending: str = "part") -> str:
        """Name a file beside the place, which nobody else names so."""
        return f"{_marked(self.name)}.{token}.{ending}"

    def left_over(self) -> list[str]:
        """Name the files that killed processes left beside the place while they replaced it."""
        begins = _marked(self.name) + "."
        with os.scandir(self.place.parent) as entries:
            names = [each.name for each in entries]
        return [each for each in names if each.startswith(begins) and each.endswith(".part")]

    def _make(self, folder: Path) -> None:
        """Create a folder; if it is empty in the end it goes again."""
        for each in [*reversed(folder.parents), folder]:
            if not each.is_dir():
                each.mkdir(exist_ok=True)
                self._open.callback(_remove_if_empty, each)

    def _judge(self) -> None:
        """Open what stands there; all that is asked of it is asked of that."""
        self.forget()
        status = self.status()
        if status is None:
            return
        # A link that is still one after it was resolved is one of the kernel's, as /dev/stdout.
        link = stat.S_ISLNK(status.st_mode)
        look = _LOOK if link else _LOOK | os.O_NOFOLLOW
        self._hold(os.open(self.name, look, dir_fd=self.folder_fd))
        status = os.fstat(self._judged_fd)
        self.special = not stat.S_ISREG(status.st_mode) or own_stream(status) is not None
        if link and not self.special:
            raise UsageError(f"cannot write {self.path}: it is a link that changes meanwhile")

    def _hold(self, file: int) -> None:
        self._judged_fd = file
        self._judged.callback(os.close, file)
        self.was = identity_of(os.fstat(file))

    def _lock(self) -> None:
        name = f".{_marked(self.name)}.lock" if self.name else ".ssdscope.lock"
        while True:
            file = self._open_lock(name)
            try:
                self.locked = lock(file, self.path)
                now = self.status(name)
                if now is not None and os.path.samestat(now, os.fstat(file)):
                    break
            except BaseException:
                os.close(file)
                raise
            os.close(file)  # who had it has removed it meanwhile
        self._open.callback(os.close, file)
        self._open.callback(self._remove_lock, name, file)

    def _lock_what_stands(self) -> None:
        """Lock the file itself, which may have other names; one that cannot be read has none."""
        if self.was is not None:
            with contextlib.suppress(PermissionError):
                standing = os.open(self.content, os.O_RDONLY | _LOCKABLE)
                self._judged.callback(os.close, standing)
                self.locks_what_stands = lock(standing, self.path)

    def _open_lock(self, name: str) -> int:
        """Open the lock file; it may be another user's, and left by a process that was killed."""
        for mode in (os.O_RDWR, os.O_RDONLY):
            with contextlib.suppress(FileNotFoundError, PermissionError):
                return os.open(name, mode | os.O_NOFOLLOW | _LOCKABLE, dir_fd=self.folder_fd)
        with contextlib.suppress(FileExistsError):
            new = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            file = os.open(name, new, 0o600, dir_fd=self.folder_fd)
            os.fchmod(file, 0o644)  # whatever the umask is: others need to see that it is locked
            return file
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | _LOCKABLE, dir_fd=self.folder_fd)

    def _remove_lock(self, name: str, file: int) -> None:
        """Remove the lock file, unless somebody wrote into it: then it is not ours."""
        with contextlib.suppress(OSError):
            if os.fstat(file).st_size == 0:
                os.unlink(name, dir_fd=self.folder_fd)


def lock(file: int, path: str | Path) -> bool:
    """Lock an open file; False where the file system has no locks.

    Raises
    ------
    UsageError
        If another has it locked.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UsageError(
            f"another process is writing {path}: {_holder(os.fstat(file))}",
            hint="wait until it has ended, or name another file",
        ) from error
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return False
    return True


def _holder(status: os.stat_result) -> str:
    """Name the process that has a file locked: its number and its command."""
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    found = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            _, kind, _, _, pid, place, *_ = line.split()
            if kind == "FLOCK" and place.endswith(f":{status.st_ino}"):
                # Some file systems have another device in there: they come last.
                found.append((not place.startswith(device), pid))
    if not found:
        return "one that cannot be seen from here, in another container or on another machine"
    _, pid = min(found)
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    except OSError:
        return f"process {pid}"
    words = printable(shell_words([os.fsdecode(each) for each in command]))
    told = "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in words)
    kept = told if len(told) <= _COMMAND_KEPT else f"{told[:_COMMAND_KEPT]}..."
    return f"process {pid} ({kept})"


def _marked(name: str) -> str:
    """Give the beginning of a name, and a digest of the whole: names may be as long as allowed."""
    return f"{name[:_NAME_KEPT]}.{hashlib.sha256(os.fsencode(name)).hexdigest()[:8]}"


def _absolute(path: str | Path) -> str:
    return os.path.abspath(path)  # noqa: PTH100 (links must not be followed again)


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()
