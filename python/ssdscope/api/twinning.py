"""The twin of a report: a simulated drive that behaves like the measured one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdscope.api.frames import frame
from ssdscope.api.opening import SEED
from ssdscope.api.progress import OnStage, stages
from ssdscope.api.shown import Pictured, Shown
from ssdscope.report import twinning
from ssdscope.results.files import write_text
from ssdscope.results.guard import Place, claim_places
from ssdscope.seeds import require_seed
from ssdscope.targets.opening import as_set
from ssdscope.twin import WhatIf

if TYPE_CHECKING:
    import pyarrow as pa

    from ssdscope.report.parts import Chart
    from ssdscope.report.sheet import Sheet

_OPTION = "what_if"
_COLUMNS = {
    "rw": "string",
    "block_bytes": "int64",
    "iodepth": "int64",
    "sustained": "bool",
    "original_ns": "double",
    "changed_ns": "double",
    "ratio": "double",
    "low": "double",
    "high": "double",
}


class WhatIfs(list[WhatIf], Shown):
    """Workloads on a twin as it is and as it would be; each has the ratio of the two means.

    Attributes
    ----------
    changes
        What was changed, by key.
    """

    def __init__(self, rows: Sequence[WhatIf], changes: Mapping[str, str]) -> None:
        super().__init__(rows)
        self.changes = dict(changes)

    def __repr__(self) -> str:
        """Show a line per workload."""
        rows = twinning.what_if_table(self).rows
        return "\n".join(
            f"{workload}, depth {depth}: {before}, changed {after}, ratio {ratio} ({within})"
            for workload, depth, before, after, ratio, within in rows
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the keys ``changes`` and ``what_if`` of ``ssdscope twin -o json``."""
        return {"changes": self.changes, "what_if": [each.to_json() for each in self]}

    def to_frame(self) -> pa.Table:
        """Make a table of a row per workload.

        Returns
        -------
        pyarrow.Table

        Raises
        ------
        UsageError
            If pyarrow is not installed.
        """
        return frame((each.workload | each.to_json() for each in self), _COLUMNS)

    def _sheet(self) -> Sheet:
        from ssdscope.report.sheet import Sheet

        named = ", ".join(f"{key}={value}" for key, value in self.changes.items())
        title = f"mean latency with {named}; a ratio below 1 is faster"
        return Sheet(title, tables=[twinning.what_if_table(self)])


@dataclass(frozen=True, repr=False)
class Twin(Shown, Pictured):
    """A simulated drive that behaves like a measured one.

    Attributes
    ----------
    reported
        As the report has it.
    """

    reported: twinning.ReportedTwin

    @property
    def toml(self) -> str:
        """The drive file."""
        return self.reported.toml

    @property
    def errors(self) -> Mapping[str, Any] | None:
        """How far it is off on held-out workloads, as shares; None if it was held to none."""
        return self.reported.errors

    @property
    def sketch(self) -> bool:
        """Whether it is too far off for figures."""
        return self.reported.sketch

    @property
    def not_modelled(self) -> Sequence[str]:
        """What was not found, so that it has what fits best."""
        return self.reported.not_modelled

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the drive file; the path is a target for `open`.

        Parameters
        ----------
        path
            Where it goes, ending in ``.toml``.
        force
            Also replace a file that ssdscope did not write.

        Raises
        ------
        UsageError
            If no file can be there.
        OutputError
            If it cannot be written.
        """
        place = Path(path)
        with claim_places([Place(str(place))], [self.reported.report.where], force=force):
            write_text(place, self.toml)
        return place

    def what_if(
        self,
        changes: Mapping[str, Any] | Sequence[str],
        *,
        seed: int = SEED,
        progress: OnStage = None,
    ) -> WhatIfs:
        """Run a table of workloads on the twin as it is, and as it would be.

        Parameters
        ----------
        changes
            Keys of the drive file, by name, or as ``"KEY=VALUE"``.
        seed
            Of the drives and the runs.
        progress
            As of `probe`.

        Returns
        -------
        WhatIfs
            A list, each with ``workload``, ``original_ns``, ``changed_ns`` and the ``ratio`` of the
            changed to the original with its 95 % interval, ``low`` to ``high``; ``least`` to
            ``most`` are the ratios of all designs that the measured drive may be.

        Raises
        ------
        ConfigError
            If a change has a fault.
        """
        words = (
            [as_set(key, value) for key, value in changes.items()]
            if isinstance(changes, Mapping)
            else ((changes,) if isinstance(changes, str) else changes)
        )
        known = twinning.parsed_changes(words, _OPTION)
        twinning.require_changes(self.reported, known, _OPTION)
        with stages(progress) as stage:
            rows = twinning.what_if(self.reported, known, seed=require_seed(seed), progress=stage)
        return WhatIfs(rows, known)

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data, as ``ssdscope twin -o json`` does under ``twin``."""
        return self.reported.to_json()

    def _sheet(self) -> Sheet:
        from ssdscope.report.sheet import Sheet

        remarks = [
            f"Not found, as fits best: {each.partition(';')[0]}." for each in self.not_modelled
        ]
        remarks += [f"Other designs fit as well: {each}." for each in self.reported.differ]
        title = f"twin of {self.reported.report.uri}"
        return Sheet(title, [("error", self.reported.in_words())], remarks=remarks)

    def _charts(self) -> Sequence[Chart]:
        from ssdscope.report.figures import twin_chart

        chart = twin_chart(self.reported.report.document)
        return [] if chart is None else [chart]

    def _nothing(self) -> str:
        return "the twin was held to no workload"

    def __repr__(self) -> str:
        """Name the drive, and how far the twin is off."""
        return f"twin of {self.reported.report.uri}: {self.reported.in_words()}"
