"""Rows of a collection as arrays: what a model learns from and is held to."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ssdscope.errors import UsageError, nearest
from ssdscope.models import features
from ssdscope.models.table import Collected
from ssdscope.seeds import stream
from ssdscope.workloads.grid import Row, Vector

Array = npt.NDArray[Any]
TARGETS: dict[str, tuple[str, Callable[[Row], float | None]]] = {
    "latency": ("latency_ns", lambda row: row.latency_ns),
    "iops": ("iops", lambda row: row.iops),
    "bandwidth": ("bandwidth_bytes_per_s", lambda row: row.bandwidth_bytes_per_s),
    "read_p99": ("read_p99_ns", lambda row: row.read_p99_ns),
    "write_p99": ("write_p99_ns", lambda row: row.write_p99_ns),
}
"""What can be predicted: its name with the unit, and where it stands in a row."""
TARGETS_ABOUT = {
    "latency": "mean latency; rate and bandwidth follow from it",
    "iops": "requests per second",
    "bandwidth": "bytes per second",
    "read_p99": "latency that 99 % of reads stay below",
    "write_p99": "latency that 99 % of writes stay below",
}
CYCLE = "cycle"
"""Time from one request of a place in the queue to its next: the latency and what the host takes.
Depth over rate; behind a host that keeps up it is the latency (Little)."""
_READ: dict[str, Callable[[Row], float | None]] = {
    **{name: read for name, (_, read) in TARGETS.items()},
    CYCLE: lambda row: row.vector.q_dep * 1e9 / row.iops if row.iops > 0 else None,
}
BESIDE = "beside"
"""The split of `Sample.beside`."""
LEAST_ROWS = 30
FOLDS = 10
FEW_FOLDS = 5
MANY_ROWS = 1500
"""From here on fewer folds do to compare models: each fit costs more, and is closer to that of all
rows."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Workloads and what they came to.

    Attributes
    ----------
    inputs : ndarray, shape (n, 8)
        As `features.inputs`.
    values : ndarray, shape (n,)
        Of the target, positive.
    beside : Sample or None
        More rows, that are learnt from and not held to: they are not drawn as the others are, and
        tell nothing of how far those are missed.
    """

    inputs: Array
    values: Array
    beside: "Sample | None" = None

    @classmethod
    def of(
        cls,
        rows: Sequence[Collected],
        split: str,
        target: str,
        workload: str = "all",
        *,
        as_asked: bool = False,
    ) -> Self:
        """Take the usable rows of a split that are of a kind of workload and have the target.

        `as_asked` is of `features.inputs`.

        Raises
        ------
        UsageError
            If there is no such target or kind.
        """
        if target not in _READ:
            raise UsageError(f"there is no target {target!r}", hint=nearest(target, TARGETS))
        read = _READ[target]
        chosen = [each.row for each in rows if each.split == split and each.usable]
        pairs = [(row.vector, value) for row in chosen if (value := read(row))]
        inputs = features.inputs([vector for vector, _ in pairs], as_asked=as_asked)
        values = np.array([value for _, value in pairs], dtype=float)
        kept = features.belongs(workload, inputs)
        beside = None
        if split == "train":
            beside = cls.of(rows, BESIDE, target, workload, as_asked=as_asked)
        return cls(
            inputs[kept], values[kept], beside if beside is not None and len(beside) else None
        )

    def __len__(self) -> int:
        return len(self.values)

    @property
    def key(self) -> bytes:
        """Tell the rows apart from those of other samples, what is beside them left out."""
        return hashlib.sha256(self.inputs.tobytes() + self.values.tobytes()).digest()

    def whole(self) -> "Sample":
        """Give all that is learnt from as one sample."""
        if self.beside is None:
            return self
        more = self.beside
        inputs = np.vstack([self.inputs, more.inputs])
        return Sample(inputs, np.concatenate([self.values, more.values]))

    def without(self, out: Array) -> "Sample":
        """Leave out rows, as booleans of shape (n,) say."""
        return Sample(self.inputs[~out], self.values[~out], self.beside)

    def columns(self, feature_set: str) -> Array:
        """Compute the features; shape (n, features)."""
        return features.columns(feature_set, self.inputs)

    def vectors(self) -> list[Vector]:
        """Give the workloads; what none of their requests shows is as of the other direction."""
        return [Vector(*(int(value) for value in row)) for row in self.inputs]

    def folds(self, seed: int, most: int | None = None) -> Array:
        """Give each row a fold; workloads that are the same share one; shape (n,).

        So many at most as asked for, or else as do to compare models.
        """
        _, kind = np.unique(self.inputs, axis=0, return_inverse=True)
        kinds = int(kind.max()) + 1
        usual = FOLDS if len(self) < MANY_ROWS else FEW_FOLDS
        count = min(usual if most is None else most, kinds)
        order = stream(seed, "models.samples.folds").permutation(kinds)
        folds: Array = order[kind.reshape(-1)] % count
        return folds


def require_enough(sample: Sample, what: str) -> None:
    """Refuse to learn from next to nothing.

    Raises
    ------
    UsageError
        If there are fewer than `LEAST_ROWS` rows.
    """
    if len(sample) < LEAST_ROWS:
        raise UsageError(
            f"{len(sample)} runs of {what} are too few to fit a model",
            hint=f"at least {LEAST_ROWS} are needed; collect more with a larger --points",
        )
