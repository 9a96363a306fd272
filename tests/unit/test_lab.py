"""The parts of ``make lab`` that need no guest: its archive, machine, messages and table."""

import hashlib
import io
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.lab import boot, initrd, machine, report
from tests.lab.cases import (
    FAILED,
    PASSED,
    SKIPPED,
    TIMED_OUT,
    Case,
    Result,
    Skipped,
    all_cases,
    chosen,
)  # fmt: skip
from tests.lab.images import Images
from tests.lab.inside import tried


def test_the_archive_is_one_that_cpio_reads(tmp_path: Path) -> None:
    busybox, module = tmp_path / "busybox", tmp_path / "nvme.ko"
    busybox.write_bytes(b"program")
    module.write_bytes(b"module!")
    packed = initrd.archive(initrd.manifest(busybox, [module], "true\n"))
    assert len(packed) % 4 == 0
    assert b"insmod /modules/nvme.ko\n" in packed
    tool = shutil.which("cpio") or shutil.which("busybox")
    if tool is None:
        pytest.skip("neither cpio nor busybox is installed")
    words = [tool, "-idm"] if tool.endswith("cpio") else [tool, "cpio", "-idm"]
    folder = tmp_path / "unpacked"
    folder.mkdir()
    subprocess.run(words, input=packed, cwd=folder, check=True, capture_output=True, timeout=60)
    assert (folder / "bin/busybox").read_bytes() == b"program"
    assert (folder / "bin/sh").is_symlink()
    assert (folder / "modules/nvme.ko").read_bytes() == b"module!"
    assert (folder / "init").stat().st_mode & 0o111
    assert (folder / "script").read_text() == "true\n"


def test_every_device_of_the_machine_has_its_image(tmp_path: Path) -> None:
    words = machine.command(machine.DISKS, tmp_path, "6.1", tmp_path)
    drives = [match[1] for word in words if (match := re.search(r"if=none,id=([^,]+)", word))]
    used = [match[1] for word in words if (match := re.search(r"drive=([^,]+)", word))]
    assert sorted(drives) == sorted(used), "each drive is one device"
    machine.prepare(machine.DISKS, tmp_path)
    for image in machine.DISKS.images:
        assert (tmp_path / f"{image.name}.img").stat().st_size == image.size_mib * machine.MIB


def test_cases_have_names_of_their_own_and_are_chosen_by_kind_and_suite() -> None:
    cases = all_cases()
    assert len({case.key for case in cases}) == len(cases) > 300
    assert {case.machine for case in cases} == {"disks", "sim"}
    some = chosen("nvme,refusals")
    assert some
    assert {(case.kind, case.suite) for case in some} == {("nvme", "refusals")}
    assert {case.kind for case in chosen("sata, md-raid1")} == {"sata", "md-raid1"}
    with pytest.raises(ValueError, match=r"'nvem' is no suite or kind; there are: .*nvme"):
        chosen("nvem")


def test_images_are_hashed_without_the_window(tmp_path: Path) -> None:
    content = bytes(range(256)) * 64
    (tmp_path / "a.img").write_bytes(content)
    images: Any = Images(tmp_path, None)  # type: ignore[arg-type]
    whole = images.answer("digest", {"image": "a"})
    assert whole == hashlib.sha256(content).hexdigest()
    outside = images.digest("a", [(0, 4096), (8192, 2**60)])
    assert outside == hashlib.sha256(content[:4096] + content[8192:]).hexdigest()
    images.fill("a", start=4096, length=4096, seed=1)
    assert images.digest("a") != whole
    assert images.digest("a", [(0, 4096), (8192, 2**60)]) == outside
    images.blank("a")
    assert (tmp_path / "a.img").read_bytes() == bytes(len(content))


class Said:
    """Stands for a guest that says these things; None: it is gone; an exception: it is silent."""

    def __init__(self, *messages: Any) -> None:
        self.messages = list(messages)
        self.answers: list[Any] = []

    def hear(self, _patience_s: float) -> Any:
        message = self.messages.pop(0)
        if isinstance(message, Exception):
            raise message
        return message

    def say(self, message: Any) -> None:
        self.answers.append(message)


def case(name: str, run: Callable[[], str] = str) -> Case:
    return Case("suite", "kind", name, run)


@pytest.mark.parametrize(
    ("end", "outcome"), [(TimeoutError(), TIMED_OUT), (None, FAILED)], ids=["hangs", "dies"]
)
def test_a_guest_that_hangs_or_dies_ends_the_case_that_it_was_in(
    tmp_path: Path, end: Any, outcome: str
) -> None:
    first, second = case("first"), case("second")
    (tmp_path / "a.img").write_bytes(b"")
    guest: Any = Said(
        {"begun": first.key},
        {"ask": "digest", "words": {"image": "a"}},
        {"ask": "digest", "words": {"image": "missing"}},
        {"outcome": PASSED, "seen": "well"},
        {"begun": second.key},
        end,
    )
    results: list[Result] = []
    images: Any = Images(tmp_path, None)  # type: ignore[arg-type]
    boot._listen(guest, images, [first, second], 1.0, results.append)
    assert [(each.name, each.outcome) for each in results] == [
        ("first", PASSED),
        ("second", outcome),
    ]
    assert guest.answers[0] == {"answer": hashlib.sha256().hexdigest()}
    assert "FileNotFoundError" in guest.answers[1]["failed"]


def fails() -> str:
    raise AssertionError("it was written")


def lacks() -> str:
    raise Skipped("no module null_blk")


def test_a_case_ends_with_what_was_seen() -> None:
    assert tried(case("a", lambda: "token X")) == (PASSED, "token X")
    assert tried(case("b", lacks)) == (SKIPPED, "no module null_blk")
    outcome, seen = tried(case("c", fails))
    assert outcome == FAILED
    assert seen.endswith("AssertionError: it was written")


def test_the_table_holds_each_case_and_its_result(tmp_path: Path) -> None:
    good = Result.of(case("a"), PASSED, "one | two\nthree", 1.5)
    left = Result.of(case("b"), SKIPPED, "no module")
    bad = Result.of(case("c"), TIMED_OUT, "x" * 1000)
    assert report.is_good([good, left])
    assert not report.is_good([good, bad])
    assert not report.is_good([left]), "nothing was tried"
    assert not report.is_good([])
    report.write([good, left, bad], tmp_path, {"kernel": "6.1"})
    lines = (tmp_path / "lab.md").read_text().splitlines()
    assert "| suite | kind | a | passed | one / two three |" in lines
    assert "- 3 cases: 1 passed, 0 failed, 1 timed out, 1 skipped" in lines
    assert max(map(len, lines)) < 250
    document = json.load(io.StringIO((tmp_path / "lab.json").read_text()))
    assert [each["outcome"] for each in document["results"]] == [PASSED, SKIPPED, TIMED_OUT]
