"""Kuo, Chang: "Geometry Detection for Solid-State Drives" (master's thesis, 2009, in Chinese).

The thesis explains what the inside of a drive does to its response times, and shows each effect
on drives of its time. Here the effects are measured again, on the presets of its drives, and its
detectors are run letter by letter beside our probes. `paper.toml` has what it states.

`bench`
    The drives, and lists of requests run on them.
`chips`, `effective`
    What the inside of a drive is made of, on small drives: figures 1, 6, 7 and 8; 12, 13 and 16.
    `timeline` watches channels and chips.
`mapping`, `merging`
    Figures 3 and 4: whose data a log block takes; figure 5: what its merge costs.
`block`, `randoms`
    Effective blocks: figures 14 and 31, and other sizes; 9, 15, 32 and 33.
`page`
    Effective pages: figures 17, 18, 19 and 36, and other sizes.
`buffer`
    Parts, write buffers and read-ahead: figures 2, 20, 21 and 22.
`zone`
    Zones of the mapping table: figures 23 and 24.
`unit_sizes`, `memory_sizes`
    Its detectors: tables 3 and 4, figures 29, 30, 34 and 35; tables 5 and 6, figures 37 to 41.
    `detecting` has what they have in common.
`layout`, `uses`
    The example of figures 25 to 28; what the geometry is for, and what decides it: figures 10, 11.
`access`, `on_target`
    The drives and their switches; what of the study can be measured on a target.
`schemes`, `cases`
    Drawings of blocks, pages and timings.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ssdscope.probes.budget import StageProgress
from ssdscope.studies.kuo2009 import (
    access,
    block,
    buffer,
    chips,
    effective,
    layout,
    mapping,
    memory_sizes,
    merging,
    on_target,
    page,
    randoms,
    unit_sizes,
    uses,
    zone,
)
from ssdscope.studies.kuo2009.bench import Drives
from ssdscope.studies.making import make_figures
from ssdscope.studies.paper import load
from ssdscope.studies.record import FigureResult, StudyInfo, StudyResult
from ssdscope.studies.running import Maker, Run, Study, hand_in_elsewhere
from ssdscope.targets import Target

KEY = "kuo2009"
PAPER = load(KEY)
EVERYWHERE = ("length", "capacity")
TRANSCEND, SAMSUNG = "transcend-slc", "samsung-slc"
INTEL, MTRON = "intel-mlc", "mtron-slc"

_FIGURES: dict[str, tuple[Maker, tuple[str, ...]]] = {
    "1": (chips.figure_1, (TRANSCEND,)),
    "2": (buffer.figure_2, (SAMSUNG,)),
    "3": (mapping.figure_3, (TRANSCEND,)),
    "4": (mapping.figure_4, (TRANSCEND,)),
    "5": (merging.figure_5, (TRANSCEND,)),
    "6": (chips.figure_6, (TRANSCEND,)),
    "7": (chips.figure_7, (TRANSCEND,)),
    "8": (chips.figure_8, (TRANSCEND,)),
    "9": (randoms.figure_9, (TRANSCEND,)),
    "10": (uses.figure_10, (TRANSCEND,)),
    "11": (uses.figure_11, (TRANSCEND,)),
    "12": (effective.figure_12, (TRANSCEND, SAMSUNG, MTRON)),
    "13": (effective.figure_13, (TRANSCEND,)),
    "14": (block.figure_14, (TRANSCEND,)),
    "15": (randoms.figure_15, (TRANSCEND,)),
    "16": (effective.figure_16, (TRANSCEND,)),
    "17": (page.figure_17, (TRANSCEND, SAMSUNG)),
    "18": (page.figure_18, (TRANSCEND,)),
    "19": (page.figure_19, (TRANSCEND,)),
    "20": (buffer.figure_20, (SAMSUNG,)),
    "21": (buffer.figure_21, (SAMSUNG,)),
    "22": (buffer.figure_22, (SAMSUNG, INTEL, MTRON, "random_range")),
    "23": (zone.figure_23, (TRANSCEND,)),
    "24": (zone.figure_24, (TRANSCEND,)),
    "29": (unit_sizes.figure_29, (TRANSCEND,)),
    "30": (unit_sizes.figure_30, (TRANSCEND, SAMSUNG, MTRON)),
    "31": (block.figure_31, (TRANSCEND,)),
    "32": (randoms.figure_32, (TRANSCEND,)),
    "33": (randoms.figure_33, (TRANSCEND,)),
    "34": (unit_sizes.figure_34, (TRANSCEND,)),
    "35": (unit_sizes.figure_35, (TRANSCEND, SAMSUNG, MTRON)),
    "36": (page.figure_36, (TRANSCEND, SAMSUNG)),
    "37": (memory_sizes.figure_37, (SAMSUNG, INTEL, MTRON, "random_range")),
    "38": (memory_sizes.figure_38, (SAMSUNG,)),
    "39": (memory_sizes.figure_39, (TRANSCEND,)),
    "40": (memory_sizes.figure_40, (TRANSCEND,)),
    "41": (memory_sizes.figure_41, (SAMSUNG, MTRON)),
    "access": (access.figure_access, (SAMSUNG, INTEL, MTRON)),
    "drives": (access.table_2, (TRANSCEND, SAMSUNG, INTEL, MTRON)),
    "disk": (uses.disk, (TRANSCEND, SAMSUNG, MTRON)),
    "block-size": (block.block_sizes, (TRANSCEND,)),
    "page-size": (page.page_sizes, (TRANSCEND,)),
    "read-ahead": (buffer.read_ahead, (SAMSUNG,)),
    **{name: (partial(layout.measure, name), (TRANSCEND,)) for name in layout.FIGURES},
}
"""What measures each figure, and the drives that it is measured on."""
SHARED = Study(
    PAPER,
    Drives,
    {name: maker for name, (maker, _) in _FIGURES.items()},
    {name: (*EVERYWHERE, *used) for name, (_, used) in _FIGURES.items()},
)


def run(
    wanted: Sequence[str],
    target: Target | None,
    folder: Path,
    seed: int,
    progress: StageProgress,
    *,
    robust: bool = False,
) -> StudyResult:
    """Measure the figures wanted on the paper's own drives, or those that can be on a target."""
    if target is None:
        make = Run(SHARED, seed, folder, robust=robust).make
        return make_figures(KEY, wanted, make, seed, progress)
    choice = on_target.choose(wanted, target)
    drives = Drives(seed, target=target.device)

    def on(name: str, stage: StageProgress) -> FigureResult:
        stage(f"figure {name}", 0.0)
        measured = _FIGURES[name][0](drives, stage)
        title = on_target.TITLES.get(name, "")
        made = hand_in_elsewhere(PAPER, name, measured, folder, title=title)
        made.notes.extend(choice.left_out if name == choice.figures[0] else [])
        return made

    return make_figures(KEY, choice.figures, on, seed, progress, target.uri)


STUDY = StudyInfo(
    KEY,
    "blocks, pages, buffers and zones inside SSDs: effects and detectors (thesis, 2009)",
    {name: PAPER.figures[name] for name in _FIGURES},
    run,
    extras=frozenset({"robust"}),
)
