"""Threads that run workloads side by side, and end with who waits for them.

Python raises an interrupt in its main thread alone. A run is one long call into Rust: one of
another thread would go on to its end, and who was interrupted would wait for it. So a run of a
crew asks, as often as it tells of its progress, whether anybody still wants it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future
    from types import TracebackType

    from ssdscope.targets.records import Progress

Given = ParamSpec("Given")
Found = TypeVar("Found")

_of_thread = threading.local()


class Crew:
    """A pool of threads; leaving it early, as by an interrupt, ends what still runs.

    Parameters
    ----------
    size
        How many threads; None for one by core.
    """

    def __init__(self, size: int | None = None) -> None:
        from concurrent.futures import ThreadPoolExecutor  # here: few commands need it

        self._dismissed = threading.Event()
        self._pool = ThreadPoolExecutor(size or cores(), initializer=self._join)

    def __enter__(self) -> Crew:
        """Take up work from here on."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for what runs, or end it if something was raised."""
        if kind is not None:
            self._dismissed.set()
        self._pool.shutdown(cancel_futures=kind is not None)

    def submit(
        self, work: Callable[Given, Found], *given: Given.args, **named: Given.kwargs
    ) -> Future[Found]:
        """Let a thread do something as soon as one is free."""
        return self._pool.submit(work, *given, **named)

    def map(self, work: Callable[..., Found], *given: Iterable[Any]) -> Iterator[Found]:
        """Do something with each, and give what comes out in their order."""
        tasks = [self.submit(work, *each) for each in zip(*given, strict=True)]
        return (task.result() for task in tasks)

    def _join(self) -> None:
        _of_thread.dismissed = self._dismissed


def cores() -> int:
    """Count the cores that this process may use."""
    from joblib import cpu_count

    return int(cpu_count())


def heeding(told: Callable[[Progress], None] | None) -> Callable[[Progress], None] | None:
    """Let a run that is begun here end with the crew of its thread, if it has one.

    Parameters
    ----------
    told
        Who else is told of the run's progress.

    Raises
    ------
    KeyboardInterrupt
        If the crew has been dismissed already.
    """
    dismissed: threading.Event | None = getattr(_of_thread, "dismissed", None)
    if dismissed is None:
        return told
    if dismissed.is_set():  # runs of a moment tell of no progress
        raise KeyboardInterrupt

    def ask(report: Progress) -> None:
        if dismissed.is_set():
            raise KeyboardInterrupt
        if told is not None:
            told(report)

    return ask
