"""Colours by role, and the look that all charts share."""

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ssdscope.plots.pointing import set_unit
from ssdscope.shown import shown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import Locator


@dataclass(frozen=True)
class Palette:
    """One colour per role. Series are told apart by marker and label too, never by colour alone."""

    ink: str
    muted: str
    grid: str
    surface: str
    s1: str
    s2: str
    s3: str
    s4: str
    s5: str
    s6: str
    s7: str
    s8: str
    s9: str
    s10: str
    s11: str
    s12: str
    s13: str

    def series(self, index: int) -> str:
        """Colour of the n-th series, starting at 0; beyond eight they repeat."""
        return str(getattr(self, f"s{index % 8 + 1}"))


LIGHT = Palette(
    ink="#1b1d21",
    muted="#646a73",
    grid="#e3e5e8",
    surface="#ffffff",
    s1="#2a6fd0",
    s2="#d9541e",
    s3="#128a63",
    s4="#8a5fd1",
    s5="#b57f00",
    s6="#d0407f",
    s7="#1793a8",
    s8="#7d8590",
    s9="#8f5b3a",
    s10="#6b7a12",
    s11="#3f5a80",
    s12="#b8323a",
    s13="#4d8a2c",
)
DARK = Palette(
    ink="#eceef1",
    muted="#a0a7b1",
    grid="#33373d",
    surface="#1b1d21",
    s1="#6ea8fe",
    s2="#ff8a57",
    s3="#3fc796",
    s4="#b99bff",
    s5="#e0b040",
    s6="#ff85b5",
    s7="#4fc6da",
    s8="#98a1ad",
    s9="#cf9a76",
    s10="#bccb5e",
    s11="#93b0da",
    s12="#ff8f8f",
    s13="#93d26f",
)
PAGE = Palette(**{each.name: f"#fe00{index:02x}" for index, each in enumerate(fields(Palette))})
"""Stand-ins: `export.inline_svg` turns them into CSS variables, which follow the page's theme."""

# The same cause has the same colour on every chart; rare ones share the neutral.
CAUSE_COLOURS = {
    "nand": "s1",
    "transfer": "s7",
    "channel_wait": "s5",
    "die_wait": "s4",
    "gc": "s2",
    "merge": "s12",
    "map": "s13",
    "link": "s3",
    "host_queue": "s6",
    "rmw": "s9",
    "buffer": "s10",
    "firmware": "s11",
    "mechanical": "s1",  # no drive has both flash and an arm
}

PATTERN_LOOK = {
    "read": ("s1", "o", "sequential read"),
    "randread": ("s7", "s", "random read"),
    "write": ("s2", "^", "sequential write"),
    "randwrite": ("s6", "D", "random write"),
}
"""Colour, marker and name of each access pattern."""


def css_variables(palette: Palette) -> str:
    """Write a palette as CSS custom properties."""
    return " ".join(f"--{each.name}: {getattr(palette, each.name)};" for each in fields(palette))


def new_figure(
    palette: Palette, size_inches: tuple[float, float] = (4.0, 2.9)
) -> tuple["Figure", "Axes"]:
    """Make a figure with one set of axes in the common look."""
    figure = blank_figure(palette, size_inches)
    axes = figure.add_subplot()
    dress(axes, palette)
    return figure, axes


def blank_figure(palette: Palette, size_inches: tuple[float, float]) -> "Figure":
    """Make a figure without axes; it lets a page shine through, until it is `titled`."""
    from ssdscope.plots.picture import DPI, Picture

    surface = palette.surface
    figure = Picture(figsize=size_inches, dpi=DPI, layout="constrained", facecolor=surface)
    figure.patch.set_alpha(0)
    return figure


TITLE_INCHES = 0.24
"""A line of a title, with what is between it and the axes."""


def titled(figure: "Figure", title: str, palette: Palette) -> "Figure":
    """Make a figure stand alone: on a ground of its own, its title at the top left.

    It grows by a line of the title, so that its axes stay as they were.
    """
    figure.patch.set_alpha(1)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + TITLE_INCHES)
    figure.suptitle(text(title), x=0.02, ha="left", color=palette.ink, fontsize=9.6, wrap=True)
    return figure


def text(name: str) -> str:
    """Write a name from outside: nothing of it is a formula, and all of it can be drawn."""
    return shown_name(name).replace("$", r"\$")


def dress(axes: "Axes", palette: Palette) -> None:
    """Give axes the common look: quiet grid, no box, muted labels."""
    axes.set_facecolor("none")
    axes.grid(visible=True, which="major", color=palette.grid, linewidth=0.7)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(palette.muted)
        spine.set_linewidth(0.7)
    axes.tick_params(
        which="both", colors=palette.muted, labelsize=8.2, length=2.5, width=0.6, left=False
    )
    for label in (axes.xaxis.label, axes.yaxis.label, axes.title):
        label.set_color(palette.ink)
        label.set_fontsize(8.6)


def legend(axes: "Axes", palette: Palette, **options: Any) -> None:
    """Add a legend; above the axes if not told otherwise, where it hides no data."""
    above = {"loc": "lower left", "bbox_to_anchor": (-0.02, 0.995), "ncols": 2}
    axes.legend(
        frameon=False,
        fontsize=8,
        labelcolor=palette.ink,
        handlelength=options.pop("handlelength", 1.6),
        borderaxespad=0.2,
        columnspacing=1.4,
        **(options or above),
    )


def mark(
    axes: "Axes", place: float, word: str, palette: Palette, *, dash: Any, right: bool
) -> None:
    """Draw an upright line with its word beside it, to the right or to the left."""
    axes.axvline(place, color=palette.s2, linewidth=1.4, linestyle=dash)
    axes.annotate(
        word,
        (place, 0.06),
        xycoords=("data", "axes fraction"),
        xytext=(5 if right else -5, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        color=palette.s2,
        fontsize=8.4,
    )


def log_sizes(axes: "Axes", sizes_bytes: Any) -> None:
    """Label a logarithmic x axis of sizes with 4K, 64K, 1M."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    low, high = float(min(sizes_bytes)), float(max(sizes_bytes))
    axes.set_xscale("log", base=2)
    set_unit(axes.xaxis, "bytes")
    ticks = [float(2**power) for power in range(8, 46, 2) if low / 1.5 <= 2**power <= high * 1.5]
    axes.xaxis.set_major_locator(FixedLocator(ticks[:: 2 if len(ticks) > 9 else 1]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size_label(value)))


def binary_steps(span_bytes: float) -> "Locator":
    """Place some six ticks of a plain axis of sizes at multiples of a power of two."""
    from matplotlib.ticker import MultipleLocator

    return MultipleLocator(2.0 ** max(0, round(math.log2(max(span_bytes, 1.0) / 6))))


def log_depths(axes: "Axes", depths: Any) -> None:
    """Label a logarithmic x axis of queue depths with plain numbers."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_xscale("log", base=2)
    set_unit(axes.xaxis, "depth")
    ticks = [float(2**power) for power in range(11) if min(depths) <= 2**power <= max(depths)]
    axes.xaxis.set_major_locator(FixedLocator(ticks[:: 2 if len(ticks) > 7 else 1]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def log_times(axis: Any) -> None:
    """Label a logarithmic axis of nanoseconds with 10 us, 1 ms, ..."""
    plain_log(axis, time_label)


def plain_log(axis: Any, label: Any) -> None:
    """Label a logarithmic axis with a function of the value."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    limits = axis.axes.get_xlim() if axis.axis_name == "x" else axis.axes.get_ylim()
    narrow = max(limits) / max(min(limits), 1e-9) < 200
    set_unit(axis, next((unit for unit, each in LABELS.items() if each is label), ""))
    axis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if narrow else (1,), numticks=12))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))


def size_label(size_bytes: float) -> str:
    """Write a size shortly: 4K, 1M."""
    for unit, scale in (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:.4g}{unit}"
    return f"{size_bytes:.4g}"


def time_label(time_ns: float) -> str:
    """Write a time shortly: 80 us, 1.5 ms."""
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if time_ns >= scale:
            return f"{time_ns / scale:.3g} {unit}"
    return f"{time_ns:.3g} ns"


def rate_label(bytes_per_s: float) -> str:
    """Write a rate shortly: 200 MB/s, 1.5 GB/s."""
    for unit, scale in (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6)):
        if bytes_per_s >= scale:
            return f"{bytes_per_s / scale:.3g} {unit}"
    return f"{bytes_per_s / 1e3:.3g} kB/s"


def count_label(value: float) -> str:
    """Write a number shortly: 12k, 1.5M."""
    for unit, scale in (("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{value / scale:.3g}{unit}"
    return f"{value:.3g}"


LABELS = {
    "bytes": size_label,
    "ns": time_label,
    "bytes/s": rate_label,
    "iops": count_label,
}
"""How values of a unit are written on an axis."""
