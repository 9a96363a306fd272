"""What fio writes of one run, in its JSON and in its logs: the same requests and rates."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Said

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed"),
]

JOBS, EACH = 64, 20
"""Jobs side by side, and the requests a second of each: a rate that a busy machine keeps up."""
LAST_WINDOW = 0.05
"""How far rates of logs may be off: they lack the window in which a job ends."""


def fio(folder: Path, *options: str) -> None:
    (folder / "data").write_bytes(bytes(1 << 20))
    subprocess.run(
        [
            "fio", "--name=side", "--filename=data", "--size=1m", "--rw=randread", "--bs=4k",
            "--ioengine=psync", "--thread", "--output-format=json+", "--output=out.json", *options,
        ],
        check=True,
        capture_output=True,
        timeout=60,
        cwd=folder,
    )  # fmt: skip


def test_the_logs_of_64_jobs_have_the_rate_of_the_json(
    cli: Callable[..., Said], tmp_path: Path
) -> None:
    fio(
        tmp_path, f"--numjobs={JOBS}", f"--rate_iops={EACH}", "--time_based", "--runtime=2",
        "--write_iops_log=run", "--write_lat_log=run", "--log_avg_msec=250",
    )  # fmt: skip
    jobs = [job["read"] for job in json.loads((tmp_path / "out.json").read_text())["jobs"]]
    longest_s = max(each["runtime"] for each in jobs) / 1000
    rate = sum(each["total_ios"] for each in jobs) / longest_s  # as fio sums a group up
    logs = [str(each) for each in sorted(tmp_path.glob("run_iops.*.log"))]
    assert len(logs) == JOBS
    imported = cli("import-fio-log", *logs, "-o", "json").document["read"]["iops"]
    assert imported == pytest.approx(rate, rel=LAST_WINDOW)
    said = cli("import", str(tmp_path), "-o", "json")
    (drive,) = said.document["drives"]
    assert drive["runs"][0]["read"]["iops"] == pytest.approx(rate, rel=1e-3)
    assert said.document["logs_aside"] == 4 * JOBS  # lat, clat, slat and iops of each job
    latencies = [each.replace("_iops.", "_clat.") for each in logs]
    section = cli("import-fio-log", *latencies, "-o", "json").document["read"]
    assert section["weighed_by"] == "requests"


def test_logs_of_requests_have_the_sums_of_the_json(
    cli: Callable[..., Said], tmp_path: Path
) -> None:
    fio(tmp_path, "--numjobs=4", "--number_ios=200", "--write_lat_log=run", "--group_reporting")
    theirs = json.loads((tmp_path / "out.json").read_text())["jobs"][0]["read"]
    logs = [str(each) for each in tmp_path.glob("run_clat.*.log")]
    ours = cli("import-fio-log", *logs, "-o", "json").document["read"]
    assert (ours["requests"], ours["bytes"]) == (theirs["total_ios"], theirs["io_bytes"])
    clat = theirs["clat_ns"]
    assert ours["latency_ns"]["mean"] == pytest.approx(clat["mean"], rel=1e-3)
    assert (ours["latency_ns"]["min"], ours["latency_ns"]["max"]) == (clat["min"], clat["max"])
    for name, percent in (("p50", "50.000000"), ("p90", "90.000000")):
        assert ours["latency_ns"][name] == pytest.approx(clat["percentile"][percent], rel=1 / 64)
