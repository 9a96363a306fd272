"""Progress bars: on stderr, on a terminal, and gone when the work is done."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO, cast

from ssdscope.cli.output import note
from ssdscope.shown import shown_name

if TYPE_CHECKING:
    from ssdscope.cli.bars import Bar
    from ssdscope.report import Watch
    from ssdscope.targets import Progress

AT_ONCE = "overview"
"""The stage whose line stays above a bar: it is what people wait for."""
StageCallback = Callable[[str, float], None]


def wanted(mode: str) -> bool:
    """Say whether progress is to be shown."""
    if sys.stderr is None:  # closed by who started us
        return False
    return mode == "always" or (mode == "auto" and sys.stderr.isatty())


@contextmanager
def run_progress(mode: str, title: str) -> Iterator["Callable[[Progress], None] | None"]:
    """Show how far one run is, with the estimate so far; None where nothing is to be shown."""
    if not wanted(mode):
        yield None
        return
    with _bar(mode) as bar:
        task = bar.add_task(title, total=None)

        def update(progress: "Progress") -> None:
            total = None if progress.fraction is None else 1.0
            bar.update(
                task,
                total=total,
                completed=progress.fraction or 0.0,
                description=f"{title}  {progress.in_words()}",
            )

        yield update


@contextmanager
def stage_progress(mode: str, *, estimated: bool = False) -> Iterator[StageCallback]:
    """Show the stage of a longer piece of work and its share of the whole.

    Parameters
    ----------
    estimated
        Whether to say how long the rest takes; its shares take about as long as each other.
    """
    if not wanted(mode):
        yield lambda _stage, _share: None
        return
    begun = time.monotonic()
    with _bar(mode) as bar:
        task = bar.add_task("", total=1.0)

        def show(stage: str, share: float) -> None:
            left = time_left(time.monotonic() - begun, share) if estimated else ""
            bar.update(task, description=f"{stage}{left}", completed=share)

        yield show


def time_left(elapsed_s: float, share: float) -> str:
    """Say how long the rest takes, if it goes on as before; nothing at the ends."""
    if not 0 < share < 1:
        return ""
    minutes, seconds = divmod(round(elapsed_s * (1 - share) / share), 60)
    hours, minutes = divmod(minutes, 60)
    told = f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes > 9 else ""
    return f", {told or f'{minutes}:{seconds:02} min'} left"


@contextmanager
def watched_stages(mode: str) -> "Iterator[tuple[StageCallback, Watch]]":
    """Show a longer piece of work as `stage_progress` does, and below it what was found so far.

    Where there is no bar each stage leaves a line when it has ended, unless nothing is wanted.
    """
    from ssdscope.report import Watch

    if not wanted(mode):
        lines = Watch(ended=lambda name, said: note(f"{name}: {said}"))
        yield (lambda _stage, _share: None), (Watch() if mode == "never" else lines)
        return
    with _bar(mode) as bar:
        task = bar.add_task("", total=1.0)

        def found(text: str) -> None:
            bar.below = text

        def ended(name: str, said: str) -> None:
            if name == AT_ONCE:
                bar.console.print(f"{name}: {shown_name(said)}", markup=False, highlight=False)

        yield (
            lambda stage, share: bar.update(task, description=stage, completed=share),
            Watch(found, ended),
        )


class _Heedless:
    """A stream on which nothing fails: a terminal that was closed ends no run."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def _bar(mode: str) -> "Bar":
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TimeElapsedColumn

    from ssdscope.cli.bars import Bar, Description

    stream = cast("TextIO", _Heedless(sys.stderr))
    console = Console(file=stream, force_terminal=True if mode == "always" else None)
    return Bar(
        Description(markup=False),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
