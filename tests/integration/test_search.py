"""Searches: the best within limits, the same in any order, stopped where there is no hope."""

import json
import signal
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import ssdscope as s
from ssdscope.errors import UsageError
from ssdscope.search import read_plan, running, search
from ssdscope.search.stopping import ENOUGH, Judge
from ssdscope.search.trials import DONE, STOPPED_EARLY
from ssdscope.sweep import Journal

DRIVE = """
default_state = "sequential"
over_provisioning_ratio = 0.15
[nand]
channels = 2
blocks_per_plane = 64
pages_per_block = 16
page_bytes = 4096
read_ns = 50_000
program_ns = 500_000
erase_ns = 2_000_000
[channel]
ns_per_byte = 5
[host]
interface = "simple"
bytes_per_second = 500e6
[ftl]
kind = "page"
"""
PLAN = """
target = "drive.toml"
state = "random"
trials = 24
at_once = 4
minimise = ["write.latency_ns.mean"]

[workload]
rw = "randwrite"
number_ios = 600

[space]
over_provisioning_ratio = {from = 0.15, to = 1.0}
nand.channels = [1, 2, 4]
nand.program_ns = ["200us", "500us", "2ms"]

[limits]
cost = 8

[cost]
nand.channels = 2
raw_bytes = "1 per 8m"
"""
FRONT = PLAN.replace('["write.latency_ns.mean"]', '["waf", "cost_per_gib"]')


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("drive.toml").write_text(DRIVE, encoding="utf-8")
    Path("plan.toml").write_text(PLAN, encoding="utf-8")
    return Path("plan.toml")


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def found_by(plan: Path, out: str, *, jobs: int = 1, seed: int = 1) -> running.Found:
    with closing(Journal(out)) as journal:
        return search(read_plan(str(plan)), journal, seed, jobs=jobs)


def test_the_best_keeps_the_limits_and_is_what_run_gives(cli, plan: Path) -> None:
    words = ("search", str(plan), "-O", "a.jsonl", "--jobs", "1", "--seed", "1")
    said = cli(*words, "-o", "json", "--write-drive", "best.toml", "--plot", "a.svg")
    assert said.status == 0, said.err
    (best,) = said.document["best"]
    assert best["figures"]["cost"] <= 8
    assert best["set"]["nand.program_ns"] == 200_000
    assert said.document["trials"]["done"] + said.document["trials"]["stopped"] == 24
    run = cli(
        "run", "best.toml", "--rw", "randwrite", "--number-ios", "600", "--seed", "1", "-o", "json"
    )
    assert run.document["write"]["latency_ns"]["mean"] == best["figures"]["write.latency_ns.mean"]
    assert run.document["target"]["drive"]["default_state"] == "random"
    assert Path("a.svg").read_text(encoding="utf-8").startswith("<?xml")
    table = pq.read_table("a.parquet").to_pydict()
    mean = table["write.latency_ns.mean"]
    assert min(each for each, cost in zip(mean, table["cost"], strict=True) if cost <= 8) <= min(
        best["figures"]["write.latency_ns.mean"], best["again"]["write.latency_ns.mean"]
    )
    told = cli("sweep", "summary", "a.jsonl", "--metric", "cost")
    assert told.status == 0, told.err
    assert "over_provisioning_ratio" in told.out


def test_a_front_is_shown_drawn_and_written_by_row(cli, plan: Path) -> None:
    plan.write_text(FRONT, encoding="utf-8")
    words = ("search", str(plan), "-O", "a.jsonl", "--jobs", "1", "--seed", "1")
    said = cli(*words, "--plot", "a.png", "--write-drive", "last.toml", "--row", "3")
    assert said.status == 0, said.err
    assert "the front of" in said.out
    assert "row 3 is in last.toml" in said.err
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    again = cli(*words, "-o", "json").document["best"]
    figures = [each["figures"] for each in again]
    assert len(figures) >= 3
    assert [each["waf"] for each in figures] == sorted(each["waf"] for each in figures)
    costs = [each["cost_per_gib"] for each in figures]
    assert costs == sorted(costs, reverse=True)
    spare = again[2]["set"]["over_provisioning_ratio"]
    assert f"over_provisioning_ratio = {spare}" in Path("last.toml").read_text(encoding="utf-8")
    refused = cli(*words, "--write-drive", "last.toml", "--row", "99")
    assert refused.status == 2
    assert "there is no 99" in refused.err


def test_trials_beside_each_other_give_the_same_search(plan: Path) -> None:
    alone, beside = found_by(plan, "a.jsonl"), found_by(plan, "b.jsonl", jobs=2)
    assert alone.trials == beside.trials
    assert alone.best == beside.best
    assert found_by(plan, "c.jsonl", seed=2).trials != alone.trials


def test_a_search_goes_on_where_it_was_cut(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = found_by(plan, "a.jsonl")
    text = Path("a.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("b.jsonl").write_text("".join(text[:9]) + text[9][:40], encoding="utf-8")
    ran: list[str] = []
    run_tasks = running.run_tasks

    def counted(tasks: Any, *, jobs: int) -> Any:
        ran.extend(each.point.key for each in tasks)
        return run_tasks(tasks, jobs=jobs)

    monkeypatch.setattr(running, "run_tasks", counted)
    assert found_by(plan, "b.jsonl").trials == whole.trials
    assert len(ran) == len(set(ran))
    assert not {each["key"] for each in lines("b.jsonl")[:9]} & set(ran)
    ran.clear()
    assert found_by(plan, "b.jsonl").best == whole.best
    assert ran == [], "all of it was there, what was stopped early as well"
    assert len(lines("b.jsonl")) == len(lines("a.jsonl"))


def test_an_interruption_keeps_what_was_run(
    cli, plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_tasks = running.run_tasks
    batches = []

    def interrupted(tasks: Any, *, jobs: int) -> Any:
        batches.append(tasks)
        if len(batches) == 3:
            raise KeyboardInterrupt
        return run_tasks(tasks, jobs=jobs)

    monkeypatch.setattr(running, "run_tasks", interrupted)
    words = ("search", str(plan), "-O", "a.jsonl", "--jobs", "1", "--seed", "1")
    said = cli(*words)
    assert said.status == 130
    assert "run it again to go on" in said.err
    assert "the best:" in said.out
    assert sum(each["record"] is not None for each in lines("a.jsonl")) == 8


def test_a_signal_in_the_middle_keeps_what_was_run(spawn: Any, plan: Path) -> None:
    plan.write_text(PLAN.replace("trials = 24", "trials = 2000"), encoding="utf-8")
    process = spawn("search", str(plan), "-O", "a.jsonl", "--jobs", "2", "--seed", "1")
    end = time.monotonic() + 60
    while not (Path("a.jsonl").exists() and len(lines("a.jsonl")) > 2):
        assert time.monotonic() < end, "no trial ended"
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "run it again to go on" in err
    assert "Traceback" not in err
    assert Path("a.parquet").exists()


def test_what_fails_in_its_run_is_told_as_of_the_whole(cli, plan: Path) -> None:
    Path("far.spc").write_text("0,99999999,4096,w,0.0\n0,8,4096,w,0.1\n", encoding="utf-8")
    text = PLAN.replace('[workload]\nrw = "randwrite"\nnumber_ios = 600', '[trace]\nfile = "F"')
    plan.write_text(text.replace('"F"', '"far.spc"'), encoding="utf-8")
    words = ("search", str(plan), "-O", "a.jsonl", "--jobs", "1", "--seed", "1", "--trials", "2")
    said = cli(*words)
    assert said.status == 1
    assert "could not be run: trace far.spc does not fit the drive: 1 of 2 requests" in said.err
    assert "no configuration could be run" in said.err


def test_hopeless_trials_are_stopped_and_the_best_is_not(plan: Path) -> None:
    hopeful = found_by(plan, "a.jsonl")
    stopped = [each for each in hopeful.trials if each.status == STOPPED_EARLY]
    assert stopped
    assert all(each.status != STOPPED_EARLY for each in hopeful.trials[:ENOUGH])
    best = hopeful.best[0].trial.figures["write.latency_ns.mean"]
    plan.write_text(PLAN.replace("at_once", "part = 0\nat_once"), encoding="utf-8")
    loaded = read_plan(str(plan))
    load = loaded.load(1)
    for each in stopped:
        whole = running.run_tasks(
            [running.Task(each.proposal.point, loaded.simulated, {}, 0.0, Judge((), ()))], jobs=1
        )
        record = next(whole).record
        assert record is not None
        assert record["workload"]["requests"] == load["requests"]
        assert record["write"]["latency_ns"]["mean"] > best, "it would not have been the best"


def test_what_cannot_work_is_refused_with_its_reason_and_the_search_goes_on(
    cli, plan: Path
) -> None:
    text = PLAN.replace("from = 0.15", "from = 0.01").replace("nand.channels =", "gc.policy =", 1)
    plan.write_text(text.replace("gc.policy = [1, 2, 4]", 'gc.policy = ["greedy"]'), "utf-8")
    said = cli("search", str(plan), "-O", "a.jsonl", "--jobs", "1", "--seed", "1", "-o", "json")
    assert said.status == 0, said.err
    assert said.document["trials"]["refused"] > 0
    assert "spare blocks" in " ".join(said.document["reasons"])
    assert "could not be run: " in said.err
    assert said.document["best"]


def test_a_limit_that_nothing_meets_is_named_with_the_nearest(cli, plan: Path) -> None:
    plan.write_text(PLAN.replace("cost = 8", "waf = 0.2\ncost = 8"), encoding="utf-8")
    said = cli("search", str(plan), "-O", "a.jsonl", "--jobs", "1", "--seed", "1", "--trials", "12")
    assert said.status == 1
    assert "nothing keeps all limits; the nearest:" in said.out
    assert "the limit is at most 0.2" in said.err
    plan.write_text(PLAN.replace("cost = 8", "cost = 0.5"), encoding="utf-8")
    said = cli("search", str(plan), "-O", "b.jsonl", "--jobs", "1", "--seed", "1", "--trials", "2")
    assert said.status == 1
    assert "0 done" in said.out
    assert "too dear" in said.out
    assert "cost is " in said.err


def test_a_figure_that_no_run_has_ends_the_search_at_once(cli, plan: Path) -> None:
    for name, hint in (
        ("read.latency_ns.mean", "write.latency_ns.mean"),
        ("counters.block_erase", "counters.block_erases"),
        ("write.latency_ns.p99_9", "a longer workload has it"),
    ):
        plan.write_text(PLAN.replace("write.latency_ns.mean", name), encoding="utf-8")
        said = cli("search", str(plan), "-O", "a.jsonl", "--jobs", "1", "--seed", "1")
        assert said.status == 2, said.err
        assert f"the runs have no {name}" in said.err
        assert hint in said.err


def test_all_of_a_small_space_is_tried_and_no_more(cli, plan: Path) -> None:
    text = PLAN.replace("over_provisioning_ratio = {from = 0.15, to = 1.0}\n", "")
    plan.write_text(text, encoding="utf-8")
    said = cli("search", str(plan), "-O", "a.jsonl", "--jobs", "1", "--seed", "1")
    assert said.status == 0, said.err
    assert "there was nothing new to try" in said.out
    with_record = [each for each in lines("a.jsonl") if each["record"]]
    assert 6 <= len({json.dumps(each["point"]["varied"]) for each in with_record}) <= 9


def test_a_trace_is_searched_for(cli, plan: Path) -> None:
    rows = "".join(f"0,{unit * 37 % 4096 * 8},4096,w,{unit / 400}\n" for unit in range(400))
    Path("trace.spc").write_text(rows, encoding="utf-8")
    text = PLAN.replace('[workload]\nrw = "randwrite"\nnumber_ios = 600', '[trace]\nfile = "T"')
    plan.write_text(text.replace('"T"', '"trace.spc"\nfit = "wrap"'), encoding="utf-8")
    words = ("search", str(plan), "-O", "a.jsonl", "--jobs", "1", "--seed", "1", "--trials", "14")
    said = cli(*words, "-o", "json", "--write-drive", "best.toml")
    assert said.status == 0, said.err
    best = said.document["best"][0]["figures"]["write.latency_ns.mean"]
    run = cli("replay", "best.toml", "trace.spc", "--fit", "wrap", "--seed", "1", "-o", "json")
    assert run.document["write"]["latency_ns"]["mean"] == best
    assert any("part" in each for each in lines("a.jsonl"))
    refused = cli("search", str(plan), "-O", "trace.spc.jsonl", "--write-drive", "plan.toml")
    assert refused.status == 2
    assert "inputs and outputs are files of their own" in refused.err


def test_what_is_to_do_is_told_without_a_file(cli, plan: Path) -> None:
    said = cli("search", str(plan), "-O", "a.jsonl", "--dry-run", "--seed", "1")
    assert said.status == 0, said.err
    assert "24 trials of any number of configurations" in said.out
    assert "limit cost: at most 8" in said.out
    assert not Path("a.jsonl").exists()
    told = cli("search", str(plan), "--dry-run", "--seed", "1", "-o", "json").document
    assert told["search"]["limits"] == {"cost": 8.0}


def test_the_library_searches_as_the_command_does(cli, plan: Path) -> None:
    words = ("--jobs", "1", "--seed", "3", "--trials", "24", "-o", "json")
    told = cli("search", str(plan), "-O", "a.jsonl", *words).document
    made = s.run_search(plan, out="b.jsonl", jobs=1, seed=3)
    assert made.best == told["best"]
    assert "description" in made.to_toml()
    assert made.to_frame().num_rows == told["trials"]["done"] + len(told["best"])
    with pytest.raises(IndexError, match="found 1 row"):
        made.to_toml(2)
    with pytest.raises(UsageError, match="jobs: 0 is no number of runs"):
        s.run_search(plan, jobs=0)
    assert sum(each.status == DONE for each in made.found.trials) == told["trials"]["done"]
