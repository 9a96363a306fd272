"""How a figure is handed in: its claims, its picture, its numbers."""

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdscope.plots import save
from ssdscope.results.files import creating
from ssdscope.studies.record import Claim, FigureResult, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Columns = Mapping[str, Sequence[Any]]
"""The numbers of a figure, by the names of their columns."""

TITLES = {
    "9": "A random write of 4 KB takes as long as a sequential one of 2 MB",
    "14": "Sequential writes: size and place against the effective block",
    "15": "Random writes in one effective block, and over the drive",
    "17": "A write below the effective page is read, modified and written",
    "18": "Eight sectors that begin inside an effective page",
    "19": "Sequential writes that end inside an effective page",
    "21": "The write buffer puts writes into order",
    "22": "Response time against the amount written at once",
    "24": "Random reads within a zone, and over several",
    "29": "Effective block detector: what its two cases cost",
    "30": "Effective block detector (table 3): throughput by size of writes",
    "31": "Writes of one effective block by their place; how often one place is collected",
    "32": "Random writes by the range they fall into",
    "33": "How often writes collect, by their distance",
    "34": "Effective page detector: what its two cases cost",
    "35": "Effective page detector (table 4): a shift of 1 KB by size",
    "36": "Response time by request size (the controller labelled SMI)",
    "37": "Write buffer detector (table 5): response time by what is written at once",
    "38": "Read cache detector: response time by what is read again and again",
    "39": "Zone detector: what its two cases cost",
    "40": "Zone detector (table 6): the Transcend",
    "41": "Zone detector (table 6): the Samsung and the Mtron",
    "25": "The layout example at first",
    "26": "Step 1: requests begin where pages begin",
    "27": "Step 2: requests are whole pages",
    "28": "Step 3: files begin where blocks begin, hot data share one",
}
"""What each figure shows, in the order in which they are made."""

NO_REASON = "our runs show otherwise, and we have found no reason for it"


def stated(what: str, paper: str, ours: str, holds: bool, why: str = "") -> Claim:
    """Compare a statement: `why` explains it where it does not hold."""
    if holds:
        return Claim(what, paper, ours, "", Verdict.AGREES)
    verdict = Verdict.EXPLAINED if why else Verdict.DIFFERS
    return Claim(what, paper, ours, "", verdict, why or NO_REASON)


def number(
    what: str, paper: float, ours: float, unit: str, *, within: float = 0.0, why: str = ""
) -> Claim:
    """Compare a number, which agrees if it is off by no more than a share `within`.

    One that was not found is NaN.
    """
    if math.isnan(ours):
        return Claim(what, paper, "none found", unit, Verdict.DIFFERS, NO_REASON)
    ours = round(ours, 3)
    if abs(ours - paper) <= within * abs(paper):
        return Claim(what, paper, ours, unit, Verdict.AGREES)
    verdict = Verdict.EXPLAINED if why else Verdict.DIFFERS
    return Claim(what, paper, ours, unit, verdict, why or NO_REASON)


def hand_in(
    name: str,
    rows: list[Claim],
    picture: "Figure",
    columns: Columns,
    folder: Path,
    notes: Sequence[str] = (),
) -> FigureResult:
    """Write the picture (SVG and PNG) and the numbers (CSV) of a figure."""
    image = folder / f"kuo2009-figure{name}.svg"
    save(picture, image)
    save(picture, image.with_suffix(".png"))
    data = image.with_suffix(".csv")
    with creating(data) as file:
        table = csv.writer(file)
        table.writerow(columns)
        table.writerows(zip(*columns.values(), strict=True))
    return FigureResult(name, TITLES[name], rows, image, data, list(notes))
