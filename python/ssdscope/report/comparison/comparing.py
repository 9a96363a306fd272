"""Several results put together: as a document, and as one self-contained page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.report import templating, words
from ssdscope.report.comparison import figures, sides
from ssdscope.report.comparison.inputs import KINDS, Entry, read_all
from ssdscope.report.comparison.speeds import Ranked, over_all, rank, ratio, shared
from ssdscope.report.parts import Table
from ssdscope.results.record import envelope
from ssdscope.units import significant

MARKS = {True: "differ", False: "same", None: "not certain"}


@dataclass(frozen=True)
class Comparison:
    """Results of one kind side by side.

    Attributes
    ----------
    entries
        In the order in which they were named.
    workloads
        Those that all of them have.
    ranking
        The fastest first.
    """

    entries: Sequence[Entry]
    workloads: Sequence[str]
    ranking: Sequence[Ranked]

    @property
    def kind(self) -> str:
        """What they are, one of `KINDS`."""
        return self.entries[0].kind

    def sentences(self) -> list[str]:
        """Say who is how many times faster than whom, as hyperfine does."""
        first, *others = self.ranking
        lines = [f"{first.entry.name} ran"]
        lines += [f"  {each.slower} times faster than {each.entry.name}" for each in others]
        return lines

    def headline(self) -> str:
        """Say it in one sentence."""
        first, second = self.ranking[0].entry.name, self.ranking[1]
        if len(self.ranking) > 2:
            return f"{first} is the fastest of {len(self.ranking)}"
        return f"{first} ran {second.slower} times faster than {second.entry.name}"

    def caution(self) -> str | None:
        """Say so if nobody is ahead for certain."""
        second = self.ranking[1].slower
        if second.half is None:
            return "Not every mean has an interval: measure longer to know whether they differ."
        return None if second.sure else "The first two do not differ for certain."

    def to_json(self) -> dict[str, Any]:
        """Write everything as plain data, with the head of our documents."""
        return {
            **envelope(),
            "kind": self.kind,
            "ranking": [each.to_json() for each in self.ranking],
            "workloads": [
                {
                    "workload": name,
                    "measured": {each.name: each.cells[name].to_json() for each in self.entries},
                }
                for name in self.workloads
            ],
            "findings": sides.findings(self.entries) if self.kind == "report" else [],
        }


def compare(paths: Sequence[str]) -> Comparison:
    """Compare files of one kind.

    Parameters
    ----------
    paths
        Two or more: reports, results of runs or replays, or tables of sweeps.

    Raises
    ------
    UsageError
        If they are of several kinds, cannot be read, or have no workload in common.
    """
    entries = read_all(paths)
    names = shared(entries)
    if not names:
        told = "\n".join(f"  {each.path}: {_few(each)}" for each in entries)
        raise UsageError(f"these have no workload in common:\n{told}")
    return Comparison(entries, names, rank(entries, names))


def _few(entry: Entry) -> str:
    names = list(entry.cells)
    more = "" if len(names) <= 3 else f" and {len(names) - 3} more"
    return "; ".join(names[:3]) + more if names else "nothing was measured"


def cells(told: Comparison) -> Table:
    """Give each shared workload: latency on each, and the fastest against the slowest."""
    rows = []
    for name in told.workloads:
        means = [each.cells[name] for each in told.entries]
        fast, slow = min(means, key=_mean), max(means, key=_mean)
        rows.append(
            (name, *(_told(each.mean_ns, each.half_ns) for each in means), f"{ratio(slow, fast)}")
        )
    heads = (each.name for each in told.entries)
    return Table(("workload", *heads, "slowest / fastest"), rows)


def _mean(cell: Any) -> float:
    return float(cell.mean_ns)


def _told(mean_ns: float, half_ns: float | None) -> str:
    if half_ns is None or not mean_ns:
        return words.time(mean_ns)
    return f"{words.time(mean_ns)} ± {significant(round(100 * half_ns / mean_ns, 4), 2)} %"


def pairwise(told: Comparison) -> Table:
    """Give every two: how many times as fast the one in the row is as that in the column."""
    order = [each.entry for each in told.ranking]
    rows = [
        (
            one.name,
            *(
                words.NOTHING if one is other else f"{over_all(other, one, told.workloads)}"
                for other in order
            ),
        )
        for one in order
    ]
    return Table(("times as fast as", *(each.name for each in order)), rows)


def render(told: Comparison) -> str:
    """Make the page: HTML that loads nothing."""
    entries = told.entries
    reports, runs = told.kind == "report", told.kind == "run"
    document = told.to_json()
    return templating.fill(
        "comparison.html.j2",
        document=document,
        names=[each.name for each in entries],
        files=[(each.name, each.path) for each in entries],
        what=KINDS[told.kind],
        headline=told.headline(),
        sentences=told.sentences()[1:] if len(entries) > 2 else [],
        caution=told.caution(),
        ranking=figures.ranking(told.ranking, len(told.workloads)),
        pairwise=pairwise(told) if len(entries) > 2 else None,
        findings=[row | {"mark": MARKS[row["differs"]]} for row in document["findings"]],
        curves=figures.curves(entries),
        cells=cells(told),
        sustained=sides.sustained(entries) if reports else None,
        twins=sides.twins(entries) if reports else None,
        percentiles=sides.percentiles(entries) if runs else None,
        settings=sides.settings(entries) if runs else None,
    )
