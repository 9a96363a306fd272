"""The pictures of the study, each as SVG and PNG."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.plots import LIGHT, save, style
from ssdscope.plots.style import PATTERN_LOOK
from ssdscope.studies.ryu2009 import ageing, equations, iozone, read_size, shift_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS = {
    "ryu-a": (LIGHT.s1, "o"),
    "ryu-b": (LIGHT.s2, "s"),
    "ryu-c": (LIGHT.s3, "^"),
    "ryu-hdd": (LIGHT.s8, "D"),
}
_ANOTHER = (LIGHT.s4, "D")
"""A drive that is none of the paper's."""


def table_13(cells: Sequence[iozone.Cell], path: Path) -> Path:
    """Draw the bandwidths of figure 13 on the paper's."""
    figure, panels = canvas(1, 2, (9.2, 3.8))
    for axes, op in zip(panels, iozone.OPS, strict=True):
        for drive in dict.fromkeys(cell.drive for cell in cells):
            row = [cell for cell in cells if (cell.drive, cell.op) == (drive, op)]
            sizes = [cell.request_kib for cell in row]
            colour, marker = _LOOKS.get(drive, _ANOTHER)
            axes.plot(sizes, [c.kib_per_s for c in row], marker, color=colour, label=drive)
        for drive in iozone.DRIVES:
            axes.plot(
                iozone.SIZES_KIB,
                iozone.PUBLISHED_KIB_PER_S[drive, op],
                color=_LOOKS[drive][0],
                linewidth=1,
                label=f"{drive}, paper",
            )
        axes.set_yscale("log")
        _sizes(axes, iozone.SIZES_KIB)
        axes.set_title(PATTERN_LOOK[op][2], loc="left", fontsize=10, color=LIGHT.ink)
        axes.set_ylabel("KiB/s")
    style.legend(panels[0], LIGHT, loc="lower right")
    return written(figure, path)


def lives(watched: Sequence[ageing.Life], path: Path) -> Path:
    """Draw bandwidth against request size, new and after months of use, one panel per drive."""
    figure, panels = canvas(1, len(watched), (4.6 * len(watched), 3.9))
    for axes, life in zip(panels, watched, strict=True):
        for pattern in ageing.PATTERNS:
            colour, marker, label = PATTERN_LOOK[pattern]
            for name, bandwidths, dash in (
                ("new", life.new, "-"),
                ("aged", life.aged, (0, (3, 2))),
            ):
                sizes = [size for each, size in bandwidths if each == pattern]
                axes.plot(
                    sizes,
                    [bandwidths[pattern, size] / 1024 for size in sizes],
                    marker=marker,
                    markersize=4,
                    markerfacecolor="none" if name == "aged" else None,
                    color=getattr(LIGHT, colour),
                    linestyle=dash,
                    linewidth=1.2,
                    label=f"{label}, {name}",
                )
        axes.set_yscale("log")
        _sizes(axes, ageing.SIZES_KIB)
        axes.set_title(life.subject.name, loc="left", fontsize=10, color=LIGHT.ink)
        axes.set_ylabel("KiB/s")
    _shared_legend(figure, panels[0], 4)
    return written(figure, path)


def sweep(watched: Sequence[ageing.Life], path: Path) -> Path:
    """Draw what is left of writes by request size, one line per management block."""
    figure, panels = canvas(1, 2, (9.2, 3.6))
    for axes, pattern in zip(panels, ("write", "randwrite"), strict=True):
        for index, life in enumerate(watched):
            sizes = [size for each, size in life.new if each == pattern]
            axes.plot(
                sizes,
                [100 * life.kept(pattern, size) for size in sizes],
                marker="os^Dv"[index % 5],
                color=LIGHT.series(index),
                linewidth=1.2,
                label=f"block of {life.subject.name}",
            )
        _sizes(axes, ageing.SIZES_KIB)
        axes.set_ylim(bottom=0)
        axes.set_title(PATTERN_LOOK[pattern][2], loc="left", fontsize=10, color=LIGHT.ink)
        axes.set_ylabel("bandwidth kept (%)")
    style.legend(panels[0], LIGHT, loc="best")
    return written(figure, path)


def shifted(points: Sequence[shift_write.Points], path: Path) -> Path:
    """Draw response time against offset, one panel per drive."""
    drives = list(dict.fromkeys(each.sweep.drive for each in points))
    figure, panels = canvas(1, len(drives), (4.2 * len(drives), 3.6))
    for axes, drive in zip(panels, drives, strict=True):
        for index, each in enumerate(p for p in points if p.sweep.drive == drive):
            steps = each.sweep.settling + np.arange(len(each.mean_ns))
            offsets = steps * each.sweep.shift_bytes / 1024
            axes.plot(
                offsets,
                each.mean_ns / 1e3,
                marker="os^"[index],
                markersize=3,
                color=LIGHT.series(index),
                linewidth=1,
                label=f"{each.sweep.write_bytes // 1024} KB writes",
            )
            block = each.sweep.paper_bytes / 1024
        every = block * (2 if drive == "ryu-c" else 1)
        axes.set_xticks(np.arange(offsets[0], offsets[-1] + 1, every))
        axes.set_title(drive, loc="left", fontsize=10, color=LIGHT.ink)
        axes.set_xlabel("offset (KB)")
        axes.set_ylabel("mean response time (us)")
        axes.set_ylim(bottom=0)
        style.legend(axes, LIGHT, loc="best")
    return written(figure, path)


def curves_12(path: Path) -> Path:
    """Draw the equations, corrected and as printed."""
    figure, panels = canvas(1, 2, (9.6, 4.2))
    sizes = np.array(equations.PAGES) * equations.PAGE_BYTES / 1024
    for axes, (title, function) in zip(
        panels,
        (("corrected", equations.corrected), ("as printed", equations.printed)),
        strict=True,
    ):
        for index, line in enumerate(equations.LINES):
            axes.plot(
                sizes,
                function(line) / 1e3,
                color=LIGHT.series(index % len(equations.UNITS_PAGES)),
                linestyle="-" if line.design == "a" else (0, (3, 2)),
                linewidth=1.2,
                label=line.label,
            )
        axes.set_title(title, loc="left", fontsize=10, color=LIGHT.ink)
        axes.set_xlabel("read size (KB)")
        axes.set_ylabel("response time (ms)")
    panels[1].set_yscale("log")
    _shared_legend(figure, panels[0], 4)
    return written(figure, path)


def curves_14(curves: read_size.Curves, path: Path) -> Path:
    """Draw response time against read size, one line per drive."""
    figure, panels = canvas(1, 2, (9.6, 4.0))
    for drive, curve in curves.items():
        colour, marker = _LOOKS.get(drive, _ANOTHER)
        times = np.asarray(curve) / 1e6
        # A line is one on linear axes, where a disk would leave no room for the others.
        for axes in panels[1:] if drive == "ryu-hdd" else panels:
            axes.plot(
                read_size.SIZES_KIB, times, marker=marker, markersize=3, color=colour, label=drive
            )
    panels[0].set_ylim(bottom=0)
    panels[1].set_yscale("log")
    for axes in panels:
        axes.set_xticks(range(0, 129, 16))
        axes.set_xlabel("read size (KB)")
        axes.set_ylabel("mean response time (ms)")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    style.legend(panels[1], LIGHT, loc="best")
    return written(figure, path)


def canvas(rows: int, columns: int, size: tuple[float, float]) -> tuple["Figure", Sequence["Axes"]]:
    """Make a figure of so many inches with panels in the common look."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained", facecolor=LIGHT.surface)
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in panels:
        style.dress(axes, LIGHT)
    return figure, panels


def _sizes(axes: "Axes", sizes_kib: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(sizes_kib), [str(size) for size in sizes_kib])
    axes.minorticks_off()
    axes.set_xlabel("request size (KB)")


def _shared_legend(figure: "Figure", axes: "Axes", columns: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=7.6
    )


def written(figure: "Figure", path: Path) -> Path:
    """Write a figure as SVG, and as PNG beside it."""
    save(figure, path)
    save(figure, path.with_suffix(".png"))
    return path
