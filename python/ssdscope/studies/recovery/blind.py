"""One drive of the study: drawn, probed blind, judged."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from ssdscope import probes
from ssdscope.errors import SsdscopeError
from ssdscope.findings import Detected, Finding, Findings
from ssdscope.studies.recovery.generator import Drawn, draw, draw_flat
from ssdscope.studies.recovery.judge import Judgement, judge
from ssdscope.studies.recovery.measured import Case
from ssdscope.studies.recovery.observability import visibility
from ssdscope.studies.recovery.truth import ABSENT, KINDS, Truth
from ssdscope.targets.drive_writer import open_drive

ALWAYS_THERE = ("read_latency_alpha_ns", "read_latency_beta_ns_per_byte", "queue_depth_knee")
"""What may be detected on a flat drive too."""


@dataclass(frozen=True)
class Probed:
    """What came of a drive.

    Attributes
    ----------
    label
        `SEED:INDEX`, with an f for a flat one.
    redraws
        Draws that were thrown away before it.
    error
        Why probing broke off; None if it did not.
    """

    label: str
    flat: bool
    judgements: tuple[Judgement, ...]
    redraws: int
    seconds: float
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Write it for the journal."""
        return {
            "label": self.label,
            "flat": self.flat,
            "redraws": self.redraws,
            "seconds": round(self.seconds, 2),
            "error": self.error,
            "judgements": [each.to_json() for each in self.judgements],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Read it from the journal."""
        judgements = tuple(Judgement.from_json(each) for each in values["judgements"])
        return cls(**{**values, "judgements": judgements})


def probe_drawn(seed: int, index: int, *, flat: bool) -> Probed:
    """Draw a drive, probe it and judge the answers."""
    started = time.monotonic()
    drawn = draw_flat(seed, index) if flat else draw(seed, index)
    findings, error = _findings(drawn)
    by_name = Findings(findings)
    if flat:
        judgements = [_judged_flat(name, by_name.get(name)) for name in KINDS]
    else:
        case = Case(drawn)
        visible = visibility(case)
        judgements = [
            judge(name, case.truths[name], visible.get(name), by_name.get(name)) for name in KINDS
        ]
    took = time.monotonic() - started
    return Probed(drawn.label, flat, tuple(judgements), drawn.redraws, took, error)


def _findings(drawn: Drawn) -> tuple[list[Finding], str | None]:
    """Run all probes on a drive of which they see the device alone."""
    device = open_drive(drawn.toml(), "drawn", drawn.index)
    full = probes.Budget.parse("full")
    try:
        found = probes.run(["all"], device, full, drawn.index)
    except SsdscopeError as error:
        return [], error.message
    except Exception as error:  # noqa: BLE001  a defect on one drive is told beside the others
        return [], f"a defect: {type(error).__name__}: {error}"
    return found, None


def _judged_flat(name: str, finding: Finding | None) -> Judgement:
    """On a flat drive nothing may be detected but what every drive has, whatever its value."""
    if isinstance(finding, Detected) and name in ALWAYS_THERE:
        return judge(name, Truth(finding.value), None, finding)
    return judge(name, ABSENT, None, finding)
