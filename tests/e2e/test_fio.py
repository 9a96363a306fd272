"""``run`` against fio on the same file: the same options ask for the same work."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed"),
]

FILE_BYTES = 16 * 2**20
LATENCY_FACTOR = 2
"""How far apart the latencies of the two may be on a shared machine; a wrong unit is further."""
PAIRS = 7
"""Runs of each, taken in turns, so that both see the same neighbours."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with data, so that reads reach the disk."""
    path = tmp_path / "data.bin"
    path.write_bytes(bytes(range(256)) * (FILE_BYTES // 256))
    return path


def fio(file: Path, *options: str) -> dict[str, Any]:
    """Run fio and give what all its jobs did together."""
    done = subprocess.run(
        [
            "fio", "--name=peer", f"--filename={file}", "--readonly", "--direct=1",
            "--ioengine=psync", "--group_reporting", "--output-format=json", *options,
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=file.parent,
    )  # fmt: skip
    job: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    return job["read"]


@pytest.mark.parametrize(
    "options",
    [
        {"rw": "read", "bs": "64k"},
        {"rw": "read", "bs": "16k", "size": "1m"},
        {"rw": "read", "bs": "16k", "size": "4m", "offset": "8m", "io_size": "2m"},
        {"rw": "randread", "bs": "4k", "number_ios": "300"},
        {"rw": "randread", "bs": "4k", "size": "2m", "io_size": "1m"},
    ],
    ids=lambda options: " ".join(f"{key}={value}" for key, value in options.items()),
)
def test_the_same_options_ask_for_the_same_work(
    cli: Callable[..., Any], file: Path, options: dict[str, str]
) -> None:
    peer = fio(file, *(f"--{name}={value}" for name, value in options.items()))
    ours = cli(
        "run", str(file), "--seed", "1", "-o", "json",
        *(word for name, value in options.items() for word in (f"--{name}", value)),
    ).document["read"]  # fmt: skip
    assert ours["requests"] == peer["total_ios"]
    assert ours["bytes"] == peer["io_bytes"]


@pytest.mark.parametrize("depth", [1, 4])
def test_mean_latencies_agree(cli: Callable[..., Any], file: Path, depth: int) -> None:
    work = {"rw": "randread", "bs": "4k", "iodepth": str(depth), "number_ios": "2000"}
    engine = ("--ioengine=io_uring",) if depth > 1 else ()
    ours, theirs = [], []
    for seed in range(PAIRS):
        peer = fio(file, *(f"--{name}={value}" for name, value in work.items()), *engine)
        theirs.append(peer["lat_ns"]["mean"])
        said = cli(
            "run", str(file), "--seed", str(seed), "-o", "json",
            *(word for name, value in work.items() for word in (f"--{name}", value)),
        )  # fmt: skip
        ours.append(said.document["read"]["latency_ns"]["mean"])
    ratio = median(ours) / median(theirs)
    assert 1 / LATENCY_FACTOR < ratio < LATENCY_FACTOR
