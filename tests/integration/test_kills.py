"""SIGKILL at any moment: run again, a command ends as if it had not been killed.

Nothing of it lives on, and nothing that it left is in the way. Moments are drawn over the whole of
an undisturbed run. ``make kills`` draws 60 for each command; SSDSCOPE_KILLS says how many, and
SSDSCOPE_KILLS_SEED repeats a draw.
"""

import json
import os
import random
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.integration.test_resume import without_times
from tests.small_drives import PAGES

COMMAND = (sys.executable, "-c", "from ssdscope.cli.start import main; main()")
BRIEF = (sys.executable, "-m", "tests.integration.brief")
ROOT = Path(__file__).parents[2]
MARK = "SSDSCOPE_TEST_FAMILY"
"""In the environment of a command and of all that it starts: so all of them are found."""
GONE_S = 2.0
KILLS = int(os.environ.get("SSDSCOPE_KILLS", "1"))
SEED = int(os.environ.get("SSDSCOPE_KILLS_SEED", secrets.randbits(32)))

PLAN = """
targets = ["drive.toml"]
repeats = 4
[workload]
rw = "randwrite"
number_ios = 2000
[grid]
bs = ["4k", "16k"]
"""
SEARCH = """
target = "drive.toml"
trials = 4
minimise = "latency_ns.mean"
[workload]
rw = "randwrite"
number_ios = 1000
[space]
nand.channels = [1, 2, 4]
over_provisioning_ratio = [0.1, 0.2, 0.3]
"""
Read = Callable[[Path], Any]


def lines_of(journal: Path) -> Any:
    """Read a journal, whose lines come in any order."""
    return sorted(journal.read_text(encoding="utf-8").splitlines())


def page_of(document: Path) -> Any:
    """Read what a page says, but for when it was measured."""
    return without_times(json.loads(document.read_text(encoding="utf-8")))


def shape_of(page: Path) -> Any:
    """Say whether a page is whole: its words hold times."""
    return page.read_text(encoding="utf-8").rstrip().endswith("</html>")


def table_of(table: Path) -> Any:
    """Read a table, with what its metadata say."""
    read = pq.read_table(table)
    return read.schema.metadata, read.to_pylist()


@dataclass(frozen=True)
class Case:
    """A command that is killed.

    Attributes
    ----------
    words
        The command line.
    results
        What is compared of the files that it writes: bytes, if nothing else is said.
    started_by
        What starts it.
    resumed
        The word that goes on with a file, if that is there.
    """

    words: Sequence[str]
    results: dict[str, Read]
    started_by: Sequence[str] = COMMAND
    resumed: tuple[str, str] | None = None


CASES = {
    "run": Case(
        ("run", "drive.toml", "--rw", "randwrite", "--number-ios", "20000", "--log", "a.parquet"),
        {"a.parquet": table_of, "a.json": Path.read_bytes},
    ),
    "sweep": Case(
        ("sweep", "plan.toml", "-O", "a.jsonl", "--jobs", "2"),
        {"a.jsonl": lines_of, "a.parquet": Path.read_bytes},
    ),
    "search": Case(
        (
            "search", "search.toml", "-O", "a.jsonl", "--jobs", "2",
            "--write-drive", "a.toml", "--plot", "a.svg",
        ),
        {
            "a.jsonl": lines_of,
            "a.parquet": Path.read_bytes,
            "a.toml": Path.read_bytes,
            "a.svg": Path.read_bytes,
        },
    ),
    "model collect": Case(
        (
            "model", "collect", "drive.toml", "--points", "8", "--runtime", "50ms",
            "-O", "a.parquet",
        ),
        {"a.parquet": table_of},
    ),
    "characterize": Case(
        ("characterize", "small.toml", "--budget", "1s", "-O", "a.html", "--json", "a.json"),
        {"a.html": shape_of, "a.json": page_of},
        started_by=BRIEF,
        resumed=("--resume", "a.json"),
    ),
    "probe": Case(
        ("probe", "units", "small.toml", "--record", "a.npz"),
        {"a.npz": Path.read_bytes},
    ),
    "reproduce": Case(
        ("reproduce", "kuo2009", "--figure", "16", "-O", "out"),
        {"out/.ssdscope.json": Path.read_bytes}
        | {
            f"out/kuo2009-figure{figure}.{ending}": Path.read_bytes
            for figure in (16,)
            for ending in ("csv", "svg", "png")
        },
    ),
}  # fmt: skip


def begun(case: Case, folder: Path, family: str, *more: str) -> "subprocess.Popen[str]":
    """Start the command in a folder."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {MARK: family, "PYTHONPATH": path}
    return subprocess.Popen(
        [*case.started_by, *case.words, "--seed", "1", *more],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def prepared(folder: Path) -> Path:
    """Make a folder with all that the commands read."""
    folder.mkdir()
    (folder / "drive.toml").write_text(PAGES, encoding="utf-8")
    small = PAGES.replace("blocks_per_plane = 576", "blocks_per_plane = 64")
    (folder / "small.toml").write_text(small, encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    (folder / "search.toml").write_text(SEARCH, encoding="utf-8")
    return folder


def whole(case: Case, folder: Path, *more: str) -> dict[str, Any]:
    """Run the command to its end, and read what it came to: its results, and the names of all."""
    process = begun(case, folder, "whole", *more)
    _, told = process.communicate(timeout=300)
    assert process.returncode == 0, told
    found = {name: read(folder / name) for name, read in case.results.items()}
    found["names"] = sorted(str(each.relative_to(folder)) for each in folder.rglob("*"))
    return found


def family_of(mark: str) -> list[str]:
    """Find processes by their environment, wherever they were put after their parent ended."""
    found = []
    for each in Path("/proc").iterdir():
        try:
            if (
                each.name.isdigit()
                and f"{MARK}={mark}\0".encode() in (each / "environ").read_bytes()
            ):
                found.append((each / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:100])
        except (PermissionError, FileNotFoundError, ProcessLookupError):
            continue
    return found


def require_gone(mark: str) -> None:
    """Wait for all processes of a family to end, for as long as they may take."""
    end = time.monotonic() + GONE_S
    while left := family_of(mark):
        assert time.monotonic() < end, f"{GONE_S:g} s after the kill there are {left}"
        time.sleep(0.02)


def kill_once(case: Case, folder: Path, after_s: float) -> dict[str, Any]:
    """Kill the command so long after its start, and run it again to its end."""
    mark = f"{os.getpid()}-{secrets.token_hex(8)}"
    process = begun(case, folder, mark)
    try:
        process.wait(timeout=after_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    process.communicate()
    require_gone(mark)
    assert not list(Path("/dev/shm").glob(f"*loky-{process.pid}-*")), "semaphores are left"
    more: tuple[str, ...] = ()
    if case.resumed is not None and process.returncode:
        option, left = case.resumed
        more = (option,) if (folder / left).exists() and unfinished(folder / left) else ()
    return whole(case, folder, *more)


def unfinished(document: Path) -> bool:
    return "unfinished" in json.loads(document.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_a_command_that_is_killed_and_run_again_ends_as_if_it_had_not_been(
    name: str, tmp_path: Path
) -> None:
    case = CASES[name]
    begins = time.monotonic()
    undisturbed = whole(case, prepared(tmp_path / "undisturbed"))
    takes_s = time.monotonic() - begins
    draw = random.Random(f"{SEED} {name}")
    print(f"SSDSCOPE_KILLS_SEED={SEED}: {KILLS} kills in {takes_s:.1f} s of {name}")  # noqa: T201
    for number in range(KILLS):
        after_s = draw.uniform(0, takes_s)
        print(f"kill {number} after {after_s:.3f} s")  # noqa: T201 (a failure tells the moment)
        found = kill_once(case, prepared(tmp_path / str(number)), after_s)
        assert found == undisturbed
