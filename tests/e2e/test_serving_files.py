"""``ssdscope serve`` of real files and block devices: what clients see and write is their data."""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.integration.loop_devices import NEEDS_LOOP_DEVICES, attached

from ssdscope.errors import UsageError
from ssdscope.targets import Target, open_target
from ssdscope.targets.records import OP_WRITE, OP_WRITE_ZEROES
from ssdscope.targets.serving import Serving, exported

pytestmark = pytest.mark.e2e

MIB = 2**20
WRITING = {"destroy_token": "FILE:disk.img", "overwrite_existing": True}


def needs(*tools: str) -> pytest.MarkDecorator:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed")


def call(*words: str, ok: bool = True) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode == 0) == ok, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    path = tmp_path / "disk.img"
    path.write_bytes(hashlib.shake_256(b"a disk").digest(32 * MIB))
    return path


@contextmanager
def served(target: Target, tmp_path: Path, **options: Any) -> Iterator[str]:
    with exported(target, Serving(socket=str(tmp_path / "socket"), **options)) as uri:
        yield uri


@needs("nbdinfo", "nbdcopy")
def test_a_file_is_served_and_nobody_writes_there(disk: Path, tmp_path: Path) -> None:
    before, there = disk.read_bytes(), tmp_path / "there"
    with served(open_target(str(disk)), tmp_path) as uri:
        (export,) = json.loads(call("nbdinfo", "--json", uri))["exports"]
        assert export["export-size"] == 32 * MIB
        assert export["is_read_only"]
        call("nbdcopy", uri, str(there))
        assert there.read_bytes() == before
        call("nbdcopy", str(there), uri, ok=False)
    assert disk.read_bytes() == before


@needs("nbdinfo", "nbdcopy")
def test_what_is_copied_there_lies_in_the_file(disk: Path, tmp_path: Path) -> None:
    there, back = tmp_path / "there", tmp_path / "back"
    there.write_bytes(os.urandom(20 * MIB) + bytes(12 * MIB))
    with served(open_target(str(disk), **WRITING), tmp_path) as uri:
        (export,) = json.loads(call("nbdinfo", "--json", uri))["exports"]
        assert not export["is_read_only"]
        call("nbdcopy", "--flush", str(there), uri)
        assert disk.read_bytes() == there.read_bytes()
        call("nbdcopy", uri, str(back))
    assert back.read_bytes() == there.read_bytes()
    with pytest.raises(UsageError, match="holds data that ssdscope did not write"):
        open_target(str(disk), destroy_token="FILE:disk.img")


@needs("fio")
def test_fio_verifies_what_it_writes(disk: Path, tmp_path: Path) -> None:
    options = (
        "--rw=randrw", "--bs=4k-64k", "--iodepth=32", "--numjobs=4", "--thread", "--size=4m",
        "--offset_increment=8m", "--verify=crc32c", "--verify_fatal=1", "--verify_state_save=0",
        "--fsync=50", "--group_reporting", "--output-format=json",
    )  # fmt: skip
    with served(open_target(str(disk), **WRITING), tmp_path) as uri:
        out = call("fio", "--name=verify", "--ioengine=nbd", f"--uri={uri}", *options)
    (job,) = json.loads(out[out.index("{") : out.rindex("}") + 1])["jobs"]
    assert job["error"] == 0
    assert job["write"]["total_ios"] > 100


@needs("nbdcopy")
def test_no_more_is_written_than_allowed(disk: Path, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_bytes(os.urandom(2 * MIB))
    before = disk.read_bytes()
    target = open_target(str(disk), **WRITING, write_limit_bytes=MIB)
    with served(target, tmp_path) as uri:
        assert "No space left" in call("nbdcopy", str(there), uri, ok=False)
    after = disk.read_bytes()
    changed = sum(
        after[at : at + 4096] != before[at : at + 4096] for at in range(0, MIB * 32, 4096)
    )
    assert 0 < changed <= MIB // 4096


def test_zeros_are_written_without_being_sent(disk: Path, tmp_path: Path) -> None:
    before = disk.read_bytes()
    with served(open_target(str(disk), **WRITING), tmp_path) as uri:
        client = open_target(uri, destroy_token="NBD:", allow_virtual=True)
        log = client.device.run_list([OP_WRITE_ZEROES], [8192], [65536])
        assert (log.op.tolist(), log.error.tolist()) == ([OP_WRITE_ZEROES], [0])
    assert disk.read_bytes() == before[:8192] + bytes(65536) + before[8192 + 65536 :]


def test_zeros_to_a_simulated_drive_are_counted_apart(spawn, tmp_path: Path) -> None:
    place = tmp_path / "socket"
    process = spawn("serve", "sim:mqsim-8g", "--socket", str(place), "-o", "json", "--seed", "1")
    while not place.exists():
        assert process.poll() is None, process.communicate()
    uri = f"nbd+unix:///?socket={place}"
    client = open_target(uri, destroy_token="NBD:", allow_virtual=True)
    ops = [OP_WRITE, OP_WRITE_ZEROES, OP_WRITE_ZEROES]
    client.device.run_list(ops, [0, 0, 1 << 30], [4096, 4096, 1 << 20])
    process.terminate()
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    document = json.loads(out)
    assert (document["write_zeroes"]["requests"], document["write"]["requests"]) == (2, 1)
    assert document["counters"]["host_bytes_discarded"] == 4096 + (1 << 20)


def loop_devices(test: Any) -> Any:
    for mark in NEEDS_LOOP_DEVICES:
        test = mark(test)
    return test


@loop_devices
def test_zeros_reach_a_block_device(disk: Path) -> None:
    before = disk.read_bytes()
    with attached(disk, "--direct-io=on") as device:
        writing = {"destroy_token": "LOOP:disk.img", "overwrite_existing": True}
        target = open_target(device, **writing, allow_virtual=True)
        log = target.device.run_list([OP_WRITE_ZEROES], [MIB], [65536])
        assert log.error.tolist() == [0]
        del target
    at = 25 * MIB
    assert disk.read_bytes() == before[:at] + bytes(65536) + before[at + 65536 :]


@loop_devices
@needs("nbdcopy")
def test_a_block_device_is_written_inside_its_window_only(disk: Path, tmp_path: Path) -> None:
    there, back, before = tmp_path / "there", tmp_path / "back", disk.read_bytes()
    there.write_bytes(os.urandom(8 * MIB))
    with attached(disk) as device:
        with served(open_target(device), tmp_path) as uri:
            call("nbdcopy", uri, str(back))
            assert back.read_bytes() == before, "read only: all of it"
        writing = {"destroy_token": "LOOP:disk.img", "overwrite_existing": True}
        target = open_target(device, **writing, allow_virtual=True)
        with served(target, tmp_path) as uri:
            call("nbdcopy", "--flush", str(there), uri)
            call("nbdcopy", uri, str(back))
        assert back.read_bytes() == there.read_bytes()
        del target
        assert Path(device).read_bytes() == before[: 24 * MIB] + there.read_bytes()


def test_what_is_served_is_counted_with_the_time_it_took(spawn, disk: Path, tmp_path: Path) -> None:
    place = tmp_path / "socket"
    process = spawn("serve", str(disk), "--socket", str(place), "-o", "json", "--seed", "1")
    while not place.exists():
        assert process.poll() is None, process.communicate()
    target = open_target(f"nbd+unix:///?socket={place}")
    target.device.run_list([0] * 40, range(0, 40 * 65536, 65536), [65536] * 40, iodepth=4)
    process.terminate()
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert f"serving nbd+unix:///?socket={place}, read only" in err
    document = json.loads(out)
    assert (document["read"]["requests"], document["read"]["bytes"]) == (40, 40 * 65536)
    assert document["read"]["latency_ns"]["min"] > 1_000, "64 KiB are not copied in a microsecond"
    assert document["write"] is None
