"""How commands speak: data on stdout, everything else on stderr."""

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Any


def emit(text: str) -> None:
    """Write data to stdout. A reader that has gone away (``| head``) is no failure."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
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
    note(f"error: {message}" + (f"\n\nhint: {hint}" if hint else ""))


def close_stdout() -> None:
    """Let go of a broken pipe, so that Python does not complain of it on its way out."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Lay out a table: the first `left` columns aligned left, the rest right, as iostat's."""
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
