"""Features of windows, each against a slow and literal definition on small random traces."""

import itertools
import math
from collections import Counter
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest

from ssdscope.errors import UsageError
from ssdscope.targets.traces import LATENCY_UNKNOWN, TraceRows
from ssdscope.workloads.windows import FEATURES, GROUPS, window_features

WINDOW_NS = 2_000_000_000
BUFFER_BYTES = 64 * 1024
NAN = math.nan


@dataclass(frozen=True)
class One:
    """A request."""

    at: int
    op: int
    volume: int
    begin: int
    size: int
    latency: float

    @property
    def end(self) -> int:
        return self.begin + self.size

    @property
    def window(self) -> int:
        return self.at // WINDOW_NS

    @property
    def blocks(self) -> list[tuple[int, int]]:
        return [(self.volume, n) for n in range(self.begin // 4096, (self.end - 1) // 4096 + 1)]


def drawn(seed: int, *, latencies: bool = True, count: int = 120) -> tuple[TraceRows, list[One]]:
    """Draw a trace with pauses longer than a window, streams, overlaps and all operations."""
    rng = np.random.default_rng(seed)
    gaps = rng.choice([0, 1_000_000, 30_000_000, 700_000_000], count, p=[0.2, 0.4, 0.3, 0.1])
    gaps[count // 2] = 3 * WINDOW_NS
    gaps[0] = 0
    op = rng.choice([0, 1, 2, 3], count, p=[0.45, 0.45, 0.05, 0.05])
    volume = rng.integers(0, 2, count)
    size = rng.choice([512, 2048, 4096, 8192, 65536, 131072], count)
    begin = rng.integers(0, 400, count) * 512
    far = rng.random(count) < 0.2
    begin[far] += rng.integers(1, 40, count)[far] * 65536
    for i in range(4, count):
        if rng.random() < 0.4:  # continue what lies a few requests back
            back = i - int(rng.integers(1, 5))
            begin[i], volume[i], op[i] = begin[back] + size[back], volume[back], op[back]
    size[op == 2] = begin[op == 2] = 0
    took = rng.integers(10_000, 2_500_000_000, count)
    known = rng.random(count) < 0.9 if latencies else np.zeros(count, bool)
    at = np.cumsum(gaps)
    rows = TraceRows(
        at.astype(np.uint64), op.astype(np.uint8), volume.astype(np.uint64),
        begin.astype(np.uint64), size.astype(np.uint64),
        np.where(known, took.astype(np.uint64), LATENCY_UNKNOWN),
    )  # fmt: skip
    ones = [
        One(*(int(x) for x in (at[i], op[i], volume[i], begin[i], size[i])),
            float(took[i]) if known[i] else NAN)
        for i in range(count)
    ]  # fmt: skip
    return rows, ones


def mean(values: list[Any]) -> float:
    return sum(values) / len(values) if values else NAN


def rank(values: list[Any], percent: float) -> float:
    return sorted(values)[max(math.ceil(len(values) * percent / 100), 1) - 1] if values else NAN


def variance(values: list[Any]) -> float:
    return mean([(value - mean(values)) ** 2 for value in values])


def over(above: float, below: float) -> float:
    return above / below if below else NAN


def slow_arrival(ones: list[One], w: int) -> dict[str, float]:
    own = [one for one in ones if one.window == w]
    gaps = [b.at - a.at for a, b in itertools.pairwise(own)]
    seconds = WINDOW_NS / 1e9
    found = {
        "iops": len(own) / seconds,
        "interarrival_scv": over(variance(gaps), mean(gaps) ** 2) if gaps else NAN,
    }
    for name, width in (("10ms", 10**7), ("100ms", 10**8), ("1s", 10**9)):
        bins = [0] * (WINDOW_NS // width)
        for one in own:
            bins[(one.at - w * WINDOW_NS) // width] += 1
        found[f"dispersion_{name}"] = over(variance(bins), mean(bins))
        if name == "1s":
            found["peak_to_mean"] = over(max(bins), mean(bins))
    marks = [w * WINDOW_NS, *(one.at for one in own), (w + 1) * WINDOW_NS]
    pauses = [b - a for a, b in itertools.pairwise(marks) if b - a >= 10**8]
    found["idle_share"] = sum(pauses) / WINDOW_NS
    found["longest_idle_s"] = max(pauses, default=0) / 1e9
    return found


def slow_concurrency(ones: list[One], w: int) -> dict[str, float]:
    low, high = w * WINDOW_NS, (w + 1) * WINDOW_NS
    known = [one for one in ones if one.latency == one.latency]
    busy = sum(max(0, min(high, o.at + o.latency) - max(low, o.at)) for o in known)
    seen = [
        sum(j <= i and other.at + other.latency > one.at for j, other in enumerate(known))
        for i, one in enumerate(known)
        if one.window == w
    ]
    return {"q_dep": busy / WINDOW_NS, "q_dep_p95": rank(seen, 95)}


def slow_shape(ones: list[One], w: int) -> dict[str, float]:
    own = [one for one in ones if one.window == w]
    moves = [one for one in own if one.op < 2]
    total, seconds = sum(one.size for one in moves), WINDOW_NS / 1e9
    reads = [one for one in moves if one.op == 0]
    found = {
        "wr_ratio": mean([one.op == 1 for one in moves]),
        "read_bytes_share": over(sum(one.size for one in reads), total),
        "bytes_per_s": total / seconds,
        "switches_per_s": sum(a.op != b.op for a, b in itertools.pairwise(moves)) / seconds,
        "size_mean": mean([one.size for one in moves]),
        "flushes_per_s": sum(one.op == 2 for one in own) / seconds,
        "discards_per_s": sum(one.op == 3 for one in own) / seconds,
    }
    for name, bound in (("4k", 4096), ("16k", 16384)):
        off = [one for one in moves if one.begin % bound or one.end % bound]
        found[f"unaligned_{name}"] = over(len(off), len(moves))
        found[f"unaligned_{name}_bytes"] = over(sum(one.size for one in off), total)
    for name, code in (("rd", 0), ("wr", 1)):
        sizes = [one.size for one in moves if one.op == code]
        found[f"{name}_size"] = mean(sizes)
        found[f"{name}_size_p50"], found[f"{name}_size_p95"] = rank(sizes, 50), rank(sizes, 95)
        found[f"{name}_below_4k"] = mean([size < 4096 for size in sizes])
        found[f"{name}_128k_up"] = mean([size >= 131072 for size in sizes])
    return found


def slow_order(ones: list[One], w: int) -> dict[str, float]:
    found = {}
    for name, code in (("rd", 0), ("wr", 1)):
        mine = [one for one in ones if one.op == code]
        before: list[int | None] = []
        for i, one in enumerate(mine):
            ends = (
                j for j in range(i - 1, max(i - 33, -1), -1)
                if mine[j].end == one.begin and mine[j].volume == one.volume
            )  # fmt: skip
            before.append(next(ends, None))
        own = [i for i, one in enumerate(mine) if one.window == w]
        others = sum(before[i] is None for i in own)
        found[f"{name}_rand"] = over(others, len(own))
        found[f"{name}_run"] = len(own) / max(others, 1) if own else NAN
        found[f"{name}_streams"] = sum(
            before[i] is not None and before[before[i]] is None for i in own
        )
        gaps = []
        for i in own:
            last = [one for one in mine[:i] if one.volume == mine[i].volume]
            if last:
                gaps.append(mine[i].begin - last[-1].end)
        counted = Counter(gaps)
        mode = min(counted, key=lambda gap: (-counted[gap], gap), default=NAN)
        found[f"{name}_stride"] = mode
        found[f"{name}_stride_share"] = over(counted.get(mode, 0), len(gaps))
        jumps = [gap for gap in gaps if gap]
        for unit in (64, 128):
            found[f"{name}_gap_{unit}k"] = mean([gap % (unit * 1024) == 0 for gap in jumps])
    return found


def slow_blocks(ones: list[One], w: int) -> dict[str, float]:
    """Walk all accesses in the order of time."""
    last_access: dict[tuple[int, int], int] = {}
    last_write: dict[tuple[int, int], tuple[int, int]] = {}
    read, regions, intervals, fresh = [], [], [], []
    written: Counter[tuple[int, int]] = Counter()
    updates, number, total = [], 0, 0
    for one in (one for one in ones if one.op < 2):
        total += one.size if one.op == 1 else 0
        for block in one.blocks:
            own = one.window == w
            if own:
                regions.append((block[0], block[1] // 256))
                if block in last_access:
                    intervals.append(number - last_access[block])
            if one.op == 0 and own:
                read.append(block)
                fresh.append(block in last_write and total - last_write[block][1] < BUFFER_BYTES)
            if one.op == 1:
                if own:
                    written[block] += 1
                    if block in last_write:
                        updates.append(one.at - last_write[block][0])
                last_write[block] = one.at, total
            last_access[block] = number
            number += 1
    shares = [count / len(regions) for count in Counter(regions).values()]
    most = sorted(written.values(), reverse=True)
    return {
        "rd_blocks": len(set(read)), "wr_blocks": len(written), "regions": len(shares),
        "region_entropy_bits": -sum(p * math.log2(p) for p in shares) if shares else NAN,
        "reuse_interval_blocks": rank(intervals, 50),
        "overwrite_ratio": over(len(updates), sum(most)),
        "update_interval_s": rank(updates, 50) / 1e9,
        "top_10_write_share": over(sum(most[: math.ceil(0.1 * len(most))]), sum(most)),
        "rewritten_share": mean([count > 1 for count in most]),
        "read_after_write": mean(fresh),
    }  # fmt: skip


def slow_history(ones: list[One], w: int) -> dict[str, float]:
    start = w * WINDOW_NS
    past = [one for one in ones if one.at < start]
    found: dict[str, float] = {
        f"written_{m}min": sum(
            one.size for one in past if one.op == 1 and one.at >= start - m * 60 * 10**9
        )
        for m in (1, 10, 60)
    }
    since = 0
    for one in past:
        since = 0 if one.op == 3 else since + (one.size if one.op == 1 else 0)
    found["written_since_discard"] = since
    found["idle_before_s"] = (start - (past[-1].at if past else 0)) / 1e9
    before = [one for one in ones if one.window == w - 1]
    took = [one.latency for one in before if one.latency == one.latency]
    found["previous_iops"] = len(before) / (WINDOW_NS / 1e9) if w else NAN
    found["previous_latency_ns"] = mean(took) if w else NAN
    found["previous_p99_ns"] = rank(took, 99) if w else NAN
    return found


SLOW = (slow_arrival, slow_concurrency, slow_shape, slow_order, slow_blocks, slow_history)


@pytest.mark.parametrize("seed", range(6))
def test_every_feature_is_what_it_says(seed: int) -> None:
    rows, ones = drawn(seed)
    table = window_features(rows, window_ns=WINDOW_NS, buffer_bytes=BUFFER_BYTES)
    windows = ones[-1].window + 1
    checked = set()
    for w in range(windows):
        for slow in SLOW:
            for name, expected in slow(ones, w).items():
                got = float(table[name][w])
                assert got == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True), (name, w)
                checked.add(name)
    assert checked == set(FEATURES)
    assert all(len(column) == windows for column in table.values())
    assert sum(table["requests"]) == len(ones)
    assert any(table["requests"] == 0), "a pause longer than a window"


def test_without_latencies_the_depth_follows_from_the_window_before() -> None:
    rows, ones = drawn(1, latencies=False)
    measured = np.full(len(rows), 5e6)
    table = window_features(rows, window_ns=WINDOW_NS, measured_latency_ns=measured)
    for w in range(1, ones[-1].window + 1):
        busy = any(one.window == w - 1 for one in ones)
        expected = table["iops"][w] * 5e6 / 1e9 if busy else NAN
        assert table["q_dep"][w] == pytest.approx(expected, nan_ok=True)
    assert np.isnan(table["q_dep_p95"]).all()
    assert np.isnan(window_features(rows, window_ns=WINDOW_NS)["previous_latency_ns"]).all()


def test_what_is_measured_never_tells_of_its_own_window() -> None:
    rows, _ = drawn(2, latencies=False)
    measured = np.full(len(rows), 5e6)
    plain = window_features(rows, window_ns=WINDOW_NS, measured_latency_ns=measured)
    last = rows.arrival_ns // WINDOW_NS == rows.arrival_ns[-1] // WINDOW_NS
    measured[last] = 9e9
    changed = window_features(rows, window_ns=WINDOW_NS, measured_latency_ns=measured)
    for name in FEATURES:
        np.testing.assert_array_equal(plain[name], changed[name])


def test_one_request_and_none() -> None:
    rows, _ = drawn(3)
    nothing = TraceRows(**{each.name: getattr(rows, each.name)[:0] for each in fields(rows)})
    assert all(len(column) == 0 for column in window_features(nothing).values())
    one = TraceRows(**{each.name: getattr(rows, each.name)[:1] for each in fields(rows)})
    table = window_features(one)
    assert {len(column) for column in table.values()} == {1}
    assert table["covered"][0] == pytest.approx(1 / 60e9)


def test_windows_are_whole_seconds() -> None:
    rows, _ = drawn(3)
    for wrong in (0, -1, 1_500_000_000):
        with pytest.raises(UsageError, match="whole seconds"):
            window_features(rows, window_ns=wrong)


def test_every_feature_has_one_group() -> None:
    assert len(set(FEATURES)) == len(FEATURES) == sum(len(names) for names in GROUPS.values())
