"""How commands speak: data on stdout, everything else on stderr."""

import contextlib
import errno
import os
import re
import sys
from typing import Any

_GONE = (errno.EPIPE, errno.EIO)
"""How a write ends when nobody reads any more: behind a pipe, at a terminal that was closed."""

_QUOTED_BYTE = re.compile(r"\\udc([89a-f][0-9a-f])")
"""A byte that is not UTF-8, as Python quotes it; people are shown ``\\xfe``."""


def emit(text: str) -> None:
    """Write data to stdout. A reader that has gone away (``| head``) is no failure."""
    try:
        print(text, flush=True)
    except OSError as failure:
        if failure.errno not in _GONE:
            raise
        close_stdout()


def emit_json(document: dict[str, Any]) -> None:
    """Write a document to stdout."""
    from ssdscope.results.record import strict_json

    emit(strict_json(document))


def note(text: str) -> None:
    """Tell the user something beside the data; if nobody can be told, go on all the same."""
    if sys.stderr is None:  # closed by who started us; print would take stdout instead
        return
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def error(message: str, hint: str | None) -> None:
    """Tell the user what went wrong, and what to do."""
    text = f"error: {message}" + (f"\n\nhint: {hint}" if hint else "")
    note(_QUOTED_BYTE.sub(r"\\x\1", text))


def close_stdout() -> None:
    """Let go of a broken pipe, so that Python does not complain of it on its way out."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)
