"""Results that fio left."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdscope.api.keywords import keyworded
from ssdscope.api.shown import Pictured, Shown
from ssdscope.report import imported
from ssdscope.results.fio.folders import Found, find

if TYPE_CHECKING:
    import pyarrow as pa

    from ssdscope.report.parts import Chart
    from ssdscope.report.sheet import Sheet


@dataclass(frozen=True, repr=False)
class Imported(Shown, Pictured):
    """Results of fio, drive by drive.

    Attributes
    ----------
    found
        Its ``drives`` are documents in the shape of a run's, by drive; its ``left`` are files that
        are none, and why.
    """

    found: Found

    @property
    def drives(self) -> dict[str, list[dict[str, Any]]]:
        """Return the results of each drive, as the documents of runs."""
        return self.found.drives

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``ssdscope import -o json``."""
        return self.found.to_json()

    def to_frame(self) -> pa.Table:
        """Make a table of a row per run, as ``ssdscope import -O FILE.parquet`` writes it.

        Returns
        -------
        pyarrow.Table
        """
        from ssdscope.sweep.imported import outcomes
        from ssdscope.sweep.table import table_of

        return table_of(outcomes(self.drives))

    def _sheet(self) -> Sheet:
        from ssdscope.report.sheet import Sheet

        left = [f"not used: {each.path}: {each.why}" for each in self.found.left]
        tables = [imported.drives(self.found), imported.runs(self.found)]
        return Sheet(repr(self), tables=tables, remarks=left)

    def _charts(self) -> Sequence[Chart]:
        return imported.charts(self.found)

    def _nothing(self) -> str:
        return "neither depth nor jobs vary"

    def __repr__(self) -> str:
        """Count runs and drives."""
        drives = len(self.drives)
        return f"{len(self.found.records)} runs of fio on {drives} drive{'s' * (drives != 1)}"


@keyworded()
def import_fio(*paths: str | os.PathLike[str]) -> Imported:
    """Import results of fio: files, or folders with all below them.

    Parameters
    ----------
    *paths
        What fio writes with ``--output-format=json`` or ``json+``, and its logs.

    Returns
    -------
    Imported

    Raises
    ------
    UsageError
        If there is no such place, or nothing in it is a result of fio.
    """
    return Imported(find([os.fspath(path) for path in paths]))
