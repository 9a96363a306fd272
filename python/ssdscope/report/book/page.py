"""What was made, put on one self-contained page: nothing is loaded, every text is escaped."""

import base64
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdscope.plots import embedded
from ssdscope.report import templating
from ssdscope.report.parts import Table
from ssdscope.results.marks import is_ours
from ssdscope.studies.record import Verdict, shown

MARKS = {"agrees": "✓", "explained": "○", "easier": "▽", "differs": "✗"}
_ACTIVE = re.compile(
    r"<script|<foreignObject|<iframe|\son\w+\s*=|(?:href|src)\s*=\s*[\"'](?!#|data:image/png)"
    r"|url\((?!#)|@import",
    re.IGNORECASE,
)
"""What no picture of ours has: one that has it was changed by somebody."""
_VIEW = re.compile(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) [\d.]+"')
_PX_PER_POINT = 4 / 3
_WIDE_PX = 640


@dataclass(frozen=True)
class Picture:
    """A picture as it stands on the page.

    Attributes
    ----------
    html
        Made by us: an SVG element, or an image with its data.
    width_px
        How wide it was drawn.
    """

    html: str
    width_px: int

    @property
    def wide(self) -> bool:
        """Whether it is too wide for a phone, where it is scrolled."""
        return self.width_px > _WIDE_PX


def render(document: Mapping[str, Any], folder: Path) -> str:
    """Make the page of a book.

    Parameters
    ----------
    document
        As `making` composes it.
    folder
        Where the pictures are.

    Returns
    -------
    str
        HTML.
    """
    papers = [_paper(study, folder) for study in document["studies"]]
    return templating.fill(
        "book.html.j2",
        document=document,
        papers=papers,
        counts=counted([row for each in document["studies"] for row in _rows(each)]),
        made=sum(each["made"] for each in papers),
        figures=sum(each["count"] for each in papers),
        took=in_words(sum(each["seconds"] for each in papers)),
        cut=[figure for each in papers for figure in each["figures"] if figure["cut"]],
        without=[f for p in papers for f in p["figures"] if f["status"] != "made"],
        costs=Table(("figure", "took", *map(str, Verdict)), _costs(papers)),
        provenance=_provenance(document),
        marks=MARKS,
    )


def counted(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Count the verdicts of rows, in the order in which they are told."""
    found = Counter(row["verdict"] for row in rows)
    return {str(verdict): found[str(verdict)] for verdict in Verdict}


def in_words(seconds: float) -> str:
    """Write how long something took."""
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"


def _rows(study: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [row for figure in study["figures"] for row in figure["rows"]]


def _paper(study: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    figures = [_figure(study["study"], each, folder) for each in study["figures"]]
    return {
        "key": study["study"],
        "title": study["title"],
        "counts": counted(_rows(study)),
        "made": sum(each["status"] == "made" for each in figures),
        "count": len(figures),
        "seconds": sum(each["seconds"] or 0.0 for each in study["figures"]),
        "took": in_words(sum(each["seconds"] or 0.0 for each in study["figures"])),
        "figures": figures,
    }


def _figure(study: str, figure: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    name, title = str(figure["id"]), str(figure["title"])
    numbered = name.isdecimal() and not title.startswith("Figure")
    anchor = f"{study}-{re.sub(r'[^A-Za-z0-9]+', '-', name)}"
    heading = f"Figure {name}: {title}" if numbered else title
    picture = None
    if figure["image"] is not None:
        picture = _picture(folder / Path(figure["image"]).name, anchor, heading)
    table = figure.get("table")
    return {
        **figure,
        "anchor": anchor,
        "short": name,
        "study": study,
        "heading": heading,
        "picture": picture,
        "lost": figure["image"] is not None and picture is None,
        "counts": counted(figure["rows"]),
        "claims": [_claim(row) for row in figure["rows"]],
        "table": None if table is None else Table(tuple(table["columns"]), _cells(table["rows"])),
        "took": None if figure["seconds"] is None else in_words(figure["seconds"]),
    }


def _cells(rows: Sequence[Sequence[Any]]) -> list[tuple[str, ...]]:
    return [tuple(str(cell) for cell in row) for row in rows]


def _claim(row: Mapping[str, Any]) -> dict[str, Any]:
    """Give a row as texts; numbers are separate from their unit."""
    also = [
        (name, shown(row[key], row["unit"]))
        for key, name in (("literal", "its procedure"), ("truth", "truth"))
        if key in row
    ]
    return {
        "what": row["what"],
        "paper": shown(row["paper"], None),
        "ours": shown(row["ours"], None),
        "unit": row["unit"],
        "also": also,
        "verdict": row["verdict"],
        "why": row.get("why"),
        "tried": row.get("tried"),
        "robust": row.get("robust"),
    }


def _picture(path: Path, name: str, description: str) -> Picture | None:
    """Inline a picture; None if it is not as we wrote it."""
    if not path.is_file() or not is_ours(path):
        return None
    if path.suffix != ".svg":
        data = base64.b64encode(path.read_bytes()).decode()
        return Picture(templating.image(f"data:image/png;base64,{data}", description), _WIDE_PX)
    text = path.read_text(encoding="utf-8")
    bare = embedded(text, name, "") if "<svg" in text else ""
    view = _VIEW.search(bare)
    if view is None or _ACTIVE.search(bare):
        return None
    return Picture(embedded(text, name, description), round(float(view[1]) * _PX_PER_POINT))


def _costs(papers: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for paper in papers:
        for each in paper["figures"]:
            counts = [str(count or "") for count in each["counts"].values()]
            took = each["took"] or each["status"]
            rows.append((f"{paper['key']} {each['short']}", took, *counts))
        total = [str(count) for count in paper["counts"].values()]
        rows.append((f"{paper['key']}, all", paper["took"], *total))
    return rows


def _provenance(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    tool = document["tool"]
    return [
        ("Tool", f"{tool['name']} {tool['version']}"),
        ("Command that makes it again", str(document["command"])),
        ("Seed", str(document["seed"])),
        ("Date", str(document["started"])),
        ("Last run of the command took", in_words(document["seconds"])),
        ("Machine", str(document["machine"])),
    ]
