"""What it costs to simulate a run: counted, not timed, so that what hangs on it hangs on the seed.

The constants are what the presets take on one core of a usual machine (`benchmarks/work.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssdscope.targets.records import RunResult

REQUEST_S, REQUEST_BYTE_S = 1.3e-6, 0.1e-6 / 4096
FLASH_PAGE_S, FLASH_PAGE_BYTES = 0.4e-6, 16 * 1024
"""A page that is read or programmed; drives count bytes, and their pages differ little."""


def of_run(result: RunResult) -> float:
    """Give what a run cost, in seconds of one core."""
    counted = result.counters or {}
    flash: int = counted.get("flash_bytes_programmed", 0) + counted.get("flash_bytes_read", 0)
    return result.requests * REQUEST_S + flash / FLASH_PAGE_BYTES * FLASH_PAGE_S


def of_list(requests: int, moved_bytes: int) -> float:
    """Give what explicit requests cost, of which nobody counts what they did to the flash."""
    return requests * REQUEST_S + moved_bytes * REQUEST_BYTE_S
