"""On the host: the server whose simulated drive is the guest's NVMe disk."""

import json
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.lab.boot import ROOT, BootError

TARGET = "sim:kuo-samsung-slc"


class Served:
    """A running server, and what it says of itself."""

    def __init__(self, process: subprocess.Popen[str], told: Path) -> None:
        self._process = process
        self._told = told
        self.arguments: list[str] = []

    def await_line(self) -> None:
        """Read QEMU's arguments out of what `--qemu` prints."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self._process.poll() is None:
            for line in self._told.read_text(encoding="utf-8").splitlines():
                if "-drive" in line and "-device nvme" in line:
                    words = shlex.split(line)
                    self.arguments = words[words.index("-drive") :]
                    return
            time.sleep(0.1)
        raise BootError(f"the server did not start: {self._told.read_text(encoding='utf-8')}")

    def said(self) -> str:
        """End it; give the document it leaves, in a line."""
        self._process.send_signal(signal.SIGTERM)
        out, _ = self._process.communicate(timeout=120)
        document = json.loads(out)
        late = document["lateness_ns"] or {}
        writes = document.get("write") or {}
        return json.dumps({"lateness_ns": late, "write": writes.get("latency_ns")})


@contextmanager
def simulated(folder: Path, slow_down: float) -> Iterator[Served]:
    """Serve a simulated SSD for QEMU."""
    told = folder / "serve.txt"
    words = (
        ROOT / ".venv/bin/ssdscope", "serve", TARGET, "--socket", folder / "ssd.sock", "--qemu",
        "--slow-down", str(slow_down), "--seed", "1", "-o", "json",
    )  # fmt: skip
    with told.open("w") as errors:
        process = subprocess.Popen(
            list(map(str, words)), stdout=subprocess.PIPE, stderr=errors, text=True,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    try:
        server = Served(process, told)
        server.await_line()
        yield server
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
