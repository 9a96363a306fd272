"""Tables in text, laid out for the terminal that they are shown on."""

import textwrap
from collections.abc import Sequence

from ssdscope.cli import terminal
from ssdscope.shown import shown_name

_GAP = "  "
_LEAST_TEXT = 24
"""With fewer columns than this for its last text a table is laid out by rows."""


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Lay out a table: the first `left` columns aligned left, the rest right, as iostat's.

    Where the terminal is narrower, its last column is wrapped if that is text, or else every row
    becomes a paragraph with a line for each column.
    """
    lines = [list(map(shown_name, line)) for line in (header, *rows)]
    header, *rows = lines
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    room = terminal.width()
    before_last = sum(widths[:-1]) + len(_GAP) * (len(widths) - 1)
    if room is None or before_last + widths[-1] <= room:
        return "\n".join(_line(line, widths, left) for line in lines)
    if left == len(header) and room - before_last >= _LEAST_TEXT:
        wrapped = (part for line in lines for part in _last_wrapped(line, room - before_last))
        return "\n".join(_line(line, widths, left) for line in wrapped)
    return "\n".join(line for row in rows for line in _by_rows(header, row, room))


def _last_wrapped(line: list[str], room: int) -> list[list[str]]:
    """Split a row into several, by the lines that its last text takes."""
    first, *more = textwrap.wrap(line[-1], room) or [""]
    return [[*line[:-1], first], *([""] * (len(line) - 1) + [part] for part in more)]


def _line(cells: Sequence[str], widths: Sequence[int], left: int) -> str:
    return _GAP.join(
        cell.ljust(width) if column < left else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ).rstrip()


def _by_rows(header: Sequence[str], row: Sequence[str], room: int) -> list[str]:
    """Write a row below its first cell; of two cells the second says what the first is."""
    if len(row) == 2:
        return _hanging(f"{row[0]}:", row[1], room, "")
    lines = textwrap.wrap(row[0], room)
    label = max(map(len, header[1:]))
    for name, cell in zip(header[1:], row[1:], strict=True):
        lines += _hanging(name.ljust(label), cell, room, _GAP) if cell else []
    return lines


def _hanging(lead: str, text: str, room: int, indent: str) -> list[str]:
    """Put text behind its lead, or below it where there is no room behind."""
    whole = f"{indent}{lead} {text}"
    if len(whole) <= room:
        return [whole.rstrip()]
    below = f"{indent}{_GAP}"
    return [
        *textwrap.wrap(lead.rstrip(), room, initial_indent=indent, subsequent_indent=below),
        *textwrap.wrap(text, room, initial_indent=below, subsequent_indent=below),
    ]
