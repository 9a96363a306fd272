"""Made-up traces: their statistics are the published ones, and nobody can mistake them."""

from pathlib import Path

import numpy as np
import pytest

from ssdscope.errors import UsageError
from ssdscope.targets.traces import COLUMN_TYPES, TraceRows, read_trace
from ssdscope.workloads.patterns import recipe_of
from ssdscope.workloads.synthetic import (
    PROFILES,
    hyper_exponential,
    spc_text,
    synthesise,
)
from ssdscope.workloads.windows import window_features

SPAN_S = 1200.0


@pytest.fixture(scope="module", params=PROFILES)
def made(request: pytest.FixtureRequest) -> tuple[str, TraceRows]:
    return request.param, synthesise(PROFILES[request.param], seconds=SPAN_S, seed=7)


def test_rate_and_share_of_reads_are_the_published_ones(made: tuple[str, TraceRows]) -> None:
    name, rows = made
    profile = PROFILES[name]
    expected = profile.requests / profile.span_s * SPAN_S
    assert len(rows) == pytest.approx(expected, abs=1)
    share = profile.read_share
    # Minutes that differ in rate and share at once move the whole by more than chance does.
    slack = 5 * np.sqrt(share * (1 - share) / len(rows)) + (0.03 if profile.mix_sigma else 0)
    assert np.mean(rows.op == 0) == pytest.approx(share, abs=slack)
    assert set(rows.volume.tolist()) <= set(range(profile.volumes))


def test_times_are_in_order_and_within_the_span(made: tuple[str, TraceRows]) -> None:
    _, rows = made
    at = rows.arrival_ns.astype(np.int64)
    assert at[0] == 0
    assert (np.diff(at) >= 0).all()
    assert at[-1] <= SPAN_S * 1e9
    assert {name: getattr(rows, name).dtype for name in COLUMN_TYPES} == COLUMN_TYPES


def test_sizes_runs_and_bursts_are_those_of_the_profile(made: tuple[str, TraceRows]) -> None:
    name, rows = made
    profile = PROFILES[name]
    table = window_features(rows)
    for direction, sizes, sequential in (
        ("rd", profile.rd_sizes, profile.rd_sequential),
        ("wr", profile.wr_sizes, profile.wr_sequential),
    ):
        chosen = rows.op == (0 if direction == "rd" else 1)
        if chosen.sum() < 1000:
            continue
        total = sum(share for _, share in sizes)
        mean = sum(size * share for size, share in sizes) / total
        assert rows.bytes[chosen].mean() == pytest.approx(mean, rel=0.05)
        if sequential:
            assert (table[f"{direction}_stride"] == 0).all(), "the most frequent gap is none"
        assert np.nanmean(table[f"{direction}_rand"]) == pytest.approx(1 - sequential, abs=0.12)
    assert np.nanmean(table["interarrival_scv"]) == pytest.approx(profile.gap_scv, rel=0.15)
    assert (rows.offset_bytes % np.uint64(512) == 0).all()


def test_a_financial_trace_overwrites_as_the_real_one_does() -> None:
    rows = synthesise(PROFILES["financial1"], seconds=SPAN_S, seed=3)
    table = window_features(rows)
    # 68 % in the first minutes of the real one.
    assert 0.5 < np.nanmean(table["overwrite_ratio"][2:]) < 0.8
    assert np.nanmean(table["unaligned_4k"]) > 0.9


def test_the_seed_decides_everything() -> None:
    profile = PROFILES["financial2"]
    first, same, other = (synthesise(profile, seconds=60, seed=seed) for seed in (1, 1, 2))
    for name in COLUMN_TYPES:
        np.testing.assert_array_equal(getattr(first, name), getattr(same, name))
    assert not np.array_equal(first.arrival_ns, other.arrival_ns)


def test_gaps_have_the_moments_asked_for() -> None:
    rng = np.random.default_rng(1)
    for scv in (1.0, 1.8, 10.3):
        gaps = hyper_exponential(rng, scv, 400_000)
        assert gaps.mean() == pytest.approx(1, rel=0.02)
        assert gaps.var() / gaps.mean() ** 2 == pytest.approx(scv, rel=0.06)


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    profile = PROFILES["websearch1"]
    rows = synthesise(profile, seconds=30, seed=1)
    path = tmp_path / "synthetic.spc"
    path.write_text(f"# {profile.label}\n{spc_text(rows)}", encoding="utf-8")
    trace = read_trace(str(path))
    assert trace.about["format"] == "spc"
    assert trace.synthetic
    for name in COLUMN_TYPES:
        np.testing.assert_array_equal(getattr(trace.rows, name), getattr(rows, name))


def test_every_profile_says_where_its_numbers_come_from() -> None:
    for profile in PROFILES.values():
        assert set(profile.sources) == {"published", "measured", "assumed"}
        assert "synthetic" in profile.label
        assert profile.name in profile.label


def test_what_cannot_be_made_is_refused() -> None:
    with pytest.raises(UsageError, match="no profile 'financial3'"):
        recipe_of("financial3")
    assert recipe_of("synthetic-Financial1").name == "financial1"
    for seconds in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="cannot be made"):
            synthesise(PROFILES["financial1"], seconds=seconds, seed=1)
    with pytest.raises(UsageError, match="more than"):
        synthesise(PROFILES["financial1"], seconds=1e9, seed=1)
