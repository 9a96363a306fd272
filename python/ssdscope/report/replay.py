"""A trace replayed, and its rate and latency over time."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ssdscope.errors import SsdscopeError
from ssdscope.probes.budget import Budget, Deadline, StageProgress
from ssdscope.results.drops import with_drops
from ssdscope.targets import Device, open_target
from ssdscope.targets.device import FITTING
from ssdscope.targets.records import Progress
from ssdscope.targets.traces import TraceOptions, sniff_trace
from ssdscope.workloads import ReplayOptions

FIT = "compact"
"""What becomes of requests beyond the end of the drive, if nobody says."""


@dataclass(frozen=True)
class TraceFile:
    """A trace, and how it is read where its content does not tell.

    Attributes
    ----------
    path
        The file.
    format, columns
        As `--format` and `--columns` have them.
    fit
        What becomes of requests beyond the end of the drive.
    skip_bad
        Whether what cannot be read of it is left out.
    shown
        What a page calls its path, if not by that.
    """

    path: Path
    format: str | None = None
    columns: str | None = None
    fit: str = FIT
    skip_bad: bool = False
    shown: str | None = None

    def options(self) -> ReplayOptions:
        """Make the options of its replay at its own times."""
        return ReplayOptions(
            format=self.format,
            columns=self.columns,
            align="expand",
            fit=self.fit,
            skip_bad=self.skip_bad,
        )

    @property
    def name(self) -> str:
        """Its name without folders, as a page has it."""
        return Path(self.shown or self.path).name

    def require_readable(self) -> None:
        """Refuse what cannot be read as a trace.

        Raises
        ------
        TraceError
            If it is of no known format, or could be of several.
        """
        sniff_trace(str(self.path), TraceOptions(format=self.format, columns=self.columns))

    def words(self) -> list[str]:
        """Give the words of a command that name it."""
        given = (("--format", self.format), ("--columns", self.columns))
        told = [word for name, each in given if each is not None for word in (name, each)]
        told += [] if self.fit == FIT else ["--fit", self.fit]
        told += ["--skip-bad"] if self.skip_bad else []
        return ["--trace", self.shown or str(self.path), *told]


@dataclass(frozen=True)
class Foreseen:
    """What a replay will come to, as far as that is known without the drive.

    Attributes
    ----------
    writes_bytes
        The most that it writes.
    refusal
        Why it cannot run; None if it can.
    """

    writes_bytes: int = 0
    refusal: str | None = None


def foresee(trace: TraceFile, device: Device) -> Foreseen:
    """Replay a trace without the drive, to see what it writes, or that it cannot run."""
    info = device.info
    nothing = open_target(f"null:{info.capacity_bytes}").device
    try:
        result = nothing.replay(str(trace.path), replace(trace.options(), mode="asap", iodepth=64))
    except SsdscopeError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return Foreseen(refusal=f"{error.message}{hint}")
    changing = result.summary["trace"]["writes"]
    if changing and not info.writable:
        return Foreseen(
            refusal=f"{changing:,} of its {result.requests:,} requests write, and the target is "
            "open for reading only"
        )
    if result.write is None:
        return Foreseen()
    # Requests that lie across blocks are widened to them, at either end.
    return Foreseen(result.write.bytes + 2 * info.logical_block_bytes * result.write.requests)


def replay_trace(
    device: Device, trace: TraceFile, budget: Budget, progress: StageProgress
) -> dict[str, Any]:
    """Replay a trace at its own times, fitted to the drive; a refusal becomes the result.

    On a real drive, where the trace's hours are hours, it is cut off when the budget is spent.
    """
    cut = Deadline(budget.wall_s) if device.info.clock == "wall" else None
    spent = False

    def tell(report: Progress) -> None:
        nonlocal spent
        progress(f"replaying {trace.name}", report.fraction or 0.0)
        if cut is not None and cut.left_s == 0:
            spent = True
            raise KeyboardInterrupt  # as Ctrl-C does: what was served is kept

    options = trace.options()
    alone = device.fork() if device.info.snapshot else device
    try:
        result = alone.replay(str(trace.path), options, progress=tell, timeline_ns=FITTING)
    except SsdscopeError as error:
        return {"name": trace.name, "failure": error.message}
    if result.interrupted and not spent:
        raise KeyboardInterrupt
    summary = result.summary
    return {
        "name": trace.name,
        "options": options.to_dict(),
        "trace": summary.get("trace"),
        "cut_off": result.interrupted,
        "requests": result.requests,
        "read": summary["read"],
        "write": summary["write"],
        "timeline": with_drops(summary["timeline"]),
    }
