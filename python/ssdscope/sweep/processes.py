"""Work in processes of its own, whose results come as they end."""

import contextlib
import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")


def in_processes(
    function: Callable[[Item], Any], items: Iterable[Item], jobs: int
) -> Generator[Any, None, None]:
    """Run a function over items, `jobs` at a time; give what it returns, in any order.

    A terminal that is closed sends its hangup to all of a group. The processes do not hear it:
    they end with the one that began them, which keeps what there is.
    """
    from joblib import Parallel, delayed

    workers = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    with _unheard(signal.SIGHUP):
        outcomes: Generator[Any, None, None] = workers(delayed(function)(each) for each in items)
    return outcomes


@contextlib.contextmanager
def _unheard(number: signal.Signals) -> Iterator[None]:
    """Hold a signal back meanwhile; what is started does not hear it at all."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
