"""The paper's second host: "our modeling technique performs closely on two platforms".

SSD_I is measured behind the desktop machine of the preset, and behind the slower Atom of the
cluster, whose values are those of `huang-array-i`. Extended models of either's runs are compared.
"""

import tomllib
from dataclasses import replace

from ssdscope.models import collecting
from ssdscope.models.table import Collected, Runs
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.huang2011.claims import named
from ssdscope.studies.huang2011.predicting.accuracy import EXTENDED, TARGETS, Cell, cell_of
from ssdscope.studies.huang2011.predicting.runs import GRID, LEAST, POINTS, Part
from ssdscope.studies.huang2011.procedure import PRESETS
from ssdscope.studies.making import within
from ssdscope.studies.record import Measured, Reading, Table
from ssdscope.targets import open_target
from ssdscope.targets.presets import preset_text
from ssdscope.workloads import filling

SHARE = 1 / 3
"""Of the grid's workloads, on each host."""
DEVICE = "SSD_I"
HOSTS = ("desktop", "Atom")


def measure(wanted: Part, progress: StageProgress) -> Measured:
    """Collect and fit on both hosts, and compare."""
    points = max(LEAST, round(wanted.count * SHARE))
    cells: dict[tuple[str, str], Cell] = {}
    for done, host in enumerate(HOSTS):
        rows = _collect(wanted, host, points, within(progress, done, len(HOSTS)))
        for target in TARGETS:
            cell = cell_of(rows, (host, EXTENDED, target, "all"), wanted.seed)
            if cell is not None:
                cells[host, target] = cell
    errors = {key: 100 * cell.in_sample["mre"] for key, cell in cells.items()}
    rows_of = ((host, TARGETS[target][0], f"{each:.2f}") for (host, target), each in errors.items())
    notes = [f"Models of {points:,} workloads of the grid on each host; errors are in-sample"]
    table = Table(("host", "metric", "in-sample %"), tuple(rows_of))
    return Measured(readings(errors), None, None, notes, table)


def readings(errors: dict[tuple[str, str], float]) -> dict[str, Reading]:
    """Ask whether models of both are about as good."""
    found = {}
    for target, (metric, *_) in TARGETS.items():
        both = {host: errors[host, target] for host in HOSTS if (host, target) in errors}
        if len(both) == len(HOSTS):
            times = both["Atom"] / both["desktop"]
            found[f"both hosts: {metric}"] = Reading(named(both, "%"), times)
    return found


def atom() -> tuple[str, ...]:
    """Give what the preset of the array sets of its host."""
    known = tomllib.loads(preset_text(PRESETS["Array_I"]))["set"]
    return tuple(f"host.{key}={value}" for key, value in known["host"].items())


def _collect(wanted: Part, host: str, points: int, progress: StageProgress) -> list[Collected]:
    sets = (*wanted.sets.get(DEVICE, ()), *(atom() if host == "Atom" else ()))
    device = open_target(f"sim:{PRESETS[DEVICE]}", sets=sets, seed=wanted.seed).device
    plan = replace(
        wanted.plan(GRID), points=points, test=0, repeats=round(points / POINTS[GRID] * 600),
        stop=filling.filled(wanted.stop, device, wanted.seed),
    )  # fmt: skip
    table = Runs()
    collecting.collect(device, plan, table, progress)
    return table.rows
