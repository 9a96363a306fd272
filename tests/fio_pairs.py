"""The same job through fio and through ssdscope: requests, bytes, places, flushes, sizes, depth.

What no generator of random numbers has a say in must be equal. Of what is drawn, shares must agree
as two samples of one distribution do; of what is timed, counts within a few requests.
"""

import json
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ssdscope.targets import open_target
from ssdscope.workloads.fio_job import parse_fio_job
from ssdscope.workloads.stages import perform_stage, seeded

DEPTHS = (1, 2, 4, 8, 16, 32, 64)
"""From which depth on fio counts a request into each of its levels."""
DEPTH_SHARE_PERCENT = 5.0
"""How often a depth must be reached to be that of a job; less is a burst after a late wake-up."""
SPREAD = 5.0
"""Standard deviations that two shares, or two counts, may be apart."""
TIMED_REQUESTS, TIMED_SHARE = 3, 0.03
"""By how much counts of timed jobs may differ: the first and last request, and a late clock."""
OPS = {"read": 0, "write": 1}


@dataclass(frozen=True)
class Pair:
    """A job that both run.

    Attributes
    ----------
    name
        What it is about.
    options
        Lines of its section, without engine and file.
    engine
        fio's; ours reads the same word.
    target_bytes
        The size of the file that both see.
    timed
        Whether the clock says how much is done.
    placed
        Whether the order of places is compared, not only which they are.
    """

    name: str
    options: tuple[str, ...]
    engine: str = "psync"
    target_bytes: int = 4 << 20
    timed: bool = False
    placed: bool = True

    @property
    def section(self) -> str:
        """The section, as both read it."""
        direct = ("direct=1",) if self.is_deep else ()
        return "\n".join((f"[{self.name}]", f"ioengine={self.engine}", *direct, *self.options))

    def has(self, *names: str) -> bool:
        """Whether an option of one of these names is in it."""
        return any(line.split("=")[0] in names for line in self.options)

    @property
    def is_deep(self) -> bool:
        """Whether fio keeps several requests in flight: requests must be direct for that."""
        return self.engine != "psync"

    @property
    def pattern(self) -> str:
        """Its access pattern."""
        given = (line.partition("=") for line in self.options)
        return next(text for name, _, text in given if name in ("rw", "readwrite"))

    @property
    def mixes(self) -> bool:
        """Whether the direction of each request is drawn."""
        return self.pattern.partition(":")[0] in ("rw", "randrw", "readwrite")


@dataclass
class Seen:
    """What one of the two did.

    Attributes
    ----------
    requests, bytes
        Of reads and of writes.
    flushes
        Flushes of the whole job; None where they are not logged.
    depth
        The deepest level of fio's that a share of the requests reached.
    rows
        Direction, offset and length of each request, in order; None where not logged.
    """

    requests: tuple[int, int]
    bytes: tuple[int, int]
    flushes: int | None
    depth: int
    rows: list[tuple[int, int, int]] | None = field(default=None, repr=False)


def by_fio(pair: Pair, folder: Path) -> Seen:
    """Run it by fio, on a file of zeros that takes no room."""
    target = folder / "target"
    with target.open("wb") as file:
        file.truncate(pair.target_bytes)
    # At depth fio 3.33 logs most requests twice, when they are made and when they are sent.
    logs = not pair.has("numjobs", "ramp_time") and not pair.is_deep
    lines = [pair.section, f"filename={target}", "invalidate=0"]
    lines += ["write_iolog=fio.log"] if logs else []
    job = folder / "job.fio"
    job.write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        ["fio", "--output-format=json", str(job)],
        capture_output=True, text=True, timeout=120, check=True, cwd=folder,
    )  # fmt: skip
    jobs = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    rows, flushes = _iolog(folder / "fio.log") if logs else (None, None)
    levels: Counter[int] = Counter()
    for each in jobs:
        for level, percent in each["iodepth_level"].items():
            levels[int(level.removeprefix(">="))] += percent / len(jobs)
    return Seen(
        requests=_pair(jobs, "total_ios"),
        bytes=_pair(jobs, "io_bytes"),
        flushes=flushes,
        depth=max(level for level, percent in levels.items() if percent >= DEPTH_SHARE_PERCENT),
        rows=rows,
    )


def _pair(jobs: list[dict[str, Any]], key: str) -> tuple[int, int]:
    read, write = (sum(each[direction][key] for each in jobs) for direction in OPS)
    return read, write


def _iolog(path: Path) -> tuple[list[tuple[int, int, int]], int]:
    """Read requests, and count flushes: fio's summary leaves those of fdatasync out."""
    words = [line.split() for line in path.read_text().splitlines()]
    rows = [
        (OPS[each[2]], int(each[3]), int(each[4]))
        for each in words
        if len(each) == 5 and each[2] in OPS
    ]
    return rows, sum(len(each) > 2 and each[2] in ("sync", "datasync") for each in words)


def by_ssdscope(pair: Pair, seed: int = 1) -> Seen:
    """Run it by ssdscope, on a device that serves everything at once."""
    job = seeded(parse_fio_job(f"{pair.section}\n", f"{pair.name}.fio"), seed)
    chunks: list[Any] = []
    target = open_target(f"null:{pair.target_bytes}")
    summary = perform_stage(target, job, 0, progress=None, chunk=chunks.append).summary
    columns = {
        key: np.concatenate([np.zeros(0, int), *(chunk.columns[key] for chunk in chunks)])
        for key in ("op", "offset_bytes", "bytes", "submit_ns", "complete_ns", "index")
    }
    order = np.argsort(columns["index"], kind="stable")
    columns = {key: column[order] for key, column in columns.items()}
    moved = columns["bytes"] > 0
    rows = [tuple(map(int, row)) for row in zip(
        *(columns[key][moved] for key in ("op", "offset_bytes", "bytes")), strict=True
    )]  # fmt: skip
    sections = [summary[direction] or {} for direction in OPS]
    jobs = next((int(line.split("=")[1]) for line in pair.options if line.startswith("numjobs")), 1)
    return Seen(
        requests=(sections[0].get("requests", 0), sections[1].get("requests", 0)),
        bytes=(sections[0].get("bytes", 0), sections[1].get("bytes", 0)),
        flushes=(summary["flush"] or {}).get("requests", 0),
        depth=_depth(columns["submit_ns"], columns["complete_ns"], jobs),
        rows=rows,
    )


def _depth(submitted: np.ndarray, completed: np.ndarray, jobs: int) -> int:
    """Return the level of fio's that a share of the requests found, themselves included."""
    ended = np.searchsorted(np.sort(completed), submitted, side="right")
    started = np.searchsorted(np.sort(submitted), submitted, side="right")
    in_flight = np.maximum(started - ended, 1) / jobs
    if not len(in_flight):
        return 1
    for level in reversed(DEPTHS):
        if 100 * np.mean(in_flight >= level) >= DEPTH_SHARE_PERCENT:
            return level
    return 1


def differences(pair: Pair, theirs: Seen, ours: Seen) -> list[str]:
    """Say what the two did differently; nothing where they agree."""
    found = _amounts(pair, theirs, ours)
    if theirs.flushes is not None and ours.flushes is not None:
        loose = pair.mixes or pair.timed
        if not _near(theirs.flushes, ours.flushes, 1, pair, loose=loose):
            found.append(f"flushes: {theirs.flushes} and {ours.flushes}")
    # While fio waits for its rate its queue runs empty; ours sends two if it wakes up late.
    if theirs.depth != ours.depth and not pair.has("rate", "rate_iops"):
        found.append(f"depth: {theirs.depth} and {ours.depth}")
    if theirs.rows is not None and ours.rows is not None:
        found += _places(pair, theirs.rows, ours.rows)
    return found


def _amounts(pair: Pair, theirs: Seen, ours: Seen) -> list[str]:
    """Compare how many requests and bytes there were."""
    found = []
    sized = pair.has("bssplit", "bsrange") or any("," in line for line in pair.options)
    loose = pair.timed or pair.mixes or sized
    for what, one, other, unit in (
        ("requests", theirs.requests, ours.requests, 1.0),
        ("bytes", theirs.bytes, ours.bytes, _mean_bytes(theirs)),
    ):
        each = zip(one, other, strict=True)
        fine = all(_near(a, b, unit, pair, loose=loose) for a, b in each)
        if pair.mixes and ":" not in pair.pattern and not pair.timed and not sized:
            fine &= sum(one) == sum(other)
        if not fine:
            found.append(f"{what}: {one} and {other}")
    return found


def _mean_bytes(seen: Seen) -> float:
    return max(sum(seen.bytes) / max(sum(seen.requests), 1), 1)


def _near(one: float, other: float, unit: float, pair: Pair, *, loose: bool) -> bool:
    """Whether two counts are equal, or as near as drawing and clocks allow."""
    if not loose:
        return one == other
    is_drawn = pair.mixes or pair.has("bssplit", "bsrange", "rate_process")
    drawn = SPREAD * float(np.sqrt(max(one, other) / unit)) * unit if is_drawn else 0.0
    late = unit * TIMED_REQUESTS + TIMED_SHARE * one if pair.timed else unit
    return abs(one - other) <= drawn + late


def _places(
    pair: Pair, theirs: list[tuple[int, int, int]], ours: list[tuple[int, int, int]]
) -> list[str]:
    """Compare offsets and lengths."""
    found = []
    random = pair.pattern.startswith("rand")
    for direction, op in OPS.items():
        one, other = ([row[1:] for row in rows if row[0] == op] for rows in (theirs, ours))
        if not one or not other:
            continue
        if not random and not pair.has("bssplit", "bsrange"):
            count = min(len(one), len(other))
            if pair.placed and not pair.mixes and one[:count] != other[:count]:
                found.append(f"{direction} places: {_first_difference(one, other)}")
        else:
            found += [f"{direction} {text}" for text in _spread(pair, one, other)]
    return found


def _first_difference(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> str:
    at = next(place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return f"request {at} at {one[at]} and {other[at]}"


def _spread(pair: Pair, one: list[tuple[int, int]], other: list[tuple[int, int]]) -> list[str]:
    """Compare places and sizes that are drawn."""
    found = []
    a, b = np.array(one), np.array(other)
    sizes = Counter(a[:, 1].tolist())
    for size, count in sizes.items():
        share, seen = count / len(a), float(np.mean(b[:, 1] == size))
        if abs(share - seen) > SPREAD * np.sqrt(0.25 / min(len(a), len(b))):
            found.append(f"share of {size} bytes: {share:.2f} and {seen:.2f}")
    distinct = [len(np.unique(each[:, 0])) for each in (a, b)]
    if abs(distinct[0] - distinct[1]) > SPREAD * np.sqrt(max(distinct)) + abs(len(a) - len(b)):
        found.append(f"different places: {distinct[0]} and {distinct[1]}")
    partly = ("norandommap", "random_distribution", "bssplit", "bsrange", "percentage_random", "ba",
              "number_ios", "io_size", "io_limit")  # fmt: skip
    whole = not pair.has(*partly) and not pair.mixes and not pair.timed
    if whole and {*a[:, 0]} != {*b[:, 0]}:
        found.append("places: not the same ones")
    if ((b[:, 0] - a[0, 0]) % a[:, 1].min()).any():
        found.append("places: not multiples of the same")
    tops = [np.sort(np.unique(each[:, 0], return_counts=True)[1])[::-1] for each in (a, b)]
    for top in (1, 10, 100):
        hot = [float(counts[:top].sum() / counts.sum()) for counts in tops]
        if abs(hot[0] - hot[1]) > 0.03 + SPREAD * np.sqrt(0.25 / min(len(a), len(b))):
            found.append(f"share of the {top} hottest places: {hot[0]:.2f} and {hot[1]:.2f}")
    return found
