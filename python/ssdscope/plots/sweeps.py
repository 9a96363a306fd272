"""A sweep as a picture: one metric against one thing that was varied, a line per combination."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdscope.errors import UsageError, nearest
from ssdscope.plots import style
from ssdscope.plots.style import Palette
from ssdscope.sweep.summary import Combination, chosen_metrics, varied_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osD^vX"
NAMED = 12
"""More lines have no room for a legend."""
DOUBLED, SECTOR_BYTES = 8, 512
"""A wider range has a logarithmic axis; from a sector on, one of sizes."""


@dataclass(frozen=True)
class Line:
    """One line: values of x with mean, low and high; an interval of one run has no ends."""

    label: str
    x: Sequence[Any]
    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


@dataclass(frozen=True)
class Wanted:
    """What a picture of a sweep shows: a metric against something that was varied."""

    metric: str
    x: str

    @classmethod
    def of(cls, combinations: Sequence[Combination], metric: str | None, x: str | None) -> "Wanted":
        """Choose what is drawn, the first metric against what was varied first if not said.

        Raises
        ------
        UsageError
            If there is no such metric or nothing so named was varied, or there is nothing to draw.
        """
        metrics = chosen_metrics(combinations, [metric] if metric else ())
        names = varied_names(combinations)
        if not metrics or not names:
            raise UsageError("nothing was varied, or no run succeeded: there is nothing to draw")
        if x is not None and x not in names:
            raise UsageError(f"--x: {x!r} was not varied", hint=nearest(x, names))
        return cls(metrics[0], x or names[0])


def picture(combinations: Sequence[Combination], wanted: Wanted, palette: Palette) -> "Figure":
    """Draw a metric of a sweep, a line per combination of what else was varied."""
    names = varied_names(combinations)
    rows = [
        each.to_json([wanted.metric]) | {"varied": {name: each.varied.get(name) for name in names}}
        for each in combinations
    ]
    lines = lines_of(rows, wanted.metric, wanted.x)
    return against(lines, wanted.x, wanted.metric, palette)


def against(lines: Sequence[Line], x_name: str, y_name: str, palette: Palette) -> "Figure":
    """Draw lines with the intervals of their means."""
    figure, axes = style.new_figure(palette, (6.4, 4.0))
    numeric = all(isinstance(each, int | float) for line in lines for each in line.x)
    names = list(dict.fromkeys(str(each) for line in lines for each in line.x))
    for number, line in enumerate(lines):
        xs = list(line.x) if numeric else [names.index(str(each)) for each in line.x]
        errors = [
            [_width(mean - low) for mean, low in zip(line.mean, line.low, strict=True)],
            [_width(high - mean) for mean, high in zip(line.mean, line.high, strict=True)],
        ]
        axes.errorbar(
            xs, line.mean, yerr=errors, label=style.text(line.label), capsize=2.5, linewidth=1.5,
            markersize=4.5, marker=MARKERS[number % len(MARKERS)], color=palette.series(number),
        )  # fmt: skip
    _label(axes, lines, names, numeric=numeric)
    axes.set_xlabel(style.text(x_name))
    axes.set_ylabel(style.text(y_name))
    axes.set_ylim(bottom=0)
    label = style.time_label if "_ns" in y_name else style.count_label
    axes.yaxis.set_major_formatter(lambda value, _: label(value) if value else "0")
    if 1 < len(lines) <= NAMED:
        style.legend(axes, palette)
    return figure


def _label(axes: "Axes", lines: Sequence[Line], names: Sequence[str], *, numeric: bool) -> None:
    if not numeric:
        axes.set_xticks(range(len(names)), list(map(style.text, names)))
        return
    values = sorted({float(each) for line in lines for each in line.x})
    if values[0] > 0 and values[-1] / values[0] >= DOUBLED:
        label = style.log_sizes if values[0] >= SECTOR_BYTES else style.log_depths
        label(axes, values)


def _width(value: float) -> float:
    return value if value < float("inf") else 0.0


def lines_of(rows: Sequence[Mapping[str, Any]], metric: str, x: str) -> list[Line]:
    """Make lines of rows as `sweep summary -o json` has them: `x` along the axis."""
    found: dict[str, list[tuple[Any, dict[str, float]]]] = {}
    for row in rows:
        if row["metrics"][metric] is not None:
            rest = {name: each for name, each in row["varied"].items() if name != x}
            label = ", ".join(f"{name} {each}" for name, each in rest.items())
            found.setdefault(label, []).append((row["varied"].get(x), row["metrics"][metric]))
    return [
        Line(
            label,
            [x for x, _ in points],
            *([each[part] for _, each in points] for part in ("mean", "low", "high")),
        )
        for label, points in found.items()
    ]
