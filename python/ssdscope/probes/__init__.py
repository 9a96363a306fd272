"""Experiments that find out what is inside a drive, through the same door as any host.

Reading order:

`finding`
    The four answers: detected, absent, ambiguous, undetectable; the closed list of reasons.
`budget`, `measure`
    What may be spent, and the discipline that all probes share.
`latency`
    The first probe: per request, per byte, per depth (`size_sweep`, `depth_sweep`).

A new probe is a file with a `PROBE`, and one line in `_PROBES` below. Probes see a `Device`
and nothing else: never the configuration of a simulated drive.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ssdscope.errors import UsageError
from ssdscope.probes import latency
from ssdscope.probes.budget import Budget, Deadline, StageProgress, silent
from ssdscope.probes.finding import Absent, Ambiguous, Detected, Finding, Reason, Undetectable
from ssdscope.probes.info import ProbeInfo

if TYPE_CHECKING:
    from ssdscope.targets.device import Device

__all__ = [
    "Absent",
    "Ambiguous",
    "Budget",
    "Deadline",
    "Detected",
    "Finding",
    "ProbeInfo",
    "Reason",
    "StageProgress",
    "Undetectable",
    "choose",
    "each",
    "registry",
    "run",
    "silent",
]

_PROBES = (latency.PROBE,)


def registry() -> dict[str, ProbeInfo]:
    """All probes by name."""
    return {probe.name: probe for probe in _PROBES}


def run(
    names: Sequence[str],
    device: Device,
    budget: Budget,
    seed: int,
    progress: StageProgress = silent,
) -> list[Finding]:
    """Run probes one after the other; ``all`` stands for every one the budget allows.

    Raises
    ------
    UsageError
        If a name is unknown.
    """
    return list(each(names, device, budget, seed, progress))


def each(
    names: Sequence[str],
    device: Device,
    budget: Budget,
    seed: int,
    progress: StageProgress = silent,
) -> Iterator[Finding]:
    """Run probes as `run` does, and give each finding as soon as it is known."""
    chosen = [probe for name in names for probe in choose(name, budget)]
    for index, probe in enumerate(chosen):
        share_of_all = partial(_scaled, progress, index, len(chosen))
        yield from probe.detect(device, budget, seed, share_of_all)


def _scaled(progress: StageProgress, done: int, count: int, stage: str, share: float) -> None:
    progress(stage, (done + share) / count)


def choose(name: str, budget: Budget) -> list[ProbeInfo]:
    """Give the probe of a name, or all that the budget allows.

    Raises
    ------
    UsageError
        If the name is unknown.
    """
    probes = registry()
    if name == "all":
        return [probe for probe in probes.values() if budget.heavy or probe.weight != "heavy"]
    if name not in probes:
        near = difflib.get_close_matches(name, [*probes, "all"], n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(probes)} and all"
        raise UsageError(f"there is no probe {name!r}", hint=hint)
    return [probes[name]]
