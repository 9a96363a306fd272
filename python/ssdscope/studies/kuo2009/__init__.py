"""Kuo, Chang: "Geometry Detection for Solid-State Drives" (master's thesis, 2009, in Chinese).

The thesis explains what the inside of a drive does to its response times, and shows each effect
on drives of its time. Here the effects are measured again, on the presets of its drives, and its
detectors are run letter by letter beside our probes.

`bench`
    The drives, and lists of requests run on them.
`block`, `randoms`
    Effective blocks: figures 14 and 31; 9, 15, 32 and 33.
`page`
    Effective pages: figures 17, 18, 19 and 36.
`buffer`
    Write buffers: figures 21 and 22.
`zone`
    Zones of the mapping table: figure 24.
`block_size`, `page_size`, `buffer_size`, `zone_size`
    Its detectors, tables 3 to 6: figures 29, 30; 34, 35; 37, 38; 39 to 41.
`detecting`, `curves`
    What those have in common; what they look like.
`layout`
    The example of figures 25 to 28, counted.
`sheet`, `pictures`, `drawings`
    How a figure is handed in; what it looks like.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ssdscope.errors import UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.kuo2009 import (
    block,
    block_size,
    buffer,
    buffer_size,
    layout,
    page,
    page_size,
    randoms,
    zone,
    zone_size,
)
from ssdscope.studies.kuo2009.bench import KIB, Drives
from ssdscope.studies.kuo2009.sheet import TITLES
from ssdscope.studies.making import make_figures
from ssdscope.studies.record import FigureResult, StudyInfo, StudyResult, Verdict
from ssdscope.targets import Target

KEY = "kuo2009"

_MAKERS: dict[str, Callable[[Drives, Path], FigureResult]] = {
    "9": randoms.figure_9,
    "14": block.figure_14,
    "15": randoms.figure_15,
    "17": page.figure_17,
    "18": page.figure_18,
    "19": page.figure_19,
    "21": buffer.figure_21,
    "22": buffer.figure_22,
    "24": zone.figure_24,
    "29": block_size.figure_29,
    "30": block_size.figure_30,
    "31": block.figure_31,
    "32": randoms.figure_32,
    "33": randoms.figure_33,
    "34": page_size.figure_34,
    "35": page_size.figure_35,
    "36": page.figure_36,
    "37": buffer_size.figure_37,
    "38": buffer_size.figure_38,
    "39": zone_size.figure_39,
    "40": zone_size.figure_40,
    "41": zone_size.figure_41,
    **{name: partial(layout.make, name) for name in layout.LAYOUTS},
}


_BY_TIMES_ALONE = ("9", "30", "31", "32", "35", "36", "37", "38", "40")
"""Figures whose claims need nothing but response times, of one drive: for any target."""
_READING = ("38", "40")
"""Of these, what is left where writing is not allowed."""
_SHIFTED = ("35", "36")
"""Of these, those that begin within a block of 4 KB."""


def run(
    wanted: Sequence[str], target: Target | None, folder: Path, seed: int, progress: StageProgress
) -> StudyResult:
    """Measure the figures wanted on the paper's own drives, or those that can be on a target."""
    drives, uri = Drives(seed), None
    if target is not None:
        drives, uri, wanted = Drives(seed, target.device), target.uri, _on_target(wanted, target)

    def make(name: str, progress: StageProgress) -> FigureResult:
        progress(f"figure {name}", 0.0)
        made = _MAKERS[name](drives, folder)
        return made if target is None else _of_another_drive(made)

    return make_figures(KEY, wanted, make, seed, progress, uri)


def _on_target(wanted: Sequence[str], target: Target) -> list[str]:
    """Choose the figures that can be measured on a target."""
    chosen = [name for name in wanted if name in _BY_TIMES_ALONE]
    if not chosen:
        raise UsageError(
            f"figure {wanted[0]!r} counts inside the paper's own drives",
            hint=f"on a target there are figures {', '.join(_BY_TIMES_ALONE)}",
        )
    info = target.device.info
    fitting = [name for name in chosen if info.logical_block_bytes <= KIB or name not in _SHIFTED]
    if not fitting:
        raise UsageError(
            f"figure {chosen[0]!r} begins requests within a block of {info.logical_block_bytes} "
            f"bytes, which target {target.uri!r} does not take"
        )
    chosen = [name for name in fitting if info.writable or name in _READING]
    if not chosen:
        raise UsageError(
            f"target {target.uri!r} is open for reading only, and figures "
            f"{', '.join(fitting)} write",
            hint="allow it with --destroy-data TOKEN; doctor --identify prints the token",
        )
    if target.capacity_bytes < block.LEAST_BYTES:
        raise UsageError(
            f"target {target.uri!r} holds {target.capacity_bytes} bytes: too few for writes "
            f"{block.DISTANCE} apart",
            hint=f"use one of at least {block.LEAST_BYTES} bytes",
        )
    return chosen


def _of_another_drive(figure: FigureResult) -> FigureResult:
    """Say of what differs on a target that it need not be as on the paper's drive."""
    why = "this is not the paper's drive"
    rows = [replace(row, why=why) if row.verdict == Verdict.DIFFERS else row for row in figure.rows]
    return replace(figure, rows=rows, notes=[])


STUDY = StudyInfo(
    KEY,
    "blocks, pages, buffers and zones inside SSDs: effects and detectors (thesis, 2009)",
    {name: TITLES[name] for name in _MAKERS},
    run,
)
