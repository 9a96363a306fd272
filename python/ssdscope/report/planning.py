"""What a page may take and write, stage by stage, said before the first request.

Each stage holds to it: a meter stands between the stage and the drive (`targets.metered`), and lets
nothing pass that would write more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ssdscope.probes.registry import choose
from ssdscope.report import modelling, performance, replay, stages, sustaining
from ssdscope.report.spending import Part, Plan, looked_at_bytes, of_probes
from ssdscope.report.stage_budget import part
from ssdscope.targets.work import BYTE_S

if TYPE_CHECKING:
    from ssdscope.probes.budget import Budget
    from ssdscope.targets import Target

START_S, PAGE_S = 2.0, 4.0
"""What it takes to load what measures, and to open a drive; and to draw the page."""
LEAST_S = 1.5
"""What stages take together at least: a few figures."""
STAGE_BYTES = 8 << 30
"""What a stage behind the probes may write to a real drive, or one capacity if that is more..."""
SUSTAINED_TIMES = 8
"""Of that, what may be written until writes come to rest."""
STAGE_UNASKED = 0.125
"""... but no more than this part of what may be written without being asked for."""
START, PAGE = "start", "page"
"""Parts of a plan that are no stages: until the first request, and behind the last."""


def of_page(
    target: Target,
    budget: Budget,
    shares: Mapping[str, float],
    rated: int | None = None,
    trace: replay.TraceFile | None = None,
) -> Plan:
    """Say what a page may spend.

    Parameters
    ----------
    shares
        Stages that are still to come, in order, with their shares of the time.
    rated
        Bytes that the user says the drive is rated for.
    trace
        What is replayed.
    """
    probing = of_probes(
        target, budget, choose("all", budget) if "findings" in shares else [], rated
    )
    seconds = max(budget.wall_s, START_S + PAGE_S + LEAST_S)
    whole, stages_s = sum(shares.values()) or 1.0, seconds - START_S - PAGE_S
    parts = [Part(START, 0, START_S)]
    foreseen = replay.Foreseen()
    if trace is not None and "trace" in shares:
        foreseen = replay.foresee(trace, target.device)
    for name, share in shares.items():
        of_stage = part(budget, share / whole * stages_s)
        writes = _writes_bytes(name, target, of_stage, probing, foreseen.writes_bytes)
        parts.append(Part(name, writes, of_stage.wall_s))
    parts.append(Part(PAGE, 0, PAGE_S))
    total = sum(each.writes_bytes for each in parts)
    return replace(
        probing,
        parts=tuple(parts),
        writes_bytes=total,
        reads_first_bytes=looked_at_bytes(target, total),
        seconds=seconds,
        stages_s=stages_s,
        trace_refused=foreseen.refusal,
    )


def _writes_bytes(name: str, target: Target, budget: Budget, probing: Plan, of_trace: int) -> int:
    """Give the most that a stage writes in its part of the time."""
    info = target.device.info
    if name == "findings":
        counted = budget.wall_s / BYTE_S
        return min(probing.writes_bytes, round(counted)) if probing.simulated else (
            probing.writes_bytes
        )  # fmt: skip
    if not info.writable or (target.kind == "null" and probing.drive_bytes is None):
        return 0
    if name == "trace":
        return of_trace
    if not probing.simulated:
        return _real_bytes(name, target.capacity_bytes, budget, probing.unasked_bytes)
    most = {
        "overview": lambda: performance.writes_bytes(info, budget, overview=True),
        "performance": lambda: performance.writes_bytes(info, budget, overview=False),
        "sustained": lambda: sustaining.writes_bytes(info, budget),
        "distribution": lambda: performance.distributions_bytes(info, budget),
        "models": lambda: modelling.writes_bytes(info, budget),
    }.get(name)
    return 0 if most is None else most()


def _real_bytes(name: str, capacity_bytes: int, budget: Budget, unasked: int | None) -> int:
    if name not in stages.WRITING:
        return 0
    most = max(capacity_bytes, STAGE_BYTES)
    if name == "sustained":  # which is only asked for with a full budget
        return SUSTAINED_TIMES * most if budget.heavy else 0
    return most if budget.heavy or unasked is None else min(most, int(STAGE_UNASKED * unasked))
