"""Drops of a rate: where they are found, and what they are said to be for."""

from typing import Any

import numpy as np
import pytest

from ssdscope.results.drops import FALL, NO_CAUSE, find_drops
from ssdscope.results.timeline import Timeline

SECOND = 10**9
COLUMNS = ("p50_ns", "p50_windows", "p99_ns", "p99_windows", "max_ns")


def series(counts: Any, mean_ns: Any, causes: dict[str, Any] | None = None) -> dict[str, Any]:
    """The columns of one kind of request of 4 KiB, in windows of a second."""
    counts = [int(each) for each in counts]
    means = [float(each) if count else None for each, count in zip(mean_ns, counts, strict=True)]
    shares = causes or {}
    return {
        "requests": counts,
        "bytes": [4096 * count for count in counts],
        "iops": [float(count) for count in counts],
        "bandwidth_bytes_per_s": [4096.0 * count for count in counts],
        "mean_ns": means,
        **{name: [None] * len(counts) for name in COLUMNS},
        "attribution_ns": {
            cause: [None if mean is None else share * mean
                    for mean, share in zip(means, every, strict=True)]
            for cause, every in shares.items()
        } if causes else None,
    }  # fmt: skip


def timeline(**parts: Any) -> Timeline:
    """A run of windows of a second; what is not given is as on a real drive that says nothing."""
    first = next(each for each in parts.values() if isinstance(each, dict) and "requests" in each)
    count = len(first["requests"])
    empty: dict[str, Any] = {
        "start_ns": 0,
        "interval_ns": SECOND,
        "cut_off": False,
        "begin_ns": [SECOND * place for place in range(count)],
        "duration_ns": [SECOND] * count,
        "failed_requests": [0] * count,
        "upkeep": None,
        "others_bytes": None,
        "machine": None,
    }
    return Timeline(empty | parts)


def closed_loop(counts: Any, depth: int = 8, **causes: Any) -> dict[str, Any]:
    """Requests of a loop that keeps so many in flight: latency is depth over rate."""
    counts = np.asarray(counts)
    means = depth * SECOND / np.maximum(counts, 1)
    return series(counts, means, causes or None)


def told(run: Timeline) -> list[tuple[int, int | None, list[str]]]:
    return [
        (
            drop["begin_ns"] // SECOND,
            None if drop["end_ns"] is None else drop["end_ns"] // SECOND,
            [cause["cause"] for cause in drop["causes"]],
        )
        for drop in find_drops(run)
    ]


def test_a_fall_for_good_is_one_drop_with_its_cause() -> None:
    counts = [1000] * 40 + [300] * 60
    gc = np.where(np.asarray(counts) < 500, 0.7, 0.0)
    run = timeline(write=closed_loop(counts, gc=gc, nand=1 - gc))
    (drop,) = find_drops(run)
    assert (drop["begin_ns"], drop["end_ns"]) == (40 * SECOND, None)
    assert (drop["iops_before"], drop["iops"]) == (1000, 300)
    assert drop["windows"] == list(range(40, 100))
    # 8/1000 s of nand before; 0.7 * 8/300 s of gc and no longer nand after: all of it is gc.
    assert [cause["cause"] for cause in drop["causes"]] == ["gc"]
    assert drop["causes"][0]["share"] == pytest.approx(1.0)
    assert drop["words"] == "waits for garbage collection (100 %)"


def test_causes_share_what_requests_took_longer() -> None:
    counts = [1000] * 20 + [250] * 20
    # 8 ms of nand, then 16 of nand, 12 of merges and 4 of the map: 8 to 12 to 4 ms longer.
    slow = np.asarray(counts) < 500
    run = timeline(
        write=closed_loop(
            counts,
            nand=np.where(slow, 0.5, 1.0),
            merge=np.where(slow, 0.375, 0.0),
            map=np.where(slow, 0.125, 0.0),
        )
    )
    (drop,) = find_drops(run)
    shares = {cause["cause"]: cause["share"] for cause in drop["causes"]}
    assert list(shares) == ["merge", "nand", "map"]
    assert shares == pytest.approx({"merge": 0.5, "nand": 1 / 3, "map": 1 / 6})


def test_a_dip_ends_when_the_rate_is_back() -> None:
    assert told(timeline(read=closed_loop([500] * 10 + [100] * 3 + [480] * 10))) == [(10, 13, [])]


def test_without_anything_known_no_cause_is_named() -> None:
    (drop,) = find_drops(timeline(read=closed_loop([500] * 10 + [100] * 10)))
    assert (drop["causes"], drop["words"]) == ([], NO_CAUSE)


def test_steps_for_different_reasons_are_drops_of_their_own() -> None:
    counts = [3000] * 30 + [1000] * 30 + [300] * 30
    level = np.repeat([0, 1, 2], 30)
    run = timeline(
        write=closed_loop(
            counts,
            nand=np.choose(level, [1.0, 1 / 3, 0.1]),
            buffer=np.choose(level, [0.0, 2 / 3, 0.2]),
            gc=np.choose(level, [0.0, 0.0, 0.7]),
        ),
    )
    assert told(run) == [(30, None, ["buffer"]), (60, None, ["gc"])]


def test_a_slow_decline_for_one_reason_is_one_drop() -> None:
    counts = [2000] * 10 + list(np.geomspace(2000, 100, 60).astype(int)) + [100] * 10
    gc = 1 - np.asarray(counts) / 2000
    (drop,) = find_drops(timeline(write=closed_loop(counts, gc=gc, nand=1 - gc)))
    assert 10 < drop["begin_ns"] // SECOND < 25
    assert drop["iops_before"] == pytest.approx(2000, rel=0.1)
    assert drop["iops"] < 150


def test_a_fall_inside_a_window_is_one_drop() -> None:
    assert told(timeline(read=closed_loop([900] * 10 + [600] + [100] * 10))) == [(10, None, [])]


@pytest.mark.parametrize("seed", range(20))
def test_noise_makes_no_drop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for mean in (2, 20, 1000):
        assert not find_drops(timeline(read=closed_loop(rng.poisson(mean, 120))))
    wide = 1000 * rng.lognormal(0, 0.12, 120)
    assert not find_drops(timeline(read=closed_loop(wide.astype(int))))


@pytest.mark.parametrize("seed", range(5))
def test_a_fall_among_noise_is_seen_in_groups_of_windows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = np.repeat([1000, 550], 60) * rng.lognormal(0, 0.15, 120)
    ((begin, end, _),) = told(timeline(read=closed_loop(counts.astype(int))))
    assert abs(begin - 60) <= 16
    assert end is None


def test_a_rate_that_alternates_drops_again_and_again() -> None:
    drops = find_drops(timeline(read=closed_loop([*[1000] * 7, 500] * 15)))
    assert len(drops) == 15
    assert all((drop["iops_before"], drop["iops"]) == (1000, 500) for drop in drops)


def test_a_fall_below_the_threshold_is_none() -> None:
    kept = round(10_000 * (1 - FALL))
    assert not find_drops(timeline(read=closed_loop([10_000] * 20 + [kept + 100] * 20)))
    assert find_drops(timeline(read=closed_loop([10_000] * 20 + [kept - 100] * 20)))


def test_fewer_requests_in_flight_are_the_workloads_doing() -> None:
    counts = [1000] * 20 + [200] * 20
    (drop,) = find_drops(timeline(read=series(counts, [8e6] * 40, {"nand": [1.0] * 40})))
    assert [each["cause"] for each in drop["causes"]] == ["load"]
    assert drop["causes"][0]["share"] == pytest.approx(1.0)


def test_a_flow_that_ends_is_named_and_not_the_other_one() -> None:
    web, backup = [1000] * 20 + [0] * 20, [10] * 40
    web_columns = series(web, [1e6] * 40, {"nand": [1.0] * 40})
    backup_columns = series(backup, [7e8] * 40, {"die_wait": [1.0] * 40})
    flows = [{"name": "web", "read": web_columns}, {"name": "backup", "write": backup_columns}]
    (drop,) = find_drops(timeline(read=web_columns, write=backup_columns, flows=flows))
    assert [each["cause"] for each in drop["causes"]] == ["load"]
    assert drop["words"] == "fewer requests of web were in flight (100 %)"


def test_a_stall_takes_its_cause_from_what_waited_in_it() -> None:
    counts = [1000] * 20 + [0] * 5 + [1000] * 20
    means = [8e6] * 25 + [2e7] + [8e6] * 19
    gc = [0.0] * 25 + [0.6] + [0.0] * 19
    columns = series(counts, means, {"gc": gc, "nand": [1 - each for each in gc]})
    assert told(timeline(write=columns)) == [(20, 25, ["gc"])]


def test_a_pause_of_the_workload_is_no_stall() -> None:
    counts = [1000] * 20 + [0] * 5 + [1000] * 20
    assert told(timeline(read=series(counts, [8e6] * 45))) == [(20, 25, ["load"])]


def test_a_region_that_fills_up_is_named_first() -> None:
    counts = [1000] * 20 + [400] * 20
    slow = np.asarray(counts) < 500
    upkeep = {name: [0] * 40 for name in ("gc_pages_moved", "pslc_pages_folded")}
    upkeep |= {"pslc_parts_full": [0] * 20 + [8] * 20, "pslc_parts": [8] * 40}
    run = timeline(
        write=closed_loop(counts, buffer=np.where(slow, 1.0, 0.0), link=np.where(slow, 0, 1.0)),
        upkeep=upkeep,
    )
    assert told(run) == [(20, None, ["region_full", "buffer"])]
    upkeep["pslc_parts_full"] = [8] * 40
    assert told(run) == [(20, None, ["buffer"])]


def test_collection_that_mostly_folds_is_called_so() -> None:
    counts = [1000] * 20 + [400] * 20
    gc = np.where(np.asarray(counts) < 500, 0.6, 0.0)
    upkeep = {
        "gc_pages_moved": [0] * 20 + [10] * 20,
        "pslc_pages_folded": [0] * 20 + [900] * 20,
        "pslc_parts_full": [0] * 40,
        "pslc_parts": [8] * 40,
    }
    assert told(timeline(write=closed_loop(counts, gc=gc, nand=1 - gc), upkeep=upkeep)) == [
        (20, None, ["folding"])
    ]


def test_a_machine_that_waited_as_long_as_is_missing_is_the_cause() -> None:
    counts = [1000] * 20 + [500] * 10 + [1000] * 10
    waited = [0] * 20 + [SECOND // 2] * 10 + [0] * 10
    machine = {"waited_ns": waited, "steal_ns": [0] * 40, "stalled_ns": [0] * 40}
    (drop,) = find_drops(timeline(read=closed_loop(counts), machine=machine))
    assert drop["words"] == "the machine waited for 50 % of the time"
    machine["waited_ns"] = [each // 10 for each in waited]
    (drop,) = find_drops(timeline(read=closed_loop(counts), machine=machine))
    assert drop["words"] == NO_CAUSE, "5 % of the time does not halve a rate"


def test_others_and_failures_are_said() -> None:
    counts = [1000] * 20 + [300] * 20
    run = timeline(
        read=closed_loop(counts),
        others_bytes=[0] * 20 + [1 << 20] * 20,
        failed_requests=[0] * 20 + [3] * 20,
    )
    (drop,) = find_drops(run)
    assert drop["words"] == "others moved 20 MiB on the drive; 60 requests failed"


def test_many_windows_are_taken_together() -> None:
    counts = [1000] * 20_000 + [100] * 20_000
    ((begin, end, _),) = told(timeline(read=closed_loop(counts)))
    assert abs(begin - 20_000) < 100
    assert end is None


@pytest.mark.parametrize("counts", [[], [5], [0, 0, 0], [0, 5], [5, 0]])
def test_the_shortest_runs_have_none(counts: list[int]) -> None:
    assert find_drops(timeline(read=series(counts, [1e6] * len(counts)))) == []
