"""The rate of a run over time: what its document has under ``timeline``, as arrays and as a table.

A request counts in the window in which it was served. The native module makes the windows
(`crates/io/src/timeline`), `drops` names what made the rate fall.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    Floats = npt.NDArray[np.float64]

OPS = ("read", "write", "discard", "write_zeroes", "flush")
RATED = OPS[:-1]
"""What counts in the rate of a run: a flush moves nothing."""
PERCENTILES = ("p50", "p99")
_FIGURES = {
    "requests": "int64",
    "bytes": "int64",
    "iops": "double",
    "bandwidth_bytes_per_s": "double",
    "mean_ns": "double",
    "p50_ns": "int64",
    "p50_windows": "int64",
    "p99_ns": "int64",
    "p99_windows": "int64",
    "max_ns": "int64",
}
_SURROUNDINGS = ("upkeep", "machine")


@dataclass(frozen=True, eq=False)
class Series:
    """A line of a picture: the requests of one kind, of the whole run or of one flow.

    Attributes
    ----------
    op
        What the requests do.
    columns
        By name, as the document has them.
    flow
        Whose they are; None of the whole run.
    """

    op: str
    columns: Mapping[str, Any]
    flow: str | None = None
    _known: dict[str, Floats] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """``read``, or ``web read`` of a flow."""
        return self.op if self.flow is None else f"{self.flow} {self.op}"

    def values(self, name: str) -> Floats:
        """Give a column, with NaN where there is nothing."""
        if name not in self._known:
            self._known[name] = _floats(self.columns[name])
        return self._known[name]


@dataclass(frozen=True, eq=False)
class Timeline:
    """A run over time.

    Attributes
    ----------
    document
        What the document of the run has under ``timeline``.
    """

    document: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.document["begin_ns"])

    @property
    def scatter(self) -> float:
        """By what share rates of windows usually differ where no level changes; 0 if not known."""
        return float(self.document.get("scatter") or 0.0)

    @cached_property
    def begin_s(self) -> Floats:
        """When each window begins, from the start of the run."""
        return _floats(self.document["begin_ns"]) / 1e9

    @cached_property
    def duration_s(self) -> Floats:
        """How long each window took."""
        return _floats(self.document["duration_ns"]) / 1e9

    @property
    def end_s(self) -> float:
        """When the last window ends."""
        return float(self.begin_s[-1] + self.duration_s[-1]) if len(self) else 0.0

    @cached_property
    def whole(self) -> list[Series]:
        """The requests of the run by what they do."""
        return [Series(op, self.document[op]) for op in OPS if self.document.get(op)]

    @cached_property
    def flows(self) -> list[Series]:
        """The same of each flow; nothing where there is one at most."""
        return [
            Series(op, flow[op], flow["name"])
            for flow in self.document.get("flows") or ()
            for op in OPS
            if flow.get(op)
        ]

    @cached_property
    def iops(self) -> Floats:
        """Requests per second, but for flushes."""
        return self._total("requests") / np.maximum(self.duration_s, 1e-9)

    @cached_property
    def bandwidth_bytes_per_s(self) -> Floats:
        """Bytes moved per second."""
        return self._total("bytes") / np.maximum(self.duration_s, 1e-9)

    def _total(self, name: str) -> Floats:
        every = [each.values(name) for each in self.whole if each.op in RATED]
        return np.sum(every, axis=0) if every else np.zeros(len(self))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give a row per window, flow and kind of request; what surrounds them is in each."""
        surroundings = self._surroundings()
        within = self._drop_of_window()
        for series in [*self.whole, *self.flows]:
            causes = series.columns.get("attribution_ns") or {}
            for place in range(len(self)):
                yield {
                    "begin_ns": self.document["begin_ns"][place],
                    "duration_ns": self.document["duration_ns"][place],
                    "flow": series.flow,
                    "op": series.op,
                    **{name: series.columns[name][place] for name in _FIGURES},
                    **{f"attr_{cause}_ns": each[place] for cause, each in causes.items()},
                    **{name: each[place] for name, each in surroundings.items()},
                    "drop": within[place],
                }

    def table(self) -> pa.Table:
        """Make a table of `rows`."""
        import pyarrow as pa

        types = {"begin_ns": "int64", "duration_ns": "int64", "flow": "string", "op": "string"}
        types |= _FIGURES
        causes = dict.fromkeys(
            f"attr_{cause}_ns"
            for series in self.whole
            for cause in series.columns.get("attribution_ns") or ()
        )
        types |= dict.fromkeys(causes, "double")
        types |= dict.fromkeys(self._surroundings(), "int64") | {"drop": "int64"}
        rows = list(self.rows())
        return pa.table(
            {
                name: pa.array([row.get(name) for row in rows], pa.type_for_alias(kind))
                for name, kind in types.items()
            }
        )

    def csv(self) -> str:
        """Write `rows` as text; what is not known is empty."""
        table = self.table()
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(table.column_names)
        columns = [column.to_pylist() for column in table.columns]
        writer.writerows(zip(*columns, strict=True))
        return text.getvalue()

    def _surroundings(self) -> dict[str, Any]:
        told: dict[str, Any] = {"failed_requests": self.document["failed_requests"]}
        for name in _SURROUNDINGS:
            told |= self.document.get(name) or {}
        others = self.document.get("others_bytes")
        return told if others is None else told | {"others_bytes": others}

    def _drop_of_window(self) -> list[int | None]:
        """Give each window the number of the drop that it is in, from 1; the innermost."""
        within: list[int | None] = [None] * len(self)
        for number, drop in enumerate(self.document.get("drops") or (), start=1):
            for place in drop["windows"]:
                within[place] = number
        return within


def timeline_of(record: Mapping[str, Any]) -> Timeline | None:
    """Take the timeline out of the document of a run; None if there is none, or no window."""
    about = record.get("timeline")
    return Timeline(about) if about and about["begin_ns"] else None


def _floats(values: Any) -> Floats:
    return np.array([np.nan if each is None else each for each in values], dtype=np.float64)
