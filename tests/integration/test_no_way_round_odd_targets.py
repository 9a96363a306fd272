"""Targets that nobody thinks of: swap files, layers, sealed files, outputs of our own."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
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
from tests.integration.loop_devices import attached, done, mounted, needs_loop_devices

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@NEEDS_ROOT
def test_a_swap_file_in_use(cli: Callable[..., Any], tmp_path: Path) -> None:
    """The kernel has pages of programs in there: what is lost is memory."""
    file = zeros(tmp_path / "scratch.img", 2 * MIB)
    file.chmod(0o600)
    done("mkswap", file)
    tried = subprocess.run(["swapon", file], capture_output=True, text=True, timeout=30)
    if tried.returncode:
        pytest.skip(f"no swap here: {tried.stderr.strip()}")
    try:
        before = digest(file)
        said = written(cli, file, "FILE:scratch.img", *ALL)
        assert digest(file) == before
    finally:
        done("swapoff", file)
    assert_refused(said, "swap")


@NEEDS_ROOT
@pytest.mark.parametrize("flag", ["+i", "+a"])
def test_a_sealed_file(cli: Callable[..., Any], tmp_path: Path, flag: str) -> None:
    """Immutable, or only to be appended to: root cannot open it for writing, and is told."""
    file = zeros(tmp_path / "scratch.img")
    if subprocess.run(["chattr", flag, file], capture_output=True, timeout=30).returncode:
        pytest.skip("this file system has no such attribute")
    try:
        said = written(cli, file, "FILE:scratch.img", *ALL)
        assert said.status in (1, 2), said.err
        assert "Traceback" not in said.err
        assert not file.read_bytes().strip(b"\0")
    finally:
        done("chattr", flag.replace("+", "-"), file)


def test_a_sealed_memory_file(cli: Callable[..., Any]) -> None:
    """No name at all: a descriptor of memory that another process may have sealed."""
    handle = os.memfd_create("scratch.img", os.MFD_ALLOW_SEALING)
    try:
        os.write(handle, bytes(MIB))
        seal_write, add_seals = 8, 1033
        fcntl.fcntl(handle, add_seals, seal_write)
        said = written(cli, f"/proc/self/fd/{handle}", "FILE:scratch.img", *ALL)
        assert said.status in (1, 2), said.err
        assert "Traceback" not in said.err
        assert os.pread(handle, MIB, 0) == bytes(MIB)
    finally:
        os.close(handle)


@NEEDS_ROOT
def test_a_read_only_mount_of_a_writable_folder(cli: Callable[..., Any], tmp_path: Path) -> None:
    file = precious(tmp_path / "here" / "scratch.img")
    there = tmp_path / "there"
    there.mkdir()
    before = digest(file)
    with mounted_here(there, "--bind", "-o", "ro", file.parent):
        done("mount", "-o", "remount,ro,bind", there)
        said = written(cli, there / "scratch.img", "FILE:scratch.img", *ALL)
    assert said.status in (1, 2), said.err
    assert "free some space" not in said.err
    assert digest(file) == before


@NEEDS_ROOT
def test_an_overlay_copies_up_what_it_writes(cli: Callable[..., Any], tmp_path: Path) -> None:
    """The lower layer is shared by containers: it stays what it was."""
    with ExitStack() as undo:
        layers = tmp_path / "layers"
        layers.mkdir()
        undo.enter_context(mounted_here(layers, "-t", "tmpfs", "none"))
        lower, upper, work = (layers / name for name in ("lower", "upper", "work"))
        for folder in (lower, upper, work):
            folder.mkdir()
        data = precious(lower / "scratch.img")
        merged = tmp_path / "merged"
        merged.mkdir()
        options = f"lowerdir={lower},upperdir={upper},workdir={work}"
        undo.enter_context(mounted_here(merged, "-t", "overlay", "-o", options, "none"))
        before = digest(data)
        refused = written(cli, merged / "scratch.img", "FILE:scratch.img")
        assert_refused(refused, "holds data")
        said = written(cli, merged / "scratch.img", "FILE:scratch.img", *ALL)
        assert said.status == 0, said.err
        assert digest(data) == before


@pytest.mark.parametrize("kind", ["btrfs", "xfs"])
@NEEDS_ROOT
def test_a_copy_that_shares_its_blocks(cli: Callable[..., Any], tmp_path: Path, kind: str) -> None:
    """Of two files with the same blocks, one is written, and the other stays."""
    image = holes(tmp_path / "fs.img", {"btrfs": 128, "xfs": 320}[kind] * MIB)
    done(f"mkfs.{kind}", "-q", image)
    with attached(image) as device, mounted(device, tmp_path / "mnt") as folder:
        data = precious(folder / "precious.db")
        done("cp", "--reflink=always", data, folder / "scratch.img")
        before = digest(data)
        assert_refused(written(cli, folder / "scratch.img", "FILE:scratch.img"), "holds data")
        said = written(cli, folder / "scratch.img", "FILE:scratch.img", *ALL)
        assert said.status == 0, said.err
        done("sync", folder)
        assert digest(data) == before


@NEEDS_ROOT
@pytest.mark.parametrize("on", ["tmpfs", "folder"])
def test_zeros_that_take_room_and_holes_are_alike(
    cli: Callable[..., Any], tmp_path: Path, on: str
) -> None:
    with ExitStack() as undo:
        folder = tmp_path / "folder"
        folder.mkdir()
        if on == "tmpfs":
            undo.enter_context(mounted_here(folder, "-t", "tmpfs", "none"))
        file = holes(folder / "scratch.img", 4 * MIB)
        with file.open("r+b") as opened:
            opened.seek(MIB)
            opened.write(bytes(MIB))
            os.posix_fallocate(opened.fileno(), 2 * MIB, MIB)
        assert written(cli, file, "FILE:scratch.img").status == 0


def test_data_behind_preallocated_room(cli: Callable[..., Any], tmp_path: Path) -> None:
    """Dirty pages that are on no disk yet are data: they are seen through the page cache."""
    file = tmp_path / "scratch.img"
    with file.open("w+b") as opened:
        os.posix_fallocate(opened.fileno(), 0, 4 * MIB)
        opened.seek(3 * MIB)
        opened.write(b"a letter")
    before = digest(file)
    assert_refused(written(cli, file, "FILE:scratch.img"), "holds data")
    assert digest(file) == before


@pytest.mark.parametrize("option", ["--log", "-O"])
def test_the_output_is_not_the_target(cli: Callable[..., Any], tmp_path: Path, option: str) -> None:
    """By its own name, a link, or another name of it."""
    file = zeros(tmp_path / "scratch.parquet")
    hard, soft = tmp_path / "hard.parquet", tmp_path / "soft.parquet"
    hard.hardlink_to(file)
    soft.symlink_to(file)
    for name in (file, hard, soft):
        words = ("--destroy-data", "FILE:scratch.parquet", option, str(name), "--force")
        if option == "--log":
            said = cli("run", str(file), "--rw", "write", "--number-ios", "4", *words)
        else:
            said = cli("characterize", str(file), "--budget", "2s", *words)
        assert said.status == 2, said.err
        assert file.read_bytes() == bytes(MIB)
        assert hard.samefile(file)


def test_the_output_of_another_run_is_not_a_target(
    cli: Callable[..., Any], spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    """A log that is being written belongs to the run that writes it."""
    file, log = holes(tmp_path / "scratch.img", MIB), tmp_path / "log.parquet"
    process = spawn(
        "run", str(file), "--rw", "write", "--number-ios", "20", "--thinktime", "100ms",
        "--destroy-data", "FILE:scratch.img", "--log", str(log),
    )  # fmt: skip
    try:
        await_first_write(process, file)
        for other in tmp_path.iterdir():
            if other != file and other.is_file() and other.stat().st_size >= 512:
                before = other.read_bytes()
                said = written(cli, other, f"FILE:{other.name}", *ALL)
                assert said.status in (1, 2), said.err
                assert other.read_bytes()[: len(before)] == before
    finally:
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    import pyarrow.parquet

    assert pyarrow.parquet.read_table(log).num_rows == 20


def test_a_target_cannot_be_the_output_of_another_run(
    cli: Callable[..., Any], spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    """A file that is being written as a drive is not replaced by a log."""
    drive, other = holes(tmp_path / "drive.parquet", MIB), zeros(tmp_path / "other.img")
    process = spawn(
        "run", str(drive), "--rw", "write", "--number-ios", "20", "--thinktime", "50ms",
        "--destroy-data", "FILE:drive.parquet",
    )  # fmt: skip
    try:
        await_first_write(process, drive)
        said = cli("run", str(other), "--number-ios", "4", "--log", str(drive))
        assert said.status == 2, said.err
    finally:
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert drive.stat().st_size == MIB


@NEEDS_ROOT
def test_the_file_system_that_a_log_is_on(cli: Callable[..., Any], tmp_path: Path) -> None:
    """The device beneath the folder of the output is mounted, and so refused."""
    image = holes(tmp_path / "scratch.img", 32 * MIB)
    done("mkfs.ext4", "-q", image)
    with attached(image) as device, mounted(device, tmp_path / "mnt") as folder:
        said = written(cli, device, "LOOP:scratch.img", *ALL, "--log", f"{folder}/log.parquet")
        assert_refused(said, "is mounted at")
        assert not (folder / "log.parquet").exists()


def test_a_name_without_right(cli: Callable[..., Any], tmp_path: Path) -> None:
    """What is odd ends with a message: names too long, loops of links, folders, nothing."""
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "nothing")
    for target in (loop, dangling, tmp_path, tmp_path / "nothing", tmp_path / ("x" * 300)):
        said = written(cli, target, f"FILE:{target.name}", *ALL)
        assert said.status in (1, 2), said.err
        assert "Traceback" not in said.err
    assert not (tmp_path / "nothing").exists(), "nothing is made by opening"


@pytest.mark.parametrize("path", ["/proc/self/mem", "/proc/kcore", "/dev/mem", "/dev/kmsg",
                                  "/sys/power/state", "/proc/sys/kernel/hostname", "/dev/ptmx",
                                  "/dev/loop-control", "/dev/fuse"])  # fmt: skip
def test_files_that_are_none(cli: Callable[..., Any], path: str) -> None:
    """Files of /proc and /sys look like regular ones, and a write to them does something."""
    if not Path(path).exists():
        pytest.skip("this kernel has none")
    said = written(cli, path, f"FILE:{Path(path).name}", *ALL)
    assert said.status in (1, 2), said.err
    assert "Traceback" not in said.err


def test_a_file_of_sys_is_no_drive(cli: Callable[..., Any]) -> None:
    """An attribute of 4,096 bytes has a size, and a write to it would be a setting."""
    attribute = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not attribute.exists() or os.geteuid() != 0:
        pytest.skip("needs root and this attribute")
    before = attribute.read_text()
    said = cli("run", str(attribute), "--rw", "write", "--bs", "512", "--number-ios", "4",
               "--destroy-data", "FILE:enabled", *ALL)  # fmt: skip
    assert said.status in (1, 2), said.err
    assert attribute.read_text() == before


def test_a_full_file_system_ends_it_and_loses_nothing(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    """Holes that cannot be filled: the run fails, says so, and is gone."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    (tmp_path / "small").mkdir()
    with mounted_here(tmp_path / "small", "-t", "tmpfs", "-o", "size=2m", "none") as folder:
        data = precious(folder / "precious.db")
        before = digest(data)
        file = holes(folder / "scratch.img", 8 * MIB)
        said = cli("run", str(file), "--rw", "write", "--bs", "64k", "--destroy-data",
                   "FILE:scratch.img")  # fmt: skip
        assert said.status == 1, said.err
        assert "Traceback" not in said.err
        assert digest(data) == before


def test_a_run_inside_of_another_is_refused(cli: Callable[..., Any], tmp_path: Path) -> None:
    """An array whose two members are one file, by two names, would write every place twice."""
    file = zeros(tmp_path / "a.img")
    (tmp_path / "b.img").hardlink_to(file)
    uri = f"raid0:{file},{tmp_path / 'b.img'}?chunk=64k"
    said = written(cli, uri, "FILE:a.img,FILE:b.img", *ALL)
    assert said.status == 2, said.err
    assert file.read_bytes() == bytes(MIB)


@needs_loop_devices
def test_a_file_and_its_loop_device_in_one_array(cli: Callable[..., Any], tmp_path: Path) -> None:
    image = holes(tmp_path / "scratch.img")
    with attached(image) as device:
        uri = f"raid0:{device},{image}?chunk=64k"
        said = written(cli, uri, "LOOP:scratch.img,FILE:scratch.img", *ALL)
    assert_refused(said, "is the file behind loop", "attached")
    assert not any(image.read_bytes())


def test_a_copy_of_a_held_file_is_free(cli: Callable[..., Any], tmp_path: Path) -> None:
    file = zeros(tmp_path / "held.img")
    with holding("file = os.open(sys.argv[1], os.O_RDWR)", file):
        shutil.copy(file, tmp_path / "scratch.img")
        assert written(cli, tmp_path / "scratch.img", "FILE:scratch.img").status == 0
