"""The pictures of the study."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.plots import LIGHT, save, style
from ssdscope.studies.machado2015.procedure import PATTERNS, Cells
from ssdscope.studies.machado2015.wear import Life

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLES = {
    "read": "(a) Sequential read",
    "randread": "(b) Random read",
    "write": "(c) Sequential write",
    "randwrite": "(d) Random write",
}
MARKERS = "o^sDv<>p*X"


def four_panels(cells: Cells, lines: Sequence[str], path: Path) -> None:
    """Draw mean response time against request size, one panel per pattern; SVG and PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 7.2), layout="constrained", facecolor=LIGHT.surface)
    panels = figure.subplots(2, 2)
    for axes, pattern in zip(panels.flat, PATTERNS, strict=True):
        style.dress(axes, LIGHT)
        drawn = _panel(axes, cells, lines, pattern)
        axes.set_title(TITLES[pattern], loc="left", fontsize=10, color=LIGHT.ink)
        if not drawn:
            remark = "not run: the target\nis open for reading only"
            axes.text(0.5, 0.5, remark, **_centred(axes))
            axes.set(xticks=[], yticks=[], xlabel="", ylabel="")
    handles, labels = panels.flat[0].get_legend_handles_labels()
    columns = min(len(lines), 5)
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=7.6
    )
    _save_both(figure, path)


def _panel(axes: "Axes", cells: Cells, lines: Sequence[str], pattern: str) -> bool:
    """Draw one panel; a point that could not be measured is a gap."""
    drawn = False
    axes.set_yscale("log")
    for index, line in enumerate(lines):
        row = sorted(
            (c for (name, p, _), c in cells.items() if (name, p) == (line, pattern)),
            key=lambda cell: cell.size_bytes,
        )
        if not row:
            continue
        mean = np.array([c.mean_ns for c in row]) / 1e6
        low = mean - np.array([c.ci95_low_ns for c in row]) / 1e6
        high = np.array([c.ci95_high_ns for c in row]) / 1e6 - mean
        # Lines that coincide are told apart by markers that shrink towards the front.
        axes.errorbar(
            [c.size_bytes / 1024 for c in row],
            mean,
            yerr=[low, high],
            marker=MARKERS[index % len(MARKERS)],
            markersize=8.5 - 0.6 * index,
            markerfacecolor="none",
            color=LIGHT.series(index),
            linewidth=1,
            linestyle="-" if index < 8 else (0, (4, 2)),
            label=line,
        )
        drawn = True
    _size_axis(axes, cells)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylabel("mean response time (ms)")
    return drawn


def _size_axis(axes: "Axes", cells: Cells) -> None:
    axes.set_xscale("log", base=2)
    sizes = [c.size_bytes // 1024 for c in cells.values()]
    ticks = [2**power for power in range(3, 13) if min(sizes) <= 2**power <= max(sizes)]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("request size (KB)")


def differences(cells: Cells, lines: Sequence[str], path: Path) -> None:
    """Draw how much longer each line takes than the first, in percent; SVG and PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 7.6), layout="constrained", facecolor=LIGHT.surface)
    panels = figure.subplots(2, 2)
    for axes, pattern in zip(panels.flat, PATTERNS, strict=True):
        style.dress(axes, LIGHT)
        most = max(
            _difference(axes, cells, (line, lines[0]), pattern, index)
            for index, line in enumerate(lines)
        )
        if most < 0.01:
            axes.text(0.5, 0.5, "all lines coincide", **_centred(axes))
        axes.set_title(TITLES[pattern], loc="left", fontsize=10, color=LIGHT.ink)
        _size_axis(axes, cells)
        # Linear up to 10 %, so that the paper's 5.5 % and 7 % can be read; then by powers.
        axes.set_yscale("symlog", linthresh=10)
        top = max(10.0, 1.3 * most)
        axes.set_ylim(-1, top)
        axes.set_yticks(
            [0, 2, 4, 6, 8, 10, *(each for each in (20, 50, 100, 200, 500) if each < top)]
        )
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:+g} %" if value else "0")
        axes.set_ylabel(f"longer than {lines[0]}")
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False, fontsize=7.6)
    _save_both(figure, path)


def _difference(
    axes: "Axes", cells: Cells, lines: tuple[str, str], pattern: str, index: int
) -> float:
    """Draw one line against another, and give the largest difference in percent."""
    line, base = lines
    row = sorted(
        (c for (name, p, _), c in cells.items() if (name, p) == (line, pattern)),
        key=lambda cell: cell.size_bytes,
    )
    percent = [100 * (c.mean_ns / cells[base, pattern, c.size_bytes].mean_ns - 1) for c in row]
    axes.plot(
        [c.size_bytes / 1024 for c in row],
        percent,
        marker=MARKERS[index % len(MARKERS)],
        markersize=9 - 0.6 * index,
        markerfacecolor="none",
        color=LIGHT.series(index),
        linewidth=1.1,
        linestyle="-" if index < 8 else (0, (4, 2)),
        label=line,
    )
    return float(np.nanmax(np.abs(percent)))


def _centred(axes: "Axes") -> dict[str, Any]:
    """Give the options of a remark in the middle of a panel."""
    return {
        "ha": "center",
        "va": "center",
        "transform": axes.transAxes,
        "color": LIGHT.muted,
    }


def bars(means: Mapping[str, tuple[float, float]], path: Path) -> None:
    """Draw what was run in place of the paper's random reads, with 5 % and 50 % kept free."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 3.4), layout="constrained", facecolor=LIGHT.surface)
    axes = figure.subplots()
    style.dress(axes, LIGHT)
    places = np.arange(len(means))
    for shift, share, colour in ((-0.19, 0, LIGHT.s1), (0.19, 1, LIGHT.s2)):
        widths = [pair[share] / 1e6 for pair in means.values()]
        label = ("5 % kept free", "50 % kept free")[share]
        drawn = axes.barh(places + shift, widths, 0.36, color=colour, label=label)
        axes.bar_label(drawn, fmt="%.2f", padding=3, fontsize=7.6, color=LIGHT.ink)
    axes.set_yticks(places, list(means))
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.set_xlabel("mean response time of 300 requests of 4 MB (ms)")
    style.legend(axes, LIGHT, loc="upper right")
    _save_both(figure, path)


def erase_spread(lives: Sequence[Life], path: Path) -> None:
    """Draw the spread of the erase counts over the drive's life, one panel per load."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.8, 3.6), layout="constrained", facecolor=LIGHT.surface)
    skews = list(dict.fromkeys(life.skew for life in lives))
    panels = figure.subplots(1, len(skews), squeeze=False)
    for axes, skew in zip(panels.flat, skews, strict=True):
        style.dress(axes, LIGHT)
        axes.set_title(skew.label, loc="left", fontsize=9, color=LIGHT.ink)
        for index, life in enumerate(each for each in lives if each.skew == skew):
            colour = LIGHT.series(index)
            x = [wear.drive_writes for wear in life.rounds]
            for values, dash in (
                ([wear.erases.max() for wear in life.rounds], "-"),
                ([wear.erases.mean() for wear in life.rounds], (0, (2, 2))),
            ):
                label = f"{life.policy}: {'most erased' if dash == '-' else 'mean'}"
                axes.plot(x, values, color=colour, linestyle=dash, label=label)
            axes.plot(x[-1:], [life.rounds[-1].erases.max()], "x", color=colour, markersize=7)
        axes.set_xlabel("drive writes (x: worn out)")
        axes.set_ylabel("erases of a block")
    style.legend(panels.flat[0], LIGHT, loc="lower right")
    _save_both(figure, path)


def _save_both(figure: object, path: Path) -> None:
    save(figure, path)  # type: ignore[arg-type]
    save(figure, path.with_suffix(".png"))  # type: ignore[arg-type]
