"""Several workloads, as words on a command line and as tables of a file."""

import json
from pathlib import Path

import pytest

from ssdscope.errors import UsageError
from ssdscope.seeds import numbered
from ssdscope.workloads import Flow, Flows, Workload
from ssdscope.workloads.flow_options import in_flow_names, read_flows

WEB = "name=web rw=randread bs=4k iodepth=8 priority=high"
COMMON = {"rw": "read", "bs": "4k", "runtime": "1s", "iodepth": None}


def _file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "jobs.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_second_names_of_fio_are_taken_over_what_all_flows_have(tmp_path: Path) -> None:
    words = read_flows(["blocksize=8k"], None, COMMON, exit_all=False)
    file = read_flows((), _file(tmp_path, "[a]\nblocksize = '8k'"), COMMON, exit_all=False)
    assert words is not None
    assert file is not None
    for flows in (words, file):
        assert flows.flows[0].workload.block_bytes == 8192


def test_words_are_options_over_those_of_all_flows() -> None:
    flows = read_flows([WEB, "--rw=write --number-ios=7"], None, COMMON, exit_all=True)
    assert flows is not None
    second = numbered(5, 1, "workloads.flows")
    assert flows.seeded(5) == Flows(
        (
            Flow(
                "web",
                Workload(rw="randread", iodepth=8, runtime_ns=10**9, seed=5),
                priority="high",
            ),
            Flow("flow2", Workload(rw="write", runtime_ns=10**9, requests=7, seed=second)),
        ),
        exit_all=True,
    )
    assert flows.writes
    document = json.loads(flows.to_json())
    assert document["exit_all"] is True
    assert [flow["name"] for flow in document["flows"]] == ["web", "flow2"]


def test_a_file_says_the_same_in_tables(tmp_path: Path) -> None:
    words = read_flows([WEB, "name=log rw=write bs=64k fua=True"], None, COMMON, exit_all=True)
    path = _file(
        tmp_path,
        """
        [global]
        runtime = "1s"
        exitall = true
        [web]
        rw = "randread"
        iodepth = 8
        priority = "high"
        [log]
        rw = "write"
        bs = "64k"
        fua = true
        """,
    )
    assert read_flows([], path, {"bs": "4k"}, exit_all=False) == words


def test_a_turn_is_so_many_requests() -> None:
    flows = read_flows(["name=r turn=8", "rw=write"], None, {}, exit_all=False)
    assert flows is not None
    assert [flow.turn for flow in flows.flows] == [8, None]
    assert [flow["turn"] for flow in flows.to_dict()["flows"]] == [8, None]


def test_no_flows_are_none() -> None:
    assert read_flows([], None, COMMON, exit_all=False) is None


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["rw"], "--flow 1: 'rw' is not option=value"),
        ([" "], "--flow 1: it is empty"),
        (['name="x'], "--flow 1: 'name=\"x': No closing quotation"),
        (["rw=read rw=write"], "--flow 1: rw is given twice"),
        ([WEB, WEB], "--flow web: there are two flows of this name"),
        (["name=a", "block=4k"], "--flow flow2: block: there is no such option"),
        (["name=a bs=4KB"], "--flow a: bs: "),
        (["name=a priority=top"], "--flow a: priority: 'top' is unknown"),
        (["name=a arrival=sometimes"], "arrival: 'sometimes' is unknown"),
        (["name=a turn=none"], "--flow a: turn: 'none' is not a positive whole number"),
        (["name= rw=read"], "--flow : a flow needs a name"),
    ],
)
def test_bad_words_are_refused(texts: list[str], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_flows(texts, None, COMMON, exit_all=False)
    assert message in refused.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rw = 'read'", "rw stands outside of a table"),
        ("[web\n", "not TOML"),
        ("[global]\nrw = 'read'\n", "there is no flow"),
        ("[web]\nblock = '4k'\n", "[web]: block: there is no such option"),
        ("[global]\nexitall = 'yes'\n[web]\n", "[global] exitall is 'yes'"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_flows([], _file(tmp_path, text), COMMON, exit_all=False)
    assert message in refused.value.message


def test_what_contradicts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--flow and --jobs both name flows"):
        read_flows([WEB], _file(tmp_path, "[web]\n"), COMMON, exit_all=False)
    with pytest.raises(UsageError, match="--exitall: there are no flows"):
        read_flows([], None, COMMON, exit_all=True)
    with pytest.raises(UsageError, match=r"cannot read nowhere\.toml"):
        read_flows([], "nowhere.toml", COMMON, exit_all=False)


def test_faults_found_by_the_driver_are_told_in_the_options_names() -> None:
    found = UsageError(
        "flow web: block_bytes: 5 is not a multiple\n"
        "flow log: priority: the queues of this device have no classes\n"
        "flow log: there are two of this name\n"
        "300 requests in flight"
    )
    told = in_flow_names(found)
    assert told.message.splitlines() == [
        "flow web: bs: 5 is not a multiple",
        "flow log: priority: the queues of this device have no classes",
        "flow log: there are two of this name",
        "300 requests in flight",
    ]
    assert told.hint is not None
    assert "host.arbitration" in told.hint
