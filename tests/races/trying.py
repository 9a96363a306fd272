"""Tries the command line again and again while a name flips, and counts what came of it."""

import argparse
import contextlib
import io
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ssdscope.cli.app import run_cli

FLIPPER = Path(__file__).with_name("flipper.py")


@dataclass
class Tally:
    """What came of all tries."""

    tries: int = 0
    flips: int = 0
    exits: Counter[int] = field(default_factory=Counter)
    messages: Counter[str] = field(default_factory=Counter)
    wrong: int = 0
    """Tries after which the precious side had changed."""

    def lines(self) -> Iterator[str]:
        exits = ", ".join(f"{count} x {status}" for status, count in sorted(self.exits.items()))
        yield f"{self.tries} tries, {self.flips} flips; exit codes: {exits}"
        for message, count in self.messages.most_common():
            yield f"  {count:5} x {message}"
        yield f"writes into the wrong place: {self.wrong}"


@contextmanager
def flipping(one: Path, other: Path, tally: Tally) -> Iterator[None]:
    """Exchange two names for as long as this is open."""
    process = subprocess.Popen(
        [sys.executable, "-S", str(FLIPPER), str(one), str(other)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "flipping\n"
        yield
    finally:
        said, _ = process.communicate(timeout=30)
    tally.flips += int(said)


def tried(words: list[str]) -> tuple[int, str]:
    """Run one command line in this process: its exit code and what it says of an error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run_cli(words)
    found = re.search(r"^error: .*(\n {2,}\S.*)*", err.getvalue(), re.MULTILINE)
    return status, found.group() if found else "(no error)" if status == 0 else err.getvalue()


def plain(message: str, folder: Path) -> str:
    """Leave out what differs from try to try."""
    short = " ".join(message.replace(str(folder), "DIR").split())
    return re.sub(r"loop\d+", "loopN", re.sub(r"process \d+", "process N", short))[:160]


def race(
    words: list[str],
    names: tuple[Path, Path],
    is_whole: Callable[[], bool],
    seconds: float,
    *,
    flips_min: int = 0,
) -> Tally:
    """Try until the time is over, or as soon as the precious side has changed five times."""
    tally, end = Tally(), time.monotonic() + seconds
    with flipping(*names, tally):
        while time.monotonic() < end:
            status, message = tried(words)
            tally.tries += 1
            tally.exits[status] += 1
            tally.messages[plain(message, names[0].parent)] += 1
            tally.wrong += not is_whole()
    assert tally.flips >= flips_min, f"{tally.flips} flips only"
    return tally


def by_hand(
    about: str | None, ways: Mapping[str, Callable[[Path, float], Tally]], says: str
) -> int:
    """Race in each way, as asked on the command line, and print what came of it; 1 if one lost."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--seconds", type=float, default=30, help="how long each way")
    asked = parser.parse_args()
    wrong = 0
    for name, way in ways.items():
        with tempfile.TemporaryDirectory() as folder:
            tally = way(Path(folder), asked.seconds)
        print(f"{name} {says}", *tally.lines(), sep="\n", flush=True)
        wrong += tally.wrong
    return int(wrong > 0)
