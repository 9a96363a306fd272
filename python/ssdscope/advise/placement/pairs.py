"""What each workload sees of each drive that it has for itself."""

from collections.abc import Callable
from typing import Any

from ssdscope.advise.placement.judging import Judge
from ssdscope.advise.placement.predicting import predicted
from ssdscope.advise.placement.trying import Tried
from ssdscope.advise.placement.workloads import Load, Traced
from ssdscope.errors import UsageError
from ssdscope.units import format_binary

TOO_SMALL = "too small"


def alone(judge: Judge, *, progress: Callable[[float], None]) -> list[dict[str, Any]]:
    """Try every workload on every drive; by the drive's model where it knows such workloads.

    Returns
    -------
    list of dict
        ``workload, drive, source, seen, keeps_up, reason``; ``reason`` says why one was not tried.
    """
    rows = []
    total = len(judge.loads) * len(judge.drives)
    for n in range(len(judge.loads)):
        for d in range(len(judge.drives)):
            rows.append(_pair(judge, n, d))
            progress(len(rows) / total)
    return rows


def _pair(judge: Judge, load: int, drive: int) -> dict[str, Any]:
    kind, workload = judge.drives[drive], judge.loads[load]
    head = {"workload": workload.name, "drive": kind.name}
    if workload.size_bytes > kind.capacity_bytes:
        return _row(head, None, _too_small(workload))
    try:
        tried = None if kind.model is None else predicted(kind.model, [workload])
        if tried is None:
            tried = judge.tried(drive, frozenset({load}))
    except UsageError as error:
        return _row(head, None, error.message)
    return _row(head, tried, None)


def _too_small(workload: Load) -> str:
    """Say that a drive does not hold a workload, and what of a trace it would hold."""
    if isinstance(workload, Traced) and workload.fit == "refuse":
        return (
            f"{TOO_SMALL}: its addresses reach {format_binary(workload.size_bytes)} (--fit compact)"
        )
    return f"{TOO_SMALL} for {format_binary(workload.size_bytes)}"


def _row(head: dict[str, Any], tried: Tried | None, reason: str | None) -> dict[str, Any]:
    seen = None if tried is None else tried.seen[0]
    return head | {
        "source": None if tried is None else tried.source,
        "seen": None if seen is None else seen.to_json(),
        "keeps_up": None if tried is None else tried.keeps_up,
        "reason": reason,
    }
