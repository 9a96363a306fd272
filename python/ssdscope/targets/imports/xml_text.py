"""An XML text of values under tags, without what XML could do beyond that."""

import re
from xml.etree import ElementTree as ET

from ssdscope.errors import ConfigError

_DECLARED = re.compile(r"<!(DOCTYPE|ENTITY)", re.IGNORECASE)


def parsed(text: str, path: str) -> ET.Element:
    """Parse it.

    Raises
    ------
    ConfigError
        If it is malformed, or declares entities: those could grow without bound.
    """
    if found := _DECLARED.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise ConfigError(f"{path}, line {line}: {found[0]} is not allowed: values only")
    try:
        return ET.fromstring(text)  # noqa: S314 (declares nothing: see above)
    except ET.ParseError as error:
        line, column = error.position
        what = str(error).partition(":")[0]
        raise ConfigError(f"{path}, line {line}, column {column + 1}: {what}") from None


def texts(element: ET.Element) -> dict[str, str]:
    """Give the values right under an element; of one that is there twice the last."""
    return {each.tag: each.text or "" for each in element if not len(each)}
