"""A drive with log blocks from its file to the command line."""

from pathlib import Path

import pytest

DRIVE = str(Path(__file__).parents[2] / "examples" / "drives" / "log-block.toml")


def test_the_example_drive_has_no_fault(cli) -> None:
    assert cli("drives", "check", DRIVE).status == 0


def test_random_writes_wait_for_merges(cli) -> None:
    said = cli(
        "run", DRIVE, "--rw", "randwrite", "--bs", "4k",
        "--number-ios", "200", "--seed", "1", "-o", "json",
    )  # fmt: skip
    assert said.status == 0, said.err
    document = said.document
    assert document["target"]["drive"]["ftl"]["kind"] == "log-block"
    merges = document["counters"]["merges"]
    # The first sixteen blocks find a log block; a merge follows for nearly every other write.
    assert merges["full"] + merges["partial"] == pytest.approx(200 - 16, abs=6)
    assert document["counters"]["gc_pages_moved"] == pytest.approx(512 * merges["full"], rel=0.02)
    parts = document["write"]["attribution_ns"]
    mean = document["write"]["latency_ns"]["mean"]
    assert sum(parts.values()) == pytest.approx(mean)
    assert parts["merge"] > 0.8 * mean
    assert parts["gc"] == 0


def test_units_written_in_order_are_switched(cli) -> None:
    said = cli("run", DRIVE, "--rw", "write", "--bs", "1m", "--number-ios", "50", "-o", "json")
    assert said.document["counters"]["merges"] == {"switch": 50, "partial": 0, "full": 0}
    assert said.document["counters"]["waf"] == 1.0


def test_too_many_log_blocks_are_refused_with_both_values(cli) -> None:
    said = cli("run", DRIVE, "--set", "ftl.log_blocks=2000", "--rw", "read")
    assert said.status == 2
    assert "2000 log blocks and one to merge into are more than the 136 spare blocks" in said.err


def test_a_probe_measures_it_like_any_other(cli) -> None:
    said = cli("probe", "latency", DRIVE, "--seed", "1", "-o", "json")
    assert said.status == 0, said.err
    found = {finding["property"]: finding for finding in said.document["findings"]}
    assert found["read_latency_beta_ns_per_byte"]["outcome"] == "detected"
    # Small reads rise in steps, through which the line passes at some distance.
    alpha = found["read_latency_alpha_ns"]
    assert alpha["outcome"] == "detected"
    assert 0.02 < alpha["evidence"]["typical_relative_error"] < 0.1
    assert alpha["value"] < alpha["evidence"]["exhibits"][0]["series"][0]["y"][0]
