"""TOML that the user named, parsed: how deep it may be nested is asked before, as for drives."""

import tomllib
from typing import Any

from ssdscope import _native
from ssdscope.errors import ConfigError
from ssdscope.targets.names import printable


def parse_toml(text: str, path: str, hint: str | None = None) -> dict[str, Any]:
    """Parse the text of a file.

    Parameters
    ----------
    text
        The text, of a size that was asked for before.
    path
        What messages call it.
    hint
        What such a file looks like.

    Raises
    ------
    ConfigError
        If it is no TOML, or nested deeper than any file means to be.
    """
    try:
        _native.check_toml(text, printable(path))
        return tomllib.loads(text)
    except _native.ConfigError as error:
        raise ConfigError(str(error), hint=hint) from None
    except ValueError as error:  # the parser's own, or an integer of thousands of digits
        raise ConfigError(f"{path}: not TOML: {error}", hint=hint) from error
