"""Stamps are ssdscope's own: neither fio nor ssdscope takes the other's data for its own."""

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed"),
]

MIB = 2**20
FIO = ("fio", "--name=v", "--ioengine=psync", "--bs=4k", "--size=1m", "--verify=crc32c")


def fio(disk: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = [*FIO, f"--filename={disk}", *options, "--verify_state_save=0"]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


def test_neither_verifies_what_the_other_wrote(cli, tmp_path: Path) -> None:
    disk = tmp_path / "disk.img"
    disk.write_bytes(bytes(MIB))
    ours = ("run", str(disk), "--bs", "64k", "--verify", "crc32c", "--seed", "1")
    write = ("--rw", "write", "--destroy-data", "FILE:disk.img", "--overwrite-existing")

    assert cli(*ours, *write).status == 0
    assert cli(*ours, "--rw", "read").status == 0
    theirs = fio(disk, "--rw=read")
    assert theirs.returncode != 0
    assert "verify: bad magic header" in theirs.stderr

    assert fio(disk, "--rw=write", "--do_verify=0").returncode == 0
    assert fio(disk, "--rw=read").returncode == 0
    said = cli(*ours, "--rw", "read", "-o", "json")
    assert said.status == 1
    assert said.document["verify"]["mismatched_bytes"] == MIB
    assert "bytes without a stamp" in said.document["verify"]["first"]["found"]
