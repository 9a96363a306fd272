"""``run --dry-run``: what a run would write, how long it may take, and what life it costs."""

from typing import TYPE_CHECKING, Any

from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json
from ssdscope.errors import EXIT_DONE
from ssdscope.units import format_capacity, format_duration

if TYPE_CHECKING:
    from ssdscope.targets import Target
    from ssdscope.workloads.flows import Flows
    from ssdscope.workloads.workload import Workload


def tell_run_plan(
    target: "Target", plan: "Workload | Flows", rated_writes: str | None, output_format: str
) -> int:
    """Show the plan of a run; nothing is read or written."""
    from ssdscope.results.record import envelope

    told = _run_plan(target, plan, rated_writes)
    if output_format == "json":
        emit_json({**envelope(), "plan": told})
    else:
        emit(table(("what", "value"), _rows(told), left=2))
    return EXIT_DONE


def _run_plan(
    target: "Target", plan: "Workload | Flows", rated_writes: str | None
) -> dict[str, Any]:
    from ssdscope.report.spending import rated
    from ssdscope.targets.endurance import rated_bytes
    from ssdscope.workloads.planned import looked_at_bytes, planned

    most = planned(plan, target.capacity_bytes)
    life = rated(rated_writes) or rated_bytes(target)
    share = None if most.writes_bytes is None or not life else most.writes_bytes / life
    return {
        "target": target.uri,
        "writable": target.device.info.writable,
        "window": (target.device.access() or {}).get("window"),
        "workload": plan.to_dict(),
        "writes_bytes": most.writes_bytes,
        "reads_first_bytes": (
            looked_at_bytes(plan, target.capacity_bytes) if target.reads_before_writes else 0
        ),
        "duration_ns": most.duration_ns,
        "rated_bytes": life,
        "share_of_life": share,
    }


def _rows(told: dict[str, Any]) -> list[list[str]]:
    written, duration, share = told["writes_bytes"], told["duration_ns"], told["share_of_life"]
    allowed = "reading and writing" if told["writable"] else "reading only"
    rows = [["target", told["target"]], ["open for", allowed]]
    if told["window"]:
        start, size = told["window"]
        rows.append(["window", f"bytes {start:,} to {start + size - 1:,}"])
    size = "unknown: only time ends it" if written is None else format_capacity(written)
    took = "unknown: the drive's speed decides" if duration is None else format_duration(duration)
    life = "unknown: give --rated-writes" if share is None else f"{100 * share:.2g} %"
    rows.append(["writes at most", size])
    if told["reads_first_bytes"]:
        most = format_capacity(told["reads_first_bytes"])
        rows.append(["reads first at most", f"{most}, to see that no data of others are lost"])
    return [*rows, ["takes at most", took], ["share of life", life]]
