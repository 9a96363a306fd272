"""The paper's second host: "our modeling technique performs closely on two platforms".

SSD_I is measured behind the desktop machine of the preset, and behind the slower Atom of the
cluster, whose values are those of `huang-array-i`. Extended models of either's runs are compared.
"""

import tomllib
from dataclasses import replace

from ssdscope.models import collecting
from ssdscope.models.table import Collected, Runs
from ssdscope.probes.budget import StageProgress
from ssdscope.studies import judging
from ssdscope.studies.huang2011.means import PUBLISHED
from ssdscope.studies.huang2011.predicting.accuracy import EXTENDED, Cell, cell_of
from ssdscope.studies.huang2011.predicting.published import TARGETS, UNITS
from ssdscope.studies.huang2011.predicting.runs import GRID, LEAST, POINTS, Part
from ssdscope.studies.making import within
from ssdscope.studies.record import Claim, FigureResult, Table
from ssdscope.targets import open_target
from ssdscope.targets.presets import preset_text
from ssdscope.workloads import filling

KEY = "platforms"
TITLE = "The second host: models of SSD_I behind the desktop machine and behind the Atom"
SHARE = 1 / 3
"""Of the grid's workloads, on each host."""
HOSTS = ("desktop", "Atom")
_Cells = dict[tuple[str, str], Cell]


def make(wanted: Part, progress: StageProgress) -> FigureResult:
    """Collect and fit on both hosts, and compare."""
    points = max(LEAST, round(wanted.count * SHARE))
    cells: _Cells = {}
    for done, host in enumerate(HOSTS):
        rows = _collect(wanted, host, points, within(progress, done, len(HOSTS)))
        for target in TARGETS:
            cell = cell_of(rows, (host, EXTENDED, target, "all"), wanted.seed)
            if cell is not None:
                cells[host, target] = cell
    claims = [compare(cells, target) for target in TARGETS if _both(cells, target)]
    notes = [f"Models of {points:,} workloads of the grid on each host; errors are in-sample"]
    return FigureResult(KEY, TITLE, claims, notes=notes, table=_table(cells))


def atom() -> tuple[str, ...]:
    """Give what the preset of the array sets of its host."""
    known = tomllib.loads(preset_text("huang-array-i"))["set"]
    return tuple(f"host.{key}={value}" for key, value in known["host"].items())


def _collect(wanted: Part, host: str, points: int, progress: StageProgress) -> list[Collected]:
    sets = atom() if host == "Atom" else ()
    uri = f"sim:{PUBLISHED['SSD_I'].drive}"
    device = open_target(uri, sets=sets, seed=wanted.seed).device
    plan = replace(
        wanted.plan(GRID), points=points, test=0, repeats=round(points / POINTS[GRID] * 600),
        stop=filling.filled(wanted.stop, device, wanted.seed),
    )  # fmt: skip
    table = Runs()
    collecting.collect(device, plan, table, progress)
    return table.rows


def _both(cells: _Cells, target: str) -> bool:
    return all((host, target) in cells for host in HOSTS)


def _table(cells: _Cells) -> Table:
    errors = (100 * cell.in_sample["mre"] for cell in cells.values())
    rows = zip(cells, errors, strict=True)
    return Table(
        ("host", "metric", "in-sample %"),
        tuple((host, UNITS[target][0], f"{error:.2f}") for (host, target), error in rows),
    )


def compare(cells: _Cells, target: str) -> Claim:
    """Ask whether models of both are about as good."""
    errors = [100 * cells[host, target].in_sample["mre"] for host in HOSTS]
    told = ", ".join(f"{host} {error:.2f} %" for host, error in zip(HOSTS, errors, strict=True))
    name = UNITS[target][0]
    holds = judging.similar(*errors)
    return judging.claim(f"{name}: models of both hosts", "perform closely", told, "", holds=holds)
