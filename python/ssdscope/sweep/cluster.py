"""Work on a Dask cluster, whose results come as they end.

Scheduler and workers have ssdscope and Dask installed, in the versions that this process has: that
is asked before anything is sent. If a worker is killed, the scheduler gives what it worked on to
another one; what has ended more workers than the scheduler allows (3, ``allowed-failures`` in
Dask's configuration) is lost. What was sent and has not ended is withdrawn when the caller stops.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import secrets
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from ssdscope import __version__
from ssdscope.errors import ClusterError, UsageError
from ssdscope.targets.native_build import native_build

if TYPE_CHECKING:
    from distributed import Client, Future

Item = TypeVar("Item")
SENT_MAX = 1024
"""Items at the scheduler at a time, so that neither it nor we hold all of a long sweep."""
CONNECT_S = 5
WORKERS_S = 10
ALONE_S = 60
"""How long we wait for a scheduler, for its first worker, and for others if all have gone."""
_LOOK_S = 5
_START = "dask scheduler --host 127.0.0.1 and dask worker tcp://127.0.0.1:8786 start them"


def on_cluster(
    function: Callable[[Item], Any],
    items: Iterable[Item],
    address: str,
    lost: Callable[[Item, str], Any],
) -> Generator[Any, None, None]:
    """Run a function over items on the workers of a scheduler; give what it returns, in any order.

    Parameters
    ----------
    function
        A function of a module that the workers have, too.
    address
        Of the scheduler, as ``tcp://127.0.0.1:8786``.
    lost
        Called with an item whose workers died, and why; what it returns stands for the result.

    Raises
    ------
    UsageError
        If Dask is not installed, or the address is none.
    ClusterError
        If the scheduler cannot be reached, is lost, or has no workers that can run this.
    """
    with _connected(address) as client:
        _require_same(client, address)
        run = secrets.token_hex(4)
        waiting, ended = enumerate(items), queue.SimpleQueue[Any]()
        sent: dict[Future, Item] = {}

        def send(count: int) -> None:
            for number, item in islice(waiting, count):
                key = f"ssdscope-{run}-{number}"
                future = client.submit(_run_here, build(), function, item, key=key, pure=False)
                sent[future] = item
                future.add_done_callback(ended.put)

        try:
            send(SENT_MAX)
            while sent:
                future = _next(ended, client, address)
                item = sent.pop(future)
                if future.cancelled():
                    raise _gone(address)
                error = future.exception()
                result = future.result() if error is None else lost(item, _reason(error))
                send(1)
                yield result
        finally:
            with contextlib.suppress(Exception):  # of a scheduler that is gone
                client.cancel(list(sent), force=True)


def require_scheduler(address: str) -> None:
    """Refuse what is no address of a scheduler, before anything is done for it.

    Raises
    ------
    UsageError
        If it is none, or Dask is not installed.
    """
    try:
        from distributed.comm import resolve_address
    except ImportError as error:
        raise UsageError(
            f"--scheduler needs Dask, which is not installed here ({error.name} is missing)",
            hint="install the extra: pip install 'ssdscope[cluster]', here and on all workers",
        ) from error
    try:
        resolve_address(address)
    except (ValueError, OSError) as error:
        raise UsageError(
            f"--scheduler: {address!r} is not the address of a scheduler: {error}",
            hint="dask scheduler prints it: tcp://127.0.0.1:8786",
        ) from error


@contextlib.contextmanager
def _connected(address: str) -> Iterator[Client]:
    require_scheduler(address)
    from distributed import Client

    with _quiet_logs():
        try:
            client = Client(address, timeout=CONNECT_S, set_as_default=False)
        except OSError as error:
            raise ClusterError(
                f"the scheduler {address} did not answer within {CONNECT_S} s",
                hint=f"{_START}; a firewall between here and there may be closed",
            ) from error
        try:
            yield client
        finally:
            client.close(timeout=CONNECT_S)


def _require_same(client: Client, address: str) -> None:
    """Refuse a cluster whose scheduler or workers have another ssdscope, or none."""
    try:
        client.wait_for_workers(1, timeout=WORKERS_S)
    except TimeoutError as error:
        raise ClusterError(
            f"the scheduler {address} has had no worker for {WORKERS_S} s",
            hint=f"dask worker {address} starts one",
        ) from error
    told = {f"the worker {where}": said for where, said in _asked(client.run).items()}
    told |= {f"the scheduler {address}": _asked(client.run_on_scheduler)}
    wrong = [
        f"{where} has {said if isinstance(said, str) else f'no ssdscope that works: {said}'}"
        for where, said in told.items()
        if said != build()
    ]
    if wrong:
        raise ClusterError(
            f"this is {build()}, and rows of others would not be the same:\n" + "\n".join(wrong),
            hint="install this version, with its extra cluster, in the environment of each",
        )


def _asked(run: Callable[..., Any]) -> Any:
    """Ask what is installed; what cannot answer gives an error."""
    options = {"on_error": "return"} if run.__name__ == "run" else {}
    try:
        return run(build, **options)
    except ImportError as error:
        return error


def _run_here(wanted: str, function: Callable[[Any], Any], item: Any) -> Any:
    """Run it on a worker, which may be one that came later than what was asked."""
    if build() != wanted:
        raise ClusterError(f"this worker has {build()}, and the sweep is of {wanted}")
    return function(item)


def build() -> str:
    """Say what is installed here."""
    return f"ssdscope {__version__} (commit {native_build().commit})"


def _next(ended: queue.SimpleQueue[Any], client: Client, address: str) -> Any:
    """Wait for what ends next; a cluster without workers is not waited for without end."""
    alone_since = None
    while True:
        with contextlib.suppress(queue.Empty):
            return ended.get(timeout=_LOOK_S)
        try:
            workers = client.nthreads()
        except OSError as error:
            raise _gone(address) from error
        if workers:
            alone_since = None
        elif alone_since is None:
            alone_since = time.monotonic()
        elif time.monotonic() - alone_since > ALONE_S:
            raise ClusterError(
                f"the scheduler {address} has had no worker for {ALONE_S} s",
                hint=f"dask worker {address} starts one; then run the sweep again to go on",
            )


def _gone(address: str) -> ClusterError:
    return ClusterError(
        f"the scheduler {address} is gone, and what was sent to it with it",
        hint="start it again; the same command runs what is missing",
    )


def _reason(error: BaseException) -> str:
    """Say why there is no result."""
    if isinstance(error, ClusterError):
        return error.message
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return (
            f"the workers that ran it were killed ({error.allowed_failures + 1} in all, the last "
            f"{error.last_worker.address}): is there too little memory?"
        )
    return f"the worker could not run it: {type(error).__name__}: {error}"


@contextlib.contextmanager
def _quiet_logs() -> Iterator[None]:
    """Keep Dask from writing between our lines: what matters of it is said by us."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
