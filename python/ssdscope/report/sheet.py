"""A result as a piece of HTML for a notebook: a title, lines, tables, remarks. All text is escaped.

Its look is the notebook's: nothing is set but sides and the width of text, so that it fits a light
page and a dark one, and pages that strip styles (as GitHub does).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from ssdscope.report import templating, words
from ssdscope.report.parts import Table
from ssdscope.shown import shown_name

MOST_ROWS = 40
"""Of a table; a reader looks at no more, and a file of a notebook keeps every output."""
NOTHINGS = ("", "-", words.NOTHING)
"""Cells that keep to the side of numbers."""
NUMBER_MAX = 30
"""Letters of a number with its unit; what is longer is a sentence that begins with one."""
_NUMBER = re.compile(r"[-+±]?[\d.,]*\d")


class Code(str):
    """A text that is typed as it stands."""

    __slots__ = ()


@dataclass(frozen=True)
class Sheet:
    """What a notebook shows of a result.

    Attributes
    ----------
    lines
        Names and texts.
    tables
        Cells of `Code` look like it.
    remarks
        What a reader must know besides.
    link
        A file that has more.
    """

    title: str
    lines: Sequence[tuple[str, str]] = ()
    tables: Sequence[Table] = ()
    remarks: Sequence[str] = ()
    link: str = ""


def html(sheet: Sheet) -> str:
    """Write a sheet as HTML."""
    return templating.fill(
        "sheet.html.j2",
        title=_plain(sheet.title),
        lines=[[_plain(name), _plain(text)] for name, text in sheet.lines],
        tables=[_laid_out(each) for each in sheet.tables if each.rows],
        remarks=[_plain(each) for each in sheet.remarks],
        link=(_address(sheet.link), _plain(sheet.link)) if sheet.link else None,
    )


def _laid_out(table: Table) -> dict[str, object]:
    """Give cells with whether each is a number, and whether it is code, as far as one looks."""
    shown = table.rows[:MOST_ROWS]
    numeric = [_numeric(column) for column in zip(*shown, strict=True)]
    rows = [
        [
            (_plain(cell), number, isinstance(cell, Code))
            for cell, number in zip(row, numeric, strict=True)
        ]
        for row in shown
    ]
    head = [(_plain(name), number) for name, number in zip(table.head, numeric, strict=True)]
    return {"head": head, "rows": rows, "more": len(table.rows) - len(shown)}


def _numeric(column: Sequence[str]) -> bool:
    """Say whether a column has numbers, which are read by their last digits."""
    return all(
        cell in NOTHINGS or (len(cell) <= NUMBER_MAX and _NUMBER.match(cell)) for cell in column
    )


def _plain(text: str) -> str:
    return "\n".join(map(shown_name, str(text).split("\n")))


def _address(path: str) -> str:
    """Write a path as the address of a file: never of anything else, as ``javascript:`` is."""
    return quote(path.encode(errors="surrogateescape"))
