"""What stands side by side besides speeds: findings, sustained rates, twins, settings."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ssdscope.findings import Detected, Finding
from ssdscope.report import words
from ssdscope.report.comparison.inputs import DIRECTIONS, Entry, workload
from ssdscope.report.parts import Table
from ssdscope.report.sections import flat
from ssdscope.targets.quiet import Quiet

PERCENTILES = ("mean", "p50", "p90", "p99", "p99_9", "max")
NOT_COMPARED = ("workload.seed", "target.drive.description")
"""Another seed makes the same workload."""


def findings(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Give each property with what was found of it, those first that differ for certain.

    Returns
    -------
    list of dict
        ``property, name, differs, answered, values``: ``differs`` is of those that have a certain
        answer, ``answered`` of them, and None with fewer than two.
    """
    every = [{} if each.findings is None else dict(each.findings) for each in entries]
    rows = []
    for name in dict.fromkeys(name for each in every for name in each):
        found = [each.get(name) for each in every]
        first = next(each for each in found if each is not None)
        rows.append(
            {
                "property": name,
                "name": first.about.name,
                "differs": _differ(found),
                "answered": len(_sure(found)),
                "values": [_told(each) for each in found],
            }
        )
    order = {True: 0, None: 1, False: 2}
    return sorted(rows, key=lambda row: order[row["differs"]])


def _told(finding: Finding | None) -> str:
    if finding is None:
        return "not probed"
    told = words.value(finding)
    return finding.outcome if told == words.NOTHING else told


def _sure(found: Sequence[Finding | None]) -> list[Finding]:
    return [each for each in found if each and each.outcome in ("detected", "absent")]


def _differ(found: Sequence[Finding | None]) -> bool | None:
    """Say whether drives with a certain answer differ; None with fewer than two of these."""
    sure = _sure(found)
    if len(sure) < 2:
        return None
    if len({each.outcome for each in sure}) > 1:
        return True
    if sure[0].outcome == "absent":
        return False
    return any(_apart(sure[0], other) for other in sure[1:])


def _apart(one: Finding, other: Finding) -> bool:
    """Whether two values differ: by their intervals where they have some."""
    if not isinstance(one, Detected) or not isinstance(other, Detected):
        return True
    if one.interval is None or other.interval is None:
        return one.value != other.value
    return one.interval[0] > other.interval[1] or other.interval[0] > one.interval[1]


def circumstances(entry: Entry) -> str:
    """Say in which state and on what machine an entry was measured, as far as its file does."""
    target = entry.document.get("target") or {}
    given = entry.document.get("provenance") or {}
    state = target.get("state")
    clock = (target.get("info") or {}).get("clock")
    parts = [
        f"state {state}" if state else "",
        "simulated" if clock == "virtual" or target.get("kind") == "simulated" else "",
        f"budget {given['budget']}" if given.get("budget") else "",
        *(f"the machine was busy: {why}" for why in _disturbances(entry)),
        _unmeasured(entry),
    ]
    return ", ".join(part for part in parts if part)


def _disturbances(entry: Entry) -> Sequence[str]:
    quiet = Quiet.from_dict(entry.document.get("quiet"))
    return () if quiet is None else quiet.disturbances()


def _unmeasured(entry: Entry) -> str:
    """Say how many workloads of a report came to nothing, and why most of them did."""
    points = (entry.document.get("performance") or {}).get("points") or []
    why = Counter(point["failure"] for point in points if point.get("failure"))
    if not why:
        return ""
    reason, _ = why.most_common(1)[0]
    return f"{why.total()} of {len(points)} workloads not measured: {reason}"


def sustained(entries: Sequence[Entry]) -> Table | None:
    """Give the rates that drives keep up, by workload."""
    rates: dict[str, list[str]] = {}
    for place, each in enumerate(entries):
        for point in each.document["performance"]["sustained"]:
            if point.get("bandwidth_bytes_per_s") is None:
                continue
            row = rates.setdefault(workload(point), [words.NOTHING] * len(entries))
            row[place] = words.bandwidth(point["bandwidth_bytes_per_s"])
    if not rates:
        return None
    head = ("sustained rate of", *(each.name for each in entries))
    return Table(head, [(name, *row) for name, row in rates.items()])


def twins(entries: Sequence[Entry]) -> Table | None:
    """Give how far each twin is off on workloads that it was not fitted to."""
    rows = []
    for each in entries:
        built = each.document.get("twin") or {}
        errors = built.get("errors") or {}
        median, tail = errors.get("median_ape"), errors.get("p90_ape")
        if median is None:
            told = (str(built.get("reason") or "no twin"), words.NOTHING, words.NOTHING)
        else:
            told = (
                f"{errors.get('n', 0)} held-out workloads",
                words.percent(median),
                words.NOTHING if tail is None else words.percent(tail),
            )
        rows.append((each.name, *told))
    return Table(("twin of", "held to", "median error", "error of 90 %"), rows)


def percentiles(entries: Sequence[Entry]) -> Table:
    """Give the latencies of runs by direction."""
    rows = []
    for direction in DIRECTIONS:
        for each in entries:
            told = each.document.get(direction)
            if told and told["latency_ns"]:
                latency = told["latency_ns"]
                rows.append(
                    (
                        each.name,
                        f"{direction}s",
                        words.iops(told.get("iops")),
                        *(words.time(latency.get(key)) for key in PERCENTILES),
                    )
                )
    heads = (key.replace("_", ".") for key in PERCENTILES)
    return Table(("run", "direction", "IOPS", *heads), rows)


def settings(entries: Sequence[Entry]) -> Table | None:
    """List what differs between the workloads and drives of runs; None if nothing does."""
    told = [dict(_settings(each)) for each in entries]
    names = dict.fromkeys(name for each in told for name in each)
    rows = [
        (name, *(each.get(name, words.NOTHING) for each in told))
        for name in names
        if len({each.get(name) for each in told}) > 1
    ]
    return Table(("setting", *(each.name for each in entries)), rows) if rows else None


def _settings(entry: Entry) -> list[tuple[str, str]]:
    target = entry.document.get("target") or {}
    kept = {key: target.get(key) for key in ("uri", "state", "drive")}
    every = [*flat(entry.document.get("workload"), "workload"), *flat(kept, "target")]
    return [(name, text) for name, text in every if name not in NOT_COMPARED]
