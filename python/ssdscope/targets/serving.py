"""A target served over NBD, to programs that know nothing of ssdscope."""

import json
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from ssdscope.errors import UsageError
from ssdscope.targets.device import native_of, translated_errors
from ssdscope.targets.names import printable
from ssdscope.targets.opening import Target
from ssdscope.targets.told import told_summary
from ssdscope.units import format_capacity

MEMORY_BYTES_MAX = 2 * 2**30
EXPORT_BYTES_MAX = 255
PORT_MAX = 65_535


@dataclass(frozen=True)
class Serving:
    """How to serve a target.

    Attributes
    ----------
    socket
        Path of a Unix socket, which only its owner reaches.
    port
        Port of 127.0.0.1; 0 takes any that is free. Every user of the machine reaches it.
    export
        Name of the export; the empty name always means it, too.
    slow_down
        How many times slower than its clock says the drive answers.
    backing
        File that holds the data; in memory if absent.
    read_only
        Refuse writes.
    memory_bytes_max
        How much memory data may take; a write beyond it fails with ENOSPC.
    """

    socket: str | None = None
    port: int | None = None
    export: str = ""
    slow_down: float = 1.0
    backing: str | None = None
    read_only: bool = False
    memory_bytes_max: int = MEMORY_BYTES_MAX

    def __post_init__(self) -> None:
        if self.socket is None and self.port is None:
            raise UsageError(
                "nowhere to listen: expected a socket, a port, or both",
                hint="add --socket PATH, as in --socket /tmp/ssd.sock",
            )
        if self.port is not None and not 0 <= self.port <= PORT_MAX:
            raise UsageError(f"{self.port} is not a port: expected 0 to {PORT_MAX}")
        if not 0.001 <= self.slow_down <= 1e6:
            raise UsageError(
                f"{self.slow_down} is not a slow-down: expected 0.001 to 1000000",
                hint="20 makes the drive twenty times slower, 1 leaves it as it is",
            )
        if len(self.export.encode(errors="surrogateescape")) > EXPORT_BYTES_MAX:
            raise UsageError(f"the name of an export has at most {EXPORT_BYTES_MAX} bytes")

    def uris(self, port: int | None) -> list[str]:
        """Give the addresses that clients use, with the port that the kernel chose."""
        name = quote(printable(self.export), safe="")
        found = []
        if self.socket is not None:
            found.append(f"nbd+unix:///{name}?socket={quote(self.socket)}")
        if port is not None:
            found.append(f"nbd://127.0.0.1:{port}/{name}")
        return found


@dataclass(frozen=True)
class Served:
    """What a server has seen: the keys of a run, and why it broke if it did."""

    summary: dict[str, Any]
    broken: str | None = None


def serve(
    target: Target,
    how: Serving,
    *,
    listening: Callable[[list[str], int | None], None],
    asked: Callable[[], bool],
    statistics: Callable[[Served], None],
) -> Served:
    """Serve a target until Ctrl-C, SIGTERM or SIGHUP.

    Parameters
    ----------
    target
        A simulated drive, an array of such, or ``null:``, which stores nothing. Or a file or a
        block device with its own data: read only unless it was opened for writing.
    how
        Where, under which name, how fast.
    listening
        Called with the addresses, and the port if there is one, as soon as clients may come.
    asked
        Asked about every 50 ms whether the statistics so far are wanted.
    statistics
        Called with them.

    Raises
    ------
    UsageError
        If the data of the target cannot be had (another export, an array of real drives), or
        socket, port or file cannot be used.
    DeviceError
        If the kernel refuses.
    """
    options = {
        "export": printable(how.export),
        "description": f"{printable(target.uri)}, {format_capacity(target.capacity_bytes)}",
        "slow_down": how.slow_down,
        "read_only": how.read_only,
        "memory_bytes_max": how.memory_bytes_max,
    }
    if target.kind in ("file", "block"):
        _require_plain(how)
    with translated_errors():
        text, broken = native_of([target.device])[0].serve(
            how.socket,
            how.port,
            how.backing,
            json.dumps(options),
            lambda port: listening(how.uris(port), port),
            asked,
            lambda summary: statistics(_served(summary)),
        )
    return _served(text, broken)


def _require_plain(how: Serving) -> None:
    """Refuse what a real drive has by itself: a speed, and data."""
    if how.slow_down != 1:
        raise UsageError("--slow-down: a real drive answers as fast as it can", hint="leave it out")
    if how.backing is not None:
        raise UsageError("--backing: a real drive or file has its data itself", hint="leave it out")


@contextmanager
def exported(target: Target, how: Serving | None = None) -> Iterator[str]:
    """Serve a target on a thread of this process; give the address of the export.

    Parameters
    ----------
    target
        As in `serve`. Nobody else may use it meanwhile.
    how
        How; on a socket of its own if absent.

    Examples
    --------
    >>> from ssdscope.targets import open_target
    >>> with exported(open_target("null:1m")) as uri:
    ...     open_target(uri).capacity_bytes
    1048576
    """
    over = threading.Event()
    ready: queue.Queue[str | BaseException] = queue.Queue()

    def asked() -> bool:
        if over.is_set():
            raise KeyboardInterrupt
        return False

    def work(how: Serving) -> None:
        try:
            serve(
                target,
                how,
                listening=lambda uris, _port: ready.put(uris[0]),
                asked=asked,
                statistics=lambda _: None,
            )
        except BaseException as failure:  # noqa: BLE001 (raised again where it is waited for)
            ready.put(failure)

    with TemporaryDirectory(prefix="ssdscope-") as folder:
        how = how or Serving(socket=f"{folder}/socket")
        worker = threading.Thread(target=work, args=(how,))
        worker.start()
        try:
            said = ready.get()
            if isinstance(said, BaseException):
                raise said
            yield said
        finally:
            over.set()
            worker.join()


def _served(text: str, broken: str | None = None) -> Served:
    return Served(told_summary(json.loads(text)), broken)
