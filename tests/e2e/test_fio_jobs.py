"""``run --fio-job`` against fio with the same file: counts, bytes, sizes, places, hot blocks."""

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Said

from ssdscope.results.parquet import read_log

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed"),
]

EXAMPLES = Path(__file__).parents[2] / "examples" / "fio"
FILES = sorted(EXAMPLES.glob("*.fio"))
OPS = {"read": 0, "write": 1}
BLOCK_BYTES = 4096
SKEWED = ("zipf", "pareto", "normal", "zones")


def fio(job: Path, folder: Path, *options: str) -> list[dict[str, Any]]:
    """Run fio on nothing (its null engine), and give what each section did."""
    done = subprocess.run(
        ["fio", *options, "--ioengine=null", "--output-format=json", str(job)],
        capture_output=True, text=True, timeout=60, check=True, cwd=folder,
    )  # fmt: skip
    jobs: list[dict[str, Any]] = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    return jobs


def total(parts: list[dict[str, Any]], direction: str) -> tuple[int, int]:
    """Give requests and bytes of fio's jobs."""
    return (
        sum(part[direction]["total_ios"] for part in parts),
        sum(part[direction]["io_bytes"] for part in parts),
    )


def fio_requests(folder: Path) -> list[tuple[int, int, int]]:
    """Read operation, offset and length of each request of fio's iolog."""
    words = [line.split() for line in (folder / "fio.log").read_text().splitlines()]
    found = [each for each in words if len(each) == 5 and each[2] in OPS]
    return [(OPS[each[2]], int(each[3]), int(each[4])) for each in found]


def plain_copy(job: Path, folder: Path) -> Path:
    """Copy the job file without its engine, which the null engine stands for."""
    lines = [line for line in job.read_text().splitlines() if not line.startswith("ioengine")]
    copy = folder / job.name
    copy.write_text("\n".join(lines) + "\nfilename=target\n")
    return copy


def test_there_are_ten_job_files() -> None:
    assert len(FILES) >= 10


@pytest.mark.parametrize("job", FILES, ids=lambda path: path.stem)
def test_the_same_job_file_asks_for_the_same(
    job: Path, cli: Callable[..., Said], tmp_path: Path
) -> None:
    log = tmp_path / "ours.parquet"
    said = cli(
        "run", "null:", "--fio-job", str(job), "--log", str(log), "--seed", "1", "-o", "json"
    )
    assert said.status == 0, said.err
    runs = said.document.get("stages", [said.document])
    logged = [] if job.stem == "jobs-and-loops" else ["--write_iolog=fio.log"]
    text = plain_copy(job, tmp_path)
    theirs = fio(with_global(text, logged), tmp_path)
    for direction in ("read", "write"):
        ours = [run[direction] for run in runs if run[direction]]
        requests, size = total(theirs, direction)
        found = (sum(each["requests"] for each in ours), sum(each["bytes"] for each in ours))
        if job.stem in ("mix", "sizes", "pairs"):  # drawn by another generator
            assert found == pytest.approx((requests, size), rel=0.1), direction
        else:
            assert found == (requests, size), direction
    if logged:
        requests_of_fio = fio_requests(tmp_path)
        if job.stem == "random-write":
            # At depth fio 3.33 logs most requests twice: when they are made, and when sent.
            requests_of_fio = [each for each, _ in groupby(requests_of_fio)]
        compare(job.stem, requests_of_fio, log)


def with_global(job: Path, options: list[str]) -> Path:
    """Write fio's extra options into the last section: there is one."""
    words = [option.removeprefix("--") for option in options]
    job.write_text(job.read_text() + "\n".join(words) + "\n")
    return job


def compare(name: str, theirs: list[tuple[int, int, int]], path: Path) -> None:
    """Hold sizes and places of all requests against fio's."""
    log, _ = read_log(path)
    columns = {key: np.asarray(log.columns[key]) for key in ("op", "offset_bytes", "bytes")}
    moved = columns["bytes"] > 0  # flushes are rows, too
    op, offset, size = (columns[key][moved] for key in ("op", "offset_bytes", "bytes"))
    assert len(op) == pytest.approx(len(theirs), rel=0.1)
    share = Counter(length for _, _, length in theirs)
    for length, count in share.items():
        expected = count / len(theirs)
        assert np.mean(size == length) == pytest.approx(expected, abs=0.04), length
    their_op = np.array([each[0] for each in theirs])
    assert np.mean(op) == pytest.approx(their_op.mean(), abs=0.04)
    their_offset = np.array([each[1] for each in theirs])
    assert offset.max() == pytest.approx(their_offset.max(), rel=0.02)
    if name == "seq-read":
        assert offset.tolist() == their_offset.tolist()
    if name in SKEWED:
        for top in (1, 40, 400, 1200):
            # fio's hash may put two ranks on one block; the sampling error is below 1 %.
            assert hot(offset, top) == pytest.approx(hot(their_offset, top), abs=0.03), top


def hot(offset: np.ndarray, top: int) -> float:
    """Give the share of requests that the hottest blocks get."""
    counts = np.sort(np.bincount((offset // BLOCK_BYTES).astype(np.int64)))[::-1]
    return float(counts[:top].sum() / counts.sum())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--size=50%",), "size"),
        (("--size=25%", "--offset=50%"), "offset"),
        (("--size=8m", "--io_size=50%"), "io_size"),
        (("--size=33%",), "cut"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_shares_are_fios(
    options: tuple[str, ...], expected: str, cli: Callable[..., Said], tmp_path: Path
) -> None:
    del expected
    target = tmp_path / "data.bin"
    target.write_bytes(bytes(range(256)) * (1 << 16))
    words = ["--rw=read", "--bs=4k"]
    done = subprocess.run(
        ["fio", "--name=a", f"--filename={target}", "--ioengine=psync", "--readonly", *words,
         *options, "--output-format=json"],
        capture_output=True, text=True, timeout=60, check=True, cwd=tmp_path,
    )  # fmt: skip
    theirs = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["read"]
    ours = cli("run", str(target), *words, *options, "-o", "json").document["read"]
    assert (ours["requests"], ours["bytes"]) == (theirs["total_ios"], theirs["io_bytes"])


def test_a_log_that_fio_writes_now_is_imported(cli: Callable[..., Said], tmp_path: Path) -> None:
    target = tmp_path / "data.bin"
    target.write_bytes(bytes(1 << 20))
    subprocess.run(
        ["fio", "--name=a", "--filename=data.bin", "--rw=randread", "--bs=4k", "--size=1m",
         "--number_ios=200", "--numjobs=2", "--ioengine=psync", "--write_lat_log=run",
         "--log_offset=1", "--output-format=json", "--output=fio.json"],
        capture_output=True, timeout=60, check=True, cwd=tmp_path,
    )  # fmt: skip
    text = (tmp_path / "fio.json").read_text()
    told = json.loads(text[text.index("{") :])["jobs"]
    logs = [str(tmp_path / f"run_clat.{job}.log") for job in (1, 2)]
    out = tmp_path / "run.parquet"
    document = cli("import-fio-log", *logs, "-O", str(out), "-o", "json").document
    assert document["read"]["requests"] == 400
    means = [flow["read"]["latency_ns"]["mean"] for flow in document["flows"]]
    assert means == pytest.approx([job["read"]["clat_ns"]["mean"] for job in told], rel=1e-6)
    log, record = read_log(out)
    assert len(log) == 400
    assert record == document
    assert set(log.columns["flow"]) == {0, 1}
    latency = log.columns["complete_ns"] - log.columns["submit_ns"]
    assert float(np.mean(latency)) == pytest.approx(document["read"]["latency_ns"]["mean"])
