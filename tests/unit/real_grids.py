"""Tables of real drives, made of ../shared/real/real-grids.csv; tests skip where it is absent."""

import csv
from pathlib import Path

import pytest

from ssdscope.models.table import Collected
from ssdscope.workloads.grid import Row, Vector

REAL = Path(__file__).parents[2].parent / "shared" / "real"
HEADER = {"target": "real", "design": "grid", "seed": 1}


def require(name: str) -> Path:
    path = REAL / name
    if not path.exists():
        pytest.skip(f"needs {name} of real drives: models are not tried on one")
    return path


def drive(name: str) -> list[Collected]:
    """Take the cells of a drive; of those with states, the ones of a drive in use."""
    with require("real-grids.csv").open(encoding="utf-8") as file:
        cells = [each for each in csv.DictReader(file) if each["drive"] == name]
    return [_collected(each) for each in cells if each["state"] != "formatted"]


def _collected(cell: dict[str, str]) -> Collected:
    size, rate = int(cell["block_bytes"]), float(cell["iops"])
    random = 100 if cell["pattern"].startswith("rand") else 0
    writes = "write" in cell["pattern"]
    depth = int(cell["iodepth"]) * int(cell["jobs"])
    if writes:
        vector = Vector(100, depth, wr_size=size, rd_size=size, wr_rand=random)
    else:
        vector = Vector(0, depth, wr_size=size, rd_size=size, rd_rand=random)
    row = Row(
        vector,
        requests=int(float(cell["requests"])),
        latency_ns=float(cell["mean_latency_ns"]),
        iops=rate,
        bandwidth_bytes_per_s=rate * size,
        elapsed_ns=120_000_000_000,
        ci_reached=True,
    )
    return Collected("train", row)
