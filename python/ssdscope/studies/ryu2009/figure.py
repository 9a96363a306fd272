"""The pictures of the study, each as SVG and PNG."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.plots import LIGHT, save, style
from ssdscope.plots.style import PATTERN_LOOK
from ssdscope.studies.ryu2009 import (
    ageing,
    ageing_claims,
    equations,
    iozone,
    read_size,
    shift_write,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS = {
    "ryu-a": (LIGHT.s1, "o"),
    "ryu-b": (LIGHT.s2, "s"),
    "ryu-c": (LIGHT.s3, "^"),
    "ryu-hdd": (LIGHT.s8, "D"),
}
NAMES = {"read": "SR", "randread": "RR", "write": "SW", "randwrite": "RW"}
"""The patterns in the paper's legends."""
BLOCK_KIB = {"ryu-c": 4, "ryu-a": 16, "ryu-b": 1024}
SHIFTED_BLOCKS = 6
"""How many management blocks figure 7 shows."""
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
    """Draw bandwidth against request size under the paper's names, one panel per drive."""
    figure, panels = canvas(1, len(watched), (6.8 * len(watched), 4.2))
    for axes, life in zip(panels, watched, strict=True):
        for pattern, name in NAMES.items():
            colour, marker, _ = PATTERN_LOOK[pattern]
            # Lines lie upon each other where neither order nor age matters: wide beneath thin,
            # pale beneath dashed.
            width = 4.0 if pattern in ("read", "write") else 1.6
            for when, bandwidths, dash, opacity, size in (
                ("start", life.new, "-", 0.4, 9),
                ("3month", life.aged, (0, (4, 2)), 1.0, 5),
            ):
                sizes = [each for name_of, each in bandwidths if name_of == pattern]
                axes.plot(
                    sizes,
                    [bandwidths[pattern, each] / 1024 for each in sizes],
                    marker=marker,
                    markersize=size + (width > 2) * 2,
                    markerfacecolor=LIGHT.surface if when == "3month" else None,
                    color=getattr(LIGHT, colour),
                    alpha=opacity,
                    linestyle=dash,
                    linewidth=width,
                    zorder=2 if width > 2 else 3,
                    label=f"{when}_{name}",
                )
        axes.set_yscale("log")
        _sizes(axes, ageing.SIZES_KIB)
        axes.set_title(life.subject.name, loc="left", fontsize=10, color=LIGHT.ink)
        axes.set_ylabel("KiB/s")
    _shared_legend(figure, panels[0], 4)
    return written(figure, path)


def sweep(
    lives: Sequence[ageing.Life],
    without_map: Sequence[ageing.Life],
    drives: Sequence[ageing.Life],
    path: Path,
) -> Path:
    """Draw what is left of writes against the size of the management block."""
    figure, (axes,) = canvas(1, 1, (7.2, 4.4))
    sizes = list(ageing.UNITS_KIB)
    for watched, pattern, look, label in (
        (lives, "write", "-", "sequential writes"),
        (lives, "randwrite", "-", "random writes"),
        (without_map, "randwrite", (0, (4, 2)), "random writes, the map costs nothing"),
    ):
        colour, marker, _ = PATTERN_LOOK[pattern]
        kept = [100 * ageing_claims.mean_kept(life, pattern) for life in watched]
        axes.plot(sizes, kept, marker=marker, markersize=5, color=getattr(LIGHT, colour),
                  linestyle=look, linewidth=1.2, label=f"A with other blocks, {label}")  # fmt: skip
    for life in drives:
        block = BLOCK_KIB[life.subject.name]
        colour, marker = _LOOKS[life.subject.name]
        kept_percent = 100 * ageing_claims.writes_kept(life)
        axes.plot([block], [kept_percent], marker, markersize=11, color=colour,
                  markerfacecolor="none", label=f"{life.subject.name}, all writes")  # fmt: skip
    _sizes(axes, [*sizes, max(BLOCK_KIB.values())])
    axes.set_xlabel("management block (KB)")
    axes.set_ylabel("bandwidth kept (%)")
    axes.set_ylim(0, 105)
    style.legend(axes, LIGHT, loc="upper left")
    return written(figure, path)


def shifted(points: Sequence[shift_write.Points], path: Path) -> Path:
    """Draw response time against the shift, one panel per drive; the second pass alone."""
    drives = list(dict.fromkeys(each.subject.label for each in points))
    figure, panels = canvas(1, len(drives), (4.4 * len(drives), 4.0))
    for axes, drive in zip(panels, drives, strict=True):
        of_drive = [each for each in points if each.subject.label == drive]
        for index, each in enumerate(of_drive):
            block, shift = each.subject.paper_bytes or 0, each.sweep.shift_bytes
            means = np.split(each.mean_ns, 2)[1][: SHIFTED_BLOCKS * block // shift + 1] / 1e3
            axes.plot(
                np.arange(means.size) * shift / 1024,
                means,
                marker="os^"[index],
                markersize=3,
                color=LIGHT.series(index),
                linewidth=1,
                label=f"{each.sweep.write_bytes // 1024} KB write",
            )
        every = block / 1024 * (0.5 if block > 16384 else 2)
        axes.set_xticks(np.arange(0, axes.get_xlim()[1], every))
        axes.set_title(drive, loc="left", fontsize=10, color=LIGHT.ink)
        axes.set_xlabel("shift (KB)")
        axes.set_ylabel("mean response time (us)")
        # Room for the legend, which must not lie on the curves.
        axes.set_ylim(0, 1.35 * axes.get_ylim()[1])
        style.legend(axes, LIGHT, loc="upper left", ncols=2)
    return written(figure, path)


def curves_12(path: Path) -> Path:
    """Draw the corrected equations, the two designs side by side on one scale."""
    figure, panels = canvas(1, 2, (9.6, 4.2))
    sizes = np.array(equations.PAGES) * equations.PAGE_BYTES / 1024
    titles = {"a": "(a) 1-channel placement", "b": "(b) multi-channel placement"}
    for axes, (design, title) in zip(panels, titles.items(), strict=True):
        of_design = [line for line in equations.LINES if line.design == design]
        for index, line in enumerate(of_design):
            axes.plot(
                sizes,
                equations.corrected(line) / 1e3,
                color=LIGHT.series(index),
                marker="os^D"[index],
                markevery=(index, 6),
                markersize=4,
                linewidth=1.2,
                label=line.label,
            )
        axes.set_title(title, loc="left", fontsize=10, color=LIGHT.ink)
        axes.set_xlabel("request size (KB)")
        axes.set_ylabel("response time (ms)")
        axes.set_xticks(range(0, 257, 32))
        axes.set_ylim(0, 2.8)
        style.legend(axes, LIGHT, loc="upper left")
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
