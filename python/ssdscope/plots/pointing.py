"""What a reader can point at in a picture: its scales, and its points with their values.

The page's script shows values and zooms by it; a picture is complete without.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

MOST_POINTS = 240
"""Of one series; of more every n-th is named."""
SVG_DPI = 72
"""Of matplotlib's SVG, whatever the figure's own is."""
_UNITS: "WeakKeyDictionary[Axis, str]" = WeakKeyDictionary()


def set_unit(axis: "Axis", unit: str) -> None:
    """Note in which unit an axis counts: a key of `style.LABELS`, or ``depth`` or ``%``."""
    _UNITS[axis] = unit


def described(figure: "Figure") -> str | None:
    """Give a picture's scales and points as JSON, in coordinates of its SVG.

    Parameters
    ----------
    figure
        As it was drawn; its layout is final.

    Returns
    -------
    str or None
        ``box`` (x, y, width, height), the axes' ``label``, ``unit``, ``log``, ``low``, ``high``,
        and of each series its ``name`` and ``points`` (place in the SVG, then the values). None
        if there is more than one pair of axes, or nothing on it to point at.
    """
    if len(figure.axes) != 1 or not figure.axes[0].axison:
        return None
    axes = figure.axes[0]
    box = _box(figure, axes)
    series = [each for each in _series(axes, box) if each["points"]]
    if not series:
        return None
    told = {
        "box": [round(each, 2) for each in box],
        "x": _axis(axes.xaxis, axes.get_xscale(), axes.get_xlim()),
        "y": _axis(axes.yaxis, axes.get_yscale(), axes.get_ylim()),
        "series": series,
    }
    return json.dumps(told, separators=(",", ":"))


def _box(figure: "Figure", axes: "Axes") -> tuple[float, float, float, float]:
    width, height = (inches * SVG_DPI for inches in figure.get_size_inches())
    place = axes.get_position()
    return (
        place.x0 * width,
        (1 - place.y1) * height,
        place.width * width,
        place.height * height,
    )


def _axis(axis: "Axis", scale: str, limits: tuple[float, float]) -> dict[str, Any]:
    return {
        "label": axis.get_label_text(),
        "unit": _UNITS.get(axis, ""),
        "log": scale == "log",
        "low": limits[0],
        "high": limits[1],
    }


def _series(axes: "Axes", box: tuple[float, float, float, float]) -> Iterator[dict[str, Any]]:
    """Give lines, points with intervals and bars with their names."""
    from matplotlib.container import BarContainer, ErrorbarContainer

    held = []
    for container in axes.containers:
        name = str(container.get_label())
        if isinstance(container, ErrorbarContainer) and container[0] is not None:
            held.append(container[0])
            yield {"name": name, "points": _points(axes, box, container[0].get_xydata())}
        elif isinstance(container, BarContainer):
            tops = [(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in container]
            yield {"name": name, "points": _points(axes, box, tops)}
    for line in axes.lines:
        name = str(line.get_label())
        if line not in held and not name.startswith("_") and line.get_transform() == axes.transData:
            yield {"name": name, "points": _points(axes, box, line.get_xydata())}


def _points(axes: "Axes", box: tuple[float, float, float, float], values: Any) -> list[list[float]]:
    values = np.asarray(values, dtype=float).reshape(-1, 2)
    values = values[:: max(1, -(-len(values) // MOST_POINTS))]
    x, y, width, height = box
    shares = axes.transAxes.inverted().transform(axes.transData.transform(values))
    with np.errstate(invalid="ignore"):
        inside = ((shares >= -0.001) & (shares <= 1.001)).all(axis=1)
    return [
        [
            round(float(x + across * width), 1),
            round(float(y + (1 - up) * height), 1),
            *(float(f"{value:.5g}") for value in pair),
        ]
        for (across, up), pair in zip(shares[inside], values[inside], strict=True)
    ]
