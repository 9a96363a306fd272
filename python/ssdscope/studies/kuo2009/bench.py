"""The drives of the study, and what is run on them: lists of requests, one at a time.

A drive is prepared once and forked for every run, so that no run sees another's traces.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.results import Log
from ssdscope.seeds import stream
from ssdscope.studies.detectors import Probed
from ssdscope.studies.record import Reading
from ssdscope.studies.running import Settings
from ssdscope.targets import Device, open_target
from ssdscope.targets.opening import resolve_drive
from ssdscope.targets.records import OP_FLUSH, OP_READ, OP_WRITE, Column

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
SECTOR = 512
MERGES = ("switch", "partial", "full")
SLC = {"Transcend SLC": "transcend-slc", "Samsung SLC": "samsung-slc", "Mtron SLC": "mtron-slc"}
"""The drives that most results are of."""

Times = npt.NDArray[Any]


@dataclass
class Drives:
    """The presets, opened at their first use.

    Attributes
    ----------
    settings
        ``KEY=VALUE`` changes to a drive under its name; ``capacity``, by which the drives are
        larger; ``length``, by which runs are longer; ``random_range``, the bytes into which the
        random writes before a buffer is measured fall.
    target
        A drive to measure in place of all of them, as it is; None for the presets.
    """

    seed: int
    settings: Settings = field(default_factory=dict)
    target: Device | None = None
    probed: Probed = field(init=False)
    """What our probes find on them."""
    _open: dict[tuple[str, tuple[str, ...]], Device] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give the probes the same drives."""
        self.probed = Probed(self.seed, self.target)

    def long(self, count: int) -> int:
        """Return the length of a run that usually is so long."""
        return int(count * self.settings.get("length", 1))

    def sets(self, name: str) -> tuple[str, ...]:
        """Return the changes to a drive that the settings ask for; none to a target."""
        if self.target is not None:
            return ()
        given = tuple(self.settings.get(name, ()))
        factor = self.settings.get("capacity", 1)
        if factor == 1:
            return given
        blocks = resolve_drive(f"sim:kuo-{name}")["nand"]["blocks_per_plane"]
        return (*given, f"nand.blocks_per_plane={int(blocks * factor)}")

    def fork(self, name: str, *sets: str) -> Device:
        """Give a copy of a drive in its prepared state.

        Parameters
        ----------
        name
            The preset, without ``kuo-``.
        sets
            ``KEY=VALUE`` changes.
        """
        if self.target is not None:
            return self.target.fork() if self.target.info.snapshot else self.target
        key = (name, sets)
        if key not in self._open:
            device = self.switched_on(name, *sets)
            # It loads its mapping table now: not what is measured here.
            read(device, 0, SECTOR)
            self._open[key] = device
        return self._open[key].fork()

    def switched_on(self, name: str, *sets: str) -> Device:
        """Give a drive of which nothing was asked yet."""
        uri = name if ":" in name else f"sim:kuo-{name}"
        changes = (*self.sets(name), *sets) if uri != name else sets
        return open_target(uri, sets=changes, seed=self.seed).device

    def unbuffered(self, name: str, *sets: str) -> Device:
        """Give a copy with its write buffer switched off, as the paper did by an ATA command."""
        device = self.fork(name, *sets)
        if device.info.write_cache.control == "switchable":
            device.set_write_cache(False)
        return device

    def random(self, figure: str) -> np.random.Generator:
        """Give a figure's own stream of random numbers."""
        return stream(self.seed, f"studies.kuo2009.{figure}")


@dataclass(frozen=True)
class Served:
    """A list of requests that was run.

    Attributes
    ----------
    times_ns
        Response times in the order of issue.
    counts
        What the drive counted meanwhile; merges under their kinds. Empty if it does not count.
    """

    times_ns: Times
    counts: dict[str, int]
    log: Log

    @property
    def elapsed_ns(self) -> int:
        """Time from the first request's issue to the last one's end."""
        return int(self.log.complete_ns.max() - self.log.submit_ns.min())

    @property
    def mean_ns(self) -> float:
        """Mean response time."""
        return float(self.times_ns.mean())

    @property
    def rate(self) -> float:
        """Bytes per second of response time."""
        return float(int(self.log.bytes.sum()) / self.times_ns.sum() * 1e9)

    def share_ns(self, cause: str) -> Times:
        """Give the part of each response time that a cause took."""
        parts = self.log.attribution_ns or {}
        return np.asarray(parts[cause], dtype=np.int64)

    def share(self, *causes: str) -> float:
        """Return the share of all response time that causes took."""
        took = sum(int(self.share_ns(cause).sum()) for cause in causes)
        return took / float(self.times_ns.sum())


def write(device: Device, offsets: npt.ArrayLike, lengths: npt.ArrayLike) -> Served:
    """Write synchronously, one request after the other, and count."""
    return _run(device, OP_WRITE, offsets, lengths)


def flushed(device: Device, offsets: npt.ArrayLike, length: int) -> Served:
    """Write synchronously, then flush; the flush is part of the list, and of the counts."""
    where = np.append(np.asarray(offsets, dtype=np.int64), 0)
    ops = np.full(where.shape, OP_WRITE)
    lengths = np.full(where.shape, length)
    ops[-1], lengths[-1] = OP_FLUSH, 0
    return _serve(device, ops, where, lengths)


def read(device: Device, offsets: npt.ArrayLike, lengths: npt.ArrayLike) -> Served:
    """Read synchronously, one request after the other, and count."""
    return _run(device, OP_READ, offsets, lengths)


def _run(device: Device, op: int, offsets: npt.ArrayLike, lengths: npt.ArrayLike) -> Served:
    where = np.atleast_1d(np.asarray(offsets, dtype=np.int64))
    bytes_each = np.broadcast_to(np.asarray(lengths, dtype=np.int64), where.shape)
    return _serve(device, np.full(where.shape, op), where, bytes_each)


def _serve(device: Device, ops: Column, offsets: Column, lengths: Column) -> Served:
    logs: list[Log] = []
    counts = counted(device, lambda: logs.append(device.run_list(ops, offsets, lengths)))
    return Served(logs[0].latency_ns, counts, logs[0])


def counted(device: Device, action: Callable[[], object]) -> dict[str, int]:
    """Do something, and give what the drive counted meanwhile."""
    before = counts_of(device)
    action()
    return {name: count - before[name] for name, count in counts_of(device).items()}


def counts_of(device: Device) -> dict[str, int]:
    """Return all that a drive counts; merges under their kinds."""
    counters: dict[str, Any] = device.counters() or {"merges": {}}
    plain = {name: value for name, value in counters.items() if isinstance(value, int)}
    merges: dict[str, int] = counters["merges"]
    return plain | merges


def busy(device: Device, kind: str, action: Callable[[], object]) -> list[int]:
    """Do something, and give how long each channel, or die, was busy with it, in nanoseconds."""
    before = (device.counters() or {})[f"{kind}_busy_ns"]
    action()
    after = (device.counters() or {})[f"{kind}_busy_ns"]
    return [one - other for one, other in zip(after, before, strict=True)]


def slow(times_ns: Times) -> npt.NDArray[np.bool_]:
    """Tell the slow requests of two kinds from the fast ones; none if all are alike.

    The border is halfway (geometrically) between the shortest and the longest; there are two
    kinds if these lie a factor of three apart.
    """
    low, high = float(times_ns.min()), float(times_ns.max())
    if high < 3 * low:
        return np.zeros(times_ns.shape, dtype=bool)
    return np.asarray(times_ns > np.sqrt(low * high))


def periods(marks: npt.NDArray[np.bool_]) -> list[int]:
    """Give the distances from each marked request to the next."""
    return [int(step) for step in np.diff(np.flatnonzero(marks))]


def multiples(step_bytes: int, first_bytes: int, last_bytes: int) -> Sequence[int]:
    """List sizes from first to last, both included."""
    return range(first_bytes, last_bytes + 1, step_bytes)


def size(size_bytes: float) -> str:
    """Write a size for an axis or a reading: 512 KB, 1 MB."""
    if size_bytes >= MIB:
        return f"{size_bytes / MIB:g} MB"
    return f"{size_bytes / KIB:g} KB"


def merges_of(counts: Mapping[str, int]) -> str:
    """Write merges by their kinds."""
    return ", ".join(f"{counts[kind]} {kind}" for kind in MERGES)


def share_of(kind: str, counts: Mapping[str, float]) -> float:
    """Return the share of merges that are of a kind; NaN without any."""
    total = sum(counts[each] for each in MERGES)
    return counts[kind] / total if total else float("nan")


def number(value: float) -> Reading:
    """Read off a number."""
    if np.isnan(value):
        return Reading("none found", float("nan"))
    return Reading(round(float(value), 3), float(value))


def numbers(values: Mapping[str, float]) -> dict[str, Reading]:
    """Read off numbers, by the names of their rows."""
    return {name: number(value) for name, value in values.items()}


def span(values: Iterable[float]) -> Reading:
    """Read off values that all have to be so."""
    asked = [float(each) for each in values]
    if len(asked) == 1:
        return number(asked[0])
    low, high = (f"{each:.3g}" for each in (min(asked), max(asked)))
    return Reading(low if low == high else f"{low} to {high}", asked)
