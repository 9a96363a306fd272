"""One target of the study: drawn, probed blind, judged."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Self

from ssdscope.errors import SsdscopeError, UsageError
from ssdscope.findings import Ambiguous, Detected, Finding, Findings
from ssdscope.probes import session
from ssdscope.probes.again import decide
from ssdscope.probes.budget import Budget
from ssdscope.probes.record import Record
from ssdscope.recovery.generator import Drawn, draw, draw_flat
from ssdscope.recovery.judge import Judgement, Outcome, judge
from ssdscope.recovery.kept import Kept
from ssdscope.recovery.known import Known, known
from ssdscope.recovery.second import draw_second
from ssdscope.recovery.sources import Source
from ssdscope.recovery.truth import ABSENT, KINDS, Truth
from ssdscope.recovery.truth_of_disks import (
    DISK_KINDS,
    truths_of_disks,
    visible_of_disks,
)
from ssdscope.recovery.without_flash import WithoutFlash, draw_without_flash
from ssdscope.targets.device import Device

ALWAYS_THERE = ("read_latency_alpha_ns", "read_latency_beta_ns_per_byte", "queue_depth_knee")
"""What may be detected on a flat drive, and on targets without flash, too."""
FULL, SHORT = "full", "1m"
"""Budgets: of what lives in simulated time, and of what does not."""


@dataclass(frozen=True)
class Probed:
    """What came of a drive.

    Attributes
    ----------
    label
        `SEED:INDEX`, and the letter of its source.
    redraws
        Draws that were thrown away before it.
    error
        Why probing broke off; None if it did not.
    """

    label: str
    source: Source
    judgements: tuple[Judgement, ...]
    redraws: int
    seconds: float
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Write it for the journal."""
        return {
            "label": self.label,
            "source": str(self.source),
            "redraws": self.redraws,
            "seconds": round(self.seconds, 2),
            "error": self.error,
            "judgements": [each.to_json() for each in self.judgements],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Read it from the journal."""
        judgements = tuple(Judgement.from_json(each) for each in values["judgements"])
        source = Source(values["source"])
        return cls(**{**values, "source": source, "judgements": judgements})


def probe_drawn(
    seed: int, index: int, source: Source = Source.FIRST, series: Path | None = None
) -> Probed:
    """Draw a target, probe it and judge the answers.

    Parameters
    ----------
    series
        A folder: what was measured of the drive is kept there, and decided upon again the next
        time. Targets without flash are measured each time.
    """
    if source is Source.WITHOUT_FLASH:
        return _probe_without_flash(draw_without_flash(seed, index))
    started, label = time.monotonic(), f"{seed}:{index}{source}"
    kept = None if series is None else Kept(series, label)
    drawn = cache(partial(_DRAW[source], seed, index))
    findings, error = _found(drawn, index, kept)
    by_name = Findings(findings)
    if source is Source.FLAT:
        judgements = [_judged_flat(name, by_name.get(name)) for name in KINDS]
        redraws = drawn().redraws
    else:
        true, redraws = _known(drawn, kept)
        judgements = [
            judge(name, true.truths[name], true.visible.get(name), by_name.get(name))
            for name in KINDS
        ]
    took = time.monotonic() - started
    return Probed(label, source, tuple(judgements), redraws, took, error)


def _found(
    draw_it: Callable[[], Drawn], index: int, kept: Kept | None
) -> tuple[list[Finding], str | None]:
    """Probe a drive, or decide upon what was measured of it before."""
    if kept is None:
        return _guarded(lambda: _run(draw_it().open(), index, FULL))
    record = kept.record()

    def find() -> list[Finding]:
        with suppress(UsageError):  # something is asked for that was not measured
            return decide(record)
        found = _run(draw_it().open(), index, FULL, record)
        kept.keep(record)
        return found

    return _guarded(find)


def _known(draw_it: Callable[[], Drawn], kept: Kept | None) -> tuple[Known, int]:
    """Work out what is true of a drive and how many draws it took, unless that was kept."""
    if kept is not None and (before := kept.known()) is not None:
        return before
    drawn = draw_it()
    true = known(drawn)
    if kept is not None:
        kept.keep_known(true, drawn.redraws)
    return true, drawn.redraws


_DRAW: Mapping[Source, Callable[[int, int], Drawn]] = {
    Source.FIRST: draw,
    Source.FLAT: draw_flat,
    Source.SECOND: draw_second,
}


def _probe_without_flash(drawn: WithoutFlash) -> Probed:
    started = time.monotonic()
    with drawn.opened() as device:
        budget = SHORT if drawn.real_time else FULL
        findings, error = _guarded(lambda: _run(device, drawn.index, budget))
    by_name = Findings(findings)
    judgements = [_judged_without_flash(name, by_name.get(name)) for name in KINDS]
    if drawn.disks:
        truths, visible = truths_of_disks(drawn.disks), visible_of_disks(drawn.disks)
        judgements += [
            judge(name, truths[name], visible.get(name), by_name.get(name)) for name in DISK_KINDS
        ]
    took = time.monotonic() - started
    source = Source.WITHOUT_FLASH
    return Probed(drawn.label, source, tuple(judgements), drawn.redraws, took, error)


def _run(device: Device, seed: int, budget: str, record: Record | None = None) -> list[Finding]:
    """Run all probes, which see the device alone."""
    return session.run(["all"], device, Budget.parse(budget), seed, record=record)


def _guarded(find: Callable[[], list[Finding]]) -> tuple[list[Finding], str | None]:
    """Give what is found, or why that broke off."""
    try:
        found = find()
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


def _judged_without_flash(name: str, finding: Finding | None) -> Judgement:
    """Without flash candidates are a claim, too: that one of them is there."""
    judged = _judged_flat(name, finding)
    if isinstance(finding, Ambiguous) and name not in ALWAYS_THERE:
        return replace(judged, outcome=Outcome.WRONG)
    return judged
