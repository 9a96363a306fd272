"""Work in processes of its own, whose results come as they end.

Each place has a pool of one process. If a process is killed, what it worked on is begun again in
another, and nothing else is lost: a pool of several would end all of them. No process outlives
the one that began it, however that ends.
"""

import contextlib
import os
import re
import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice
from typing import Any, Generic, TypeVar

from ssdscope.errors import SsdscopeError
from ssdscope.sweep.lifetime import end_with_parent

Item = TypeVar("Item")
DEATHS_MAX = 2
"""What has ended so many processes is not tried again."""
_THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS",
)  # fmt: skip
"""Each process has a core, and threads of its own would only wait for each other."""
_IDLE_S = 60
"""A process without work for so long ends, and gives its memory back."""
_SIGNAL = re.compile(r"\bSIG[A-Z]+")


def _give_up(_item: Any, why: str) -> Any:
    raise SsdscopeError(why)


def in_processes(
    function: Callable[[Item], Any],
    items: Iterable[Item],
    jobs: int,
    lost: Callable[[Item, str], Any] = _give_up,
) -> Generator[Any, None, None]:
    """Run a function over items, `jobs` at a time; give what it returns, in any order.

    A terminal that is closed sends its hangup to all of a group. The processes do not hear it:
    they end with the one that began them, which keeps what there is. If that is killed, so are
    they.

    Parameters
    ----------
    jobs
        1 for none beside each other, in this process; -1 for all cores.
    lost
        Called with an item that ended two processes, and why; what it returns stands for the
        result.
    """
    from joblib import cpu_count

    count = cpu_count() if jobs == -1 else jobs
    if count == 1:
        yield from map(function, items)
        return
    waiting = iter(items)
    places = [_Place(function, item) for item in islice(waiting, count)]
    at_work = {place.begin(): place for place in places}
    try:
        while at_work:
            for future in wait(at_work, return_when=FIRST_COMPLETED).done:
                place = at_work.pop(future)
                why = place.why_lost(future)
                if why and place.deaths < DEATHS_MAX:
                    at_work[place.begin()] = place
                    continue
                result = lost(place.item, why) if why else future.result()
                for place.item in islice(waiting, 1):
                    place.deaths = 0
                    at_work[place.begin()] = place
                yield result
    finally:
        for place in places:
            place.close()


class _Place(Generic[Item]):
    """Where one item at a time is worked on: a process that is replaced if it is killed.

    Attributes
    ----------
    item
        What it works on.
    deaths
        How many processes that has ended.
    """

    def __init__(self, function: Callable[[Item], Any], item: Item) -> None:
        self.item = item
        self.deaths = 0
        self._function = function
        self._pool = _new_pool()

    def begin(self) -> "Future[Any]":
        """Begin with the item."""
        with _unheard(signal.SIGHUP):
            future: Future[Any] = self._pool.submit(self._function, self.item)
        return future

    def why_lost(self, future: "Future[Any]") -> str:
        """Say why there is no result, if the process was killed; its place has a new one then."""
        from concurrent.futures.process import BrokenProcessPool

        error = future.exception()
        if not isinstance(error, BrokenProcessPool):
            return ""
        self.deaths += 1
        self.close()
        self._pool = _new_pool()
        by = _SIGNAL.search(str(error))
        return (
            f"its process was killed {self.deaths} times ({by[0] if by else 'by nobody known'}): "
            "is there too little memory?"
        )

    def close(self) -> None:
        """End the process, whatever it does."""
        self._pool.shutdown(kill_workers=True)


def _new_pool() -> Any:
    from joblib.externals.loky import ProcessPoolExecutor

    threads = {name: os.environ.get(name, "1") for name in _THREADS}
    with _unheard(signal.SIGHUP):  # locks have a process, too
        return ProcessPoolExecutor(
            1, timeout=_IDLE_S, env=threads, initializer=end_with_parent, initargs=(os.getpid(),)
        )


@contextlib.contextmanager
def _unheard(number: signal.Signals) -> Iterator[None]:
    """Hold a signal back meanwhile; what is started does not hear it at all."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
