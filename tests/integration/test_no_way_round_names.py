"""A target is what was opened, by whatever name: no other name for it, and none that changes."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.integration.holders import holding, mounted_here
from tests.integration.kept_content import (
    ALL,
    MIB,
    assert_refused,
    await_first_write,
    digest,
    holes,
    precious,
    written,
    zeros,
)
from tests.integration.loop_devices import attached, needs_loop_devices
from tests.races import flip_link, flip_to_mount

BOUND_S = 2.0
"""Of a race here: the old door lost the data several times a second."""


@pytest.mark.parametrize("way", flip_link.WAYS)
def test_a_name_that_flips_never_leads_to_a_write_elsewhere(tmp_path: Path, way: str) -> None:
    tally = flip_link.WAYS[way](tmp_path, BOUND_S)
    assert tally.wrong == 0, "\n".join(tally.lines())
    assert tally.exits[0] > 0, "the scratch file is written, or the race is none"
    assert set(tally.exits) <= {0, 2}, "\n".join(tally.lines())


@pytest.mark.calibration
@pytest.mark.parametrize("way", flip_link.WAYS)
def test_a_name_that_flips_for_half_a_minute(tmp_path: Path, way: str) -> None:
    tally = flip_link.WAYS[way](tmp_path, 30)
    assert tally.flips >= 1000
    assert tally.wrong == 0, "\n".join(tally.lines())


@needs_loop_devices
@pytest.mark.parametrize("way", flip_to_mount.WAYS)
def test_a_link_that_flips_never_leads_to_a_write_on_a_mounted_device(
    tmp_path: Path, way: str
) -> None:
    tally = flip_to_mount.WAYS[way](tmp_path, BOUND_S)
    assert tally.wrong == 0, "\n".join(tally.lines())
    assert tally.exits[0] > 0, "the scratch space is written, or the race is none"
    assert set(tally.exits) <= {0, 2}, "\n".join(tally.lines())


@pytest.mark.calibration
@needs_loop_devices
@pytest.mark.parametrize("way", flip_to_mount.WAYS)
def test_a_link_that_flips_to_a_mount_for_half_a_minute(tmp_path: Path, way: str) -> None:
    tally = flip_to_mount.WAYS[way](tmp_path, 30)
    assert tally.flips >= 1000
    assert tally.wrong == 0, "\n".join(tally.lines())


@pytest.mark.parametrize("kind", ["fifo", "null", "socket", "folder"])
@pytest.mark.parametrize("write", [(), ("--write",)], ids=["read", "write"])
def test_what_is_no_file_swaps_in_and_nothing_hangs(kind: str, write: tuple[str, ...]) -> None:
    script = Path(flip_link.__file__).with_name("flip_to_odd.py")
    words = (sys.executable, script, "--kind", kind, "--seconds", "0.5", *write)
    ran = subprocess.run(words, capture_output=True, text=True, timeout=20)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_serve_opens_what_it_checked(tmp_path: Path) -> None:
    """A server opens its target a second time, through the page cache: of the same file."""
    from tests.races.trying import Tally, flipping

    from ssdscope.errors import SsdscopeError
    from ssdscope.targets import open_target
    from ssdscope.targets.serving import exported
    from ssdscope.workloads import Workload

    scratch, db = flip_link.prepare(tmp_path)
    link, other, before = tmp_path / "link", tmp_path / "other", digest(db)
    link.symlink_to(scratch)
    other.symlink_to(db)
    writes = Workload(rw="write", block_bytes=4096, requests=2, seed=1)
    opened = 0
    with flipping(link, other, Tally()):
        # By the clock: who waits for a core leaves the link where it is for many tries.
        end = time.monotonic() + 30
        while opened < 4 and time.monotonic() < end:
            leave: dict[str, Any] = {"destroy_token": "FILE:scratch.img"}
            try:
                target = open_target(str(link), overwrite_existing=True, **leave)
            except SsdscopeError:
                continue
            opened += 1
            with exported(target) as uri:
                client = open_target(uri, destroy_token="NBD:", allow_virtual=True)
                client.device.run(writes)
                del client
            del target
            assert digest(db) == before
    assert opened > 0
    assert scratch.read_bytes() != bytes(MIB)


def as_descriptor(folder: str) -> Callable[[Path], subprocess.CompletedProcess[str]]:
    """Name a file by a descriptor that the command inherits."""

    def run(file: Path) -> subprocess.CompletedProcess[str]:
        handle = os.open(file, os.O_RDWR)
        try:
            return command(f"{folder}/{handle}", f"FILE:{handle}", pass_fds=(handle,))
        finally:
            os.close(handle)

    return run


def command(target: str, token: str, **options: Any) -> subprocess.CompletedProcess[str]:
    words = ["run", target, "--rw", "write", "--number-ios", "4", "--destroy-data", token, *ALL]
    return subprocess.run(
        [sys.executable, "-c", "from ssdscope.cli.start import main; main()", *words],
        capture_output=True, text=True, timeout=60, **options,
    )  # fmt: skip


def by_standard_input(file: Path) -> subprocess.CompletedProcess[str]:
    with file.open("r+b") as stdin:
        return command("/dev/stdin", "FILE:stdin", stdin=stdin)


def by_root_of_a_process(file: Path) -> subprocess.CompletedProcess[str]:
    return command(f"/proc/self/root{file}", "FILE:root")


@pytest.mark.parametrize(
    "name_it",
    [as_descriptor("/proc/self/fd"), as_descriptor("/dev/fd"), by_standard_input,
     by_root_of_a_process],
    ids=["/proc/self/fd", "/dev/fd", "/dev/stdin", "/proc/self/root"],
)  # fmt: skip
def test_a_name_in_proc_has_the_token_of_what_it_leads_to(
    tmp_path: Path, name_it: Callable[[Path], subprocess.CompletedProcess[str]]
) -> None:
    file = precious(tmp_path / "precious.db")
    before = digest(file)
    said = name_it(file)
    assert said.returncode == 2, said.stderr
    assert "token" in said.stderr
    assert digest(file) == before


def test_a_deleted_file_that_somebody_still_uses_is_not_written(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    file = precious(tmp_path / "precious.db")
    before = digest(file)
    with holding("file = os.open(sys.argv[1], os.O_RDWR)", file) as holder, file.open("rb") as kept:
        file.unlink()
        links = list(Path(f"/proc/{holder.pid}/fd").iterdir())
        link = next(link for link in links if str(link.readlink()).startswith(str(file)))
        for token in ("FILE:precious.db", "FILE:precious.db (deleted)", f"FILE:{link.name}"):
            said = written(cli, link, token, *ALL)
            assert said.status == 2, said.err
            assert "Traceback" not in said.err
        import hashlib

        assert hashlib.sha256(hashlib.file_digest(kept, "sha256").digest()).hexdigest() == before


def test_a_file_by_the_name_of_a_deleted_one_is_another(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    """The kernel calls what was deleted "NAME (deleted)", and a file may really be called so."""
    file, namesake = zeros(tmp_path / "a.img"), precious(tmp_path / "a.img (deleted)")
    before = digest(namesake)
    with holding("file = os.open(sys.argv[1], os.O_RDWR)", file) as holder:
        file.unlink()
        links = list(Path(f"/proc/{holder.pid}/fd").iterdir())
        link = next(link for link in links if link.readlink() == namesake)
        said = written(cli, link, "FILE:a.img (deleted)", *ALL)
    assert said.status == 2, said.err
    assert digest(namesake) == before


@needs_loop_devices
@pytest.mark.parametrize("by", ["hard link", "bind mount of the file", "bind mount of its folder"])
def test_another_name_is_the_same_file(cli: Callable[..., Any], tmp_path: Path, by: str) -> None:
    """It is behind a loop device, by whatever name it is written."""
    file = precious(tmp_path / "here" / "scratch.img", 2 * MIB)
    there = tmp_path / "there"
    there.mkdir()
    before, name = digest(file), there / "scratch.img"
    with attached(file):
        if by == "hard link":
            name.hardlink_to(file)
            said = written(cli, name, "FILE:scratch.img", *ALL)
        elif by == "bind mount of the file":
            name.touch()
            with mounted_here(name, "--bind", file):
                said = written(cli, name, "FILE:scratch.img", *ALL)
        else:
            with mounted_here(there, "--bind", file.parent):
                said = written(cli, name, "FILE:scratch.img", *ALL)
    assert_refused(said, "is the file behind loop", "attached")
    assert digest(file) == before


def test_a_file_with_two_names_has_both_tokens_and_one_content(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    """A second name gives nothing up: what is there decides."""
    file = precious(tmp_path / "precious.db")
    (tmp_path / "scratch.img").hardlink_to(file)
    before = digest(file)
    assert_refused(written(cli, tmp_path / "scratch.img", "FILE:scratch.img"), "holds data")
    assert_refused(written(cli, file, "FILE:scratch.img", *ALL), "token")
    assert digest(file) == before


def start_slow_run(
    spawn: Callable[..., subprocess.Popen[str]], target: Path, *words: str
) -> subprocess.Popen[str]:
    """Start a run that pauses between writes; it has begun to write when this returns."""
    process = spawn(
        "run", str(target), "--rw", "write", "--number-ios", "8", "--thinktime", "100ms",
        "--destroy-data", f"FILE:{target.name}", "-o", "json", *words,
    )  # fmt: skip
    await_first_write(process, target)
    return process


@pytest.mark.parametrize("how", ["renamed", "replaced", "link changed", "folder moved"])
def test_a_run_goes_on_with_what_it_opened(
    spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path, how: str
) -> None:
    """Names change under a run; the file that was opened is written on, or nothing more is."""
    folder = tmp_path / "folder"
    folder.mkdir()
    scratch = holes(folder / "scratch.img", MIB)
    data = precious(tmp_path / "precious.db")
    target, before, moved = scratch, digest(data), tmp_path / "moved"
    process = start_slow_run(spawn, target)
    if how == "renamed":
        scratch.rename(moved)
    elif how == "replaced":
        scratch.rename(moved)
        shutil.copy(data, scratch)
        data = scratch
    elif how == "link changed":
        scratch.rename(moved)
        scratch.symlink_to(data)
    else:
        folder.rename(tmp_path / "gone")
        moved = tmp_path / "gone" / "scratch.img"
        precious(folder / "scratch.img")
        data = folder / "scratch.img"
    out, err = process.communicate(timeout=60)
    assert process.returncode in (0, 1), err
    assert '"requests"' in out, err
    assert digest(data) == before
    assert moved.read_bytes() != bytes(MIB)
