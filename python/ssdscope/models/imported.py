"""Results of fio as runs that a model learns from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.models import table
from ssdscope.models.table import Collected
from ssdscope.results.fio.folders import find, is_of_fio
from ssdscope.results.opening import open_parquet
from ssdscope.workloads.grid import Row, Vector

HINT = "ssdscope import says what is there, drive by drive"
_FLUSHING = ("fsync", "fdatasync", "sync", "write_barrier", "sync_file_range")
_OFF = ("0", "none")


def load(path: str | Path) -> tuple[dict[str, Any], list[Collected]]:
    """Read runs: a table of `model collect`, or results of fio on one drive.

    The latter are fio's own files, or the table that ``ssdscope import`` made of them.

    Returns
    -------
    header, rows
        What was collected, and the runs. Of results of fio, ``left`` counts by reason those that
        are no runs of the eight characteristics.

    Raises
    ------
    UsageError
        If the file cannot be read or holds something else, or results are of several drives.
    """
    if Path(path).suffix == ".parquet":
        drives = _of_table(path)
    else:
        drives = find([str(path)]).drives if is_of_fio(str(path)) else {}
    if not drives:
        return table.load(path)
    if len(drives) > 1:
        names = "".join(f"\n  {name}: {len(runs)} runs" for name, runs in drives.items())
        raise UsageError(
            f"{path} holds results of {len(drives)} drives, and a model is of one:{names}",
            hint="name the folder of one",
        )
    ((drive, records),) = drives.items()
    return runs_of(drive, records)


def _of_table(path: str | Path) -> dict[str, list[dict[str, Any]]]:
    """Read the results in a table of ``ssdscope import``, by drive; none of any other file."""
    import pyarrow as pa

    try:
        with open_parquet(path) as file:
            if "fio.version" not in file.schema_arrow.names:
                return {}
            rows = file.read().to_pylist()
    except (OSError, pa.ArrowInvalid):
        return {}  # `table.load` says what is wrong with it
    drives: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        record = _nested(row)
        drives.setdefault(record["target"]["uri"], []).append(record)
    return drives


def _nested(row: Mapping[str, Any]) -> dict[str, Any]:
    """Put the dotted names of a row back into one another; what holds nothing is None."""
    record: dict[str, Any] = dict.fromkeys(("read", "write", "discard"))
    for name, value in row.items():
        if value is None and not name.startswith("workload."):
            continue
        *path, last = name.split(".")
        place = record
        for part in path:
            place[part] = place.get(part) or {}
            place = place[part]
        place[last] = value
    plan = record["workload"]
    given = plan.get("options") or {}
    plan["options"] = {name: value for name, value in given.items() if value is not None}
    for way in ("read", "write"):
        if record[way]:
            latency = record[way].get("latency_ns")
            record[way]["latency_ns"] = latency and {"p99": None, **latency}
    return record


def runs_of(
    drive: str, records: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], list[Collected]]:
    """Make runs of a drive's results, as `load` gives them."""
    rows: list[Collected] = []
    left: Counter[str] = Counter()
    for record in records:
        why = _unusable(record)
        if why is None:
            rows.append(Collected("train", _row(record)))
        else:
            left[why] += 1
    if not rows:
        reasons = "".join(f"\n  {count} runs: {why}" for why, count in left.items())
        raise UsageError(f"{drive}: no result of fio is a run for a model:{reasons}", hint=HINT)
    header = {
        "target": drive,
        "design": "imported",
        "points": len(rows),
        "test": 0,
        "repeats": 0,
        "skipped": sum(left.values()),
        "seed": 0,
        "state": None,
        "sets": [],
        "left": dict(left),
    }
    return header, rows


def _unusable(record: Mapping[str, Any]) -> str | None:
    """Say why a result is not described by the eight characteristics; None if it is."""
    plan = record["workload"]
    if record["interrupted"]:
        return "not whole"
    if "flows" in plan or "rw" not in plan:
        return "several workloads side by side"
    if record["discard"]:
        return "trims"
    if plan["paced"]:
        return "requests come at a rate or with pauses"
    if any(plan["options"].get(name, "0") not in _OFF for name in _FLUSHING):
        return "writes are flushed"
    known = (plan["rw"], plan["in_flight"], plan["percentage_random"], record["requests"])
    if None in known:
        return "pattern or depth is not known"
    for way in ("read", "write"):
        if record[way] and not plan[f"{way}_block_bytes"]:
            return "sizes are mixed or not known"
        if record[way] and not record[way]["latency_ns"]:
            return "latencies were not timed"
    return None


def _row(record: Mapping[str, Any]) -> Row:
    """Take a result as a row of a collection: means over reads and writes together."""
    plan = record["workload"]
    sides = {way: record[way] for way in ("read", "write") if record[way]}
    requests = sum(side["requests"] for side in sides.values())
    latency_ns = sum(side["latency_ns"]["mean"] * side["requests"] for side in sides.values())
    return Row(
        _vector(plan, sides),
        requests=requests,
        latency_ns=latency_ns / requests,
        iops=sum(side.get("iops") or 0.0 for side in sides.values()),
        bandwidth_bytes_per_s=sum(
            side.get("bandwidth_bytes_per_s") or 0.0 for side in sides.values()
        ),
        elapsed_ns=record["elapsed_ns"],
        read_p99_ns=_p99(sides.get("read")),
        write_p99_ns=_p99(sides.get("write")),
        ci_reached=True,
    )


def _vector(plan: Mapping[str, Any], sides: Mapping[str, Any]) -> Vector:
    random = plan["percentage_random"]
    return Vector(
        wr_ratio=round(100 - plan["read_percent"]),
        q_dep=plan["in_flight"],
        wr_size=plan["write_block_bytes"] or 0,
        rd_size=plan["read_block_bytes"] or 0,
        wr_rand=random if "write" in sides else 0,
        rd_rand=random if "read" in sides else 0,
    )


def _p99(side: Mapping[str, Any] | None) -> int | None:
    value = side["latency_ns"]["p99"] if side else None
    return None if value is None else round(value)
