"""Data that no sample meets are not written over: a block is read before it is first written."""

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    zeros,
)
from tests.integration.loop_devices import NEEDS_LOOP_DEVICES, attached

pytestmark = NEEDS_LOOP_DEVICES

GIB = 2**30
SECTOR = 512
DATA = (b"years of work, without any signature. " * 20)[:SECTOR]
LEAVE = ("--destroy-data", "LOOP:scratch.img", "--allow-virtual")
COMMAND = (sys.executable, "-c", "from ssdscope.cli.start import main; main()")


@contextmanager
def device(folder: Path, size_bytes: int, *places: int, data: bytes = DATA) -> Iterator[str]:
    """A sparse loop device with data in some places."""
    image = holes(folder / "scratch.img", size_bytes)
    for place in places:
        put(image, place, data)
    with attached(image, "--direct-io=on") as name:
        yield name


def held(folder: Path, *places: int, data: bytes = DATA) -> bool:
    """Whether the data are in their places."""
    with (folder / "scratch.img").open("rb") as file:
        for place in places:
            file.seek(place)
            if file.read(len(data)) != data:
                return False
    return True


def bytes_said(err: str) -> list[int]:
    return [int(text.replace(",", "")) for text in re.findall(r"\bbyte (\d[\d,]*)", err)]


def assert_stopped(said: Any, place: int, length: int = SECTOR) -> None:
    """Stopped for data found at the place, saying where and how much was written until then."""
    assert said.status in (1, 2), said.err
    assert "Traceback" not in said.err
    assert any(place <= at < place + length for at in bytes_said(said.err)), said.err
    assert said.err.count("hint: ") == 1, said.err
    assert "--overwrite-existing" in said.err
    if said.status == 1:
        assert re.search(r"written (?:so far|until then|before)|were written|had written", said.err)


def test_a_mebibyte_in_the_last_quarter_of_four_gibibytes(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    """As it was lost: 128 samples of 4 KiB meet it once in ten runs."""
    place = random.randrange(3 * GIB + 32 * MIB, 4 * GIB - 2 * MIB, SECTOR)
    data = DATA * (MIB // SECTOR)
    with device(tmp_path, 4 * GIB, place, data=data) as name:
        said = cli("run", name, "--rw", "write", "--bs", "16m", "--seed", "1", *LEAVE, "-o", "json")
    assert held(tmp_path, place, data=data)
    assert_stopped(said, place, MIB)
    if said.status == 1:
        written = said.document["write"]["bytes"]
        assert 0 < written < place + MIB - 3 * GIB, "what was measured is kept"


PLACE = 208 * MIB + 7 * SECTOR
"""In the last quarter of 256 MiB; one of 16,384 blocks, so that the sample misses it."""


@pytest.mark.parametrize("words", [
    ("--rw", "write", "--bs", "64k"),
    ("--rw", "randwrite", "--bs", "4k"),
    ("--rw", "randrw", "--bs", "16k", "--number-ios", "3000"),
    ("--rw", "write", "--bs", "4k", "--iodepth", "64"),
    ("--rw", "randwrite", "--bs", "512", "--iodepth", "8"),
    ("--rw", "randwrite", "--bs", "4k", "--numjobs", "4"),
    ("--rw", "write", "--bs", "64k", "--verify", "crc32c"),
    ("--rw", "write", "--bs", "64k", "--fua"),
    ("--flow", "rw=read bs=4k", "--flow", "rw=write bs=64k"),
], ids=" ".join)  # fmt: skip
def test_every_workload_stops_before_it(
    cli: Callable[..., Any], tmp_path: Path, words: tuple[str, ...]
) -> None:
    region = ("--offset", str(207 * MIB), "--size", "2m", "--seed", "1", "-o", "json")
    with device(tmp_path, 256 * MIB, PLACE) as name:
        said = cli("run", name, *words, *region, *LEAVE)
        if said.status == 0 and "randwrite" in words:
            said = cli("run", name, *words, *region, "--io-size", "40m", *LEAVE)
    assert held(tmp_path, PLACE), said.err
    assert_stopped(said, PLACE)


def test_a_request_that_reaches_into_it_writes_nothing(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    """The block is the request, not its first page: the data lie in its last sector."""
    place = 208 * MIB + MIB - SECTOR
    with device(tmp_path, 256 * MIB, place) as name:
        said = cli("run", name, "--rw", "write", "--bs", "1m", "--offset", str(208 * MIB),
                   "--size", "1m", "--seed", "1", *LEAVE)  # fmt: skip
        assert_stopped(said, place)
        whole = Path(name).read_bytes()
    assert not any(whole[:place])
    assert not any(whole[place + SECTOR :])


def test_what_does_not_touch_it_succeeds(cli: Callable[..., Any], tmp_path: Path) -> None:
    with device(tmp_path, 256 * MIB, PLACE) as name:
        before, after = str(PLACE - 2 * MIB - 7 * SECTOR), str(PLACE + MIB - 7 * SECTOR)
        for offset in (before, after):
            said = cli("run", name, "--rw", "write", "--offset", offset, "--size", "1m", *LEAVE)
            assert said.status == 0, said.err
    assert held(tmp_path, PLACE)


def test_a_second_run_over_our_own_data_needs_no_word(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    """Also where the first stamped what it wrote, and where requests are of another size."""
    region = ("--offset", str(208 * MIB), "--size", "4m", *LEAVE)
    with device(tmp_path, 256 * MIB) as name:
        for words in (("--bs", "64k"), ("--bs", "4k", "--verify", "crc32c"), ("--bs", "512k"),
                      ("--rw", "randwrite", "--bs", "512", "--number-ios", "50")):  # fmt: skip
            said = cli("run", name, "--rw", "write", *words, *region)
            assert said.status == 0, said.err


def test_with_the_word_it_is_written_over(cli: Callable[..., Any], tmp_path: Path) -> None:
    with device(tmp_path, 256 * MIB, PLACE) as name:
        said = cli("run", name, "--rw", "write", "--bs", "64k", "--offset", str(207 * MIB),
                   "--size", "2m", *LEAVE, "--overwrite-existing")  # fmt: skip
    assert said.status == 0, said.err
    assert not held(tmp_path, PLACE)


def test_zeros_in_allocated_blocks_are_nothing(cli: Callable[..., Any], tmp_path: Path) -> None:
    image = zeros(tmp_path / "scratch.img", 16 * MIB)
    with attached(image) as name:
        assert cli("run", name, "--rw", "write", "--bs", "64k", *LEAVE).status == 0


SCATTERED = [192 * MIB + step * 4 * MIB + 5 * SECTOR for step in range(16)]
"""In one block of a thousand of the window: 80 samples miss all of them in 12 of 13 cases."""


@pytest.mark.parametrize("command", [
    ("probe", "units", "--budget", "full:3s"),
    ("probe", "buffer", "--budget", "full:3s"),
    ("probe", "order", "--budget", "full:5s"),
    ("probe", "merging", "--budget", "full:3s"),
    ("probe", "trim", "--budget", "full:5s"),
    ("characterize", "--budget", "full:6s"),
], ids=" ".join)  # fmt: skip
def test_no_probe_writes_over_data(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Probes write in places of their own choice; whatever they choose, the data stay."""
    verb, *rest = command
    with device(tmp_path, 256 * MIB, *SCATTERED) as name:
        names = [rest.pop(0), name] if verb == "probe" else [name, "-O", f"{tmp_path}/page.html"]
        ran = subprocess.run(
            [*COMMAND, verb, *names, *rest, "--seed", "1", *LEAVE],
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
    assert held(tmp_path, *SCATTERED), ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.returncode in (0, 1, 2), ran.stderr
    if ran.returncode:
        places = range(192 * MIB, 256 * MIB)
        assert any(at in places for at in bytes_said(ran.stderr)), ran.stderr


def test_a_replayed_trace_stops_before_it(cli: Callable[..., Any], tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    offsets = range(14 * MIB, 18 * MIB, MIB // 4)
    rows = [f"{n / 1000},write,{at},{MIB // 4}" for n, at in enumerate(offsets)]
    trace.write_text("\n".join([*rows, ""]), encoding="utf-8")
    with device(tmp_path, 256 * MIB, PLACE) as name:
        columns = ("--format", "csv", "--columns", "time=s:1,op:2,offset=bytes:3,size=bytes:4")
        said = cli("replay", name, str(trace), *columns, "--mode", "asap", *LEAVE, "-o", "json")
    assert held(tmp_path, PLACE), said.err
    assert_stopped(said, PLACE)
    if said.status == 1:
        assert said.document["write"]["requests"] > 0


def test_data_that_come_to_a_file_after_it_was_searched(
    spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    """Somebody fills the file in mid-run, and closes it again: nobody has it open by then."""
    file, place = holes(tmp_path / "scratch.img", 4 * MIB), 2 * MIB
    process = spawn(
        "run", str(file), "--rw", "write", "--bs", "256k", "--thinktime", "250ms", "--seed", "1",
        "--destroy-data", "FILE:scratch.img", "-o", "json",
    )  # fmt: skip
    await_first_write(process, file)
    put(file, place, DATA)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert "Traceback" not in err
    assert file.read_bytes()[place : place + SECTOR] == DATA
    assert json.loads(out)["write"]["requests"] > 0


def test_an_array_says_which_member(cli: Callable[..., Any], tmp_path: Path) -> None:
    """Of two loop devices, one holds data in the middle of its window."""
    image = holes(tmp_path / "other.img", 256 * MIB)
    with device(tmp_path, 256 * MIB, PLACE) as name, attached(image) as other:
        uri = f"raid0:{other},{name}?chunk=64k"
        start = 2 * (PLACE - 7 * SECTOR - MIB)
        said = cli("run", uri, "--rw", "write", "--bs", "128k", "--offset", str(start), "--size",
                   "4m", "--destroy-data", "LOOP:other.img,LOOP:scratch.img",
                   "--allow-virtual", "-o", "json")  # fmt: skip
    assert held(tmp_path, PLACE), said.err
    assert_stopped(said, PLACE)
    assert name in said.err


@pytest.mark.parametrize("op", ["OP_DISCARD", "OP_WRITE_ZEROES"])
def test_zeros_and_discards_are_destruction_too(tmp_path: Path, op: str) -> None:
    from ssdscope.errors import SsdscopeError
    from ssdscope.targets import open_target, records

    if not hasattr(records, op):
        pytest.skip(f"request lists have no {op}")
    with device(tmp_path, 256 * MIB, PLACE) as name:
        opened = open_target(name, destroy_token="LOOP:scratch.img", allow_virtual=True).device
        for at in (0, 20 * MIB):
            opened.run_list([getattr(records, op)], [at], [64 * 1024])
        with pytest.raises(SsdscopeError, match=r"holds data|data that"):
            opened.run_list([getattr(records, op)], [PLACE - 192 * MIB - 7 * SECTOR], [64 * 1024])
        del opened
    assert held(tmp_path, PLACE)


def test_the_plan_says_what_the_reading_costs(cli: Callable[..., Any], tmp_path: Path) -> None:
    """A dry run names the bytes that are read before they are written, of a file and a device."""
    with device(tmp_path, 256 * MIB) as name:
        said = cli("run", name, "--rw", "write", "--bs", "64k", *LEAVE, "--dry-run")
    assert said.status == 0, said.err
    line = next(line for line in said.out.splitlines() if re.match(r"reads?\b", line))
    assert "67.11 MB" in line, "as much is read as is written"


def test_the_reading_does_not_count(cli: Callable[..., Any], tmp_path: Path) -> None:
    """What is read for the check is no request of the workload, and no other's either."""
    with device(tmp_path, 256 * MIB) as name:
        said = cli("run", name, "--rw", "write", "--bs", "4k", "--number-ios", "400", "--seed", "1",
                   *LEAVE, "-o", "json")  # fmt: skip
    assert said.status == 0, said.err
    assert said.document["read"] is None
    assert said.document["write"]["requests"] == 400
    assert "other processes read" not in said.err


def test_a_sector_that_only_begins_as_ours_is_data(cli: Callable[..., Any], tmp_path: Path) -> None:
    """Sectors that only begin as ours are somebody's: a program may write into part of one."""
    ours = tmp_path / "ours.img"
    zeros(ours)
    assert cli("run", str(ours), "--rw", "write", "--number-ios", "1", "--destroy-data",
               "FILE:ours.img").status == 0  # fmt: skip
    sector = ours.read_bytes()[:SECTOR]
    for damaged in (sector[:8] + bytes(504), sector[:16] + DATA[16:], sector[:500] + DATA[:12]):
        with device(tmp_path, 256 * MIB, PLACE, data=damaged) as name:
            said = cli("run", name, "--rw", "write", "--bs", "64k", "--offset", str(207 * MIB),
                       "--size", "2m", *LEAVE)  # fmt: skip
        assert held(tmp_path, PLACE, data=damaged)
        assert_stopped(said, PLACE)


def test_a_file_is_searched_whole(cli: Callable[..., Any], tmp_path: Path) -> None:
    """One sector in 64 MiB of holes is found, before anything is written."""
    file = holes(tmp_path / "scratch.img", 64 * MIB)
    put(file, 37 * MIB + SECTOR, DATA)
    before = digest(file)
    said = cli("run", str(file), "--rw", "write", "--destroy-data", "FILE:scratch.img")
    assert_refused(said, "holds data", "data that ssdscope did not write")
    assert 37 * MIB + SECTOR in bytes_said(said.err)
    assert digest(file) == before


def test_the_tail_of_a_file_is_searched_too(cli: Callable[..., Any], tmp_path: Path) -> None:
    """What is no whole block is never written, and may hold data: a file is not cut or zeroed."""
    file = precious(tmp_path / "scratch.img", 100)
    with file.open("r+b") as opened:
        content = opened.read()
        opened.seek(0)
        opened.write(bytes(MIB) + content)
    said = cli("run", str(file), "--rw", "write", "--destroy-data", "FILE:scratch.img")
    assert said.status in (0, 2), said.err
    assert file.read_bytes()[MIB:] == content
