"""What the introduction says of disks, of other SSDs and of what makes them differ.

The procedure of figure 1 on two hard disks, on other papers' SSDs, and on the paper's own with one
option of its design changed at a time.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ssdscope.plots import panels
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.machado2015.claims import NAMES
from ssdscope.studies.machado2015.procedure import (
    PATTERNS,
    SIZES_BYTES,
    Cells,
    Configuration,
    Line,
    columns,
    run_lines,
)
from ssdscope.studies.record import Measured, Reading
from ssdscope.targets import Target, open_target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DISKS = ("huang-hdd-s", "ryu-hdd")
PAPERS = "msr-32gb"
SSDS = (
    PAPERS,
    "ryu-a",
    "ryu-c",
    "kuo-mtron-slc",
    "huang-ssd-a",
    "huang-ssd-s",
    "mqsim-8g",
)
OPTIONS = {
    "as it is": (),
    "4 chips": ("nand.channels=4",),
    "2 chips": ("nand.channels=2",),
    "4 planes at a time": ("msr.parallel_units=4",),
    "pages of 8 KB": ("nand.page_bytes=8192", "nand.pages_per_block=32"),
}
"""Of the paper's drive with 5 % kept free: options, one at a time."""
SMALL_BYTES = 64 * 1024
"""Requests up to here are small: on larger ones a disk spends its time with the data."""


def measure(seed: int, disk_buffer: bool, progress: StageProgress) -> Measured:
    """Run the four patterns on every drive.

    Parameters
    ----------
    disk_buffer
        Leave the disks' buffers on.
    """
    lines = [
        *(Line(name, partial(_open, name, disk_buffer)) for name in DISKS),
        *(Line(name, partial(_open, name, True)) for name in SSDS),
        *(
            Line(name, partial(Configuration("greedy", 5, 32).open, sets=sets))
            for name, sets in OPTIONS.items()
        ),
    ]
    cells = run_lines(lines, seed, progress, PATTERNS)
    return Measured(readings(cells), partial(_drawn, cells), columns(cells))


def _open(name: str, buffer: bool, seed: int) -> Target:
    target = open_target(f"sim:{name}", seed=seed)
    if not buffer:
        target.device.set_write_cache(False)
    return target


def readings(cells: Cells) -> dict[str, Reading]:
    """Compare patterns on one drive, and drives in one pattern."""
    small = [size for size in SIZES_BYTES if size <= SMALL_BYTES]
    found = {}
    for what in ("reads", "writes"):
        disks = [ratio for disk in DISKS for ratio in _over(cells, disk, what, small)]
        found[f"disk: {what}"] = _range(disks)
        found[f"no gain: {what}"] = _range(_over(cells, PAPERS, what, SIZES_BYTES))
    for pattern in PATTERNS:
        found[f"drives differ: {NAMES[pattern]}"] = _range(_apart(cells, SSDS, pattern))
        most = max(_apart(cells, list(OPTIONS), pattern))
        found[f"options: {NAMES[pattern]}"] = Reading(f"up to {most:.2f} times", most)
    return found


def _range(ratios: Sequence[float]) -> Reading:
    return Reading(f"{min(ratios):.2f} to {max(ratios):.2f} times", ratios)


def _over(cells: Cells, drive: str, what: str, sizes: Sequence[int]) -> list[float]:
    """Compare random requests with those in order."""
    order = what.removesuffix("s")
    return [
        cells[drive, f"rand{order}", size].mean_ns / cells[drive, order, size].mean_ns
        for size in sizes
    ]


def _apart(cells: Cells, drives: Sequence[str], pattern: str) -> list[float]:
    """Compare the slowest drive with the fastest, at each size."""
    means = [[cells[drive, pattern, size].mean_ns for drive in drives] for size in SIZES_BYTES]
    return [max(each) / min(each) for each in means]


def _drawn(cells: Cells) -> "Figure":
    """Draw random requests over those in order, by size: disks in bold."""
    figure, axes = panels.canvas(2, width=4.8, height=4.0)
    for each, what in zip(axes, ("reads", "writes"), strict=True):
        panels.head(each, what)
        panels.lines(
            each,
            [
                panels.Line(
                    drive,
                    [size / 1024 for size in SIZES_BYTES],
                    _over(cells, drive, what, SIZES_BYTES),
                    index,
                    width=2.4 if drive in DISKS else 0.9,
                )
                for index, drive in enumerate((*DISKS, *SSDS))
            ],
        )
        panels.plain_log(each, "random: times as long as in order")
        panels.size_axis(each, SIZES_BYTES)
    panels.legend_below(figure, axes[0], 6)
    return figure
