"""A device that counts what goes through it, and ends what would take too long or write too much.

What a budget was spent on is read off here: every stage of a long job gets a device of its own
around the same drive. Forks count with the drive that they were made of. Whatever writes asks
here first: what it may write at most is set aside before it begins, so that runs side by side do
not write together what each of them might have written alone.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.errors import DeviceError
from ssdscope.targets import work
from ssdscope.targets.device import ChunkCallback, Device, Plan, ProgressCallback
from ssdscope.targets.records import OP_READ, OP_WRITE, OP_WRITE_FUA, Log, Progress, RunResult

if TYPE_CHECKING:
    import numpy.typing as npt


TIME_OVER = "the time of this stage is over"
ALL_WRITTEN = "this stage has written as much as it declared"
READS = ("read", "randread")


class ExhaustedError(DeviceError):
    """What a stage may spend is used up."""


@dataclass
class Spent:
    """What went through a device.

    Attributes
    ----------
    requests, bytes_read, bytes_written
        Of all runs, with the requests that a run leaves out of its figures.
    work_ns
        What a simulated drive took, counted (`work.of_run`); whole, so that the sum of runs side by
        side does not hang on which ended first.
    booked_bytes
        What runs that have not ended may write.
    whole
        Of which this is a part, if it is one.
    """

    requests: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    work_ns: int = 0
    booked_bytes: int = 0
    whole: Spent | None = field(default=None, repr=False, compare=False)
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def add(self, requests: int, bytes_read: int, bytes_written: int, work_s: float = 0.0) -> None:
        """Count one run."""
        with self._lock:
            self.requests += requests
            self.bytes_read += bytes_read
            self.bytes_written += bytes_written
            self.work_ns += round(work_s * 1e9)
        if self.whole is not None:
            self.whole.add(requests, bytes_read, bytes_written, work_s)

    @property
    def work_s(self) -> float:
        """What a simulated drive took, counted, in seconds."""
        return self.work_ns / 1e9

    def count(self, result: RunResult, ramp_requests: int = 0) -> None:
        """Count what a run came to, and requests that it left out of its figures."""
        sides = (0 if each is None else each.bytes for each in (result.read, result.write))
        whole = 1 + ramp_requests / max(result.requests, 1)
        read, written = (round(whole * each) for each in sides)
        worked_s = work.of_run(result, ramp_requests)
        self.add(result.requests + ramp_requests, read, written, worked_s)

    def book(self, wanted: int | None, most: int | None) -> int:
        """Set aside what a run may write; less than it wants where not as much is left.

        Parameters
        ----------
        wanted
            What it writes at most; None if nothing bounds that.
        most
            What may be written in all, and is bounded where `wanted` is not.
        """
        with self._lock:
            left = None if most is None else max(0, most - self.bytes_written - self.booked_bytes)
            booked = min(each for each in (wanted, left) if each is not None)
            self.booked_bytes += booked
        return booked

    def unbook(self, booked: int) -> None:
        """Give back what was set aside, when the run has been counted."""
        with self._lock:
            self.booked_bytes -= booked

    def to_json(self) -> dict[str, int]:
        """Give it as plain data."""
        return {
            "requests": self.requests,
            "bytes_read": self.bytes_read,
            "bytes_written": self.bytes_written,
        }


@dataclass
class Limits:
    """What a stage may spend; None is without a limit.

    Attributes
    ----------
    ends_s
        The moment of the machine's clock (`time.monotonic`) at which a run is ended.
    writes_bytes
        The most that is written.
    work_s
        Of a simulated drive, counted. Nothing ends there by itself, as of runs side by side it
        would hang on chance which: who begins them asks between two (`MeteredDevice.left_s`).
    """

    ends_s: float | None = None
    writes_bytes: int | None = None
    work_s: float | None = None

    def why_over(self, _report: object = None) -> str:
        """Say that the time is over; nothing if it is not."""
        over = self.ends_s is not None and time.monotonic() >= self.ends_s
        return TIME_OVER if over else ""


class Booking:
    """What a run is let write, and the plan that keeps to it.

    Parameters
    ----------
    plan
        What was asked for.
    limits, spent
        Of the meter.

    Raises
    ------
    ExhaustedError
        If the time is over, or not even one request may be written.
    """

    def __init__(self, plan: Plan, limits: Limits, spent: Spent) -> None:
        if why := limits.why_over():
            raise ExhaustedError(why)
        self._spent, self._text = spent, plan.to_json()
        values = json.loads(self._text)
        self.ramp_requests: int = values.get("ramp_requests") or 0
        self.writes_bytes = 0
        if values.get("rw") in READS:
            return
        wanted = _most_bytes(values, self.ramp_requests)
        if wanted is None and limits.writes_bytes is None:
            return
        self.writes_bytes = spent.book(wanted, limits.writes_bytes)
        if self.writes_bytes != wanted:
            self._text = self._within(values)

    def to_json(self) -> str:
        """Write the plan."""
        return self._text

    def close(self, result: RunResult | None) -> None:
        """Count what the run came to; nothing of one that did not begin."""
        if result is not None:
            self._spent.count(result, self.ramp_requests)
        self._spent.unbook(self.writes_bytes)
        self.writes_bytes = 0

    def _within(self, values: dict[str, Any]) -> str:
        """Cut a plan to what was set aside for it."""
        block = _block_bytes(values)
        room = self.writes_bytes // (values.get("numjobs") or 1) - self.ramp_requests * block
        room = room // block * block
        if room < block:
            self.close(None)
            raise ExhaustedError(ALL_WRITTEN)
        values["io_bytes"] = min(values.get("io_bytes") or room, room)
        return json.dumps(values)


def _block_bytes(values: Mapping[str, Any]) -> int:
    return max(values.get("block_bytes") or 0, values.get("write_block_bytes") or 0, 1)


def _most_bytes(values: Mapping[str, Any], ramp_requests: int) -> int | None:
    """Give what a plan writes at most, were all of it writes; None if only time ends it."""
    block, ends = _block_bytes(values), []
    if values.get("requests") is not None:
        ends.append((values["requests"] + ramp_requests) * block)
    if values.get("io_bytes") is not None:
        ends.append(values["io_bytes"] + (ramp_requests + 1) * block)
    return min(ends) * (values.get("numjobs") or 1) if ends else None


class MeteredDevice(Device):
    """A drive with a meter in front of it.

    Parameters
    ----------
    device
        The drive.
    limits
        What may be spent; runs that would pass that raise `ExhaustedError`.
    spent
        The meter; a new one if absent.
    """

    def __init__(
        self, device: Device, limits: Limits | None = None, spent: Spent | None = None
    ) -> None:
        super().__init__(device._native, device.info)
        self.limits = limits or Limits()
        self.spent = spent or Spent()

    def run(
        self,
        plan: Plan,
        *,
        progress: ProgressCallback | None = None,
        chunk: ChunkCallback | None = None,
        timeline_ns: int | None = None,
    ) -> RunResult:
        """Run one workload; as `Device.run`.

        Raises
        ------
        ExhaustedError
            If the time is over, or more would be written than is left.
        """
        booking = self.booked(plan)
        watch = Watch(self.limits.why_over, progress)
        result: RunResult | None = None
        try:
            told = self._watched(watch, progress)
            result = super().run(booking, progress=told, chunk=chunk, timeline_ns=timeline_ns)
        except DeviceError as error:
            result = error.partial
            raise
        finally:
            booking.close(result)
        if watch.why:
            raise ExhaustedError(watch.why)
        return result

    def run_list(
        self,
        ops: npt.ArrayLike,
        offsets: npt.ArrayLike,
        lengths: npt.ArrayLike,
        **pacing: Any,
    ) -> Log:
        """Run explicit requests; as `Device.run_list`."""
        op, length = np.broadcast_arrays(np.asarray(ops), np.asarray(lengths))
        read = int(length[op == OP_READ].sum(dtype=np.uint64))
        writes = (op == OP_WRITE) | (op == OP_WRITE_FUA)  # isin takes four times as long
        written = int(length[writes].sum(dtype=np.uint64))
        if why := self.limits.why_over():
            raise ExhaustedError(why)
        booked = self.spent.book(written, self.limits.writes_bytes)
        if booked < written:
            self.spent.unbook(booked)
            raise ExhaustedError(ALL_WRITTEN)
        progress, count = pacing.pop("progress", None), int(writes.sum())
        watch = Watch(self.limits.why_over, progress)
        add = partial(self.spent.add, op.size, read, written)
        try:
            # Ended early it is counted as a whole: how far it came is not known.
            with work.counted(self, add, reads=op.size - count, writes=count):
                return super().run_list(
                    ops, offsets, lengths, progress=self._watched(watch, progress), **pacing
                )
        except KeyboardInterrupt:
            if watch.why:
                raise ExhaustedError(watch.why) from None
            raise
        finally:
            self.spent.unbook(booked)

    def idle(self, duration_ns: int) -> None:
        """Leave the drive alone for a while; as `Device.idle`."""
        with work.counted(self, partial(self.spent.add, 0, 0, 0)):
            super().idle(duration_ns)

    def replay(self, path: str, options: Plan, **telling: Any) -> RunResult:
        """Replay a trace; as `Device.replay`. What it writes was counted when it was planned."""
        result = super().replay(path, options, **telling)
        self.spent.count(result)
        return result

    def fork(self, share: float | None = None) -> MeteredDevice:
        """Make an independent copy that counts with this one; as `Device.fork`."""
        copy = self.around(super().fork())
        if share is not None and self.limits.writes_bytes is not None:
            left = self.limits.writes_bytes - self.spent.bytes_written
            copy.limits = replace(self.limits, writes_bytes=int(share * max(left, 0)))
            copy.spent = Spent(whole=self.spent)
        return copy

    def left_s(self) -> float:
        """Give what is left of the time, or of the work, of a stage."""
        ends_s, work_s = self.limits.ends_s, self.limits.work_s
        left = [] if ends_s is None else [ends_s - time.monotonic()]
        left += [] if work_s is None else [work_s - self.spent.work_s]
        return max(0.0, min(left, default=math.inf))

    def booked(self, plan: Plan) -> Booking:
        """Set aside what a run may write, and give the plan that keeps to it.

        Raises
        ------
        ExhaustedError
            As of `Booking`.
        """
        return Booking(plan, self.limits, self.spent)

    def note_run(self, plan: Plan, result: RunResult | None) -> None:
        """Count a run on a copy, and give back what it did not write."""
        if isinstance(plan, Booking):
            plan.close(result)

    def around(self, device: Device) -> MeteredDevice:
        """Put the same meter in front of another drive too."""
        return MeteredDevice(device, self.limits, self.spent)

    def _watched(self, watch: Watch, told: ProgressCallback | None) -> ProgressCallback | None:
        return told if self.limits.ends_s is None else watch


class Watch:
    """Ends a run as Ctrl-C would, and knows that it was not Ctrl-C.

    Parameters
    ----------
    over
        Says at each report of progress why the run must end, or nothing.
    told
        Who else is told of the progress.

    Attributes
    ----------
    why
        Why it ended the run; empty if it did not.
    """

    def __init__(
        self, over: Callable[[Progress], str], told: ProgressCallback | None = None
    ) -> None:
        self.why = ""
        self._over, self._told = over, told

    def __call__(self, report: Progress) -> None:
        """Tell of the progress, and end the run if it is time."""
        if self._told is not None:
            self._told(report)
        self.why = self._over(report)
        if self.why:
            raise KeyboardInterrupt
