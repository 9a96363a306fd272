"""A device that counts what goes through it, and ends what would take too long or write too much.

What a budget was spent on is read off here: every stage of a long job gets a device of its own
around the same drive. Forks count with the drive that they were made of.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.errors import DeviceError
from ssdscope.targets.device import ChunkCallback, Device, Plan, ProgressCallback
from ssdscope.targets.records import OP_READ, OP_WRITE, OP_WRITE_FUA, Log, Progress, RunResult

if TYPE_CHECKING:
    import numpy.typing as npt


TIME_OVER = "the time of this stage is over"


class ExhaustedError(DeviceError):
    """What a stage may spend is used up."""


@dataclass
class Spent:
    """What went through a device.

    Attributes
    ----------
    requests, bytes_read, bytes_written
        Of all runs, with the requests that a run leaves out of its figures.
    """

    requests: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def add(self, requests: int, bytes_read: int, bytes_written: int) -> None:
        """Count one run."""
        with self._lock:
            self.requests += requests
            self.bytes_read += bytes_read
            self.bytes_written += bytes_written

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
    """

    ends_s: float | None = None
    writes_bytes: int | None = None

    def why_over(self, _report: object = None) -> str:
        """Say that the time is over; nothing if it is not."""
        over = self.ends_s is not None and time.monotonic() >= self.ends_s
        return TIME_OVER if over else ""


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
        fitted, ramp = self._fitted(plan)
        watch = Watch(self.limits.why_over, progress)
        told = self._watched(watch, progress)
        result = super().run(fitted, progress=told, chunk=chunk, timeline_ns=timeline_ns)
        self._count(result, ramp)
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
        self._require(written)
        progress = pacing.pop("progress", None)
        watch = Watch(self.limits.why_over, progress)
        # Ended early it is counted as a whole: how far it came is not known.
        self.spent.add(op.size, read, written)
        try:
            return super().run_list(
                ops, offsets, lengths, progress=self._watched(watch, progress), **pacing
            )
        except KeyboardInterrupt:
            if watch.why:
                raise ExhaustedError(watch.why) from None
            raise

    def replay(self, path: str, options: Plan, **telling: Any) -> RunResult:
        """Replay a trace; as `Device.replay`, which ends by itself."""
        result = super().replay(path, options, **telling)
        self._count(result, 0)
        return result

    def fork(self) -> MeteredDevice:
        """Make an independent copy that counts with this one."""
        return self.around(super().fork())

    def note_run(self, plan: Plan, result: RunResult) -> None:
        """Count a run on a copy; what can be copied is simulated, and has no limits."""
        self._count(result, json.loads(plan.to_json()).get("ramp_requests") or 0)

    def around(self, device: Device) -> MeteredDevice:
        """Put the same meter in front of another drive too."""
        return MeteredDevice(device, self.limits, self.spent)

    def _watched(self, watch: Watch, told: ProgressCallback | None) -> ProgressCallback | None:
        return told if self.limits.ends_s is None else watch

    def _left_bytes(self) -> int | None:
        most = self.limits.writes_bytes
        return None if most is None else most - self.spent.bytes_written

    def _require(self, writes_bytes: int) -> None:
        if why := self.limits.why_over():
            raise ExhaustedError(why)
        left = self._left_bytes()
        if left is not None and writes_bytes > max(left, 0):
            raise ExhaustedError("this stage has written as much as it declared")

    def _fitted(self, plan: Plan) -> tuple[Plan, int]:
        """Let a run write no more than what is left; the plan, and requests that do not count."""
        self._require(0)
        text, left = plan.to_json(), self._left_bytes()
        values = json.loads(text)
        ramp = values.get("ramp_requests") or 0
        if left is None or values.get("rw") in ("read", "randread"):
            return _Written(text), ramp
        block = max(values.get("block_bytes") or 0, values.get("write_block_bytes") or 0, 1)
        self._require(ramp * block + block)
        room = (left - ramp * block) // block * block
        values["io_bytes"] = min(values.get("io_bytes") or room, room)
        return _Written(json.dumps(values)), ramp

    def _count(self, result: RunResult, uncounted: int) -> None:
        read, written = (0 if each is None else each.bytes for each in (result.read, result.write))
        whole = 1 + uncounted / max(result.requests, 1)
        self.spent.add(result.requests + uncounted, round(read * whole), round(written * whole))


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


@dataclass(frozen=True)
class _Written:
    """A plan that is written already."""

    text: str

    def to_json(self) -> str:
        return self.text
