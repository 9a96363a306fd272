"""``run`` against fio on the same file: the same options ask for the same work."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed"),
]

FILE_BYTES = 16 * 2**20
LATENCY_FACTOR = 5
"""How far apart two medians on a shared machine may be; a wrong unit is further."""


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


def test_latencies_are_of_one_size(cli: Callable[..., Any], file: Path) -> None:
    peer = fio(file, "--rw=randread", "--bs=4k", "--number_ios=2000")
    said = cli(
        "run", str(file), "--rw", "randread", "--bs", "4k", "--number-ios", "2000",
        "--seed", "1", "-o", "json",
    )  # fmt: skip
    ours = said.document["read"]["latency_ns"]["p50"]
    theirs = peer["clat_ns"]["percentile"]["50.000000"]
    assert theirs / LATENCY_FACTOR < ours < theirs * LATENCY_FACTOR
