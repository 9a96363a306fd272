"""The probe `latency` on drives whose inside is known, because they are written here."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from ssdscope.errors import UsageError
from ssdscope.findings import Absent, Ambiguous, Detected, Finding, Reason, Undetectable
from ssdscope.inference.series import Series
from ssdscope.probes import session
from ssdscope.probes.budget import Budget
from ssdscope.probes.latency import queue_depth
from ssdscope.probes.latency.queue_depth import MORE_BLOCKS, Rates
from ssdscope.targets.records import DeviceInfo, Log
from ssdscope.targets.work import FlashWork

ALPHA, BETA, KNEE = (
    "read_latency_alpha_ns",
    "read_latency_beta_ns_per_byte",
    "queue_depth_knee",
)
DEFAULT = Budget.parse("default")
LOG_KEYS = ("index", "op", "offset_bytes", "bytes", "submit_ns", "error")
"""Besides the time of completion."""


class FakeDrive:
    """`servers` units that each serve one request at a time: alpha + beta per byte, plus noise."""

    def __init__(
        self,
        *,
        alpha_ns: float = 80_000,
        beta_ns_per_byte: float = 2.0,
        servers: int = 8,
        stripe_bytes: int | None = None,
        sigma: float = 0.0,
        spike_share: float = 0.0,
        capacity_bytes: int = 1 << 30,
        seed: int = 1,
    ) -> None:
        self.info = DeviceInfo(
            kind="simulated",
            capacity_bytes=capacity_bytes,
            logical_block_bytes=512,
            clock="virtual",
            writable=False,
            discard=False,
            attribution=False,
            snapshot=False,
        )
        self.alpha_ns, self.beta = alpha_ns, beta_ns_per_byte
        self.servers, self.stripe_bytes = servers, stripe_bytes
        self.sigma, self.spike_share = sigma, spike_share
        self.rng = np.random.default_rng(seed)
        self.slow_from, self.slow_until = 0, 0
        self.served = 0

    def service_ns(self, lengths: np.ndarray) -> np.ndarray:
        rounds = np.ceil(lengths / self.stripe_bytes) if self.stripe_bytes else 1.0
        base = self.alpha_ns * rounds + self.beta * lengths
        noise = np.exp(self.sigma * np.abs(self.rng.normal(size=lengths.size)))
        spikes = np.where(self.rng.random(lengths.size) < self.spike_share, 20.0, 1.0)
        index = self.served + np.arange(lengths.size)
        slow = np.where((index >= self.slow_from) & (index < self.slow_until), 2.0, 1.0)
        return base * noise * spikes * slow

    def foreign_bytes(self) -> None:
        return None

    def idle(self, _duration_ns: int) -> None:
        return None

    def queued(
        self, units: list[int], service: list[float], iodepth: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """When each request goes out and is over, of which ``iodepth`` are on their way."""
        free_at = [0.0] * self.servers
        in_flight = [0.0] * iodepth
        submit, complete = [], []
        for unit, cost in zip(units, service, strict=True):
            now = in_flight[0]
            over = max(free_at[unit], now) + cost
            free_at[unit] = over
            heapq.heapreplace(in_flight, over)
            submit.append(now)
            complete.append(over)
        return np.array(submit), np.array(complete)

    def flash_work(self) -> FlashWork:
        return FlashWork()

    def run_list(
        self, ops: Any, offsets: Any, lengths: Any, *, iodepth: int = 1, **_unused: Any
    ) -> Log:
        assert (np.asarray(ops) == 0).all(), "a read-only probe wrote"
        assert (np.asarray(offsets) % 512 == 0).all()
        assert (np.asarray(offsets) + lengths <= self.info.capacity_bytes).all()
        self.offsets = np.asarray(offsets)
        service = self.service_ns(np.asarray(lengths, dtype=float))
        self.served += len(service)
        units = np.asarray(offsets) // 4096 % self.servers
        if iodepth == 1:  # each waits for the one before it, and so for no unit
            complete = np.cumsum(service)
            submit = np.concatenate([[0.0], complete[:-1]])
        else:
            submit, complete = self.queued(units.tolist(), service.tolist(), iodepth)
        return Log(
            {
                "index": np.arange(len(service)),
                "op": np.asarray(ops),
                "offset_bytes": np.asarray(offsets),
                "bytes": np.asarray(lengths),
                "submit_ns": submit.astype(np.int64),
                "complete_ns": complete.astype(np.int64),
                "error": np.zeros(len(service), np.int32),
            }
        )


def findings(drive: FakeDrive, seed: int = 7, budget: Budget = DEFAULT) -> dict[str, Finding]:
    found = session.run(["latency"], drive, budget, seed)  # type: ignore[arg-type]
    return {each.name: each for each in found}


def line(drive: FakeDrive, seed: int = 7) -> dict[str, Finding]:
    """Find the same, with queues that take no time: for alpha and beta, which need none."""
    with patch.object(queue_depth, "DOUBLINGS", (1, 2, 4, 8)):
        return findings(drive, seed)


def shallow(drive: FakeDrive, seed: int = 7, budget: Budget = DEFAULT) -> dict[str, Finding]:
    """Find the same with queues of up to 32, as deep as few servers need: those settle sooner.

    Of places at random the rate grows so slowly that a hundredth of it is a tenth of the depth.
    """
    up_to_32 = patch.object(queue_depth, "DOUBLINGS", queue_depth.DOUBLINGS[:6])
    with up_to_32, patch.object(queue_depth, "RATE_OFF", 0.0):
        return findings(drive, seed, budget)


def test_a_linear_drive_is_recovered_everywhere() -> None:
    found = line(FakeDrive())
    for name, truth in ((ALPHA, 80_000), (BETA, 2.0)):
        answer = found[name]
        assert isinstance(answer, Detected)
        assert answer.value == pytest.approx(truth, rel=1e-3)
    assert found[ALPHA].evidence.figures["linear_region_bytes"] == (4096, 1 << 20)


@pytest.mark.always(3)
@pytest.mark.parametrize("seed", range(6))
def test_intervals_cover_through_noise_and_spikes(seed: int) -> None:
    """What delays requests is not the drive's."""
    found = line(FakeDrive(sigma=0.1, spike_share=0.02, seed=seed), seed)
    for name, truth in ((ALPHA, 80_000), (BETA, 2.0)):
        answer = found[name]
        assert isinstance(answer, Detected)
        low, high = answer.interval or (0, 0)
        assert low <= truth <= high
        assert high - low < 0.1 * truth


def test_a_striping_drive_has_the_line_through_its_steps() -> None:
    """From 32 KiB on this drive climbs in steps; its line is that of least squares."""
    found = line(FakeDrive(alpha_ns=13_060, beta_ns_per_byte=1.4656, stripe_bytes=32 << 10))
    sizes = 4096.0 * np.arange(1, 65)
    steps = 13_060 * np.ceil(sizes / (32 << 10)) + 1.4656 * sizes
    slope, intercept = np.polyfit(sizes, steps, 1)
    for name, truth in ((ALPHA, intercept), (BETA, slope)):
        answer = found[name]
        assert isinstance(answer, Detected | Undetectable)
        if isinstance(answer, Detected):
            assert answer.value == pytest.approx(truth, rel=0.01)
    assert isinstance(found[BETA], Detected)


def test_a_latency_without_a_cost_per_byte() -> None:
    found = line(FakeDrive(beta_ns_per_byte=0.0, sigma=0.02))
    assert isinstance(found[ALPHA], Detected)
    assert isinstance(found[BETA], Absent)


def test_a_latency_without_a_cost_per_request() -> None:
    found = line(FakeDrive(alpha_ns=0.0, sigma=0.02))
    assert isinstance(found[BETA], Detected)
    assert isinstance(found[ALPHA], Absent)


def test_no_line_anywhere_is_a_misfit() -> None:
    drive = FakeDrive()
    drive.service_ns = lambda lengths: 1e4 * (lengths / 4096) ** 2  # type: ignore[method-assign]
    found = line(drive)
    assert found[ALPHA].to_json()["reason"] == "model_misfit"


def test_a_curve_that_bends_has_no_slope_of_its_own() -> None:
    """The line through the lower half of the sizes is steeper."""
    drive = FakeDrive()
    drive.service_ns = lambda lengths: 1e5 * (lengths / 4096) ** 0.12  # type: ignore[method-assign]
    found = line(drive)
    assert found[BETA].to_json()["reason"] == "model_misfit"
    assert "lower half" in (found[BETA].evidence.detail or "")


def test_a_drive_that_answers_at_once_is_undetectable() -> None:
    found = line(FakeDrive(alpha_ns=0.0, beta_ns_per_byte=0.0))
    for name in (ALPHA, BETA, KNEE):
        answer = found[name]
        assert isinstance(answer, Undetectable)
        assert answer.reason == Reason.EFFECT_BELOW_NOISE


def test_disturbed_blocks_are_dropped_and_the_value_stands() -> None:
    drive = FakeDrive(sigma=0.02)
    drive.slow_from, drive.slow_until = 40, 90
    alpha = line(drive)[ALPHA]
    assert isinstance(alpha, Detected)
    assert alpha.value == pytest.approx(80_000, rel=0.03)


class TwoClassDrive(FakeDrive):
    """Half of the places need an entry of a table that is never there: two classes of latency."""

    def service_ns(self, lengths: np.ndarray) -> np.ndarray:
        misses = self.offsets // 4096 % 7919 % 2 == 0
        return super().service_ns(lengths + np.where(misses, 150_000, 0))


@pytest.mark.always(2)
@pytest.mark.parametrize("seed", range(4))
def test_two_classes_of_reads_have_one_line(seed: int) -> None:
    """Medians would jump between the classes."""
    alpha = line(TwoClassDrive(sigma=0.05, seed=seed), seed)[ALPHA]
    assert isinstance(alpha, Detected)
    assert alpha.value == pytest.approx(80_000 + 150_000, rel=0.05)


def test_what_the_first_reads_warm_is_not_measured() -> None:
    drive = FakeDrive(sigma=0.02)
    drive.slow_until = 20 * 16
    alpha = line(drive)[ALPHA]
    assert isinstance(alpha, Detected)
    assert alpha.value == pytest.approx(80_000, rel=0.02)


def test_what_drifts_is_measured_where_it_is_lowest() -> None:
    """Latencies rise by 30 % and fall again, several times over."""
    drive = FakeDrive(sigma=0.05)
    steady = drive.service_ns

    def drifting(lengths: np.ndarray) -> np.ndarray:
        phase = (drive.served + np.arange(lengths.size)) / 9000 % 1
        return np.asarray(steady(lengths) * (1.3 - 0.6 * np.abs(phase - 0.5)))

    drive.service_ns = drifting  # type: ignore[method-assign]
    found = line(drive)
    for name, truth in ((ALPHA, 80_000), (BETA, 2.0)):
        answer = found[name]
        assert isinstance(answer, Detected)
        assert answer.value == pytest.approx(truth, rel=0.04)


def test_a_tiny_drive_is_refused() -> None:
    found = line(FakeDrive(capacity_bytes=64 << 10))
    assert found[ALPHA].to_json()["reason"] == "range_too_small"


@pytest.mark.parametrize("servers", [2, 4])
def test_knee_grows_with_parallelism(servers: int) -> None:
    knee = shallow(FakeDrive(servers=servers))[KNEE]
    assert isinstance(knee, Detected)
    # Random reads leave units idle by chance, so the plateau is reached beyond their number.
    assert servers < knee.value < 8 * servers  # type: ignore[operator]


def test_one_server_has_no_knee() -> None:
    knee = shallow(FakeDrive(servers=1, sigma=0.05))[KNEE]
    assert isinstance(knee, Absent)
    assert knee.bound < 0.1


class SpreadDrive(FakeDrive):
    """An eighth faster until so many requests were served: its queue begins evenly spread."""

    evenly: Callable[[int], int]

    def run_list(self, *args: Any, iodepth: int = 1, **options: Any) -> Log:
        log = super().run_list(*args, iodepth=iodepth, **options)
        done = log.complete_ns.astype(float)
        early = done - np.minimum(done, np.sort(done)[self.evenly(iodepth)]) / 8
        rest = {key: getattr(log, key) for key in LOG_KEYS}
        return Log({**rest, "complete_ns": early.astype(np.int64)})


@pytest.mark.parametrize("evenly", [lambda depth: 4 * depth, lambda depth: 2 * depth**2 // 5])
def test_a_queue_that_is_still_evenly_spread_does_not_count(evenly: Callable[[int], int]) -> None:
    plain, spread = FakeDrive(servers=2), SpreadDrive(servers=2)
    spread.evenly = evenly
    usual, found = (shallow(drive)[KNEE] for drive in (plain, spread))
    assert isinstance(found, Detected)
    assert found.evidence.figures["plateau_iops"] == pytest.approx(
        usual.evidence.figures["plateau_iops"], rel=0.02
    )


def test_a_knee_beyond_the_range_is_ambiguous() -> None:
    knee = findings(FakeDrive(servers=4096, capacity_bytes=4 << 30))[KNEE]
    assert isinstance(knee, Ambiguous)


class TwoStepDrive(FakeDrive):
    """Serves a third faster where the queue is deep enough to pair requests."""

    def run_list(self, *args: Any, iodepth: int = 1, **options: Any) -> Log:
        self.alpha_ns = 60_000 if iodepth > 128 else 80_000
        return super().run_list(*args, iodepth=iodepth, **options)


def test_a_second_step_is_a_caution_and_the_knee_is_that_of_the_plateau() -> None:
    knee = findings(TwoStepDrive(servers=8, sigma=0.05))[KNEE]
    assert isinstance(knee, Detected)
    assert knee.value > 128  # type: ignore[operator]
    assert 8 < knee.evidence.figures["shelf_depth"] < 128
    assert any("rises again" in caution for caution in knee.evidence.cautions)


def rows(rates: np.ndarray, depths: np.ndarray) -> Series:
    """Make a series of rates, shape (blocks, depths), in which nothing holds answers back."""
    blocks = np.repeat(np.arange(len(rates)), depths.size)
    every = np.tile(depths, len(rates)).astype(float)
    return Series.of(
        np.concatenate([every, -every]),
        np.concatenate([rates.ravel(), every]),
        stratum=np.tile(blocks, 2),
    )


class Told:
    """A drive whose rates at a depth are known: what a family asks is answered from a curve."""

    def __init__(self, rate: Callable[[np.ndarray], np.ndarray], sigma: float, inside: float = 1.0):
        self.info, self.known = FakeDrive().info, {}
        self.rate, self.inside = rate, inside
        self.sigma, self.rng = sigma, np.random.default_rng(1)

    def take(self, plan: Rates) -> Series:
        depths = np.array(plan.depths, dtype=float)
        scatter = np.exp(self.sigma * self.rng.standard_normal((plan.blocks, depths.size)))
        taken = rows(self.rate(self.inside * depths) * scatter, depths)
        taken = replace(taken, stratum=taken.stratum + MORE_BLOCKS * plan.number)
        return taken.with_y(np.where(taken.x < 0, self.inside * taken.y, taken.y))

    def found(self, _name: str) -> None:
        return None

    def progress(self, _stage: str, _share: float) -> None:
        return None


def knee_of(*given: Any) -> Finding:
    (knee,) = queue_depth.detect(Told(*given))  # type: ignore[arg-type]
    return knee


def test_a_knee_is_the_least_depth_that_reaches_it() -> None:
    """At depth 3 it is all there is, at depth 2 four fifths."""
    knee = knee_of(lambda depth: np.minimum(depth / 2.5, 1.0), 0.002)
    assert isinstance(knee, Detected)
    assert (knee.value, knee.interval) == (3, (3, 3))


@pytest.mark.parametrize(("inside", "kind"), [(0.94, Detected), (0.8, Undetectable)])
def test_what_is_held_back_is_not_inside_the_drive(
    inside: float, kind: type[Detected | Undetectable]
) -> None:
    """Of 29 requests 27 are inside; where it is fewer of 34, noise makes too much of it."""
    knee = knee_of(lambda there: np.minimum(there / 30, 1.0), 0.002, inside)
    assert isinstance(knee, kind)
    if isinstance(knee, Detected):
        assert knee.value == pytest.approx(27, rel=0.05)


def test_a_knee_that_may_lie_at_depth_one_is_not_told() -> None:
    """Depth gains about a tenth, as much as makes a knee: noise decides on which side."""
    knee = knee_of(lambda depth: np.where(depth > 1, 1.11, 1.0), 0.01)
    assert isinstance(knee, Undetectable)
    assert knee.reason is Reason.EFFECT_BELOW_NOISE


def test_one_at_a_time_may_give_all_there_is() -> None:
    knee = knee_of(lambda depth: np.where(depth > 1, 1.02, 1.0), 0.002)
    assert isinstance(knee, Absent)
    assert knee.bound < 0.03


@pytest.mark.parametrize(("sigma", "kind"), [(0.002, Detected), (0.06, Undetectable)])
def test_a_knee_that_may_be_off_by_more_than_a_tenth_is_not_told(
    sigma: float, kind: type[Detected | Undetectable]
) -> None:
    """Where a curve is nearly level at nine tenths, a little noise moves it far."""
    at, share = [1, 2, 8, 16, 256], [0.3, 0.5, 0.8, 0.99, 1.0]
    assert isinstance(knee_of(lambda depth: np.interp(depth, at, share), sigma), kind)


@pytest.mark.always(2)
@pytest.mark.parametrize("seed", range(5))
def test_noise_is_no_second_step(seed: int) -> None:
    knee = findings(FakeDrive(servers=8, sigma=0.15, spike_share=0.02, seed=seed), seed)[KNEE]
    assert isinstance(knee, Detected | Undetectable)
    assert "shelf_depth" not in knee.evidence.figures


def test_the_same_seed_gives_the_same_answer() -> None:
    first, second = (line(FakeDrive(sigma=0.1)) for _ in range(2))
    assert [f.to_json() for f in first.values()] == [f.to_json() for f in second.values()]


def test_json_has_every_key_of_the_contract() -> None:
    keys = {
        *("property", "outcome", "value", "unit", "interval", "effect", "evidence", "reason"),
        *("candidates", "bytes_written", "requests", "probe"),
    }
    for answer in line(FakeDrive()).values():
        assert keys <= set(answer.to_json())


def test_an_unknown_probe_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        session.run(["latncy"], FakeDrive(), DEFAULT, 1)  # type: ignore[arg-type]
    assert caught.value.hint == "did you mean latency? ssdscope probe list lists them"


def test_an_unknown_budget_is_refused() -> None:
    with pytest.raises(UsageError):
        Budget.parse("5 minutes")
