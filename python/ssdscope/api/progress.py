"""How far a long function is: a bar in a notebook and in an interactive session, else nothing."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeAlias

from ssdscope.probes.budget import StageProgress, silent
from ssdscope.shown import shown_name
from ssdscope.targets.records import Progress

OnStage: TypeAlias = "Callable[[str, float], None] | bool | None"
"""Called with the stage and the share of the whole that is done; or whether there is a bar, which
is where somebody looks on if it is None."""
OnProgress: TypeAlias = "Callable[[Progress], None] | bool | None"
"""Called with how far one run is; or as of `OnStage`."""

DELAY_S = 0.5
"""What is done sooner has no bar."""
COLUMNS = 80
"""Of a bar in a notebook."""
_LAYOUT = "{desc} {percentage:3.0f}%|{bar}| {elapsed}"


@contextmanager
def stages(progress: OnStage) -> Iterator[StageProgress]:
    """Give what is called with the stage and the share, and show a bar if one is wanted."""
    if callable(progress):
        yield progress
        return
    with _bar(progress) as bar:
        if bar is None:
            yield silent
            return

        def show(stage: str, share: float) -> None:
            bar.set_description_str(shown_name(stage), refresh=False)
            bar.update(min(share, 1.0) - bar.n)

        yield show


@contextmanager
def run(progress: OnProgress) -> Iterator[Callable[[Progress], None] | None]:
    """Give what is called with how far one run is, or None; and show a bar if one is wanted."""
    if callable(progress):
        yield progress
        return
    with stages(progress) as stage:
        if stage is silent:
            yield None
            return
        yield lambda told: stage(told.in_words(), told.fraction or 0.0)


@contextmanager
def _bar(wanted: bool | None) -> Iterator[Any]:
    """Show a bar that goes away with the work; None where there shall be none."""
    cell = _Cell() if _in_notebook() else None
    looked_on = cell is not None or hasattr(sys, "ps1") or bool(sys.flags.interactive)
    if wanted is False or (wanted is None and not looked_on):
        yield None
        return
    from tqdm import tqdm

    with tqdm(
        total=1.0,
        bar_format=_LAYOUT,
        file=cell,
        ncols=None if cell is None else COLUMNS,
        ascii=None if cell is None else False,
        disable=None if wanted is None and cell is None else False,  # None: unless on a terminal
        leave=False,
        delay=DELAY_S,
        miniters=0,
        mininterval=0.1,
    ) as bar:
        yield bar


class _Cell(io.StringIO):
    """The place of a bar below a cell of a notebook: what is written there last is shown.

    It needs no widgets, and what is left when the bar goes is nothing, whoever runs the notebook.
    """

    _shown: Any = None

    def write(self, text: str) -> int:
        last = text.split("\r")[-1].strip()
        if last or self._shown is not None:
            self._show({"text/plain": last})
        return len(text)

    def _show(self, data: dict[str, str]) -> None:
        if self._shown is None:
            display = import_module("IPython.display").display
            self._shown = display(data, raw=True, display_id=True)
        else:
            self._shown.update(data, raw=True)


def _in_notebook() -> bool:
    """Say whether this is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config
