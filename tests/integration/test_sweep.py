"""Sweeps: every combination once, resumed where it stopped, one row per run."""

import json
import resource
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from scipy import stats as scipy_stats

from ssdscope.cli.progress import time_left
from ssdscope.sweep import Journal, points_of, read_plan, run_points
from ssdscope.targets import open_target

PLAN = """
targets = ["sim:msr-4gb"]
repeats = 2

[workload]
rw = "randwrite"
number_ios = 20

[grid]
bs = ["8k", "64k"]

[set]
"gc.policy" = ["greedy", "wear-aware"]
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    return path


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_combination_is_run_once_and_tabled(cli, plan: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    said = cli("sweep", str(plan), "-O", str(out), "--jobs", "1", "--seed", "1", "-o", "json")
    assert said.status == 0, said.err
    assert said.document["runs"] == said.document["done"] == 8
    documents = lines(out)
    assert len({document["key"] for document in documents}) == 8
    assert len({document["point"]["seed"] for document in documents}) == 2
    table = pq.read_table(out.with_suffix(".parquet")).to_pydict()
    assert sorted(set(table["varied.bs"])) == ["64k", "8k"]
    assert min(table["write.latency_ns.mean"]) > 0
    assert set(table["requests"]) == {20}


def test_ranges_double_and_wrong_ones_are_refused(cli, plan: Path) -> None:
    plan.write_text(PLAN.replace('["8k", "64k"]', '"8k:64k"'), encoding="utf-8")
    points = points_of(read_plan(str(plan)), 1)
    sizes = {point.workload["block_bytes"] for point in points}
    assert sizes == {8192, 16384, 32768, 65536}
    plan.write_text(PLAN.replace('["8k", "64k"]', '"8k:60k"'), encoding="utf-8")
    said = cli("sweep", str(plan), "--dry-run")
    assert said.status == 2
    assert "grid.bs" in said.err
    assert "never meets 60k" in said.err


def test_a_point_gives_what_the_same_run_gives(cli, plan: Path) -> None:
    point = points_of(read_plan(str(plan)), 1)[0]
    outcome = next(run_points([point], jobs=1))
    said = cli(
        "run", "sim:msr-4gb", "--rw", "randwrite", "--bs", "8k", "--number-ios", "20",
        "--set", "gc.policy=greedy", "--seed", str(point.seed), "-o", "json",
    )  # fmt: skip
    assert outcome.record is not None
    assert outcome.record["write"] == said.document["write"]


def test_a_region_in_percent_is_that_share_of_each_drive(plan: Path) -> None:
    text = PLAN.replace("[grid]", 'offset = "50%"\n[grid]\nsize = ["10%", "1m"]')
    plan.write_text(text, encoding="utf-8")
    points = points_of(read_plan(str(plan)), 1)
    records = [outcome.record for outcome in run_points(points, jobs=1)]
    ran = [record["workload"] for record in records if record]
    half = open_target("sim:msr-4gb").device.info.capacity_bytes // 2
    assert len({point.key for point in points}) == len(ran) == 16
    assert {each["offset_bytes"] for each in ran} == {half // size * size for size in (8192, 65536)}
    shares = sorted(each["size_bytes"] / (2 * half) for each in ran)
    assert shares[8:] == pytest.approx([0.1] * 8, rel=0.01)
    assert shares[7] < 0.001


def test_only_what_is_missing_is_run(cli, plan: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    words = ("sweep", str(plan), "-O", str(out), "--jobs", "1", "-o", "json")
    cli(*words)  # the seed is drawn, and stored
    whole, table = lines(out), out.with_suffix(".parquet").read_bytes()
    text = "\n".join(json.dumps(document) for document in whole[:5]) + "\n"
    out.write_text(text + json.dumps(whole[5])[:40], encoding="utf-8")  # cut in mid-line
    said = cli(*words)
    assert "8 runs, 5 of them done before" in said.err
    again = lines(out)
    assert len(again) == 8
    by_key = {document["key"]: document["record"]["write"] for document in whole}
    assert by_key == {document["key"]: document["record"]["write"] for document in again}
    assert out.with_suffix(".parquet").read_bytes() == table


def test_processes_give_the_same_as_one(plan: Path) -> None:
    points = points_of(read_plan(str(plan)), 1)
    alone = {outcome.point.key: outcome.record for outcome in run_points(points, jobs=1)}
    beside = {outcome.point.key: outcome.record for outcome in run_points(points, jobs=2)}
    assert alone == beside


def test_a_run_that_fails_is_kept_as_such_and_tried_again(cli, plan: Path, tmp_path: Path) -> None:
    plan.write_text(PLAN.replace('"64k"]', '"9t"]'), encoding="utf-8")
    out = tmp_path / "out.jsonl"
    said = cli("sweep", str(plan), "-O", str(out), "--jobs", "1", "--seed", "1", "-o", "json")
    assert said.status == 1
    assert said.document["failed"] == 4
    assert said.document["done"] == 4
    assert all(bool(each["error"]) != bool(each["record"]) for each in lines(out))
    with closing(Journal(out)) as journal:
        assert len(journal.keys) == 4


def test_a_defect_in_a_run_is_a_failure_of_that_run(
    cli, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(target: str, **options: Any) -> Any:
        if options["sets"] == ("gc.policy=greedy",):
            raise RuntimeError("what nobody thought of")
        return open_target(target, **options)

    monkeypatch.setattr("ssdscope.sweep.runner.open_target", broken)
    words = ("sweep", str(plan), "-O", str(tmp_path / "out.jsonl"), "--jobs", "1", "--seed", "1")
    said = cli(*words)
    assert said.status == 1
    assert "4 failed: RuntimeError: what nobody thought of" in said.err
    assert "done" in said.out
    assert len(lines(tmp_path / "out.jsonl")) == 8
    monkeypatch.undo()
    assert cli(*words).status == 0


def test_a_trace_that_changes_under_a_sweep_is_refused(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trace = tmp_path / "web.spc"
    trace.write_text("0,0,4096,r,0.0\n0,8,4096,r,0.5\n", encoding="utf-8")
    plan.write_text('targets = ["null:1g"]\n[workload]\ntrace = "web.spc"\n', encoding="utf-8")
    points = points_of(read_plan(str(plan)), 1)
    (fine,) = run_points(points, jobs=1)
    assert fine.record is not None
    assert fine.record["trace"]["requests"] == 2
    trace.write_text("0,0,4096,r,0.0\n", encoding="utf-8")
    (refused,) = run_points(points, jobs=1)
    assert "is not the one that the sweep was planned with" in str(refused.error)


def test_a_full_disk_is_told_and_all_before_it_stays(
    cli, spawn: Any, plan: Path, tmp_path: Path
) -> None:
    plan.write_text(PLAN.replace("repeats = 2", "repeats = 8"), encoding="utf-8")
    out = tmp_path / "out.jsonl"
    words = ("sweep", str(plan), "-O", str(out), "--jobs", "1", "--seed", "1")
    room = 100_000

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    process = spawn(*words, preexec_fn=limited)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"cannot write {out}: File too large" in err
    assert "Traceback" not in err
    kept = out.read_text(encoding="utf-8").splitlines()
    assert 10 < len(kept) < 32
    said = cli(*words)
    assert said.status == 0, said.err
    assert f"32 runs, {len(kept) - 1} of them done before" in said.err
    assert len(pq.read_table(out.with_suffix(".parquet"))) == len(lines(out)) == 32


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("targets = [", "not TOML"),
        ("", "targets"),
        ('targets = "sim:a"', "targets is not a list"),
        ('targets = ["sim:msr-4gb"]\nrepeats = 0', "repeats"),
        ('targets = ["sim:msr-4gb"]\nrepeats = true', "repeats"),
        ('targets = ["sim:msr-4gb"]\nworkloads = 1', "workloads is not a list"),
        ('targets = ["sim:msr-4gb"]\n[grid]\nbs = "4k"', "grid.bs is not a list"),
        ('targets = ["sim:msr-4gb"]\n[workload]\nbs = "4KB"', "bs: '4KB' can be read as"),
        ('targets = ["sim:msr-4gb"]\n[workload]\nblock = "4k"', "no such option"),
        ('targets = ["sim:nope"]', "no drive named 'nope'"),
        ('targets = ["sim:msr-4gb"]\nstate = "old"', "not a state"),
    ],
)
def test_bad_plans_are_refused(cli, plan: Path, tmp_path: Path, text: str, expected: str) -> None:
    plan.write_text(text, encoding="utf-8")
    said = cli("sweep", str(plan), "-O", str(tmp_path / "out.jsonl"), "--seed", "1")
    assert said.status == 2, said.err
    assert expected in said.err
    assert "Traceback" not in said.err


def test_another_file_is_not_taken_for_a_journal(cli, plan: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"a": 1}\n', encoding="utf-8")
    said = cli("sweep", str(plan), "-O", str(other))
    assert said.status == 2
    assert "line 1 is not an outcome of a sweep" in said.err
    assert other.read_text(encoding="utf-8") == '{"a": 1}\n'


def test_a_line_cut_short_of_somebody_else_stays(cli, plan: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    for text, expected in (('{"a": 1}\n{"b"', "line 1 is not an outcome"), ("a", "whole line")):
        other.write_text(text, encoding="utf-8")
        said = cli("sweep", str(plan), "-O", str(other))
        assert said.status == 2
        assert expected in said.err
        assert other.read_text(encoding="utf-8") == text


def test_what_is_to_do_is_told_without_a_file(cli, plan: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    said = cli("sweep", str(plan), "-O", str(out), "--dry-run", "--seed", "1")
    assert said.status == 0, said.err
    assert len(said.out.splitlines()) == 8
    assert not out.exists()


def test_what_is_to_do_is_told_with_the_seed_that_it_began_with(
    cli, plan: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    cli("sweep", str(plan), "-O", str(out), "--jobs", "1", "--seed", "7")
    before = out.read_bytes()
    said = cli("sweep", str(plan), "-O", str(out), "--dry-run", "-o", "json")
    assert said.document["seed"] == 7
    assert out.read_bytes() == before


def test_two_sweeps_do_not_write_one_file(cli, plan: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with closing(Journal(out)):
        said = cli("sweep", str(plan), "-O", str(out))
    assert said.status == 2
    assert "another process is writing" in said.err
    assert out.read_text(encoding="utf-8") == ""


def test_the_example_plan_is_a_plan() -> None:
    folder = Path(__file__).parents[2] / "examples"
    for example in folder.glob("*.toml"):
        if example.name.startswith("search-"):
            continue  # a plan of a search
        assert points_of(read_plan(str(example)), 1)


def test_the_summary_is_the_mean_over_seeds(cli, plan: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert cli("sweep", str(plan), "-O", str(out), "--jobs", "1", "--seed", "1").status == 0
    said = cli("sweep", "summary", str(out), "--metric", "write.iops", "-o", "json")
    rows = said.document["combinations"]
    assert [row["varied"]["bs"] for row in rows] == ["8k", "8k", "64k", "64k"]
    for row in rows:
        mine = [
            each["record"]["write"]["iops"]
            for each in lines(out)
            if {"target": each["point"]["target"]} | each["point"]["varied"] == row["varied"]
        ]
        found = row["metrics"]["write.iops"]
        half = scipy_stats.t.ppf(0.975, 1) * abs(mine[0] - mine[1]) / 2
        assert row["runs"] == 2
        assert found["mean"] == pytest.approx(sum(mine) / 2)
        assert found["high"] - found["mean"] == pytest.approx(half, abs=1e-6)
    text = cli("sweep", "summary", str(out)).out
    assert "write.latency_us.mean" in text
    assert "target" not in text, "it was not varied"


def test_a_failed_run_is_told_with_its_reason(cli, plan: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    plan.write_text(PLAN.replace('"64k"', '"6k"'), encoding="utf-8")
    said = cli("sweep", str(plan), "-O", str(out), "--jobs", "1", "--seed", "1")
    assert said.status == 1
    assert "4 failed: " in said.err
    assert said.err.count("4 failed: ") == 1, "the same reason is told once"
    told = cli("sweep", "summary", str(out))
    assert told.status == 0
    assert "bs=6k" in told.err
    assert "2 failed: " in told.err


def test_a_plot_has_a_line_per_combination(cli, plan: Path, tmp_path: Path) -> None:
    out, picture = tmp_path / "out.jsonl", tmp_path / "out.svg"
    assert cli("sweep", str(plan), "-O", str(out), "--jobs", "1", "--seed", "1").status == 0
    assert cli("sweep", "plot", str(out), "-O", str(picture), "--x", "bs").status == 0
    assert picture.read_text(encoding="utf-8").startswith("<?xml")
    refused = cli("sweep", "plot", str(out), "-O", str(picture), "--x", "depth")
    assert refused.status == 2
    assert "'depth' was not varied" in refused.err
    refused = cli("sweep", "summary", str(out), "--metric", "write.iop")
    assert refused.status == 2
    assert "write.iops" in refused.err


def test_what_is_no_result_is_told_so(cli, plan: Path, tmp_path: Path) -> None:
    for name, said in ((plan, "line 1 is not an outcome"), (tmp_path / "none", "No such file")):
        told = cli("sweep", "summary", str(name))
        assert told.status == 2
        assert said in told.err


@pytest.mark.parametrize(
    ("elapsed_s", "share", "told"),
    [
        (5.0, 0.0, ""),
        (5.0, 0.5, ", 0:05 min left"),
        (60.0, 0.25, ", 3:00 min left"),
        (600.0, 0.25, ", 30 min left"),
        (3600.0, 0.2, ", 4 h 0 min left"),
        (5.0, 1.0, ""),
    ],
)
def test_the_time_left_is_that_of_runs_so_far(elapsed_s: float, share: float, told: str) -> None:
    assert time_left(elapsed_s, share) == told


def test_the_bar_has_failures(cli, plan: Path, tmp_path: Path) -> None:
    plan.write_text(PLAN.replace('"64k"', '"6k"'), encoding="utf-8")
    words = ("-O", str(tmp_path / "out.jsonl"), "--jobs", "1", "--progress", "always")
    said = cli("sweep", str(plan), *words, "--seed", "1")
    assert "8 of 8 runs, 4 failed" in said.err
