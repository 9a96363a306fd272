"""What cases use inside the guest: ssdscope itself, other programs, and the host behind it."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab.cases import Skipped

BLKFLSBUF = 0x1261
MIB = 2**20


@dataclass(frozen=True)
class Said:
    """What a command line of ssdscope did."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Of ``-o json``."""
        assert self.out, f"no document (exit code {self.status}): {self.err}"
        document: dict[str, Any] = json.loads(self.out)
        return document

    @property
    def why(self) -> str:
        """The first line that explains it."""
        return f"exit code {self.status}: {' '.join(self.err.split())[:200]}"


class Running:
    """A command line of ssdscope in a process of its own, which is a fork of this one.

    Python and the package are loaded once: in a translated guest that takes seconds.
    """

    def __init__(self, words: tuple[str, ...]) -> None:
        self._files = [tempfile.TemporaryFile("w+b") for _ in range(2)]  # noqa: SIM115
        self.pid = os.fork()
        if self.pid == 0:
            self._become(words)

    def _become(self, words: tuple[str, ...]) -> None:
        status = 70
        try:
            null = os.open(os.devnull, os.O_RDONLY)
            for number, handle in enumerate((null, *(each.fileno() for each in self._files))):
                os.dup2(handle, number)
            sys.argv = ["ssdscope", *words]
            from ssdscope.cli.start import main

            main()
        except SystemExit as end:
            status = int(end.code or 0)
        except BaseException as failure:  # noqa: BLE001 (said where the case fails by it)
            sys.stderr.write(f"defect: {type(failure).__name__}: {failure}\n")
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def wait(self) -> Said:
        """Wait until it ends; give what it said."""
        _, status = os.waitpid(self.pid, 0)
        texts = []
        for file in self._files:
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
            file.close()
        return Said(os.waitstatus_to_exitcode(status), *texts)


def cli(*words: str) -> Said:
    """Run a command line of ssdscope."""
    return Running(words).wait()


def done(*words: str | Path, stdin: str | None = None) -> str:
    """Run a tool that must succeed; where it is missing the case is skipped."""
    if shutil.which(str(words[0])) is None:
        raise Skipped(f"{words[0]} is not installed")
    # Without a time-out: the host ends a case that hangs, with its whole guest.
    ran = subprocess.run(list(map(str, words)), input=stdin, capture_output=True, text=True)
    assert ran.returncode == 0, f"{' '.join(map(str, words))}: {ran.stderr.strip()}"
    return ran.stdout.strip()


def module(name: str, *words: str) -> None:
    """Load a module of the guest's own kernel; without it the case is skipped."""
    tried = subprocess.run(
        ["modprobe", "-d", str(KERNEL), name, *words], capture_output=True, text=True, timeout=120
    )
    if tried.returncode:
        raise Skipped(f"no module {name}: {tried.stderr.strip()}")


ROOT = Path(__file__).parents[2]
KERNEL = ROOT / "out/lab/kernel"


def wait_until(true: Callable[[], bool], what: str, patience_s: float = 60) -> None:
    """Wait for something, and fail if it never comes."""
    deadline = time.monotonic() + patience_s
    while not true():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.02)


class Host:
    """The other end of the channel.

    Attributes
    ----------
    slow_down
        How many times slower the simulated disk lives, if this guest has one.
    """

    def __init__(self) -> None:
        ports = Path("/sys/class/virtio-ports")
        (port,) = (p.name for p in ports.iterdir() if (p / "name").read_text().strip() == "lab")
        self._file = Path(f"/dev/{port}").open("r+b", buffering=0)  # noqa: SIM115
        self._left = b""
        self.slow_down = 1.0

    def say(self, **message: Any) -> None:
        """Send a message."""
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[self._file.write(data) :]

    def hear(self) -> dict[str, Any]:
        """Wait for a message."""
        while b"\n" not in self._left:
            got = self._file.read(4096)
            if not got:
                time.sleep(0.05)  # nobody is connected yet
            self._left += got or b""
        line, _, self._left = self._left.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def ask(self, what: str, **words: Any) -> Any:
        """Ask the host for something that only it can do."""
        self.say(ask=what, words=words)
        answer = self.hear()
        assert "failed" not in answer, f"the host could not {what}: {answer['failed']}"
        return answer["answer"]


class _Connection:
    host: Host | None = None


def host() -> Host:
    """Give the host; it is connected once."""
    if _Connection.host is None:
        _Connection.host = Host()
    return _Connection.host


def forget_cached(path: str) -> None:
    """Write back and drop what the kernel remembers of a device."""
    os.sync()
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.ioctl(handle, BLKFLSBUF)
    finally:
        os.close(handle)


def digest_here(path: str, parts: list[tuple[int, int]]) -> str:
    """Hash ranges of a device as the guest's kernel reads it."""
    forget_cached(path)
    digest = hashlib.sha256()
    with Path(path).open("rb", buffering=0) as file:
        for start, end in parts:
            file.seek(start)
            left = end - start
            while left > 0 and (data := file.read(min(left, MIB))):
                digest.update(data)
                left -= len(data)
    return digest.hexdigest()


def write_at(path: str, offset: int, data: bytes) -> None:
    """Write somebody's data; they are on the device when this ends."""
    with Path(path).open("r+b", buffering=0) as file:
        file.seek(offset)
        file.write(data)
        os.fsync(file.fileno())


def read_at(path: str, offset: int, length: int) -> bytes:
    """Read from a device, not from what is cached."""
    forget_cached(path)
    with Path(path).open("rb", buffering=0) as file:
        file.seek(offset)
        return file.read(length)


@contextmanager
def opened_elsewhere(path: str, flags: str = "os.O_RDWR") -> Iterator[int]:
    """Let another process hold a device open."""
    program = f"import os, time; os.open({path!r}, {flags}); print(1, flush=True); time.sleep(999)"
    with held("/usr/bin/env", sys.executable, "-c", program) as pid:
        yield pid


@contextmanager
def held(*words: str) -> Iterator[int]:
    """Let a program run that says a line when it is ready, and end it afterwards."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        assert process.stdout.readline(), f"{words[0]} did not start"
        yield process.pid
    finally:
        process.kill()
        process.communicate()


@contextmanager
def mounted(device: str) -> Iterator[str]:
    """Mount a file system here."""
    with tempfile.TemporaryDirectory() as folder:
        done("mount", device, folder)
        try:
            yield folder
        finally:
            unmount(folder)


def unmount(folder: str) -> None:
    """Unmount; whoever had a file open lets go of it in a moment."""
    for _ in range(50):
        if subprocess.run(["umount", folder], capture_output=True).returncode == 0:
            return
        time.sleep(0.1)
    raise AssertionError(f"{folder} stays mounted")


@contextmanager
def mounted_in_another_namespace(device: str) -> Iterator[None]:
    """Mount a file system where only another mount namespace sees it, as a container does."""
    with tempfile.TemporaryDirectory() as folder:
        script = f"mount {device} {folder} && echo mounted && exec sleep 999"
        with held("unshare", "--mount", "--propagation", "private", "sh", "-c", script):
            seen = Path("/proc/self/mounts").read_text()
            assert f"{device} " not in seen, "it is mounted here, too"
            yield


@contextmanager
def signals_ended(running: Running) -> Iterator[Running]:
    """Kill what a case leaves behind if it fails."""
    try:
        yield running
    finally:
        with contextlib.suppress(OSError):
            os.kill(running.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(running.pid, 0)
