"""Templates filled in: every text is escaped, and nothing that they ask for may be missing."""

from typing import Any

from ssdscope.plots import DARK, LIGHT, css_variables
from ssdscope.report import words


def fill(template: str, **values: Any) -> str:
    """Fill in a template of `templates/`.

    Parameters
    ----------
    template
        Its name.
    values
        What it shows; the colours of the two themes are added.

    Returns
    -------
    str
        HTML.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("ssdscope.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["size"] = words.size
    environment.filters["percent"] = words.percent
    # Our own style sheet and pictures; everything else goes through the escaping above.
    environment.filters["ours"] = Markup
    return environment.get_template(template).render(
        light=css_variables(LIGHT), dark=css_variables(DARK), **values
    )


def image(source: str, description: str) -> str:
    """Write an image whose data are in the page."""
    from markupsafe import escape

    return f'<img src="{escape(source)}" alt="{escape(description)}">'
