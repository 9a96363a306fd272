"""Our mark on a file says what we wrote, and no more: everything else needs the second word."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.integration.kept_content import (
    MIB,
    assert_refused,
    await_first_write,
    digest,
    holes,
    precious,
    put,
)

TOKEN = ("--destroy-data", "FILE:scratch.img")
OVER = (*TOKEN, "--overwrite-existing")
HOLDS = ("holds data", "--overwrite-existing")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Four mebibytes of somebody's data."""
    return precious(tmp_path / "scratch.img", 4 * MIB)


def write(cli: Callable[..., Any], file: Path, *words: str) -> Any:
    return cli("run", str(file), "--rw", "write", "--bs", "64k", "--seed", "1", *words)


def give_up(cli: Callable[..., Any], file: Path, *words: str) -> None:
    said = write(cli, file, *OVER, *words)
    assert said.status == 0, said.err


def assert_kept(cli: Callable[..., Any], file: Path, *words: str) -> None:
    before = digest(file)
    assert_refused(write(cli, file, *TOKEN, *words), *HOLDS)
    assert digest(file) == before


def assert_rest_kept(cli: Callable[..., Any], file: Path, *words: str, ours: int = MIB) -> None:
    """Stopped at what is not ours, before or in mid-run; all behind our first bytes is kept."""
    before = file.read_bytes()[ours:]
    said = write(cli, file, *TOKEN, *words)
    assert said.status in (1, 2), said.err
    assert "--overwrite-existing" in said.err
    assert file.read_bytes()[ours:] == before


@pytest.mark.parametrize("words", [
    ("--dry-run",), ("--rw", "read"), ("--rw", "randread", "--number-ios", "9"),
    ("--rw", "read", "--verify", "crc32c"), ("--write-limit", "1k"),
    ("--io-size", "4k", "--dry-run"),
], ids=" ".join)  # fmt: skip
def test_what_writes_nothing_gives_up_nothing(
    cli: Callable[..., Any], file: Path, words: tuple[str, ...]
) -> None:
    before = digest(file), os.listxattr(file)
    cli("run", str(file), "--rw", "write", "--bs", "64k", *OVER, *words)
    assert (digest(file), os.listxattr(file)) == before
    assert_kept(cli, file)


@pytest.mark.parametrize("command", [
    ("probe", "latency", "--budget", "1s", "--dry-run"), ("characterize", "--dry-run"),
    ("probe", "latency", "--budget", "1s"), ("replay",), ("doctor",), ("serve",),
], ids=" ".join)  # fmt: skip
def test_no_command_gives_up_what_it_did_not_write(
    cli: Callable[..., Any], spawn: Callable[..., subprocess.Popen[str]], file: Path,
    command: tuple[str, ...],
) -> None:  # fmt: skip
    before, name = digest(file), str(file)
    verb, *rest = command
    if verb == "probe":
        cli("probe", rest[0], name, *rest[1:], *OVER)
    elif verb == "characterize":
        cli(verb, name, "-O", f"{file}.html", *rest, *OVER)
    elif verb == "replay":
        trace = file.with_name("trace.csv")
        trace.write_text("0.0,read,0,4096\n", encoding="utf-8")
        columns = "time=s:1,op:2,offset=bytes:3,size=bytes:4"
        cli(verb, name, str(trace), "--format", "csv", "--columns", columns, *OVER)
    elif verb == "doctor":
        cli(verb, "--identify", name)
    else:
        process = spawn(verb, name, "--socket", f"{file}.socket", *OVER)
        end = time.monotonic() + 30
        while not Path(f"{file}.socket").exists() and process.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.01)
        process.terminate()
        process.communicate(timeout=30)
    if digest(file) == before:  # a probe of reads may prepare places by writing; then some is ours
        assert_kept(cli, file)
    else:
        assert write(cli, file, *TOKEN).status == 2


def test_the_mark_covers_the_range_that_was_written(cli: Callable[..., Any], file: Path) -> None:
    give_up(cli, file, "--size", "1m")
    assert_rest_kept(cli, file)
    assert_kept(cli, file, "--offset", "1m", "--size", "1m")
    assert_rest_kept(cli, file, "--offset", "960k", "--size", "128k")
    assert write(cli, file, *TOKEN, "--size", "1m").status == 0
    assert write(cli, file, *TOKEN, "--offset", "512k", "--size", "512k").status == 0
    assert file.read_bytes()[MIB:] == precious(file.with_name("again"), 4 * MIB).read_bytes()[MIB:]


def test_ranges_add_up(cli: Callable[..., Any], file: Path) -> None:
    for start, ours in (("0", 0), ("2m", MIB), ("1m", MIB), ("3m", 3 * MIB)):
        assert_rest_kept(cli, file, ours=ours)
        give_up(cli, file, "--offset", start, "--size", "1m")
    assert write(cli, file, *TOKEN).status == 0


def test_a_failed_write_gives_up_nothing(cli: Callable[..., Any], file: Path) -> None:
    """The limit ends the run before its first write is over."""
    before = digest(file)
    said = write(cli, file, *OVER, "--write-limit", "4k")
    assert said.status == 1
    assert digest(file) == before
    assert_kept(cli, file)


def same_times(file: Path, change: Callable[[Path], None]) -> None:
    """Change a file, and give it the times that it had."""
    stat = file.stat()
    change(file)
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert file.stat().st_mtime_ns == stat.st_mtime_ns
    assert file.stat().st_size == stat.st_size


def new_content(file: Path) -> None:
    file.write_bytes(precious(file.with_name("new"), 4 * MIB).read_bytes())


def one_sector(file: Path) -> None:
    put(file, 3 * MIB + 512, b"a" * 512)


def inside_a_sector(file: Path) -> None:
    put(file, 3 * MIB + 512 + 100, b"a letter")


def last_bytes(file: Path) -> None:
    put(file, 4 * MIB - 8, b"a letter")


@pytest.mark.parametrize("change", [new_content, one_sector, inside_a_sector, last_bytes])
@pytest.mark.parametrize("stamped", [(), ("--verify", "crc32c")], ids=["plain", "stamped"])
@pytest.mark.parametrize("times", [True, False], ids=["old times", "new times"])
def test_what_somebody_put_there_is_theirs(
    cli: Callable[..., Any], file: Path, change: Callable[[Path], None], stamped: tuple[str, ...],
    times: bool,
) -> None:  # fmt: skip
    give_up(cli, file, *stamped)
    assert write(cli, file, *TOKEN).status == 0, "all of it is ours"
    give_up(cli, file, *stamped)
    if times:
        same_times(file, change)
    else:
        change(file)
    before = digest(file)
    said = write(cli, file, *TOKEN)
    after = file.read_bytes()
    assert said.status in (1, 2), said.err
    assert "--overwrite-existing" in said.err
    if change is new_content:
        assert digest(file) == before
    elif change is one_sector:
        assert after[3 * MIB + 512 : 3 * MIB + 1024] == b"a" * 512
    else:
        assert after.count(b"a letter") == 1


def test_a_mark_on_other_content_is_none(cli: Callable[..., Any], file: Path) -> None:
    """Attributes are copied with files, by `cp --preserve=all` and by backups."""
    give_up(cli, file)
    marks = {name: os.getxattr(file, name) for name in os.listxattr(file)}
    other = precious(file.with_name("other") / "scratch.img", 4 * MIB)
    for name, value in marks.items():
        os.setxattr(other, name, value)
    stat = file.stat()
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert_kept(cli, other)


@pytest.mark.parametrize("copy", [shutil.copyfile, shutil.copy2])
def test_a_copy_of_ours_is_ours(
    cli: Callable[..., Any], file: Path, copy: Callable[[Path, Path], Path]
) -> None:
    give_up(cli, file)
    other = file.with_name("other.img")
    copy(file, other)
    assert write(cli, other, "--destroy-data", "FILE:other.img").status == 0


def test_a_renamed_file_of_ours_is_ours(cli: Callable[..., Any], file: Path) -> None:
    give_up(cli, file)
    other = file.rename(file.with_name("other.img"))
    assert write(cli, other, "--destroy-data", "FILE:other.img").status == 0


def test_a_file_that_grew_is_not_ours_there(cli: Callable[..., Any], file: Path) -> None:
    give_up(cli, file)
    same_size = file.stat().st_size
    with file.open("ab") as end:
        end.write(b"a letter" * 512)
    said = write(cli, file, *TOKEN)
    assert said.status in (1, 2), said.err
    assert file.read_bytes()[same_size:] == b"a letter" * 512


def test_a_hole_in_ours_is_nobodys(cli: Callable[..., Any], file: Path) -> None:
    give_up(cli, file)
    put(file, MIB, bytes(MIB))
    assert write(cli, file, *TOKEN).status == 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_run_leaves_a_file_that_can_be_gone_on_with(
    cli: Callable[..., Any], spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path,
    number: int,
) -> None:  # fmt: skip
    file = holes(tmp_path / "scratch.img", 8 * MIB)
    process = spawn("run", str(file), "--rw", "randwrite", "--runtime", "60s", *TOKEN)
    await_first_write(process, file)
    time.sleep(0.1)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert file.read_bytes() != bytes(8 * MIB)
    said = write(cli, file, *TOKEN)
    assert said.status == 0, said.err


def test_a_killed_run_over_data_gives_up_what_it_wrote_at_most(
    cli: Callable[..., Any], spawn: Callable[..., subprocess.Popen[str]], file: Path
) -> None:
    old = file.stat().st_mtime_ns
    process = spawn("run", str(file), "--rw", "write", "--size", "1m", "--runtime", "60s", *OVER)
    while file.stat().st_mtime_ns == old and process.poll() is None:
        time.sleep(0.005)
    time.sleep(0.5)
    process.kill()
    process.communicate(timeout=30)
    assert_rest_kept(cli, file)
    assert_kept(cli, file, "--offset", "1m", "--size", "1m")


def test_what_was_kept_is_not_ours(cli: Callable[..., Any], file: Path) -> None:
    before = digest(file)
    assert write(cli, file, *TOKEN, "--preserve-content").status == 0
    assert digest(file) == before
    assert_kept(cli, file)


def test_on_a_file_system_without_attributes(cli: Callable[..., Any], file: Path) -> None:
    """The sectors say it themselves: losing the mark loses time, and nothing else."""
    give_up(cli, file)
    for name in os.listxattr(file):
        os.removexattr(file, name)
    assert write(cli, file, *TOKEN).status == 0
    one_sector(file)
    for name in os.listxattr(file):
        os.removexattr(file, name)
    assert_kept(cli, file)
