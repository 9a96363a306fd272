"""Several results put together: as a document, and as one self-contained page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.report import templating, words
from ssdscope.report.comparison import figures, sides
from ssdscope.report.comparison.inputs import KINDS, Entry, Source, read_all
from ssdscope.report.comparison.speeds import Group, Ranked, grouped, over_all, rank, ratio, shared
from ssdscope.report.parts import Chart, Table
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
        The fastest first, over all of these; a claim is made by group only.
    groups
        The workloads by pattern.
    """

    entries: Sequence[Entry]
    workloads: Sequence[str]
    ranking: Sequence[Ranked]
    groups: Sequence[Group]

    @property
    def kind(self) -> str:
        """What they are, one of `KINDS`."""
        return self.entries[0].kind

    def sentences(self) -> list[str]:
        """Say in each group who is how many times faster than whom, as hyperfine does."""
        lines = []
        for each in self.groups:
            first, *others = each.ranking
            lines.append(f"{_titled(each)}: {first.entry.name} ran")
            lines += [f"  {one.slower} times faster than {one.entry.name}" for one in others]
        return lines

    def headline(self) -> str:
        """Say it in one sentence, with the workloads that it rests on."""
        count = len(self.ranking)
        ahead: dict[str, list[str]] = {}
        for each in self.groups:
            first = each.ranking[0].entry.name if each.sure else "nobody"
            ahead.setdefault(first, []).append(each.name)
        if len(self.groups) > 1 and len(ahead) == 1 and "nobody" not in ahead:
            every = " and ".join(each.name for each in self.groups)
            return (
                f"{next(iter(ahead))} is the fastest of {count} in all that was compared: {every}"
            )
        if len(self.groups) > 1:
            told = (f"{name} in {' and '.join(names)}" for name, names in ahead.items())
            return f"The fastest of {count} for certain: {'; '.join(told)}"
        only = self.groups[0]
        first, second = only.ranking[0].entry.name, only.ranking[1]
        if count > 2:
            return f"{first} is the fastest of {count} in {_titled(only)}"
        return f"{first} ran {second.slower} times faster than {second.entry.name} in {only.name}"

    def caution(self) -> str | None:
        """Say where nobody is ahead for certain."""
        if any(each.ranking[1].slower.half is None for each in self.groups):
            return "Not every mean has an interval: measure longer to know whether they differ."
        unsure = [each.name for each in self.groups if not each.sure]
        if not unsure:
            return None
        where = f" in {', '.join(unsure)}" if len(self.groups) > 1 else ""
        return f"The first two do not differ for certain{where}."

    def missing(self) -> list[str]:
        """Say which patterns are not compared, as not all have a workload of them."""
        compared = {each.name for each in self.groups}
        found: dict[str, list[str]] = {}
        for each in self.entries:
            for name in {cell.group for cell in each.cells.values()} - compared:
                found.setdefault(name, []).append(each.name)
        return [
            f"{name}: not compared, measured of {', '.join(own)} only"
            if len(own) < len(self.entries)
            else f"{name}: not compared, no workload is common to all"
            for name, own in sorted(found.items())
        ]

    def to_json(self) -> dict[str, Any]:
        """Write everything as plain data, with the head of our documents."""
        return {
            **envelope(),
            "kind": self.kind,
            "ranking": [each.to_json() for each in self.ranking],
            "groups": [each.to_json() for each in self.groups],
            "measured_as": [
                {"name": each.name, "said": sides.circumstances(each)} for each in self.entries
            ],
            "workloads": [
                {
                    "workload": name,
                    "measured": {each.name: each.cells[name].to_json() for each in self.entries},
                }
                for name in self.workloads
            ],
            "findings": sides.findings(self.entries) if self.kind == "report" else [],
        }


def compare(sources: Sequence[str | Source]) -> Comparison:
    """Compare results of one kind.

    Parameters
    ----------
    sources
        Two files or more: reports, results of runs or replays, or tables of sweeps; or such in
        memory.

    Raises
    ------
    UsageError
        If they are of several kinds, cannot be read, or have no workload in common.
    """
    entries = read_all(sources)
    names = shared(entries)
    if not names:
        told = "\n".join(f"  {each.path}: {_few(each)}" for each in entries)
        raise UsageError(f"these have no workload in common:\n{told}")
    return Comparison(entries, names, rank(entries, names), grouped(entries, names))


def _titled(group: Group) -> str:
    """Name a group with the number of its workloads."""
    count = len(group.workloads)
    return group.name if count == 1 else f"{group.name} ({count} workloads)"


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


def _mark(row: dict[str, Any]) -> str:
    """Say whether drives differ in a property, where not all have an answer among those that do."""
    alike = row["differs"] is False and row["answered"] < len(row["values"])
    return "same where known" if alike else MARKS[row["differs"]]


def _mean(cell: Any) -> float:
    return float(cell.mean_ns)


def _told(mean_ns: float, half_ns: float | None) -> str:
    if half_ns is None or not mean_ns:
        return words.time(mean_ns)
    return f"{words.time(mean_ns)} ± {significant(round(100 * half_ns / mean_ns, 4), 2)} %"


def rankings(told: Comparison) -> list[Chart]:
    """Draw the ranking of each group."""
    return [figures.ranking(each, number) for number, each in enumerate(told.groups)]


def pairwise(group: Group) -> Table:
    """Give every two of a group: how many times as fast the row is as the column."""
    order = [each.entry for each in group.ranking]
    rows = [
        (
            one.name,
            *(
                words.NOTHING if one is other else f"{over_all(other, one, group.workloads)}"
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
        sentences=told.sentences(),
        caution=told.caution(),
        missing=told.missing(),
        circumstances=[(each.name, sides.circumstances(each)) for each in entries],
        rankings=[
            (chart, pairwise(group) if len(entries) > 2 else None)
            for chart, group in zip(rankings(told), told.groups, strict=True)
        ],
        findings=[row | {"mark": _mark(row)} for row in document["findings"]],
        curves=figures.curves(entries),
        cells=cells(told),
        sustained=sides.sustained(entries) if reports else None,
        twins=sides.twins(entries) if reports else None,
        percentiles=sides.percentiles(entries) if runs else None,
        settings=sides.settings(entries) if runs else None,
        timelines=figures.timelines(entries) if runs else [],
    )
