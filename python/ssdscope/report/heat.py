"""Heat maps of the page: tables whose cells are shaded, to be read by eye, by ear and in print."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdscope.plots.style import PATTERN_LOOK
from ssdscope.report import words
from ssdscope.report.parts import Document, best_known, measured

LEAST_CELLS = 4
"""Fewer are no map."""
FAINT, STRONG = 6, 46
"""Shade of the least and the greatest value, in percent: ink stays readable on both."""


@dataclass(frozen=True)
class Cell:
    """A value in words, its shade in percent, and what stands behind it."""

    text: str
    shade: int
    note: str


@dataclass(frozen=True)
class HeatMap:
    """Shaded cells: a row for each depth.

    Attributes
    ----------
    corner
        What columns and rows are.
    origin
        ``measured`` or ``model``.
    """

    id: str
    title: str
    caption: str
    corner: str
    columns: list[str]
    rows: list[tuple[str, list[Cell]]]
    origin: str


def latency(document: Document) -> list[HeatMap]:
    """Lay out what was measured of each pattern: mean latency by size and depth."""
    told = []
    for sort in ("read", "burst", "sustained"):
        for rw, (_, _, name) in PATTERN_LOOK.items():
            points = measured(document, rw=rw, sort=sort)
            if len(points) >= LEAST_CELLS:
                key, said = ("", "") if sort == "read" else (f"-{sort}", f", {sort}")
                told.append(_of_points(f"heat-{rw}{key}", f"Mean latency, {name}{said}", points))
    return told


def _of_points(key: str, title: str, points: Sequence[Mapping[str, Any]]) -> HeatMap:
    sizes = sorted({p["block_bytes"] for p in points})
    depths = sorted({p["iodepth"] for p in points})
    at = {(p["iodepth"], p["block_bytes"]): p for p in points}
    values = [[at.get((depth, size)) for size in sizes] for depth in depths]
    shades = _shades([[None if p is None else p["mean_ns"] for p in row] for row in values])
    rows = [
        (str(depth), [_point_cell(p, s) for p, s in zip(row, shade, strict=True)])
        for depth, row, shade in zip(depths, values, shades, strict=True)
    ]
    return HeatMap(
        key,
        title,
        words.bounds(points),
        "depth",
        [words.size(s) for s in sizes],
        rows,
        "measured",
    )


def _point_cell(point: Mapping[str, Any] | None, shade: int) -> Cell:
    if point is None:
        return Cell(words.NOTHING, 0, "not measured")
    note = f"{point['requests']:,} requests, {words.iops(point['iops'])} IOPS"
    if point["ci95_low_ns"] is not None:
        span = words.span(max(point["ci95_low_ns"], 0.0), point["ci95_high_ns"])
        note = f"95 % interval {span}; {note}"
    return Cell(words.most(words.time(point["mean_ns"]), point), shade, note)


def _shades(values: Sequence[Sequence[float | None]]) -> list[list[int]]:
    """Shade by the logarithm."""
    logs = [math.log(v) for row in values for v in row if v]
    low, spread = min(logs, default=0.0), max(max(logs, default=0.0) - min(logs, default=0.0), 1e-9)
    return [
        [0 if not v else round(FAINT + (STRONG - FAINT) * (math.log(v) - low) / spread)
         for v in row]
        for row in values
    ]  # fmt: skip


def mixture(document: Document) -> HeatMap | None:
    """Lay out requests per second by depth and share of writes: the model's, else both ends.

    A mix is not measured; what comes from the model says so and has its interval.
    """
    told = (document["models"][0].get("mix") if document["models"] else None) or None
    return _predicted(told) if told else _ends(document)


def _predicted(told: Mapping[str, Any]) -> HeatMap:
    """Turn predicted mean latency into requests per second: so many are always in flight."""
    depths, ratios = told["depths"], told["wr_ratios"]
    rates = [
        [depth * 1e9 / cell["value"] for cell in row]
        for depth, row in zip(depths, told["cells"], strict=True)
    ]
    rows = []
    for depth, row, rate, shade in zip(depths, told["cells"], rates, _shades(rates), strict=True):
        cells = [
            Cell(
                words.iops(value),
                dark,
                f"90 % interval {words.iops(depth * 1e9 / cell['high'])} to "
                f"{words.iops(depth * 1e9 / cell['low'])} IOPS",
            )
            for cell, value, dark in zip(row, rate, shade, strict=True)
        ]
        rows.append((str(depth), cells))
    caption = (
        f"Random requests of {words.size(told['block_bytes'])}. Mixes were not measured: these are "
        "the model's, whose error stands below."
    )
    columns = [f"{ratio} % writes" for ratio in ratios]
    return HeatMap("heat-mix", "IOPS of mixes", caption, "depth", columns, rows, "model")


def _ends(document: Document) -> HeatMap | None:
    """Lay out what was measured of reads alone and of writes alone."""
    points = best_known(measured(document, block_bytes=4096))
    columns = list(_columns(points))
    if not columns:
        return None
    depths = sorted({depth for _, at in columns for depth in at})
    values = [[at[depth]["iops"] if depth in at else None for _, at in columns] for depth in depths]
    rows = [
        (
            str(depth),
            [
                Cell(words.least(words.iops(at[depth]["iops"]), at[depth]) if depth in at
                     else words.NOTHING, dark,
                     f"mean latency {words.time(at[depth]['mean_ns'])}" if depth in at
                     else "not measured")
                for (_, at), dark in zip(columns, shade, strict=True)
            ],
        )
        for depth, shade in zip(depths, _shades(values), strict=True)
    ]  # fmt: skip
    caption = "Random requests of 4 KiB, as measured. There is no model to say what mixes do."
    return HeatMap(
        "heat-mix", "IOPS of reads and of writes", caption, "depth", [n for n, _ in columns], rows,
        "measured",
    )  # fmt: skip


def _columns(
    points: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[str, dict[int, Mapping[str, Any]]]]:
    for rw, name in (("randread", "reads"), ("randwrite", "writes")):
        at = {p["iodepth"]: p for p in points if p["rw"] == rw}
        if at:
            sorts = {str(p["sort"]) for p in at.values()} - {"read"}
            yield f"{name}{f' ({sorts.pop()})' if len(sorts) == 1 else ''}", at
