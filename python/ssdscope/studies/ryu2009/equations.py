"""Figure 12: response time of a read by where its management blocks lie, from the equations.

The equations of the paper's figure 11 mix units. In (1) `S_SMB` is in bytes where it is to be
compared with, and multiplied like, a number of pages; in (2) `S'` is already in pages and is
divided by the page once more. `corrected` is one formula for both designs: design (a), a block on
one channel, has units of a whole management block, design (b) units of k pages.
"""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ssdscope.results.files import creating
from ssdscope.studies.judging import claim, explained
from ssdscope.studies.record import Claim, Verdict

CHANNELS = 4
PAGE_BYTES = 4096
PAGE_US = 100.0
SYNC_US = {"a": 10.0, "b": 20.0}
"""Cost of taking over from each further channel; half as much for design (a)."""
UNITS_PAGES = (1, 2, 4, 8)
PAGES = tuple(range(1, 65))
"""Reads of 4 to 256 KB."""

MIXED = (
    "(1) multiplies the bytes of a block by the time of a page, and (2) divides pages by the bytes "
    "of a page"
)

Curve = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """A design and its unit: the management block of (a), k of (b), in pages."""

    design: str
    unit_pages: int

    @property
    def label(self) -> str:
        """Its name in the legend."""
        if self.design == "a":
            return f"(a) block of {self.unit_pages * PAGE_BYTES // 1024} KB"
        return f"(b) k = {self.unit_pages}"


LINES = tuple(Line(design, unit) for design in SYNC_US for unit in UNITS_PAGES)


def corrected(line: Line, pages: Sequence[int] = PAGES) -> Curve:
    """Give the response time in microseconds, for reads of so many pages."""
    unit, sync = line.unit_pages, SYNC_US[line.design]
    count = np.asarray(pages)
    rounds, rest = np.divmod(count, CHANNELS * unit)
    whole = rounds * (unit * PAGE_US + (CHANNELS - 1) * sync)
    beyond = unit * PAGE_US + (np.ceil(rest / unit) - 1) * sync
    return np.asarray(whole + np.where(rest <= unit, rest * PAGE_US, beyond), dtype=float)


def printed(line: Line, pages: Sequence[int] = PAGES) -> Curve:
    """Give what the equations say letter by letter, in microseconds."""
    read_bytes = np.asarray(pages) * PAGE_BYTES
    unit_bytes, sync = line.unit_pages * PAGE_BYTES, SYNC_US[line.design]
    rounds = read_bytes // (CHANNELS * unit_bytes)
    rest_pages = (read_bytes - rounds * CHANNELS * unit_bytes) / PAGE_BYTES
    if line.design == "a":
        # Bytes times a page's time, and pages compared with bytes.
        whole = rounds * (unit_bytes * PAGE_US + (CHANNELS - 1) * sync)
        beyond = line.unit_pages * PAGE_US + np.floor(rest_pages / unit_bytes - 1) * sync
        return np.asarray(whole + np.where(rest_pages <= unit_bytes, rest_pages * PAGE_US, beyond))
    # Pages divided by the bytes of a page, and compared with bytes.
    whole = rounds * (line.unit_pages * PAGE_US + (CHANNELS - 1) * sync)
    beyond = line.unit_pages * PAGE_US + np.floor(rest_pages / unit_bytes - 1) * sync
    small = rest_pages / PAGE_BYTES * PAGE_US
    return np.asarray(whole + np.where(rest_pages <= unit_bytes, small, beyond))


Equations = Callable[[Line], Curve]


def compare() -> list[Claim]:
    """Ask the corrected curves, and those as printed, what the text says of the figure."""
    return [*of_the_text(corrected), as_printed()]


def of_the_text(equations: Equations) -> list[Claim]:
    """Give what the text says of the figure, asked of the curves of some equations."""
    curves = {line: equations(line) for line in LINES}
    return [_stairs(curves), _one_channel(curves), *(_sizes(curves, each) for each in SYNC_US)]


def as_printed(letters: Equations = printed, mended: Equations = corrected) -> Claim:
    """Ask whether the equations as printed give the curves that the text describes.

    Parameters
    ----------
    letters, mended
        The equations letter by letter, and with bytes and pages put right, which is what is tried.
    """
    kept, total = _kept(letters)
    row = claim(
        "statements of the text that hold for the equations as printed",
        total,
        kept,
        "",
        holds=kept == total,
    )
    again, _ = _kept(mended)
    line, pages = Line("a", 2), (16,)
    wrong, right = printed(line, pages)[0] / 1e6, corrected(line, pages)[0]
    tried = (
        f"with blocks counted in pages, and pages not divided again, {again} of {total} hold; a "
        f"read of 64 KB from blocks of 8 KB takes {right:.0f} us instead of {wrong:.3g} s"
    )
    return explained(row, MIXED, tried) if again == total else row


def _kept(equations: Equations) -> tuple[int, int]:
    rows = of_the_text(equations)
    return sum(row.verdict == Verdict.AGREES for row in rows), len(rows)


def _stairs(curves: dict[Line, Curve]) -> Claim:
    bends = {line: _bend(curve) for line, curve in curves.items()}
    ones = [bend for line, bend in bends.items() if line.unit_pages == 1]
    more = [bend for line, bend in bends.items() if line.unit_pages > 1]
    return claim(
        "stairs where a unit has more than a page, close to a line where it has one",
        "yes",
        f"largest distance from the fitted line {max(ones):.0f} us with one page, "
        f"{min(more):.0f} to {max(more):.0f} us with more",
        "",
        holds=max(ones) < min(more),
    )


def _bend(curve: Curve) -> float:
    line = np.polynomial.Polynomial.fit(PAGES, curve, 1)
    return float(np.max(np.abs(curve - line(np.asarray(PAGES)))))


def _one_channel(curves: dict[Line, Curve]) -> Claim:
    better = [
        bool(np.all(curves[Line("a", unit)] <= curves[Line("b", unit)])) for unit in UNITS_PAGES
    ]
    return claim(
        "reading as much per channel, (a) is never slower than (b)",
        "yes",
        f"holds for {sum(better)} of {len(better)} units",
        "",
        holds=all(better),
    )


def _sizes(curves: dict[Line, Curve], design: str) -> Claim:
    """Compare the smallest with the largest unit of a design, at 32 and at 256 KB."""
    lines = Line(design, UNITS_PAGES[0]), Line(design, UNITS_PAGES[-1])
    small, large = (curves[line] for line in lines)
    at = {kib: kib * 1024 // PAGE_BYTES - 1 for kib in (32, 256)}
    told = "; ".join(
        f"{kib} KB: {small[index]:.0f} us with the smallest, {large[index]:.0f} us with the largest"
        for kib, index in at.items()
    )
    return claim(
        f"({design}): small units win at small reads and lose at large ones",
        "yes",
        told,
        "",
        holds=bool(small[at[32]] < large[at[32]] and small[at[256]] > large[at[256]]),
    )


def write_table(path: Path) -> Path:
    """Write every curve as CSV, corrected and as printed."""
    with creating(path) as file:
        table = csv.writer(file)
        table.writerow(["read_kib", "design", "unit_pages", "corrected_us", "printed_us"])
        for line in LINES:
            for pages, right, wrong in zip(PAGES, corrected(line), printed(line), strict=True):
                kib = pages * PAGE_BYTES // 1024
                table.writerow([kib, line.design, line.unit_pages, float(right), float(wrong)])
    return path
