"""Placement without a drive: the programme against exhaustive search, queues, traces, files."""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ssdscope.advise.addresses import PART_BYTES
from ssdscope.advise.placement.costs import read_costs
from ssdscope.advise.placement.limits import parse_lifetime
from ssdscope.advise.placement.predicting import mixture, predicted, response_ns
from ssdscope.advise.placement.programme import Kind, Programme, Set, cheapest, smallest
from ssdscope.advise.placement.reading import Reading, read_loads
from ssdscope.advise.placement.requests import merged
from ssdscope.advise.placement.workloads import SLICE_NS, Stream, Traced
from ssdscope.errors import ConfigError, UsageError
from ssdscope.targets.traces import Trace, TraceRows
from ssdscope.workloads.grid import Vector

SECOND_NS = 1_000_000_000


@st.composite
def problems(draw: st.DrawFn) -> tuple[Programme, list[tuple[int, Set]]]:
    """Draw small problems, and the smallest sets that fail; whatever contains one fails too."""
    loads, kinds = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    room = st.tuples(st.integers(3, 12).map(float))
    made = [
        Kind(float(draw(st.integers(0, 9))), draw(room), draw(st.integers(1, 2)))
        for _ in range(kinds)
    ]
    needs = np.array([[float(draw(st.integers(1, 6)))] for _ in range(loads)])
    prefers = np.array([[draw(st.integers(0, 9)) for _ in range(kinds)] for _ in range(loads)])
    failing = draw(
        st.lists(
            st.tuples(
                st.integers(0, kinds - 1),
                st.frozensets(st.integers(0, loads - 1), min_size=1, max_size=3),
            ),
            max_size=5,
        )
    )
    return Programme(made, needs, prefers.astype(float)), failing


def fails_of(failing: list[tuple[int, Set]], kind: int, these: Set) -> bool:
    return any(kind == of and least <= these for of, least in failing)


def exhaustive(problem: Programme, failing: list[tuple[int, Set]]) -> tuple[float, float] | None:
    """Return the cost of the cheapest of all placements, and the least that is waited at it."""
    copies = [kind for kind, each in enumerate(problem.kinds) for _ in range(each.count)]

    def costs() -> Iterator[tuple[float, float]]:
        for placed in product(range(len(copies)), repeat=len(problem.needs)):
            sets = {c: frozenset(n for n, at in enumerate(placed) if at == c) for c in set(placed)}
            if all(
                sum(problem.needs[n, 0] for n in these) <= problem.kinds[copies[c]].room[0]
                and not fails_of(failing, copies[c], these)
                for c, these in sets.items()
            ):
                yield (
                    sum(problem.kinds[copies[c]].price for c in sets),
                    waited(problem, [(copies[c], these) for c, these in sets.items()]),
                )

    return min(costs(), default=None)


def waited(problem: Programme, drives: Sequence[tuple[int, Set]]) -> float:
    return sum(float(problem.prefers[n, kind]) for kind, these in drives for n in these)


def hold_to_all(problem: Programme, failing: list[tuple[int, Set]]) -> None:
    """Hold what is found to every placement there is."""
    found = cheapest(problem, lambda kind, these: fails_of(failing, kind, these))
    best = exhaustive(problem, failing)
    assert (found is None) == (best is None)
    if found is None or best is None:
        return
    assert found.cost == pytest.approx(best[0], rel=1e-12)
    assert waited(problem, found.drives) == pytest.approx(best[1], rel=1e-5, abs=1e-12)
    assert sorted(n for _, these in found.drives for n in these) == list(range(len(problem.needs)))
    for kind, these in found.drives:
        assert not fails_of(failing, kind, these)


@settings(max_examples=15)
@given(problems())
def test_no_placement_is_cheaper(drawn: tuple[Programme, list[tuple[int, Set]]]) -> None:
    hold_to_all(*drawn)


def test_prices_come_first_and_far_too_slow_pairs_hide_nothing() -> None:
    """500 drawn problems: prices close together, and waits over fifteen decades."""
    rng = np.random.default_rng(5308)
    for _ in range(500):
        loads, kinds = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        base = float(rng.choice([1.0, 100.0, 100_000.0]))
        made = [
            Kind(base + float(rng.choice([0, 0, 1, 50])), (float(rng.integers(3, 12)),), 1)
            for _ in range(kinds)
        ]
        needs = rng.integers(1, 6, (loads, 1)).astype(float)
        prefers = 10.0 ** rng.integers(-6, 10, (loads, kinds)) * rng.integers(0, 10, (loads, kinds))
        failing = [
            (int(rng.integers(kinds)), frozenset(map(int, rng.integers(0, loads, 2))))
            for _ in range(int(rng.integers(0, 3)))
        ]
        hold_to_all(Programme(made, needs, prefers), failing)


def test_a_dearer_look_is_only_at_what_would_be_taken() -> None:
    kinds = [Kind(1.0, (9.0,), 1), Kind(5.0, (9.0,), 1)]
    looked: list[tuple[int, Set]] = []

    def surely(kind: int, these: Set) -> bool:
        looked.append((kind, these))
        return kind == 0

    found = cheapest(
        Programme(kinds, np.ones((2, 1)), np.zeros((2, 2))), lambda _k, _s: False, surely
    )
    assert found is not None
    assert found.cost in (5.0, 6.0)
    assert looked[0] == (0, frozenset({0, 1}))


def test_equal_costs_are_decided_by_what_is_preferred() -> None:
    kinds = [Kind(1.0, (9.0,), 1), Kind(1.0, (9.0,), 1)]
    prefers = np.array([[5.0, 1.0], [5.0, 1.0]])
    found = cheapest(Programme(kinds, np.ones((2, 1)), prefers), lambda _kind, _these: False)
    assert found is not None
    assert found.drives == ((1, frozenset({0, 1})),)


def test_a_failing_set_is_made_small() -> None:
    assert smallest(lambda these: {1, 3} <= these, frozenset(range(6))) == {1, 3}


@pytest.mark.parametrize("load", [0.1, 0.5, 0.9])
def test_one_server_waits_as_queueing_theory_says(load: float) -> None:
    depths = np.array([1.0, 64.0])
    told = response_ns(depths, depths * 1e6, load * 1000)
    assert told == pytest.approx(1e6 / (1 - load), rel=1e-6)


def test_many_servers_wait_less_and_overload_is_seen() -> None:
    depths = np.array([1.0, 2.0])
    told = response_ns(depths, np.array([1e6, 1e6]), 1000.0)
    assert told == pytest.approx(1e6 / (1 - 0.5**2), rel=1e-6)  # M/M/2 at half its rate
    assert response_ns(depths, np.array([1e6, 1e6]), 2000.0) is None


def stream(**changes: object) -> Stream:
    vector = Vector(30, 1, 8192, 4096, 50, 100)
    given: dict[str, object] = {"vector": vector, "rate": 500.0, "size_bytes": 64 * PART_BYTES}
    return Stream(name="a", **(given | changes))  # type: ignore[arg-type]


def test_a_stream_has_its_rate_mix_and_places() -> None:
    load = stream()
    made = load.requests(0, 20 * SECOND_NS, 512, 1)
    assert len(made) == pytest.approx(10_000, rel=0.05)
    assert made.op.mean() == pytest.approx(0.3, abs=0.02)
    assert (np.diff(made.arrival_ns.astype(np.int64)) >= 0).all()
    assert int((made.offset_bytes + made.bytes).max()) <= load.size_bytes
    assert (made.offset_bytes % made.bytes == 0).all()
    writes = made.op == 1
    follows = made.offset_bytes[writes][1:] == (made.offset_bytes + made.bytes)[writes][:-1]
    assert follows.mean() == pytest.approx(0.5, abs=0.03)
    other = load.requests(1, 20 * SECOND_NS, 512, 1)
    assert set(made.arrival_ns) & set(other.arrival_ns) == set()


def test_mixing_weighs_by_what_bears_it() -> None:
    reads = stream(vector=Vector(0, 1, 512, 4096, 0, 100), rate=300.0)
    writes = stream(vector=Vector(100, 1, 8192, 512, 40, 0), rate=100.0)
    mixed = mixture([reads, writes])
    assert (mixed.wr_ratio, mixed.wr_size, mixed.rd_size) == (25, 8192, 4096)
    assert (mixed.wr_rand, mixed.rd_rand) == (40, 100)


class OneServer:
    """A model of a drive that serves one request in a millisecond, whatever waits."""

    low, high = {"q_dep": 1.0}, {"q_dep": 64.0}

    def outside(self, vector: Vector) -> list[str]:
        return ["rd_size"] if vector.rd_size > 4096 else []

    def answers(self, vector: Vector) -> dict[str, dict[str, float]]:
        value = 1e6 * vector.q_dep
        return {"latency_ns": {"value": value, "low": 0.9 * value, "high": 1.1 * value}}


def test_a_model_predicts_what_shares_a_drive_by_its_mixture() -> None:
    model: Any = OneServer()
    loads = [stream(vector=Vector(0, 1, 512, 4096, 0, 100), rate=rate) for rate in (300.0, 200.0)]
    told = predicted(model, loads)
    assert told is not None
    assert told.keeps_up
    (one, other) = told.seen
    assert one == other
    assert one is not None
    assert one.mean_ns == pytest.approx(2e6, rel=1e-6)
    assert one.low_ns < one.mean_ns < one.high_ns  # type: ignore[operator]
    overload = predicted(model, [*loads, loads[0], loads[0]])
    assert overload is not None
    assert not overload.keeps_up
    assert predicted(model, [stream(vector=Vector(0, 1, 512, 8192))]) is None


def traced(offsets: list[int], size: int = 4096, gap_ns: int = 300_000_000, **how: str) -> Traced:
    count = len(offsets)
    rows = TraceRows(
        np.arange(count, dtype=np.uint64) * np.uint64(gap_ns),
        np.zeros(count, np.uint8),
        np.zeros(count, np.uint64),
        np.array(offsets, np.uint64),
        np.full(count, size, np.uint64),
        np.full(count, 2**64 - 1, np.uint64),
    )
    return Traced("t", Trace(rows, {}), **how)  # type: ignore[arg-type]


def test_the_halves_of_a_trace_are_its_other_seconds() -> None:
    load = traced([n * 4096 for n in range(40)])
    first, other = (load.requests(half, 6 * SLICE_NS, 512, 1) for half in (0, 1))
    assert set(first.offset_bytes) | set(other.offset_bytes) == {n * 4096 for n in range(40)}
    assert not set(first.offset_bytes) & set(other.offset_bytes)
    assert len(first) + len(other) == 40


def test_a_short_trace_begins_again() -> None:
    load = traced([0, 4096], gap_ns=100_000_000)
    made = load.requests(0, 10 * SLICE_NS, 512, 1)
    assert len(made) == 100
    assert load.rate == pytest.approx(10.0)


def test_packing_keeps_only_what_is_touched() -> None:
    far = [5 * 2**40, 7 * 2**40 + 4096, 5 * 2**40 + PART_BYTES]
    assert traced(far).size_bytes == 7 * 2**40 + PART_BYTES
    packed = traced(far, fit="compact")
    assert packed.size_bytes == 3 * PART_BYTES
    made = packed.requests(0, SLICE_NS, 512, 1)
    assert made.offset_bytes.tolist()[:3] == [0, 2 * PART_BYTES + 4096, PART_BYTES]
    assert traced(far, fit="wrap").size_bytes <= 3 * PART_BYTES


def test_requests_off_the_grid_are_refused_or_widened() -> None:
    with pytest.raises(UsageError, match="1 of 1 requests are not whole blocks"):
        traced([512], 1024).requests(0, SLICE_NS, 4096, 1)
    made = traced([3584], 1024, align="expand").requests(0, SLICE_NS, 4096, 1)
    assert (made.offset_bytes.tolist(), made.bytes.tolist()) == ([0], [8192])


def test_workloads_lie_end_to_end_and_come_in_the_order_of_time() -> None:
    one, other = stream(), stream(size_bytes=10)
    parts = [each.requests(0, SECOND_NS, 512, 1) for each in (one, traced([0]))]
    shared = merged(parts, [one.size_bytes, other.size_bytes], 1 << 40)
    assert (np.diff(shared.requests.arrival_ns.astype(np.int64)) >= 0).all()
    assert shared.requests.offset_bytes[shared.owner == 1].tolist() == [64 * PART_BYTES]


LISTS = {
    "a = 1": "is no list of workloads",
    "[[workload]]": "it has no name",
    '[[workload]]\nname = "a"': "size and rate_iops are missing",
    '[[workload]]\nname = "a"\nrate_iops = 1\nsize = "1k"\nrw = "read"': "holds not one request",
    '[[workload]]\nname = "a"\nrate_iops = 0\nsize = "1m"': "is not a number above zero",
    '[[workload]]\nname = "a"\nrate_iops = 1\nsize = "1m"\nrw = "raed"': "rw: 'raed'",
    '[[workload]]\nname = "a"\nrw = "read"\nwr_ratio = 0\nsize = "1m"\nrate_iops = 1': "two ways",
    '[[workload]]\nname = "a"\ntrace = "b"\nbs = "4k"': "there is no key 'bs'",
    '[[workload]]\nname = "a"\nsize = "1m"\nrate_iops = 1\nlatency = "0"': "in no time",
    "x = [": "not TOML",
}


@pytest.mark.parametrize("text", LISTS)
def test_a_wrong_list_is_refused_with_the_place(tmp_path: Path, text: str) -> None:
    path = tmp_path / "w.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=LISTS[text]):
        read_loads([str(path)], Reading())


def test_names_tell_workloads_apart() -> None:
    word = "rw=read,size=1m,rate_iops=1,name=a"
    with pytest.raises(UsageError, match="two workloads are called 'a'"):
        read_loads([word, word], Reading())
    (load,) = read_loads([word], Reading(latency_ns=5))
    assert load.latency_limit_ns == 5


COSTS = {
    "[drive]": "is no cost file",
    "[[drive]]": "target is missing",
    '[[drive]]\ntarget = "sim:a"': "price: None is not a number",
    '[[drive]]\ntarget = "sim:a"\nprice = -1': "price: -1",
    '[[drive]]\ntarget = "sim:a"\nprice = 1\ncount = 0': "count: 0",
    '[[drive]]\ntarget = "sim:a"\nprice = 1\nsize = 0': "no key 'size'",
    '[[drive]]\ntarget = "sim:a"\nprice = 1\nendurance = "4KB"': "endurance: '4KB' can be read",
    '[[drive]]\ntarget = "sim:a"\nprice = 1\n[[drive]]\ntarget = "sim:a"\nprice = 1': "twice",
}


@pytest.mark.parametrize("text", COSTS)
def test_a_wrong_cost_file_is_refused_with_the_place(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=COSTS[text]):
        read_costs(str(path))


def test_lifetimes_are_read_in_years_and_days() -> None:
    assert parse_lifetime("2y") == 2 * 365.25 * 86_400
    assert parse_lifetime("10d") == 864_000
    for text in ("5", "y", "-1y", "nany", "infy"):
        with pytest.raises(UsageError, match="is not a lifetime"):
            parse_lifetime(text)
