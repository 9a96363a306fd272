"""Kuo, Chang: "Geometry Detection for Solid-State Drives" (master's thesis, 2009, in Chinese).

The thesis explains what the inside of a drive does to its response times, and shows each effect
on drives of its time. Here the effects are measured again, on the presets of its drives, and its
detectors are run letter by letter beside our probes.

`bench`
    The drives, and lists of requests run on them.
`merging`, `chips`, `effective`, `startup`
    What the inside of a drive is made of, on small drives: figures 5; 6, 7 and 8; 12, 13 and 16;
    23. `timeline` watches channels and chips.
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
`access`, `on_target`
    What switches a target has; what of the study can be measured on it.
`sheet`, `pictures`, `drawings`, `schemes`
    How a figure is handed in; what it looks like.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ssdscope.probes.budget import StageProgress
from ssdscope.studies.kuo2009 import (
    access,
    block,
    block_size,
    buffer,
    buffer_size,
    chips,
    effective,
    layout,
    merging,
    on_target,
    page,
    page_size,
    randoms,
    startup,
    zone,
    zone_size,
)
from ssdscope.studies.kuo2009.bench import Drives
from ssdscope.studies.kuo2009.sheet import TITLES, Binder
from ssdscope.studies.making import make_figures
from ssdscope.studies.record import FigureResult, StudyInfo, StudyResult
from ssdscope.targets import Target

KEY = "kuo2009"

_MAKERS: dict[str, Callable[[Drives, Binder], FigureResult]] = {
    "5": merging.figure_5,
    "6": chips.figure_6,
    "7": chips.figure_7,
    "8": chips.figure_8,
    "9": randoms.figure_9,
    "12": effective.figure_12,
    "13": effective.figure_13,
    "14": block.figure_14,
    "15": randoms.figure_15,
    "16": effective.figure_16,
    "17": page.figure_17,
    "18": page.figure_18,
    "19": page.figure_19,
    "21": buffer.figure_21,
    "22": buffer.figure_22,
    "23": startup.figure_23,
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
    "access": access.figure_access,
    **{name: partial(layout.make, name) for name in layout.LAYOUTS},
}


def run(
    wanted: Sequence[str], target: Target | None, folder: Path, seed: int, progress: StageProgress
) -> StudyResult:
    """Measure the figures wanted on the paper's own drives, or those that can be on a target."""
    if target is None:
        drives, binder = Drives(seed), Binder(folder)
        return make_figures(
            KEY, wanted, lambda name, told: _make(name, drives, binder, told), seed, progress
        )
    choice = on_target.choose(wanted, target)
    drives, binder = Drives(seed, target.device), Binder(folder, of_target=True)

    def make(name: str, told: StageProgress) -> FigureResult:
        remarks = choice.left_out if name == choice.figures[0] else []
        return on_target.as_of_target(_make(name, drives, binder, told), remarks)

    return make_figures(KEY, choice.figures, make, seed, progress, target.uri)


def _make(name: str, drives: Drives, binder: Binder, progress: StageProgress) -> FigureResult:
    progress(f"figure {name}", 0.0)
    return _MAKERS[name](drives, binder)


STUDY = StudyInfo(
    KEY,
    "blocks, pages, buffers and zones inside SSDs: effects and detectors (thesis, 2009)",
    {name: TITLES[name] for name in _MAKERS},
    run,
)
