"""``ssdscope run`` through the native module: the document, the log, the exit codes."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ssdscope.errors import UsageError
from ssdscope.results import read_log
from ssdscope.targets import open_target

Cli = Callable[..., "object"]
LATENCY_KEYS = {
    "mean",
    "stddev",
    "ci95_low",
    "ci95_high",
    "min",
    "p50",
    "p90",
    "p95",
    "p99",
    "p99_9",
    "max",
}


def test_the_document_of_a_run_has_the_keys_scripts_rely_on(cli) -> None:
    said = cli(
        "run", "sim:msr-4gb", "--rw", "randwrite", "--bs", "8k",
        "--number_ios", "300", "--seed", "1", "-o", "json",
    )  # fmt: skip
    assert said.status == 0
    document = said.document
    assert document["schema_version"] == 1
    assert document["tool"]["name"] == "ssdscope"
    assert document["seed"] == document["workload"]["seed"] == 1
    assert document["target"]["uri"] == "sim:msr-4gb"
    assert document["target"]["kind"] == "simulated"
    assert document["target"]["drive"]["ftl"]["kind"] == "msr"
    assert document["requests"] == document["write"]["requests"] == 300
    assert document["read"] is None
    assert document["write"]["bytes"] == 300 * 8192
    assert document["write"]["latency_ns"].keys() == LATENCY_KEYS
    assert document["counters"]["host_bytes_written"] == 300 * 8192
    parts = document["write"]["attribution_ns"]
    assert sum(parts.values()) == pytest.approx(document["write"]["latency_ns"]["mean"])


def test_the_same_seed_prints_the_same_bytes(cli) -> None:
    words = ("run", "sim:mqsim-8g", "--rw", "randrw", "--number-ios", "500", "--iodepth", "4")
    first = cli(*words, "--seed", "7", "-o", "json")
    assert first.out == cli(*words, "--seed", "7", "-o", "json").out
    assert first.out != cli(*words, "--seed", "8", "-o", "json").out


def test_a_drawn_seed_is_told_and_the_repeat_line_repeats(cli) -> None:
    said = cli("run", "sim:mqsim-8g", "--rw", "randread", "--number-ios", "100", "-o", "json")
    repeat = said.err.splitlines()[-1]
    assert repeat.startswith("repeat: ssdscope run sim:mqsim-8g ")
    assert f"--seed {said.document['seed']}" in repeat
    assert cli(*repeat.removeprefix("repeat: ssdscope ").split()).out == said.out


def test_every_rate_and_statistic_is_that_of_the_log(cli, tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    said = cli(
        "run", "sim:mqsim-8g", "--rw", "randrw", "--rwmixread", "70", "--bs", "4k,16k",
        "--number-ios", "4000", "--iodepth", "8", "--seed", "3", "--log", str(path), "-o", "json",
    )  # fmt: skip
    document = said.document
    log, stored = read_log(path)
    assert stored == document == json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert len(log) == document["requests"] == 4000
    elapsed_ns = int(log.complete_ns.max() - log.submit_ns.min())
    assert elapsed_ns == document["elapsed_ns"]
    for op, name in ((0, "read"), (1, "write")):
        rows, stats = log.select(log.op == op), document[name]
        latency = np.sort(rows.latency_ns)
        assert stats["requests"] == len(rows)
        assert stats["bytes"] == rows.bytes.sum()
        assert stats["iops"] == pytest.approx(len(rows) / elapsed_ns * 1e9)
        assert stats["bandwidth_bytes_per_s"] == pytest.approx(rows.bytes.sum() / elapsed_ns * 1e9)
        assert stats["latency_ns"]["mean"] == pytest.approx(latency.mean())
        assert stats["latency_ns"]["stddev"] == pytest.approx(latency.std(ddof=1))
        for key, share in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)):
            rank = int(np.ceil(share * len(latency)))
            assert stats["latency_ns"][key] == latency[rank - 1], key
        assert stats["latency_ns"]["p99_9"] is None, "four requests or fewer lie beyond"
        causes = rows.attribution_ns
        assert causes is not None
        assert (np.sum(list(causes.values()), axis=0) == rows.latency_ns).all()
    share_read = document["read"]["requests"] / 4000
    assert 0.65 < share_read < 0.75


def test_a_run_until_the_interval_is_narrow(cli) -> None:
    said = cli(
        "run", "sim:mqsim-8g", "--rw", "randread", "--iodepth", "8",
        "--until-ci", "2%", "--seed", "1", "-o", "json",
    )  # fmt: skip
    latency = said.document["read"]["latency_ns"]
    assert said.status == 0
    assert said.document["stopped_by"] == "until_ci"
    assert (latency["ci95_high"] - latency["ci95_low"]) / 2 <= 0.02 * latency["mean"]


def test_an_interval_not_reached_is_exit_code_3(cli) -> None:
    said = cli(
        "run", "sim:mqsim-8g", "--rw", "randread", "--iodepth", "8", "--number-ios", "100",
        "--until-ci", "0.1%", "--seed", "1", "-o", "json",
    )  # fmt: skip
    assert said.status == 3
    assert said.document["until_ci_reached"] is False
    assert "did not come within 0.1%" in said.err


STEADY = ("--rw", "randwrite", "--bs", "64k", "--size", "64m", "--number-ios", "100")


def test_a_steady_state_is_written_before_the_run(cli) -> None:
    said = cli("run", "sim:mqsim-8g", *STEADY, "--until-steady", "--seed", "1", "-o", "json")
    assert said.status == 0
    steady = said.document["steady_state"]
    assert steady["reached"] is True
    assert steady["bytes_written"] >= 2 * 64 * 1024 * 1024
    assert said.document["write"]["requests"] == 100


def test_a_steady_state_not_reached_is_exit_code_3(cli) -> None:
    said = cli(
        "run", "sim:mqsim-8g", *STEADY, "--until-steady", "--seed", "1", "-o", "json",
        "--set", "disturbance.drift_ratio=1", "--set", "disturbance.drift_period_ns=400000000",
    )  # fmt: skip
    assert said.status == 3
    assert said.document["steady_state"]["reached"] is False
    assert said.document["steady_state"]["bytes_written"] >= 3.9 * 64 * 1024 * 1024
    assert "had not come to rest" in said.err


@pytest.mark.parametrize("rw", [("randread",), ("read",), ("randrw", "--rwmixread", "100")])
def test_reads_have_nothing_to_settle_and_are_measured(cli, rw: tuple[str, ...]) -> None:
    """Reads and writes take the same command line, so that one script measures both."""
    words = ("run", "sim:ryu-c", "--rw", *rw, "--bs", "4k", "--iodepth", "1", "--size", "64m")
    words = (*words, "--number_ios", "300", "--state", "steady:64m", "--seed", "1", "-o", "json")
    said, without = cli(*words, "--until-steady"), cli(*words)
    assert said.status == 0, said.err
    assert "--until-steady: reads move no data" in said.err
    assert said.document["requests"] == 300
    assert said.document["read"] == without.document["read"]
    assert "steady_state" not in said.document


def test_flows_that_write_come_to_no_steady_state(cli) -> None:
    flows = ("--flow", "rw=randread", "--flow", "rw=write")
    said = cli("run", "sim:mqsim-8g", *flows, "--number-ios", "10", "--until-steady")
    assert said.status == 2
    assert "--until-steady is for one workload" in said.err


def test_the_table_is_for_people(cli) -> None:
    said = cli("run", "sim:mqsim-8g", "--number-ios", "100", "--seed", "1")
    assert said.status == 0
    assert "mean us" in said.out
    assert "read time went to: nand" in said.out
    assert said.out.count("\n") < 10


def test_raid0_of_simulated_drives(cli) -> None:
    said = cli(
        "run", "raid0:sim:msr-4gb,sim:msr-4gb?chunk=64k", "--rw", "randread", "--bs", "128k",
        "--number-ios", "50", "--seed", "1", "-o", "json",
    )  # fmt: skip
    target = said.document["target"]
    assert target["kind"] == "raid0"
    assert [member["uri"] for member in target["members"]] == ["sim:msr-4gb"] * 2
    assert target["capacity_bytes"] >= 2 * target["members"][0]["capacity_bytes"] - 2 * 65536


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--bs", "4KB"), "--bs: '4KB' can be read as 4,096 bytes or as 4,000 bytes"),
        (("--runtime", "10x"), "--runtime: '10x' is not a time"),
        (("--until-ci", "0.05"), "--until-ci: '0.05' has no % sign"),
        (("--until-ci", "100%"), "cannot be waited for"),
        (("--rw", "sideways"), "--rw: 'sideways' is not an access pattern"),
        (("--iodepth", "0"), "--iodepth: '0' is not a positive whole number"),
        (("--bs", "1000"), "512"),
        (("--offset", "1t"), "offset"),
        (("--state", "old"), "'old' is not a state"),
        (("--set", "nand.raed_ns=1"), "nand.read_ns"),
        (("--set", "nand"), "KEY=VALUE"),
        (("--frobnicate",), "no such option"),
        (("--seed", "-1"), "--seed: -1 is not between"),
        (("--log", "x.csv"), ".parquet"),
        (("--log", "nowhere/x.parquet"), "nowhere"),
    ],
)
def test_bad_options_are_refused_with_exit_code_2(
    cli, words: tuple[str, ...], expected: str
) -> None:
    said = cli("run", "sim:mqsim-8g", "--number-ios", "10", *words)
    assert said.status == 2, said.err
    assert expected in said.err
    assert said.out == ""
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("target", "status", "expected"),
    [
        ("sim:mqsim-9g", 2, "mqsim-8g"),
        ("missing.bin", 2, "missing.bin"),
        ("missing.toml", 2, "missing.toml"),
        ("nbd+unix:///x?socket=/tmp/none", 1, "no NBD server answers"),
        ("nbd://example.org/x", 2, "127.0.0.1"),
        ("raid0:sim:mqsim-8g,null:", 2, "clock"),
        ("/dev/null", 2, "/dev/null"),
        ("/", 2, "directory"),
    ],
)
def test_bad_targets_are_refused(cli, target: str, status: int, expected: str) -> None:
    said = cli("run", target, "--number-ios", "1")
    assert said.status == status, said.err
    assert expected in said.err
    assert "hint:" in said.err or expected == "clock"


def test_state_and_set_are_for_simulated_drives_only(cli) -> None:
    for words in (("--state", "fresh"), ("--set", "nand.read_ns=1")):
        said = cli("run", "null:", "--number-ios", "1", *words)
        assert said.status == 2
        assert f"{words[0]} does not apply" in said.err


def test_a_dry_run_says_what_would_be_written(cli, tmp_path: Path) -> None:
    path = tmp_path / "zeros.bin"
    path.write_bytes(bytes(2**20))
    words = ("run", str(path), "--rw", "randwrite", "--dry-run", "-o", "json")
    plan = cli(*words).document["plan"]
    assert (plan["writes_bytes"], plan["writable"], plan["share_of_life"]) == (2**20, False, None)
    allowed = ("--destroy-data", "FILE:zeros.bin", "--rated-writes", "100m")
    plan = cli(*words, *allowed).document["plan"]
    assert (plan["writable"], plan["share_of_life"]) == (True, 0.01)
    timed = cli("run", str(path), "--rw", "write", "--dry-run", "--runtime", "10s")
    assert "only time ends it" in timed.out
    assert "10.0 s" in timed.out or "10 s" in timed.out
    assert path.read_bytes() == bytes(2**20)


def test_a_run_of_a_thousand_years_ends_with_what_was_measured(cli) -> None:
    said = cli(
        "run", "sim:msr-4gb", "--rw", "randread", "--number_ios", "30",
        "--thinktime", "999999999s", "--seed", "1",
    )  # fmt: skip
    assert said.status == 1
    assert "2^63 ns (292 years)" in said.err
    assert "randread 4k: 10 requests" in said.out


def test_idle_time_ends_with_the_clock() -> None:
    device = open_target("sim:msr-4gb", seed=1).device
    device.idle(1 << 62)
    with pytest.raises(UsageError, match="292 years"):
        device.idle(1 << 62)
