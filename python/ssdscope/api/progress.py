"""How far a long function is: a bar in a notebook and in an interactive session, else nothing."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    """Show a bar that goes away with the work; None where there shall be none.

    A bar of text goes to stderr; in a notebook to stdout, as stderr is for what went wrong there.
    """
    notebook = in_notebook()
    looked_on = notebook or hasattr(sys, "ps1") or bool(sys.flags.interactive)
    if wanted is False or (wanted is None and not looked_on):
        yield None
        return
    with warnings.catch_warnings():
        # Without ipywidgets a notebook has a bar of text, which needs no advice.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm
    bar = tqdm(
        total=1.0,
        bar_format=_LAYOUT,
        file=sys.stdout if notebook else sys.stderr,
        disable=None if wanted is None and not notebook else False,
        leave=False,
        delay=DELAY_S,
        miniters=0,
        mininterval=0.1,
    )
    with bar:
        yield bar


def in_notebook() -> bool:
    """Say whether this is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config
