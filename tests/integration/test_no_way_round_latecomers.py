"""Whoever comes while a target is written ends the writing: what was measured is kept."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.integration.holders import OTHER_MOUNTS, holding, mounted_here
from tests.integration.kept_content import (
    MIB,
    await_first_write,
    digest,
    holes,
    precious,
)
from tests.integration.loop_devices import attached, done, needs_loop_devices

Spawn = Callable[..., subprocess.Popen[str]]

PAUSES = ("--rw", "write", "--number-ios", "6", "--thinktime", "1200ms")
"""Each write is a phase of its own: a pause of a second makes it one."""
OPEN = "file = os.open(sys.argv[1], os.O_RDWR)"


def last_change(path: str | Path) -> object:
    """What a first write changes: the kernel's count of a device."""
    counts = Path(f"/sys/class/block/{Path(path).name}/stat")
    return counts.read_text().split()[4] if counts.exists() else None


@dataclass
class Run:
    """A run that pauses between its writes."""

    process: subprocess.Popen[str]
    target: str
    before: object = field(init=False)

    def __post_init__(self) -> None:
        self.before = last_change(self.target)

    def await_write(self) -> None:
        if not self.target.startswith("/dev/"):
            await_first_write(self.process, Path(self.target))
            return
        end = time.monotonic() + 30
        while last_change(self.target) == self.before:
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < end, "it began to write"
            time.sleep(0.005)
        time.sleep(0.1)

    def finish(self) -> tuple[str, str]:
        return self.process.communicate(timeout=30)


@contextmanager
def running(spawn: Spawn, target: str, *words: str) -> Iterator[Run]:
    """Start a run; it has written once when this begins, and is gone when it ends."""
    process = spawn("run", target, *words, "--seed", "1", "-o", "json")
    run = Run(process, target)
    try:
        run.await_write()
        yield run
    finally:
        process.kill()
        process.communicate()


def file_run(spawn: Spawn, file: Path, *words: str) -> object:
    return running(
        spawn, str(file), *(words or PAUSES), "--destroy-data", f"FILE:{file.name}",
        "--overwrite-existing",
    )  # fmt: skip


def assert_stopped(run: Run, *says: str) -> None:
    """Ended with exit code 1 and its results, and the words say why."""
    out, err = run.finish()
    assert run.process.returncode == 1, err
    assert "Traceback" not in err
    assert any(text in err for text in says), err
    written = json.loads(out)["write"]
    assert 0 < written["requests"] < 6, "what was measured is kept, and no more is written"


USES = {
    "open to write": OPEN,
    "open to read": "file = os.open(sys.argv[1], os.O_RDONLY)",
    "mapped and closed": (
        f"{OPEN}\nlibc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p\n"
        "libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3,"
        " ctypes.c_long)\nheld = libc.mmap(None, 4096, 3, 1, file, 0); os.close(file)"
    ),
    "locked": f"{OPEN}; fcntl.lockf(file, fcntl.LOCK_EX, 512, 4096)",
    "SQLite": "import sqlite3; at = sqlite3.connect(sys.argv[1]); at.execute('begin')\n"
    "file = os.open(sys.argv[1], os.O_RDONLY)",
}


@pytest.mark.parametrize("use", USES)
def test_a_file_that_somebody_opens_meanwhile(spawn: Spawn, tmp_path: Path, use: str) -> None:
    file = holes(tmp_path / "scratch.img", MIB)
    with file_run(spawn, file) as run, holding(USES[use], file) as holder:
        before = digest(file)
        assert_stopped(run, f"process {holder.pid} ", "locked by another process", "lock")
        assert digest(file) == before


def test_an_opener_who_is_gone_again_ends_nothing(spawn: Spawn, tmp_path: Path) -> None:
    """Somebody who looks at it for a moment, in the pause, is no user of it."""
    file = holes(tmp_path / "scratch.img", MIB)
    with file_run(spawn, file, *PAUSES[:3], "3", *PAUSES[4:]) as run:
        digest(file)
        _, err = run.finish()
    assert run.process.returncode == 0, err


@pytest.mark.skipif(os.geteuid() != 0, reason="a namespace needs root")
def test_somebody_in_another_namespace(spawn: Spawn, tmp_path: Path) -> None:
    file = holes(tmp_path / "scratch.img", MIB)
    with (
        file_run(spawn, file) as run,
        holding(OPEN, file, within=OTHER_MOUNTS) as holder,
    ):
        before = digest(file)
        assert_stopped(run, f"process {holder.pid} ")
        assert digest(file) == before


@needs_loop_devices
@pytest.mark.parametrize("how", ["attached", "attached by a name with a blank", "then deleted"])
def test_a_file_that_is_attached_meanwhile(spawn: Spawn, tmp_path: Path, how: str) -> None:
    file = holes(tmp_path / "scratch.img", 2 * MIB)
    other = file
    if how == "attached by a name with a blank":
        other = tmp_path / "scratch.img "
        other.hardlink_to(file)
    with file_run(spawn, file) as run, attached(other, "--read-only"):
        if how == "then deleted":
            file.unlink()
            file.with_name("kept").touch()
        out, err = run.finish()
        assert run.process.returncode == 1, err
        assert "loop" in err or "is in use" in err, err
        assert 0 < json.loads(out)["write"]["requests"] < 6


@pytest.mark.calibration
def test_a_long_run_asks_now_and_then(spawn: Spawn, tmp_path: Path) -> None:
    """Without any pause, the question is asked every ten seconds at least."""
    file = holes(tmp_path / "scratch.img", MIB)
    with (
        file_run(spawn, file, "--rw", "randwrite", "--runtime", "25s") as run,
        holding(OPEN, file) as holder,
    ):
        out, err = run.finish()
        assert run.process.returncode == 1, err
        assert f"process {holder.pid} " in err
        assert json.loads(out)["write"]["requests"] > 0


@needs_loop_devices
@pytest.mark.parametrize("way", ["the device", "its file", "a device on it"])
def test_a_device_that_somebody_takes_meanwhile(spawn: Spawn, tmp_path: Path, way: str) -> None:
    image = holes(tmp_path / "scratch.img", 32 * MIB)
    leave = ("--destroy-data", "LOOP:scratch.img", "--allow-virtual")
    with (
        attached(image) as device,
        running(spawn, device, *PAUSES, *leave) as run,
        ExitStack() as undo,
    ):
        if way == "a device on it":
            undo.enter_context(attached(Path(device), "--read-only"))
        else:
            undo.enter_context(holding(OPEN, device if way == "the device" else image))
        out, err = run.finish()
        assert run.process.returncode == 1, err
        assert "in use" in err or "is open in process" in err or "attached" in err, err
        assert 0 < json.loads(out)["write"]["requests"] < 6


@needs_loop_devices
def test_a_device_cannot_be_given_to_another_file_meanwhile(spawn: Spawn, tmp_path: Path) -> None:
    """Detached and attached again under a run, by the same name: the other file is not written."""
    image, other = holes(tmp_path / "scratch.img"), precious(tmp_path / "other.img", 16 * MIB)
    before = digest(other)
    leave = ("--destroy-data", "LOOP:scratch.img", "--allow-virtual")
    with attached(image) as device:
        with running(spawn, device, *PAUSES[:3], "3", *PAUSES[4:], *leave) as run:
            subprocess.run(["losetup", "--detach", device], check=False, timeout=30)
            subprocess.run(
                ["losetup", device, str(other)], check=False, timeout=30, capture_output=True
            )
            _, err = run.finish()
            assert run.process.returncode in (0, 1), err
            assert "Traceback" not in err
        held = subprocess.run(["losetup", device], capture_output=True, timeout=30)
        if held.returncode:  # the detaching took effect when the run was over
            done("losetup", device, image)
    assert digest(other) == before


@needs_loop_devices
def test_a_mount_that_hides_the_file_changes_nothing(spawn: Spawn, tmp_path: Path) -> None:
    """What was opened is written on; what appears by its name is not."""
    (tmp_path / "folder").mkdir()
    file = holes(tmp_path / "folder" / "scratch.img", MIB)
    kept = tmp_path / "kept"
    kept.hardlink_to(file)
    words = ("--rw", "write", "--number-ios", "8", "--thinktime", "100ms")
    with (
        file_run(spawn, file, *words) as run,
        mounted_here(file.parent, "-t", "tmpfs", "none"),
    ):
        data = precious(file)
        before = digest(data)
        _, err = run.finish()
        assert run.process.returncode in (0, 1), err
        assert digest(data) == before


PROBES = {
    "probe": ("probe", "units", "{}", "--budget", "full:20s"),
    "characterize": ("characterize", "{}", "--budget", "full:20s", "-O", "{}.html"),
}


@pytest.mark.always(1)
@pytest.mark.parametrize("name", PROBES)
def test_a_probe_of_several_phases_stops(spawn: Spawn, tmp_path: Path, name: str) -> None:
    """Between two series, at the latest."""
    file = holes(tmp_path / "scratch.img", 64 * MIB)
    words = [word.format(file) for word in PROBES[name]]
    process = spawn(*words, "--destroy-data", "FILE:scratch.img", "--seed", "1", "-o", "json")
    run = Run(process, str(file))
    try:
        run.await_write()
        with holding(OPEN, file) as holder:
            out, err = process.communicate(timeout=30)
        assert process.returncode == 1, err
        assert f"process {holder.pid} " in err
        assert out.strip(), "what was measured is kept"
    finally:
        process.kill()
        process.communicate()


def test_a_file_whose_place_another_one_took_is_not_it(spawn: Spawn, tmp_path: Path) -> None:
    """A user of the new file by that name is no user of the target."""
    file = holes(tmp_path / "scratch.img", MIB)
    with file_run(spawn, file, *PAUSES[:3], "3", *PAUSES[4:]) as run:
        file.rename(tmp_path / "moved")
        other = precious(file)
        with holding(OPEN, other):
            _, err = run.finish()
        assert run.process.returncode == 0, err
