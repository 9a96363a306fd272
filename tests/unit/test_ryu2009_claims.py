"""Verdicts of the study of 2009 on made-up readings: each row holds on one drive, not on others."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ssdscope.findings import Absent, Detected, Finding
from ssdscope.probes.literal import placement
from ssdscope.probes.literal.placement import Fit, Placement
from ssdscope.probes.literal.shift_write import Answer, Sweep
from ssdscope.recovery.truth import Truth
from ssdscope.studies import Verdict
from ssdscope.studies.record import Reading
from ssdscope.studies.ryu2009 import (
    ageing,
    detecting,
    equations,
    firmware,
    iozone,
    placing,
    shift_write,
)
from ssdscope.studies.ryu2009.bench import PAPER, A, B

NAN = float("nan")
KIB = 1024

VALUES: dict[str, tuple[float | list[float], dict[str, float]]] = {
    "slower": (43, {"high": 95}),
    "reads stay": ([0, 1], {"low": -6, "high": 8}),
    "reads fall": ([31, 32], {"low": 4}),
    "log": (12, {"low": 1}),
    "tidied log": (0, {"low": -10, "high": 30}),
    "patterns of writes": (4.6, {"low": 1.2}),
    "channels": (0, {"high": 0.75}),
    "drives": ([77, 11], {"low": -1}),
    "sweep": (0.001, {"high": 0.6}),  # the chance of such an order
    "small writes": (0.001, {"high": 0.6}),
    "easier": (0.001, {"high": 0.6}),
    "buffer": (32, {"low": 0, "high": 64}),
    "chips": (8, {"low": 4, "high": 16}),
    "block": ([16, 16, 16], {"low": 8, "high": 32}),
    "two blocks": ([2.1, 3], {"low": 1.5}),
    "whole blocks": (0, {"high": 1}),
    "out of place": (4, {"low": 0}),
    "a new block": (16, {"low": 4, "high": 32}),
    "printed": (1, {"low": 0.5}),
    "half of the chunks": (0, {"high": 1}),
    "period of A": (16, {"low": 8, "high": 32}),
    "period of B": (1024, {"low": 512, "high": 2048}),
    "period of C": (4, {"low": 2, "high": 8}),
    "where": (1, {"low": 0.9}),
    "no gap": (0.1, {"low": -8, "high": 8}),
    "gap of C": (14, {"low": 12, "high": 18}),
    "writes of any order": ([1, 1.02], {"low": 0.8, "high": 1.2}),
    "reads suffer": (26, {"low": 1}),
    "random writes by address": (1.4, {"low": 1}),
    "reads by address": (26, {"low": 0}),
    "T1 and T2 tell the rule": (24, {"low": 0}),
    "a line says k = 1": (1, {"low": 0, "high": 2}),
    "channels of a block": (1, {"low": 0, "high": 4}),
    "larger k": (300, {"low": 0}),
    "placement matters": (5, {"low": 1}),
    "overhead": (20, {"low": 0.4}),
    "overhead of (a)": (0.5, {"high": 1}),
    "(a) is faster": (0.9, {"high": 1}),
    "overhead hides in writes": (20, {"low": 0.5}),
    "close to a line": (3, {"high": 23}),
    "to A": (1.2, {"low": 1, "high": 1.4}),
    "pages are why": ([0.9, 1], {"high": 1.2}),
    "small pages as small k": ([-30, -40], {"high": 0}),
    "straight": (4.7, {"high": 12.3}),
    "slope": (12.5, {"low": 10, "high": 14}),
    "disk": (9, {"low": 1}),
    "regions": (0, {"low": -20, "high": 8}),
    "faster than the disk": (8, {"low": 0.9}),
    "firmware decides": (30, {"low": 1.1}),
    "firmware of a disk": (1.1, {"high": 5}),
    "channels in parallel": (1.9, {"low": 1}),
    "small map": (1.4, {"low": 1}),
    "out-of-place updates": (50, {"high": 99}),
    "cell": (19045, {"low": 17000, "high": 21000}),
}
"""Of rows with a rule: what they agree with, and a value beyond each side."""


def holds(name: str, reading: Reading) -> bool:
    row = PAPER.rows[name]
    row = replace(row, paper=next(iter(row.paper.values()))) if isinstance(row.paper, dict) else row
    return row.judge("", reading).verdict == Verdict.AGREES


@pytest.mark.parametrize("name", VALUES)
def test_a_row_agrees_with_one_value_and_not_beyond_its_sides(name: str) -> None:
    agreeing, beyond = VALUES[name]
    assert holds(name, Reading("", agreeing))
    for value in (*beyond.values(), NAN):
        assert not holds(name, Reading("", value))
        assert (
            not holds(name, Reading("", [agreeing[0], value]))
            if isinstance(agreeing, list)
            else True
        )


def answer(size_bytes: int | None) -> Answer:
    return Answer("slow", (1,), size_bytes)


def points(values: list[float]) -> shift_write.Points:
    sweep = Sweep(4096, 2048, len(values) * 1024, 1)
    return shift_write.Points(A, sweep, np.array(values))


def curve(k: int, page_us: float = 50) -> Any:
    terms = placement.terms(Placement("b", k, 4, 2048), B.pages)
    return 1e3 * (terms @ (page_us, 10.0, 100.0))


def fitted(*units: int, residual: float = 0.01, page_us: float = 100) -> dict[Any, Fit]:
    return {
        ("a", unit): Fit(Placement("b", found, 4, 4096), (1e3 * page_us, 0, 0, 0), residual)
        for unit, found in zip(placing.UNITS, units, strict=True)
    }


def table(b_4_kb: float = 1.0) -> Reading:
    """Return figure 13's text on the paper's own rates, B's reads of 4 KB times so much."""
    cells = [
        iozone.Cell(drive, op, size, rate * (b_4_kb if (drive, op, size) == ("ryu-b", "randread", 4)
                                             else 1), 0, rate)
        for (drive, op), rates in iozone.PUBLISHED_KIB_PER_S.items()
        for size, rate in zip(iozone.SIZES_KIB, rates, strict=True)
    ]  # fmt: skip
    return iozone.readings(cells)["B falls behind"]


def exchanged(line: equations.Line) -> equations.Curve:
    """Return the curve of the other design."""
    return equations.corrected(replace(line, design="b" if line.design == "a" else "a"))


def serial(_line: equations.Line) -> equations.Curve:
    """Return one page after the other, whatever the placement."""
    return np.array(equations.PAGES) * equations.PAGE_US


def text(name: str, made: Callable[[equations.Line], equations.Curve]) -> Reading:
    return equations.of_the_text(made)[name]


class Drive:
    """A bench whose probe and file say what a test wants."""

    target = None

    def __init__(self, found: Finding, truth: str | int) -> None:
        self._found, self._truth = found, truth

    @property
    def probed(self) -> "Drive":
        return self

    def sets(self, _drive: str, sets: tuple[str, ...] = ()) -> tuple[str, ...]:
        return sets

    def finding(self, *_: Any) -> Finding:
        return self._found

    def truth(self, *_: Any) -> Truth:
        return Truth(self._truth)


def asked(row: str, literal: Any, probe: Any, truth: Any) -> Reading:
    name, _, label = row.partition(" of ")
    finding = detected(name, probe)
    subject = next(each for each in (A, B) if each.label == label)
    bench: Any = Drive(finding, truth)
    return placing.answered(bench, subject, name, "", literal)[row]


def detected(name: str, value: Any) -> Finding:
    if value is None:
        return Absent(name=name, probe="", bound=0.1, reason="")
    return Detected(name=name, probe="", value=value, interval=None, effect=1.0)


SIZES = {"a": [1.0, 2, 2, 2, 2, 2, 2, 2] * 6, "b": [2.0, 1, 1, 1, 1, 1, 1, 1] * 6}
FREE = equations.of(lambda line: equations.corrected(line, sync_us=equations.NO_SYNC))
YES_OR_NO: dict[str, tuple[Reading, list[Reading]]] = {
    "repaired": (detecting.repaired_reading(A, answer(16 * KIB)),
                 [detecting.repaired_reading(A, answer(size)) for size in (2048, 32768, None)]),
    "chunks": (detecting.many_needed(A, {1: answer(None), 64: answer(16 * KIB)}),
               [detecting.many_needed(A, {1: answer(16 * KIB), 64: answer(16 * KIB)}),
                detecting.many_needed(A, {1: answer(None), 64: answer(8 * KIB)})]),
    "shape": (shift_write.shape(points(SIZES["b"]))[1],
              [shift_write.shape(points(each))[1] for each in (SIZES["a"], [1.0] * 48)]),
    "figure 9's example": (firmware.laid({"order": [3] * 4, "address": [1, 0, 5, 5]}),
                           [firmware.laid({"order": [3, 3, 3, 1], "address": [1, 0, 5, 5]}),
                            firmware.laid({"order": [3] * 4, "address": [1, 0, 5, 4]}),
                            firmware.laid({"order": [3] * 4, "address": [3] * 4})]),
    "fit": (placing.fit(B, curve(1), "corrected"),
            [placing.fit(B, curve(4), "corrected"), placing.fit(B, curve(1)[::-1], "corrected")]),
    "equations": (placing.right(fitted(1, 2, 4, 8), "a"),
                  [placing.right(fitted(1, 2, 4, 4), "a"),
                   placing.right(fitted(1, 2, 4, 8, residual=0.2), "a"),
                   placing.right(fitted(1, 2, 4, 8, page_us=80), "a")]),
    "stairs": (text("stairs", equations.corrected), [text("stairs", serial)]),
    "one channel": (text("one channel", equations.corrected),
                    [text("one channel", exchanged), text("one channel", serial)]),
    "small units": (text("small units: (a)", equations.corrected),
                    [text("small units: (a)", serial)]),
    "faster at the same overhead": (text("one channel", equations.corrected),
                                    [text("one channel", serial)]),
    "overhead is why": (equations.why(equations.of(equations.corrected), FREE),
                        [equations.why(FREE, FREE),
                         equations.why(*[equations.of(equations.corrected)] * 2)]),
    "as printed": (equations.as_printed(equations.corrected),
                   [equations.as_printed(equations.printed), equations.as_printed(serial)]),
    "B falls behind": (table(), [table(0.8)]),
    "allocation of A": (asked("allocation of A", "address", "address", "address"),
                        [asked("allocation of A", "address", None, "address"),
                         asked("allocation of A", "order", "order", "order")]),
    "placement of B": (asked("placement of B", "multi-channel", "multi-channel", "multi-channel"),
                       [asked("placement of B", "multi-channel", None, "multi-channel"),
                        asked("placement of B", None, "multi-channel", "multi-channel")]),
    "placement_pages of B": (asked("placement_pages of B", 1, 1, 1),
                             [asked("placement_pages of B", 1, None, 1),
                              asked("placement_pages of B", 2, 2, 2)]),
}  # fmt: skip
"""Of rows without a rule: a reading that holds, and others that do not."""
ALIKE = {"allocation of B": "allocation of A", "allocation of C": "allocation of A"}
OTHERS_OWN = {"another's design", "another's gap", "another's cell"}
"""Of drives that are not the paper's; tests of targets turn them."""


@pytest.mark.parametrize("name", YES_OR_NO)
def test_a_row_without_a_rule_holds_on_one_drive_and_not_on_others(name: str) -> None:
    right, wrong = YES_OR_NO[name]
    assert holds(name, right)
    assert not any(holds(name, each) for each in wrong)


def test_every_row_is_turned_on_each_side_that_its_rule_bounds() -> None:
    turned = {(name, side) for name, (_, beyond) in VALUES.items() for side in beyond}
    turned |= {(name, "no") for name in (*YES_OR_NO, *ALIKE, *OTHERS_OWN)}
    rows = PAPER.rows.values()
    bounds = {(row.name, side) for row in rows for side in (row.rule.sides if row.rule else ["no"])}
    assert turned == bounds


def life(name: str, kept: Mapping[str, float]) -> ageing.Life:
    keys = [(pattern, 4) for pattern in ageing.PATTERNS]
    aged = {key: 1e6 * kept.get(key[0], 1.0) for key in keys}
    return ageing.Life(name, dict.fromkeys(keys, 1e6), aged, {"gc": 1.0, "map": 1.0})


def test_what_is_left_is_read_off_as_a_whole_and_by_pattern() -> None:
    aged = life("A", {"write": 0.5, "randread": 0.8})
    assert ageing.slower(aged).value == pytest.approx(100 * 0.4**0.25)
    assert ageing.reads_lose(aged).value == pytest.approx([0, 20])
    assert ageing.log_is_why(
        life("C", {"read": 0.7, "randread": 0.8}), aged
    ).value == pytest.approx(0)
    kept = {"A": 0.8, "B": 0.9, "C": 0.5}
    lives = [life(name, {"randwrite": share}) for name, share in kept.items()]
    assert ageing.by_block(lives).value == pytest.approx([5, 15])


@pytest.mark.parametrize(
    ("ten", "four", "share"),
    [(3e6, 1e6, 0), (1e6, 3e6, 1), (1e6, 1e6, 1), (3e6, 3e6, 1)],
)
def test_channels_are_the_cause_only_if_c_then_leads_no_more(
    ten: float, four: float, share: float
) -> None:
    drives = (1e6, 3e6, ten, four)
    found = ageing.due_to_channels(*(dict.fromkeys(life("", {}).new, each) for each in drives))
    assert found.value == share
    alike = ageing.due_to_channels(*[life("", {}).new] * 4)
    assert np.isnan(alike.asked).all()


def test_a_period_is_the_shortest_that_explains_the_points() -> None:
    assert points([2.0, 1, 1, 1, 1, 1, 1, 1] * 6).period_bytes == 16384
    assert points([2.0, 1, 1] * 16).period_bytes == 6144
    assert points([1.0] * 48).period_bytes is None
    assert points([1.001, 1, 1, 1, 1, 1, 1, 1] * 6).period_bytes is None
    noise = np.random.default_rng(1).lognormal(0, 1, 56)
    assert points(list(noise)).period_bytes is None


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
    design: equations.Design, unit: int, pages: int, expected_us: float
) -> None:
    assert equations.corrected(equations.Line(design, unit), (pages,))[0] == expected_us


def test_another_drive_s_cell_is_held_against_all_three() -> None:
    three = [iozone.PUBLISHED_KIB_PER_S[drive, "randwrite"][0] for drive in iozone.DRIVES]
    for kib_per_s, among in (
        (1_000, True),
        (0.95 * min(three), True),
        (0.85 * min(three), False),
        (1.15 * max(three), False),
    ):
        cell = iozone.Cell("sim:any", "randwrite", 4, kib_per_s, 0.0, None)
        assert iozone.another_s_cell(cell)[1].value is among
    moving = iozone.Cell("ryu-a", "randwrite", 4, 1699, 0.0, 1699, sustained=False)
    assert not holds("cell", iozone.cell(moving))
