"""The pictures of the study."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ssdscope.plots.panels import DASHED, Line, Panel, in_panels
from ssdscope.plots.style import PATTERN_LOOK
from ssdscope.probes.literal import placement
from ssdscope.stats import fit_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRIVES = ("ryu-a", "ryu-b", "ryu-c", "ryu-hdd")
NAMES = {"read": "SR", "randread": "RR", "write": "SW", "randwrite": "RW"}
"""The patterns in the paper's legends."""
BLOCK_KIB = {"ryu-c": 4, "ryu-a": 16, "ryu-b": 1024}
BLOCKS = 6
"""How many management blocks of a sweep are drawn."""
WITHOUT_PAPER = 48
"""Positions that are drawn where the paper knows no block."""
SIZE, MEAN_US = "request size", "mean response time (us)"

Curves = Mapping[Any, npt.NDArray[np.float64]]


def _index(drive: str) -> int:
    return DRIVES.index(drive) if drive in DRIVES else len(DRIVES)


def _bytes(sizes_kib: Sequence[float]) -> list[float]:
    return [1024 * size for size in sizes_kib]


def table_13(cells: Sequence[Any]) -> "Figure":
    """Draw the bandwidths of figure 13 on the paper's."""
    shown = []
    for op in ("randread", "randwrite"):
        drawn = []
        for drive in dict.fromkeys(cell.drive for cell in cells):
            row = [cell for cell in cells if (cell.drive, cell.op) == (drive, op)]
            sizes, index = _bytes([cell.request_kib for cell in row]), _index(drive)
            drawn.append(Line(drive, sizes, [cell.kib_per_s for cell in row], index, width=0))
            papers = [cell.paper_kib_per_s for cell in row]
            if row and None not in papers:
                drawn.append(Line(f"{drive}, paper", sizes, papers, index, 0, 1))
        if any(len(line.x) for line in drawn):
            head = PATTERN_LOOK[op][2]
            shown.append(Panel(head, drawn, SIZE, "KiB/s", sizes=True, log=True, legend="best"))
    return in_panels(shown, width=4.6, height=3.8)


def lives(watched: Sequence[Any]) -> "Figure":
    """Draw bandwidth against request size under the paper's names, one panel per drive."""
    shown = []
    for life in watched:
        sizes = sorted({size for _, size in life.new})
        # Lines lie upon each other where neither order nor age matters: wide beneath thin.
        drawn = [
            Line(f"{when}_{name}", _bytes(sizes), [rates[pattern, kib] / 1024 for kib in sizes],
                 index, size, width if pattern in ("read", "write") else width / 2.5, dash)
            for index, (pattern, name) in enumerate(NAMES.items())
            for when, rates, dash, size, width in (
                ("start", life.new, "-", 9, 4.0), ("3month", life.aged, DASHED, 5, 2.4))
        ]  # fmt: skip
        shown.append(Panel(life.name, drawn, SIZE, "KiB/s", sizes=True, log=True, legend="best"))
    return in_panels(shown, width=6.8, height=4.2)


def swept(lives: Sequence[Any], without_map: Sequence[Any], drives: Sequence[Any]) -> "Figure":
    """Draw what is left of writes against the size of the management block."""
    sizes = _bytes([int(life.name.split()[0]) for life in lives])
    drawn = [
        Line(f"A with other blocks, {label}", sizes, [life.kept_percent(pattern) for life in made],
             index)
        for index, (made, pattern, label) in enumerate((
            (lives, "write", "sequential writes"), (lives, "randwrite", "random writes"),
            (without_map, "randwrite", "random writes, the map costs nothing"),
        ))
    ] + [
        Line(f"{life.name}, all writes", _bytes([BLOCK_KIB[life.name]]),
             [life.kept_percent("write", "randwrite")], 3 + _index(life.name), 11, 0)
        for life in drives
    ]  # fmt: skip
    y = "bandwidth kept (%)"
    return in_panels([Panel("", drawn, "management block", y, sizes=True, legend="upper left")],
                     width=7.2, height=4.4)  # fmt: skip


def shifted(points: Sequence[Any]) -> "Figure":
    """Draw response time against the shift, one panel per drive; the second pass alone."""
    shown = []
    for label in dict.fromkeys(each.subject.label for each in points):
        of_drive = [each for each in points if each.subject.label == label]
        drawn = [
            _by_place(f"{each.sweep.write_bytes // 1024} KB write", each.subject, each.sweep,
                      np.split(each.mean_ns, 2)[1], index)
            for index, each in enumerate(of_drive)
        ]  # fmt: skip
        shown.append(Panel(label, drawn, "shift (KB)", MEAN_US, legend="upper left"))
    return in_panels(shown, height=4.0)


def _by_place(label: str, subject: Any, sweep: Any, mean_ns: Any, index: int = 0) -> Line:
    block = subject.paper_bytes
    means = mean_ns[: BLOCKS * block // sweep.shift_bytes + 1 if block else WITHOUT_PAPER] / 1e3
    offsets = [place * sweep.shift_bytes / 1024 for place in range(means.size)]
    return Line(label, offsets, list(means), index, 3, 1)


def sweeps(found: Mapping[tuple[Any, Any], Any]) -> "Figure":
    """Draw figure 6's means by position, and which the repaired reading collects."""
    shown = []
    for (subject, sweep), each in found.items():
        line = _by_place("mean of the chunks", subject, sweep, each.mean_ns)
        chosen = [place for place in each.repaired.positions if place < len(line.x)]
        x, y = ([values[place] for place in chosen] for values in (line.x, line.y))
        head = f"{subject.label}, writes of {sweep.write_bytes // 1024} KB"
        drawn = [line, Line("collected", x, y, 1, 6, 0)]
        shown.append(Panel(head, drawn, "position (KB)", MEAN_US, legend="lower right"))
    return in_panels(shown, rows=2, width=4.0, height=2.8)


def orders(gaps: Mapping[str, Any]) -> "Figure":
    """Draw T1 and T2 of every drive."""
    times = {
        "T1, after random writes": [each.t1_ns / 1e3 for each in gaps.values()],
        "T2, after sequential writes": [each.t2_ns / 1e3 for each in gaps.values()],
    }
    return in_panels([_beside("", times, list(gaps))], width=5.6)


def _beside(
    head: str, values: Mapping[str, Sequence[float]], names: Sequence[str], *, log: bool = False
) -> Panel:
    """Draw a mark for each of several things, in a colour for each series."""
    places = list(range(len(names)))
    drawn = [Line(label, places, each, i, 7, 0) for i, (label, each) in enumerate(values.items())]
    return Panel(head, drawn, y=MEAN_US, names=names, log=log, legend="best")


def allocations(times: Mapping[tuple[str, str], Mapping[str, float]]) -> "Figure":
    """Draw what writes and reads take by either rule, on both hardwares."""
    names = list(next(iter(times.values())))
    values = {f"{hw} hardware, by {rule}": [each[name] for name in names]
              for (hw, rule), each in times.items()}  # fmt: skip
    labels = [name.replace(" ", "\n", 1).replace(" writes", "\nwrites") for name in names]
    return in_panels([_beside("", values, labels, log=True)], width=9.6, height=3.6)


def copied(points: Sequence[tuple[str, float, str, float, float]]) -> "Figure":
    """Draw what an update copies within a block and across two, one panel per drive."""
    shown = []
    for label in dict.fromkeys(label for label, *_ in points):
        drawn = []
        for index, (place, words) in enumerate(
            (("within", "within a block"), ("across", "across two"))
        ):
            row = [(1024 * kib, kb) for drive, kib, where, kb, _ in points
                   if (drive, where) == (label, place)]  # fmt: skip
            sizes, values = zip(*row, strict=True)
            drawn.append(Line(words, sizes, values, index))
        shown.append(Panel(label, drawn, "update", "copied (KB)", sizes=True, legend="best"))
    return in_panels(shown, width=3.8)


def firmwares(
    times: Mapping[tuple[str, str, int], float], flash: Sequence[str], disk: Sequence[str]
) -> "Figure":
    """Draw response times by firmware: A's chips, and the hard disk."""
    tests = list(dict.fromkeys(key[1:] for key in times))
    labels = [f"{NAMES[rw]}\n{kib} KB" for rw, kib in tests]
    shown = [
        _beside(head, {name: [times[name, *test] for test in tests] for name in names}, labels,
                log=True)
        for head, names in (("A's chips, by firmware", flash), ("a hard disk, by firmware", disk))
    ]  # fmt: skip
    return in_panels(shown, width=5.6, height=4.2)


def straight(curves: Curves) -> "Figure":
    """Draw measured response time by read size, and the line that says k = 1."""
    shown = []
    for subject, curve in curves.items():
        sizes = _read_kib(subject)
        line = fit_line(sizes, curve / 1e3)
        drawn = [
            Line("line", sizes, [line.intercept + line.slope * size for size in sizes], 1, 0),
            Line("measured", sizes, list(curve / 1e3), 0, 3, 0),
        ]
        head = f"{subject.label}, {100 * line.max_relative_error:.1f} % from a line at most"
        shown.append(Panel(head, drawn, "read size (KB)", MEAN_US, legend="lower right"))
    return in_panels(shown, width=4.2, height=3.6)


def _read_kib(subject: Any) -> list[float]:
    return [pages * subject.page_bytes / 1024 for pages in subject.pages]


def fits(subject: Any, curve: npt.NDArray[np.float64], found: Mapping[str, Any]) -> "Figure":
    """Draw equation (2) fitted for every k upon what was measured, by its form."""
    sizes, shown = _read_kib(subject), []
    for form, every in found.items():
        drawn = [Line("measured", sizes, list(curve / 1e3), 7, 4, 0)]
        for index, fit in enumerate(sorted(every, key=lambda each: each.placement.unit_pages)):
            times = placement.predicted(fit, subject.pages, printed=form == "as printed") / 1e3
            drawn.append(Line(f"k = {fit.placement.unit_pages}", sizes, list(times), index, 0))
        head = f"{subject.label}: equation (2) {form}"
        shown.append(Panel(head, drawn, "read size (KB)", MEAN_US, legend="lower right"))
    return in_panels(shown, width=4.2, height=3.8)


def curves_12(curves: Curves) -> "Figure":
    """Draw the corrected equations, the two designs side by side."""
    titles = {"a": "(a) 1-channel placement", "b": "(b) multi-channel placement"}
    shown = []
    for design, title in titles.items():
        of_design = [line for line in curves if line.design == design]
        drawn = [
            Line(line.label, [4 * (n + 1) for n in range(curves[line].size)],
                 list(curves[line] / 1e3), index, 3)
            for index, line in enumerate(of_design)
        ]  # fmt: skip
        y = "response time (ms)"
        shown.append(Panel(title, drawn, "request size (KB)", y, legend="upper left"))
    return in_panels(shown, width=4.8, height=4.2)


def curves_14(curves: Mapping[str, Sequence[float]]) -> "Figure":
    """Draw response time against read size, one line per drive."""
    drawn = [
        Line(drive, [4 * (n + 1) for n in range(len(curve))], [each / 1e6 for each in curve],
             _index(drive), 3)
        for drive, curve in curves.items()
    ]  # fmt: skip
    # A line is one on linear axes, where a disk would leave no room for the others.
    flash = [line for line in drawn if line.label != "ryu-hdd"]
    x, y = "read size (KB)", "mean response time (ms)"
    shown = [Panel("", flash, x, y, legend="best"), Panel("", drawn, x, y, log=True, legend="best")]
    return in_panels(shown, width=4.8, height=4.0)
