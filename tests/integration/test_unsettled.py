"""What starts from a steady state with another workload says that it has not settled for it."""

import json
from pathlib import Path

import pytest

TARGET = ("sim:msr-4gb", "--seed", "1", "-o", "json", "--state", "steady:64m")
WRITES = ("--size", "64m", "--number-ios", "200", "--bs", "4k")


@pytest.mark.parametrize(
    ("options", "differs_in"),
    [
        (("--rw", "randwrite"), None),
        (("--rw", "randread"), None),
        (("--rw", "randwrite", "--bs", "32k"), ["size"]),
        (("--rw", "randrw", "--iodepth", "4"), ["reads between writes", "depth"]),
        (("--rw", "write"), ["order"]),
        (("--rw", "randwrite", "--size", "32m"), ["region"]),
        (("--rw", "randwrite", "--thinktime", "1ms"), ["pace"]),
        (("--flow", "rw=randwrite"), ["being several at once"]),
    ],
)
def test_another_workload_is_said_not_to_have_settled(cli, options, differs_in) -> None:
    said = cli("run", *TARGET, *WRITES, *options)
    assert said.status == 0
    assert said.document.get("unsettled", {}).get("differs_in") == differs_in
    assert ("may still drift" in said.err) == (differs_in is not None)
    if differs_in and "being" not in differs_in[0]:
        assert "--until-steady" in said.err


def test_other_states_are_not_said_to_have_settled_for_anything(cli) -> None:
    said = cli("run", *TARGET[:-1], "random", *WRITES, "--rw", "randwrite", "--bs", "32k")
    assert "unsettled" not in said.document


def test_until_steady_settles_the_workload_itself(cli) -> None:
    said = cli("run", *TARGET, *WRITES, "--rw", "randwrite", "--bs", "32k", "--until-steady")
    assert "steady_state" in said.document
    assert "unsettled" not in said.document
    assert "may still drift" not in said.err


def test_a_trace_that_writes_has_not_settled(cli, tmp_path: Path) -> None:
    trace = tmp_path / "small.csv"
    trace.write_text("".join(f"{at},host,0,Write,{at * 4096},4096,0\n" for at in range(1, 40)))
    said = cli("replay", TARGET[0], str(trace), *TARGET[1:], "--format", "msr")
    assert said.document["unsettled"]["differs_in"] == ["being a trace"]


def test_a_sweep_says_how_many_runs_have_not(cli, tmp_path: Path) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out.jsonl"
    plan.write_text(
        'targets = ["sim:msr-4gb"]\nstate = "steady:64m"\n[workload]\nrw = "randwrite"\n'
        'size = "64m"\nnumber_ios = 50\n[grid]\nbs = ["4k", "32k"]\n'
    )
    said = cli("sweep", str(plan), "-O", str(out), "--jobs", "1")
    assert "1 of the runs" in said.err
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert sum("unsettled" in json.dumps(row) for row in rows) == 1
