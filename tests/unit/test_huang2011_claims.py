"""Rows of the study of 2011: each holds of drives like the paper's, and not of some others.

Drives are formulas here: what a request of a size takes in either direction, and what a random
place or a gap adds. What is not of figures 3 to 7 is turned by made-up readings.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pytest

from ssdscope.studies import Verdict
from ssdscope.studies.huang2011 import CURVES, PAPER, claims, figure, procedure
from ssdscope.studies.huang2011.procedure import Rows
from ssdscope.studies.paper import Row as Asked
from ssdscope.studies.record import Claim, Reading
from ssdscope.workloads.grid import Row, Vector


@dataclass(frozen=True)
class Way:
    """Reads or writes of a drive: times in ms."""

    base: float
    mb_s: float
    random: float = 0.0
    stride: float = 0.0
    large: float = 0.0

    def ms(self, size: int, rand: int, stride: int) -> float:
        gap = (self.stride if stride else 0.0) + self.large * (size > 128 * 1024)
        return self.base + size / self.mb_s / 1e3 + self.random * rand / 100 + gap


@dataclass(frozen=True)
class Drive:
    """A drive that serves so many requests at a time."""

    reads: Way
    writes: Way
    side_by_side: float = 1

    def row(self, vector: Vector) -> Row:
        share = vector.wr_ratio / 100
        took_ms = (1 - share) * self.reads.ms(
            vector.rd_size, vector.rd_rand, vector.rd_stride
        ) + share * self.writes.ms(vector.wr_size, vector.wr_rand, vector.wr_stride)
        took_ms *= max(1, vector.q_dep / self.side_by_side)
        size = (1 - share) * vector.rd_size + share * vector.wr_size
        iops = vector.q_dep / took_ms * 1e3
        return Row(vector, 1000, took_ms * 1e6, iops, iops * size)


SSD_I = Drive(Way(0.1, 200, 0.02, 0.02), Way(0.1, 120, 0.5, 0.02), 1.1)
SSD_S = Drive(Way(0.1, 200, 0.03, 0.03), Way(0.2, 90, 9.5, 0.1), 1.1)
HDD_S = Drive(Way(0.6, 100, 7.0, 2.0), Way(0.5, 90, 6.0, 2.0))
PAPER_S = {"SSD_I": SSD_I, "SSD_S": SSD_S, "HDD_S": HDD_S}
FLASH = Drive(Way(0.05, 500), Way(0.05, 500))
"""One that nothing matters to but the size."""
SLOW = Drive(Way(40, 1, 3000, 4000), Way(40, 1, 3000, 4000))
BENT = Drive(Way(1.5, -300), Way(1.5, -300))


def all_of(drive: Drive) -> dict[str, Drive]:
    return dict.fromkeys(PAPER_S, drive)


OTHERS: dict[str, Mapping[str, Drive]] = {
    "all are flash": all_of(FLASH),
    "all are disks": all_of(HDD_S),
    "all are slow": all_of(SLOW),
    "all are bent": all_of(BENT),
    "SSD_S is SSD_I": {**PAPER_S, "SSD_S": SSD_I},
    "SSDs change places": {**PAPER_S, "SSD_S": SSD_I, "SSD_I": SSD_S},
    "the disk is an SSD": {**PAPER_S, "HDD_S": SSD_I},
    "drives serve 64 at a time": {
        name: replace(drive, side_by_side=64) for name, drive in PAPER_S.items()
    },
    "drives slow down under load": {
        name: replace(drive, side_by_side=0.01) for name, drive in PAPER_S.items()
    },
    "a disk that writes slowly": {**PAPER_S, "HDD_S": replace(HDD_S, writes=Way(0.2, 4, 90, 40))},
    "a disk that writes fast": {**PAPER_S, "HDD_S": replace(HDD_S, writes=Way(0.1, 300, 0.1))},
    "a disk whose arm is slow": {**PAPER_S, "HDD_S": Drive(Way(0.2, 100, 400, 500), HDD_S.writes)},
    "random places alone": all_of(Drive(Way(0.01, 900, 40), Way(0.01, 900, 90))),
    "gaps alone": all_of(Drive(Way(0.01, 900, 1, 90), Way(0.01, 900, 1, 90))),
    "gaps cost as much as random places": {
        name: replace(
            drive,
            writes=replace(drive.writes, stride=drive.writes.random),
            reads=replace(drive.reads, stride=drive.reads.random),
        )
        for name, drive in PAPER_S.items()
    },
    "large requests are slow": all_of(Drive(Way(1, 500, large=9), Way(1, 500, large=9))),
    "writes are fast": {
        name: replace(drive, writes=Way(0.01, 900)) for name, drive in PAPER_S.items()
    },
    "SSD_S reads slowly": {**PAPER_S, "SSD_S": replace(SSD_S, reads=Way(9, 20))},
    "order is dear": all_of(Drive(Way(9, 500, -8, -8.5), Way(9, 500, -8, -8.5))),
}


def runs(name: str, drives: Mapping[str, Drive]) -> Rows:
    return {
        curve: [drives[curve.device].row(vector) for vector in curve.vectors]
        for curve in procedure.curves(name)
    }


def judged(drives: Mapping[str, Drive]) -> dict[str, Claim]:
    rows = (PAPER.claims(claims.readings(name, runs(name, drives))) for name in CURVES)
    return {claim.name: claim for found in rows for claim in found}


def test_rows_of_figures_3_to_7_are_turned_by_other_drives() -> None:
    found = judged(PAPER_S)
    agreeing = {name for name, claim in found.items() if claim.verdict == Verdict.AGREES}
    assert {name.partition(": ")[0] for name in agreeing} >= {
        row.name for row in PAPER.rows.values() if row.figure in "34567" and row.name not in OURS
    }
    turned = {
        name
        for drives in OTHERS.values()
        for name, claim in judged(drives).items()
        if claim.verdict == Verdict.DIFFERS
    }
    assert sorted(agreeing - turned) == []


OURS = {
    "line, bandwidth", "SSD_I least linear", "order of magnitude", "five times",
    "depth, throughput", "disk bandwidth", "bandwidth, 90 % reads", "latency, 90 % reads",
    "dramatically", "some extent", "large", "order under load", "ahead in reads",
}  # fmt: skip
"""Of figures 3 to 7: what these formulas do not fulfil; readings turn them below."""


def middle(row: Asked, paper: float | str) -> float:
    """Return a value that the rule takes."""
    rule = row.rule
    assert rule is not None
    if rule.between is not None:
        return float(np.mean(rule.between))
    if rule.above is not None or rule.below is not None:
        return (rule.above if rule.above is not None else (rule.below or 0.0) - 2e-3) + 1e-3
    return float(paper)


def cases(row: Asked) -> list[tuple[str, float | str]]:
    return list(row.paper.items()) if isinstance(row.paper, Mapping) else [("x", row.paper)]


@pytest.mark.parametrize("name", PAPER.rows)
def test_every_row_is_turned_on_each_side_that_its_rule_bounds(name: str) -> None:
    row = PAPER.rows[name]
    for case, paper in cases(row):
        if row.rule is None:
            assert row.judge(case, Reading("so", value=True)).verdict == Verdict.AGREES
            assert row.judge(case, Reading("not so", value=False)).verdict == Verdict.DIFFERS
            continue
        assert row.rule.sides
        assert row.judge(case, Reading("x", middle(row, paper))).verdict == Verdict.AGREES
        for side, value in (("low", -1e9), ("high", 1e9)):
            verdict = row.judge(case, Reading("x", value)).verdict
            assert (verdict != Verdict.AGREES) == (side in row.rule.sides), (case, side)
        assert row.judge(case, Reading("x", float("nan"))).verdict == Verdict.DIFFERS


def test_an_error_far_below_the_paper_s_is_easier_and_says_why() -> None:
    claim = PAPER.rows["error III"].judge("SSD_S: latency", Reading(2.0))
    assert (claim.paper, claim.verdict) == (20, Verdict.EASIER)
    assert "few surprises" in claim.why
    basic = PAPER.rows["error II"].judge("SSD_I: latency", Reading(8.0))
    assert basic.verdict == Verdict.DIFFERS, "a basic model that is told enough is no agreement"


def numbers(name: str) -> dict[str, float]:
    """Return what the paper prints, by case."""
    return {case: float(paper) for case, paper in cases(PAPER.rows[name])}


def test_the_paper_s_numbers_go_together() -> None:
    for case, ratio in numbers("basic for extended").items():
        basic, extended = (numbers(f"error {table}")[case] for table in ("II", "III"))
        assert ratio == pytest.approx(basic / extended, abs=0.006)
        assert numbers("bar 9")[case] == pytest.approx(100 * (1 - extended / basic), abs=0.06)
    assert numbers("error IV")["HDD_S: latency, rand_rd"] == 46
    assert len(numbers("error IV")) == len(numbers("unexplained IV")) == 72


@pytest.mark.parametrize("name", CURVES)
def test_every_figure_is_drawn(name: str) -> None:
    drawn = figure.draw(name, runs(name, PAPER_S))
    assert all(axes.lines for axes in drawn.axes)


def test_strides_are_a_setting() -> None:
    wide = procedure.curves("6", stride=1024)
    assert {vector.wr_stride for curve in wide for vector in curve.vectors} == {0, 1024}
