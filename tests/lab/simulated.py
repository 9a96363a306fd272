"""A simulated SSD as /dev/nvme0n1 of a stock guest: nvme-cli, ext4, fio and blktrace on it."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from tests.lab.cases import Case
from tests.lab.tools import cli, done, host, mounted

DISK = "/dev/nvme0n1"
TARGET = "sim:kuo-samsung-slc"
PAUSE = "6ms"
"""The longest time that the guest may need between a reply and the next request. The drive goes on
erasing meanwhile, so each millisecond of it makes the next write a millisecond shorter."""
LATE_MS = 3.0
"""The way through a translated guest, its driver and back, on a machine that is not drowned."""


def is_nvme() -> str:
    """The kernel and nvme-cli see an NVMe disk with the drive's size."""
    size_bytes = int(Path("/sys/block/nvme0n1/size").read_text()) * 512
    listed = json.loads(done("nvme", "id-ctrl", DISK, "-o", "json"))
    keep("nvme", done("nvme", "list") + "\n" + done("nvme", "smart-log", DISK))
    serial = listed["sn"].strip()
    assert serial.startswith("SIM"), listed["sn"]
    assert 29e9 < size_bytes < 33e9, f"{size_bytes} bytes"
    return f"{listed['mn'].strip()}, serial {serial}, {size_bytes / 1e9:.1f} GB"


def keep(name: str, text: str) -> None:
    """Show it to the people of the host."""
    host().ask("keep", name=name, text=text + "\n")


def fio(path: str, *more: str, kept: str = "") -> dict[str, float]:
    """Run fio's psync engine; give percentiles of the latency of writes, in ms of the drive."""
    out = done(
        "fio", "--name=lab", f"--filename={path}", "--ioengine=psync", "--direct=1", "--bs=4k",
        "--rw=randwrite", "--randseed=1", "--output-format=json,normal", *more,
    )  # fmt: skip
    if kept:
        keep(kept, out[out.index("\nlab: (groupid") :])
    out = out[: out.index("\nlab: (groupid")]
    found = json.loads(out[out.index("{") :])["jobs"][0]["write"]["clat_ns"]
    return {key: value / 1e6 / host().slow_down for key, value in found["percentile"].items()}


def own_median_ms(*more: str) -> float:
    """Run the same on the drive itself, on its own clock."""
    said = cli(
        "run", TARGET, "--rw", "randwrite", "--bs", "4k", "--size", "24g", "--number-ios", "150",
        "--seed", "1", "-o", "json", *more,
    )  # fmt: skip
    assert said.status == 0, said.why
    return float(said.document["write"]["latency_ns"]["p50"]) / 1e6


def random_writes() -> str:
    """Random writes of the raw disk take what the drive takes."""
    median = fio(DISK, "--number_ios=150", "--size=24g", kept="fio")["50.000000"]
    low, high = own_median_ms("--thinktime", PAUSE), own_median_ms()
    seen = f"median {median:.1f} ms; the drive's own {low:.1f} to {high:.1f} ms"
    assert low <= median <= high + LATE_MS, seen
    return f"fio psync 4k randwrite: {seen}"


def traced() -> str:
    """blktrace sees each write as one request to the driver."""
    with tempfile.TemporaryDirectory() as folder:
        tracer = subprocess.Popen(
            ["blktrace", "-d", DISK, "-D", folder, "-o", "t", "-w", "20"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            fio(DISK, "--number_ios=40", "--size=24g")
        finally:
            tracer.send_signal(2)
            _, why = tracer.communicate(timeout=60)
        assert list(Path(folder).glob("t.blktrace.*")), why
        text = done("blkparse", "-D", folder, "-i", "t", "-q", "-f", "%a %d %T.%t %S\n")
        summary = done("blkparse", "-D", folder, "-i", "t")
        keep("blktrace", "\n".join(summary.splitlines()[:12]))
    issued = re.findall(r"^D W\w* (\d+)\.(\d+) (\d+)$", text, re.MULTILINE)
    completed = {
        sector: int(s) * 10**9 + int(ns)
        for s, ns, sector in re.findall(r"^C W\w* (\d+)\.(\d+) (\d+)$", text, re.MULTILINE)
    }
    took = sorted(
        completed[sector] - int(s) * 10**9 - int(ns)
        for s, ns, sector in issued
        if sector in completed
    )
    assert len(took) >= 35, f"{len(took)} writes in the trace of 40"
    median = took[len(took) // 2] / 1e6
    return f"{len(took)} writes of 40 in the trace, D to C {median:.1f} ms in the median"


def file_system() -> str:
    """ext4 is made, mounted, written, checked: the data are there."""
    keep("mkfs.ext4", done("mkfs.ext4", "-F", DISK))
    data = os.urandom(2**20)
    with mounted(DISK) as folder:
        file = Path(folder) / "file"
        file.write_bytes(data)
        os.sync()
        median = fio(f"{folder}/fio", "--number_ios=30", "--size=1m")["50.000000"]
    done("e2fsck", "-f", "-n", DISK)
    with mounted(DISK) as folder:
        assert (Path(folder) / "file").read_bytes() == data, "another content"
    return f"ext4 is clean, 1 MiB read back; fio in a file: median {median:.1f} ms"


CASES = [
    Case("sim-nvme", "simulated", "is an NVMe disk", is_nvme, machine="sim"),
    Case("sim-nvme", "simulated", "random writes", random_writes, machine="sim", patience_s=400),
    Case("sim-nvme", "simulated", "blktrace", traced, machine="sim", patience_s=300),
    Case("sim-nvme", "simulated", "ext4", file_system, machine="sim", patience_s=600),
]
