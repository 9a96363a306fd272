"""Each claim of figures 3 to 7 holds of drives like the paper's, and not of some other drive.

Drives are formulas here: what a request of a size takes in either direction, and what a random
place or a gap adds.
"""

from dataclasses import dataclass, replace

import pytest

from ssdscope.studies import Verdict
from ssdscope.studies.huang2011 import claims, procedure
from ssdscope.studies.huang2011.procedure import Rows
from ssdscope.studies.record import Claim
from ssdscope.workloads.grid import Row, Vector


@dataclass(frozen=True)
class Way:
    """Reads or writes of a drive: times in ms."""

    base: float
    mb_s: float
    random: float = 0.0
    stride: float = 0.0

    def ms(self, size: int, rand: int, stride: int) -> float:
        gap = self.stride if stride else 0.0
        return self.base + size / self.mb_s / 1e3 + self.random * rand / 100 + gap


@dataclass(frozen=True)
class Drive:
    """A drive that serves so many requests at a time."""

    reads: Way
    writes: Way
    side_by_side: int = 1

    def row(self, vector: Vector) -> Row:
        share = vector.wr_ratio / 100
        took_ms = (1 - share) * self.reads.ms(
            vector.rd_size, vector.rd_rand, vector.rd_stride
        ) + share * self.writes.ms(vector.wr_size, vector.wr_rand, vector.wr_stride)
        took_ms *= max(1, vector.q_dep / self.side_by_side)
        size = (1 - share) * vector.rd_size + share * vector.wr_size
        iops = vector.q_dep / took_ms * 1e3
        return Row(vector, 1000, took_ms * 1e6, iops, iops * size)


SSD_I = Drive(Way(0.1, 200, 0.3, 0.3), Way(0.1, 120, 1.8, 0.1))
SSD_S = Drive(Way(0.05, 260, 0.1, 0.1), Way(0.2, 90, 9.5, 0.3))
HDD_S = Drive(Way(0.2, 100, 10.5, 4.0), Way(0.2, 90, 8.0, 4.0))
PAPER_S = {"SSD_I": SSD_I, "SSD_S": SSD_S, "HDD_S": HDD_S}
FLASH = Drive(Way(0.05, 500), Way(0.05, 500))
"""One that nothing matters to but the size."""
OTHERS = {
    "all are flash": dict.fromkeys(PAPER_S, FLASH),
    "all are disks": dict.fromkeys(PAPER_S, HDD_S),
    "SSD_S is SSD_I": {**PAPER_S, "SSD_S": SSD_I},
    "SSD_I is a disk": {**PAPER_S, "SSD_I": HDD_S},
    "drives serve 64 at a time": {
        name: replace(drive, side_by_side=64) for name, drive in PAPER_S.items()
    },
    "a disk that writes slowly": {**PAPER_S, "HDD_S": replace(HDD_S, writes=Way(0.2, 4, 11, 40))},
    "a disk whose arm is slow": {**PAPER_S, "HDD_S": Drive(Way(0.2, 100, 400, 500), HDD_S.writes)},
    "gaps cost as much as random places": {
        name: replace(drive, writes=replace(drive.writes, stride=drive.writes.random))
        for name, drive in PAPER_S.items()
    },
    "gaps cost reads": {
        name: replace(drive, reads=replace(drive.reads, stride=9))
        for name, drive in PAPER_S.items()
    },
    "small requests are slow": {
        name: replace(drive, reads=replace(drive.reads, mb_s=-300, base=1.5), writes=drive.writes)
        for name, drive in PAPER_S.items()
    },
}


def runs(figure: str, drives: dict[str, Drive]) -> Rows:
    return {
        curve: [drives[curve.device].row(vector) for vector in curve.vectors]
        for curve in procedure.curves(figure)
    }


def compare(figure: str, drives: dict[str, Drive]) -> list[Claim]:
    rows = runs(figure, drives)
    tried = {
        what: drives["SSD_S"].row(replace(procedure.READS, wr_ratio=wr_ratio))
        for what, (where, wr_ratio) in claims.CONTRADICTED.items()
        if where == figure
    }
    return claims.compare(figure, rows, tried)


@pytest.mark.parametrize("figure", ["3", "4", "5", "6", "7"])
def test_every_claim_holds_of_the_paper_s_drives_and_fails_of_some_other(figure: str) -> None:
    found = {row.what: row.verdict for row in compare(figure, PAPER_S)}
    assert Verdict.DIFFERS not in found.values(), found
    turned = {
        row.what
        for drives in OTHERS.values()
        for row in compare(figure, drives)
        if row.verdict == Verdict.DIFFERS
    }
    assert sorted(found.keys() - turned) == []


def test_the_data_sheet_explains_what_a_faster_link_mends_and_nothing_else() -> None:
    """An SSD_S of the sheet's 100 MB/s, and one that no link makes faster."""
    by_the_sheet = {**PAPER_S, "SSD_S": replace(SSD_S, reads=Way(0.1, 80, 0.3, 0.3))}
    for what, (figure, wr_ratio) in claims.CONTRADICTED.items():
        rows = runs(figure, by_the_sheet)
        vector = replace(procedure.READS, wr_ratio=wr_ratio)
        for drive, verdict in ((SSD_S, Verdict.EXPLAINED), (HDD_S, Verdict.DIFFERS)):
            judged = claims.compare(figure, rows, {what: drive.row(vector)})
            (row,) = (each for each in judged if each.what == what)
            assert row.verdict == verdict, row
