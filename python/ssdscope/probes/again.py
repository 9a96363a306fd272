"""Deciding again upon what was recorded of a drive, without the drive."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ssdscope.errors import UsageError
from ssdscope.probes.asking import Known, answers
from ssdscope.probes.reconcile import reconciled
from ssdscope.probes.record import AGAIN, Record
from ssdscope.probes.registry import every

if TYPE_CHECKING:
    from ssdscope.findings import Finding
    from ssdscope.inference.series import Series
    from ssdscope.probes.plan import Plan
    from ssdscope.targets.records import DeviceInfo

__all__ = ["Recorded", "decide"]


class Recorded(Known):
    """What a family sees where there is a record and no drive."""

    def __init__(self, record: Record, info: DeviceInfo) -> None:
        super().__init__()
        self._record = record
        self.info = info
        self.heavy = record.heavy

    def take(self, plan: Plan) -> Series:
        """Give the series of a plan."""
        series = self._record.get(plan)
        if series is None:
            said = f"nothing was recorded of {plan!r}, which is asked for now"
            raise UsageError(said, hint=AGAIN)
        return series

    def progress(self, stage: str, share: float) -> None:
        """Tell nobody: it takes no time."""


def decide(record: Record) -> list[Finding]:
    """Decide upon all that was recorded, as the probes do that recorded it.

    Raises
    ------
    UsageError
        If a probe asks for something that was not measured, or there is none of its name.
    """
    if record.info is None:
        raise UsageError("nothing was recorded", hint=AGAIN)
    probes, ask = every(), Recorded(record, record.info)
    if gone := [name for name in record.probes if name not in probes]:
        raise UsageError(f"there is no probe {gone[0]!r} any more", hint=AGAIN)
    told: list[Finding] = []
    for probe in (each for name, each in probes.items() if name in record.probes):
        for finding in answers(probe, ask, ask, partial(record.begin, probe.name)):
            ask.learn(finding)
            told.append(finding)
    return reconciled(told)
