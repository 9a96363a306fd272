"""What the benchmarks share: building the Rust programs, running them, printing figures.

A :class:`Figure` is a measured number with its bar. Bars in instructions and bytes bind:
they come out the same on every machine. What depends on a clock is only shown.
"""

import functools
import json
import os
import platform
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DRIVES = ROOT / "python" / "ssdscope" / "drives"
COMMAND = (sys.executable, "-c", "from ssdscope.cli.start import main; main()")
"""The program, as this interpreter runs it."""


@functools.cache
def built() -> str:
    """Return the compiler and the flags that programs are built with, for beside a figure."""
    rustc = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    about = dict(line.split(": ", 1) for line in rustc.splitlines() if ": " in line)
    release = tomllib.loads((ROOT / "Cargo.toml").read_text())["profile"]["release"]
    flags = f"-O{release['opt-level']} {release['lto']}-LTO {release['codegen-units']} units"
    more = f" {os.environ['RUSTFLAGS']}" if os.environ.get("RUSTFLAGS") else ""
    return f"rustc {about['release']} {about['host'].split('-')[0]} {flags}{more}"


@functools.cache
def interpreted() -> str:
    """Return what runs the figures that are taken in Python."""
    return f"CPython {platform.python_version()}, module by {built()}"


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    Parameters
    ----------
    what
        What was measured.
    value
        The number, or None where it was not measured.
    unit
        Its unit.
    bar
        The largest value that passes; None where there is no bar.
    binds
        Whether missing the bar fails the whole run.
    note
        What to compare it with, or why it was not measured.
    by
        The compiler and its flags.
    """

    what: str
    value: float | None
    unit: str
    bar: float | None = None
    binds: bool = False
    note: str = ""
    by: str = field(default_factory=built)

    @property
    def missed(self) -> bool:
        """Whether the value is beyond the bar."""
        return self.value is not None and self.bar is not None and self.value > self.bar

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        if self.value is None:
            return "skipped"
        if self.bar is None:
            return "-"
        if not self.missed:
            return "pass"
        return "FAIL" if self.binds else "missed (depends on the machine)"


def fill(path: Path, size_bytes: int) -> None:
    """Make a file of random bytes, in whole mebibytes."""
    with path.open("wb") as file:
        for _ in range(size_bytes >> 20):
            file.write(os.urandom(1 << 20))
        os.fsync(file.fileno())


@contextmanager
def loop_device(path: Path, *options: str) -> Iterator[str]:
    """Make a block device of a file, with options of losetup; it needs root."""
    words = ["losetup", "--find", "--show", *options, str(path)]
    device = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


@dataclass(frozen=True)
class Job:
    """A run of the program ``throughput``.

    Parameters
    ----------
    drive
        Name of a drive shipped with the package, or the path of a drive file.
    state
        The state it is opened in.
    workload
        Keys of the measured workload, without ``requests``.
    ramp
        A workload before it, in full; None for none.
    sets
        Changed keys of the drive file, as ``KEY=VALUE``.
    logged
        Whether a row is kept per request.
    """

    drive: str
    state: str
    workload: dict[str, Any]
    ramp: dict[str, Any] | None = None
    sets: tuple[str, ...] = ()
    logged: bool = False

    def command(self, requests: int) -> list[str]:
        """Return the command line for a run of this length."""
        return [
            str(program("ssdscope-sim", "throughput")),
            str(ROOT / self.drive if "/" in self.drive else DRIVES / f"{self.drive}.toml"),
            self.state,
            json.dumps(self.ramp) if self.ramp else "",
            json.dumps({**self.workload, "requests": requests}),
            *(["log"] if self.logged else []),
            *self.sets,
        ]

    def run(self, requests: int) -> dict[str, Any]:
        """Run it and return what the program reports."""
        return report_of(self.command(requests))


_programs: dict[str, Path] = {}


def program(package: str, example: str) -> Path:
    """Build an example of a crate as users get it (release), once; return its path."""
    if example not in _programs:
        command = ["cargo", "build", "--release", "--quiet", "--package", package]
        command += ["--example", example, "--message-format", "json"]
        built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
        if built.returncode != 0:
            sys.exit(f"error: {' '.join(command)} failed; see above")
        messages = [json.loads(line) for line in built.stdout.splitlines()]
        _programs[example] = next(
            Path(message["executable"])
            for message in messages
            if message.get("executable") and message["target"]["name"] == example
        )
    return _programs[example]


def report_of(command: Sequence[str]) -> dict[str, Any]:
    """Run a program that prints one line of JSON, and return that."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)}\n{done.stderr}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def median_seconds(run: Callable[[], dict[str, Any]], key: str = "run_s", times: int = 3) -> float:
    """Return the median of a wall time over several runs."""
    return median(float(run()[key]) for _ in range(times))


def valgrind_missing() -> str:
    """Return why instructions cannot be counted, or nothing."""
    if shutil.which("valgrind"):
        return ""
    return "valgrind is not installed (apt-get install valgrind)"


def count_instructions(command: Sequence[str]) -> int:
    """Count the instructions of a whole run of a program."""
    with TemporaryDirectory() as folder:
        profile = Path(folder) / "callgrind.out"
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", *command]
        done = subprocess.run(valgrind, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"error: {' '.join(valgrind)}\n{done.stderr}")
        totals = next(line for line in profile.read_text().splitlines() if "totals:" in line)
        return int(totals.split()[1])


def count_misses(command: Sequence[str]) -> tuple[int, int]:
    """Count the instructions of a program, and its misses in a first-level data cache.

    The cache is one of 32 KiB in eight ways, as most processors have had for long.
    """
    with TemporaryDirectory() as folder:
        counts = Path(folder) / "cachegrind.out"
        caches = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=33554432,16,64"]
        valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", *caches]
        valgrind += [f"--cachegrind-out-file={counts}", *command]
        done = subprocess.run(valgrind, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"error: {' '.join(valgrind)}\n{done.stderr}")
        lines = counts.read_text().splitlines()
    names = next(line for line in lines if line.startswith("events:")).split()[1:]
    totals = next(line for line in lines if line.startswith("summary:")).split()[1:]
    found = dict(zip(names, map(int, totals), strict=True))
    return found["Ir"], found["D1mr"] + found["D1mw"]


def show(figures: Sequence[Figure]) -> int:
    """Print the figures as a table; return the exit code: 1 if a binding bar was missed."""
    rows = [("what", "value", "bar", "unit", "verdict", "built by", "")]
    for figure in figures:
        value = "-" if figure.value is None else number(figure.value)
        bar = "" if figure.bar is None else f"<= {number(figure.bar)}"
        rows.append((figure.what, value, bar, figure.unit, figure.verdict, figure.by, figure.note))
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    for what, value, bar, unit, verdict, by, note in rows:
        cells = [what.ljust(widths[0]), value.rjust(widths[1]), bar.rjust(widths[2])]
        cells += [unit.ljust(widths[3]), verdict.ljust(widths[4]), by.ljust(widths[5]), note]
        print("  ".join(cells).rstrip())
    failed = [figure.what for figure in figures if figure.binds and figure.missed]
    print()
    print(
        f"FAILED: {', '.join(failed)}" if failed else "Every binding bar that was measured holds."
    )
    return 1 if failed else 0


def number(value: float) -> str:
    """Write a number with three digits or more."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
