"""The same drive through two doors: probed in this process, and as an export of our own server.

    python benchmarks/doors.py [--drive NAME] [--budget 60s] [--loop]

Four small drives. In this process a drive's clock is virtual; through NBD it is the wall's, with
the way there and back in every latency. On ``null:``, served the same, it takes longest, as the
server sleeps in between; so a drive's alpha lies at most so far below what the client finds.
What both find has to agree; what one refuses is refused. With ``--loop`` (as root) the export is
a block device, ``/dev/loopN`` over nbdfuse, which answers few requests at a time: sizes only.
Exit code 1 if they differ.
"""

import argparse
import gc
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import loop_device

from ssdscope.errors import DeviceError, UsageError
from ssdscope.findings import PROPERTIES, Absent, Detected, Finding
from ssdscope.probes import session
from ssdscope.probes.budget import Budget
from ssdscope.targets import Target, open_target
from ssdscope.targets.serving import exported
from ssdscope.workloads import Workload

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "drives"
ALPHA, BETA = "read_latency_alpha_ns", "read_latency_beta_ns_per_byte"
KNEE = "queue_depth_knee"
"""Not compared: requests on their way are in flight, too, so the knee is that of both."""
SEED = 1
WAY_RUNS, WAY_REQUESTS = 7, 2_000
PATIENCE_S = 30


@dataclass(frozen=True)
class Door:
    """A drive, and which probes have something to find in it."""

    uri: str
    sets: tuple[str, ...]
    probes: tuple[str, ...]

    def open(self) -> Target:
        """Open it in this process."""
        return open_target(self.uri, sets=self.sets, seed=SEED)


DRIVES = {
    "log blocks": Door(
        str(EXAMPLES / "log-block.toml"),
        ("nand.blocks_per_plane=128", "ftl.log_blocks=6"),
        ("latency", "units", "merging"),
    ),
    "page-mapped, with a buffer": Door(
        str(EXAMPLES / "classroom.toml"),
        ("nand.blocks_per_plane=128", "write_buffer.bytes=1048576"),
        ("latency", "units"),
    ),
    "map in parts": Door(
        str(EXAMPLES / "database.toml"),
        (
            "nand.blocks_per_plane=128", 'map.kind="zones"', "map.zone_bytes=4194304",
            "map.resident_zones=8",
        ),
        ("latency", "map_cache"),
    ),
    "hard disk": Door("sim:huang-hdd-s", ("disk.cylinders=64",), ("latency", "read_cache")),
}  # fmt: skip


def found(target: Target, door: Door, budget: str) -> dict[str, Finding]:
    """Ask the drive's probes."""
    spend = Budget.parse(budget)
    answers = session.run(list(door.probes), target.device, spend, SEED)
    return {each.name: each for each in answers}


def through_nbd(door: Door, budget: str) -> dict[str, Finding]:
    """Ask them of the served drive."""
    with exported(door.open()) as uri:
        client = open_target(uri, seed=SEED, destroy_token="NBD:", allow_virtual=True)
        return found(client, door, budget)


def through_loop(door: Door, budget: str) -> dict[str, Finding]:
    """Ask them of a block device that the served drive has become, for sizes."""
    with exported(door.open()) as uri, attached(uri) as device:
        opened = open_target(device, seed=SEED, destroy_token="LOOP:disk", allow_virtual=True)
        answers = found(opened, door, budget)
        del opened
        gc.collect()  # the device must be closed before it can be taken away
    return {name: each for name, each in answers.items() if PROPERTIES[name].unit == "bytes"}


@contextmanager
def attached(uri: str) -> Iterator[str]:
    """Make a block device of an export."""
    with ExitStack() as undo:
        export = Path(undo.enter_context(TemporaryDirectory())) / "disk"
        export.touch()
        socket = uri.partition("socket=")[2]
        fuse = subprocess.Popen(["nbdfuse", str(export), f"nbd+unix:///?socket={socket}"])
        undo.callback(fuse.wait, timeout=PATIENCE_S)
        undo.callback(subprocess.run, ["umount", str(export)], check=True)
        end = time.monotonic() + PATIENCE_S
        while export.stat().st_size == 0:
            if fuse.poll() is not None or time.monotonic() > end:
                sys.exit("error: nbdfuse shows no disk")
            time.sleep(0.05)
        yield undo.enter_context(loop_device(export, "--direct-io=on"))


def way() -> tuple[float, float]:
    """Give the least and the most that the way there and back takes, ns."""
    with exported(open_target("null:256m")) as uri:
        device = open_target(uri, seed=SEED).device
        medians = [
            device.run(Workload(rw="randread", requests=WAY_REQUESTS, seed=seed)).summary["read"]
            for seed in range(WAY_RUNS)
        ]
    times = [each["latency_ns"]["p50"] for each in medians]
    return 0.0, max(times)


def verdict(
    name: str, here: Finding, there: Finding, on_the_way: tuple[float, float] | None
) -> str:
    """Compare two answers."""
    if isinstance(here, Absent) and isinstance(there, Absent):
        return "agree"
    answered = [isinstance(each, Detected | Absent) for each in (here, there)]
    if not all(answered):
        return "refused" if not any(answered) else f"refused {'here' if answered[1] else 'there'}"
    if isinstance(here, Absent) or isinstance(there, Absent):
        return "DIFFER"
    assert isinstance(here, Detected)
    assert isinstance(there, Detected)
    exact = PROPERTIES[name].exact
    if exact or here.interval is None or there.interval is None:
        return "agree" if here.value == there.value else "DIFFER"
    low, high = there.interval
    if name == ALPHA and on_the_way is not None:
        low, high = low - on_the_way[1], high - on_the_way[0]
    room = (PROPERTIES[name].tolerance or 0) * float(here.value)
    return (
        "agree" if low <= here.interval[1] + room and high >= here.interval[0] - room else "DIFFER"
    )


def shown(finding: Finding) -> str:
    """Write an answer, or why there is none."""
    if isinstance(finding, Detected):
        return f"{finding.value:,.6g}" if not isinstance(finding.value, str) else finding.value
    if isinstance(finding, Absent):
        return "absent"
    return str(getattr(finding, "reason", "ambiguous"))


def lines(names: list[str], budget: str, *, loop: bool) -> Iterator[tuple[str, ...]]:
    """Compare drive by drive."""
    on_the_way, second = way(), through_loop if loop else through_nbd
    low, high = (each / 1e3 for each in on_the_way)
    print(f"the way there and back takes {low:.0f} to {high:.1f} us", flush=True)
    for name in names:
        door = DRIVES[name]
        here = found(door.open(), door, budget)
        try:
            there = second(door, budget)
        except (DeviceError, UsageError) as error:
            yield name, "-", "-", error.message, "DIFFER"
            continue
        for key in sorted((here.keys() & there.keys()) - {KNEE}):
            said = verdict(key, here[key], there[key], on_the_way)
            yield name, key, shown(here[key]), shown(there[key]), said


def main() -> int:
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--drive", choices=DRIVES, action="append")
    parser.add_argument("--budget", default="60s", help="of each drive and door")
    parser.add_argument("--loop", action="store_true", help="as a block device, sizes only")
    given = parser.parse_args()
    begun, differ = time.monotonic(), 0
    through = "through /dev/loopN" if given.loop else "through NBD"
    print(f"{'drive':28}{'property':32}{'in process':>18}{through:>24}  verdict")
    for row in lines(given.drive or list(DRIVES), given.budget, loop=given.loop):
        differ += row[-1] == "DIFFER"
        print(f"{row[0]:28}{row[1]:32}{row[2]:>18}{row[3]:>24}  {row[4]}", flush=True)
    print(f"{time.monotonic() - begun:.0f} s, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
