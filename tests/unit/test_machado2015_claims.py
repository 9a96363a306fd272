"""Verdicts of the study of 2015 on made-up points: each claim holds on one drive, not on others.

The drive on which all holds is the paper's as it describes it; no simulator is asked.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from ssdscope.studies import Verdict
from ssdscope.studies.machado2015 import (
    PAPER,
    claims,
    drives,
    firmware,
    organisation,
    random_reads,
    reserve,
    wear,
)
from ssdscope.studies.machado2015.procedure import (
    CLEARED,
    CONFIGURATIONS,
    PATTERNS,
    SIZES_BYTES,
    Cell,
    Cells,
    Configuration,
    Setting,
    configurations,
)
from ssdscope.studies.record import Claim, Reading

FOUR_MB = SIZES_BYTES[-1]
NAN = float("nan")
SLOWER = {(32, 5): 1.0, (32, 50): 1.055, (32, 90): 1.055, (4, 5): 1.01, (4, 50): 1.01 * 1.07}
"""What a configuration costs all but reads in order, as the paper has it."""

Change = Callable[[Configuration, Cell], Cell]


def of_the_paper(change: Change = lambda _, cell: cell) -> Cells:
    """Give figure 1 as the paper describes it, every cell changed."""
    cells = {}
    for each in CONFIGURATIONS:
        for pattern in (*PATTERNS, CLEARED):
            for size in SIZES_BYTES:
                mean = size / 100.0
                if pattern != "read":
                    mean *= 2.2 * SLOWER[each.size_gb, each.min_free_percent]
                erases = 7 if "write" in pattern and each.min_free_percent > 5 else 0
                cell = Cell(each.label, pattern, size, 300, mean, block_erases=erases)
                cells[each.label, pattern, size] = change(each, timed(cell, 1))
    return cells


def timed(cell: Cell, factor: float, half_width: float = 0.01) -> Cell:
    """Make a cell's mean so many times as long, with an interval of so much on both sides."""
    mean = factor * cell.mean_ns
    return replace(
        cell,
        mean_ns=mean,
        stddev_ns=0.1 * mean,
        ci95_low_ns=(1 - half_width) * mean,
        ci95_high_ns=(1 + half_width) * mean,
    )


def slower(
    pattern: str, factor: float, size_gb: int | None = None, percent: int | None = None
) -> Change:
    """Give a drive on which one pattern takes so many times as long in some configurations."""

    def change(each: Configuration, cell: Cell) -> Cell:
        meant = (
            cell.pattern == pattern
            and size_gb in {None, each.size_gb}
            and percent in {None, each.min_free_percent}
        )
        return timed(cell, factor) if meant else cell

    return change


def level(each: Configuration, cell: Cell) -> Cell:
    """Return a drive on which writes in order cost the same in all configurations."""
    if cell.pattern != "write":
        return cell
    return timed(cell, 1 / SLOWER[each.size_gb, each.min_free_percent])


def stuck(each: Configuration, cell: Cell) -> Cell:
    """Give a drive that serves no random writes of 4 MB in one configuration."""
    if (cell.pattern, cell.size_bytes, each.size_gb, each.min_free_percent) == (
        "randwrite",
        FOUR_MB,
        4,
        50,
    ):
        return Cell(cell.line, cell.pattern, cell.size_bytes, failure="stuck")
    return cell


def idle(_: Configuration, cell: Cell) -> Cell:
    """Return a drive that never collects, on which no policy can show."""
    return replace(cell, block_erases=0)


OTHERS: list[tuple[str, str, Change]] = [
    ("complete", "high", stuck),
    ("confidence", "high", lambda _, cell: timed(cell, 1, half_width=0.06)),
    ("best and worst", "no", slower("write", 1.2, 32, 5)),
    ("best and worst", "no", slower("randwrite", 1.2, 32, 90)),
    ("never cleans", "high", lambda _, cell: replace(cell, block_erases=1)),
    ("32 GB", "low", level),
    ("32 GB", "high", slower("write", 1.02, 32, 50)),
    ("4 GB", "low", slower("randwrite", 0.98, 4, 50)),
    ("4 GB", "high", slower("write", 1.02, 4, 50)),
    ("90 % over 5 %", "low", slower("write", 0.98, 32, 90)),
    ("90 % over 5 %", "high", slower("randwrite", 1.02, 32, 90)),
    ("smaller pays more", "low", slower("write", 0.97, 4, 50)),
    ("90 %", "high", slower("randwrite", 1.02, 32, 90)),
    ("largest effect", "low", slower("write", 1.3, 4)),
    ("settings", "low", level),
    ("settings", "high", slower("write", 2, 4, 50)),
    ("reads, settings", "high", slower("read", 1.01, 4)),
    ("random writes", "low", slower("randwrite", 0.6, 4, 50)),
    ("random writes", "high", slower("randwrite", 1.6, 4, 50)),
    ("policies", "no", lambda each, cell: timed(cell, 1 + 1e-6 * (each.policy == "greedy"))),
    ("policies", "no", idle),
    ("random reads", "low", slower("randread", 0.5)),
    ("random reads, writes", "low", slower("randread", 0.5)),
    ("random reads, writes", "high", slower("randread", 1.6)),
]
"""Rows of figure 1: which side of their rule another drive is on."""

VALUES: dict[str, tuple[float, dict[str, float]]] = {
    "starts": (1, {"low": -3, "high": 20}),  # only when no block is left, or at once
    "sooner": (8, {"low": 1}),  # the limit is a number of bytes
    "as late": (1, {"low": 0.98, "high": 1.02}),
    "collection": (1, {"low": 0.5, "high": 1.5}),  # half of it is something else
    "background": (0, {"high": 1}),
    "least reserve": (0, {"high": 3664}),
    "erased first": (1, {"low": 0.5, "high": 2}),  # written in place; erased half empty
    "another page": (1.016, {"low": 0.5, "high": 64}),  # packed; a block for each page
    "invalid": (0, {"high": 0.5}),
    "cost on 32 GB": (5.47, {"low": 4.9, "high": 6.1}),
    "cost on 4 GB": (6.92, {"low": 6.2, "high": 7.8}),
    "smallest request": (8, {"low": 4, "high": 64}),
    "raw 32 GB": (32, {"low": 16, "high": 64}),
    "raw 4 GB": (4, {"low": 2, "high": 8}),
    "disk": (30, {"low": 1.1}),
    "no gain": (1, {"low": 0.5, "high": 30}),
    "drives differ": (3.7, {"low": 1.4}),
    "options": (4, {"low": 1.2}),
    "response times differ": (1.2, {"low": 1.05}),
    "lifetime": (1.2, {"low": 0.8}),
    "random reads, settings": (0, {"high": 1}),
    "cause": (1, {"low": 0, "high": 2}),  # nothing shows it; two things do
}
"""Of other rows: a value with which they agree, and one beyond each side."""
NO = {"one reserve", "symptoms", "policies differ"}
"""Rows without a rule that have tests of their own below."""


def judged(readings: Mapping[str, Reading], name: str) -> set[Verdict]:
    """Return the verdicts of a row's cases."""
    return {row.verdict for row in PAPER.claims(readings) if row.name.split(": ")[0] == name}


def test_every_claim_holds_on_the_papers_drive() -> None:
    rows = PAPER.claims(claims.readings(of_the_paper()))
    assert {row.name for row in rows if row.verdict != Verdict.AGREES} == set()


@pytest.mark.parametrize(("name", "side", "change"), OTHERS)
def test_every_claim_differs_on_another_drive(name: str, side: str, change: Change) -> None:
    assert Verdict.DIFFERS in judged(claims.readings(of_the_paper(change)), name)
    rule = PAPER.rows[name].rule
    assert side in (rule.sides if rule else ("no",))


@pytest.mark.parametrize("name", VALUES)
def test_rows_of_other_figures_agree_with_one_value_and_not_beyond(name: str) -> None:
    row, (agreeing, beyond) = PAPER.rows[name], VALUES[name]
    row = replace(row, paper=next(iter(row.paper.values()))) if isinstance(row.paper, dict) else row
    assert row.judge("", Reading("", agreeing)).verdict == Verdict.AGREES
    for value in beyond.values():
        assert row.judge("", Reading("", value, why="why")).verdict == Verdict.DIFFERS


def test_every_row_is_turned_on_each_side_that_its_rule_bounds() -> None:
    turned = {(name, side) for name, side, _ in OTHERS} | {(name, "no") for name in NO}
    turned |= {(name, side) for name, (_, beyond) in VALUES.items() for side in beyond}
    rows = PAPER.rows.values()
    bounds = {(row.name, side) for row in rows for side in (row.rule.sides if row.rule else ["no"])}
    assert turned == bounds


def test_a_reserve_is_that_of_its_share() -> None:
    reserves = {
        each.min_free_percent: each.reserve_ratio
        for each in configurations(Setting(reserve_5=6, reserve_50=51.2, reserve_90=95))
    }
    assert reserves == pytest.approx({5: 0.06, 50: 0.512, 90: 0.95})


def test_one_reserve_has_to_be_one_with_which_every_row_holds() -> None:
    holds = Claim("it", 1, 1, "", Verdict.AGREES)
    differs = Claim("it", 1, 2, "", Verdict.DIFFERS, "why")
    one = {"one reserve": reserve.one_reserve({51: [holds, differs], 52: [holds, holds]})}
    none = {"one reserve": reserve.one_reserve({51: [holds, differs], 52: [differs, holds]})}
    assert judged(one, "one reserve") == {Verdict.AGREES}
    assert judged(none, "one reserve") == {Verdict.DIFFERS}


def ran(reads: list[float], cleared: list[float]) -> dict[str, np.ndarray]:
    """Make up what was run in place of random reads, at two sizes, over reads in order."""
    lines = {
        "reads in order": [1.0] * 5,
        "writes in order": [2.2, 2.3, 2.3, 2.2, 2.35],
        random_reads.READS: reads,
        random_reads.AS_WRITES: cleared,
    }
    return {name: np.array([means, means]) for name, means in lines.items()}


AS_READS, LIKE_WRITES = [1.0] * 5, [2.2, 2.3, 2.3, 2.2, 2.35]


@pytest.mark.parametrize(
    ("reads", "cleared", "symptoms", "showing"),
    [
        (LIKE_WRITES, AS_READS, True, 1),
        (AS_READS, LIKE_WRITES, False, 1),
        (LIKE_WRITES, LIKE_WRITES, True, 2),
        ([1.2, 1.3, 1.3, 1.2, 1.2], AS_READS, False, 0),  # no slower than reads in order
        ([4.4, 4.6, 4.6, 4.4, 4.4], AS_READS, False, 0),  # twice as slow as writes
        ([2.2] * 5, AS_READS, False, 0),  # the settings do nothing
        ([2.2, 2.3, 2.3, 2.2, 2.9], AS_READS, False, 0),  # the settings do much
        ([2.2, 2.3, 2.3, 2.2, NAN], AS_READS, True, 1),  # a drive that gets stuck is left out
    ],
)
def test_random_reads_show_all_symptoms_or_differ(
    reads: list[float], cleared: list[float], symptoms: bool, showing: int
) -> None:
    read = random_reads.readings(ran(reads, cleared))
    assert read["symptoms: all drives"].value is symptoms
    assert read["cause: all drives"].value == showing
    assert judged(read, "symptoms") <= {Verdict.AGREES, Verdict.DIFFERS}
    instead = random_reads.readings(ran(AS_READS, LIKE_WRITES), random_reads.AS_WRITES)
    assert judged(instead, "symptoms") == {Verdict.AGREES}


def test_attribution_names_what_hangs_on_addresses() -> None:
    assert "no part depends" in random_reads.attribution({"nand": 0.7, "transfer": 0.3})
    said = random_reads.attribution({"nand": 0.7, "gc": 0.3})
    assert "gc depend on address or collection" in said


def organised(costs: dict[int, float]) -> Cells:
    """Make up what each organisation costs by its page; large pages refuse three sizes."""
    cells = {}
    for each in organisation.ORGANISATIONS:
        for size_gb, cost in ((32, costs[each.page_kb]), (4, costs[each.page_kb] * 7 / 5.5)):
            for percent in (5, 50):
                line = each.name(size_gb, percent)
                for size in SIZES_BYTES:
                    mean = 1 + cost / 100 * (percent == 50)
                    failure = "no page" if size < each.page_kb * 1024 else ""
                    cell = Cell(line, "write", size, 300, NAN if failure else mean, failure=failure)
                    cells[line, "write", size] = cell
    return cells


def test_what_is_printed_is_what_the_simulator_counts() -> None:
    cells = organised({4: 5.5, 8: 8, 64: 5.5})
    found = {row.name: row.verdict for row in PAPER.claims(organisation.readings(cells))}
    differing = {name for name, verdict in found.items() if verdict == Verdict.DIFFERS}
    assert "raw 32 GB: paper: page and pages in a block" in differing
    assert "smallest request: slides: page and block" in differing
    assert not any("the simulator's reading" in name for name in differing)
    (trial,) = (each for each in PAPER.trials if "sectors" in each.settings)
    assert differing <= set(trial.explains)
    sectors = PAPER.claims(organisation.readings(cells, sectors=True))
    assert {row.verdict for row in sectors} == {Verdict.AGREES}
    assert organisation.table(cells).rows[-1][1:4] == ("-", "-", "-")


def life(
    policy: str, erases: tuple[int, ...], waf: float, rounds: int, levelled: int = 0
) -> wear.Life:
    readings = [
        wear.Wear(float(at), waf, 1e5 * waf, 500, levelled, erases) for at in range(1, rounds + 1)
    ]
    return wear.Life(policy, wear.LOADS[0], readings, "worn out")


def test_policies_that_wear_alike_differ_from_what_the_paper_supposes() -> None:
    greedy = life("greedy", (0, 5, 5), 2.0, 10)
    read = wear.readings([greedy, life("wear-aware", (0, 5, 5), 2.1, 10)])
    assert {row.verdict for row in PAPER.claims(read)} == {Verdict.DIFFERS}
    for aware in (((0, 1, 9), 2.0, 10), ((0, 5, 5), 3.0, 10)):
        read = wear.readings([greedy, life("wear-aware", *aware)])
        assert judged(read, "policies differ") == {Verdict.AGREES}
    assert judged(read, "response times differ") == {Verdict.AGREES}


def test_a_shorter_life_has_what_was_counted_as_its_reason() -> None:
    greedy = life("greedy", (0, 0, 10), 2.0, 10)
    loses = wear.readings([greedy, life("wear-aware", (0, 5, 5), 3.0, 7, levelled=250)])
    (row,) = (row for row in PAPER.claims(loses) if row.name.startswith("lifetime"))
    assert row.verdict == Verdict.DIFFERS
    assert "1.50 times as much flash" in row.why
    assert "0.75 times as often" in row.why
    assert "250 more by wear levelling" in str(row.ours)
    wins = wear.readings([greedy, life("wear-aware", (0, 0, 10), 1.5, 12)])
    assert judged(wins, "lifetime") == {Verdict.AGREES}


def test_disks_gain_by_order_and_the_papers_drive_does_not() -> None:
    names = (*drives.DISKS, *drives.SSDS, *drives.OPTIONS)
    cells = {
        (name, pattern, size): Cell(
            name,
            pattern,
            size,
            mean_ns=(1 + place) * (9.0 if name in drives.DISKS and "rand" in pattern else 1.0),
        )
        for place, name in enumerate(names)
        for pattern in PATTERNS
        for size in SIZES_BYTES
    }
    found = PAPER.claims(drives.readings(cells))
    assert {row.verdict for row in found if not row.name.startswith("options")} == {Verdict.AGREES}
    alike = drives.readings({key: replace(cell, mean_ns=1.0) for key, cell in cells.items()})
    for name in ("disk", "drives differ", "options"):
        assert judged(alike, name) == {Verdict.DIFFERS}


def test_another_drive_is_asked_all_that_is_said_of_one() -> None:
    line = CONFIGURATIONS[0].label
    cells = {key: cell for key, cell in of_the_paper().items() if key[0] == line}
    reads = {key: cell for key, cell in cells.items() if "write" not in key[1]}
    assert {row.verdict for row in PAPER.claims(claims.of_one_drive(cells))} == {Verdict.AGREES}
    assert set(claims.of_one_drive(reads)) == {"confidence", "random reads"}


def test_a_firmware_without_policies_is_not_asked_about_them() -> None:
    rows = PAPER.claims(claims.readings(of_the_paper()))
    page, log_block = (firmware.asked(kind, rows) for kind in ("page", "log-block"))
    assert len(page) == len(log_block) + 1
    assert not any(row.name == "policies" for row in log_block)
