"""Budgets bind: times are read, work and seconds are counted, and what is over ends a call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ssdscope import report
from ssdscope.cli.app import run_cli
from ssdscope.errors import UsageError
from ssdscope.findings import Finding, Reason, Undetectable
from ssdscope.probes import registry, session
from ssdscope.probes.again import decide
from ssdscope.probes.bench import ledger
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.plan import State, Stopped
from ssdscope.probes.record import Record
from ssdscope.report import planning, spending, stages
from ssdscope.targets import Device, open_target, pieces
from ssdscope.targets.copies import Course, run_on_copies
from ssdscope.targets.endurance import rated_bytes
from ssdscope.targets.metered import ExhaustedError, Limits, MeteredDevice, Spent
from ssdscope.targets.records import OP_FLUSH, OP_READ, OP_WRITE, Progress
from ssdscope.targets.work import CALL_S, FlashWork, Work
from ssdscope.workloads import Workload

PAGE = 4096


@pytest.mark.parametrize(
    ("text", "seconds", "repetitions", "heavy"),
    [
        ("default", 60, 1, False),
        ("90s", 90, 2, False),
        ("5m", 300, 5, False),
        ("2h", 7200, 120, False),
        ("full", 900, 15, True),
        ("full:2h", 7200, 120, True),
    ],
)
def test_a_budget_is_any_time(text: str, seconds: int, repetitions: int, heavy: bool) -> None:
    assert Budget.parse(text) == Budget(text, seconds, repetitions, heavy)


@pytest.mark.parametrize("text", ["7", "0s", "5 minutes", "full:", "fuller", "100ms", ""])
def test_what_is_no_time_is_refused_with_what_is(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        Budget.parse(text)
    assert "90s" in str(caught.value.hint)


def greedy(bench: Bench) -> Iterator[Finding]:
    """Read until it is stopped."""
    while True:
        bench.read(np.zeros(1000, np.uint64), PAGE)


def probe(**changes: Any) -> ProbeInfo:
    plain = ProbeInfo("test", "", "light", ("rmw_unit_bytes",), "", greedy, least_bytes=0)
    return replace(plain, **changes)


def told(device: Device, budget: Budget, monkeypatch: pytest.MonkeyPatch, one: ProbeInfo) -> Any:
    monkeypatch.setattr(registry, "_PROBES", (one,))
    (found,) = session.run(["test"], device, budget, 1)
    return found


def test_work_ends_a_probe_on_a_simulated_drive_whatever_the_machine_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = open_target("sim:msr-4gb", seed=1).device
    budget = Budget("test", 0.1, 1)
    found = [told(device, budget, monkeypatch, probe()) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0].reason is Reason.BUDGET_EXHAUSTED
    calls = found[0].requests / 1000
    spent = calls * CALL_S + Work(found[0].requests, found[0].requests * PAGE).seconds
    assert 0.095 < spent <= 0.1


def test_a_state_that_takes_longer_than_what_is_left_is_not_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = open_target("sim:msr-4gb", seed=1).device
    filled = probe(state=State.FILLED)
    found = told(device, Budget("test", 0.1, 1), monkeypatch, filled)
    assert isinstance(found, Undetectable)
    assert (found.reason, found.bytes_written) == (Reason.BUDGET_EXHAUSTED, 0)


def test_a_probe_that_could_not_begin_is_decided_upon_again_as_it_was(tmp_path: Path) -> None:
    device = open_target("sim:msr-4gb", seed=1).device
    record = Record()
    first = session.run(["units"], device, Budget("test", 0.1, 1), 1, record=record)
    assert {each.reason for each in first} == {Reason.BUDGET_EXHAUSTED}
    record.save(tmp_path / "series.npz")
    again = {each.name: each for each in decide(Record.load(tmp_path / "series.npz"))}
    assert {each.name: (each.reason, each.evidence) for each in first} == {
        each.name: (again[each.name].reason, again[each.name].evidence) for each in first
    }


DEAR = ("nand.blocks_per_plane=64", "over_provisioning_ratio=1.0", "write_buffer.bytes=4194304")
"""Writes cost more work than is expected of them: a buffer takes them in unit by unit."""


@pytest.mark.parametrize(("share", "ends"), [(1.6, False), (20.0, True)])
def test_a_state_that_turns_out_dearer_is_given_up_in_time(
    share: float, ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "PIECE_BYTES", 16 << 20)
    device = open_target("sim:mqsim-8g", sets=DEAR, seed=1).device
    expected_s = Work(bytes_written=2 * device.info.capacity_bytes).seconds
    budget = Budget("test", share * expected_s, 1)
    bench = Bench(device, budget, 1)
    before = device.flash_work().seconds
    with bench.allowance(1 << 40, wall_s=budget.wall_s):
        if not ends:
            with pytest.raises(Stopped, match="its time is over"):
                bench.enter(State.SHUFFLED)
            spent = device.flash_work().seconds - before
            assert 0 < spent < budget.wall_s
            with pytest.raises(Stopped, match="its time is over"):
                bench.enter(State.SHUFFLED)
            assert device.flash_work().seconds - before == spent
        else:
            bench.enter(State.SHUFFLED)


@pytest.mark.parametrize("written_before", [0, 64 << 20])
def test_a_long_step_that_cannot_end_is_not_gone_on_with(
    written_before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If earlier writes show what they cost it is not begun, else it ends once that is known."""
    monkeypatch.setattr(ledger, "SETTLED_S", 0.02)
    bench = Bench(open_target("sim:mqsim-8g", sets=DEAR, seed=1).device, Budget("test", 60, 1), 1)
    size = 16 * PAGE
    places = np.arange(1 << 10, dtype=np.uint64) * size
    with bench.allowance(1 << 40, wall_s=60):
        bench.write(places[: written_before // size], size)
    whole, before = 2 << 30, bench.bytes_written
    needed_s = Work(bytes_written=whole).seconds

    def step() -> None:
        with bench.allowance(1 << 40, wall_s=1.2 * needed_s), bench.foreseen(whole):
            for _ in range(whole // size // places.size):
                bench.write(places, size)

    with pytest.raises(Stopped) as caught:
        step()
    assert caught.value.reason is Reason.BUDGET_EXHAUSTED
    written = bench.bytes_written - before
    assert written == 0 if written_before else 0 < written < whole / 4


def test_a_list_in_pieces_is_asked_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(piece_bytes: int, **pacing: Any) -> tuple[Any, int]:
        device = open_target("sim:mqsim-8g", sets=DEAR, seed=1)
        calls, run_list = [], device.device.run_list

        def counted(*columns: Any, **pacing: Any) -> Any:
            calls.append(pacing)
            return run_list(*columns, **pacing)

        monkeypatch.setattr(device.device, "run_list", counted)
        monkeypatch.setattr(pieces, "PIECE_BYTES", piece_bytes)
        bench = Bench(device.device, Budget("test", 60, 1), 1)
        ops = np.resize([OP_READ, OP_WRITE, OP_FLUSH, OP_WRITE], 2000)
        offsets = np.random.default_rng(1).integers(0, 1000, 2000) * PAGE
        flushes = ops == OP_FLUSH
        offsets[flushes], lengths = 0, np.where(flushes, 0, PAGE)
        with bench.allowance(1 << 40, wall_s=60):
            log = bench.issue(ops, offsets, lengths, **pacing)
        return {name: column.tolist() for name, column in log.columns.items()}, len(calls)

    pauses = {"pauses_ns": np.where(np.arange(2000) % 7 == 0, 50_000, 0)}
    for pacing in ({}, pauses):
        whole, once = asked(1 << 40, **pacing)
        parts, several = asked(64 * PAGE, **pacing)
        assert (once, several) == (1, 16)
        assert whole == parts
    assert asked(64 * PAGE, iodepth=4)[1] == 1


class Clock:
    """A clock of the machine that only moves when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


@pytest.mark.parametrize(("fraction", "says"), [(0.01, "would take 495 s more"), (0.9, "over")])
def test_a_call_to_a_real_drive_ends_when_time_is_over_or_will_be(
    fraction: float, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)

    class Slow:
        info = replace(open_target("sim:msr-4gb", seed=1).device.info, clock="wall", snapshot=False)

        def foreign_bytes(self) -> None:
            return None

        def run(self, _plan: Any, *, progress: Any, **_unused: Any) -> Any:
            for _ in range(3):
                clock.now += 5
                progress(Progress(1, 1, fraction, 1.0, None))
            raise AssertionError("it was not ended")

    bench = Bench(Slow(), Budget("test", 60, 1), 1)  # type: ignore[arg-type]
    with bench.allowance(1 << 40, wall_s=12), pytest.raises(Stopped, match=says) as caught:
        bench.enter(State.FILLED)
    assert caught.value.reason is Reason.BUDGET_EXHAUSTED


def test_a_meter_counts_forks_too_and_what_a_run_leaves_out() -> None:
    device = MeteredDevice(open_target("sim:msr-4gb", seed=1).device)
    device.run(Workload("randread", requests=100, ramp_requests=10))
    device.fork().run(Workload("randwrite", requests=50))
    device.run_list([0, 1], [0, 0], [PAGE, 2 * PAGE])
    spent = device.spent
    assert spent.requests == 110 + 50 + 2
    assert (spent.bytes_read, spent.bytes_written) == (111 * PAGE, 52 * PAGE)


def test_a_stage_writes_no_more_than_it_declared_and_ends_in_time() -> None:
    drive = open_target("sim:msr-4gb", seed=1).device
    device = MeteredDevice(drive, Limits(writes_bytes=10 * PAGE))
    device.run(Workload("randwrite", requests=1000))
    assert device.spent.bytes_written == 10 * PAGE
    with pytest.raises(ExhaustedError, match="declared"):
        device.run(Workload("randwrite", requests=1))
    device.run(Workload("randread", requests=1))
    with pytest.raises(ExhaustedError, match="time"):
        MeteredDevice(drive, Limits(ends_s=0.0)).run(Workload("randread", requests=1))


def test_stages_share_what_is_left_and_end_with_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, allowed = Clock(monkeypatch), {}

    def spend(name: str, share: float) -> Any:
        def run(job: Any, _progress: Any) -> None:
            allowed[name] = job.budget.wall_s
            clock.now += share * job.budget.wall_s

        return run

    idle = {"trace": 0.0, "sustained": 0.0, "findings": 0.5}
    shares = {name: idle.get(name, 1.0) for name, _ in stages.STAGES}
    monkeypatch.setattr(stages, "RUN", {name: spend(name, shares[name]) for name in shares})
    out = tmp_path / "page.html"
    done = report.characterize(
        open_target("null:1m"), budget=Budget.parse("100s"), seed=1, out_html=out
    )
    used = done.to_json()["provenance"]["spent"]
    assert used["used_seconds"] < 100
    assert sum(allowed[name] * shares[name] for name in shares) < 100
    assert allowed["performance"] > 1.2 * 100 * dict(stages.STAGES)["performance"]
    assert [each["name"] for each in used["stages"]] == [name for name, _ in stages.STAGES]
    assert "What was used of the budget" in out.read_text(encoding="utf-8")


def test_a_plan_says_what_is_written_and_what_has_to_be_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nothing = report.planned(open_target("null:1t"), Budget.parse("default"))
    assert nothing.writes_bytes == 0
    simulated = open_target("sim:msr-4gb", seed=1)
    free = report.planned(simulated, Budget.parse("default"))
    free.require_asked()
    assert free.rated_bytes == rated_bytes(simulated) == 8 * 8 * 256 * 64 * PAGE * 50
    assert free.share_of_life == free.writes_bytes / free.rated_bytes
    monkeypatch.setattr(spending, "disk_bytes", lambda _: 1 << 30)
    assert report.planned(open_target("null:1t"), Budget.parse("default")).writes_bytes > 0
    real = report.planned(simulated, Budget.parse("default"), rated_bytes=1 << 40)
    with pytest.raises(UsageError, match="thousandth") as caught:
        real.require_asked()
    assert "--budget full" in str(caught.value.hint)
    report.planned(simulated, Budget.parse("full"), rated_bytes=1 << 40).require_asked()
    assert isinstance(real.to_json()["needs_full_budget"], bool)


@pytest.mark.parametrize("command", [("characterize",), ("probe", "all"), ("probe", "spare")])
def test_a_dry_run_says_what_would_be_written_and_writes_nothing(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, written = tmp_path / "drive.bin", tmp_path / "page.html"
    path.write_bytes(b"\0" * (32 << 20))
    more = ["-O", str(written)] if command == ("characterize",) else []
    words = [*command, str(path), "--destroy-data", "FILE:drive.bin", "--dry-run", *more]
    assert run_cli([*words, "--rated-writes", "1t", "--budget", "5m"]) == 0
    out = capsys.readouterr().out
    assert "may spend 300 s of time and write up to" in out
    assert "% of what it is rated for" in out
    assert not written.exists()
    assert path.read_bytes() == b"\0" * (32 << 20)
    assert run_cli([*words, "--rated-writes", "1g"]) == 0
    assert "has to be asked for: --budget full" in capsys.readouterr().out
    refused = [word for word in words if word != "--dry-run"]
    assert run_cli([*refused, "--rated-writes", "1g"]) == 2
    assert "--budget full allows it" in capsys.readouterr().err
    assert path.read_bytes() == b"\0" * (32 << 20)


def test_what_copies_of_a_stage_s_drive_write_later_is_counted() -> None:
    plan = spending.Plan("sim:x", Budget.parse("default"), (), 0, None, None, simulated=True)
    account, spent = spending.Account(plan), Spent()
    spent.add(1, 0, 4096)
    account.add("sustained", spending.Took(1.0, 1.0, 1.0), 1.0, spent)
    spent.add(2, 0, 8192)
    assert account.to_json()["bytes_written"] == 3 * 4096
    assert account.to_json()["stages"][0]["requests"] == 3


def test_what_is_left_of_a_page_is_planned_alone() -> None:
    drive = open_target("sim:mqsim-8g", seed=1)
    rest = report.planned(drive, Budget.parse("default"), done=["findings", "performance"])
    names = ["start", "overview", "sustained", "distribution", "models", "twin", "advice", "page"]
    assert [part.name for part in rest.parts] == names
    assert sum(part.seconds or 0.0 for part in rest.parts) == pytest.approx(60)
    assert rest.writes_of("sustained") > drive.capacity_bytes
    assert rest.writes_of("twin") == rest.writes_of("page") == 0
    assert spending.plan_in_words(rest).endswith("it is simulated, and left as it was found")


def test_a_budget_that_does_not_reach_for_the_page_is_said_to_take_longer() -> None:
    plan = report.planned(open_target("sim:ryu-a", seed=1), Budget.parse("1s"))
    assert plan.seconds == planning.START_S + planning.PAGE_S + planning.LEAST_S
    assert "1 s were asked for, which is less than it takes" in spending.plan_in_words(plan)


def test_runs_side_by_side_write_no_more_than_their_stage_may() -> None:
    """Each alone would fit; what is set aside for one is not there for the next."""
    device = MeteredDevice(
        open_target("sim:msr-4gb", seed=1).device, Limits(writes_bytes=25 * PAGE)
    )
    plans = [Workload("randwrite", requests=10, seed=seed) for seed in range(4)]
    outcomes = list(run_on_copies([Course(device, [plan]) for plan in plans]))
    assert [len(each.results) for each in outcomes] == [1, 1, 1, 0]
    assert isinstance(outcomes[3].failure, ExhaustedError)
    assert device.spent.bytes_written == 25 * PAGE
    assert device.spent.booked_bytes == 0
    reads = list(run_on_copies([Course(device, [Workload("randread", requests=10)])]))
    assert reads[0].failure is None


def test_a_copy_may_have_a_part_of_what_is_left_for_itself() -> None:
    device = MeteredDevice(
        open_target("sim:msr-4gb", seed=1).device, Limits(writes_bytes=100 * PAGE)
    )
    parts = [device.fork(0.1), device.fork(0.9)]
    for part in parts:
        part.run(Workload("randwrite", requests=500))
    assert [part.spent.bytes_written for part in parts] == [10 * PAGE, 90 * PAGE]
    assert device.spent.bytes_written == 100 * PAGE


def test_work_on_a_simulated_drive_is_counted_alike_on_every_machine() -> None:
    def left_s() -> float:
        limits = Limits(work_s=1.0)
        device = MeteredDevice(open_target("sim:msr-4gb", seed=1).device, limits)
        device.fork().run(Workload("randwrite", requests=1000))
        return device.left_s()

    assert left_s() == left_s()
    assert 0.9 < left_s() < 1.0
    assert MeteredDevice(open_target("sim:msr-4gb").device, Limits(work_s=0.0)).left_s() == 0


@pytest.mark.parametrize("drive", ["ryu-a", "huang-ssd-i", "nvme-dramless", "msr-4gb"])
def test_explicit_requests_are_work_as_drawn_ones_are(drive: str) -> None:
    """And so are requests that a run leaves out of its figures, and what a drive does at rest."""
    device = open_target(f"sim:{drive}", seed=1).device

    def spent_s(do: Callable[[MeteredDevice], object]) -> float:
        meter = MeteredDevice(device.fork())
        do(meter)
        return meter.spent.work_s

    places, ops = np.arange(2000) * PAGE, np.full(2000, OP_WRITE)
    listed = spent_s(lambda meter: meter.run_list(ops, places, np.full(2000, PAGE)))
    drawn = spent_s(lambda meter: meter.run(Workload("write", iodepth=1, requests=2000)))
    assert listed == pytest.approx(drawn, rel=0.1)
    ramped = Workload("write", iodepth=1, requests=1000, ramp_requests=1000)
    assert spent_s(lambda meter: meter.run(ramped)) == pytest.approx(drawn, rel=0.1)


def test_what_a_drive_does_at_rest_is_work() -> None:
    device = MeteredDevice(open_target("sim:nvme-tlc", seed=1).device.fork())
    device.run(Workload("write", block_bytes=1 << 20, iodepth=8, requests=2000))
    before = device.spent.work_s
    device.idle(5_000_000_000)
    folded = device.counters() or {}
    assert folded["pslc_pages_folded"] > 0
    assert device.spent.work_s > before


def test_merges_that_go_as_others_did_are_less_work_than_pages() -> None:
    """What is taken as done is not counted as if each page had been simulated."""
    drive = open_target("sim:kuo-samsung-slc", seed=1).device.fork()
    result = drive.run(Workload("randwrite", iodepth=1, requests=50))
    taken = FlashWork.of(result.counters)
    assert 0 < taken.steps < taken.pages / 3
    assert taken == drive.flash_work()


def test_a_drive_and_what_it_counted_say_the_same_of_its_work() -> None:
    drive = open_target("sim:nvme-dramless", seed=1).device.fork()
    before = drive.flash_work()
    result = drive.run(Workload("randrw", iodepth=8, requests=5000))
    taken = FlashWork.of(result.counters)
    assert taken.loaded > 0
    made = zip(drive.flash_work(), before, strict=True)
    assert taken == tuple(after - there for after, there in made)
