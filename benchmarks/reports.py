"""Reports of simulated drives for benchmarks: made by `characterize` once, and kept."""

import subprocess
from pathlib import Path

from harness import COMMAND

from ssdscope.report.document import Report, read

PAPER = (
    "ryu-a", "ryu-b", "ryu-c", "kuo-transcend-slc", "kuo-samsung-slc", "kuo-mtron-slc",
    "kuo-intel-mlc", "huang-ssd-i", "huang-ssd-a", "huang-ssd-s",
)  # fmt: skip
MODERN = ("nvme-tlc", "nvme-dramless", "nvme-datacentre", "sata-tlc")


def report_of(folder: Path, uri: str, seed: int) -> Report:
    """Give the report of a drive that lies in a folder; characterise the drive if there is none."""
    name = Path(uri.removeprefix("sim:")).stem
    path = folder / f"{name}.json"
    if not path.exists():
        words = ["characterize", uri, "--json", str(path), "-O", str(path.with_suffix(".html"))]
        subprocess.run(
            [*COMMAND, *words, "--seed", str(seed), "--progress", "never"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return read(path)
