"""Templates filled in: every text is escaped, and nothing that they ask for may be missing."""

import base64
import hashlib
from importlib.resources import files
from typing import Any

from ssdscope.plots import DARK, LIGHT, css_variables
from ssdscope.report import words

EVERYWHERE = "scrolling.js"
"""The script that every page has."""


def fill(template: str, *, script: str | None = None, **values: Any) -> str:
    """Fill in a template of `templates/`.

    Parameters
    ----------
    template
        Its name.
    script
        A file of `templates/` that stands in the page behind `EVERYWHERE`; no other script may
        run there.
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
    code = "".join(_code(each) for each in (EVERYWHERE, script) if each is not None)
    return environment.get_template(template).render(
        light=css_variables(LIGHT),
        dark=css_variables(DARK),
        script=code,
        script_source=f"; script-src '{_digest(code)}'",
        **values,
    )


def _code(script: str) -> str:
    return files("ssdscope.report").joinpath("templates", script).read_text(encoding="utf-8")


def _digest(code: str) -> str:
    """Name a script by what it is, as a content security policy does."""
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode("ascii")
    return f"sha256-{digest}"


def image(source: str, description: str) -> str:
    """Write an image whose data are in the page."""
    from markupsafe import escape

    return f'<img src="{escape(source)}" alt="{escape(description)}">'
