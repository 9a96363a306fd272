"""How a figure is handed in: its claims, its picture, its numbers."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdscope.plots import save
from ssdscope.results.files import creating
from ssdscope.studies import judging
from ssdscope.studies.record import Claim, FigureResult, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Columns = Mapping[str, Sequence[Any]]
"""The numbers of a figure, by the names of their columns."""

TITLES = {
    "5": "Full, partial and switch merges: what each costs",
    "6": "Chips on channels of their own",
    "7": "Chips that share a channel take turns on it (interleaving)",
    "8": "Sectors spread over the channels (striping)",
    "9": "A random write of 4 KB takes as long as a sequential one of 2 MB",
    "12": "The effective block: physical blocks that are erased together",
    "13": "Erasing an effective block takes one physical block's time",
    "14": "Sequential writes: size and place against the effective block",
    "15": "Random writes in one effective block, and over the drive",
    "16": "The effective page: physical pages that are programmed together",
    "17": "A write below the effective page is read, modified and written",
    "18": "Eight sectors that begin inside an effective page",
    "19": "Sequential writes that end inside an effective page",
    "21": "The write buffer puts writes into order",
    "22": "Response time against the amount written at once",
    "23": "Zones: what a drive loads after it is switched on",
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
    "access": "Raw access (section 4.1): which switches a target has",
    "25": "The layout example at first",
    "26": "Step 1: requests begin where pages begin",
    "27": "Step 2: requests are whole pages",
    "28": "Step 3: files begin where blocks begin, hot data share one",
}
"""What each figure shows, in the order in which they are made."""


@dataclass(frozen=True)
class Binder:
    """Where figures go, and under which names.

    Attributes
    ----------
    of_target
        Whether they are of somebody's own drive: they never replace the paper's.
    """

    folder: Path
    of_target: bool = False

    def path(self, name: str, suffix: str) -> Path:
        """Name a file of a figure."""
        stem = f"figure{name}" if name.isdigit() else name
        return self.folder / f"kuo2009-{stem}{'-target' if self.of_target else ''}.{suffix}"


def stated(what: str, paper: str, ours: str, holds: bool) -> Claim:
    """Compare a statement."""
    return judging.claim(what, paper, ours, "", holds=holds)


def number(
    what: str, paper: float, ours: float, unit: str, *, within: float = judging.QUOTED_WITHIN
) -> Claim:
    """Compare a number that the paper quotes.

    Parameters
    ----------
    ours
        NaN if it was not found.
    within
        What ours may be off by, as a share of the paper's.
    """
    if math.isnan(ours):
        return judging.claim(what, paper, "none found", unit, holds=False)
    ours = round(ours, 3)
    holds = judging.quoted(paper, ours, within)
    return judging.claim(what, paper, ours, unit, holds=holds)


def exact(what: str, paper: float, ours: float, unit: str) -> Claim:
    """Compare a count, which has to be the same."""
    return number(what, paper, ours, unit, within=0.0)


def because(row: Claim, why: str, tried: str, *, shown: bool) -> Claim:
    """Explain a row by a cause that was tried, if the run showed it; else leave it as it is."""
    return judging.explained(row, why, tried) if shown else row


def hand_in(
    name: str,
    rows: list[Claim],
    picture: "Figure | None",
    columns: Columns,
    binder: Binder,
    notes: Sequence[str] = (),
    *,
    seen: Sequence[str] = (),
    table: Table | None = None,
) -> FigureResult:
    """Write the picture (SVG and PNG) and the numbers (CSV) of a figure.

    Parameters
    ----------
    picture
        None for a table alone.
    notes
        What is to be known of the paper's drives.
    seen
        What was seen in this run, whichever drive it was of.
    """
    image = None
    if picture is not None:
        image = binder.path(name, "svg")
        save(picture, image)
        save(picture, image.with_suffix(".png"))
    data = binder.path(name, "csv")
    with creating(data) as file:
        rows_of_file = csv.writer(file)
        rows_of_file.writerow(columns)
        rows_of_file.writerows(zip(*columns.values(), strict=True))
    said = [*([] if binder.of_target else notes), *seen]
    return FigureResult(name, TITLES[name], rows, image, data, said, table)
