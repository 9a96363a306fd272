"""Results of fio as the outcomes of a sweep: what was varied on each drive, and a table of it.

Runs of a drive are told apart by pattern, size, depth and jobs. Where two agree in these and
differ in something else that was asked for (an engine, a share of reads, a name), that is varied
too; where they agree in all of it, they are repetitions, of which intervals come.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ssdscope.sweep.table import write_table
from ssdscope.units import format_size

USUAL = ("rw", "bs", "iodepth", "numjobs")
"""What tells runs apart, in the names of fio's options."""
_NO_DIFFERENCE = (
    "rw", "readwrite", "bs", "blocksize", "iodepth", "numjobs", "name", "filename", "directory",
    "description", "runtime", "ramp_time", "time_based", "randseed", "output", "status", "write_",
    "log_", "per_job_logs", "group_reporting", "cpus_allowed", "numa_", "percentile_list",
    "clat_percentiles", "lat_percentiles", "slat_percentiles", "thread", "stonewall", "new_group",
)  # fmt: skip
"""Options, or what their names begin with, that make no other workload."""
_DIGITS = re.compile(r"\d+")


def outcomes(drives: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return the runs of each drive as outcomes of a sweep, which its table and pictures take."""
    found = []
    for drive, records in drives.items():
        for record, varied in zip(records, _varied(records), strict=True):
            found.append(
                {"point": {"target": drive, "varied": varied}, "record": record, "error": None}
            )
    return found


def write(path: str | Path, drives: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Write a row per run, as the table of a sweep.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    every = outcomes(drives)
    write_table(Path(path), lambda: every)


def _varied(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Say of each run of a drive what tells it from the others."""
    usual = [_usual(record["workload"]) for record in records]
    others = [_others(record) for record in records]
    alike: dict[tuple[Any, ...], list[dict[str, str]]] = {}
    for key, other in zip(usual, others, strict=True):
        alike.setdefault(tuple(key.items()), []).append(other)
    names = dict.fromkeys(
        name
        for group in alike.values()
        for name in sorted({name for other in group for name in other})
        if len({other.get(name) for other in group}) > 1
    )
    return [
        key | {name: other[name] for name in names if name in other} | _cut(record)
        for key, other, record in zip(usual, others, records, strict=True)
    ]


def _cut(record: Mapping[str, Any]) -> dict[str, str]:
    """Keep a run that is not whole apart from all others."""
    cut = record["fio"]["cut"]
    return {"cut": f"line {cut['line']}"} if record["interrupted"] and cut else {}


def _usual(workload: Mapping[str, Any]) -> dict[str, Any]:
    if "flows" in workload:
        flows = workload["flows"]
        jobs = sum(each["numjobs"] for each in flows)
        return {"rw": "+".join(str(each["rw"]) for each in flows), "numjobs": jobs}
    found = {
        "rw": workload["rw"],
        "bs": _size(workload),
        "iodepth": workload["iodepth"],
        "numjobs": workload["numjobs"],
    }
    return {name: value for name, value in found.items() if value is not None}


def _size(workload: Mapping[str, Any]) -> str | None:
    if workload["block_bytes"]:
        return format_size(workload["block_bytes"])
    sizes = [workload[f"{way}_block_bytes"] for way in ("read", "write")]
    if all(sizes):
        return ",".join(map(format_size, sizes))
    options = workload["options"]
    return next((options[name] for name in ("bssplit", "bsrange") if name in options), None)


def _others(record: Mapping[str, Any]) -> dict[str, str]:
    """List what else may tell a run apart: its other options, its name, the version of fio."""
    workload, about = record["workload"], record["fio"]
    flows = workload.get("flows", [workload])
    found = {
        name: str(value)
        for each in flows
        for name, value in each["options"].items()
        if not name.startswith(_NO_DIFFERENCE)
    }
    found["job"] = "+".join(_DIGITS.sub("#", name) for name in about["jobs"])
    if about["version"]:
        found["fio"] = ".".join(str(about["version"]).split("-")[0].split(".")[:2])
    return found
