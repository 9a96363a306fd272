"""The probe `amplification`: what drives program for a byte, against their own counters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integration.collecting_drives import NOISE, bench_with, page_mapped, told

from ssdscope.probes import Ambiguous, Detected, Finding, Reason, Undetectable, amplification
from ssdscope.probes.collection_fit import CourseFit, Times

PAGE = 4096
ROUND = 2 * 48 * PAGE
"""A block on both planes."""


def found_on(bench: Any) -> Finding:
    return told("amplification", bench)[amplification.AMPLIFICATION]


def bench_of(tmp_path: Path, toml: str, spare: float | None = None, **more: Any) -> Any:
    known: dict[str, Any] = {"rmw_unit_bytes": PAGE, "pslc_bytes": None, "map_cache_bytes": None}
    known["gc_period_bytes"] = ROUND
    known |= {} if spare is None else {"over_provisioning_ratio": spare}
    return bench_with(tmp_path, toml, **(known | more))


def counted(bench: Any) -> float:
    """Bytes programmed for a byte written by settled overwrites, by the drive's own counters."""
    names = ("flash_bytes_programmed", "host_bytes_written")
    device = bench._device
    units = bench.info.capacity_bytes // PAGE
    rng = np.random.default_rng(7)
    with bench.allowance(4 * bench.info.capacity_bytes):
        for _ in range(2):
            before = [device.counters()[name] for name in names]
            bench.write(rng.integers(0, units, int(1.5 * units)) * PAGE, PAGE, iodepth=8)
    after = [device.counters()[name] for name in names]
    return float((after[0] - before[0]) / (after[1] - before[1]))


@pytest.mark.always(4)
@pytest.mark.parametrize("noise", ["", NOISE])
@pytest.mark.parametrize("policy", ["greedy", "fifo", "cost-benefit", "random"])
@pytest.mark.parametrize("allocation", ["address", "order"])
def test_the_amplification_is_that_of_the_flash(
    tmp_path: Path, policy: str, allocation: str, noise: str
) -> None:
    """Whichever block a drive collects."""
    toml = page_mapped(policy=policy, allocation=allocation, blocks=160)
    bench = bench_of(tmp_path, toml + noise)
    found = found_on(bench)
    assert isinstance(found, Detected)
    assert found.value == pytest.approx(counted(bench), rel=0.1)


def test_whether_victims_are_drawn_blindly_is_seen(tmp_path: Path) -> None:
    """The same course of times is that of another amplification then."""
    shares = {}
    for policy in ("greedy", "random"):
        found = found_on(bench_of(tmp_path, page_mapped(policy=policy, blocks=160)))
        assert isinstance(found, Detected)
        shares[policy] = found.evidence.figures["drawn_share"]
    assert shares["greedy"] < amplification.CHOOSES
    assert shares["random"] > amplification.DRAWS


def fit_of(amplification: float, *, within: float, **fitted: float) -> CourseFit:
    at = np.arange(20.0) / 10
    pieces = Times(np.stack([at, at + 0.1], axis=1), np.full(20, fitted["plain"]))
    low, high = amplification - within, amplification + within
    return CourseFit(
        amplification=amplification, of_any_size=amplification, low=low, high=high,
        misfit=0.1, pieces=pieces, fitted=pieces.times, **fitted,
    )  # fmt: skip


def test_blind_draws_are_told_only_where_programs_take_most_of_the_time(tmp_path: Path) -> None:
    """Overwrites in order may be spared the rest, and what erases add to them looks like more."""
    fit = fit_of(3.6, within=0.2, spare=0.4, pages=192, plain=1e6, cost=2e6)
    bench = bench_of(tmp_path, page_mapped())
    assert isinstance(amplification._judge(bench, fit, [fit.pieces], 0.3), Detected)
    hidden = amplification._judge(bench, replace(fit, cost=6e4), [fit.pieces], 0.3)
    assert isinstance(hidden, Undetectable)
    assert "draws its victims" in (hidden.evidence.detail or "")


def test_what_is_not_known_to_a_tenth_is_not_told(tmp_path: Path) -> None:
    """Of blocks of 16 pages courses of 5.2 and 6.7 programs fitted as well, and 5.3 was true."""
    bench = bench_of(tmp_path, page_mapped())
    for within, kind in ((0.4, Detected), (0.71, Undetectable)):
        fit = fit_of(5.9, within=within, spare=0.07, pages=16, plain=188e3, cost=735e3)
        assert isinstance(amplification._judge(bench, fit, [fit.pieces], 0.0), kind), within


def test_where_other_work_may_hide_collection_the_spare_space_must_be_known(tmp_path: Path) -> None:
    """Zones of the table are loaded for most of each write, and collection goes on beside that."""
    fit = fit_of(2.2, within=0.04, spare=0.33, pages=300, plain=491e3, cost=106e3)
    unknown = bench_of(tmp_path, page_mapped())
    assert isinstance(amplification._judge(unknown, fit, [fit.pieces], 0.0), Undetectable)
    costly = replace(fit, cost=491e3)
    assert isinstance(amplification._judge(unknown, costly, [fit.pieces], 0.0), Detected)
    known = bench_of(tmp_path, page_mapped(), spare=0.33)
    assert isinstance(amplification._judge(known, fit, [fit.pieces], 0.0), Detected)


def test_a_course_that_rises_once_more_is_of_collection_beside_other_work(tmp_path: Path) -> None:
    """Of 2.6 programs 1.9 were told: for a while collection cost a third of what it came to."""
    fit = fit_of(1.84, within=0.09, spare=0.227, pages=4, plain=242e3, cost=76e3)
    bench = bench_of(tmp_path, page_mapped(), spare=0.22)
    at = np.arange(0, 0.6, 0.005)
    for first_ns, kind in ((310e3, Detected), (266e3, Undetectable)):
        times = np.where(at < 0.227, 242e3, np.where(at < 0.262, first_ns, 305e3))
        course = Times(np.stack([at, at + 0.005], axis=1), times)
        assert isinstance(amplification._judge(bench, fit, [course], 0.0), kind)
    costly = replace(fit, cost=200e3)
    assert isinstance(amplification._judge(bench, costly, [course], 0.0), Detected)


def test_spare_space_that_contradicts_the_course_gives_no_amplification(tmp_path: Path) -> None:
    found = found_on(bench_of(tmp_path, page_mapped(), spare=0.05))
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.EFFECT_BELOW_NOISE


def test_neither_spare_space_nor_reclaim_unit_is_needed(tmp_path: Path) -> None:
    found = found_on(bench := bench_of(tmp_path, page_mapped()))
    assert isinstance(found, Detected)
    assert found.interval is not None
    low, high = found.interval
    assert low < counted(bench) < high


def test_but_something_must_tell_the_size_of_blocks(tmp_path: Path) -> None:
    """Of blocks of eight units courses of 32 and 96 fitted, and of up to 1.4 times as much."""
    bench = bench_with(tmp_path, page_mapped(), rmw_unit_bytes=PAGE, pslc_bytes=None)
    assert isinstance(found_on(bench), Undetectable)
    assert bench.bytes_written == 0


def test_the_rmw_unit_is(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, page_mapped(), pslc_bytes=None)
    assert isinstance(found_on(bench), Undetectable)
    assert bench.bytes_written == 0


def test_merges_that_may_have_been_overlooked_leave_it_open(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, page_mapped())
    bench.known["merge_unit_bytes"] = Undetectable(
        name="merge_unit_bytes", probe="test", reason=Reason.INTERFERENCE
    )
    found = found_on(bench)
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.INTERFERENCE
    assert bench.bytes_written == 0


def test_blocks_of_one_size_or_another_leave_it_open(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, page_mapped())
    bench.known["gc_period_bytes"] = Ambiguous(
        name="gc_period_bytes", probe="test", candidates=(1.0, 3.5), reason="for a test"
    )
    found = found_on(bench)
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.EFFECT_BELOW_NOISE
    assert bench.bytes_written == 0


@pytest.mark.parametrize("reason", [Reason.MODEL_MISFIT, Reason.MASKED])
def test_it_must_be_clear_how_much_is_collected_as_one(tmp_path: Path, reason: Reason) -> None:
    bench = bench_of(tmp_path, page_mapped())
    bench.known["gc_period_bytes"] = Undetectable(
        name="gc_period_bytes", probe="test", reason=reason
    )
    assert isinstance(found_on(bench), Undetectable)


def test_merges_and_folding_hide_it(tmp_path: Path) -> None:
    for name in ("merge_unit_bytes", "pslc_bytes"):
        bench = bench_of(tmp_path, page_mapped(), **{name: 1 << 20})
        found = found_on(bench)
        assert isinstance(found, Undetectable)
        assert found.reason is Reason.MASKED
        assert bench.bytes_written == 0


def test_blocks_hold_no_more_than_what_is_collected_as_one(tmp_path: Path) -> None:
    """A finding that the course of times contradicts leaves no answer."""
    block = 48 * PAGE
    told_of = found_on(bench_of(tmp_path, page_mapped(), gc_period_bytes=2 * block))
    assert isinstance(told_of, Detected)
    assert told_of.evidence.figures["pages_in_block"] <= 96
    too_small = found_on(bench_of(tmp_path, page_mapped(), gc_period_bytes=4 * PAGE))
    assert isinstance(too_small, Undetectable)


def test_what_a_buffer_holds_that_stays_on_has_used_up_nothing(tmp_path: Path) -> None:
    """Else the course would begin later by that, and be one of more spare space."""
    held = 3 << 18
    buffer = f"""
[write_buffer]
bytes = {held}
unit_bytes = 4096
drain = "full"
switchable = false
"""
    toml = page_mapped(spare=0.12, policy="fifo")
    bench = bench_of(tmp_path, toml + buffer, write_buffer_bytes=held)
    found = found_on(bench)
    assert isinstance(found, Detected)
    assert found.value == pytest.approx(counted(bench), rel=0.1)
