"""A folder of what fio left, drive by drive: which files are results, and why others are not.

Files are known by what they hold; only logs by their names, as fio has them. Logs that belong to a
run whose JSON is there are left aside: the JSON has the sums. fio does not write which drive a file
name such as ``/dev/sda`` stood for, so the folders say it, and what stands before the pattern in
fio-plot's file names: ``PM883/4k/RUN2/randread-16-4.json`` is of the drive ``PM883``.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssdscope.errors import SsdscopeError, UsageError
from ssdscope.results.fio.log_sets import LogSet, log_sets, record_of
from ssdscope.results.fio.outputs import records_of
from ssdscope.results.fio.texts import Cut
from ssdscope.results.record import envelope

MOST_FILES = 200_000
_SNIFFED = 65536
_PATTERN = r"(?:rand)?(?:read|write|rw|trim)|readwrite|trimwrite"
_IN_FOLDERS = re.compile(
    rf"\d+(?:k|m|kib|mib|ki|mi|kb|mb|b)?|(?:{_PATTERN})\d*|run[-_]?\d+", re.IGNORECASE
)
"""Names of folders that say what was run, and not on which drive."""
_BENCH_NAME = re.compile(
    rf"(?P<before>.*?)[-_. ]*(?:^|(?<=[-_. ]))(?:{_PATTERN})\d*-\d+-\d+", re.IGNORECASE
)
_RUN = re.compile(r"[-_. ]*run[-_]?\d+$", re.IGNORECASE)
_RUN_IS = ("version", "time", "time_ms", "group", "jobs")
"""What two files have in common that are of one run."""
_SKIPPED = (".html", ".svg", ".png", ".pdf", ".parquet", ".md")
_LOG_OPTIONS = ("write_lat_log", "write_bw_log", "write_iops_log", "write_hist_log")


@dataclass(frozen=True)
class Left:
    """A file that is no result, and why."""

    path: str
    why: str


@dataclass
class Found:
    """What is in the paths.

    Attributes
    ----------
    drives
        The results by drive: documents in the shape of a run's.
    left
        What could not be used.
    logs_aside
        Logs of runs whose JSON is here.
    """

    drives: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)
    logs_aside: int = 0

    @property
    def records(self) -> list[dict[str, Any]]:
        """List all results, drive by drive."""
        return [each for records in self.drives.values() for each in records]

    def to_json(self) -> dict[str, Any]:
        """Return the document of a single result, or of all drive by drive."""
        if len(self.records) == 1 and not self.left:
            return self.records[0]
        return {
            **envelope(),
            "drives": [{"drive": name, "runs": runs} for name, runs in self.drives.items()],
            "left": [vars(each) for each in self.left],
            "logs_aside": self.logs_aside,
        }


@dataclass(frozen=True)
class _Read:
    """A result, with what its place says of the drive."""

    record: dict[str, Any]
    folder: str
    before: str


def find(paths: Sequence[str]) -> Found:
    """Read all results of fio in files and folders.

    Raises
    ------
    UsageError
        If there is no such place, or nothing in it is a result of fio.
    """
    found = Found()
    reads: list[_Read] = []
    for path in paths:
        reads += _read_place(Path(path), found)
    if not reads:
        reasons = "".join(f"\n  {each.path}: {each.why}" for each in found.left[:8])
        raise UsageError(
            f"{', '.join(paths)}: nothing here is a result of fio{reasons}",
            hint="expected is what fio writes with --output-format=json or json+, or its logs",
        )
    names = _drives(reads)
    for each, name in zip(reads, names, strict=True):
        each.record["target"]["uri"] = name
    for each, name in _once(reads, names, found):
        found.drives.setdefault(name, []).append(each.record)
    for records in found.drives.values():
        records.sort(key=_order)
    return found


def _order(record: dict[str, Any]) -> tuple[Any, ...]:
    """Order the runs of a drive by pattern, size, depth and jobs."""
    plan = record["workload"]
    sizes = (plan.get(name) or 0 for name in ("block_bytes", "iodepth", "numjobs"))
    return (str(plan.get("rw")), *sizes)


def _once(reads: Sequence[_Read], names: Sequence[str], found: Found) -> list[tuple[_Read, str]]:
    """Leave out copies: a run that is there twice is no repetition; one that is whole stands."""
    kept: dict[Any, tuple[_Read, str]] = {}
    for each, name in zip(reads, names, strict=True):
        about = each.record["fio"]
        key = about["file"]
        if about["time"] is not None:
            key = (name, *(str(about[part]) for part in _RUN_IS))
        other = kept.get(key)
        if other is None:
            kept[key] = (each, name)
            continue
        copy = each
        if other[0].record["interrupted"]:
            kept[key], copy = (each, name), other[0]
        why = f"the same run as {kept[key][0].record['fio']['file']}"
        found.left.append(Left(copy.record["fio"]["file"], why))
    return list(kept.values())


def is_of_fio(path: str) -> bool:
    """Whether a path is a folder, or a file that fio wrote."""
    place = Path(path)
    if place.is_dir():
        return True
    sets, others = log_sets([place])
    if sets:
        return True
    try:
        with others[0].open("rb") as file:
            head = file.read(_SNIFFED)
    except OSError:
        return False  # whoever reads it says why
    return b'"fio version"' in head or head.startswith(b"\x1f\x8b")


def files_in(path: str) -> list[str]:
    """List the files that a path stands for: itself, or all in a folder."""
    place = Path(path)
    return [str(each) for each in _files(place)] if place.is_dir() else [path]


def _read_place(place: Path, found: Found) -> list[_Read]:
    if not place.exists():
        raise UsageError(f"there is no {place}")
    root = place if place.is_dir() else place.parent
    files = list(_files(place)) if place.is_dir() else [place]
    reads: list[_Read] = []
    sets, others = log_sets(files)
    for file in others:
        try:
            records = _records(file)
        except SsdscopeError as error:
            found.left.append(Left(str(file), error.message))
            continue
        if isinstance(records, str):
            found.left.append(Left(str(file), records))
            continue
        for record in records:
            if record["requests"]:
                reads.append(_Read(record, *_told_by_place(file, root)))
            else:
                found.left.append(Left(str(file), _nothing(record["fio"])))
    reads += _read_logs(sets, reads, root, found)
    return reads


def _nothing(about: dict[str, Any]) -> str:
    """Say why a group of jobs has no request."""
    cut = about["cut"]
    return str(Cut(**cut)) if cut else f"its group {about['group']} has no request"


def _files(folder: Path) -> Iterable[Path]:
    count = 0
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            path = Path(top, name)
            if name.startswith(".") or not path.is_file() or path.suffix in _SKIPPED:
                continue
            count += 1
            if count > MOST_FILES:
                raise UsageError(f"{folder} holds more than {MOST_FILES:,} files")
            yield path


def _records(file: Path) -> list[dict[str, Any]] | str:
    """Read the results of a file, or say what it is instead."""
    try:
        with file.open("rb") as opened:
            head = opened.read(_SNIFFED)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if not head.strip():
        return "it is empty"
    if head.startswith(b"fio version"):
        return "an iolog: requests without latencies; ssdscope replay runs it on a drive"
    read = records_of(file)
    if read is not None:
        records, text = read
        return records or f"no job of it is whole: {text.cut}"
    if b"groupid=" in head or b"fio-" in head[:200]:
        if b";fio-" in head:
            return "fio's terse output, which is not read: use --output-format=json"
        return "fio's output for people, which is not read: use --output-format=json"
    if re.search(rb"(?m)^\s*(?:rw|readwrite|ioengine|iodepth)\s*=", head):
        return "a job file: ssdscope run TARGET --fio-job runs it"
    return "it is not what fio writes"


def _read_logs(
    sets: Sequence[LogSet], reads: Sequence[_Read], root: Path, found: Found
) -> list[_Read]:
    """Read logs that no JSON sums up."""
    summed = {
        (str(Path(each.record["fio"]["file"]).parent), name)
        for each in reads
        for name in _logs_of(each.record["workload"])
    }
    more = []
    for one in sets:
        if (str(one.folder), one.prefix) in summed:
            found.logs_aside += len(one.files)
            continue
        try:
            record = record_of(one)
        except SsdscopeError as error:
            found.left.append(Left(str(one), error.message))
            continue
        more.append(_Read(record, *_told_by_place(one.folder / one.prefix, root)))
    return more


def _logs_of(workload: dict[str, Any]) -> Iterable[str]:
    for each in workload.get("flows", [workload]):
        for name in _LOG_OPTIONS:
            if name in each["options"]:
                yield Path(each["options"][name]).name


def _told_by_place(file: Path, root: Path) -> tuple[str, str]:
    """Say what of a file's place names the drive: the folders, and the beginning of its name."""
    folders = [
        each for each in file.parent.relative_to(root).parts if not _IN_FOLDERS.fullmatch(each)
    ]
    inside = folders or [root.resolve().name]
    match = _BENCH_NAME.match(file.name)
    before = _RUN.sub("", match["before"]) if match else ""
    return "/".join(inside), before


def _drives(reads: Sequence[_Read]) -> list[str]:
    """Name the drive of each result."""
    devices: dict[str, set[str]] = {}
    for each in reads:
        if not each.before and each.record["target"]["uri"]:
            devices.setdefault(each.folder, set()).add(each.record["target"]["uri"])
    names = []
    for each in reads:
        name = each.folder
        if each.before:
            name = f"{each.folder}/{each.before}"
        elif len(devices.get(each.folder, ())) > 1 and each.record["target"]["uri"]:
            name = f"{each.folder}/{Path(each.record['target']['uri']).name}"
        names.append(name)
    return names
