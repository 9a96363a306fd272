"""Courses of bursts: levels, bends, dips, what is back, and what is in memory."""

from __future__ import annotations

import csv
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ssdscope.inference.bursts import back, course, falls, named
from ssdscope.inference.series import Series
from ssdscope.probes.buffer.in_memory import in_memory
from ssdscope.seeds import stream

REAL = Path(__file__).parents[3] / "shared" / "real" / "write-rate-500ms.csv"


def burst(*levels: tuple[int, float], runs: int = 4, noise: float = 0.05) -> Series:
    """Make bursts of so many rows at each rate, in bytes per ns; a row is one byte."""
    rng = stream(5, "test.bursts")
    times = np.concatenate([np.full(count, 1 / rate) for count, rate in levels])
    noisy = np.exp(noise * np.abs(rng.normal(size=(runs, times.size)))) * times
    places = np.tile(np.arange(1, times.size + 1), runs)
    return Series.of(places, noisy.ravel(), stratum=np.repeat(range(runs), times.size))


def test_three_levels_have_two_bends() -> None:
    found = course(burst((60, 4.0), (80, 1.5), (100, 0.5)))
    assert [each.at for each in found.bends] == [60, 140]
    assert [each.rate for each in found.levels] == pytest.approx([4.0, 1.5, 0.5], rel=0.1)
    assert all(low <= at <= high for at, (low, high) in ((b.at, b.interval) for b in found.bends))


def test_what_comes_back_while_writes_go_on_is_a_dip() -> None:
    taken = burst((80, 2.0), (40, 0.5), (80, 2.0))
    assert [bend.ratio < 1 for bend in course(taken).bends] == [True, False]
    assert falls(taken).estimate is None


def test_a_slow_start_is_no_fall() -> None:
    taken = burst((64, 0.5), (128, 2.0))
    (bend,) = course(taken).bends
    assert bend.ratio == pytest.approx(4.0, rel=0.1)
    assert falls(taken).estimate is None


def test_a_drift_has_no_bend() -> None:
    rows = np.arange(1, 257)
    assert course(Series.of(rows, np.linspace(1.0, 1.5, rows.size))).bends == ()


def test_bends_of_other_ratios_than_a_host_notices_are_not_named() -> None:
    assert course(burst((100, 1.0), (100, 0.95), noise=0.01)).bends == ()


def test_what_is_back_behind_which_rest_names_a_level() -> None:
    found = falls(burst((100, 4.0), (100, 1.0)))
    here = back(burst((100, 4.0), (20, 1.0)), found)
    gone = back(burst((120, 1.0)), found)
    assert here.estimate == pytest.approx(1.0)
    assert named(here) == "buffer"
    assert named(gone, here) == "region of one bit"
    assert named(gone, gone) == "spare space"
    assert named(gone) == "cannot be told"


@pytest.mark.parametrize("leaves", [False, True])
def test_reads_tell_what_is_in_memory(leaves: bool) -> None:
    rng = stream(6, "test.bursts")
    ages = np.concatenate([rng.uniform(10, 50, 16), rng.permutation(np.arange(50, 170, 2))])
    ages = np.concatenate([ages, rng.uniform(170, 200, 16)])
    since = rng.uniform(0, 20, ages.size)
    there = ages + (1.0 if leaves else 0.0) * since < 100
    took = np.where(there, 10.0, 60.0)
    found = in_memory(Series.of(ages, took, time_ns=since), 1.0, 50, 170)
    assert found.interval is not None
    assert found.interval[0] <= 100 <= found.interval[1]
    assert found.estimate == pytest.approx(100, rel=0.05)


def test_nothing_is_in_memory_that_reads_like_flash() -> None:
    ages = np.linspace(10, 200, 96)
    assert in_memory(Series.of(ages, np.full(96, 60.0)), 1.0, 50, 170).estimate is None


def real() -> dict[str, Series]:
    """Read the courses of real drives: bytes and time of half a second each."""
    if not REAL.exists():
        pytest.skip(f"{REAL.name} is not here: courses of real drives are not tried")
    rates = defaultdict[str, list[float]](list)
    with REAL.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            name = f"{row['series']} {row['iodepth_per_job']}"
            rates[name].append(float(row["writes_completed_per_s"]))
    written = {name: np.cumsum(each) * 0.5 * 4096 for name, each in rates.items()}
    return {name: Series.of(each, np.full(each.size, 5e8)) for name, each in written.items()}


def test_real_drives_that_are_even_or_stall_have_no_level_that_ends() -> None:
    for name, taken in real().items():
        assert falls(taken).estimate is None, name


def test_a_real_drive_has_three_levels() -> None:
    """What a drive does is drawn from rows of a real one, at the rates of a reviewed one."""
    even = real()["sata-pm883-even 8"]
    noise = np.diff(even.x)[10:] / np.median(np.diff(even.x)[10:])
    times = np.concatenate([noise / rate for rate in (4.0, 1.5, 0.5)])
    found = course(Series.of(np.arange(1, times.size + 1), times))
    assert [each.rate for each in found.levels] == pytest.approx([4.0, 1.5, 0.5], rel=0.05)
    assert all(before.end == behind.begin for before, behind in pairwise(found.levels))
