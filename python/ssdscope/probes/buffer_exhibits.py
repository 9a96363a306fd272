"""What shows how a write buffer fills: one burst, many bursts, and ever longer writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Axis, Exhibit, Line, Period, Step, series
from ssdscope.units import format_duration

if TYPE_CHECKING:
    from numpy.typing import NDArray

TAKEN_IN = "writes-taken-in"
PROFILE_POINTS = 400


def burst_profile(latency_ns: NDArray[Any], full_at: float) -> Exhibit:
    """Show a burst running into the full buffer; latencies of shape (writes,)."""
    places = np.arange(0, len(latency_ns), -(-len(latency_ns) // PROFILE_POINTS))
    return Exhibit(
        name="burst-into-the-buffer",
        title="A burst fills the write buffer",
        caption="Median over equal bursts into the emptied buffer; one write in each of its units.",
        x=Axis("write of the burst"),
        y=Axis("latency", "ns", log=True),
        series=(series("write", places, latency_ns[places], "points"),),
        fitted=(Step(at=full_at, word="full"),),
    )


def taken_in(requests: NDArray[Any], paces_ns: NDArray[Any]) -> Exhibit:
    """Show how many writes bursts at several paces ended after, shape (bursts, paces)."""
    bursts = np.arange(1, len(requests) + 1)
    return Exhibit(
        name=TAKEN_IN,
        title="Writes that the buffer takes in",
        caption="How many until one waits; at a slower pace more leave it meanwhile.",
        x=Axis("burst"),
        y=Axis("writes taken in"),
        series=tuple(
            series(f"a write in {format_duration(pace)}", bursts, column, "points")
            for pace, column in zip(paces_ns, requests.T, strict=True)
        ),
    )


def long_writes(sizes_bytes: list[int], times_ns: list[float], fitted: Line, held: int) -> Exhibit:
    """Show what ever longer writes take until one does not fit."""
    return Exhibit(
        name="ever-longer-writes",
        title="Writes that grow until one does not fit the buffer",
        caption="One write into the emptied buffer.",
        x=Axis("bytes of a write", "bytes", log=True),
        y=Axis("latency", "ns", log=True),
        series=(series("write", sizes_bytes, times_ns, "points"),),
        fitted=(fitted, Step(at=float(held), word="full")),
    )


def room_per_write(taken: list[tuple[int, int, float]], unit_bytes: int | None) -> Exhibit:
    """Show how many units writes took, given where each begins, its bytes, and its units."""
    _, lengths, units = zip(*taken, strict=True)
    fitted = () if unit_bytes is None else (Period(period=float(unit_bytes), word="unit"),)
    return Exhibit(
        name="room-per-write",
        title="Room that a write takes in the buffer",
        caption="In its units; one that straddles a boundary takes one more.",
        x=Axis("bytes of a write", "bytes"),
        y=Axis("units"),
        series=(series("write", lengths, units, "points"),),
        fitted=fitted,
    )
