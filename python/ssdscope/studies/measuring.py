"""What studies do to a drive: requests at places or by a workload, and what its counters say."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.studies.record import Columns
from ssdscope.targets import Device, DirectionStats
from ssdscope.targets.records import OP_READ, OP_WRITE
from ssdscope.workloads import Workload


def run(device: Device, rw: str, block: int, seed: int, **more: Any) -> DirectionStats:
    """Run requests of so many bytes on a device, and give what became of them."""
    plan = Workload(rw=rw, block_bytes=block, seed=seed, **more)
    return device.run(plan).whole().only()


def mean_us(device: Device, rw: str, block: int, seed: int, **more: Any) -> float:
    """Return the mean response time of such requests on a copy of a device."""
    return run(device.fork(), rw, block, seed, **more).latency_ns.mean / 1e3


def at(device: Device, rw: str, offsets: npt.ArrayLike, size_bytes: int) -> float:
    """Read or write at places, one after the other; mean response time in microseconds."""
    places = np.asarray(offsets, dtype=np.int64)
    op = np.full(places.size, OP_WRITE if rw == "write" else OP_READ)
    log = device.run_list(op, places, np.full(places.size, size_bytes))
    return float(np.mean(log.latency_ns)) / 1e3


def counted(device: Device, measure: Callable[..., Any], *given: Any, **more: Any) -> Any:
    """Measure something on a device, and give by how much each of its counters grew, too."""
    before = device.counters() or {}
    found = measure(device, *given, **more)
    return found, {
        name: np.asarray(value, dtype=float) - before[name]
        for name, value in (device.counters() or {}).items()
        if isinstance(value, int | list) and np.shape(value) == np.shape(before[name])
    }


def in_columns(names: str, rows: Sequence[Sequence[Any]]) -> Columns:
    """Return rows as columns of these names."""
    return {name: [row[place] for row in rows] for place, name in enumerate(names.split())}


def joined(values: Iterable[float], form: str = "g") -> str:
    """Write numbers with commas between them."""
    return ", ".join(format(each, form) for each in values)
