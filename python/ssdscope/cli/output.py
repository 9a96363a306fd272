"""How commands speak: data on stdout, everything else on stderr.

Names come from outside: of files and exports, of drives, in files that are read, out of the
kernel. Whatever is said passes here, and nothing in it is an order to the terminal any more.
"""

import contextlib
import errno
import os
import re
import sys
from collections.abc import Iterable
from typing import Any

from ssdscope.shown import shown, shown_name

_GONE = (errno.EPIPE, errno.EIO)
"""How a write ends when nobody reads any more: behind a pipe, at a terminal that was closed."""

_QUOTED_BYTE = re.compile(r"\\udc([89a-f][0-9a-f])")
"""A byte that is not UTF-8, as Python quotes it; people are shown ``\\xfe``."""


_names: dict[str, str] = {}
"""Names of this command line that hold a line break, and how they are shown."""


def name_words(words: Iterable[str]) -> None:
    """Say which words the command line has: a name among them stays in its line when it is said."""
    _names.clear()
    for word in words:
        whole = word.partition("=")[2] if word.startswith("--") and "=" in word else word
        for name in (whole, whole.partition(":")[2], *whole.split("/")):
            if len(name.splitlines()) > 1:
                _names[name] = shown_name(name)


def in_words(text: str) -> str:
    """Write text for people: what a terminal would obey in it, in digits."""
    for name in sorted(_names, key=len, reverse=True):
        text = text.replace(name, _names[name])
    return shown(text).replace("\r\n", "\n")


def emit(text: str) -> None:
    """Write data to stdout. A reader that has gone away (``| head``) is no failure."""
    _write(in_words(text))


def emit_json(document: dict[str, Any]) -> None:
    """Write a document to stdout."""
    from ssdscope.results.record import strict_json

    _write(strict_json(document))


def _write(text: str) -> None:
    try:
        print(text, flush=True)
    except OSError as failure:
        if failure.errno not in _GONE:
            raise
        close_stdout()


def note(text: str) -> None:
    """Tell the user something beside the data; if nobody can be told, go on all the same."""
    if sys.stderr is None:  # closed by who started us; print would take stdout instead
        return
    with contextlib.suppress(OSError):
        print(in_words(text), file=sys.stderr, flush=True)


def error(message: str, hint: str | None) -> None:
    """Tell the user what went wrong, and what to do."""
    text = f"error: {message}" + (f"\n\nhint: {hint}" if hint else "")
    note(_QUOTED_BYTE.sub(r"\\x\1", text))


def close_stdout() -> None:
    """Let go of a broken pipe, so that Python does not complain of it on its way out."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)
