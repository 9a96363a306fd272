"""The first sentence of the page: what costs most, and the cause where it is known."""

from typing import Any

import pytest
from tests.unit.report_documents import document, four, kept, point

from ssdscope.findings import Absent, Detected, Findings, Reason, Undetectable
from ssdscope.report import verdict
from ssdscope.report.page import render

NOTHING = Findings()


def detected(name: str, value: float) -> Detected:
    return Detected(name=name, probe="p", value=value, interval=None, effect=1.0)


def test_the_dearest_pattern_comes_first_with_what_was_found_of_its_cause() -> None:
    parts = {"merge": 5.9e7, "nand": 1e5, "host_queue": 9e9}
    told = document(four(6e7, attribution_ns=parts))
    found = Findings([detected("merge_unit_bytes", 4 << 20)])
    said = verdict.verdict(told, found)
    assert said.sentence == (
        "Random writes of 4 KiB take 60 ms each in a burst, 600 times as long as in sequence."
    )
    assert said.more[0] == "To make room for them, the drive rewrites blocks of 4 MiB."
    assert "rewrites whole blocks" in verdict.verdict(told, NOTHING).more[0]


def test_a_real_drive_has_the_cause_that_was_detected_or_none() -> None:
    told = document(four(6e5))
    assert not verdict.verdict(told, NOTHING).more
    found = Findings([detected("rmw_unit_bytes", 16384)])
    assert "reads and rewrites units of 16 KiB" in verdict.verdict(told, found).more[0]


def test_waiting_in_line_is_no_cause() -> None:
    parts = {"host_queue": 9e5, "nand": 1.0, "merge": 0.0}
    said = verdict.verdict(document(four(9e5, attribution_ns=parts)), NOTHING)
    assert not any("drive" in each for each in said.more)


def test_what_lasts_is_compared_with_the_burst_before() -> None:
    points = [*four(), point("randwrite", 4096, 16, 1e5)]
    said = verdict.verdict(document(points, [kept("randwrite", 4096, 16, 2e6)]), NOTHING)
    assert "fall from 655 MB/s to 32.8 MB/s" in said.sentence
    assert said.more[0] == "That is 20 times slower, with 16 in flight."


def test_a_drive_without_dear_places_says_so_and_what_depth_gains() -> None:
    points = [*four(), point("randread", 4096, 32, 2.2e5)]
    said = verdict.verdict(document(points), NOTHING)
    assert said.sentence == (
        "Random requests take at most 1.1 times as long as those in sequence: at 4 KiB, "
        "110 µs for a read and 100 µs for a write in a burst."
    )
    assert "16 times as many as one at a time" in said.more[0]


def test_dear_writes_are_told_even_if_all_places_cost_alike() -> None:
    points = [*four()[:2], point("write", 4096, 1, 2.4e6), point("randwrite", 4096, 1, 2.5e6)]
    said = verdict.verdict(document(points), NOTHING)
    assert said.sentence == (
        "Writes of 4 KiB take 2.5 ms each in a burst, 23 times as long as reads."
    )


def test_what_scatters_is_not_compared() -> None:
    points = [
        point("read", 4096, 1, 3e5, ci95_low_ns=1e5, ci95_high_ns=5e5),
        point("randread", 4096, 1, 9e5, ci95_low_ns=3e5, ci95_high_ns=15e5),
    ]
    assert verdict.verdict(document(points), NOTHING).sentence.startswith("Times scatter too much")


def test_a_busy_machine_is_told_first_where_nothing_is_sure() -> None:
    busy = Undetectable(name="queue_depth_knee", probe="p", reason=Reason.MACHINE_BUSY)
    said = verdict.verdict(document(four()), Findings([busy]))
    assert said.sentence.startswith("The machine was busy")
    dear = verdict.verdict(document(four(6e7)), Findings([busy]))
    assert dear.more[0].startswith("The machine was busy")


def test_depth_gains_nothing_only_where_it_was_looked_for() -> None:
    points = [*four(), point("randread", 4096, 16, 16 * 1.1e5)]
    knee = Absent(name="queue_depth_knee", probe="p", bound=0.0, reason="one at a time")
    assert "gain nothing" not in " ".join(verdict.verdict(document(points), NOTHING).more)
    said = verdict.verdict(document(points), Findings([knee]))
    assert "gain nothing" in " ".join(said.more)


def read_only(told: dict[str, Any]) -> dict[str, Any]:
    told["target"]["info"]["writable"] = False
    return told


def test_a_drive_that_was_only_read_says_so() -> None:
    said = verdict.verdict(read_only(document(four()[:2])), NOTHING)
    assert "nothing is said of its writes" in " ".join(said.more)
    assert "write" not in said.sentence


def test_nothing_measured_is_no_verdict() -> None:
    assert verdict.verdict(document([]), NOTHING).sentence.startswith("Too little")


@pytest.mark.parametrize(
    ("random_ns", "ordered_ns", "moves"),
    [(12e6, 2e5, True), (12e6, 11e6, False), (7e5, 1e5, False)],
)
def test_an_arm_is_told_by_half_a_turn(random_ns: float, ordered_ns: float, moves: bool) -> None:
    points = [point("read", 4096, 1, ordered_ns), point("randread", 4096, 1, random_ns)]
    assert verdict.moving_parts(document(points)) is moves


def test_too_few_reads_for_a_median_tell_no_arm() -> None:
    few = {"p50_ns": None, "p99_ns": None, "ci95_low_ns": None, "ci95_high_ns": None}
    points = [point("read", 4096, 1, 2e5, **few), point("randread", 4096, 1, 12e6, **few)]
    assert not verdict.moving_parts(document(points))
    assert render(document(points))


def test_of_a_simulated_drive_an_arm_is_told_by_where_its_time_goes() -> None:
    flash = {"nand": 12e6, "mechanical": 0.0}
    points = [
        point("read", 4096, 1, 2e5, attribution_ns=flash),
        point("randread", 4096, 1, 12e6, attribution_ns=flash),
    ]
    assert not verdict.moving_parts(document(points))
    points[1]["attribution_ns"] = {"nand": 0.0, "mechanical": 12e6}
    assert verdict.moving_parts(document(points))
