"""uFLIP's advice on made-up drives: one of 2008 follows all of it, one of today hardly any."""

from collections.abc import Callable, Mapping

import pytest

from ssdscope.studies import Verdict
from ssdscope.studies.judging import claim, of_another_drive
from ssdscope.studies.uflip import explaining, hints
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


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_drive_of_that_time_follows_the_advice(name: str) -> None:
    rows = list(hints.HINTS[name](drawn(name, OLD_DRIVE[name]), OLD))
    assert rows
    assert [row.what for row in rows if row.verdict != Verdict.AGREES] == []


@pytest.mark.parametrize("name", BENCHMARKS)
def test_another_drive_need_not(name: str) -> None:
    rows = list(hints.HINTS[name](drawn(name, NEW_DRIVE[name]), NEW))
    kept = {row.what for row in rows if row.verdict == Verdict.AGREES}
    # A pause of 100 us is more than any of these takes, so that nothing is saved by it.
    slow = {row.what for row in rows if "save no time" in row.what or "a byte is dear" in row.what}
    assert kept == slow
    assert {of_another_drive(row).why for row in rows if row.what not in kept} == (
        {"of another drive"} if rows[len(slow) :] else set()
    )


def test_time_that_pauses_do_save_is_seen() -> None:
    helped = drawn("pause", lambda name, pause: 1e6 if pause and name == "RW" else OLD[name])
    saved = list(hints.of_pause(helped, OLD))[-1]
    assert (saved.verdict, saved.ours.startswith("SR ")) == (Verdict.DIFFERS, True)
    bursts = drawn("bursts", lambda _name, _burst: 1e6)
    rows = list(hints.of_bursts(bursts, dict.fromkeys(OLD, 1e9)))
    assert rows[0].verdict == Verdict.DIFFERS


def test_small_requests_that_cost_no_more_a_byte_are_seen() -> None:
    rows = list(hints.of_granularity(drawn("granularity", lambda _name, size: size), OLD))
    assert [row.verdict for row in rows] == [Verdict.DIFFERS, Verdict.AGREES]


def test_where_nothing_is_written_reads_are_asked() -> None:
    reads = {"SR", "RR", "SR/RR"}
    asked = {}
    for name in BENCHMARKS:
        points = drawn(name, OLD_DRIVE[name])
        some = {series: line for series, line in points.items() if series in reads}
        asked[name] = len(list(hints.HINTS[name](some, OLD)))
    assert asked == {
        "granularity": 2, "alignment": 1, "locality": 0, "partitioning": 0, "order": 0,
        "parallelism": 1, "mix": 1, "pause": 1, "bursts": 1,
    }  # fmt: skip


@pytest.mark.parametrize("name", BENCHMARKS)
def test_without_points_nothing_is_said(name: str) -> None:
    assert list(hints.HINTS[name]({}, OLD)) == []


def test_reads_that_start_up_are_seen() -> None:
    level = Phases(0, 1, None, 1.0)
    (row,) = hints.of_phases({"SR": level, "RR": level, "RW": Phases(64, 1, 1.0, 9.0)})
    assert row.verdict == Verdict.AGREES
    (row,) = hints.of_phases({"SR": level, "RR": Phases(64, 1, 1.0, 9.0)})
    assert row.verdict == Verdict.DIFFERS


DIFFERS = claim("a row", "yes", "no", "", holds=False)


def test_merges_explain_shifts_only_where_other_writes_feel_them() -> None:
    felt = drawn("alignment", lambda name, shift: OLD[name] * (2.4 if shift == 512 else 1))
    row = explaining.merges_hide_shifts(DIFFERS, felt)
    assert row.verdict == Verdict.EXPLAINED
    assert row.tried.endswith("shifted by 512 bytes: 2.4 times")
    unfelt = drawn("alignment", lambda name, _shift: OLD[name])
    assert explaining.merges_hide_shifts(DIFFERS, unfelt) == DIFFERS
    assert explaining.merges_hide_shifts(DIFFERS, {}) == DIFFERS


def test_full_merges_explain_small_areas_only_where_whole_blocks_cost_no_more() -> None:
    def whole(times: float) -> Points:
        area = float(hints.FOCUSED_BYTES)
        return {"SW": {area: point(1e6)}, "RW": {area: point(times * 1e6)}}

    row = explaining.merges_are_full(DIFFERS, whole(1.04))
    assert row.verdict == Verdict.EXPLAINED
    assert row.tried.endswith("1.04 times")
    assert explaining.merges_are_full(DIFFERS, whole(1.5)) == DIFFERS
    assert explaining.merges_are_full(DIFFERS, {}) == DIFFERS


def test_log_blocks_explain_partitions_only_where_fewer_make_them_dear() -> None:
    dear = drawn("partitioning", OLD_DRIVE["partitioning"])
    row = explaining.log_blocks_are_many(DIFFERS, dear)
    assert row.verdict == Verdict.EXPLAINED
    assert row.tried == "the same with 35 log blocks: 10 times"
    cheap = drawn("partitioning", lambda name, _count: OLD[name])
    assert explaining.log_blocks_are_many(DIFFERS, cheap) == DIFFERS
    assert explaining.log_blocks_are_many(DIFFERS, {}) == DIFFERS
