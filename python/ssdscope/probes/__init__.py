"""Experiments that find out what is inside a drive, through the same door as any host.

Reading order:

`notes`
    What a probe notes while it measures, until it is the evidence of an answer
    (`ssdscope.findings` has the answers and the kinds of evidence).
`budget`, `states`, `bench`
    What may be spent; what a drive is prepared to; the drive on the bench, with its ledger.
`discipline`
    What measurements share: the smallest request, random places, undivided sizes, a quiet hour.
`reconcile`
    Findings held against each other.
`plan`, `run`, `record`, `verdict`, `mechanisms`
    What is measured, apart from what is made of it; `properties` has a file for each family.

A new probe is a file with a `PROBE`, and one line in `_PROBES` below. Probes see a `Bench`, and
through it a `Device`: never the configuration of a simulated drive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ssdscope.errors import UsageError, nearest
from ssdscope.findings import (
    Absent,
    Ambiguous,
    Detected,
    Evidence,
    Finding,
    Findings,
    Reason,
    Undetectable,
    Where,
)
from ssdscope.findings.families import FAMILIES
from ssdscope.probes import (
    allocation,
    gc_period,
    idle_gc,
    merge_unit,
    open_units,
    pslc,
    reclaim_unit,
)
from ssdscope.probes.bench import Bench, Stopped
from ssdscope.probes.budget import Budget, Deadline, StageProgress, silent
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.machine import naming_machine
from ssdscope.probes.mechanisms import MASKS, masked
from ssdscope.probes.properties import (
    buffer,
    caches,
    dies,
    disk,
    latency,
    spare,
    table,
    trim,
    units,
)
from ssdscope.probes.reconcile import reconciled
from ssdscope.probes.states import State, Window

if TYPE_CHECKING:
    from ssdscope.targets.device import Device
    from ssdscope.targets.records import DeviceInfo

__all__ = [
    "Absent",
    "Ambiguous",
    "Bench",
    "Budget",
    "Deadline",
    "Detected",
    "Finding",
    "Findings",
    "ProbeInfo",
    "Reason",
    "StageProgress",
    "State",
    "Undetectable",
    "choose",
    "each",
    "planned_writes_bytes",
    "properties",
    "reconciled",
    "registry",
    "run",
    "silent",
]

FAIR_SHARES = 6.0
"""A probe may take so many times what each of those left would have of a real drive's time."""

_PROBES: tuple[ProbeInfo, ...] = (
    # First what it is, which hides what it cannot have. Those that write nothing come next, then
    # those that share a state, then the heavy ones.
    disk.PROBE,
    latency.PROBE,
    caches.PROBE,
    table.PROBE,
    buffer.PROBE,
    units.PROBE,
    merge_unit.PROBE,
    pslc.PROBE,
    dies.PROBE,
    trim.PROBE,
    allocation.PROBE,
    gc_period.PROBE,
    reclaim_unit.PROBE,
    spare.PROBE,
    open_units.PROBE,
    idle_gc.PROBE,
)


def registry() -> dict[str, ProbeInfo]:
    """All probes by name, in the order in which they run."""
    return {probe.name: probe for probe in _PROBES}


def run(
    names: Sequence[str],
    device: Device,
    budget: Budget,
    seed: int,
    progress: StageProgress = silent,
) -> list[Finding]:
    """Run probes one after the other and hold their findings against each other.

    Parameters
    ----------
    names
        Of probes, properties or families; ``all`` stands for every probe that the budget allows.

    Returns
    -------
    list of Finding
        One per property.

    Raises
    ------
    UsageError
        If a name is unknown.
    DeviceError
        If the drive goes away.
    """
    return reconciled(list(each(names, device, budget, seed, progress)))


def each(
    names: Sequence[str],
    device: Device,
    budget: Budget,
    seed: int,
    progress: StageProgress = silent,
) -> Iterator[Finding]:
    """Run probes as `run` does, and give each finding as soon as it is known.

    A property may be answered by several probes; `reconciled` makes one finding of them. A drive
    that can keep its state is left as it was found.
    """
    chosen = list(dict.fromkeys(probe for name in names for probe in choose(name, budget)))
    bench = Bench(device, budget, seed)
    whole = bench.deadline(1.0)
    try:
        _tell_what_it_is(bench, chosen)
        for index, probe in enumerate(chosen):
            share = min(1.0, FAIR_SHARES / (len(chosen) - index))
            told = partial(_scaled, progress, index, len(chosen))
            bench.take_quiet()
            for answer in _of_one(probe, bench, told, whole.left_s * share):
                finding = replace(
                    naming_machine(answer, bench.quiet), where=_where(answer, bench, chosen)
                )
                if _says_more(finding, bench.known.get(finding.name)):
                    bench.known[finding.name] = finding
                yield finding
    finally:
        bench.enter(State.AS_FOUND)


def _tell_what_it_is(bench: Bench, chosen: Sequence[ProbeInfo]) -> None:
    """Look for what turns, where a probe would claim what no disk has."""
    hidden = {name for mask in MASKS if mask.by in disk.PROBE.properties for name in mask.hides}
    if disk.PROBE in chosen or not any(hidden & set(each.properties) for each in chosen):
        return
    first = next(_of_one(disk.PROBE, bench, silent))
    bench.known[first.name] = first


def _where(finding: Finding, bench: Bench, chosen: Sequence[ProbeInfo]) -> Where:
    """Say where something was found: on what, and what a full budget would run besides."""
    every = [] if len(chosen) == 1 else choose("all", replace(bench.budget, heavy=True))
    more = [
        each.name
        for each in every
        if finding.name in each.properties
        and (each not in chosen or (each.more(bench.info) and not bench.heavy))
    ]
    return Where(bench.info.kind, bench.virtual, bench.budget.heavy, tuple(more))


def _says_more(finding: Finding, earlier: Finding | None) -> bool:
    """Whether a finding is to be known from now on: a refusal says no more than any answer."""
    refused = isinstance(finding, Undetectable)
    return earlier is None or not (refused or isinstance(earlier, Detected))


def _of_one(
    probe: ProbeInfo, bench: Bench, progress: StageProgress, wall_s: float | None = None
) -> Iterator[Finding]:
    """Run one probe; what it leaves unanswered when it is stopped cannot be told."""
    missing = dict.fromkeys(probe.properties)
    written, requests = bench.bytes_written, bench.requests

    def with_cost(finding: Finding) -> Finding:
        return replace(
            finding,
            bytes_written=bench.bytes_written - written,
            requests=finding.requests or bench.requests - requests,
        )

    try:
        if reason := _refused(probe, bench.info):
            raise Stopped(reason)
        for name in probe.properties:
            if mask := masked(name, bench.known):
                missing.pop(name)
                yield with_cost(mask.refusal(name, probe.name))
        if not missing:
            return
        planned = probe.planned_writes_bytes(bench.info, full=bench.heavy)
        with bench.allowance(planned, progress, wall_s):
            bench.enter(probe.state)
            for finding in probe.detect(bench):
                if finding.name in missing:
                    missing.pop(finding.name)
                    yield with_cost(finding)
    except Stopped as stop:
        evidence = Evidence(detail=stop.detail or None)
        for name in missing:
            refused = Undetectable(
                name=name, probe=probe.name, reason=stop.reason, evidence=evidence
            )
            yield with_cost(refused)


def _refused(probe: ProbeInfo, info: DeviceInfo) -> Reason | None:
    """Say why a probe does not begin on a target."""
    if info.capacity_bytes < probe.least_bytes:
        return Reason.RANGE_TOO_SMALL
    if info.kind == "null" and probe.least_bytes > 0:
        return Reason.NOT_A_RAW_DEVICE
    return None


def planned_writes_bytes(
    chosen: Sequence[ProbeInfo], info: DeviceInfo, *, full: bool = False
) -> int:
    """Give the most that probes write together; a state that several begin with counts once.

    A drive that cannot keep its state is prepared again before each. What a probe refuses to begin
    on, for want of a drive, room or permission, is not written.
    """
    chosen = [each for each in chosen if info.writable and not _refused(each, info)]
    if not info.snapshot:
        return sum(probe.planned_writes_bytes(info, full=full) for probe in chosen)
    own = sum(probe.own_writes_bytes(info, full=full) for probe in chosen)
    window = Window(0, info.capacity_bytes)
    states = {state for probe in chosen for state in probe.states(info, full=full)}
    return own + sum(state.writes_bytes(window) for state in states)


def _scaled(progress: StageProgress, done: int, count: int, stage: str, share: float) -> None:
    progress(stage, (done + share) / count)


def choose(name: str, budget: Budget) -> list[ProbeInfo]:
    """Give the probe of a name, those that answer a property or a family, or all that may run.

    Of several it is those that the budget allows; if it allows none of them, all.

    Raises
    ------
    UsageError
        If the name is unknown.
    """
    probes = registry()
    if name == "all":
        return _allowed(probes.values(), budget)
    if name in probes:
        return [probes[name]]
    wanted = set(FAMILIES.get(name, (name,)))
    answering = [probe for probe in probes.values() if wanted & set(probe.properties)]
    if not answering:
        known = [*probes, *properties(), *FAMILIES, "all", "list"]
        hint = nearest(name, known, listed_by="ssdscope probe list")
        raise UsageError(f"there is no probe, property or family {name!r}", hint=hint)
    return _allowed(answering, budget) or answering


def _allowed(probes: Iterable[ProbeInfo], budget: Budget) -> list[ProbeInfo]:
    return [probe for probe in probes if budget.heavy or probe.weight != "heavy"]


def properties() -> dict[str, list[str]]:
    """Give the names of the probes that answer each property, in the order in which they run."""
    answering: dict[str, list[str]] = {}
    for probe in _PROBES:
        for name in probe.properties:
            answering.setdefault(name, []).append(probe.name)
    return answering
