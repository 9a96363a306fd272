"""What a reader has to know beside the figures of a run, and whether they are to be trusted."""

from __future__ import annotations

from typing import Any

from ssdscope.results.unsettled import told
from ssdscope.targets.quiet import Quiet

DROPPED_SHARE_MAX = 0.20
"""More of a run's requests, or of a trace's lines, may not be left out."""


def remarks(record: dict[str, Any]) -> list[str]:
    """Say what the figures of a run rest on, a sentence each.

    Parameters
    ----------
    record
        The document of the run, as `run_record` gives it.
    """
    return [
        *_end_of_life(record.get("counters") or {}),
        *([told(record["unsettled"])] if "unsettled" in record else []),
        *of_trace(record.get("trace") or {}),
        *of_machine(record),
    ]


def doubts(record: dict[str, Any]) -> list[str]:
    """Say what is missing of a run, or was not reached, a sentence each."""
    failed, served = int(record.get("failed_requests") or 0), int(record["requests"])
    said = []
    if failed:
        said.append(f"{failed:,} of {served + failed:,} requests failed and are left out")
    wanted = record["workload"].get("until_ci")
    if wanted is not None and record.get("until_ci_reached") is False:
        said.append(f"the 95 % interval did not come within {100 * wanted:g}% of the mean")
    said += of_verification(record.get("verify") or {})
    if not _rested(record):
        said.append("the drive had not come to rest: its rate still changed when it was measured")
    return said


def trustworthy(record: dict[str, Any]) -> bool:
    """Say whether the answer may be trusted: all that was asked for was reached, and enough ran."""
    failed, served = int(record.get("failed_requests") or 0), int(record["requests"])
    wanted = record["workload"].get("until_ci")
    return (
        failed <= DROPPED_SHARE_MAX * (served + failed)
        and not (wanted is not None and record.get("until_ci_reached") is False)
        and _rested(record)
        and trace_is_whole(record.get("trace") or {})
        and not record.get("interrupted")
    )


def stored_well(record: dict[str, Any]) -> bool:
    """Say whether all that was compared was as it had been written, if that was asked for."""
    about = record.get("verify") or {}
    return (
        not about.get("mismatched_bytes")
        and not about.get("unread_bytes")
        and about.get("state") != "broken"
    )


def of_verification(about: dict[str, Any]) -> list[str]:
    """Say what the drive does not hold as it was written, and what was not compared."""
    said = []
    if about.get("mismatched_bytes"):
        first = about["first"]
        said.append(
            f"verify: {about['mismatched_bytes']:,} of {about['checked_bytes']:,} bytes are in "
            f"sectors that do not hold what was written; the first at byte "
            f"{first['offset_bytes']:,}: expected {first['expected']}; found {first['found']}"
        )
    if about.get("unread_bytes") and about["state"] != "interrupted":
        why = about.get("reason") or "reads failed"
        said.append(f"verify: {about['unread_bytes']:,} bytes could not be read back: {why}")
    return said


def of_trace(about: dict[str, Any]) -> list[str]:
    """Say what of a trace was left out, and whether it was made up."""
    from ssdscope.targets.traces import is_synthetic

    said = [f"this trace is {about['remark']}"] if is_synthetic(about) else []
    bad = about.get("bad_lines", 0)
    shown = about.get("first_bad_lines", [])
    said += _of_events(about.get("noted", {}))
    said += [
        f"line {line['line']} left out: expected {line['expected']}, found {line['text']}"
        for line in shown
    ]
    if bad > len(shown):
        said.append(f"{bad - len(shown):,} more malformed lines left out")
    if about.get("truncated"):
        why = f": {about['damage']}" if about.get("damage") else ""
        said.append(f"the file breaks off{why}; the {about['requests']:,} requests read are used")
    return said


def _of_events(noted: dict[str, int]) -> list[str]:
    """Say what the events of a trace leave open about its requests."""
    said = []
    if passed_on := noted.get("latencies_from_queue"):
        said.append(
            f"{passed_on:,} latencies of the trace run from queueing (Q) to completion (C): the "
            "device dispatches nothing (dm, md), or that was not recorded"
        )
    if missing := noted.get("missing_events"):
        said.append(
            f"{missing:,} events are missing by their numbers: dropped while recording, or left "
            "out of the file"
        )
    if failed := noted.get("failed"):
        said.append(f"{failed:,} of the trace's requests had failed on the device traced")
    return said


def of_machine(record: dict[str, Any]) -> list[str]:
    """Say what of the machine, or of others on the disk, the times of a real drive hold."""
    quiet = Quiet.from_dict(record.get("quiet"))
    if quiet is None:
        return []
    said = [f"the machine was busy: {why}" for why in quiet.disturbances()]
    access = record["target"].get("access") or {}
    if record["target"].get("kind") != "block" or not access.get("direct_io"):
        return said
    sides = [record[name] for name in ("read", "write") if record.get(name)]
    ramped = record["workload"].get("ramp_requests") or record["workload"].get("ramp_ns")
    requests, moved = (sum(side[key] for side in sides) for key in ("requests", "bytes"))
    flushes = (record.get("flush") or {}).get("requests", 0)
    return said if ramped else [*said, *quiet.on_disk(requests, moved, flushes)]


def trace_is_whole(about: dict[str, Any]) -> bool:
    """Say whether enough of a trace was used for an answer about it."""
    bad = about.get("bad_lines", 0)
    lines = bad + about.get("requests", 0)
    return not about.get("truncated") and bad <= DROPPED_SHARE_MAX * lines


def _rested(record: dict[str, Any]) -> bool:
    """Whether the drive came to rest, if that was asked for."""
    steady = record.get("steady_state")
    return steady is None or bool(steady["reached"])


def _end_of_life(counters: dict[str, Any]) -> list[str]:
    """Say so if the drive takes no writes any more, which the errors alone do not tell."""
    if not counters.get("read_only"):
        return []
    said = (
        "the drive has reached its end of life and can only be read: "
        f"{counters['retired_blocks']:,} of its blocks were erased as often as they are "
        "made for (nand.endurance_erases)"
    )
    return [said]
