"""The Rust half of ssdscope. Private: `ssdscope.targets` is the way in.

Records cross as JSON text, columns as numpy arrays. No call holds the interpreter while
Rust works; signals are looked for about every 10 ms. A test compares this file with the
module: names, arguments and their order.
"""

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

class ConfigError(ValueError):
    """A drive file that cannot work: every fault, a line each."""

class TraceError(ValueError):
    """A trace that cannot be read or replayed."""

class UsageError(ValueError):
    """A request that cannot be meant."""

class DeviceError(RuntimeError):
    """A drive that failed.

    If a run broke, the summary of what was measured before is in the attribute
    ``partial``, as JSON text.
    """

@final
class Snapshot:
    """The state of a drive, readable only by it and its forks."""

@final
class Copies:
    """Runs that have begun, each on a copy of a drive; an iterator of what they come to."""

    def __iter__(self) -> Copies:
        """Give itself."""

    def __next__(self) -> tuple[str, BaseException | None, dict[str, npt.NDArray[Any]] | None]:
        """Give what the next course came to, in the order of the courses.

        Returns
        -------
        tuple
            Summaries as a JSON list, one per workload that ended; what the next one raised, if it
            did not; the log of the last one, if that was asked for.
        """

    def close(self) -> None:
        """End what still runs, and wait for that."""

@final
class Device:
    """An open drive."""

    def info(self) -> str:
        """Say what a host knows of the drive beforehand, as JSON."""

    def access(self) -> str | None:
        """Say how requests reach a real drive, as JSON; None for all others.

        Keys: ``engine``, ``engine_note``, ``direct_io``, ``direct_io_note``,
        ``memory_backed``, ``copy_on_write``, ``window``, ``preserves_content``, ``holes_bytes``,
        ``reads_before_writes``, ``use_note``.
        """

    def link(self) -> str | None:
        """Give the path by which this process reaches an open file or block device."""

    def run(
        self,
        workload_json: str,
        progress: Callable[[str], None] | None,
        chunk: Callable[[dict[str, npt.NDArray[Any]]], None] | None,
        timeline_ns: int | None = None,
    ) -> str:
        """Run a workload to its end; its summary as JSON.

        Parameters
        ----------
        workload_json
            The workload.
        progress
            Called about every 100 ms of wall time with JSON: ``requests``, ``bytes``,
            ``failed_requests``, ``elapsed_ns``, ``fraction``, ``mean_latency_ns``,
            ``relative_half_width``.
        chunk
            Called with up to 65,536 rows of the log as arrays of shape (n,), in the order
            of completion: ``index`` (of issue, int64), ``op`` (uint8), ``offset_bytes``,
            ``bytes``, ``submit_ns``, ``complete_ns`` (int64), ``error`` (int32) and, of a
            drive that attributes, 14 columns ``attr_<cause>_ns`` (int64).
        timeline_ns
            Length of a window of the rate over time, which the summary then has as
            ``timeline``; 0 lets the run choose.

        Raises
        ------
        UsageError
            If the workload does not fit the drive.
        DeviceError
            If the drive fails.
        """

    def run_flows(
        self,
        flows_json: str,
        progress: Callable[[str], None] | None,
        chunk: Callable[[dict[str, npt.NDArray[Any]]], None] | None,
        timeline_ns: int | None = None,
    ) -> str:
        """Run several workloads at the same time; the summary as JSON.

        As `run`. Of several flows the log has a column ``flow`` (int32), and the summary a
        list ``flows``.
        """

    def run_list(
        self,
        ops: npt.NDArray[np.uint8],
        offsets: npt.NDArray[np.uint64],
        lengths: npt.NDArray[np.uint64],
        arrivals_ns: npt.NDArray[np.uint64] | None,
        pauses_ns: npt.NDArray[np.uint64] | None,
        iodepth: int,
        thinktime_ns: int,
        progress: Callable[[str], None] | None,
    ) -> tuple[bool, str | None, dict[str, npt.NDArray[Any]]]:
        """Run explicit requests in order.

        Returns
        -------
        tuple
            Whether Ctrl-C ended it; how quiet the machine was as JSON, None where time is
            simulated; the log.

        Arrays are contiguous, of shape (n,). Operations are those of the log, and 4, a write
        with forced unit access; 5 writes zeros. Columns of the log are as in `run`; ``index`` is the place in
        the list. A request that fails has its row; no number of failures ends the list.
        """

    def verify(self, compare_reads: bool) -> bool:
        """From now on stamp and remember what is written, and compare what is read if asked.

        False where nothing is stored, or nobody sees it.
        """

    def take_verdict(self) -> str:
        """Give what came of comparing since it was asked last, as JSON."""

    def read_back(
        self,
        request_bytes: int,
        iodepth: int,
        progress: Callable[[str], None] | None,
    ) -> str:
        """Read back what was written since `verify`, and compare; what came of it, as JSON."""

    def replay(
        self,
        path: str,
        options_json: str,
        progress: Callable[[str], None] | None,
        chunk: Callable[[dict[str, npt.NDArray[Any]]], None] | None,
        timeline_ns: int | None = None,
    ) -> str:
        """Replay a trace; the summary as JSON, with ``trace``.

        Parameters are as of `run`.

        Raises
        ------
        TraceError
            If the trace cannot be read or does not fit the drive.
        DeviceError
            If the drive fails.
        KeyboardInterrupt
            On Ctrl-C before the first request. Later the summary says ``interrupted``.
        """

    def serve(
        self,
        socket: str | None,
        port: int | None,
        backing: str | None,
        options_json: str,
        listening: Callable[[int | None], None],
        asked: Callable[[], bool],
        statistics: Callable[[str], None],
    ) -> tuple[str, str | None]:
        """Serve over NBD until a signal comes; the statistics as JSON, and why it broke if it did.

        Parameters
        ----------
        socket, port
            Where to listen: a Unix socket, a port of 127.0.0.1 (0 = any), or both.
        backing
            A file for the data; None keeps them in memory.
        options_json
            ``export``, ``description``, ``slow_down``, ``read_only``, ``memory_bytes_max``.
        listening
            Called when clients may come, with the port.
        asked
            Asked about every 50 ms whether the statistics so far are wanted.
        statistics
            Called with them, as JSON.

        Raises
        ------
        UsageError
            If the device cannot be served like that.
        DeviceError
            If the kernel refuses.
        """

    def idle(self, ns: int) -> None:
        """Let time pass without requests."""

    def set_write_cache(self, on: bool) -> None:
        """Switch the write cache on or off; emptying it takes time."""

    def set_read_cache(self, on: bool) -> None:
        """Switch the read cache on or off."""

    def now_ns(self) -> int:
        """Read the drive's clock."""

    def snapshot(self) -> Snapshot:
        """Keep the state as it is."""

    def restore(self, s: Snapshot) -> None:
        """Return to a state that was kept."""

    def fork(self) -> Device:
        """Make an independent copy in the same state."""

    def counters(self) -> str | None:
        """Say what the drive counted since it was opened, as JSON; None for real drives."""

    def flash_work(self) -> list[int]:
        """Count what `FlashWork` has, since it was opened; zeros for real drives."""

    def foreign_bytes(self) -> tuple[int, int] | None:
        """Count what others read, and wrote, since it was opened; None where nobody counts."""

@final
class Attributes:
    """Attributes of a disk, set for a while; set back when this goes."""

    def set(self, name: str, value: str) -> str | None:
        """Set one of the fixed list; what it was before, or None if nothing changed."""

    def restore(self) -> str:
        """Set all back; what became of each, as JSON."""

def run_on_copies(
    drives: Sequence[Device],
    courses: Sequence[tuple[int, Sequence[str], bool]],
    threads: int | None,
) -> Copies:
    """Begin to run courses, each on a copy of one of the drives, on so many threads.

    Parameters
    ----------
    drives
        Copied as they are now.
    courses
        Of each the place of its drive, workloads as JSON, and whether the log of the last is kept.
    threads
        None for one per core. What the runs come to is the same with any number.
    """

def attributes(disk_name: str) -> Attributes:
    """Take the journal of a disk, to set attributes of it."""

def read_attributes(disk_name: str) -> str:
    """Read the attributes of a disk that may be set and stand in sysfs, as JSON."""

def restore_attributes() -> str:
    """Set back what killed processes have left; what became of each, as JSON."""

def disk_beneath(path: str) -> str | None:
    """Give the name of the disk that a file lies on, or that a device is or is a part of."""

def clock_overhead_ns() -> float:
    """Measure what reading the clock takes, in nanoseconds."""

def version() -> str:
    """Give the version of the native module."""

def build() -> tuple[str, str, str]:
    """Give the commit that it is compiled from, the compiler, and the interface to Python."""

def open_sim(toml: str, label: str, sets: Sequence[str], state: str | None, seed: int) -> Device:
    """Open a simulated drive from the text of a drive file, which messages call `label`."""

def open_file(
    path: str,
    destroy_token: str | None,
    overwrite_existing: bool,
    allow_virtual: bool,
    window: tuple[int, int | None] | None,
    write_limit_bytes: int | None,
    preserve_content: bool,
) -> Device:
    """Open a block device or a file for reading, or with its token for writing."""

def open_nbd(
    socket: str | None,
    port: int | None,
    export: str,
    slow_down: float,
    destroy_token: str | None,
) -> Device:
    """Open an export of an NBD server for reading, or with its token for writing.

    It listens on a Unix socket, or else on a port of 127.0.0.1. Times are divided by `slow_down`.
    """

def open_null(capacity_bytes: int) -> Device:
    """Open a device that completes everything at once: shows our own overhead."""

def open_raid0(members: Sequence[Device], chunk_bytes: int) -> Device:
    """Stripe devices into one; they belong to it from then on."""

def resolve_drive(toml: str, label: str, sets: Sequence[str]) -> str:
    """Give every key of a drive with its value, defaults included, as JSON."""

def check_toml(toml: str, label: str) -> None: ...
def check_drive(toml: str, label: str) -> list[str]:
    """Find every fault of a drive file, a line each; none if it works."""

def drive_keys() -> str:
    """List every key that a drive file may hold, as JSON.

    Each has ``key``, ``type``, ``unit``, ``expected``, ``default``, ``required``,
    ``kinds``, ``doc``.
    """

def identify(path: str) -> str:
    """Say what a device or file is, as JSON."""

def identify_nbd(socket: str | None, port: int | None, export: str) -> str:
    """Say what a server offers under a name, as JSON; nothing is read or written."""

def read_fio_logs(
    paths: Sequence[str],
    options_json: str,
    chunk: Callable[[dict[str, npt.NDArray[Any]]], None],
) -> str:
    """Read fio's logs, merged by time; what they hold, as JSON.

    Parameters
    ----------
    paths
        One file of each job.
    options_json
        ``unit_ns`` (of a latency of 1, or null), ``skip_bad``.
    chunk
        Called with up to 65,536 rows, columns as in `Device.run`.

    Raises
    ------
    TraceError
        If one cannot be read.
    """

def read_trace(
    path: str,
    options_json: str,
    chunk: Callable[[dict[str, npt.NDArray[Any]]], None],
) -> str:
    """Read the requests of a trace, in the order of their times; what it is, as JSON.

    Parameters
    ----------
    path
        The trace.
    options_json
        ``format``, ``columns``, ``volume``, ``skip_bad``, ``limit``.
    chunk
        Called with up to 1,048,576 requests as arrays of shape (n,): ``arrival_ns`` (from the
        first request), ``op`` (uint8, as in a log), ``volume``, ``offset_bytes``, ``bytes``,
        ``latency_ns`` (all uint64; the largest number where the trace does not tell).

    Raises
    ------
    TraceError
        If the trace cannot be read.
    """

def sniff_trace(path: str, options_json: str) -> str:
    """Say which format a trace is in, as JSON."""
