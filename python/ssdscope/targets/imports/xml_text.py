"""An XML text of values under tags, without what XML could do beyond that."""

import re
from xml.etree import ElementTree as ET

from ssdscope.errors import ConfigError

_DECLARATION = re.compile(r"<\?xml[^>]*\?>")
_LEAF = re.compile(r"<(\w+)>([^<]*)</(\w+)>")
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
        return ET.fromstring(_mended(text))  # noqa: S314 (declares nothing: see above)
    except ET.ParseError as error:
        line, column = error.position
        what = str(error).partition(":")[0]
        cut = what in ("no element found", "unclosed token")
        raise ConfigError(
            f"{path}, line {line}, column {column + 1}: {what}",
            hint="the file ends before its last tag: it seems to be cut" if cut else None,
        ) from None


def _mended(text: str) -> str:
    """Allow what the parsers of the simulators allow, and files that people use have.

    The declaration may stand behind comments; the tag that closes a value may differ in case from
    the one that opens it.
    """
    text = _DECLARATION.sub("", text, count=1)
    return _LEAF.sub(
        lambda each: (
            each[0] if each[1].lower() != each[3].lower() else f"<{each[1]}>{each[2]}</{each[1]}>"
        ),
        text,
    )


def texts(element: ET.Element) -> dict[str, str]:
    """Give the values right under an element; of one that is there twice the last."""
    return {each.tag: each.text or "" for each in element if not len(each)}
