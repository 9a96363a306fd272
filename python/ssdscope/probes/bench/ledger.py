"""A drive on the bench: every request of a probe goes through here and is counted.

A probe never holds the `Device` itself. The bench lets no request pass that would write more
than the probe declared; it prepares the drive by I/O and keeps what it prepared; it knows what
earlier probes found.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.errors import DeviceError
from ssdscope.findings import SIZE_SWEEP, Reason
from ssdscope.probes.asking import Known
from ssdscope.probes.bench.company import refuse_company, refuse_gone, refuse_split, stop_for_errors
from ssdscope.probes.bench.preparing import prepare
from ssdscope.probes.budget import TIME_OVER, Budget, Deadline, StageProgress, silent
from ssdscope.probes.plan import Plan, State, Stopped
from ssdscope.probes.record import Record
from ssdscope.probes.run import run
from ssdscope.seeds import stream
from ssdscope.targets import work
from ssdscope.targets.metered import ExhaustedError, Watch
from ssdscope.targets.pieces import PIECE_BYTES, cut, joined, rest_s, work_of
from ssdscope.targets.records import (
    OP_DISCARD,
    OP_READ,
    OP_WRITE,
    OP_WRITE_FUA,
    OP_WRITE_ZEROES,
    DeviceInfo,
    Log,
    Moved,
    RunResult,
)
from ssdscope.targets.work import Work

if TYPE_CHECKING:
    import numpy.typing as npt

    from ssdscope.inference.series import Series
    from ssdscope.targets.device import Device, Snapshot
    from ssdscope.targets.device import Plan as Workload
    from ssdscope.targets.quiet import Quiet

__all__ = ["MAX_FOREIGN_SHARE", "Bench"]

MAX_FOREIGN_SHARE = 0.1
"""Of a measurement's time that others may keep a drive busy; a little is what medians are for."""

SETTLED_S = 2.0
"""After so much work of a long step its rate is known, and what is left of it is foreseen."""
_NOTHING = Moved(0, 0)


class Bench(Known):
    """A device under experiment.

    Parameters
    ----------
    device
        The drive. One that can keep its state is returned to it before each probe.
    budget
        What may be spent.
    seed
        Of everything that probes draw.
    record
        What was measured before, and is not measured again; what is measured is added.

    Attributes
    ----------
    record : Record
        Series of the plans that were taken.
    bytes_written, requests : int
        Spent since the bench was made, preparation included.
    """

    def __init__(
        self, device: Device, budget: Budget, seed: int, record: Record | None = None
    ) -> None:
        super().__init__()
        self._device = device
        self.budget = budget
        self.seed = seed
        self.bytes_written = 0
        self._worked_s = self._written_s = self._expected_s = 0.0
        self.requests = 0
        self._quiet: Quiet | None = None
        self._allowed_bytes = 0
        self._deadline: Deadline | None = None
        self._progress: StageProgress = silent
        self._foreign_before = device.foreign_bytes() or _NOTHING
        self.record = Record() if record is None else record
        self._kept: dict[State, Snapshot] = {}
        self._foreseen_s: dict[State, float] = {}
        self._step: tuple[int, int, float] | None = None
        self._state: State | None = State.AS_FOUND
        if device.info.snapshot:
            self._kept[State.AS_FOUND] = device.snapshot()

    @property
    def info(self) -> DeviceInfo:
        """What a host knows of the drive."""
        return self._device.info

    @property
    def virtual(self) -> bool:
        """Whether time is simulated, so that counts and not seconds limit a probe."""
        return self.info.clock == "virtual"

    @property
    def heavy(self) -> bool:
        """Whether plans may be asked for that only a full budget allows."""
        return self.budget.heavy

    @property
    def counts_requests(self) -> bool:
        """Whether the kernel counts the requests that reach the drive, and all of ours do."""
        return self.info.kind == "block" and bool((self._device.access() or {}).get("direct_io"))

    @property
    def foreign(self) -> Moved:
        """What others have moved on the drive since the bench was made, as far as is known."""
        return (self._device.foreign_bytes() or _NOTHING).since(self._foreign_before)

    def _read_ns_per_byte(self) -> float:
        """Give what a byte takes in small reads, as far as the probe `latency` has measured it."""
        told = self.known.get("read_latency_alpha_ns")
        swept = None if told is None else told.evidence.exhibit(SIZE_SWEEP)
        return math.inf if swept is None else swept.series[0].y[0] / swept.series[0].x[0]

    def rng(self, name: str) -> np.random.Generator:
        """Give the random numbers of a part of a probe; the same for the same seed and name."""
        return stream(self.seed, name)

    def deadline(self, share: float) -> Deadline:
        """Start a share of the budget's time; of a simulated drive that is work."""
        return Deadline(self.budget.wall_s * share, self._clock_s)

    def _clock_s(self) -> float:
        return self._worked_s if self.virtual else time.monotonic()

    def progress(self, stage: str, share: float) -> None:
        """Tell how far the probe has got (0 to 1)."""
        self._progress(stage, share)

    def take(self, plan: Plan) -> Series:
        """Return the series of a plan; one that was taken before is not measured again."""
        if (taken := self.record.get(plan)) is not None:
            return taken
        try:
            taken = run(self, plan)
        except Stopped as stop:
            self.record.refuse(plan, stop)
            raise
        self.record.put(plan, taken)
        return taken

    @contextmanager
    def allowance(
        self, writes_bytes: int, progress: StageProgress = silent, wall_s: float | None = None
    ) -> Iterator[None]:
        """Allow a probe so many bytes of writes, and so much of the budget's time, and no more."""
        before = self._allowed_bytes, self._progress, self._deadline
        self._allowed_bytes, self._progress = self.bytes_written + writes_bytes, progress
        self._deadline = None if wall_s is None else Deadline(wall_s, self._clock_s)
        try:
            yield
        finally:
            self._allowed_bytes, self._progress, self._deadline = before

    @contextmanager
    def foreseen(self, whole_bytes: int) -> Iterator[None]:
        """Stop a step of so many bytes on a simulated drive as soon as it cannot end in time."""
        if self.virtual and whole_bytes:
            self._require_time(self._dearer() * Work(bytes_written=whole_bytes).seconds)
            self._step = whole_bytes, self.bytes_written, self._worked_s
        try:
            yield
        finally:
            self._step = None

    def enter(self, state: State) -> None:
        """Bring the drive into a state, with its caches as they were found.

        A state that was prepared before is returned to where the drive can; elsewhere it is
        prepared again if anything was written since.
        """
        if state in self._kept:
            self._device.restore(self._kept[state])
        elif state is not self._state and state is not State.AS_FOUND:
            self._prepare(state)
            if self.info.snapshot:
                self._kept[state] = self._device.snapshot()
        self._state = state

    def renew(self, state: State) -> bool:
        """Return to a state where that costs nothing; give whether it does."""
        if self.info.snapshot:
            self.enter(state)
        return self.info.snapshot

    def _prepare(self, state: State) -> None:
        self._require_writable()
        planned = Work(bytes_written=state.writes_bytes(self.info.capacity_bytes))
        # It is filled in order first, which is no dearer than expected.
        in_order = Work(bytes_written=min(planned.bytes_written, self.info.capacity_bytes))
        # Who was stopped here before knows what it takes.
        self._require_time(self._foreseen_s.get(state, 0.0))
        self._reserve(planned, no_dearer_s=in_order.seconds)
        self._state, begun_s, done_bytes = None, self._worked_s, 0
        piece_bytes = PIECE_BYTES if self.virtual else None
        try:
            with self._on_time(foresee=True) as told:
                told["piece_bytes"] = piece_bytes
                for result in prepare(self._device, state, self.seed, **told):
                    done = Work.of(result)
                    self._enter_work(done, work.of_run(result))
                    result.whole()
                    done_bytes += done.bytes_written
                    took_s = self._worked_s - begun_s
                    more_s = rest_s(took_s, done_bytes, planned.bytes_written)
                    self._foreseen_s[state] = took_s + more_s
                    if self.virtual and more_s:
                        self._require_time(more_s)
        except DeviceError as error:
            self.read([0], self.info.logical_block_bytes)  # tells if the drive is gone
            raise Stopped(Reason.DEVICE_ERRORS, f"{state.value}: {error.message}") from error

    def issue(
        self,
        ops: npt.ArrayLike,
        offsets: npt.ArrayLike,
        lengths: npt.ArrayLike,
        *,
        keep_errors: bool = False,
        most_foreign_share: float = MAX_FOREIGN_SHARE,
        undivided: bool = False,
        **pacing: Any,
    ) -> Log:
        """Run explicit requests, in order; `Device.run_list` has the details.

        Parameters
        ----------
        ops, offsets, lengths
            Operation, first byte and bytes of each; shapes (n,).
        keep_errors
            Give rows of failed requests back instead of stopping the probe.
        most_foreign_share
            Of the time that others may keep the drive busy.
        undivided
            Whether the time of each request counts by its size, so that one that the kernel has
            split is not what was asked.
        pacing
            ``iodepth`` and the rest, as `Device.run_list` takes them.

        Raises
        ------
        Stopped
            If more would be written than is allowed, or a request failed.
        DeviceError
            If the drive is gone.
        """
        ops = np.broadcast_to(np.asarray(ops, np.uint8), np.shape(offsets))
        lengths = np.broadcast_to(np.asarray(lengths, np.uint64), np.shape(offsets))
        writes = (ops == OP_WRITE) | (ops == OP_WRITE_FUA) | (ops == OP_WRITE_ZEROES)
        changes = writes | (ops == OP_DISCARD)
        if changes.any():
            self._require_writable()
            self._state = None
        written_bytes = np.where(writes, lengths, np.uint64(0))
        self._reserve(work_of(ops, lengths, written_bytes))
        before = self.foreign
        log = self._asked(ops, np.asarray(offsets), lengths, written_bytes, pacing)
        self._listen(log.quiet)
        theirs = self.foreign.since(before)
        refuse_company(log, theirs, self._read_ns_per_byte(), most_foreign_share)
        if undivided and self.counts_requests:
            refuse_split(log)
        if log.error.any():
            refuse_gone(log)
            if not keep_errors:
                stop_for_errors(log)
        return log

    def _asked(
        self,
        ops: npt.NDArray[Any],
        offsets: npt.NDArray[Any],
        lengths: npt.NDArray[Any],
        written_bytes: npt.NDArray[Any],
        pacing: dict[str, Any],
    ) -> Log:
        """Ask the drive; of a long list on a simulated one, see after each piece what is left."""
        parts = cut(written_bytes, pacing) if self.virtual else [slice(0, ops.size)]
        begun_s, done_bytes, planned_bytes = self._worked_s, 0, int(written_bytes.sum())
        logs: list[Log] = []
        for part in parts:
            if more_s := rest_s(self._worked_s - begun_s, done_bytes, planned_bytes):
                self._require_time(more_s)
            pauses = pacing.get("pauses_ns")
            own = pacing if pauses is None else pacing | {"pauses_ns": np.asarray(pauses)[part]}
            doing = work_of(ops[part], lengths[part], written_bytes[part])
            with self._counted(doing), self._on_time() as told:
                logs.append(
                    self._device.run_list(ops[part], offsets[part], lengths[part], **told, **own)
                )
            done_bytes += doing.bytes_written
        return joined(logs, parts)

    def read(self, offsets: npt.ArrayLike, lengths: npt.ArrayLike, **pacing: Any) -> Log:
        """Read; as `issue`."""
        return self.issue(OP_READ, offsets, lengths, **pacing)

    def write(self, offsets: npt.ArrayLike, lengths: npt.ArrayLike, **pacing: Any) -> Log:
        """Write; as `issue`."""
        return self.issue(OP_WRITE, offsets, lengths, **pacing)

    def run(self, plan: Workload, writes_bytes: int) -> RunResult:
        """Run a workload that writes at most so many bytes."""
        if writes_bytes:
            self._require_writable()
            self._state = None
        self._reserve(Work(bytes_written=writes_bytes))
        with self._on_time() as told:
            result = self._device.run(plan, **told).whole()
        self._listen(result.quiet)
        written = 0 if result.write is None else result.write.bytes
        if written > writes_bytes:
            raise RuntimeError(f"a plan wrote {written} bytes and had declared {writes_bytes}")
        self._enter_work(Work.of(result), work.of_run(result))
        return result

    @property
    def quiet(self) -> Quiet | None:
        """How quiet the machine was since `take_quiet`; None on a simulated drive."""
        return self._quiet

    def take_quiet(self) -> Quiet | None:
        """Say how quiet the machine was since this was last asked; None on a simulated drive."""
        quiet, self._quiet = self._quiet, None
        return quiet

    def hear(self, quiets: Iterable[Quiet | None]) -> None:
        """Take stretches that were asked for one by one as one again."""
        self._quiet = None
        for quiet in quiets:
            self._listen(quiet)

    def _listen(self, quiet: Quiet | None) -> None:
        if quiet is not None:
            self._quiet = quiet.joined(self._quiet)

    def idle(self, duration_ns: int) -> None:
        """Leave the drive alone, if there is as much time left."""
        self._require_time(0.0 if self.virtual else duration_ns / 1e9)
        with self._counted(Work()):
            self._device.idle(duration_ns)

    @contextmanager
    def caches(self, *, write: bool | None = None, read: bool | None = None) -> Iterator[None]:
        """Switch caches for a while, if the drive allows it; None leaves one as it is."""
        before = self.info.write_cache.on, self.info.read_cache.on
        self.switch(write=write, read=read)
        try:
            yield
        finally:
            # Of a drive that is gone that is told, and not that its caches cannot be switched.
            gone = isinstance(sys.exception(), DeviceError)
            with suppress(DeviceError) if gone else nullcontext():
                self.switch(
                    write=before[0] if write is not None else None,
                    read=before[1] if read is not None else None,
                )

    @contextmanager
    def without_caches(self, *, write: bool = True, read: bool = True) -> Iterator[None]:
        """Switch off for a while what of these caches the drive lets be switched off."""
        write &= self.info.write_cache.control == "switchable"
        read &= self.info.read_cache.control == "switchable"
        with self.caches(write=False if write else None, read=False if read else None):
            yield

    def switch(self, *, write: bool | None = None, read: bool | None = None) -> None:
        """Switch caches for good; `caches` says how. None leaves one as it is."""
        for on, cache in ((write, self.info.write_cache), (read, self.info.read_cache)):
            if on is not None and cache.on != on and cache.control != "switchable":
                raise Stopped(Reason.CACHE_NOT_CONTROLLABLE)
        if write is not None and self.info.write_cache.on != write:
            with self._counted(Work()):
                self._device.set_write_cache(write)
        if read is not None and self.info.read_cache.on != read:
            self._device.set_read_cache(read)

    @contextmanager
    def _on_time(self, *, foresee: bool = False) -> Iterator[dict[str, Any]]:
        """End a call to a real drive when the time is over, or is foreseen to be."""
        until = None
        if not self.virtual and self._deadline is not None:
            until = Watch(self._deadline.until(foresee=foresee))
        try:
            yield {} if until is None else {"progress": until}
        except ExhaustedError as error:
            raise Stopped(Reason.BUDGET_EXHAUSTED, error.message) from None
        except KeyboardInterrupt:
            if until is not None and until.why:
                raise Stopped(Reason.BUDGET_EXHAUSTED, until.why) from None
            raise

    def _require_writable(self) -> None:
        if not self.info.writable:
            raise Stopped(Reason.NOT_WRITABLE)

    def _require_time(self, seconds: float) -> None:
        if self._deadline is not None and self._deadline.left_s <= seconds:
            left = self._deadline.left_s
            needs = f"the next step takes {seconds:.3g} s, and {left:.3g} s are left"
            raise Stopped(Reason.BUDGET_EXHAUSTED, needs if seconds >= 1 else TIME_OVER)

    def _counted(self, done: Work) -> AbstractContextManager[None]:
        """Enter what the drive is given to do meanwhile, and what it does of itself."""
        enter = partial(self._enter_work, done)
        return work.counted(self._device, enter, reads=done.reads, writes=done.writes)

    def _enter_work(self, done: Work, worked_s: float) -> None:
        if done.writes:
            self._expected_s += done.seconds
            self._written_s += worked_s
        self._worked_s += worked_s
        self.bytes_written += done.bytes_written
        self.requests += done.reads + done.writes

    def _reserve(self, planned: Work, no_dearer_s: float = 0.0) -> None:
        expected_s = no_dearer_s + self._dearer() * (planned.seconds - no_dearer_s)
        if self._step is not None:
            whole_bytes, written, worked_s = self._step
            if (took_s := self._worked_s - worked_s) > SETTLED_S:
                left_s = rest_s(took_s, self.bytes_written - written, whole_bytes)
                expected_s = max(expected_s, left_s)
        self._require_time(expected_s if self.virtual else 0.0)
        if self.bytes_written + planned.bytes_written > self._allowed_bytes:
            raise Stopped(Reason.BUDGET_EXHAUSTED, "it has written what it declared")

    def _dearer(self) -> float:
        """Say how many times their expected cost writes had, to which collecting adds."""
        return max(1.0, self._written_s / self._expected_s) if self._expected_s else 1.0
