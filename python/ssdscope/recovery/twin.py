"""The undisturbed twin of a drawn drive, and plain ways to time requests on it.

Reference measurements know what is inside and measure without noise; they answer how strongly a
mechanism shows, which no formula tells where several mechanisms meet.
"""

import math
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssdscope import seeds
from ssdscope.recovery.generator import Drawn
from ssdscope.recovery.shape import Shape, Values, number, shape_of
from ssdscope.targets.device import Device
from ssdscope.targets.records import OP_FLUSH, OP_READ, OP_WRITE, OP_WRITE_FUA

Offsets = NDArray[np.uint64]

DATA_ONLY = {"read_cache.switchable": True, "map.load_ns": 0, "map.write_back_ns": 0}
"""What `Twin.data_only` has instead, of the keys of a drive that has them."""


class Twin:
    """A drawn drive without noise, spikes, drift and others' I/O.

    Parameters
    ----------
    drawn
        The drive.
    noisy
        With noise and spikes after all: for what they change in a closed loop.
    """

    def __init__(self, drawn: Drawn, *, noisy: bool = False) -> None:
        self.values: Values = drawn.values
        self.shape: Shape = shape_of(drawn.values)
        self.stream = seeds.stream((drawn.seed, drawn.index), "studies.recovery.twin")
        self._drawn = drawn
        self._noisy = noisy

    @cached_property
    def _opened(self) -> Device:
        return self._drawn.open_twin(noisy=self._noisy)

    @cached_property
    def block_bytes(self) -> int:
        """The logical block: of an array the largest of its members."""
        return self._opened.info.logical_block_bytes

    def fork(self, *, caches: bool = False) -> Device:
        """Give a copy as opened, with its caches on, or off as far as the drive allows."""
        device = self._opened.fork()
        if not caches:
            if device.info.write_cache.control == "switchable":
                device.set_write_cache(False)
            if device.info.read_cache.control == "switchable":
                device.set_read_cache(False)
        return device

    @cached_property
    def data_only(self) -> "Twin":
        """The undisturbed twin whose reads wait for data alone.

        `fork` can switch its read cache off, and zones of its table are loaded in no time. Neither
        decides where data lie: no table of a zone is among them, as pages of one on demand are.
        """
        values = {**self.values, **{k: v for k, v in DATA_ONLY.items() if k in self.values}}
        return self if values == self.values else Twin(replace(self._drawn, values=values))

    @cached_property
    def by_order(self) -> "Twin":
        """The undisturbed twin, were it to place what is written by order of arrival."""
        return Twin(replace(self._drawn, values={**self.values, "ftl.allocation": "order"}))

    @cached_property
    def warm(self) -> Device:
        """A copy in use: large random reads of half the drive, so that its tables are filled."""
        device, size = self.fork(), 1 << 20
        slots = self.shape.capacity_bytes // size
        starts = self.stream.integers(0, slots, slots // 2) * size
        read(device, starts.astype(np.uint64), size)
        return device

    @cached_property
    def settled(self) -> Device:
        """A copy overwritten at random until collection or merging has been at work for long."""
        device, unit = self.fork(), self.shape.unit_bytes
        log_block = self.values["ftl.kind"] == "log-block"
        count = max(min(self.shape.capacity_bytes // unit // 50, 20_000), 64)
        written, enough = 0, 3 * self.shape.capacity_bytes
        while written < enough:
            write(device, self.random_units(count), unit, depth=4)
            written += count * unit
            if counter(device, "gc_runs"):
                more = 4000 * unit if log_block else written // 2
                enough = min(enough, written + more + 2 * number(self.values, "pslc.bytes"))
        return device

    @cached_property
    def turned_over(self) -> Device:
        """A copy that is settled and holds nothing any more as the first fill laid it out.

        That is collected first, and holds more that is valid than what follows. All of it is gone
        after e times the spare space: so much, and a quarter of the capacity, is overwritten.
        """
        if self.values["ftl.kind"] == "log-block":
            return self.settled
        device, unit = self.settled.fork(), self.shape.unit_bytes
        spare = float(self.values["over_provisioning_ratio"])
        more = int((0.25 + math.e * spare) * self.shape.capacity_bytes) // unit
        # Draws of its own: other references are not to depend on how many it takes.
        stream = seeds.stream(
            (self.shape.capacity_bytes, unit, more), "studies.recovery.references"
        )
        phase = number(self.values, "ftl.phase_bytes")
        places = stream.integers(1, self.shape.capacity_bytes // unit - 1, more) * unit - phase
        write(device, places.astype(np.uint64), unit, depth=4)
        return device

    def random_units(self, count: int, *, low: float = 0.0, high: float = 1.0) -> Offsets:
        """Draw starts of whole mapping units in a part of the drive."""
        phase, unit = number(self.values, "ftl.phase_bytes"), self.shape.unit_bytes
        units = self.shape.capacity_bytes // unit - 1
        first = max(1, int(low * units))
        chosen = self.stream.integers(first, max(int(high * units), first + 1), count)
        return (chosen * unit - phase).astype(np.uint64)

    def resident_units(self, count: int) -> Offsets:
        """Draw mapping units whose part of the mapping table fits in memory, all at once."""
        kind, shape = self.values.get("map.kind", "ram"), self.shape
        high = 1.0
        if kind == "zones":
            high = number(self.values, "map.zone_bytes") / shape.capacity_bytes / 2
        if kind == "demand":
            count = min(count, max(number(self.values, "map.cache_bytes") // 8 // 2, 4))
        return self.random_units(count, high=high)


def read(device: Device, offsets: Any, size: int | NDArray[Any], depth: int = 1) -> NDArray[Any]:
    """Read in order; give the latency of each request, in the order of the list."""
    return _run(device, OP_READ, offsets, size, depth)


def write(device: Device, offsets: Any, size: int | NDArray[Any], depth: int = 1) -> NDArray[Any]:
    """Write likewise; acknowledged is enough."""
    return _run(device, OP_WRITE, offsets, size, depth)


def force(device: Device, offsets: Any, size: int | NDArray[Any], depth: int = 1) -> NDArray[Any]:
    """Write past a buffer that stays on, if it is not a protected one.

    It would put in order what is not, and let go of part of a unit before the rest has come.
    """
    return _run(device, OP_WRITE_FUA, offsets, size, depth)


def flush(device: Device) -> None:
    """Have a write buffer emptied."""
    device.run_list(np.array([OP_FLUSH], np.uint8), np.zeros(1, np.uint64), np.zeros(1, np.uint64))


def write_through(device: Device, offsets: Any, size: int) -> NDArray[Any]:
    """Write one by one, each followed by a flush if a buffer is on; give the sums of both."""
    if device.info.write_cache.control == "absent" or not device.info.write_cache.on:
        return write(device, offsets, size)
    count = len(offsets)
    ops = np.tile(np.array([OP_WRITE, OP_FLUSH], np.uint8), count)
    starts = np.repeat(np.asarray(offsets, np.uint64), 2)
    lengths = np.tile(np.array([size, 0], np.uint64), count)
    starts[1::2] = 0
    log = device.run_list(ops, starts, lengths)
    both: NDArray[Any] = log.latency_ns.astype(float).reshape(-1, 2)
    return np.asarray(both[:, 0] + both[:, 1])


def _run(device: Device, op: int, offsets: Any, size: Any, depth: int) -> NDArray[Any]:
    starts = np.asarray(offsets, np.uint64)
    lengths = np.broadcast_to(np.asarray(size, np.uint64), starts.shape)
    log = device.run_list(np.full(starts.size, op, np.uint8), starts, lengths, iodepth=depth)
    latency = np.empty(starts.size)
    latency[log.index] = log.latency_ns
    return latency


def counter(device: Device, name: str) -> int:
    """Read one of the twin's counters."""
    return int((device.counters() or {})[name])
