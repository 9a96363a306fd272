"""Figures 9 to 11: how blocks are allocated and placed, by the paper's means and by our probes."""

import csv
from collections.abc import Mapping
from pathlib import Path

from ssdscope.probes.literal import placement
from ssdscope.probes.literal.placement import Fit, Placement
from ssdscope.results.files import creating
from ssdscope.studies.record import Claim, Verdict
from ssdscope.studies.ryu2009.detecting import A, B, C, Detecting, Subject

PAPER_ALLOCATION = {A: "address", B: "address", C: "order"}
PAPER_PLACEMENT: Mapping[Subject, tuple[str, int]] = {B: ("multi-channel", 1)}
"""The paper says it of B alone."""
UNITS = (1, 2, 4)
SPREAD = (
    "a block of 16 KB lies on all four channels, so that reads take as long in whatever order they "
    "were written: T1 equals T2 on such a drive, address-based or not"
)
AS_GOOD = 0.02
"""Fits whose relative residuals are this close cannot be told apart by eye."""
FITS_WITHIN = 0.05
FORMS = {
    "as printed": "pages divided by the bytes of a page leave reads within a unit without a time",
    "corrected": "",
    "with a link": "",
}
"""Of equation (2), and why none fits; the last one has a term for the link, too."""
LINE = (
    "a line is what every k gives on a link that bounds the reads (figure 11, with a link), so the "
    "procedure's k = 1 is no finding"
)
NO_LINE = 'the rule knows lines alone; of a curve with steps it says no more than "not k = 1"'


def allocation_row(detecting: Detecting, subject: Subject) -> Claim:
    """Order- or address-based: figure 9."""
    gap = detecting.gap(subject)
    what = f"allocation (T1 against T2: {round(100 * gap.share, 1) + 0.0:+} %)"
    paper = PAPER_ALLOCATION.get(subject)
    because = SPREAD if subject == A else ""
    return detecting.row(subject, "allocation", what, paper, gap.answer, because)


def placement_rows(detecting: Detecting, subject: Subject) -> list[Claim]:
    """One channel or several, and k: figure 10."""
    line = placement.straight(subject.pages, detecting.curve(subject))
    literal = ("multi-channel", 1) if line else (None, None)
    paper = PAPER_PLACEMENT.get(subject, (None, None))
    because = LINE if line else NO_LINE
    return [
        detecting.row(subject, "placement", "placement", paper[0], literal[0], because),
        detecting.row(subject, "placement_pages", "k", paper[1], literal[1], because),
    ]


def candidates(subject: Subject) -> list[Placement]:
    """Give the designs that are fitted to a drive's curve."""
    return [Placement("b", unit, subject.channels, subject.page_bytes) for unit in UNITS]


def fitted(detecting: Detecting, subject: Subject, form: str = "with a link") -> list[Fit]:
    """Fit equation (2) to the curve of a drive, for every k; the best one first."""
    return placement.fits(
        subject.pages,
        detecting.curve(subject),
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
    return [_fit_row(detecting, subject, form, paper) for form in FORMS]


def _fit_row(detecting: Detecting, subject: Subject, form: str, paper: int | None) -> Claim:
    fits = fitted(detecting, subject, form)
    best = fits[0]
    close = [each for each in fits if each.residual - best.residual <= AS_GOOD]
    told = ", ".join(
        f"k = {each.placement.unit_pages}: {100 * each.residual:.1f} %"
        for each in sorted(fits, key=lambda fit: fit.placement.unit_pages)
    )
    if best.residual > FITS_WITHIN:
        why = FORMS[form] or "none fits"
    elif len(close) > 1:
        why = "several are as close as an eye can tell: the curve does not say which k it is"
    else:
        why = "" if best.placement.unit_pages == paper else "another one fits best"
    return Claim(
        f"{subject.label}: equation (2) {form}, mean distance from the measured curve",
        "not said" if paper is None else f"k = {paper} fits",
        told,
        "",
        Verdict.EXPLAINED if why else Verdict.AGREES,
        why,
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
