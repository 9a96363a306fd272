"""uFLIP's advice on made-up drives: one of 2008 follows all of it, one of today hardly any."""

from collections.abc import Callable, Mapping

import pytest

from ssdscope.studies import Claim, Verdict
from ssdscope.studies.judging import of_another_drive
from ssdscope.studies.paper import load
from ssdscope.studies.uflip import hints
from ssdscope.studies.uflip.bench import Point, Points
from ssdscope.studies.uflip.benchmarks import BENCHMARKS, series_patterns
from ssdscope.studies.uflip.phases import Phases

US = 1e3
OLD = {"SR": 400 * US, "RR": 500 * US, "SW": 500 * US, "RW": 10_000 * US}
NEW = {"SR": 50 * US, "RR": 90 * US, "SW": 60 * US, "RW": 65 * US}
Formula = Callable[[str, float], float]


def drawn(name: str, formula: Formula) -> Points:
    """Measure a drive that is a formula, within 1 %."""
    return {
        series: {value: point(formula(series, value)) for value in values}
        for series, values in BENCHMARKS[name].values.items()
    }


def point(mean_ns: float) -> Point:
    return Point(mean_ns, 0.99 * mean_ns, 1.01 * mean_ns, 512)


def parts(series: str, ratio: float, running: Mapping[str, float]) -> float:
    first, second = (running[each] for each in series_patterns(series))
    return (ratio * first + second) / (ratio + 1)


OLD_DRIVE: dict[str, Formula] = {
    "granularity": lambda name, size: OLD[name] * (0.3 + 0.7 * size / 32768),
    "alignment": lambda name, shift: OLD[name] * (1.8 if name == "RW" and shift % 16384 else 1),
    "locality": lambda name, area: 700 * US if name == "RW" and area <= 2**24 else OLD[name],
    "partitioning": lambda name, count: OLD[name] * (1 if count <= 8 else 10),
    "order": lambda name, step: OLD[name] * (1 if name == "SR" or step == 1 else 5),
    "parallelism": lambda name, degree: OLD[name] * degree,
    "mix": lambda series, ratio: 1.1 * parts(series, ratio, OLD),
    "pause": lambda name, pause: 600 * US if name == "RW" and pause > 1e7 else OLD[name],
    "bursts": lambda name, burst: 0.85 * OLD[name] if name == "RW" and burst < 50 else OLD[name],
}
NEW_DRIVE: dict[str, Formula] = {
    "granularity": lambda name, size: NEW[name] * max(size / 32768, 0.01) ** 0.6,
    "alignment": lambda name, _shift: NEW[name],
    "locality": lambda name, area: NEW[name] * (3 if name == "RW" and area <= 2**24 else 1),
    "partitioning": lambda name, count: NEW[name] * (2 if count == 4 else 1),
    "order": lambda name, _step: NEW[name],
    "parallelism": lambda name, _degree: NEW[name],
    "mix": lambda series, ratio: 2 * parts(series, ratio, NEW),
    "pause": lambda name, pause: 2 * NEW["RW"] if name == "RW" and pause > 1e7 else NEW[name],
    "bursts": lambda name, burst: NEW[name] * (2 if burst < 50 else 1),
}


PAPER = load("uflip")


def asked(name: str, formula: Formula, running: Mapping[str, float]) -> list[Claim]:
    return PAPER.claims(hints.HINTS[name](drawn(name, formula), running))


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_drive_of_that_time_follows_the_advice(name: str) -> None:
    rows = asked(name, OLD_DRIVE[name], OLD)
    assert rows
    assert [row.what for row in rows if row.verdict != Verdict.AGREES] == []


@pytest.mark.parametrize("name", BENCHMARKS)
def test_another_drive_need_not(name: str) -> None:
    rows = asked(name, NEW_DRIVE[name], NEW)
    kept = {row.what for row in rows if row.verdict == Verdict.AGREES}
    # A pause of 100 us is more than any of these takes, so that nothing is saved by it.
    slow = {row.what for row in rows if "save no time" in row.what or "a byte is dear" in row.what}
    assert kept == slow
    assert {of_another_drive(row).why for row in rows if row.what not in kept} == (
        {"of another drive"} if rows[len(slow) :] else set()
    )


def test_time_that_pauses_do_save_is_seen() -> None:
    helped = drawn("pause", lambda name, pause: 1e6 if pause and name == "RW" else OLD[name])
    (saved,) = PAPER.claims({"pauses save": hints.of_pause(helped, OLD)["pauses save"]})
    assert (saved.verdict, str(saved.ours).startswith("SR ")) == (Verdict.DIFFERS, True)
    rows = asked("bursts", lambda _name, _burst: 1e6, dict.fromkeys(OLD, 1e9))
    assert rows[0].verdict == Verdict.DIFFERS


def test_small_requests_that_cost_no_more_a_byte_are_seen() -> None:
    rows = asked("granularity", lambda _name, size: size, OLD)
    assert [row.verdict for row in rows] == [Verdict.DIFFERS, Verdict.AGREES]


def test_where_nothing_is_written_reads_are_asked() -> None:
    reads = {"SR", "RR", "SR/RR"}
    asked = {}
    for name in BENCHMARKS:
        points = drawn(name, OLD_DRIVE[name])
        some = {series: line for series, line in points.items() if series in reads}
        asked[name] = len(hints.HINTS[name](some, OLD))
    assert asked == {
        "granularity": 2, "alignment": 1, "locality": 0, "partitioning": 0, "order": 0,
        "parallelism": 1, "mix": 1, "pause": 1, "bursts": 1,
    }  # fmt: skip


@pytest.mark.parametrize("name", BENCHMARKS)
def test_without_points_nothing_is_said(name: str) -> None:
    assert hints.HINTS[name]({}, OLD) == {}


def test_reads_that_start_up_are_seen() -> None:
    level = Phases(0, 1, None, 1.0)
    (row,) = PAPER.claims(
        hints.of_phases({"SR": level, "RR": level, "RW": Phases(64, 1, 1.0, 9.0)})
    )
    assert row.verdict == Verdict.AGREES
    (row,) = PAPER.claims(hints.of_phases({"SR": level, "RR": Phases(64, 1, 1.0, 9.0)}))
    assert row.verdict == Verdict.DIFFERS


def test_every_row_is_turned() -> None:
    """All but what pauses save, which has tests of its own above."""
    turned = {
        row.name.partition(": ")[0]
        for name in BENCHMARKS
        for row in asked(name, NEW_DRIVE[name], NEW)
        if row.verdict == Verdict.DIFFERS
    }
    of_their_own = {"reads start", "pauses save", "bursts save", "small requests"}
    assert turned | of_their_own == PAPER.rows.keys()
