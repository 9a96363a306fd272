"""The study of 2009 on its drives: the table they are fitted to, and the paper's arguments."""

import csv
from pathlib import Path

import numpy as np
import pytest

from ssdscope import studies
from ssdscope.studies import Claim, Verdict
from ssdscope.studies.ryu2009 import (
    ageing,
    ageing_claims,
    allocation,
    equations,
    iozone,
    read_size,
    shift_write,
)
from ssdscope.targets import open_target


def test_every_figure_is_known() -> None:
    figures = studies.registry()["ryu2009"].figures
    assert list(figures) == [
        *("2", "3", "ageing", "table", "6", "7", "9", "10", "11"),
        *("allocation", "12", "13", "14"),
    ]


def test_equations_come_with_picture_and_data(tmp_path: Path) -> None:
    result = studies.run("ryu2009", out_dir=tmp_path, figures=["12"])
    (figure,) = result.figures
    assert not result.differs
    assert figure.image is not None
    assert figure.image.stat().st_size > 10_000
    assert figure.data is not None
    with figure.data.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(equations.LINES) * len(equations.PAGES)


@pytest.mark.parametrize(
    ("design", "unit", "pages", "expected_us"),
    [
        ("a", 1, 1, 100),  # a page
        ("a", 1, 4, 130),  # one on each channel
        ("a", 2, 3, 210),  # a block, and a page of the next one beside it
        ("b", 2, 8, 260),  # once round the channels
        ("b", 1, 5, 260),  # once round, and a page
    ],
)
def test_the_corrected_equations_by_hand(
    design: str, unit: int, pages: int, expected_us: float
) -> None:
    assert equations.corrected(equations.Line(design, unit), (pages,))[0] == expected_us


@pytest.mark.parametrize("drive", iozone.DRIVES)
def test_the_table_is_within_a_tenth(drive: str) -> None:
    """One seed: the study itself takes the mean of three."""
    column = iozone.measure_column(drive, seed=1, requests=iozone.REQUESTS)
    for (op, size_kib), (kib_per_s, _) in column.items():
        paper = iozone.PUBLISHED_KIB_PER_S[drive, op][iozone.SIZES_KIB.index(size_kib)]
        assert kib_per_s == pytest.approx(paper, rel=iozone.TOLERANCE), (op, size_kib)


def points(values: list[float], shift_bytes: int = 2048) -> shift_write.Points:
    sweep = shift_write.Sweep("ryu-a", 4096, shift_bytes, 0, len(values), 16384)
    return shift_write.Points(sweep, np.array(values))


def test_a_period_is_the_shortest_that_explains_the_points() -> None:
    assert points([2.0, 1, 1, 1, 1, 1, 1, 1] * 4).period_bytes == 16384
    assert points([2.0, 1, 1] * 10).period_bytes == 6144
    assert points([1.0] * 24).period_bytes is None
    noise = np.random.default_rng(1).lognormal(0, 1, 40)
    assert points(list(noise)).period_bytes is None


def test_shifted_writes_show_the_block_of_a() -> None:
    sweep = next(each for each in shift_write.SWEEPS if each.write_bytes == 16384)
    device = open_target("sim:ryu-a", state="sequential", seed=1).device
    assert shift_write.run_sweep(device, sweep).period_bytes == 16384


def test_b_reads_along_a_line() -> None:
    device = open_target("sim:ryu-b", state="sequential", seed=1).device
    curve = read_size.sweep(device, seed=1)
    assert read_size.straight(curve).verdict == Verdict.AGREES
    assert read_size.slope(curve).verdict == Verdict.AGREES


def test_the_order_of_writing_shows_in_c_alone() -> None:
    # B's log blocks hold so small a range; it takes the whole gigabyte to wear them out.
    a, c = (allocation.gap(allocation.SUBJECTS[index], 1, 32 << 20) for index in (0, 2))
    assert allocation.compare([a, c])[0].verdict == Verdict.AGREES
    assert allocation.compare([a, c])[1].verdict == Verdict.AGREES


def life(name: str, new: float, aged: dict[str, float]) -> ageing.Life:
    keys = [(pattern, 4) for pattern in ageing.PATTERNS]
    subject = ageing.Subject(name, name, ())
    return ageing.Life(
        subject, dict.fromkeys(keys, new), {key: new * aged.get(key[0], 1.0) for key in keys}
    )


def verdicts(claims: list[Claim]) -> list[Verdict]:
    return [claim.verdict for claim in claims]


def test_claims_of_ageing_can_fail() -> None:
    slower = {"write": 0.5, "randwrite": 0.5}
    reads = {"read": 0.8, "randread": 0.9}
    agrees, differs = Verdict.AGREES, Verdict.DIFFERS
    assert verdicts(ageing_claims.of_drive(life("ryu-a", 1e6, slower))) == [agrees, agrees]
    assert verdicts(ageing_claims.of_drive(life("ryu-a", 1e6, reads))) == [agrees, differs]
    assert verdicts(ageing_claims.of_drive(life("ryu-a", 1e6, {}))) == [differs, agrees]
    assert verdicts(ageing_claims.of_drive(life("ryu-c", 1e6, slower))) == [agrees, differs]
    assert verdicts(ageing_claims.of_drive(life("ryu-c", 1e6, slower | reads))) == [agrees, agrees]
    for kept, verdict in (((0.8, 0.9, 0.5), agrees), ((0.8, 0.8, 0.8), differs)):
        names = ("ryu-a", "ryu-b", "ryu-c")
        three = [
            life(name, 1e6, {"randwrite": each}) for name, each in zip(names, kept, strict=True)
        ]
        assert ageing_claims.drives_by_block(three).verdict == verdict
