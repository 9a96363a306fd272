"""The twin of a report: a simulated drive that behaves like the measured one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdscope.api.opening import SEED
from ssdscope.probes.budget import StageProgress, silent
from ssdscope.report import twinning
from ssdscope.results.files import write_text
from ssdscope.results.guard import Place, claim_places
from ssdscope.seeds import require_seed
from ssdscope.targets.opening import as_set
from ssdscope.twin import WhatIf

_OPTION = "what_if"


@dataclass(frozen=True, repr=False)
class Twin:
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
        """What it has in its simplest form."""
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
        progress: StageProgress | None = None,
    ) -> list[WhatIf]:
        """Run a table of workloads on the twin as it is, and as it would be.

        Parameters
        ----------
        changes
            Keys of the drive file, by name, or as ``"KEY=VALUE"``.
        seed
            Of the drives and the runs.
        progress
            Called with what is run and the share that is done.

        Returns
        -------
        list of WhatIf
            Each with ``workload``, ``original_ns``, ``changed_ns`` and the ``ratio`` of the
            changed to the original with its 95 % interval, ``low`` to ``high``.

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
        return twinning.what_if(
            self.reported, known, seed=require_seed(seed), progress=progress or silent
        )

    def __repr__(self) -> str:
        """Name the drive, and how far the twin is off."""
        return f"twin of {self.reported.report.uri}: {self.reported.in_words()}"
