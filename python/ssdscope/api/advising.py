"""Settings that follow from a report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdscope import advise as advising
from ssdscope.api.characterizing import Report
from ssdscope.api.frames import frame
from ssdscope.api.keywords import keyworded
from ssdscope.api.opening import SEED
from ssdscope.api.shown import Shown, shown_as
from ssdscope.report import document
from ssdscope.seeds import require_seed

if TYPE_CHECKING:
    import pyarrow as pa

    from ssdscope.report.sheet import Sheet

COLUMNS = {
    "tool": "string",
    "knob": "string",
    "outcome": "string",
    "value": "string",
    "default": "string",
    "default_of": "string",
    "command": "string",
    "gain": "double",
    "gain_low": "double",
    "gain_high": "double",
    "gain_of": "string",
    "gain_remark": "string",
    "before": "string",
    "after": "string",
    "formula": "string",
    "because": "string",
    "findings": "string[]",
}
"""Of a table of advice."""


def rows(given: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give documents of advice as rows of a table: a gain and its interval are columns."""
    told = []
    for each in given:
        gain = each["gain"] or {}
        names = {"gain": "ratio", "gain_low": "low", "gain_high": "high", "gain_of": "of"}
        names |= {"before": "before", "after": "after"}
        told.append(each | {name: gain.get(key) for name, key in names.items()})
    return told


class Advice(Shown, advising.Advice):
    """One setting, which a notebook shows."""

    def __repr__(self) -> str:
        """Say what to set and what it gains, or why nothing."""
        if self.command is None:
            return f"{self.tool} {self.knob}: {self.outcome} ({self.because})"
        gain = "gain not measured" if self.gain is None else f"{self.gain.ratio:.3g} times as fast"
        return f"{self.tool} {self.knob} = {self.value}: {gain}"

    def _sheet(self) -> Sheet:
        from ssdscope.report.notebook import of_advice

        return of_advice([self.to_json()])


class Settings(list[Advice], Shown):
    """Advice: a list of one `Advice` per setting, in the order of the tools."""

    def __repr__(self) -> str:
        """Show a line per setting."""
        return "\n".join(map(repr, self)) or "no advice"

    def to_dict(self) -> dict[str, Any]:
        """Give what ``ssdscope advise -o json`` prints under ``advice``."""
        return {"advice": [each.to_json() for each in self]}

    def to_frame(self) -> pa.Table:
        """Make a table of a row per setting.

        Returns
        -------
        pyarrow.Table
            ``gain`` is how many times as fast, with its 95 % interval ``gain_low`` to
            ``gain_high``; null where it was not measured.

        Raises
        ------
        UsageError
            If pyarrow is not installed.
        """
        return frame(rows(each.to_json() for each in self), COLUMNS)

    def _sheet(self) -> Sheet:
        from ssdscope.report.notebook import of_advice

        return of_advice([each.to_json() for each in self])


@keyworded()
def advice(
    report: Report | str | os.PathLike[str],
    /,
    *,
    tools: Sequence[str] | str = (),
    device: str | None = None,
    seed: int = SEED,
) -> Settings:
    """Compute settings of file systems, databases, arrays and the kernel for a measured drive.

    Parameters
    ----------
    report
        What `characterize` gave, or the path of its JSON or of its page.
    tools
        Only these, as ``"ext4"`` or ``["ext4", "postgres"]``; all of them if empty.
    device
        Path of the device for the commands; the measured one if absent.
    seed
        Of the requests that gains are measured with, on the report's twin.

    Returns
    -------
    Settings
        A list of one `Advice` per setting. `Advice.command` is None where the tool's default
        should stay: `Advice.because` says why. `Advice.gain` has ``ratio``, ``low`` and ``high``,
        or is None: `Advice.gain_remark` says why.

    Raises
    ------
    UsageError
        If there is no advice for a tool, or the report is none.
    """
    wanted = tools.split(",") if isinstance(tools, str) and tools else tools
    used_seed = require_seed(seed)
    advising.require_tools(list(wanted))
    if isinstance(report, Report):
        read = document.parsed(report.document, str(report.page))
    else:
        read = document.read(Path(report))
    ground = advising.of_twin(read.document.get("twin"), used_seed)
    given = advising.of_document(
        read.document, read.findings, list(wanted), device=device, ground=ground
    )
    return Settings(shown_as(Advice, each) for each in given)
