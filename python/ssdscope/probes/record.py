"""Series of a drive, kept: what was measured once can be decided upon again, without the drive."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.errors import UsageError
from ssdscope.findings import Reason
from ssdscope.inference.series import Series
from ssdscope.probes.plan import Plan, Stopped
from ssdscope.results.files import write_archive
from ssdscope.targets.records import CacheInfo, DeviceInfo

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


__all__ = ["AGAIN", "VERSION", "Record"]

VERSION = 2
"""Of what is written; a series of another is refused."""
AGAIN = "record it again: ssdscope probe all TARGET --record FILE"
_COLUMNS = ("x", "y", "stratum", "time_ns", "valid")


class Record:
    """Series by the plan that they are of, and why there are none of some plans.

    Parameters
    ----------
    about
        What the drive, its state, the seed and the budget were: a JSON document.

    Attributes
    ----------
    info : DeviceInfo or None
        What a host knew of the drive; None until something was recorded.
    probes : list of str
        Those that have run.
    heavy : bool
        Whether they had a full budget.
    """

    def __init__(self, about: str = "") -> None:
        self.about = about
        self.info: DeviceInfo | None = None
        self.probes: list[str] = []
        self.heavy = False
        self._series: dict[str, Series] = {}
        self._refused: dict[str, tuple[str, str]] = {}
        self._not_begun: dict[str, tuple[str, str]] = {}

    def get(self, plan: Plan) -> Series | None:
        """Give the series of a plan, if it was measured.

        Raises
        ------
        Stopped
            If it could not be.
        """
        if (why := self._refused.get(repr(plan))) is not None:
            raise Stopped(Reason(why[0]), why[1])
        return self._series.get(repr(plan))

    def put(self, plan: Plan, series: Series) -> None:
        """Keep the series of a plan."""
        self._series[repr(plan)] = series

    def refuse(self, plan: Plan, why: Stopped) -> None:
        """Keep why a plan could not be measured."""
        self._refused[repr(plan)] = (str(why.reason), why.detail)

    def ran(self, probe: str, info: DeviceInfo, *, heavy: bool) -> None:
        """Note that a probe runs, on what and with which budget."""
        self.info, self.heavy = info, heavy
        self._not_begun.pop(probe, None)
        if probe not in self.probes:
            self.probes.append(probe)

    def stop(self, probe: str, why: Stopped) -> None:
        """Keep why a probe could not begin: the drive was not brought into its state."""
        self._not_begun[probe] = (str(why.reason), why.detail)

    def begin(self, probe: str) -> None:
        """Begin a probe as it was begun when it was recorded.

        Raises
        ------
        Stopped
            If it could not be.
        """
        if (why := self._not_begun.get(probe)) is not None:
            raise Stopped(Reason(why[0]), why[1])

    def __len__(self) -> int:
        return len(self._series)

    def save(self, path: Path) -> None:
        """Write everything to a file, compressed."""
        head = {
            "version": VERSION,
            "about": self.about,
            "info": None if self.info is None else asdict(self.info),
            "probes": self.probes,
            "heavy": self.heavy,
            "plans": list(self._series),
            "refused": self._refused,
            "not_begun": self._not_begun,
        }
        arrays = [np.array(json.dumps(head))]
        for series in self._series.values():
            arrays += [_small(getattr(series, name)) for name in _COLUMNS]
        packed = io.BytesIO()
        np.savez_compressed(packed, *arrays)
        write_archive(path, packed.getvalue())

    @classmethod
    def load(cls, path: Path) -> Record:
        """Read a file.

        Raises
        ------
        UsageError
            If it is none of these, or of another version.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                head = json.loads(str(file["arr_0"]))
                if head["version"] != VERSION:
                    said = f"series of version {head['version']}, and this is version {VERSION}"
                    raise UsageError(f"{path}: {said}", hint=AGAIN)
                record = cls(head["about"])
                record.info = None if head["info"] is None else _info(head["info"])
                record.probes, record.heavy = head["probes"], head["heavy"]
                record._refused = {plan: (why[0], why[1]) for plan, why in head["refused"].items()}
                not_begun = head.get("not_begun", {})
                record._not_begun = {probe: (why[0], why[1]) for probe, why in not_begun.items()}
                for number, plan in enumerate(head["plans"]):
                    first = 1 + number * len(_COLUMNS)
                    columns = (file[f"arr_{first + at}"] for at in range(len(_COLUMNS)))
                    record._series[plan] = Series.of(**dict(zip(_COLUMNS, columns, strict=True)))
        except (KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise UsageError(f"{path}: no recorded series", hint=AGAIN) from error
        return record


def _info(values: dict[str, Any]) -> DeviceInfo:
    caches = {name: CacheInfo(**values[name]) for name in ("write_cache", "read_cache")}
    return DeviceInfo(**{**values, **caches})


def _small(column: NDArray[Any]) -> NDArray[Any]:
    """Give a column in as few bytes as hold it: whole numbers as such."""
    if column.dtype != np.float64 or not (column == np.round(column)).all() or (column < 0).any():
        return column
    return column.astype(np.min_scalar_type(int(column.max(initial=0))))
