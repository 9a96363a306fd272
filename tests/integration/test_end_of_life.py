"""A drive that wears out, from its file to the command line."""

from pathlib import Path

import pytest

DRIVE = """
description = "short-lived"
over_provisioning_ratio = 1.0
[nand]
channels = 1
blocks_per_plane = 16
pages_per_block = 8
page_bytes = 4096
read_ns = 50_000
program_ns = 600_000
erase_ns = 3_000_000
endurance_erases = 20
[channel]
ns_per_byte = 2.5
[ftl]
kind = "page"
[gc]
min_free_blocks = 2
stop_writes_blocks = 1
"""


@pytest.fixture
def drive(tmp_path: Path) -> str:
    path = tmp_path / "short.toml"
    path.write_text(DRIVE)
    return str(path)


def test_a_drive_at_the_end_of_its_life_says_so(cli, drive: str) -> None:
    said = cli(
        "run", drive, "--state", "fresh", "--rw", "randwrite", "--bs", "4k",
        "--number-ios", "5000", "--seed", "1", "-o", "json",
    )  # fmt: skip
    # The run ends when nothing but failures comes back; what was measured is kept.
    assert said.status == 1, said.err
    assert "reached its end of life and can only be read" in said.err
    counters = said.document["counters"]
    assert counters["read_only"] is True
    assert counters["erase_histogram"][20] == counters["retired_blocks"] > 4
    assert 500 < said.document["requests"] < 16 * 8 * 20


def test_reads_go_on(cli, drive: str) -> None:
    said = cli(
        "run", drive, "--state", "fresh", "--rw", "randrw", "--bs", "4k",
        "--number-ios", "10000", "--seed", "1", "-o", "json",
    )  # fmt: skip
    assert said.status == 3, said.err
    assert "end of life" in said.err
    assert "failed and are left out" in said.err
    document = said.document
    assert document["read"]["requests"] > document["write"]["requests"] > 300
    assert document["requests"] + document["failed_requests"] == 10_000


def test_a_young_drive_says_nothing(cli, drive: str) -> None:
    said = cli("run", drive, "--state", "fresh", "--rw", "write", "--bs", "4k", "-o", "json")
    assert said.status == 0, said.err
    assert "end of life" not in said.err
    assert said.document["counters"]["read_only"] is False
