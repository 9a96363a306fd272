"""Pictures: arrays in, a matplotlib figure out. Nothing is measured or decided here.

`style`
    Colours by role, so that one figure serves a light page, a dark page and a file.
`charts`
    The charts of a report.
`timeline`
    A run over time.
`models`
    What a model has learnt: its tree, its dependences, a map of its predictions.
`findings`
    The evidence of a finding: what was fitted is drawn by its kind, whichever probe it is from.
`picture`
    A figure that a notebook shows.
`pointing`
    What a reader can point at: scales and points, for the script of a page.
`export`
    A figure as an inline SVG that follows the page's theme, or as a file.

Figures are made without pyplot: no global state, no windows.
"""

from ssdscope.plots.export import embedded, inline_svg, save
from ssdscope.plots.style import (
    CAUSE_COLOURS,
    DARK,
    LIGHT,
    PAGE,
    Palette,
    css_variables,
    titled,
)

__all__ = [
    "CAUSE_COLOURS",
    "DARK",
    "LIGHT",
    "PAGE",
    "Palette",
    "css_variables",
    "embedded",
    "inline_svg",
    "save",
    "titled",
]
