"""The logs that a run of fio wrote, as rows of our log."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from ssdscope import _native
from ssdscope.targets.device import translated_errors
from ssdscope.targets.records import Log


def scan_fio_logs(
    paths: Sequence[str],
    chunk: Callable[[Log], None],
    *,
    unit_ns: int | None = None,
    skip_bad: bool = False,
) -> dict[str, Any]:
    """Read logs in bounded memory, merged by time.

    Parameters
    ----------
    paths
        One file of each job.
    chunk
        Called with 65,536 rows or fewer. A latency is exact; a row completes at its time, which
        fio writes in milliseconds.
    unit_ns
        What a latency of 1 stands for; None where the columns say it.
    skip_bad
        Count lines that cannot be read instead of stopping at the first.

    Returns
    -------
    dict
        ``requests``, ``elapsed_ns``, ``read``, ``write``, ``discard``, and ``files`` with
        ``path``, ``rows``, ``bad_lines``, ``averaged``, ``has_offsets`` and sections of its own.

    Raises
    ------
    TraceError
        If one cannot be read, or could mean two things.
    """
    options = json.dumps({"unit_ns": unit_ns, "skip_bad": skip_bad})
    with translated_errors():
        told: dict[str, Any] = json.loads(
            _native.read_fio_logs(list(paths), options, lambda columns: chunk(Log(columns)))
        )
    return told
