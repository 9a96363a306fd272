"""Figure 14: how long a read takes by its size, B's line above all, and a hard disk beside it.

Requests go to random places all over the drive, as the paper spreads them to keep read-ahead and
caches out of the picture, one at a time; the drives were written once in order.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from ssdscope.probes.budget import StageProgress
from ssdscope.stats import fit_line
from ssdscope.studies.measuring import at, in_columns, run
from ssdscope.studies.record import Measured, Reading
from ssdscope.studies.ryu2009 import pictures
from ssdscope.studies.ryu2009.bench import KIB, MIB, Bench
from ssdscope.studies.ryu2009.placing import HOSTS
from ssdscope.targets import Device

DRIVES = ("ryu-a", "ryu-b", "ryu-c", "ryu-hdd")
SIZES_KIB = tuple(range(4, 132, 4))
REQUESTS = 400
CACHED = ("read_cache.bytes=16777216", "read_cache.read_ahead_bytes=1048576")
REGIONS, IN_REGION = 16, 16
"""Reads in turn, of so many regions; so many in each."""

Curves = Mapping[str, Sequence[float]]
"""Mean response times in nanoseconds by drive, in the order of `SIZES_KIB`."""


def figure_14(bench: Bench, progress: StageProgress) -> Measured:
    """Run every size on every drive; on B behind other hosts, too."""
    curves = {}
    for done, drive in enumerate(DRIVES, start=1):
        curves[drive] = sweep(bench.open(drive, state="sequential"), bench.seed)
        progress(f"figure 14: {drive}", done / len(DRIVES))
    read = {}
    for where, host in HOSTS.items():
        curve = curves["ryu-b"]
        if host:
            curve = sweep(bench.open("ryu-b", host, "sequential"), bench.seed)
        read[f"straight: {where}"] = straight(curve)
    read |= {"slope": slope(curves["ryu-b"]), "disk": disk(curves)}
    read |= {f"regions: {case}": regions(bench, case) for case in ON}
    return drawn(curves, read)


def drawn(curves: Curves, read: Mapping[str, Reading]) -> Measured:
    """Hand in curves with what was read off them."""
    points = [(drive, kib, ns) for drive, curve in curves.items()
              for kib, ns in zip(SIZES_KIB, curve, strict=True)]  # fmt: skip
    columns = in_columns("drive read_kib mean_ns", points)
    return Measured(read, partial(pictures.curves_14, curves), columns)


def sweep(device: Device, seed: int) -> list[float]:
    """Read every size on a drive; random places, one request at a time."""
    return [
        run(device, "randread", size_kib * KIB, seed, requests=REQUESTS).latency_ns.mean
        for size_kib in SIZES_KIB
    ]


def straight(curve: Sequence[float]) -> Reading:
    """Say how far a curve is from a line, in percent, at most."""
    furthest = 100 * fit_line(SIZES_KIB, curve).max_relative_error
    return Reading(f"no point is further than {furthest:.1f} % from a line", furthest)


def slope(curve: Sequence[float]) -> Reading:
    """Return the time per KB, in us."""
    ours = fit_line(SIZES_KIB, curve).slope / 1e3
    return Reading(round(ours, 2), ours)


def disk(curves: Curves) -> Reading:
    """Compare the disk with B, at every size."""
    times = [disk / ssd for disk, ssd in zip(curves["ryu-hdd"], curves["ryu-b"], strict=True)]
    return Reading(f"{min(times):.0f} to {max(times):.0f} times B's response time", min(times))


ON = {"the disk": ("ryu-hdd", (), ("disk.read_cache_bytes=0", "disk.read_ahead_bytes=0")),
      "B with a read cache": ("ryu-b", CACHED, ())}  # fmt: skip
"""Drives that read ahead, and what switches that off."""


def regions(bench: Bench, case: str) -> Reading:
    """Read 16 KB in order within one region and in turn over several, read-ahead on and off."""
    drive, sets, off = ON[case]
    ahead, without = (bench.open(drive, each, "sequential") for each in (sets, off))
    step = ahead.info.capacity_bytes // REGIONS // MIB * MIB
    turns, place = np.divmod(np.arange(REGIONS * IN_REGION), REGIONS)
    over = place * step + turns * 64 * KIB
    inside = np.arange(REGIONS * IN_REGION) * 16 * KIB
    one, many, plain = (
        at(device.fork(), "read", places, 16 * KIB)
        for device, places in ((ahead, inside), (ahead, over), (without, over))
    )
    within = 100 * (many / plain - 1)
    return Reading(
        f"{one:,.0f} us within one region, {many:,.0f} over {REGIONS}, {plain:,.0f} without "
        f"read-ahead ({within:+.1f} %)",
        within if one < 0.8 * many else float("nan"),
    )
