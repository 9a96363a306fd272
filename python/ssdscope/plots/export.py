"""A figure as an inline SVG that follows the page's theme, or as a file."""

import io
import re
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdscope.plots.pointing import described
from ssdscope.plots.style import PAGE
from ssdscope.results.files import write_with_others
from ssdscope.results.marks import MADE_BY
from ssdscope.targets.names import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROLES = {getattr(PAGE, each.name): f"var(--{each.name})" for each in fields(PAGE)}
_STAND_IN = re.compile("|".join(_ROLES))
_REFERENCE = re.compile(r"#((?:[hmp]|DejaVu)[\w-]*)(?=[)\"])")
_ID = re.compile(r' id="([^"]*)"')
_MAKER: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": MADE_BY},
    "png": {"Software": MADE_BY},
    "pdf": {"CreationDate": None, "Creator": MADE_BY},
}
"""By the kind of file, what marks it as ours; a vector picture is the same every time."""
_DECIMALS = re.compile(r"(\d+\.\d{2})\d+")
_TICK = re.compile(r'<g id="([xy])tick_\d+">')
_PATH = re.compile(r'(?<= d=")[^"]*')


def inline_svg(figure: "Figure", name: str, description: str) -> str:
    """Write a figure drawn with the `PAGE` palette as an SVG element for an HTML page.

    Parameters
    ----------
    figure
        The figure.
    name
        Unique on the page; keeps the ids of different figures apart.
    description
        What a reader who does not see the figure should know.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    buffer = io.StringIO()
    # Text stays text: it follows the page's font, can be found and be read aloud.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        # `savefig` draws twice, and throws the first away: it only finds where all goes.
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(buffer, metadata={"Date": None, "Creator": None})
    svg = _STAND_IN.sub(lambda match: _ROLES[match.group()], buffer.getvalue())
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = _TICK.sub(r'<g class="\1tick">', svg)
    return embedded(_DECIMALS.sub(r"\1", svg), name, description, described(figure))


def embedded(svg: str, name: str, description: str, plot: str | None = None) -> str:
    """Turn the text of an SVG file of ours into an element of an HTML page.

    Parameters
    ----------
    svg
        As `save` writes it.
    name, description
        As of `inline_svg`.
    plot
        Its scales and points, as `pointing.described` gives them.
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\n?", "", svg, flags=re.DOTALL)
    # Of paths alone: the scale of a letter has more digits, which count.
    svg = _PATH.sub(lambda path: _DECIMALS.sub(r"\1", path[0]), svg)
    svg = _own_ids(svg, name)
    label = f'role="img" aria-label="{escape(description, quote=True)}"'
    if plot is not None:
        label += f' data-plot="{escape(plot, quote=True)}"'
    label = label.replace("\\", r"\\")  # a backslash is no reference to a group
    return re.sub(
        r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', rf'<svg viewBox="\1" {label}>', svg, count=1
    )


def _own_ids(svg: str, name: str) -> str:
    """Rename the ids that something refers to, alike in every run, and drop the others.

    matplotlib's own are alike in every figure, or made from addresses in memory.
    """
    referred = dict.fromkeys(_REFERENCE.findall(svg))
    own = {old: f"{name}-{number}" for number, old in enumerate(referred)}
    svg = _ID.sub(lambda each: f' id="{own[each[1]]}"' if each[1] in own else "", svg)
    return _REFERENCE.sub(lambda each: f"#{own[each[1]]}", svg)


def save(figure: "Figure", path: str | Path) -> None:
    """Write a figure to a file; the ending decides the format (``.svg``, ``.png``, ``.pdf``).

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    import matplotlib as mpl

    target = Path(path)
    kind = target.suffix.removeprefix(".")
    drawn = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": printable(target.stem)}):
        figure.savefig(drawn, format=kind, dpi=150, metadata=_MAKER[kind])
    write_with_others(target, drawn.getvalue())
