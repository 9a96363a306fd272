"""Write the table and the picture of docs/inference.md: false alarms and power of every engine.

    python -m scripts.calibration.page [COUNT]     # COUNT series of each null, 200 if not said

The table goes to stdout, as Markdown; the picture to docs/images. It takes a quarter of an hour.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scripts.calibration.engines import ENGINES, IS_ONE, evidence
from scripts.calibration.nulls import NULLS

from ssdscope.inference.levels import FOUND
from ssdscope.plots import LIGHT, save, style

SEED = 20261127
EFFECTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
COUNT, SHARE, COLUMNS = 200, 8, 5
"""Series of a null, how many times fewer of each effect, and panels side by side."""
IMAGE = Path(__file__).parents[2] / "docs" / "images" / "inference.png"

Job = tuple[str, str, float, int]


def measured(job: Job) -> list[float]:
    """Give the evidence in each of so many series."""
    return list(evidence(*job, SEED))


def jobs(count: int) -> list[Job]:
    """Every engine on every null, without an effect and with some of all sizes."""
    pairs = [(e, k) for e in FOUND for k in NULLS if (e, k) not in IS_ONE]
    without = [(e, k, 0.0, count) for e, k in pairs]
    return [*without, *((e, k, effect, count // SHARE) for e, k in pairs for effect in EFFECTS)]


def main() -> None:
    """Measure, print and draw."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    every = jobs(count)
    with ProcessPoolExecutor() as pool:
        found = dict(zip(every, pool.map(measured, every), strict=True))
    print(f"| engine | level | {' | '.join(NULLS)} |")
    print("| --- | --- |" + " --- |" * len(NULLS))
    for engine, level in FOUND.items():
        cells = [_alarms(found.get((engine, kind, 0.0, count)), level) for kind in NULLS]
        print(f"| {engine} | {level:g} | {' | '.join(cells)} |")
    draw({job: np.array(values) for job, values in found.items()}, count // SHARE)


def _alarms(values: list[float] | None, level: float) -> str:
    """Say how many are above a level, and the largest."""
    if values is None:
        return "-"
    return f"{sum(each >= level for each in values)} ({max(values):.1f})"


def draw(found: dict[Job, np.ndarray], count: int) -> None:
    """Draw the share found over the size of the effect, one panel an engine, one line a null."""
    rows = -(-(len(FOUND) + 1) // COLUMNS)
    figure = Figure(figsize=(11, 2.5 * rows), layout="constrained", facecolor=LIGHT.surface)
    panels = figure.subplots(rows, COLUMNS, sharey=True).ravel()
    colours = (LIGHT.s1, LIGHT.s2, LIGHT.s3, LIGHT.s4, LIGHT.s5, LIGHT.s6, LIGHT.s7)
    for axes, (engine, level) in zip(panels, FOUND.items(), strict=False):
        style.dress(axes, LIGHT)
        axes.set_title(engine, fontsize=9)
        axes.set_xlabel(ENGINES[engine].effect, fontsize=7)
        for kind, colour in zip(NULLS, colours, strict=True):
            if (engine, kind) not in IS_ONE:
                every = [found[engine, kind, effect, count] for effect in EFFECTS]
                shares = [float((each >= level).mean()) for each in every]
                axes.plot(EFFECTS, shares, color=colour, label=kind, marker=".", linewidth=1.2)
        axes.set_xscale("log")
        axes.set_xticks([0.01, 0.1, 1], ["1 %", "10 %", "100 %"])
        axes.set_yticks([0, 0.5, 1], ["0", "half", "all"])
    spare, *_ = unused = panels[len(FOUND) :]
    for axes in unused:
        axes.axis("off")
    handles = {
        label: line
        for axes in panels[: len(FOUND)]
        for line, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    spare.legend(handles.values(), handles.keys(), loc="center", frameon=False, fontsize=8)
    save(figure, IMAGE)


if __name__ == "__main__":
    main()
