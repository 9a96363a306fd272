"""What a trace file is, told before a drive is prepared for it."""

import json
from typing import Any

from ssdscope import _native
from ssdscope.targets.device import translated_errors


def sniff_trace(path: str, trace_format: str | None = None) -> dict[str, Any]:
    """Say which format a trace is in.

    Parameters
    ----------
    path
        The trace, plain or compressed.
    trace_format
        Its format where the content allows several readings.

    Raises
    ------
    TraceError
        If it cannot be read, is of no known format, or could be of several.
    """
    with translated_errors():
        told: dict[str, Any] = json.loads(_native.sniff_trace(path, trace_format))
    return told
