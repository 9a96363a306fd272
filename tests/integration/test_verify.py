"""``run --verify``: whatever a drive does not hold as it was written is found, and where."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.integration.loop_devices import NEEDS_LOOP_DEVICES, attached

from ssdscope.errors import UsageError
from ssdscope.results.remarks import doubts, stored_well
from ssdscope.targets import Target, open_target
from ssdscope.targets.serving import exported
from ssdscope.workloads import Workload
from ssdscope.workloads.execution import perform
from ssdscope.workloads.verifying import REFUSED, Verification, verified

MIB = 2**20


def loop_devices(test):
    for mark in NEEDS_LOOP_DEVICES:
        test = mark(test)
    return test


WRITES = Workload(rw="randwrite", block_bytes=4096, iodepth=8, requests=600, seed=3)
HOW = Verification()


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    path = tmp_path / "disk.img"
    path.write_bytes(bytes(2 * MIB))
    return path


def opened(disk: Path) -> Target:
    return open_target(str(disk), destroy_token=f"FILE:{disk.name}")


def found(target: Target, spoil: Callable[[], Any]) -> dict[str, Any]:
    """Write, spoil what lies beneath, and read back."""

    def run() -> Any:
        result = target.device.run(WRITES)
        spoil()
        return result

    about: dict[str, Any] = verified(target, HOW, run, writes=True).summary["verify"]
    return about


def flip(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 0x10]))


def test_what_a_file_holds_is_as_it_was_written(disk: Path) -> None:
    about = found(opened(disk), lambda: None)
    assert about["state"] == "done"
    assert 300 * 4096 < about["written_bytes"] <= 512 * 4096, "places are written again"
    assert about["checked_bytes"] == about["written_bytes"]
    assert (about["mismatched_bytes"], about["unread_bytes"], about["first"]) == (0, 0, None)


def test_flipped_bytes_between_the_phases_are_found_where_they_are(disk: Path) -> None:
    target = opened(disk)
    places: list[int] = []

    def spoil() -> None:
        content = disk.read_bytes()
        written = [at for at in range(0, 2 * MIB, 4096) if any(content[at : at + 512])]
        places.extend([written[20] + 700, written[-3] + 4095])
        for place in places:
            flip(disk, place)

    about = found(target, spoil)
    assert about["mismatched_bytes"] == 2 * 512
    assert about["first"]["offset_bytes"] == places[0]
    record = {"verify": about, "requests": 600, "workload": {}}
    assert not stored_well(record)
    assert f"the first at byte {places[0]:,}" in doubts(record)[0]


def test_a_lost_write_and_a_misplaced_one_are_found(disk: Path) -> None:
    target = opened(disk)

    def lose() -> None:
        content = bytearray(disk.read_bytes())
        full = [at for at in range(0, 2 * MIB, 4096) if any(content[at : at + 512])]
        content[full[0] : full[0] + 4096] = bytes(4096)
        content[full[1] : full[1] + 4096] = content[full[2] : full[2] + 4096]
        with disk.open("r+b") as file:
            file.write(content)

    about = found(target, lose)
    assert about["mismatched_bytes"] == 2 * 4096
    assert about["first"]["found"].startswith("zeros")


def test_an_export_is_verified() -> None:
    """Data are really stored behind an NBD server, also that of a simulated drive."""
    plan = replace(WRITES, block_bytes=8192, requests=200, size_bytes=4 * MIB)
    with exported(open_target("sim:mqsim-8g", state="fresh")) as uri:
        token = {"destroy_token": "NBD:", "allow_virtual": True}
        target = open_target(uri, **token)
        about = perform(target, plan, verification=HOW).summary["verify"]
        assert (about["state"], about["mismatched_bytes"], about["unread_bytes"]) == ("done", 0, 0)
        written = about["checked_bytes"]
        later = open_target(uri)
        reads = Workload(rw="read", block_bytes=65536, size_bytes=4 * MIB)
        about = perform(later, reads, verification=HOW).summary["verify"]
        assert about["checked_bytes"] == 4 * MIB
        assert about["mismatched_bytes"] == 4 * MIB - written, (
            "what was never written bears no stamp"
        )


@loop_devices
def test_a_block_device_is_verified_where_its_window_lies(tmp_path: Path) -> None:
    image = tmp_path / "loop.img"
    with image.open("wb") as file:
        file.truncate(16 * MIB)
    with attached(image, "--direct-io=on") as device:
        target = open_target(device, destroy_token="LOOP:loop.img", allow_virtual=True)
        assert target.capacity_bytes == 4 * MIB
        wrong = 14 * MIB + 4097
        plan = Workload(rw="write", block_bytes=65536)

        def run() -> Any:
            result = target.device.run(plan)
            flip(image, wrong)
            return result

        about = verified(target, HOW, run, writes=True).summary["verify"]
        assert about["checked_bytes"] == 4 * MIB
        assert about["first"]["offset_bytes"] == wrong, "places are those of the whole device"


def test_a_later_run_of_reads_compares(cli, disk: Path) -> None:
    write = (
        "run", str(disk), "--rw", "write", "--bs", "64k", "--destroy-data", "FILE:disk.img",
        "--verify", "crc32c", "--do-verify", "0", "-o", "json",
    )  # fmt: skip
    said = cli(*write)
    assert said.status == 0, said.err
    assert said.document["verify"]["state"] == "skipped"
    read = ("run", str(disk), "--rw", "read", "--bs", "64k", "--verify", "crc32c", "--seed", "1")
    said = cli(*read)
    assert said.status == 0, said.err
    assert "2 MiB compared, all as written" in said.out
    flip(disk, MIB + 5000)
    said = cli(*read, "-o", "json")
    assert said.status == 1
    assert said.document["read"]["bytes"] == 2 * MIB, "the figures are kept"
    assert said.document["verify"]["first"]["offset_bytes"] == MIB + 5000 // 512 * 512
    assert f"the first at byte {MIB + 5000 // 512 * 512:,}: expected bytes of checksum" in said.err


def test_a_job_file_verifies(cli, disk: Path, tmp_path: Path) -> None:
    job = tmp_path / "verify.fio"
    job.write_text(
        "[global]\nsize=1m\nbs=16k\niodepth=4\ndirect=1\nverify=crc32c-intel\nverify_fatal=1\n"
        "[write]\nrw=randwrite\nnorandommap\ndo_verify=1\n[read]\nrw=read\nstonewall\noffset=1m\n"
    )
    words = ("run", str(disk), "--fio-job", str(job), "--destroy-data", "FILE:disk.img")
    said = cli(*words, "-o", "json", "--seed", "1")
    assert said.status == 1
    write, read = said.document["stages"]
    assert (write["verify"]["state"], write["verify"]["mismatched_bytes"]) == ("done", 0)
    assert write["verify"]["method"] == "crc32c-intel"
    assert read["verify"]["mismatched_bytes"] == MIB, "zeros were never written by us"
    job.write_text("[a]\nrw=write\nsize=1m\nverify=crc32c\n[b]\nrw=write\nsize=1m\n")
    said = cli(*words)
    assert said.status == 2
    assert "verify or do_verify differs between jobs" in said.err


def test_where_nothing_is_stored_nothing_can_be_verified(cli) -> None:
    words = ("--rw", "write", "--number-ios", "9", "--verify", "crc32c")
    said = cli("run", "sim:mqsim-8g", *words)
    assert said.status == 2
    assert "a simulated drive stores no data" in said.err
    assert "ssdscope serve" in said.err


@pytest.mark.parametrize("method", ["md5", "pattern", "crc32", "crc33"])
def test_other_methods_are_refused_by_name(cli, disk: Path, method: str) -> None:
    said = cli("run", str(disk), "--verify", method)
    assert said.status == 2
    assert f"--verify: '{method}'" in said.err
    assert REFUSED.get(method, "is not a method of verifying") in " ".join(said.err.split())


def test_keeping_and_stamping_exclude_each_other(disk: Path) -> None:
    target = open_target(str(disk), destroy_token="FILE:disk.img", preserve_content=True)
    with pytest.raises(UsageError, match="writes data of its own"):
        perform(target, replace(WRITES, iodepth=1), verification=HOW)
