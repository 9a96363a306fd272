"""Figure 12: response time of a read by where its management blocks lie, from the equations.

The equations of the paper's figure 11 mix units. In (1) `S_SMB` is in bytes where it is to be
compared with, and multiplied like, a number of pages; in (2) `S'` is already in pages and is
divided by the page once more. `corrected` is one formula for both designs: design (a), a block on
one channel, has units of a whole management block, design (b) units of k pages.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.probes.budget import StageProgress
from ssdscope.probes.literal import placement
from ssdscope.probes.literal.placement import Design, Placement
from ssdscope.stats import fit_line
from ssdscope.studies.measuring import in_columns, joined
from ssdscope.studies.record import Measured, Reading, Verdict
from ssdscope.studies.ryu2009 import pictures
from ssdscope.studies.ryu2009.bench import PAPER, Bench

CHANNELS = 4
PAGE_BYTES = 4096
PAGE_US = 100.0
SYNC_US: Mapping[Design, float] = {"a": 10.0, "b": 20.0}
"""Cost of taking over from each further channel; half as much for design (a)."""
NO_SYNC = dict.fromkeys(SYNC_US, 0.0)
SAME_SYNC = dict.fromkeys(SYNC_US, 20.0)
UNITS_PAGES = (1, 2, 4, 8)
PAGES = tuple(range(1, 65))
"""Reads of 4 to 256 KB."""
SMALL, LARGE = slice(0, 8), slice(32, 64)
"""Where small and large reads are compared: up to 32 KB, and whole rounds of all units."""
DRAWN_TO = 32
"""Pages up to which a curve is compared with a line, as in figure 14."""

Curve = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """A design and its unit: the management block of (a), k of (b), in pages."""

    design: Design
    unit_pages: int

    @property
    def label(self) -> str:
        """Its name in the legend."""
        if self.design == "a":
            return f"(a) block of {self.unit_pages * PAGE_BYTES // 1024} KB"
        return f"(b) k = {self.unit_pages}"


LINES = tuple(Line(design, unit) for design in SYNC_US for unit in UNITS_PAGES)
Equations = Callable[[Line], Curve]
Curves = Mapping[Line, Curve]


def corrected(
    line: Line, pages: Sequence[int] = PAGES, sync_us: Mapping[Design, float] = SYNC_US
) -> Curve:
    """Give the response time in microseconds, for reads of so many pages."""
    return np.asarray(_terms(line, pages) @ (PAGE_US, sync_us[line.design], 0.0))


def printed(line: Line, pages: Sequence[int] = PAGES) -> Curve:
    """Give what the equations say letter by letter, in microseconds."""
    return np.asarray(_terms(line, pages, printed=True) @ (PAGE_US, SYNC_US[line.design], 0.0))


def _terms(line: Line, pages: Sequence[int], *, printed: bool = False) -> Any:
    design = Placement(line.design, line.unit_pages, CHANNELS, PAGE_BYTES)
    return placement.terms(design, pages, printed=printed)


def figure_12(bench: Bench, _progress: StageProgress) -> Measured:
    """Ask the corrected curves, and those as printed, what the text says of the figure."""
    letters = corrected if bench.settings.get("mended_equations") else printed
    read = of_the_text(corrected) | {"as printed": as_printed(letters)}
    read |= {
        "faster at the same overhead": one_channel(partial(corrected, sync_us=SAME_SYNC)),
        "overhead is why": why(of(corrected), of(partial(corrected, sync_us=NO_SYNC))),
    }
    right, wrong = of(corrected), of(printed)
    rows = [
        (n * PAGE_BYTES // 1024, line.design, line.unit_pages, float(one), float(other))
        for line in LINES
        for n, one, other in zip(PAGES, right[line], wrong[line], strict=True)
    ]
    columns = in_columns("read_kib design unit_pages corrected_us printed_us", rows)
    return Measured(read, partial(pictures.curves_12, right), columns)


def of(equations: Equations) -> dict[Line, Curve]:
    """Return the curves of some equations."""
    return {line: equations(line) for line in LINES}


def of_the_text(equations: Equations) -> dict[str, Reading]:
    """Ask the curves of some equations what the text says of the figure."""
    curves = of(equations)
    return {
        "stairs": stairs(curves),
        "close to a line": close_to_a_line(curves),
        "one channel": one_channel(equations),
        **{f"small units: ({design})": sizes(curves, design) for design in SYNC_US},
    }


def as_printed(letters: Equations) -> Reading:
    """Count the statements that hold of equations, of those that hold of the corrected ones."""
    rows = {
        name: [claim.name for claim in PAPER.claims(of_the_text(each)) if
               claim.verdict == Verdict.AGREES]
        for name, each in (("right", corrected), ("asked", letters))
    }  # fmt: skip
    kept = sum(name in rows["asked"] for name in rows["right"])
    said = f"{kept} of the {len(rows['right'])} that hold for the corrected ones"
    return Reading(said, kept == len(rows["right"]) > 0)


def stairs(curves: Curves) -> Reading:
    """Compare how far curves are from a line, with a page a unit and with more."""
    bends = {line: _bend(curve) for line, curve in curves.items()}
    ones = [bend for line, bend in bends.items() if line.unit_pages == 1]
    more = [bend for line, bend in bends.items() if line.unit_pages > 1]
    said = (
        f"largest distance from the fitted line {max(ones):.0f} us with one page, "
        f"{min(more):.0f} to {max(more):.0f} us with more"
    )
    return Reading(said, max(ones) < min(more))


def _bend(curve: Curve) -> float:
    line = np.polynomial.Polynomial.fit(PAGES, curve, 1)
    return float(np.max(np.abs(curve - line(np.asarray(PAGES)))))


def close_to_a_line(curves: Curves) -> Reading:
    """Say how far the curves of one page are from a line, by figure 14's own rule, in percent."""
    off = [
        100 * fit_line(PAGES[:DRAWN_TO], curves[Line(design, 1)][:DRAWN_TO]).max_relative_error
        for design in SYNC_US
    ]
    return Reading(f"at most {off[0]:.0f} % off with blocks of a page, {off[1]:.0f} % with k = 1",
                   off)  # fmt: skip


def one_channel(equations: Equations) -> Reading:
    """Compare the designs with the same unit: (a) is faster beyond one unit, at no size slower."""
    curves, faster = of(equations), 0
    for unit in UNITS_PAGES:
        a, b = (curves[Line(design, unit)] for design in SYNC_US)
        faster += bool(np.all(a <= b) and np.all(a[unit:] < b[unit:]))
    return Reading(f"faster beyond one unit, and never slower, for {faster} of {len(UNITS_PAGES)} "
                   "units", faster == len(UNITS_PAGES))  # fmt: skip


def sizes(curves: Curves, design: Design) -> Reading:
    """Ask whether smaller units are faster at small reads, and fall back as reads grow."""
    small, large = (
        [float(np.mean(curves[Line(design, unit)][part])) for unit in UNITS_PAGES]
        for part in (SMALL, LARGE)
    )
    said = (
        f"mean us with units of 1, 2, 4 and 8 pages, 4 to 32 KB: {joined(small, '.0f')}; 132 to "
        f"256 KB: {joined(large, '.0f')}"
    )
    grown = np.array(large) / np.array(small)
    back = np.all(np.diff(grown) < 0) and large[0] > min(large)
    return Reading(said, bool(np.all(np.diff(small) > 0) and back))


def why(with_it: Curves, without: Curves) -> Reading:
    """Compare units at 256 KB, with the overhead and without: with it large ones are faster."""
    found = [
        [100 * (1 - curves[Line(design, 8)][-1] / curves[Line(design, 1)][-1])
         for design in SYNC_US]
        for curves in (with_it, without)
    ]  # fmt: skip
    said = "; ".join(
        f"{name} {each[0]:.1f} and {each[1]:.1f} %"
        for name, each in zip(("with it", "without"), found, strict=True)
    )
    return Reading(f"8 pages are faster than 1 by, (a) and (b): {said}",
                   min(found[0]) > 5 > max(map(abs, found[1])))  # fmt: skip
