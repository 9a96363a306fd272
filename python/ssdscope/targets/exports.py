"""The address of an NBD export.

==================================================  ================================
``nbd+unix:///EXPORT?socket=PATH``                  a server on a Unix socket
``nbd://127.0.0.1:PORT/EXPORT``                     a server on a port of this machine
``…&slow-down=20``, ``…?slow-down=20``              times are divided by 20
==================================================  ================================

The export's name may be empty. ``%20`` and the like stand for bytes that an address cannot hold.
"""

import math
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from ssdscope.errors import UsageError

PORT = 10_809
"""Where NBD servers listen if nobody says otherwise."""
LOOPBACK = ("127.0.0.1", "localhost")
_HINT = "write nbd+unix:///EXPORT?socket=PATH or nbd://127.0.0.1:PORT/EXPORT"


@dataclass(frozen=True)
class Export:
    """An export of an NBD server.

    Attributes
    ----------
    socket, port
        Where the server listens; one of them is None.
    name
        Of the export.
    slow_down
        What the times seen are divided by.
    """

    socket: str | None
    port: int | None
    name: str
    slow_down: float = 1.0


def read_export(uri: str) -> Export:
    """Parse the address of an export, without connecting.

    Raises
    ------
    UsageError
        If it is none.

    Examples
    --------
    >>> read_export("nbd+unix:///x?socket=/tmp/s&slow-down=20")
    Export(socket='/tmp/s', port=None, name='x', slow_down=20.0)
    """
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"target {uri!r}: {error}", hint=_HINT) from error
    fields = _fields(parts.query, uri)
    slow_down = _slow_down(fields.pop("slow-down", "1"), uri)
    name = unquote(parts.path.removeprefix("/"))
    socket = fields.pop("socket", None)
    if fields:
        raise UsageError(
            f"target {uri!r}: unknown field {next(iter(fields))!r}",
            hint=f"{_HINT}, each with slow-down=X if its times are to be divided",
        )
    if parts.scheme == "nbd+unix":
        if parts.netloc or not socket:
            raise UsageError(f"target {uri!r}: expected a socket", hint=_HINT)
        return Export(socket, None, name, slow_down)
    if socket is not None or parts.hostname not in LOOPBACK:
        raise UsageError(
            f"target {uri!r}: expected 127.0.0.1",
            hint="ssh -L PORT:127.0.0.1:PORT HOST brings another machine's server here",
        )
    return Export(None, port or PORT, name, slow_down)


def _fields(query: str, uri: str) -> dict[str, str]:
    """Take a query apart; a plus sign is a plus sign, as in the names of files."""
    fields: dict[str, str] = {}
    for field in query.split("&") if query else []:
        key, equals, value = field.partition("=")
        if not equals or key in fields:
            raise UsageError(f"target {uri!r}: expected KEY=VALUE once, got {field!r}", hint=_HINT)
        fields[key] = unquote(value)
    return fields


def _slow_down(text: str, uri: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.001 <= value <= 1e6:
        raise UsageError(
            f"target {uri!r}: {text!r} is not a slow-down: expected 0.001 to 1000000",
            hint="the number that the server was started with: ssdscope serve ... --slow-down 20",
        )
    return value
