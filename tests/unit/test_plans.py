"""Plans, their record, and what evidence comes to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from ssdscope.errors import UsageError
from ssdscope.findings import Absent, Ambiguous, Detected, Evidence, Reason, Undetectable
from ssdscope.inference.levels import APART, FOUND
from ssdscope.inference.series import Rival, Series, Weighed
from ssdscope.probes import mechanisms, record, session, verdict
from ssdscope.probes.again import decide
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.mechanisms import Mask, masked
from ssdscope.probes.plan import Plan, Stopped
from ssdscope.probes.record import Record
from ssdscope.targets.opening import open_target

ALPHA = "read_latency_alpha_ns"
UNIT = "rmw_unit_bytes"


@dataclass(frozen=True, kw_only=True)
class Reads(Plan):
    """Some reads at random."""

    count: int

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        offsets = rng.integers(0, 256, self.count) * 4096
        log = bench.read(offsets.astype(np.uint64), 4096)
        return Series.of(offsets, log.latency_ns)


@dataclass(frozen=True, kw_only=True)
class Writes(Plan):
    """More than is allowed."""

    def measure(self, bench: Bench, _rng: np.random.Generator) -> Series:
        bench.write([0], 4096)
        return Series.of([0], [0])


def a_bench() -> Bench:
    return Bench(open_target("sim:mqsim-8g", seed=1).device, Budget.parse("default"), 7)


def test_a_plan_is_measured_once() -> None:
    bench = a_bench()
    first = bench.take(Reads(count=20))
    assert bench.requests == 20
    assert bench.take(Reads(count=20)) is first
    assert bench.requests == 20
    again = bench.take(Reads(count=20, number=1))
    assert (again.x != first.x).any()
    assert bench.requests == 40


def test_a_record_gives_back_what_was_measured(tmp_path: Path) -> None:
    bench = a_bench()
    taken = bench.take(Reads(count=200))
    path = tmp_path / "series.npz"
    bench.record.save(path)
    back = Record.load(path).get(Reads(count=200))
    assert back is not None
    for name in ("x", "y", "stratum", "time_ns", "valid"):
        assert (getattr(back, name) == getattr(taken, name)).all()
    assert Record.load(path).get(Reads(count=201)) is None


def test_why_a_plan_was_not_measured_is_kept(tmp_path: Path) -> None:
    bench = a_bench()
    with pytest.raises(Stopped) as first:
        bench.take(Writes())
    path = tmp_path / "series.npz"
    bench.record.save(path)
    with pytest.raises(Stopped) as again:
        Record.load(path).get(Writes())
    assert (again.value.reason, again.value.detail) == (first.value.reason, first.value.detail)


def test_a_record_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "series.npz"
    with patch.object(record, "VERSION", 99):
        Record().save(path)
    with pytest.raises(UsageError, match="version 99") as refused:
        Record.load(path)
    assert "record it again" in (refused.value.hint or "")
    path.write_text("nothing of the kind")
    with pytest.raises(UsageError, match="no recorded series"):
        Record.load(path)


def test_what_was_recorded_is_decided_upon_again_without_the_drive(tmp_path: Path) -> None:
    kept, path = Record(), tmp_path / "series.npz"
    device = open_target("sim:kuo-samsung-slc", seed=1).device
    names = ["disk", "latency", "caches", "table", "buffer"]
    first = session.run(names, device, Budget.parse("default"), 7, record=kept)
    kept.save(path)
    assert path.stat().st_size < 2e6
    again = decide(Record.load(path))
    alone = {"bytes_written": 0, "requests": 0, "where": None}
    assert [replace(each, **alone) for each in again] == [replace(each, **alone) for each in first]
    assert sum(isinstance(each, Detected) for each in again) > 5


def test_a_drive_is_asked_only_for_what_was_not_recorded() -> None:
    kept = Record()
    device = open_target("sim:mqsim-8g", seed=1).device
    (first,) = session.run(["rotation_ns"], device, Budget.parse("default"), 7, record=kept)[:1]
    (again,) = session.run(["rotation_ns"], device, Budget.parse("default"), 7, record=kept)[:1]
    assert first.requests > 0
    assert again.requests == 0
    assert replace(again, requests=0) == replace(first, requests=0)


def test_of_what_was_not_recorded_nothing_is_decided() -> None:
    with pytest.raises(UsageError, match="nothing was recorded"):
        decide(Record())
    kept = Record()
    kept.ran("disk", a_bench().info, heavy=False)
    with pytest.raises(UsageError, match=r"nothing was recorded of .*asked for now") as refused:
        decide(kept)
    assert "--record" in (refused.value.hint or "")
    kept.probes = ["of_old"]
    with pytest.raises(UsageError, match="no probe 'of_old' any more"):
        decide(kept)


def weighed(score: float, margin: float = 99.0, effect: float = 0.5, rival: float | None = 2.0):
    rivals = (Rival("part", margin, rival),)
    return verdict.weighed(
        UNIT,
        Weighed(4096.0, None, score, effect, effect, rivals),
        "period",
        Evidence(),
        probe="units",
    )


def test_what_evidence_comes_to() -> None:
    enough = FOUND["period"]
    told = weighed(enough)
    assert isinstance(told, Detected)
    assert told.value == 4096
    assert isinstance(weighed(enough - 0.1), Undetectable)
    assert isinstance(weighed(enough - 0.1, effect=0.001), Absent)
    either = weighed(enough, margin=APART - 0.1)
    assert isinstance(either, Ambiguous)
    assert either.candidates == (2.0, 4096.0)
    unnamed = weighed(enough, margin=APART - 0.1, rival=None)
    assert isinstance(unnamed, Undetectable)
    assert unnamed.reason is Reason.MODEL_MISFIT


def test_a_value_that_may_be_further_off_than_right_is_not_told() -> None:
    for high, kind in ((108.0, Detected), (112.0, Undetectable)):
        found = verdict.detected(ALPHA, 100.0, (95.0, high), 0.5, Evidence(), probe="latency")
        assert isinstance(found, kind)


def test_what_hides_what_is_a_table() -> None:
    rows = (Mask("pslc_bytes", (Detected,), ("gc_period_bytes",), "folding hides it"),)
    region = Detected(name="pslc_bytes", probe="region", value=1.0, interval=None, effect=1.0)
    with patch.object(mechanisms, "MASKS", rows):
        assert masked("gc_period_bytes", {}) is None
        assert masked("reclaim_unit_bytes", {"pslc_bytes": region}) is None
        hidden = masked("gc_period_bytes", {"pslc_bytes": region})
        assert hidden is not None
        assert hidden.refusal("gc_period_bytes", "collection").reason is Reason.MASKED


def test_a_region_whose_size_changes_hides_collection_all_the_same() -> None:
    for reason, hides in ((Reason.MODEL_MISFIT, True), (Reason.EFFECT_BELOW_NOISE, False)):
        region = Undetectable(name="pslc_bytes", probe="region", reason=reason)
        assert (masked("gc_period_bytes", {"pslc_bytes": region}) is not None) is hides
