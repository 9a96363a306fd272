"""The study of 2011: its claims can fail, and its drives run under its grid."""

from dataclasses import replace
from pathlib import Path

import pytest

from ssdscope import studies
from ssdscope.errors import UsageError
from ssdscope.probes.budget import silent
from ssdscope.studies import Verdict
from ssdscope.studies.huang2011 import claims, figure, means, procedure
from ssdscope.studies.huang2011.procedure import Curve
from ssdscope.targets import open_target
from ssdscope.workloads.grid import Row, Stop

QUICK = Stop(until_ci=0.2, runtime_ns=200_000_000)


def test_the_figures_before_the_models_are_known(tmp_path: Path) -> None:
    assert list(studies.registry()["huang2011"].figures) == ["3", "4", "5", "6", "7", "means"]
    with pytest.raises(UsageError, match="paper's own drives"):
        studies.run("huang2011", out_dir=tmp_path, target=open_target("null:"))


@pytest.mark.parametrize("name", ["3", "4", "5", "6", "7"])
def test_every_line_has_its_points(name: str, tmp_path: Path) -> None:
    lines = procedure.curves(name)
    assert {each.device for each in lines} == {"SSD_I", "SSD_S", "HDD_S"}
    assert all(len(each.x) == len(each.vectors) for each in lines)
    rows = {each: [made_up(each, place) for place in range(len(each.x))] for each in lines}
    found = claims.compare(name, rows)
    assert found
    assert any(claim.verdict == Verdict.DIFFERS for claim in found), "flat drives show nothing"
    image = figure.draw(name, rows, tmp_path / "figure.svg")
    assert image.with_suffix(".png").stat().st_size > 10_000


def made_up(curve: Curve, place: int) -> Row:
    """A drive that takes a millisecond, and a nanosecond more for each point."""
    return Row(curve.vectors[place], 100, 1e6 + place, 1e3, 1e6, 10**9)


def test_lines_are_measured_in_order() -> None:
    line = procedure.curves("3")[-1]
    short = replace(line, x=line.x[::5], vectors=line.vectors[::5])
    rows = procedure.measure([short], 1, silent, QUICK)
    assert [row.vector for row in rows[short]] == list(short.vectors)
    assert all(row.requests > 0 for row in rows[short])


def test_means_of_the_disk_are_near_the_paper_s() -> None:
    rows = means.measure(1, silent, devices=["HDD_S"])
    assert len(rows["HDD_S"]) == means.COUNT
    assert [claim.verdict for claim in means.compare(rows)] == [Verdict.AGREES] * 3
