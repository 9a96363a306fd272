"""A file that another process uses is not written, in whatever way it is used."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.integration.holders import (
    NO_CAPABILITIES,
    OTHER_MOUNTS,
    OTHER_PROCESSES,
    holding,
    mounted_here,
    served,
)
from tests.integration.kept_content import (
    ALL,
    MIB,
    assert_refused,
    await_first_write,
    digest,
    holes,
    written,
    zeros,
)
from tests.integration.loop_devices import attached, done, mounted

COMMAND = (sys.executable, "-c", "from ssdscope.cli.start import main; main()")
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="a namespace or mount needs root")


@dataclass
class Place:
    """A file of zeros, which could be written if nobody used it, and what to undo in the end."""

    file: Path
    undo: ExitStack

    def hold(self, program: str, *words: str | Path, **options: Any) -> subprocess.Popen[str]:
        return self.undo.enter_context(holding(program, self.file, *words, **options))


Prepare = Callable[[Place], subprocess.Popen[str]]


def program(text: str, **options: Any) -> Prepare:
    return lambda place: place.hold(text, **options)


OPEN_TO_WRITE = "file = os.open(sys.argv[1], os.O_RDWR)"
OPEN_TO_READ = "file = os.open(sys.argv[1], os.O_RDONLY)"
MAP = f"{OPEN_TO_WRITE}; held = mmap.mmap(file, 4096, mmap.MAP_SHARED); os.close(file)"
FOREIGN_LOCK = """
F_OFD_SETLK = 37
def locked(command, kind):
    fcntl.fcntl(file, command, struct.pack('hhqqi4x', kind, 0, 4096, 512, 0))
"""
# The mapping of Python keeps a descriptor of its own; the one of libc does not.
BARE_MAP = """
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
def mapped(rights, kind):
    held = libc.mmap(None, 4096, rights, kind, file, 0)
    assert held != ctypes.c_void_p(-1).value
    os.close(file)
"""
IN_FLIGHT = """
one, other = socket.socketpair()
socket.send_fds(one, [b'here it comes'], [file])
os.close(file)
"""
RING = """
libc = ctypes.CDLL(None, use_errno=True)
ring = libc.syscall(425, 4, ctypes.create_string_buffer(120))
assert ring >= 0, 'no io_uring'
assert libc.syscall(427, ring, 2, (ctypes.c_int * 1)(file), 1) == 0
os.close(file)
"""
EXECUTED = """
copy = subprocess.Popen(['/proc/self/fd/0'], stdin=file)
"""


def database(place: Place) -> subprocess.Popen[str]:
    """SQLite inside a transaction, with what it has written still on its way."""
    place.file.unlink()
    return place.hold(
        "import sqlite3; at = sqlite3.connect(sys.argv[1]);"
        "at.execute('create table t (x)'); at.executemany('insert into t values (?)',"
        " [(n,) for n in range(9999)]); at.commit(); at.execute('begin immediate');"
        "at.execute('update t set x = x + 1')"
    )


def virtual_machine(place: Place) -> subprocess.Popen[str]:
    """A raw image that QEMU serves, as of a guest."""
    socket = place.file.with_name("socket")
    words = ("qemu-nbd", "--format=raw", "--persistent", "--socket", socket, place.file)
    return place.undo.enter_context(served(socket, *words))


def read_only_image(place: Place) -> subprocess.Popen[str]:
    socket = place.file.with_name("socket")
    words = ("qemu-nbd", "--format=raw", "--read-only", "--persistent", "--socket", socket)
    return place.undo.enter_context(served(socket, *words, place.file))


@dataclass(frozen=True)
class Case:
    """What another process does, and what of it must be named beside that it is a use."""

    prepare: Prepare
    names_process: bool = True
    needs_root: bool = False


LOCKED = f"{OPEN_TO_WRITE}\n{FOREIGN_LOCK}"
CASES = {
    "open to write": Case(program(OPEN_TO_WRITE)),
    "open to append": Case(program("file = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)")),
    "open to read": Case(program(OPEN_TO_READ)),
    "open by its hard link": Case(
        program("os.link(sys.argv[1], sys.argv[1] + '2');"
                "file = os.open(sys.argv[1] + '2', os.O_RDWR)")
    ),
    "standard input of a program": Case(program(
        "file = os.open(sys.argv[1], os.O_RDONLY); os.dup2(file, 2); os.close(file)")),
    "mapped, and the descriptor kept": Case(program(MAP)),
    "mapped shared, and closed": Case(program(f"{OPEN_TO_WRITE}\n{BARE_MAP}\nmapped(3, 1)")),
    "mapped shared to read, and closed": Case(program(f"{OPEN_TO_READ}\n{BARE_MAP}\nmapped(1, 1)")),
    "mapped private, and closed": Case(program(f"{OPEN_TO_READ}\n{BARE_MAP}\nmapped(1, 2)")),
    "flock, shared": Case(program(f"{OPEN_TO_READ}; fcntl.flock(file, fcntl.LOCK_SH)")),
    "flock, exclusive": Case(program(f"{OPEN_TO_READ}; fcntl.flock(file, fcntl.LOCK_EX)")),
    "POSIX lock to write": Case(program(f"{LOCKED}\nlocked(fcntl.F_SETLK, fcntl.F_WRLCK)")),
    "POSIX lock to read": Case(program(f"{LOCKED}\nlocked(fcntl.F_SETLK, fcntl.F_RDLCK)")),
    "OFD lock to write": Case(program(f"{LOCKED}\nlocked(F_OFD_SETLK, fcntl.F_WRLCK)")),
    "OFD lock to read": Case(program(f"{LOCKED}\nlocked(F_OFD_SETLK, fcntl.F_RDLCK)")),
    "lease to read": Case(
        program(f"{OPEN_TO_READ}; fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)"),
        names_process=False,
    ),
    # Whoever opens such a file waits for 45 seconds, unless it asks not to.
    "lease to write": Case(
        program("import signal; signal.signal(signal.SIGIO, signal.SIG_IGN);"
                f"{OPEN_TO_WRITE}; fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)"),
        names_process=False,
    ),
    "in flight between two sockets": Case(
        program(f"{OPEN_TO_WRITE}\n{IN_FLIGHT}"), names_process=False
    ),
    "registered with a ring": Case(program(f"{OPEN_TO_WRITE}\n{RING}"), names_process=False),
    "in another mount namespace": Case(
        program(OPEN_TO_WRITE, within=OTHER_MOUNTS), needs_root=True
    ),
    "in another process namespace": Case(
        program(OPEN_TO_WRITE, within=OTHER_PROCESSES), names_process=False, needs_root=True
    ),
    "SQLite in a transaction": Case(database),
    "qemu-nbd": Case(virtual_machine),
    "qemu-nbd, which only reads": Case(read_only_image),
}  # fmt: skip


@contextmanager
def place_in(folder: Path) -> Iterator[Place]:
    with ExitStack() as undo:
        yield Place(zeros(folder / "scratch.img"), undo)


@pytest.mark.parametrize("name", CASES)
def test_it_is_not_written(cli: Callable[..., Any], tmp_path: Path, name: str) -> None:
    case = CASES[name]
    if case.needs_root and os.geteuid() != 0:
        pytest.skip("a namespace needs root")
    with place_in(tmp_path) as place:
        before = digest(place.file)
        holder = case.prepare(place)
        if name == "SQLite in a transaction":
            before = digest(place.file)
        said = written(cli, place.file, "FILE:scratch.img", *ALL)
    assert digest(place.file) == before
    assert_refused(said, r"process \d+", "open", "lock", "lease", "used")
    if case.names_process:
        assert re.search(rf"\b{holder.pid}\b", said.err), said.err


KEEP = ("--preserve-content",)


@pytest.mark.parametrize(
    "name",
    ["open to write", "mapped shared, and closed", "POSIX lock to write", "OFD lock to write",
     "flock, exclusive", "lease to write", "in flight between two sockets", "qemu-nbd"],
)  # fmt: skip
def test_it_is_not_even_written_back(cli: Callable[..., Any], tmp_path: Path, name: str) -> None:
    """Who preserves content would write back what was there before the other one wrote."""
    with place_in(tmp_path) as place:
        CASES[name].prepare(place)
        said = written(cli, place.file, "FILE:scratch.img", *KEEP)
    assert_refused(said, r"process \d+", "open", "lock", "lease", "used")


def test_a_lease_holds_nobody_up(
    spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    """An open of such a file waits for 45 seconds, of a reader too, unless that is excluded."""
    with place_in(tmp_path) as place:
        CASES["lease to write"].prepare(place)
        for words in (("doctor", "--identify", str(place.file)), ("run", str(place.file))):
            process = spawn(*words)
            try:
                _, err = process.communicate(timeout=20)
            finally:
                process.kill()
                process.communicate()
            assert process.returncode in (0, 1, 2), err
            assert "Traceback" not in err


@pytest.mark.parametrize("command", [
    ("characterize", "--budget", "5s"), ("probe", "units", "--budget", "2s"),
    ("replay",), ("serve",), ("run", "--flow"),
], ids=lambda words: words[0] + words[-1])  # fmt: skip
def test_no_command_writes_it(
    spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path, command: tuple[str, ...]
) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("time,op,offset,size\n0,write,0,4096\n", encoding="utf-8")
    leave = ("--destroy-data", "FILE:scratch.img", "--overwrite-existing")
    with place_in(tmp_path) as place:
        holder = place.hold(OPEN_TO_WRITE)
        before, target = digest(place.file), str(place.file)
        words = {
            "characterize": ("characterize", target, *command[1:], "-O", f"{tmp_path}/a.html"),
            "probe": ("probe", "units", target, *command[2:]),
            "replay": ("replay", target, str(trace)),
            "serve": ("serve", target, "--socket", f"{tmp_path}/socket"),
            "run": ("run", target, "--flow", "rw=write number-ios=4", "--flow", "rw=read"),
        }[command[0]]
        process = spawn(*words, *leave)
        try:
            _, err = process.communicate(timeout=15)
        finally:
            process.kill()
            process.communicate()
        assert process.returncode == 2, err
        assert str(holder.pid) in err
        assert digest(place.file) == before


def test_a_member_of_an_array_is_asked_as_well(cli: Callable[..., Any], tmp_path: Path) -> None:
    free = zeros(tmp_path / "free.img")
    with place_in(tmp_path) as place:
        holder = place.hold(OPEN_TO_WRITE)
        before = digest(free, place.file)
        uri = f"raid0:{free},{place.file}?chunk=64k"
        said = written(cli, uri, "FILE:free.img,FILE:scratch.img", *ALL)
        assert_refused(said, rf"\b{holder.pid}\b")
        assert digest(free, place.file) == before


@NEEDS_ROOT
@pytest.mark.parametrize("how", ["open", "mapped"])
@pytest.mark.parametrize("kind", ["overlay", "btrfs", "tmpfs"])
def test_identity_holds_on_every_file_system(
    cli: Callable[..., Any], tmp_path: Path, kind: str, how: str
) -> None:
    """The device numbers that mappings are listed with are others than those of `stat` there."""
    use = OPEN_TO_WRITE if how == "open" else f"{OPEN_TO_WRITE}\n{BARE_MAP}\nmapped(3, 1)"
    with ExitStack() as undo:
        folder = undo.enter_context(file_system(kind, tmp_path))
        file = zeros(folder / "scratch.img")
        holder = undo.enter_context(holding(use, file))
        said = written(cli, file, "FILE:scratch.img", *ALL)
        assert file.read_bytes() == bytes(MIB)
    assert_refused(said, rf"\b{holder.pid}\b")


@contextmanager
def file_system(kind: str, folder: Path) -> Iterator[Path]:
    at = folder / "mnt"
    with ExitStack() as undo:
        if kind == "btrfs":
            image = holes(folder / "btrfs.img", 128 * MIB)
            done("mkfs.btrfs", "-q", image)
            yield undo.enter_context(mounted(undo.enter_context(attached(image)), at))
            return
        at.mkdir()
        options = []
        if kind == "overlay":
            # An overlay cannot lie on one, where a container keeps its temporary folder.
            layers = folder / "layers"
            layers.mkdir()
            undo.enter_context(mounted_here(layers, "-t", "tmpfs", "none"))
            names = ("lower", "upper", "work")
            for name in names:
                (layers / name).mkdir()
            lower, upper, work = (layers / name for name in names)
            options = ["-o", f"lowerdir={lower},upperdir={upper},workdir={work}"]
        yield undo.enter_context(mounted_here(at, "-t", kind, *options, "none"))


@NEEDS_ROOT
def test_the_layer_beneath_an_overlay_is_the_same_file(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    """A container has its disk open through an overlay: the file in the layer has other numbers."""
    with ExitStack() as undo:
        merged = undo.enter_context(file_system("overlay", tmp_path))
        zeros(merged / "scratch.img")
        file = tmp_path / "layers" / "upper" / "scratch.img"
        undo.enter_context(holding(OPEN_TO_WRITE, merged / "scratch.img"))
        said = written(cli, file, "FILE:scratch.img", *ALL)
        assert file.read_bytes() == bytes(MIB)
    assert_refused(said, "open", "used")


NOT_SEEN = (
    r"cannot (?:be )?(?:see|know|exclude|ask|look|tell)|not (?:be )?(?:seen|visible|shown)"
    r"|only root|as root|CAP_SYS_PTRACE"
)
"""What is said of uses that could not be asked for."""


def assert_refused_or_said(said: subprocess.CompletedProcess[str], file: Path) -> None:
    """Nobody may look into the other process: then the kernel refuses, or the page says so."""
    assert said.returncode in (0, 2), said.stderr
    assert "Traceback" not in said.stderr
    if said.returncode == 0:
        assert re.search(NOT_SEEN, said.stderr), said.stderr
    else:
        assert file.read_bytes() == bytes(MIB)


def run_within(within: tuple[str, ...], file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*within, *COMMAND, "run", str(file), "--rw", "write", "--number-ios", "4",
         "--destroy-data", "FILE:scratch.img"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@NEEDS_ROOT
@pytest.mark.parametrize("within", [NO_CAPABILITIES, OTHER_PROCESSES], ids=["powerless", "inside"])
@pytest.mark.parametrize("use", [OPEN_TO_WRITE, f"{OPEN_TO_WRITE}\n{BARE_MAP}\nmapped(3, 1)"],
                         ids=["open", "mapped"])  # fmt: skip
def test_what_cannot_be_seen_is_said(tmp_path: Path, within: tuple[str, ...], use: str) -> None:
    """Root without capabilities, and root of a container, see less than their number promises."""
    with place_in(tmp_path) as place:
        place.hold(use)
        assert_refused_or_said(run_within(within, place.file), place.file)


@NEEDS_ROOT
def test_without_a_table_of_processes_it_is_said(tmp_path: Path) -> None:
    """A sandbox may have an empty folder in the place of `/proc`."""
    within = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh")
    with place_in(tmp_path) as place:
        place.hold(OPEN_TO_WRITE)
        said = run_within(within, place.file)
        assert_refused_or_said(said, place.file)


@NEEDS_ROOT
def test_another_user_is_told_what_stays_unseen() -> None:
    """Nobody else's descriptors are shown to a user without power."""
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    reached = subprocess.run([*nobody, *COMMAND, "--version"], capture_output=True, timeout=60)
    if reached.returncode:
        pytest.skip("another user does not reach this environment")
    with tempfile.TemporaryDirectory() as folder, place_in(Path(folder)) as place:
        for path in (Path(folder), place.file):
            os.chown(path, 65534, 65534)
        place.hold(OPEN_TO_WRITE)
        assert_refused_or_said(run_within(nobody, place.file), place.file)


def test_whoever_is_gone_holds_nothing(cli: Callable[..., Any], tmp_path: Path) -> None:
    """All refusals would pass if a file was never written."""
    for use in (OPEN_TO_WRITE, f"{LOCKED}\nlocked(F_OFD_SETLK, fcntl.F_WRLCK)"):
        with place_in(tmp_path) as place:
            place.hold(use)
        said = written(cli, place.file, "FILE:scratch.img")
        assert said.status == 0, said.err
        assert not re.search(NOT_SEEN, said.err) or os.geteuid() != 0, "root sees everything"


def test_another_file_beside_it_is_written(cli: Callable[..., Any], tmp_path: Path) -> None:
    """A lock and an open file are of one inode, and not of a folder or a name."""
    with place_in(tmp_path) as place:
        place.hold(f"{LOCKED}\nlocked(fcntl.F_SETLK, fcntl.F_WRLCK)")
        said = written(cli, zeros(tmp_path / "scratch.img2"), "FILE:scratch.img2")
    assert said.status == 0, said.err


def test_two_runs_at_once_on_one_file(
    cli: Callable[..., Any], spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    """The second is refused, with exit code 2, and told by whom."""
    file = holes(tmp_path / "scratch.img", MIB)
    first = spawn(
        "run", str(file), "--rw", "write", "--number-ios", "100", "--thinktime", "100ms",
        "--destroy-data", "FILE:scratch.img",
    )  # fmt: skip
    try:
        await_first_write(first, file)
        second = written(cli, file, "FILE:scratch.img", *ALL)
        assert first.poll() is None, "the first was too quick"
    finally:
        first.communicate(timeout=30)
    assert_refused(second, r"process \d+", "locked by another process")
    assert first.returncode == 0


def test_reading_disturbs_nobody(cli: Callable[..., Any], tmp_path: Path) -> None:
    """Only writing is refused where others work."""
    with place_in(tmp_path) as place:
        place.hold(f"{LOCKED}\nlocked(fcntl.F_SETLK, fcntl.F_RDLCK)")
        said = cli("run", str(place.file), "--rw", "read", "--number-ios", "4")
    assert said.status == 0, said.err
