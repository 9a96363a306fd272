"""Probes run one after the other: what each may spend, what hides it, what it answers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ssdscope.findings import Finding, Where
from ssdscope.probes.asking import answers
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.bench.machine import naming_machine
from ssdscope.probes.budget import Budget, StageProgress, silent
from ssdscope.probes.disk import probe as disk
from ssdscope.probes.mechanisms import MASKS
from ssdscope.probes.plan import State, Stopped
from ssdscope.probes.reconcile import reconciled
from ssdscope.probes.registry import choose, every

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdscope.probes.info import ProbeInfo
    from ssdscope.probes.record import Record
    from ssdscope.targets.device import Device
    from ssdscope.targets.records import DeviceInfo

__all__ = ["before", "each", "planned_writes_bytes", "run"]

FAIR_SHARES = 7.0
"""A probe may take so many times what each of those left would have of the time..."""
MOST_SHARE = 0.75
"""... but never more of it than this, where others are still to come."""


def run(
    names: Sequence[str],
    device: Device,
    budget: Budget,
    seed: int,
    progress: StageProgress = silent,
    record: Record | None = None,
) -> list[Finding]:
    """Run probes one after the other and hold their findings against each other.

    Parameters
    ----------
    names
        Of probes, properties or families; ``all`` stands for every probe that the budget allows.
    record
        What was measured before, and is not measured again; what is measured is added.

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
    return reconciled(list(each(names, device, budget, seed, progress, record)))


def each(
    names: Sequence[str],
    device: Device,
    budget: Budget,
    seed: int,
    progress: StageProgress = silent,
    record: Record | None = None,
) -> Iterator[Finding]:
    """Run probes as `run` does, and give each finding as soon as it is known.

    A property may be answered by several probes; `reconciled` makes one finding of them. A drive
    that can keep its state is left as it was found.
    """
    chosen = list(dict.fromkeys(probe for name in names for probe in choose(name, budget)))
    asked = [*before(chosen), *chosen]
    bench = Bench(device, budget, seed, record)
    whole = bench.deadline(1.0)
    try:
        for index, probe in enumerate(asked):
            left = len(asked) - index
            share = min(FAIR_SHARES / left, MOST_SHARE) if left > 1 else 1.0
            told = partial(_scaled, progress, index, len(asked))
            bench.take_quiet()
            for answer in _of_one(probe, bench, told, whole.left_s * share):
                finding = replace(
                    naming_machine(answer, bench.quiet), where=_where(answer, bench, chosen)
                )
                bench.learn(finding)
                if probe in chosen:
                    yield finding
    finally:
        bench.enter(State.AS_FOUND)


def before(chosen: Sequence[ProbeInfo]) -> list[ProbeInfo]:
    """Give the probes that are asked first besides, as nothing that is wanted is told without.

    They say whether it is a disk, and what must be known; what they find is nobody's answer.
    """
    wanted = {name for probe in chosen for name in probe.properties}
    rows = [each for each in MASKS if wanted & {*each.hides}]
    if not rows:
        return []
    names = {each.by for each in rows if type(None) in each.when} | {*disk.PROBE.properties}
    others = (probe for probe in every().values() if probe not in chosen)
    return [probe for probe in others if names & {*probe.properties}]


def _where(finding: Finding, bench: Bench, chosen: Sequence[ProbeInfo]) -> Where:
    """Say where something was found: on what, and what a full budget would run besides."""
    full = [] if len(chosen) == 1 else choose("all", replace(bench.budget, heavy=True))
    more = [
        each.name
        for each in full
        if finding.name in each.properties
        and (each not in chosen or (each.more(bench.info) and not bench.heavy))
    ]
    return Where(bench.info.kind, bench.virtual, bench.budget.heavy, tuple(more))


def _of_one(
    probe: ProbeInfo, bench: Bench, progress: StageProgress, wall_s: float | None = None
) -> Iterator[Finding]:
    """Run one probe within what it may spend, and say what each answer cost."""
    written, requests = bench.bytes_written, bench.requests
    bench.record.ran(probe.name, bench.info, heavy=bench.heavy)
    planned = probe.planned_writes_bytes(bench.info, full=bench.heavy)
    with bench.allowance(planned, progress, wall_s):
        for finding in answers(probe, bench, bench, partial(_begin, probe, bench)):
            yield replace(
                finding,
                bytes_written=bench.bytes_written - written,
                requests=finding.requests or bench.requests - requests,
            )


def _begin(probe: ProbeInfo, bench: Bench) -> None:
    """Bring the drive into the state that a probe begins with, and note if it cannot be."""
    try:
        bench.enter(probe.state)
    except Stopped as stop:
        bench.record.stop(probe.name, stop)
        raise


def planned_writes_bytes(
    chosen: Sequence[ProbeInfo], info: DeviceInfo, *, full: bool = False
) -> int:
    """Give the most that probes write together; a state that several begin with counts once.

    A drive that cannot keep its state is prepared again before each. What a probe refuses to begin
    on, for want of a drive, room or permission, is not written.
    """
    chosen = [each for each in chosen if info.writable and not each.refused(info)]
    if not info.snapshot:
        return sum(probe.planned_writes_bytes(info, full=full) for probe in chosen)
    own = sum(probe.own_writes_bytes(info, full=full) for probe in chosen)
    states = {state for probe in chosen for state in probe.states(info, full=full)}
    return own + sum(state.writes_bytes(info.capacity_bytes) for state in states)


def _scaled(progress: StageProgress, done: int, count: int, stage: str, share: float) -> None:
    progress(stage, (done + share) / count)
