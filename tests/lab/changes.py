"""A device that changes while a run goes on: it is resized, or somebody pulls it out."""

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.lab.cases import Case
from tests.lab.kinds import Device, allowed, by_serial
from tests.lab.tools import MIB, Running, Said, host, signals_ended, wait_until


def _while_running(device: Device, rw: str, event: Callable[[], object]) -> tuple[Said, float]:
    """Start a long run, let the event happen in the middle; give how long it took to end."""
    options = allowed(device) if rw == "randwrite" else ()
    words = ("run", device.path, "--rw", rw, "--bs", "4k", "--runtime", "100s", "--seed", "1")
    column = 4 if rw == "randwrite" else 0
    stat = Path(f"/sys/block/{device.name}/stat")

    def count() -> int:
        return int(stat.read_text().split()[column])

    before = count()
    with signals_ended(Running((*words, "-o", "json", *options))) as running:

        def under_way() -> bool:
            ended, _ = os.waitpid(running.pid, os.WNOHANG)
            assert not ended, "the run ended at once"
            return count() > before + 300

        wait_until(under_way, "300 requests", 100)
        since = time.monotonic()
        event()
        said = running.wait()
        return said, time.monotonic() - since


def _kept(said: Said, side: str, took_s: float, words: tuple[str, ...]) -> str:
    assert said.status == 1, said.why
    requests = said.document[side]["requests"]
    assert requests > 0, "nothing was kept"
    assert any(word in said.err for word in words), said.why
    assert "Traceback" not in said.err, said.why
    why = " ".join(said.err.split())[-120:]
    return f"exit code 1 after {took_s:.1f} s, {requests} requests kept: {why}"


def unplugged(serial: str, device_id: str, rw: str) -> str:
    """Pull a drive out in mid-run: the run fails, what was measured is kept."""
    device = Device(by_serial(serial), start=None)
    said, took_s = _while_running(device, rw, lambda: host().ask("unplug", device=device_id))
    return _kept(said, rw.removeprefix("rand"), took_s, ("gone", "error", "failed", "drive"))


def resized(serial: str, image: str, size_bytes: int, rw: str = "randwrite") -> str:
    """Give a disk another size in mid-run: it is another drive then."""
    device = Device(by_serial(serial))
    before = device.size_bytes
    said, took_s = _while_running(
        device, rw, lambda: host().ask("resize", image=image, size_bytes=size_bytes)
    )
    assert device.size_bytes == size_bytes, f"the kernel still sees {device.size_bytes}"
    assert str(before) in said.err, said.why
    return _kept(said, rw.removeprefix("rand"), took_s, ("size",))


GROWN = 320 * MIB
SCSI, NVME = ("LAB-GONE-0011", "dev-unplug"), ("LAB-GONE-0010", "dev-plug")
"""Serial number inside, and name of the device outside."""
CASES = [
    Case("changes", kind, name, partial(case, *words))
    for kind, name, case, words in (
        ("scsi", "grows while it is written", resized, ("LAB-GROW-0012", "grow", GROWN)),
        ("scsi", "unplugged while it is read", unplugged, (*SCSI, "randread")),
        ("nvme", "unplugged while it is written", unplugged, (*NVME, "randwrite")),
    )
]
