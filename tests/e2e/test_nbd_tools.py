"""Programs that know nothing of ssdscope, on a served drive: libnbd's tools, fio, ext4."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ssdscope.targets import open_target
from ssdscope.targets.serving import Serving, exported

pytestmark = pytest.mark.e2e

DRIVE = "sim:nvme-tlc"
FAST = 0.01
"""These tests look at data, so the drive lives a hundred times as fast as it would."""
MIB = 2**20


def needs(*tools: str) -> pytest.MarkDecorator:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed")


def call(*words: str, timeout: float = 120) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@contextmanager
def served(tmp_path: Path, **options: Any) -> Iterator[str]:
    serving = Serving(socket=str(tmp_path / "socket"), slow_down=FAST, **options)
    with exported(open_target(DRIVE, seed=1), serving) as uri:
        yield uri


@needs("nbdinfo")
def test_nbdinfo_shows_what_is_served(tmp_path: Path) -> None:
    with served(tmp_path, export="ssd") as uri:
        document = json.loads(call("nbdinfo", "--json", uri))
        listed = call("nbdinfo", "--list", uri)
    (export,) = document["exports"]
    info = open_target(DRIVE, seed=1).device.info
    assert export["export-name"] == "ssd"
    assert export["export-size"] == info.capacity_bytes
    assert export["block_size_minimum"] == info.logical_block_bytes
    can = {key for key, value in export.items() if key.startswith("can_") and value}
    assert can == {f"can_{what}" for what in (
        "df", "fast_zero", "flush", "fua", "multi_conn", "trim", "zero"
    )}  # fmt: skip
    assert not export["is_read_only"]
    assert DRIVE in listed
    with served(tmp_path, read_only=True) as uri:
        assert json.loads(call("nbdinfo", "--json", uri))["exports"][0]["is_read_only"]


@needs("nbdcopy")
@pytest.mark.always(1)
@pytest.mark.parametrize("size_bytes", [64 * MIB, 1024 * MIB])
def test_what_is_copied_there_comes_back(tmp_path: Path, size_bytes: int) -> None:
    there, image = tmp_path / "there", tmp_path / "disk.img"
    with there.open("wb") as file:
        for _ in range(size_bytes // MIB):
            file.write(os.urandom(MIB))
    with served(tmp_path, backing=str(image)) as uri:
        call("nbdcopy", str(there), uri)
        require_same(uri, there, size_bytes)
    # The backing file holds it as well, and little else.
    call("cmp", f"--bytes={size_bytes}", str(there), str(image))
    assert image.stat().st_blocks * 512 < size_bytes + 16 * MIB


def require_same(uri: str, file: Path, size_bytes: int) -> None:
    """Copy an export back, and compare its head with a file; what is behind it are zeros."""
    with (
        subprocess.Popen(["nbdcopy", uri, "-"], stdout=subprocess.PIPE) as copying,
        file.open("rb") as wanted,
    ):
        assert copying.stdout is not None
        for at in range(0, size_bytes, MIB):
            assert copying.stdout.read(MIB) == wanted.read(MIB), at
        assert copying.stdout.read(MIB) == bytes(MIB)
        copying.kill()


@needs("fio")
def test_fio_verifies_what_four_jobs_write_at_depth_32(tmp_path: Path) -> None:
    options = (
        "--rw=randrw", "--bs=4k-64k", "--iodepth=32",
        "--numjobs=4", "--thread", "--size=8m", "--offset_increment=8m", "--verify=crc32c",
        "--verify_fatal=1", "--verify_state_save=0", "--fsync=50", "--group_reporting",
        "--output-format=json",
    )  # fmt: skip
    with served(tmp_path) as uri:
        out = call("fio", "--name=verify", "--ioengine=nbd", f"--uri={uri}", *options)
    job = json.loads(out[out.index("{") :])["jobs"][0]
    assert job["error"] == 0
    assert job["write"]["total_ios"] > 300
    assert job["read"]["total_ios"] > job["write"]["total_ios"]


@needs("nbdfuse", "losetup", "mkfs.ext4", "fsck.ext4")
@pytest.mark.skipif(os.geteuid() != 0, reason="a loop device needs root")
@pytest.mark.skipif(not Path("/dev/fuse").exists(), reason="there is no /dev/fuse")
def test_ext4_lives_on_a_served_drive(tmp_path: Path) -> None:
    folder, mount = tmp_path / "fuse", tmp_path / "mount"
    folder.mkdir()
    mount.mkdir()
    with ExitStack() as stack:
        uri = stack.enter_context(served(tmp_path))
        disk = stack.enter_context(fused(folder, uri))
        loop = call("losetup", "--direct-io=on", "--show", "-f", str(disk)).strip()
        stack.callback(call, "losetup", "-d", loop)
        call("mkfs.ext4", "-q", loop, "65536")
        call("mount", loop, str(mount))
        try:
            (mount / "file").write_bytes(b"ssdscope" * 100_000)
        finally:
            call("umount", str(mount))
        assert "clean" in call("fsck.ext4", "-n", loop)
        call("fsck.ext4", "-f", "-n", loop)
        call("mount", "-o", "ro", loop, str(mount))
        try:
            assert (mount / "file").read_bytes() == b"ssdscope" * 100_000
        finally:
            call("umount", str(mount))


@contextmanager
def fused(folder: Path, uri: str) -> Iterator[Path]:
    """Show an export as a file."""
    disk = folder / "disk"
    process = subprocess.Popen(["nbdfuse", str(disk), uri], stderr=subprocess.PIPE)
    try:
        end = time.monotonic() + 20
        while not disk.exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.02)
        yield disk
    finally:
        subprocess.run(["umount", str(folder)], check=False)
        process.wait(timeout=20)
        if process.stderr is not None:
            process.stderr.close()


@needs("fio")
def test_a_full_backing_file_is_an_error_of_the_client_and_not_the_end(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("a small file system needs root")
    small = tmp_path / "small"
    small.mkdir()
    call("mount", "-t", "tmpfs", "-o", "size=4m", "none", str(small))
    try:
        with served(tmp_path, backing=str(small / "disk.img")) as uri:
            done = subprocess.run(
                ["fio", "--name=full", "--ioengine=nbd", f"--uri={uri}", "--rw=write",
                 "--bs=64k", "--size=16m"],
                capture_output=True, text=True, timeout=60, check=False,
            )  # fmt: skip
            assert done.returncode != 0
            assert "No space left on device" in done.stdout + done.stderr
            assert "export-size" in call("nbdinfo", uri)
    finally:
        call("umount", str(small))
