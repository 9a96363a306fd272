"""Tables that people write: keys that are known, and values with a unit."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ssdscope.errors import ConfigError, UsageError, nearest


def require_known(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    """Refuse a key that there is none of.

    Raises
    ------
    ConfigError
        With the nearest ones.
    """
    for key in table:
        if key not in known:
            raise ConfigError(f"{where}: there is no key {key!r}", hint=nearest(key, known))


def parsed(value: Any, where: str, parse: Callable[[str], int]) -> int:
    """Read a value with its unit.

    Raises
    ------
    ConfigError
        If it is none; the message says where it stands.
    """
    try:
        return parse(str(value))
    except UsageError as error:
        raise ConfigError(f"{where}: {error.message}", hint=error.hint) from error
