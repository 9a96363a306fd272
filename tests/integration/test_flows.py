"""``ssdscope run --flow``: several workloads at the same time, through the native module."""

from pathlib import Path

import numpy as np
import pytest

from ssdscope.results import read_log
from ssdscope.seeds import numbered
from ssdscope.targets import open_target
from ssdscope.workloads import Flow, Flows, Workload

FLOWS = (
    "--flow", "name=reader rw=randread iodepth=4 number_ios=400",
    "--flow", "name=writer rw=write bs=64k iodepth=2 number_ios=100",
)  # fmt: skip
QUEUES = (
    "--set", "host.queues=2", "--set", "host.queue_depth=8",
    "--set", 'host.arbitration="priority"',
)  # fmt: skip


def test_every_flow_has_the_statistics_of_its_rows(cli, tmp_path: Path) -> None:
    path = tmp_path / "flows.parquet"
    said = cli(
        "run", "sim:mqsim-8g", *FLOWS, "--size", "1g", "--seed", "1", "--log", str(path),
        "-o", "json",
    )  # fmt: skip
    assert said.status == 0, said.err
    document = said.document
    log, stored = read_log(path)
    assert stored == document
    assert log.flow is not None
    assert [flow["name"] for flow in document["flows"]] == ["reader", "writer"]
    for place, flow in enumerate(document["flows"]):
        rows = log.select(log.flow == place)
        stats = flow["read"] or flow["write"]
        elapsed_ns = int(rows.complete_ns.max() - rows.submit_ns.min())
        assert (flow["requests"], flow["elapsed_ns"]) == (len(rows), elapsed_ns)
        assert stats["latency_ns"]["mean"] == pytest.approx(rows.latency_ns.mean())
        assert stats["latency_ns"]["max"] == int(np.max(rows.latency_ns))
        assert stats["iops"] == pytest.approx(len(rows) * 1e9 / elapsed_ns)
        assert sum(stats["attribution_ns"].values()) == pytest.approx(rows.latency_ns.mean())
        assert flow["stopped_by"] == "requests"
        assert flow["workload"]["seed"] == numbered(1, place, "workloads.flows")
    assert document["requests"] == 500
    assert document["read"]["requests"] == 400
    assert document["workload"]["flows"][1]["workload"]["block_bytes"] == 65536


def test_the_text_shows_each_flow_and_all_together(cli) -> None:
    said = cli("run", "sim:mqsim-8g", *FLOWS, "--size", "1g", "--seed", "1")
    assert said.status == 0, said.err
    assert "2 flows: 500 requests in " in said.out
    for label in ("reader read", "writer write", "all read", "all write"):
        assert any(line.startswith(label) for line in said.out.splitlines()), said.out
    assert "reader read time went to: " in said.out


def test_a_file_of_flows_and_exitall(cli, tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(
        '[global]\nsize = "64m"\n[short]\nrw = "randread"\nnumber_ios = 50\n'
        '[long]\nrw = "read"\nnumber_ios = 100000\n',
        encoding="utf-8",
    )
    said = cli("run", "sim:mqsim-8g", "--jobs", str(jobs), "--exitall", "--seed", "1", "-o", "json")
    short, long = said.document["flows"]
    assert short["requests"] == 50
    assert long["requests"] < 100
    assert long["stopped_by"] == said.document["stopped_by"] == "requests"


def test_priorities_decide_who_is_fetched(cli) -> None:
    both = ("--rw", "randread", "--size", "1g", "--runtime", "100ms", "--iodepth", "32")

    def share(*classes: str) -> float:
        flows = [word for each in zip(("--flow", "--flow"), classes, strict=True) for word in each]
        said = cli(
            "run", "sim:mqsim-8g", *both, *QUEUES, "--seed", "3", *flows, "-o", "json"
        )  # fmt: skip
        assert said.status == 0, said.err
        first, second = (flow["requests"] for flow in said.document["flows"])
        return first / (first + second)

    assert share("name=a priority=high", "name=b priority=low") == pytest.approx(0.8, abs=0.02)
    assert share("name=a priority=low", "name=b priority=low") == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("target", ["null:", "raid0:sim:mqsim-8g,sim:mqsim-8g?chunk=64k"])
def test_every_target_takes_flows(cli, target: str) -> None:
    said = cli("run", target, *FLOWS, "--size", "64m", "--seed", "1", "-o", "json")
    assert said.status == 0, said.err
    assert [flow["requests"] for flow in said.document["flows"]] == [400, 100]


def test_a_file_takes_flows(cli, tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    path.write_bytes(b"x" * 2**20)
    said = cli(
        "run", str(path), "--flow", "name=a rw=randread number_ios=50",
        "--flow", "name=b rw=read number_ios=20 arrival=fixed rate_iops=2000",
        "--seed", "1", "-o", "json",
    )  # fmt: skip
    assert said.status == 0, said.err
    a, b = said.document["flows"]
    assert (a["requests"], a["latency_from"]) == (50, "submission")
    assert (b["requests"], b["latency_from"]) == (20, "arrival")
    assert b["elapsed_ns"] >= 19 * 500_000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--flow", "name=a priority=high"), "flow a: priority: the queues of this device have no"),
        (("--flow", "name=a iodepth=100000"), "flow a: iodepth: 100000 is not between 1 and 65536"),
        (("--flow", "name=a", "--until-ci", "5%"), "flow a: until_ci: "),
        (("--flow", "name=a arrival=poisson"), "flow a: arrival: requests that arrive"),
        (("--flow", "name=a", "--flow", "name=a"), "there are two flows of this name"),
        (("--flow", "oops"), "'oops' is not option=value"),
        (("--arrival", "poisson"), "--arrival: requests that arrive by themselves need rate_iops"),
    ],
)
def test_what_cannot_be_meant_is_refused(cli, words: tuple[str, ...], message: str) -> None:
    said = cli("run", "sim:mqsim-8g", *words, "--seed", "1")
    assert said.status == 2
    assert message in said.err
    assert "Traceback" not in said.err


def test_flows_run_from_python_and_one_has_no_column() -> None:
    target = open_target("sim:mqsim-8g", seed=1)
    parts = []
    plan = Flows((Flow("only", Workload("randread", requests=30, size_bytes=2**20)),))
    result = target.device.run_flows(plan, chunk=parts.append)
    assert result.requests == result.summary["flows"][0]["requests"] == 30
    assert parts[0].flow is None
