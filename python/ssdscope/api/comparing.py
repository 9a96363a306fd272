"""Results side by side."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ssdscope.api.characterizing import Report
from ssdscope.api.frames import frame
from ssdscope.api.keywords import keyworded
from ssdscope.api.result import Run
from ssdscope.api.shown import Pictured, Shown
from ssdscope.api.sweeping import Sweep
from ssdscope.errors import UsageError
from ssdscope.report import comparison
from ssdscope.report.comparison import Source
from ssdscope.results.files import write_text
from ssdscope.results.fio.folders import files_in
from ssdscope.results.guard import Place, claim_places

if TYPE_CHECKING:
    import pyarrow as pa

    from ssdscope.report.parts import Chart
    from ssdscope.report.sheet import Sheet

Comparable: TypeAlias = "Run | Report | Sweep | str | os.PathLike[str]"
"""A result, or the file of one."""
_COLUMNS = {"workload": "string", "name": "string", "mean_ns": "double", "half_ns": "double"}


@dataclass(frozen=True, repr=False)
class Comparison(Shown, Pictured):
    """Results of one kind side by side.

    Attributes
    ----------
    told
        All of it: who is ahead in which group of workloads, and how surely.
    """

    told: comparison.Comparison

    @property
    def headline(self) -> str:
        """Say who is the fastest, with the workloads that this rests on."""
        return self.told.headline()

    @property
    def caution(self) -> str | None:
        """Say where nobody is ahead for certain; None where somebody always is."""
        return self.told.caution()

    def to_dict(self) -> dict[str, Any]:
        """Give the document of ``ssdscope compare -o json``."""
        return self.told.to_json()

    def to_frame(self) -> pa.Table:
        """Make a table of a row per shared workload and result.

        Returns
        -------
        pyarrow.Table
            ``half_ns`` is half the width of the 95 % interval of the mean latency.

        Raises
        ------
        UsageError
            If pyarrow is not installed.
        """
        rows = [
            {"workload": name, "name": each.name, **each.cells[name].to_json()}
            for name in self.told.workloads
            for each in self.told.entries
        ]
        return frame(rows, _COLUMNS)

    def _sheet(self) -> Sheet:
        from ssdscope.report.comparison.comparing import cells
        from ssdscope.report.comparison.sides import circumstances
        from ssdscope.report.sheet import Sheet

        known = [(each.name, said) for each in self.told.entries if (said := circumstances(each))]
        remarks = [*self.told.missing(), *([self.caution] if self.caution else [])]
        return Sheet(self.headline, known, [cells(self.told)], remarks)

    def _charts(self) -> Sequence[Chart]:
        from ssdscope.report.comparison import comparing, figures

        return [*comparing.rankings(self.told), *figures.curves(self.told.entries)]

    def __repr__(self) -> str:
        """Say in each group who is how many times faster than whom."""
        return "\n".join(self.told.sentences())


@keyworded()
def compare(
    *results: Comparable | Mapping[str, Comparable],
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> Comparison:
    """Compare results of one kind: ranked, with relative speeds and their intervals.

    Speeds are ratios of mean latencies of the same workload; over several workloads, those that
    all results have, the geometric mean. Intervals are of 95 %.

    Parameters
    ----------
    *results
        Two or more of one kind: runs or replays, reports, sweeps, or the files of such; fio's
        JSON, or folders of it. Or one mapping of names to them.
    out
        Write a page about them here.
    force
        Also replace a file that ssdscope did not write.

    Returns
    -------
    Comparison

    Raises
    ------
    UsageError
        If they are of several kinds, cannot be read, or have no workload in common.
    OutputError
        If the page cannot be written.

    Examples
    --------
    >>> import ssdscope as s
    >>> loads = {"rw": "randread", "bs": "4k", "number_ios": 2000}
    >>> old, new = (s.run(name, **loads) for name in ("sim:ryu-a", "sim:ryu-c"))
    >>> s.compare({"old": old, "new": new}).headline
    'new ran 1.17 ± 0.00 times faster than old in reads'
    """
    sources = _sources(results)
    read = [file for each in sources if each.document is None for file in files_in(each.where)]
    if out is None:
        return Comparison(comparison.compare(sources))
    page = Path(out)
    if page.suffix != ".html":
        raise UsageError(f"cannot write {page}: the name must end in .html")
    with claim_places([Place(str(page))], read, force=force):
        told = comparison.compare(sources)
        write_text(page, comparison.render(told))
    return Comparison(told)


def _sources(results: Sequence[Comparable | Mapping[str, Comparable]]) -> list[Source]:
    """Give what is compared, named by the keys of a mapping or by what it is."""
    if len(results) == 1 and isinstance(results[0], Mapping):
        return [_source(each, str(name), str(name)) for name, each in results[0].items()]
    return [_source(each, f"result {place}") for place, each in enumerate(results, start=1)]


def _source(result: Any, where: str, name: str | None = None) -> Source:
    match result:
        case Run():
            return Source(where, name, result.document)
        case Report():
            return Source(str(result.page), name, result.document)
        case Sweep():
            return Source(result.table, name)
        case str() | os.PathLike():
            return Source(os.fspath(result), name)
    raise UsageError(
        f"compare() takes no {type(result).__name__}",
        hint="give runs, reports or sweeps, the files of such, or a mapping of names to them",
    )
