"""The machine around a wall-clock target: what of it an answer may not be trusted with.

What is measured in a second or two shares one state of the machine: where its cores' clock stands,
what else runs. The next run meets another. So a line is measured in sittings that lie apart, and
what differs between them counts in whole: it does not average out over a run, as it differs from
run to run (`stats.lasting`). What remains, a refusal names.
"""

from __future__ import annotations

from dataclasses import replace

from ssdscope.findings import Finding, Reason, Undetectable
from ssdscope.targets.quiet import Quiet, machine_busy

NOISE = (Reason.EFFECT_BELOW_NOISE, Reason.MODEL_MISFIT, Reason.INTERFERENCE)
"""Refusals that a busy machine brings about."""


def naming_machine(finding: Finding, quiet: Quiet | None) -> Finding:
    """Let a refusal for noise name the machine, where that was busy."""
    if not isinstance(finding, Undetectable) or finding.reason not in NOISE:
        return finding
    busy = machine_busy(quiet)
    if not busy:
        return finding
    told = finding.evidence.saying(busy)
    return replace(finding, reason=Reason.MACHINE_BUSY, evidence=told)
