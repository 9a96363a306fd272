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
from ssdscope.studies.record import Claim, Verdict
from ssdscope.targets import Device, open_target
from ssdscope.workloads import Workload

DRIVES = ("ryu-a", "ryu-b", "ryu-c", "ryu-hdd")
SIZES_KIB = tuple(range(4, 132, 4))
REQUESTS = 400
STRAIGHT = 0.05
"""A curve is called a line if no point is further from it than this share of its value."""

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
    return [straight(curves["ryu-b"]), slope(curves["ryu-b"]), _disk(curves)]


def straight(curve: Sequence[float]) -> Claim:
    """Ask whether a curve is a line, as B's."""
    furthest = fit_line(SIZES_KIB, curve).max_relative_error
    holds = furthest <= STRAIGHT
    return Claim(
        "response time grows along a line: so does B's, from which the paper concludes k = 1",
        "a line",
        f"no point is further than {100 * furthest:.1f} % from a line",
        "",
        Verdict.AGREES if holds else Verdict.DIFFERS,
        "" if holds else "the curve has steps",
    )


def slope(curve: Sequence[float]) -> Claim:
    """Compare with the slope of the paper's own figure 13, for figure 14 prints no numbers."""
    paper, ours = 12.3, fit_line(SIZES_KIB, curve).slope / 1e3
    near = abs(ours / paper - 1) <= 0.1
    return Claim(
        "time per KB: that of B, from the random reads of figure 13",
        paper,
        round(ours, 2),
        "us/KB",
        Verdict.AGREES if near else Verdict.DIFFERS,
        "" if near else f"{100 * (ours / paper - 1):+.0f} %",
    )


def _disk(curves: Curves) -> Claim:
    times = [disk / ssd for disk, ssd in zip(curves["ryu-hdd"], curves["ryu-b"], strict=True)]
    holds = min(times) > 1
    return Claim(
        "the hard disk is in a class of its own",
        "drawn for comparison",
        f"{min(times):.0f} to {max(times):.0f} times B's response time",
        "",
        Verdict.AGREES if holds else Verdict.DIFFERS,
        "" if holds else "the disk is not slower",
    )


def write_table(curves: Curves, path: Path) -> Path:
    """Write every point as CSV."""
    with creating(path) as file:
        table = csv.writer(file)
        table.writerow(["drive", "read_kib", "mean_ns"])
        for drive, curve in curves.items():
            table.writerows(zip([drive] * len(curve), SIZES_KIB, curve, strict=True))
    return path
