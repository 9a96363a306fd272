"""``--preserve-content``: probes write on a target with data, and all of it is there afterwards."""

import hashlib
import json
import os
import signal
import time
from pathlib import Path

import pytest
from tests.integration.loop_devices import NEEDS_LOOP_DEVICES, attached

from ssdscope.errors import SsdscopeError, UsageError
from ssdscope.targets import open_target
from ssdscope.targets.records import OP_DISCARD, OP_WRITE
from ssdscope.workloads import Workload
from ssdscope.workloads.execution import perform

MIB = 2**20


def loop_devices(test):
    for mark in NEEDS_LOOP_DEVICES:
        test = mark(test)
    return test


TOKEN = "FILE:thesis.img"
FLAGS = ("--destroy-data", TOKEN, "--preserve-content")


@pytest.fixture
def thesis(tmp_path: Path) -> Path:
    """A file full of somebody's data."""
    path = tmp_path / "thesis.img"
    path.write_bytes(hashlib.shake_256(b"years of work").digest(4 * MIB))
    return path


def digest(path: str | Path) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_writes_reach_the_drive_and_change_nothing(cli, thesis: Path) -> None:
    before = digest(thesis)
    words = ("run", str(thesis), "--rw", "randwrite", "--bs", "8k", "--number-ios", "300")
    refused = cli(*words, "--destroy-data", TOKEN)
    assert refused.status == 2
    assert "--overwrite-existing" in refused.err
    said = cli(*words, *FLAGS, "-o", "json", "--seed", "1")
    assert said.status == 0, said.err
    assert said.document["write"]["requests"] == 300
    assert said.document["read"] is None, "what is read for the writes is not measured"
    assert said.document["target"]["access"]["preserves_content"]
    assert "each write writes back what is there" in said.err
    assert digest(thesis) == before
    assert cli(*words, "--destroy-data", TOKEN).status == 2, "the file is not ours since"
    assert cli("run", str(thesis), "--rw", "write", "--iodepth", "4", *FLAGS).status == 0
    assert digest(thesis) == before


def test_a_probe_of_alignments_changes_nothing(cli, thesis: Path) -> None:
    with thesis.open("r+b") as file:
        file.truncate(64 * MIB)
    before = digest(thesis)
    said = cli("probe", "units", str(thesis), *FLAGS, "--budget", "2s", "-o", "json")
    assert said.status == 0, said.err
    assert sum(each["bytes_written"] for each in said.document["findings"]) > 0
    assert digest(thesis) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_lost_when_it_is_ended_in_mid_run(spawn, thesis: Path, number: int) -> None:
    before = digest(thesis)
    words = ("--rw", "randwrite", "--bs", "64k", "--runtime", "60s", "--seed", "1", "-o", "json")
    process = spawn("run", str(thesis), *words, *FLAGS)
    end = time.monotonic() + 30
    old = thesis.stat().st_mtime_ns
    while thesis.stat().st_mtime_ns == old:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "it began to write"
        time.sleep(0.02)
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert json.loads(out)["write"]["requests"] > 0
    assert digest(thesis) == before


@loop_devices
def test_a_block_device_keeps_its_content(cli, spawn, thesis: Path) -> None:
    before = digest(thesis)
    with attached(thesis, "--direct-io=on") as device:
        flags = ("--destroy-data", "LOOP:thesis.img", "--allow-virtual", "--preserve-content")
        words = ("run", device, "--rw", "randwrite", "--bs", "4k", "--number-ios", "300")
        said = cli(*words, *flags, "--offset", "0", "--seed", "1", "-o", "json")
        assert said.status == 0, said.err
        assert said.document["write"]["requests"] == 300
        assert digest(device) == before
        process = spawn(*words[:-2], "--runtime", "60s", *flags, "--offset", "0")
        time.sleep(2)
        process.kill()
        process.communicate(timeout=30)
        assert digest(device) == before
    assert digest(thesis) == before


def test_writes_that_could_meet_are_refused(cli, thesis: Path) -> None:
    before = digest(thesis)
    random = ("run", str(thesis), "--rw", "randwrite", "--number-ios", "9", *FLAGS)
    for words in (
        ("--iodepth", "2"),
        ("--numjobs", "2"),
        ("--rate-iops", "9", "--arrival", "fixed"),
    ):
        said = cli(*random, *words)
        assert said.status == 2
        assert "two could meet in one place" in said.err
    assert digest(thesis) == before


def test_no_two_writes_to_one_place_are_under_way(thesis: Path) -> None:
    before = digest(thesis)
    target = open_target(str(thesis), destroy_token=TOKEN, preserve_content=True)
    assert not target.device.info.discard
    with pytest.raises(SsdscopeError, match="does not support discard"):
        target.device.run_list([OP_DISCARD], [0], [4096])
    places = [0, 4096, 65536, 8192] * 50
    log = target.device.run_list([OP_WRITE] * 200, places, [32768] * 200, iodepth=4)
    assert not log.error.any()
    in_place = log.offset_bytes < 65536
    starts, ends = log.submit_ns[in_place], log.complete_ns[in_place]
    assert len(set(ends.tolist())) == len(ends), "one after the other"
    assert len(starts) == 150
    assert digest(thesis) == before


def test_only_what_has_content_can_preserve_it(cli, thesis: Path) -> None:
    said = cli("run", "sim:mqsim-8g", "--rw", "write", "--preserve-content")
    assert said.status == 2
    assert "only the content of files and block devices" in said.err
    said = cli("run", str(thesis), "--rw", "write", "--preserve-content")
    assert said.status == 2
    assert "--preserve-content still writes" in said.err
    assert "add --destroy-data TOKEN" in said.err


def test_a_file_that_somebody_else_writes_is_refused(spawn, thesis: Path) -> None:
    with thesis.open("r+b"):
        process = spawn("run", str(thesis), "--rw", "write", "--number-ios", "1", *FLAGS)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 2
    assert f"is open in process {os.getpid()} " in err
    with thesis.open("rb"):
        process = spawn("run", str(thesis), "--rw", "write", "--number-ios", "1", *FLAGS)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err


def test_an_array_of_files_keeps_the_content_of_each(thesis: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / thesis.name
    other.parent.mkdir()
    other.write_bytes(thesis.read_bytes()[::-1])
    before = digest(thesis), digest(other)
    uri = f"raid0:{thesis},{other}?chunk=64k"
    target = open_target(uri, destroy_token=f"{TOKEN},{TOKEN}", preserve_content=True)
    plan = Workload(rw="randwrite", requests=50, seed=1)
    assert perform(target, plan).requests == 50
    with pytest.raises(UsageError, match="two could meet"):
        perform(target, Workload(rw="randwrite", requests=50, iodepth=2, seed=1))
    assert (digest(thesis), digest(other)) == before
