"""What is set for a measurement and set back: caches inside drives, and the kernel's queues.

Each is watched while a run goes on, after it ended, and after it was killed and `doctor --restore`
came. What a drive says is asked with the kernel's files and with nvme-cli, not with our own calls.
"""

import re
import signal
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tests.lab.cases import Case
from tests.lab.kinds import KINDS, Device, Kind
from tests.lab.tools import Running, cli, done, signals_ended, wait_until

LONG = ("--rw", "randread", "--bs", "4k", "--runtime", "120s", "--seed", "1")
ATTRIBUTES = ("scheduler", "nomerges", "wbt_lat_usec", "iostats", "nr_requests", "write_cache")


def cache_of(device: Device) -> str:
    """Ask whether the write cache of a drive is on, by somebody else's means."""
    if device.name.startswith("nvme"):
        said = done("nvme", "get-feature", device.path, "-f", "6")
        found = re.search(r"Current value:\s*(?:0x)?0*([01])\b", said)
        assert found, said
        return "on" if found[1] == "1" else "off"
    (file,) = Path(f"/sys/block/{device.name}/device/scsi_disk").glob("*/cache_type")
    return "on" if file.read_text().strip() == "write back" else "off"


def queue_of(device: Device) -> dict[str, str]:
    """Read what `--quiet-queue` may set."""
    folder = Path(f"/sys/block/{device.name}/queue")
    return {name: device.queue(name) for name in ATTRIBUTES if (folder / name).exists()}


def await_change(running: Running, state: Callable[[], object], before: object, what: str) -> None:
    """Wait until a run has set something; say why it did not if it ended."""
    import os

    def changed() -> bool:
        ended, _ = os.waitpid(running.pid, os.WNOHANG)
        assert not ended, f"the run ended before {what}"
        return state() != before

    wait_until(changed, what)


def cache_switched(kind: Kind, end: int) -> str:
    """The write cache is off during a run and on again afterwards, however it ends."""
    with ExitStack() as undo:
        device = undo.enter_context(kind.device())
        before, kernels = cache_of(device), device.queue("write_cache")
        assert before == "on", f"the cache is {before} at first"
        words = ("run", device.path, *LONG, "--write-cache", "off")
        running = undo.enter_context(signals_ended(Running(words)))
        await_change(running, lambda: cache_of(device), before, "the cache was switched off")
        during = device.queue("write_cache")
        running.signal(end)
        said = running.wait()
        if end == signal.SIGKILL:
            assert cache_of(device) == "off", "it was set back by nobody"
            restored = cli("doctor", "--restore", "-o", "json")
            assert restored.status == 0, restored.why
            assert any(each["outcome"] == "restored" for each in restored.document["restored"])
        else:
            assert said.status == 130, said.why
        assert cache_of(device) == before, "the cache stays off"
        assert device.queue("write_cache") == kernels, f"queue/write_cache was {kernels}"
    return f"on, off, on again; queue/write_cache {kernels}, {during} meanwhile"


def queue_set(kind: Kind, end: int) -> str:
    """The queue is set during a run and as before afterwards, however it ends."""
    with ExitStack() as undo:
        device = undo.enter_context(kind.device())
        disk = Device(device.bottom) if kind.name == "partition" else device
        nomerges = Path(f"/sys/block/{disk.name}/queue/nomerges")
        nomerges.write_text("1")
        undo.callback(nomerges.write_text, "0")
        before = queue_of(disk)
        running = undo.enter_context(
            signals_ended(Running(("run", device.path, *LONG, "--quiet-queue")))
        )
        await_change(running, lambda: queue_of(disk)["nomerges"], "1", "the queue was set")
        during = queue_of(disk)
        running.signal(end)
        running.wait()
        if end == signal.SIGKILL:
            assert queue_of(disk) != before
            restored = cli("doctor", "--restore", "-o", "json")
            assert restored.status == 0, restored.why
        assert queue_of(disk) == before, f"{queue_of(disk)} was {before}"
        again = cli("doctor", "--restore", "-o", "json")
        assert not [each for each in again.document["restored"] if each["disk"] == disk.name]
    changed = [
        f"{key} {before[key]} -> {during[key]}" for key in before if before[key] != during[key]
    ]
    return "; ".join(changed) + "; and back"


CACHED = [kind for kind in KINDS.values() if kind.cache]
QUEUED = [
    KINDS[name]
    for name in (
        "nvme", "nvme-namespace", "sata", "scsi-4kn", "scsi_debug", "null_blk", "loop", "partition",
        "nbd",
    )
]  # fmt: skip
ENDS = {"Ctrl-C": signal.SIGINT, "SIGKILL and doctor --restore": signal.SIGKILL}
CASES = [
    *(
        Case("caches", k.name, f"switched off; {how}", partial(cache_switched, k, e))
        for k in CACHED
        for how, e in ENDS.items()
    ),
    *(
        Case("queues", k.name, f"--quiet-queue; {how}", partial(queue_set, k, e))
        for k in QUEUED
        for how, e in ENDS.items()
    ),
]
