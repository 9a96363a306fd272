"""Kuo, Chang: "Geometry Detection for Solid-State Drives" (master's thesis, 2009, in Chinese).

The thesis explains what the inside of a drive does to its response times, and shows each effect
on drives of its time. Here the effects are measured again, on the presets of its drives; its
detectors are not part of this study yet.

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
`layout`
    The example of figures 25 to 28, counted.
`sheet`, `pictures`, `drawings`
    How a figure is handed in; what it looks like.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ssdscope.errors import OutputError, UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.kuo2009 import block, buffer, layout, page, randoms, zone
from ssdscope.studies.kuo2009.bench import Drives
from ssdscope.studies.kuo2009.sheet import TITLES
from ssdscope.studies.record import FigureResult, StudyInfo, StudyResult
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
    "31": block.figure_31,
    "32": randoms.figure_32,
    "33": randoms.figure_33,
    "36": page.figure_36,
    **{name: partial(layout.make, name) for name in layout.LAYOUTS},
}


def run(
    wanted: Sequence[str], target: Target | None, folder: Path, seed: int, progress: StageProgress
) -> StudyResult:
    """Measure the figures wanted on the paper's own drives."""
    if target is not None:
        raise UsageError(
            f"the figures of {KEY} are about the paper's own drives: --target does not apply"
        )
    drives = Drives(seed)
    figures: list[FigureResult] = []
    try:
        for done, name in enumerate(wanted):
            progress(f"figure {name}", done / len(wanted))
            figures.append(_MAKERS[name](drives, folder))
    except KeyboardInterrupt:
        return StudyResult(KEY, figures, seed, interrupted=True)
    except OutputError as error:
        error.partial = StudyResult(KEY, figures, seed)
        raise
    return StudyResult(KEY, figures, seed)


STUDY = StudyInfo(
    KEY,
    "effects of blocks, pages, buffers and zones inside SSDs (thesis, 2009)",
    {name: TITLES[name] for name in _MAKERS},
    run,
)
