"""Ryu and Park: "Performance Evaluation of Solid-State Disks through Black-Box Approach" (2009).

In Korean. Three drives, called A, B and C, and a hard disk; where their management blocks are and
what follows from that. `paper.toml` has what they state. The presets `ryu-a`, `ryu-b`, `ryu-c` are
fitted to figure 13, so that nothing is explained by their links.

`bench`
    The drives as a run's settings have them, and what several figures need of them.
`ageing`
    Figures 2 and 3: new, and after months of use; ageing against the size of the block.
`detecting`, `placing`
    The table of the drives, figures 4, 6, 9, 10 and 11: the paper's procedures and our probes.
`shift_write`
    Figures 5 and 7: updates within a block and across two; shifted writes.
`firmware`
    What section 2 and the abstract say, on one and the same hardware.
`equations`, `iozone`, `read_size`
    Figure 12 from equations, figure 13's table, and figure 14's curves.
`pictures`
    The pictures.
`on_target`
    The procedures on a drive that is not the paper's.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ssdscope.probes.budget import StageProgress
from ssdscope.studies.making import make_figures
from ssdscope.studies.record import StudyInfo, StudyResult
from ssdscope.studies.running import Run, Study
from ssdscope.studies.ryu2009 import (
    ageing,
    detecting,
    equations,
    firmware,
    iozone,
    on_target,
    placing,
    read_size,
    shift_write,
)  # fmt: skip
from ssdscope.studies.ryu2009.bench import PAPER, Bench
from ssdscope.targets import Target

KEY = PAPER.key
DRIVES = ("ryu-a", "ryu-b", "ryu-c")
SHARED = Study(
    PAPER,
    Bench,
    {
        "2": ageing.figure_2,
        "3": ageing.figure_3,
        "ageing": ageing.figure_ageing,
        "4": detecting.figure_4,
        "table": detecting.table,
        "5": shift_write.figure_5,
        "6": detecting.figure_6,
        "7": shift_write.figure_7,
        "9": detecting.figure_9,
        "10": placing.figure_10,
        "11": placing.figure_11,
        "allocation": firmware.figure_allocation,
        "firmware": firmware.figure_firmware,
        "12": equations.figure_12,
        "13": iozone.figure_13,
        "14": read_size.figure_14,
    },
    uses={
        **dict.fromkeys(("2", "3", "ageing"), (*DRIVES, "use", "scale")),
        **dict.fromkeys(("4", "14"), DRIVES),
        **dict.fromkeys(("table", "6"), (*DRIVES, "mended_code", "chunks", "range")),
        "7": (*DRIVES, "chunks"),
        "9": (*DRIVES, "range"),
        "10": DRIVES,
        "11": ("ryu-b", "mended_equations"),
        "12": ("mended_equations",),
        "13": (*DRIVES, "region", "requests"),
        **dict.fromkeys(("5", "allocation", "firmware"), ()),
    },
)
"""Figures 5, allocation and firmware run on drives of their own making."""


def run(
    wanted: Sequence[str],
    target: Target | None,
    folder: Path,
    seed: int,
    progress: StageProgress,
    *,
    robust: bool = False,
) -> StudyResult:
    """Run the study, or its procedures on one target."""
    if target is not None:
        chosen = on_target.choose(wanted, target)
        make = on_target.OnTarget(target, folder, seed).make
        return make_figures(KEY, chosen, make, seed, progress, target.uri)
    shared = replace(SHARED, bench=partial(Bench, pool={}))
    make = Run(shared, seed, folder, robust=robust).make
    return make_figures(KEY, wanted, make, seed, progress)


STUDY = StudyInfo(
    KEY,
    "drives A, B and C and their management blocks (2009)",
    dict(PAPER.figures),
    run,
    extras=frozenset({"robust"}),
)
