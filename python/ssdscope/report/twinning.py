"""The twin of a report: its drive file, how far it is off, and what a change to it would do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdscope import twin
from ssdscope.errors import ConfigError, UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.report import words
from ssdscope.report.document import Report
from ssdscope.report.parts import Table
from ssdscope.results.marks import MADE_BY
from ssdscope.shown import shown_name
from ssdscope.workloads import Workload

SIZES_BYTES = (4096, 65_536)
DEPTHS = (1, 32)
ASKED = tuple(
    Workload(rw=rw, block_bytes=size, iodepth=depth)
    for rw in ("randread", "read", "randwrite", "write")
    for size in SIZES_BYTES
    for depth in DEPTHS
)
"""Workloads that a changed twin is held against the original with: reads, and bursts of writes."""
KEPT_UP = tuple(Workload(rw="randwrite", block_bytes=4096, iodepth=depth) for depth in DEPTHS)
"""And random writes that were brought to rest."""


@dataclass(frozen=True)
class ReportedTwin:
    """The twin that a report holds.

    Attributes
    ----------
    report
        Where it stands.
    toml
        Its drive file, with a mark of ours at the top.
    """

    report: Report
    toml: str

    @property
    def _told(self) -> Mapping[str, Any]:
        told: Mapping[str, Any] = self.report.document["twin"]
        return told

    @property
    def errors(self) -> Mapping[str, Any] | None:
        """How far it is off on held-out workloads: ``n, mre, median_ape, p90_ape``; or None."""
        errors: Mapping[str, Any] | None = self._told.get("errors")
        return errors

    @property
    def sketch(self) -> bool:
        """Whether it is too far off for figures."""
        return self.report.sketch

    def _texts(self, key: str) -> Sequence[str]:
        texts: Sequence[str] = self._told.get(key) or ()
        return texts

    @property
    def not_modelled(self) -> Sequence[str]:
        """What was not found, so that it has what fits best."""
        return self._texts("not_modelled")

    @property
    def others(self) -> Sequence[str]:
        """Drive files that the measured drive may be as well."""
        return self._texts("others")

    @property
    def differ(self) -> Sequence[str]:
        """In what those differ from the twin."""
        return self._texts("differ")

    @property
    def at_bounds(self) -> Sequence[str]:
        """Keys whose numbers ended at the end of their range."""
        return self._texts("at_bounds")

    def in_words(self) -> str:
        """Say in a sentence how far it is off."""
        if self.errors is None:
            return "it was held to no workload: nobody knows how far it is off"
        median, tail = (words.percent(self.errors[name]) for name in ("median_ape", "p90_ape"))
        count = f"{self.errors['n']} " if "n" in self.errors else ""
        said = (
            f"on {count}unseen workloads its mean latency is off by {median} in the median, "
            f"{tail} at the 90th percentile"
        )
        return f"{said}; a sketch: ask it for directions, not for figures" if self.sketch else said

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data, without what it was held to one by one."""
        return {
            "toml": self.toml,
            "errors": None if self.errors is None else dict(self.errors),
            "sketch": self.sketch,
            "not_modelled": list(self.not_modelled),
            "others": list(self.others),
            "differ": list(self.differ),
            "at_bounds": list(self.at_bounds),
        }


def twin_of(report: Report) -> ReportedTwin:
    """Give the twin of a report.

    Raises
    ------
    UsageError
        If it has none, with the report's reason.
    ConfigError
        If it has faults: it was edited.
    """
    made = report.require_twin()
    _checked(report, made, {})
    head = f"# {MADE_BY}: the twin of {shown_name(' '.join(report.uri.split()))}\n"
    return ReportedTwin(report, head + made)


def what_if(
    found: ReportedTwin,
    changes: Mapping[str, str],
    *,
    seed: int,
    progress: StageProgress,
) -> list[twin.WhatIf]:
    """Run the workloads of the table on a twin as it is, and as it would be.

    Parameters
    ----------
    found
        The twin.
    changes
        By dotted key, values in the place of the file's; `require_changes` has seen them.
    seed
        Of the drives and the runs.
    progress
        Told what is run, and the share that is done.

    Returns
    -------
    list of WhatIf
        `ASKED`, then `KEPT_UP` brought to rest.
    """
    progress(f"{len(ASKED)} workloads on both", 0.0)
    rows = twin.what_if(found.toml, changes, ASKED, seed, others=found.others)
    progress("random writes brought to rest on both", 0.6)
    return rows + twin.what_if(
        found.toml, changes, KEPT_UP, seed, sustained=True, others=found.others
    )


def what_if_table(rows: Sequence[twin.WhatIf]) -> Table:
    """Lay out the original and the changed twin; below 1 the changed one is faster.

    Intervals hold what designs give that the measured drive may be as well.
    """
    heads = ("workload", "depth", "as it is", "changed", "ratio", "95 % interval")
    return Table(heads, [
        (
            _named(row),
            str(row.workload["iodepth"]),
            words.time(row.original_ns),
            words.time(row.changed_ns),
            f"{row.ratio:.3g}",
            f"{min(row.low, row.least):.3g} to {max(row.high, row.most):.3g}",
        )
        for row in rows
    ])  # fmt: skip


def _named(row: twin.WhatIf) -> str:
    sort = ", kept up" if row.sustained else ""
    return f"{words.pattern(row.workload['rw'])} {words.size(row.workload['block_bytes'])}{sort}"


def require_changes(found: ReportedTwin, changes: Mapping[str, str], option: str) -> None:
    """Refuse changes with which the twin could not work, before anything is run.

    Parameters
    ----------
    changes
        By dotted key, values written as after ``--set``.
    option
        What messages call them.

    Raises
    ------
    ConfigError
        With every fault.
    """
    if changes:
        _checked(found.report, found.toml, changes, option)


def parsed_changes(given: Sequence[str], option: str) -> dict[str, str]:
    """Take changes apart that were written as KEY=VALUE.

    Raises
    ------
    UsageError
        If one is not, or a key is given twice.
    """
    changes: dict[str, str] = {}
    for each in given:
        key, equals, value = each.partition("=")
        if not equals or not key.strip():
            raise UsageError(
                f"{option}: {each}: expected KEY=VALUE",
                hint="as in over_provisioning_ratio=0.28; `ssdscope drives keys` lists the keys",
            )
        if key.strip() in changes:
            raise UsageError(f"{option}: {key.strip()} is given twice")
        changes[key.strip()] = value.strip()
    return changes


def _checked(report: Report, text: str, changes: Mapping[str, str], option: str = "") -> None:
    """Open the drive, so that its faults are told, and of which file."""
    try:
        twin.open_twin(text, 0, changes)
    except ConfigError as error:
        # The twin as it stands was sound, so it is the changes that make it none.
        where = f"{option}:" if changes else f"{report.where}: the twin:"
        faults = (
            line.removeprefix("--set:").removeprefix("twin:").strip()
            for line in error.message.splitlines()
        )
        raise ConfigError(
            "\n".join(f"{where} {each}" for each in faults), hint=error.hint
        ) from None
