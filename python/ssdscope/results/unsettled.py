"""What a drive that was opened `steady` has not settled for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdscope.units import format_size

if TYPE_CHECKING:
    from ssdscope.targets import Target

SETTLED_FOR_BYTES = 4096
"""Of the random writes that lead to the state, one at a time."""


def unsettled(target: Target, record: dict[str, Any]) -> dict[str, Any] | None:
    """Say why the figures of a run may still drift, though the drive was opened steady.

    Parameters
    ----------
    target
        What it ran on.
    record
        The document of the run.

    Returns
    -------
    dict or None
        ``settled_for``, ``differs_in``, ``remedy``; None where the drive was not opened steady,
        nothing was written, or the workload is what it has settled for.
    """
    state = _steady(target)
    if state is None or not record.get("write"):
        return None
    window = int(state.partition(":")[2] or target.capacity_bytes)
    differs = _differences(record["workload"], window, target.capacity_bytes)
    if not differs:
        return None
    where = "" if window >= target.capacity_bytes else f" in its first {format_size(window)}"
    return {
        "settled_for": f"random writes of {format_size(SETTLED_FOR_BYTES)}, one at a time{where}",
        "differs_in": differs,
        "remedy": _remedy(record["workload"]),
    }


def told(about: dict[str, Any]) -> str:
    """Put it into a sentence."""
    return (
        f"the drive was opened steady, which is settled for {about['settled_for']}; this workload "
        f"differs in {', '.join(about['differs_in'])}, and its figures may still drift: "
        f"{about['remedy']}"
    )


def _steady(target: Target) -> str | None:
    """Give the steady state that a drive, or the first of several, was opened in."""
    states = [target.state, *(_steady(member) for member in target.members)]
    return next((state for state in states if state and state.startswith("steady")), None)


def _differences(workload: dict[str, Any], window_bytes: int, capacity_bytes: int) -> list[str]:
    """Name what makes a workload that writes another than the one that leads to the state."""
    if "replay" in workload:
        return ["being a trace"]
    if len(workload.get("flows", ())) > 0:
        return ["being several at once"]
    offset = workload.get("offset_bytes") or 0
    size = workload.get("size_bytes") or capacity_bytes - offset
    block = workload.get("write_block_bytes") or workload.get("block_bytes", SETTLED_FOR_BYTES)
    random = [workload.get(key) for key in ("write_percentage_random", "percentage_random")]
    paced = workload.get("thinktime_ns") or workload.get("rate_iops")
    differs = {
        "order": workload["rw"] in ("write", "rw")
        or any(each not in (None, 100) for each in random),
        "reads between writes": workload["rw"] in ("rw", "randrw"),
        "size": block != SETTLED_FOR_BYTES,
        "depth": workload.get("iodepth", 1) * workload.get("numjobs", 1) != 1,
        "region": offset != 0 or abs(size - window_bytes) >= SETTLED_FOR_BYTES,
        "pace": bool(paced),
        "flushes": bool(workload.get("fsync_every") or workload.get("fua")),
    }
    return [name for name, is_so in differs.items() if is_so]


def _remedy(workload: dict[str, Any]) -> str:
    if "replay" in workload:
        return "replay it twice, or go by its last part"
    if workload.get("flows"):
        return "run it once before, or go by its last part"
    return "run --until-steady runs it until its rate rests, and then measures"
