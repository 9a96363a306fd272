"""Figure 14: how long a read takes by its size, B's line above all, and a hard disk beside it.

Requests go to random places all over the drive, as the paper spreads them to keep read-ahead and
caches out of the picture, one at a time; the drives were written once in order.
"""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.stats import fit_line
from ssdscope.studies.judging import SIMILAR_WITHIN, claim, quoted
from ssdscope.studies.record import Claim
from ssdscope.targets import Device, open_target
from ssdscope.workloads import Workload

DRIVES = ("ryu-a", "ryu-b", "ryu-c", "ryu-hdd")
SIZES_KIB = tuple(range(4, 132, 4))
REQUESTS = 400
STRAIGHT = 0.05
"""A curve is called a line if no point is further from it than this share of its value."""
SLOPE_US_PER_KIB = 12.3
"""From 4 to 64 KB: 64 KB at 70,064 KB/s and 4 KB at 22,828 KB/s are 738 us apart."""

Curves = Mapping[str, Sequence[float]]
"""Mean response times in nanoseconds by drive, in the order of `SIZES_KIB`."""


def measure(seed: int, progress: StageProgress) -> dict[str, list[float]]:
    """Run every size on every drive."""
    curves = {}
    for done, drive in enumerate(DRIVES, start=1):
        device = open_target(f"sim:{drive}", state="sequential", seed=seed).device
        curves[drive] = sweep(device, seed)
        progress(f"figure 14: {drive}", done / len(DRIVES))
    return curves


def sweep(device: Device, seed: int) -> list[float]:
    """Read every size on a drive; random places, one request at a time."""
    curve = []
    for size_kib in SIZES_KIB:
        plan = Workload(rw="randread", block_bytes=size_kib * 1024, requests=REQUESTS, seed=seed)
        curve.append(device.run(plan).whole().only().latency_ns.mean)
    return curve


def compare(curves: Curves) -> list[Claim]:
    """Ask the curves what the text says of the figure."""
    return [straight(curves["ryu-b"]), slope(curves["ryu-b"]), disk(curves)]


def straight(curve: Sequence[float]) -> Claim:
    """Ask whether a curve is a line, as B's."""
    furthest = fit_line(SIZES_KIB, curve).max_relative_error
    return claim(
        "response time grows along a line: so does B's, from which the paper concludes k = 1",
        "a line",
        f"no point is further than {100 * furthest:.1f} % from a line",
        "",
        holds=furthest <= STRAIGHT,
    )


def slope(curve: Sequence[float]) -> Claim:
    """Compare with the slope of the paper's own figure 13, for figure 14 prints no numbers."""
    ours = fit_line(SIZES_KIB, curve).slope / 1e3
    return claim(
        "time per KB: that of B, from the random reads of figure 13",
        SLOPE_US_PER_KIB,
        round(ours, 2),
        "us/KB",
        holds=quoted(SLOPE_US_PER_KIB, ours),
    )


def disk(curves: Curves) -> Claim:
    """Compare the disk with B: drawn for comparison, it must be slower at every size."""
    times = [disk / ssd for disk, ssd in zip(curves["ryu-hdd"], curves["ryu-b"], strict=True)]
    return claim(
        "the hard disk is in a class of its own",
        "drawn for comparison",
        f"{min(times):.0f} to {max(times):.0f} times B's response time",
        "",
        holds=min(times) > SIMILAR_WITHIN,
    )


def write_table(curves: Curves, path: Path) -> Path:
    """Write every point as CSV."""
    with creating(path) as file:
        table = csv.writer(file)
        table.writerow(["drive", "read_kib", "mean_ns"])
        for drive, curve in curves.items():
            table.writerows(zip([drive] * len(curve), SIZES_KIB, curve, strict=True))
    return path
