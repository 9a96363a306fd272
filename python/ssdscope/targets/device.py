"""The only door to a drive, for everything written in Python.

A `Device` shows what a host sees: capacity, requests and their times, and a few optional
capabilities. It does not say what drive is behind it, and nothing above `targets` may ask.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from ssdscope import _native
from ssdscope.errors import ConfigError, DeviceError, SsdscopeError, TraceError, UsageError
from ssdscope.targets.crew import heeding
from ssdscope.targets.names import printable
from ssdscope.targets.quiet import Quiet
from ssdscope.targets.records import DeviceInfo, Log, Moved, Progress, RunResult
from ssdscope.targets.work import FlashWork

if TYPE_CHECKING:
    import numpy.typing as npt

READ_BACK_BYTES, READ_BACK_DEPTH = 256 << 10, 8
"""How data are read back: large requests, a few at a time, as it is not measured."""

FITTING = 0
"""Length of the windows of a rate over time: as long as it takes for some 50 to 120 of them."""

ProgressCallback = Callable[[Progress], None]
ChunkCallback = Callable[[Log], None]


class Plan(Protocol):
    """What a device can be told to do: anything that writes itself as a workload's JSON."""

    def to_json(self) -> str:
        """Write the plan as JSON."""


class Snapshot:
    """The state of a drive, as an opaque handle that only this drive and its forks can read."""

    def __init__(self, native: _native.Snapshot) -> None:
        self._native = native


class Device:
    """An open drive.

    Parameters
    ----------
    native
        The drive as the native module opened it. `open_target` is how to get one.
    info
        What is known of it; asked for if absent.

    Attributes
    ----------
    info
        What a host knows of the drive beforehand.
    """

    def __init__(self, native: _native.Device, info: DeviceInfo | None = None) -> None:
        self._native = native
        self.info = info or self._read_info()

    def _read_info(self) -> DeviceInfo:
        return DeviceInfo.from_json(self._native.info())

    def run(
        self,
        plan: Plan,
        *,
        progress: ProgressCallback | None = None,
        chunk: ChunkCallback | None = None,
        timeline_ns: int | None = None,
    ) -> RunResult:
        """Run one workload to its end.

        Parameters
        ----------
        plan
            The workload.
        progress
            Called about ten times a second of wall time.
        chunk
            Called with the log of every 65,536 requests or fewer, in the order of
            completion. Without it no log is kept at all.
        timeline_ns
            Also give the rate over time, in windows of so many nanoseconds (`FITTING`: of as
            long ones as fit), as ``summary["timeline"]``.

        Returns
        -------
        RunResult
            The summary; `RunResult.interrupted` after Ctrl-C, with what was served so far.

        Raises
        ------
        UsageError
            If the plan does not fit the drive.
        DeviceError
            If the drive fails or can make no progress.
        """
        with translated_errors():
            return RunResult.from_json(
                self._native.run(plan.to_json(), _progress(progress), _chunk(chunk), timeline_ns)
            )

    def run_flows(
        self,
        plan: Plan,
        *,
        progress: ProgressCallback | None = None,
        chunk: ChunkCallback | None = None,
        timeline_ns: int | None = None,
    ) -> RunResult:
        """Run several workloads at the same time.

        Parameters
        ----------
        plan
            The flows.
        progress, chunk, timeline_ns
            As in `run`; with several flows the log has a column ``flow``, the place of a
            request's flow in the plan.

        Returns
        -------
        RunResult
            The summary of all together; each flow's own is in ``summary["flows"]``.

        Raises
        ------
        UsageError
            If a flow does not fit the drive; the message names it.
        DeviceError
            If the drive fails or can make no progress.
        """
        with translated_errors():
            text = self._native.run_flows(
                plan.to_json(), _progress(progress), _chunk(chunk), timeline_ns
            )
            return RunResult.from_json(text)

    def run_logged(self, plan: Plan) -> tuple[RunResult, Log]:
        """Run one workload and keep the whole log in memory."""
        parts: list[Log] = []
        result = self.run(plan, chunk=parts.append)
        return result, Log.concatenate(parts) if parts else Log.empty()

    def run_list(
        self,
        ops: npt.ArrayLike,
        offsets: npt.ArrayLike,
        lengths: npt.ArrayLike,
        *,
        arrivals_ns: npt.ArrayLike | None = None,
        pauses_ns: npt.ArrayLike | None = None,
        iodepth: int = 1,
        thinktime_ns: int = 0,
        progress: ProgressCallback | None = None,
    ) -> Log:
        """Run explicit requests, in order.

        Reads, writes, writes with forced unit access, flushes, discards and zeros may be mixed. A
        request that fails is a row with an ``error``, and the list goes on, however many fail:
        5 (EIO) where the medium cannot be read or written, 19 (ENODEV) where the drive is gone.

        Parameters
        ----------
        ops, offsets, lengths
            Operation (`records.OP_READ` ...), first byte and bytes of each request; shapes
            (n,). A flush has neither first byte nor length: both are 0.
        arrivals_ns
            When each arrives, from the start of the list, ascending; shape (n,). An open loop.
            Without it a closed loop keeps `iodepth` requests in flight.
        pauses_ns
            Idle time before each request of a closed loop; shape (n,). A request with a pause
            above 0 waits until all before it have ended and then for so long, and those behind
            it wait for it: bursts with rests between them are one call.
        iodepth, thinktime_ns
            Of the closed loop.
        progress
            As in `run`.

        Returns
        -------
        Log
            One row per request, in the order of completion.

        Raises
        ------
        UsageError
            If a request does not fit the drive, or both arrivals and pauses are given.
        DeviceError
            If the drive as a whole fails.
        KeyboardInterrupt
            After Ctrl-C: half a list is not what the caller asked for.
        """
        import numpy as np  # here: what only parses shall start fast

        arrivals = None if arrivals_ns is None else np.ascontiguousarray(arrivals_ns, np.uint64)
        pauses = None if pauses_ns is None else np.ascontiguousarray(pauses_ns, np.uint64)
        with translated_errors():
            interrupted, quiet, columns = self._native.run_list(
                np.ascontiguousarray(ops, np.uint8),
                np.ascontiguousarray(offsets, np.uint64),
                np.ascontiguousarray(lengths, np.uint64),
                arrivals,
                pauses,
                iodepth,
                thinktime_ns,
                _progress(progress),
            )
        if interrupted:
            raise KeyboardInterrupt
        return Log(columns, None if quiet is None else Quiet.from_dict(json.loads(quiet)))

    def verify(self, *, compare_reads: bool) -> None:
        """From now on stamp and remember what is written, so that it can be compared.

        Parameters
        ----------
        compare_reads
            Compare what is read, too: with what was written since, or else with its stamps.

        Raises
        ------
        UsageError
            If nothing that is written is stored, or nobody here sees it.
        """
        if self._native.verify(compare_reads):
            return
        if self.info.kind == "raid0":
            raise UsageError(
                "an array is not verified: its members hold the data",
                hint="verify each member by itself",
            )
        what = "the null device" if self.info.kind == "null" else "a simulated drive"
        raise UsageError(
            f"{what} stores no data, so there is nothing to compare",
            hint="ssdscope serve stores them: run with --verify on its export",
        )

    def take_verdict(self) -> dict[str, Any]:
        """Give what came of comparing since it was asked last.

        Returns
        -------
        dict
            ``checked_bytes``, ``mismatched_bytes`` (whole sectors) and ``first``: None, or
            ``offset_bytes`` on the target, ``expected`` and ``found``.
        """
        verdict: dict[str, Any] = json.loads(self._native.take_verdict())
        return verdict

    def read_back(
        self,
        *,
        request_bytes: int = READ_BACK_BYTES,
        iodepth: int = READ_BACK_DEPTH,
        progress: ProgressCallback | None = None,
    ) -> dict[str, Any]:
        """Read what was written since `verify`, each place once and in order, and compare.

        Returns
        -------
        dict
            Of `take_verdict`, and ``written_bytes, failed_requests, elapsed_ns, interrupted,
            broken`` (why it did not come to its end, or None).

        Raises
        ------
        UsageError
            If the device stores no data.
        """
        with translated_errors():
            text = self._native.read_back(request_bytes, iodepth, _progress(progress))
        found: dict[str, Any] = json.loads(text)
        return found

    def replay(
        self,
        path: str,
        options: Plan,
        *,
        progress: ProgressCallback | None = None,
        chunk: ChunkCallback | None = None,
        timeline_ns: int | None = None,
    ) -> RunResult:
        """Replay a trace file.

        Parameters
        ----------
        path
            The trace, plain or compressed.
        options
            How to read and pace it.
        progress, chunk, timeline_ns
            As in `run`.

        Returns
        -------
        RunResult
            The summary; what happened to the trace is in ``summary["trace"]``.

        Raises
        ------
        TraceError
            If the trace cannot be read or does not fit the drive.
        DeviceError
            If the drive fails.
        """
        with translated_errors():
            text = self._native.replay(
                path, options.to_json(), _progress(progress), _chunk(chunk), timeline_ns
            )
            return RunResult.from_json(text)

    def access(self) -> dict[str, Any] | None:
        """Say how requests reach a real drive: engine, direct I/O, holes; None otherwise."""
        text = self._native.access()
        return None if text is None else json.loads(text)

    def link(self) -> str | None:
        """Give the path by which this process reaches what is open, whatever became of its name.

        None of what is neither a file nor a block device.
        """
        link = self._native.link()
        return None if link is None else str(link)

    def idle(self, duration_ns: int) -> None:
        """Leave the drive alone for a while; free of cost on a virtual clock."""
        with translated_errors():
            self._native.idle(duration_ns)

    def set_write_cache(self, on: bool) -> None:
        """Switch the write cache on or off; `info` tells what it is.

        One that is switched off is emptied first, which takes the drive its time.

        Raises
        ------
        UsageError
            If that would change something and the drive does not allow it.
        """
        with translated_errors():
            self._native.set_write_cache(on)
        self.info = self._read_info()

    def set_read_cache(self, on: bool) -> None:
        """Switch the read cache, with what it reads ahead, on or off.

        Raises
        ------
        UsageError
            If that would change something and the drive does not allow it.
        """
        with translated_errors():
            self._native.set_read_cache(on)
        self.info = self._read_info()

    def now_ns(self) -> int:
        """Read the drive's clock."""
        return self._native.now_ns()

    def snapshot(self) -> Snapshot:
        """Keep the state as it is.

        Raises
        ------
        DeviceError
            If the drive cannot (`DeviceInfo.snapshot`).
        """
        with translated_errors():
            return Snapshot(self._native.snapshot())

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a state kept by `snapshot`."""
        with translated_errors():
            self._native.restore(snapshot._native)
        self.info = self._read_info()

    def fork(self, share: float | None = None) -> Device:  # noqa: ARG002
        """Make an independent copy in the same state.

        Parameters
        ----------
        share
            Of what may still be written, where that is limited (`metered`): the copy's own.

        Raises
        ------
        DeviceError
            If the drive cannot (`DeviceInfo.snapshot`).
        """
        with translated_errors():
            return Device(self._native.fork(), self.info)

    def left_s(self) -> float:
        """Give the seconds that may still be spent on it; without end where nobody limits them."""
        return math.inf

    def booked(self, plan: Plan) -> Plan:
        """Give the plan that a run on a copy keeps to, which is begun elsewhere (`copies`)."""
        return plan

    def note_run(self, plan: Plan, result: RunResult | None) -> None:
        """Take note of a run on a copy of what `booked` gave; None of one that did not begin."""

    def foreign_bytes(self) -> Moved | None:
        """Count what others read and wrote since the drive was opened; None if nobody counts.

        The kernel does for block devices read with direct I/O, and for a simulated drive whoever
        disturbs it.
        """
        moved = self._native.foreign_bytes()
        return None if moved is None else Moved(*moved)

    def flash_work(self) -> FlashWork:
        """Count what simulating the flash took since the drive was opened; zeros for real ones."""
        return FlashWork(*self._native.flash_work())

    def counters(self) -> dict[str, Any] | None:
        """Read what the drive counted since it was opened; None for real drives."""
        text = self._native.counters()
        return None if text is None else json.loads(text)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn the native module's exceptions into ours, at the only place that knows both."""
    try:
        yield
    except _native.ConfigError as error:
        raise ConfigError(str(error)) from error
    except _native.TraceError as error:
        raise _with_partial(TraceError(str(error)), error) from error
    except _native.UsageError as error:
        raise _with_partial(UsageError(str(error)), error) from error
    except _native.DeviceError as error:
        raise _with_partial(DeviceError(str(error)), error) from error
    except UnicodeEncodeError as error:
        raise UsageError(f"'{printable(error.object)}' is not text in UTF-8") from error


def _with_partial(ours: SsdscopeError, native: Exception) -> SsdscopeError:
    """Keep what had been measured when a run broke."""
    text = getattr(native, "partial", None)
    ours.partial = None if text is None else RunResult.from_json(text)
    return ours


def native_of(devices: Sequence[Device]) -> list[_native.Device]:
    """Unwrap devices, for the composition of several into one."""
    return [device._native for device in devices]


def _progress(callback: ProgressCallback | None) -> Callable[[str], None] | None:
    told = heeding(callback)
    return None if told is None else lambda text: told(Progress.from_json(text))


def _chunk(
    callback: ChunkCallback | None,
) -> Callable[[dict[str, npt.NDArray[Any]]], None] | None:
    if callback is None:
        return None

    # The command line knows this function by its name: it is not interrupted halfway.
    # The compiled module loads it with the first chunk otherwise, where an interrupt breaks it off.
    import numpy  # noqa: F401, ICN001

    def deliver_chunk(columns: dict[str, npt.NDArray[Any]]) -> None:
        callback(Log(columns))

    return deliver_chunk
