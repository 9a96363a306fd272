"""Figures 9 to 11: how blocks are allocated and placed, by the paper's means and by our probes."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ssdscope.probes.literal import placement
from ssdscope.probes.literal.placement import Fit, Placement
from ssdscope.results.files import creating
from ssdscope.stats import fit_line
from ssdscope.studies.judging import claim, explained
from ssdscope.studies.record import Claim, Table
from ssdscope.studies.ryu2009.detecting import A, B, C, Cause, Detecting, Subject

PAPER_ALLOCATION = {A: "address", B: "address", C: "order"}
"""Of C the paper says that 4 KB writes are placed in the same way as by order-based allocation."""
PAPER_PLACEMENT: Mapping[Subject, tuple[str, int]] = {B: ("multi-channel", 1)}
"""The paper says it of B alone."""
AS_C = ' of 4 KB writes, "in the same way as" the order-based one, which C "cannot be said to use"'
"""In the paper's words: C's block is a page, so that nothing is allocated within it."""
UNITS = (1, 2, 4)
SPREAD = (
    "a block of 16 KB lies on all four channels, so that reads take as long in whatever order they "
    "were written"
)
FITS_WITHIN = 0.05
FORMS = ("as printed", "corrected", "with a link")
"""Of equation (2); the last one has a term for the link, too."""
MIXED = "pages divided by the bytes of a page leave reads within a unit without a time"
LINE = (
    "the link hides how pages are spread from a probe; the paper's rule answers all the same, but "
    "a larger k gives a line, too"
)
ANOTHER_K = 2


def allocation_row(detecting: Detecting, subject: Subject) -> Claim:
    """Order- or address-based: figure 9."""
    gap = detecting.gap(subject)
    words = AS_C if subject == C else ""
    what = f"allocation{words} (T1 against T2: {round(100 * gap.share, 1) + 0.0:+} %)"
    paper = PAPER_ALLOCATION.get(subject)
    cause = _spread(detecting) if subject == A else None
    return detecting.row(subject, "allocation", what, paper, gap.answer, cause)


def _spread(detecting: Detecting) -> Cause | None:
    """Try A with order-based allocation, on which the procedure has to fail as well."""
    gap = detecting.gap(detecting.changed(A, 'ftl.allocation="order"'))
    if gap.answer == "order":
        return None
    share = round(100 * gap.share, 1) + 0.0
    return Cause(SPREAD, f"with order-based allocation in its file T1 is {share:+} % from T2, too")


def placement_rows(detecting: Detecting, subject: Subject) -> list[Claim]:
    """One channel or several, and k: figure 10."""
    line = placement.straight(subject.pages, detecting.curve(subject))
    literal = ("multi-channel", 1) if line else (None, None)
    paper = PAPER_PLACEMENT.get(subject, (None, None))
    cause = _another_k(detecting) if subject == B else None
    return [
        detecting.row(subject, "placement", "placement", paper[0], literal[0], cause),
        detecting.row(subject, "placement_pages", "k", paper[1], literal[1], cause),
    ]


def _another_k(detecting: Detecting) -> Cause | None:
    """Try B with another k, whose curve should not be a line if lines said k = 1."""
    curve = detecting.curve(B, f"ftl.placement_pages={ANOTHER_K}")
    if not placement.straight(B.pages, curve):
        return None
    furthest = fit_line(B.pages, curve).max_relative_error
    return Cause(
        LINE,
        f"with k = {ANOTHER_K} in its file no point is further than {100 * furthest:.1f} % from a "
        "line, so that the rule says k = 1 again",
    )


def unclaimed(detecting: Detecting) -> Table:
    """Give placement and k of the drives of which the paper says neither."""
    rows = [
        (row.what, str(row.literal), str(row.ours), str(row.truth))
        for subject in detecting.subjects
        if subject not in PAPER_PLACEMENT
        for row in placement_rows(detecting, subject)
    ]
    return Table(("not said by the paper", "its procedure", "our probe", "truth"), tuple(rows))


def candidates(subject: Subject) -> list[Placement]:
    """Give the designs that are fitted to a drive's curve."""
    return [Placement("b", unit, subject.channels, subject.page_bytes) for unit in UNITS]


def fitted(
    detecting: Detecting, subject: Subject, form: str = "with a link", *sets: str
) -> list[Fit]:
    """Fit equation (2) to the curve of a drive, for every k; the best one first."""
    return fits_of(subject, detecting.curve(subject, *sets), form)


def fits_of(subject: Subject, curve: npt.NDArray[np.float64], form: str) -> list[Fit]:
    """Fit a form of equation (2) to a curve."""
    return placement.fits(
        subject.pages,
        curve,
        candidates(subject),
        printed=form == "as printed",
        link=form == "with a link",
    )


def fit_rows(detecting: Detecting, subject: Subject) -> list[Claim]:
    """Ask which k explains a curve, by every form of equation (2): figure 11.

    Asked of drives of which the paper says a k, and of a target.
    """
    paper = PAPER_PLACEMENT.get(subject, (None, None))[1]
    if paper is None and detecting.target is None:
        return []
    return [fit_row(subject, detecting.curve(subject), form, paper) for form in FORMS]


def fit_row(
    subject: Subject, curve: npt.NDArray[np.float64], form: str, paper: int | None
) -> Claim:
    """Ask whether the paper's k fits a curve, and better than any other."""
    fits = fits_of(subject, curve, form)
    row = claim(
        f"{subject.label}: equation (2) {form}, mean distance from the measured curve",
        "not said" if paper is None else f"k = {paper} fits best",
        _distances(fits),
        "",
        holds=_is_k(fits[0], paper),
    )
    mended = fits_of(subject, curve, "corrected")
    if form != "as printed" or not _is_k(mended[0], paper):
        return row
    return explained(row, MIXED, f"not divided again: {_distances(mended)}")


def _is_k(best: Fit, paper: int | None) -> bool:
    return best.placement.unit_pages == paper and best.residual <= FITS_WITHIN


def _distances(fits: Sequence[Fit]) -> str:
    return ", ".join(
        f"k = {each.placement.unit_pages}: {100 * each.residual:.1f} %"
        for each in sorted(fits, key=lambda fit: fit.placement.unit_pages)
    )


def write_table(detecting: Detecting, path: Path) -> Path:
    """Write every curve, with its best fit, as CSV."""
    with creating(path) as file:
        table = csv.writer(file)
        table.writerow(["drive", "read_bytes", "mean_ns", "best_fit_ns", "k"])
        for subject in detecting.subjects:
            best = fitted(detecting, subject)[0]
            means = detecting.curve(subject)
            line = placement.predicted(best, subject.pages)
            for pages, mean, fit in zip(subject.pages, means, line, strict=True):
                size = pages * subject.page_bytes
                table.writerow(
                    [subject.label, size, float(mean), float(fit), best.placement.unit_pages]
                )
    return path
