"""What stdout and stderr can show: their encoding, and how wide they are."""

import codecs
import shutil
import sys
import textwrap
import unicodedata

FALLBACK = "ssdscope"
"""How characters are written that a stream cannot take, by the name Python knows it under."""
_ALIKE = str.maketrans(
    {
        "±": "+-", "µ": "u", "…": "...", "·": "*", "⋮": ":", "◁": "<",
        "\N{MULTIPLICATION SIGN}": "x", "Δ": "d",
        "\N{EN DASH}": "-", "─": "-", "═": "=", "│": "|", "├": "+", "└": "+", "┬": "+",
        "┐": "+", "┌": "+", "┴": "+", "┘": "+", "╪": "+", "━": "-", "╸": "-", "╺": "-",
        "▁": "_", "▂": ".", "▃": "-", "▄": "=", "▅": "+", "▆": "*", "▇": "%", "█": "#",
    }
)  # fmt: skip


def _plain(error: UnicodeError) -> tuple[str, int]:
    r"""Write what cannot be encoded in ASCII: bytes of names as ``\xfe``, the rest alike."""
    from ssdscope.targets.names import printable

    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = printable(error.object[error.start : error.end]).translate(_ALIKE)
    text = unicodedata.normalize("NFKD", text)
    kept = (each for each in text if not unicodedata.combining(each))
    return "".join(kept).encode("ascii", "backslashreplace").decode("ascii"), error.end


def take_any_text() -> None:
    """Let the streams of this process take any text, whatever their encoding is."""
    codecs.register_error(FALLBACK, _plain)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=FALLBACK)


def width() -> int | None:
    """Give the columns of the terminal that stdout is; None where it is none, as a pipe."""
    if sys.stdout is None or sys.stdout.closed or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def paragraph(text: str, widest: int | None = None) -> str:
    """Break lines of text that the terminal, or `widest`, has no room for; two spaces in."""
    room = min((each for each in (width(), widest) if each), default=None)
    if room is None:
        return text
    return "\n".join(
        textwrap.fill(line, room, subsequent_indent=" " * (len(line) - len(line.lstrip()) + 2))
        for line in text.split("\n")
    )
