"""Probes run on a target, and what they used of what was planned."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdscope.errors import DeviceError
from ssdscope.findings import Finding, Findings
from ssdscope.probes import session
from ssdscope.probes.budget import StageProgress, silent
from ssdscope.probes.reconcile import reconciled
from ssdscope.report.spending import Account, Plan, Took
from ssdscope.targets.metered import MeteredDevice

if TYPE_CHECKING:
    from ssdscope.probes.record import Record
    from ssdscope.targets import Target


@dataclass(frozen=True)
class Probed:
    """What probes found.

    Attributes
    ----------
    findings
        One per property, held against each other; those that were complete, if it ended early.
    spent
        What was used of the budget, as `Account.to_json` gives it.
    interrupted
        Whether Ctrl-C ended it early.
    failure
        What became of a drive that failed on the way.
    """

    findings: Findings
    spent: dict[str, Any]
    interrupted: bool = False
    failure: DeviceError | None = None


def run_probes(
    target: Target,
    names: Sequence[str],
    plan: Plan,
    *,
    seed: int,
    progress: StageProgress = silent,
    record: Record | None = None,
) -> Probed:
    """Run probes within a plan.

    Parameters
    ----------
    names
        Of probes, or ``all``.
    plan
        What may be spent, by `spending.of_probes`.
    seed
        Of everything drawn.
    progress
        Called with the stage and the share that is done.
    record
        What was measured before, and is not measured again; what is measured is added.

    Raises
    ------
    UsageError
        If more would be written to a real drive than only a full budget allows.
    """
    plan.require_asked()
    account, worked_s = Account(plan), time.process_time()
    device = MeteredDevice(target.device)
    found: list[Finding] = []
    interrupted, failure = False, None
    try:
        found.extend(session.each(names, device, plan.budget, seed, progress, record))
    except KeyboardInterrupt:
        interrupted = True
    except DeviceError as broken:
        failure = broken
    findings = Findings(reconciled(found))
    took = Took(account.used_s, time.process_time() - worked_s, device.spent.work_s)
    account.add("findings", took, plan.budget.wall_s, device.spent)
    return Probed(findings, account.to_json(), interrupted, failure)
