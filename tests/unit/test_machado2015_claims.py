"""Verdicts of the study of 2015 on made-up points: each claim holds on one drive, not on others.

The drive on which all holds is the paper's as it describes it; no simulator is asked.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from ssdscope.studies import Claim, Verdict
from ssdscope.studies.machado2015 import (
    causes,
    claims,
    firmware,
    on_target,
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
)

MIB = 1 << 20
FOUR_MB = SIZES_BYTES[-1]
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
                cell = Cell(each.label, pattern, size, 300, mean)
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


def level(sizes: set[int]) -> Change:
    """Give a drive on which writes in order cost the same in all configurations, at some sizes."""

    def change(each: Configuration, cell: Cell) -> Cell:
        if cell.pattern != "write" or cell.size_bytes not in sizes:
            return cell
        return timed(cell, 1 / SLOWER[each.size_gb, each.min_free_percent])

    return change


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


OTHERS: list[tuple[str, Change]] = [
    ("confidence", lambda _, cell: timed(cell, 1, half_width=0.06)),
    ("confidence", stuck),
    ("best and worst", slower("write", 1.2, 32, 5)),
    ("best and worst", slower("write", 1.2, 32, 90)),
    ("never cleans", lambda _, cell: replace(cell, block_erases=1)),
    ("32 GB, 4 MB", level({FOUR_MB})),
    ("32 GB, mean", level(set(SIZES_BYTES[:5]))),
    ("4 GB, 1 MB", level({MIB})),
    ("4 GB, 4 MB", slower("write", 1.03, 4, 50)),
    ("4 GB, mean", level(set(SIZES_BYTES[:5]))),
    ("90 %", slower("randwrite", 1.02, 32, 90)),
    ("largest effect", slower("write", 1.3, 4)),
    ("writes, settings", slower("write", 2, 4, 50)),
    ("writes, settings", level(set(SIZES_BYTES))),
    ("random writes", slower("randwrite", 1.6, 4, 50)),
    ("random writes", stuck),
    ("policies", lambda each, cell: timed(cell, 1 + 1e-6 * (each.policy == "greedy"))),
    ("reads, settings", slower("read", 1.01, 4)),
    ("random reads", slower("randread", 0.5)),
    ("random reads, writes", slower("randread", 1.6)),
    ("random reads, settings", slower("randread", 2, 4, 50)),
]


def test_every_claim_holds_on_the_papers_drive() -> None:
    rows = claims.compare(of_the_paper())
    assert {name for name, row in rows.items() if row.verdict != Verdict.AGREES} == set()
    assert {name for name, _ in OTHERS} == set(rows), "each claim needs a drive it does not hold on"


@pytest.mark.parametrize(("name", "change"), OTHERS)
def test_every_claim_differs_on_another_drive(name: str, change: Change) -> None:
    row = claims.compare(of_the_paper(change))[name]
    assert row.verdict == Verdict.DIFFERS
    assert not row.tried


def trials(cells: Cells, percent_32gb: float, percent_4gb: float) -> causes.Trials:
    costs = {32: percent_32gb, 4: percent_4gb}
    volume = {gb: dict.fromkeys(SIZES_BYTES, cost) for gb, cost in costs.items()}
    return causes.Trials(cells, percent_4gb, volume)


EXPLICABLE = {
    "confidence": stuck,
    "32 GB, mean": level(set(SIZES_BYTES[:5])),
    "4 GB, mean": level(set(SIZES_BYTES[:5])),
    "4 GB, 4 MB": level({FOUR_MB}),
    "random writes": stuck,
    "random reads": slower("randread", 0.5),
    "random reads, writes": slower("randread", 0.5),
    "random reads, settings": slower("randread", 2, 4, 50),
}


@pytest.mark.parametrize("name", EXPLICABLE)
def test_a_claim_is_explained_if_it_holds_in_the_trial(name: str) -> None:
    rows = claims.compare(of_the_paper(EXPLICABLE[name]))
    place = list(rows).index(name)
    shown = causes.explain(rows, trials(of_the_paper(), 5.5, 7.0))[place]
    assert (shown.verdict, bool(shown.tried)) == (Verdict.EXPLAINED, True)


@pytest.mark.parametrize("name", EXPLICABLE)
def test_a_claim_goes_on_to_differ_if_it_does_not_hold_in_the_trial(name: str) -> None:
    def unmended(each: Configuration, cell: Cell) -> Cell:
        pattern = "randread" if cell.pattern == CLEARED else cell.pattern
        changed = EXPLICABLE[name](each, replace(cell, pattern=pattern))
        wide = timed(changed, 1) if name != "confidence" else replace(changed, stddev_ns=1e12)
        return replace(wide, pattern=cell.pattern)

    rows = claims.compare(of_the_paper(EXPLICABLE[name]))
    place = list(rows).index(name)
    shown = causes.explain(rows, trials(of_the_paper(unmended), 1.0, 2.0))[place]
    assert (shown.verdict, shown.tried) == (Verdict.DIFFERS, "")


def candidate(name: str, low: float, high: float) -> random_reads.Candidate:
    return random_reads.Candidate(name, dict.fromkeys((MIB, FOUR_MB), (low, high)))


@pytest.mark.parametrize(
    ("reads", "cleared", "verdict"),
    [
        ((2.2, 2.3), (2.2, 2.3), Verdict.AGREES),
        ((1.0, 1.0), (2.2, 2.3), Verdict.EXPLAINED),
        ((1.0, 1.0), (1.2, 1.3), Verdict.DIFFERS),  # no slower than reads in order
        ((1.0, 1.0), (4.4, 4.6), Verdict.DIFFERS),  # twice as slow as writes
        ((1.0, 1.0), (2.2, 2.2), Verdict.DIFFERS),  # the settings do nothing
        ((1.0, 1.0), (2.2, 4.4), Verdict.DIFFERS),  # the settings do much
    ],
)
def test_random_reads_are_explained_by_what_shows_all_symptoms(
    reads: tuple[float, float], cleared: tuple[float, float], verdict: Verdict
) -> None:
    evidence = random_reads.Evidence(
        candidate("reads in order", 1, 1),
        candidate("writes in order", 2.2, 2.3),
        [candidate("random reads", *reads), candidate("read bit cleared", *cleared)],
        {"nand": 0.7, "transfer": 0.3},
    )
    (row,) = random_reads.compare(evidence)
    assert row.verdict == verdict
    assert ("read bit cleared" in row.tried) is (verdict == Verdict.EXPLAINED)
    assert "no part depends" in random_reads.attribution(evidence)
    collecting = replace(evidence, parts={"nand": 0.7, "gc": 0.3})
    assert "gc depend on address or collection" in random_reads.attribution(collecting)


NAN = float("nan")


@pytest.mark.parametrize(
    ("costs", "verdicts"),
    [
        # In order, random, on no place twice, random over in order; of 51 and of 54 % reserved.
        (((7, 7, 7, 1.0), (0, 0, 0, 1.0)), (Verdict.AGREES, Verdict.AGREES)),
        (((7, NAN, NAN, NAN), (6.5, 30, 7, 1.2)), (Verdict.AGREES, Verdict.EXPLAINED)),
        (((7, NAN, NAN, NAN), (6.5, 30, 9, 1.2)), (Verdict.AGREES, Verdict.DIFFERS)),
        (((7, NAN, NAN, NAN), (4, 5, 5, 1.0)), (Verdict.DIFFERS, Verdict.DIFFERS)),
        (((7, 80, 40, 1.7), (6.5, 70, 30, 1.6)), (Verdict.DIFFERS, Verdict.DIFFERS)),
    ],
)
def test_one_reserve_for_all_that_the_paper_says(
    costs: tuple[tuple[float, ...], ...], verdicts: tuple[Verdict, Verdict]
) -> None:
    points = [
        reserve.Point(percent, size, *cost)
        for percent, cost in zip((51, 54), costs, strict=True)
        for size in reserve.SIZES_BYTES
    ]
    rows = reserve.compare(reserve.Sweep(points, {MIB: "stuck"}))
    assert tuple(row.verdict for row in rows) == verdicts
    assert all(bool(row.tried) is (row.verdict == Verdict.EXPLAINED) for row in rows)


def organised(costs: dict[int, float], unserved: set[int]) -> Cells:
    """Make up what each organisation costs, by page, and the sizes that large pages refuse."""
    cells = {}
    for each in organisation.ORGANISATIONS:
        for size_gb, cost in ((32, costs[each.page_kb]), (4, costs[each.page_kb] * 7 / 5.5)):
            for percent in (5, 50):
                line = each.name(size_gb, percent)
                for size in SIZES_BYTES:
                    mean = 1 + cost / 100 * (percent == 50)
                    failure = "no page" if each.page_kb == 64 and size in unserved else ""
                    cell = Cell(line, "write", size, 300, NAN if failure else mean, failure=failure)
                    cells[line, "write", size] = cell
    return cells


def test_only_the_organisation_that_fits_explains_the_others() -> None:
    small = set(SIZES_BYTES[:3])
    fits = organised({4: 5.5, 8: 8, 64: 5.5}, small)
    rows = organisation.compare(fits)
    assert [row.verdict for row in rows] == [Verdict.AGREES, *[Verdict.EXPLAINED] * 3]
    assert "7 sizes from 64 KB" in str(rows[3].ours)
    assert any("8 KB, 16 KB, 32 KB" in note for note in organisation.notes(fits))
    rows = organisation.compare(organised({4: 8, 8: 8, 64: 5.5}, small))
    assert {row.verdict for row in rows} == {Verdict.DIFFERS}


def life(policy: str, erases: tuple[int, ...], waf: float, rounds: int) -> wear.Life:
    readings = [wear.Wear(float(at), waf, erases) for at in range(1, rounds + 1)]
    return wear.Life(policy, wear.SKEWS[0], readings, "worn out")


def test_policies_that_wear_alike_differ_from_what_the_paper_supposes() -> None:
    greedy = life("greedy", (0, 5, 5), 2.0, 10)
    (row,) = wear.compare([greedy, life("wear-aware", (0, 5, 5), 2.1, 10)])
    assert row.verdict == Verdict.DIFFERS
    for aware in (((0, 1, 9), 2.0, 10), ((0, 5, 5), 3.0, 10), ((0, 5, 5), 2.0, 15)):
        (row,) = wear.compare([greedy, life("wear-aware", *aware)])
        assert row.verdict == Verdict.AGREES


def test_another_drive_is_all_that_is_said_of_one() -> None:
    def one_line(cells: Cells) -> Cells:
        line = CONFIGURATIONS[0].label
        return {key: cell for key, cell in cells.items() if key[0] == line and key[1] != CLEARED}

    assert {row.verdict for row in on_target.compare(one_line(of_the_paper()))} == {Verdict.AGREES}
    others: list[Claim] = on_target.compare(one_line(of_the_paper(slower("randread", 0.5))))
    differing = [row for row in others if row.verdict == Verdict.DIFFERS]
    assert len(differing) == 2
    assert {(row.why, row.tried) for row in differing} == {("of another drive", "")}


def test_a_firmware_without_policies_is_not_asked_about_them() -> None:
    other = of_the_paper(lambda _, cell: replace(cell, block_erases=1))
    page, log_block = (firmware.compare(other, kind) for kind in ("page", "log-block"))
    assert len(page) == len(log_block) + 1
    assert not any("wear-aware" in row.what for row in log_block)
    assert {row.why for row in page if row.verdict != Verdict.AGREES} == {"of another drive"}
