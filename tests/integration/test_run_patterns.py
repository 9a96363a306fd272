"""``ssdscope run``: uFLIP's patterns, each seen in the requests that the drive was given."""

import json
from pathlib import Path

import numpy as np
import pytest

from ssdscope.results import read_log
from ssdscope.targets import Log

KIB, MIB = 1 << 10, 1 << 20
DRIVE = "sim:ryu-b"


@pytest.fixture
def logged(cli, tmp_path: Path):
    def run(*words: str) -> Log:
        path = tmp_path / "run.parquet"
        said = cli("run", DRIVE, *words, "--seed", "1", "--log", str(path))
        assert said.status == 0, said.err
        log, _ = read_log(path)
        return log.select(np.argsort(log.index))

    return run


def test_backwards_in_place_and_with_gaps(logged) -> None:
    order = ("--rw", "read", "--bs", "32k", "--size", "320k", "--number-ios", "12")
    backwards = logged(*order, "--stride", "-64k").offset_bytes
    assert list(backwards) == [32 * KIB * place for place in (*range(9, -1, -1), 9, 8)]
    assert set(logged(*order, "--stride", "-32k", "--offset", "1m").offset_bytes) == {MIB}
    gaps = logged(*order, "--stride", "64k").offset_bytes
    assert list(gaps[:5]) == [32 * KIB * place for place in (0, 3, 6, 9, 0)]


def test_partitions_take_turns(logged) -> None:
    log = logged(
        "--rw", "write", "--bs", "32k", "--size", "8m", "--partitions", "4", "--number-ios", "10"
    )  # fmt: skip
    expected = [place % 4 * 2 * MIB + place // 4 * 32 * KIB for place in range(10)]
    assert list(log.offset_bytes) == expected


def test_each_job_has_its_region(logged) -> None:
    log = logged(
        "--rw", "randread", "--bs", "32k", "--size", "1m", "--offset", "2m", "--numjobs", "3",
        "--offset-increment", "4m", "--number-ios", "50",
    )  # fmt: skip
    region, within = np.divmod(log.offset_bytes.astype(int) - 2 * MIB, 4 * MIB)
    assert sorted(region) == [0] * 50 + [1] * 50 + [2] * 50
    assert within.max() < MIB
    assert (within % (32 * KIB) == 0).all()


def test_a_burst_ends_in_a_pause(logged) -> None:
    log = logged(
        "--rw", "read", "--bs", "4k", "--size", "1m", "--thinktime", "3ms",
        "--thinktime-blocks", "4", "--number-ios", "13",
    )  # fmt: skip
    idle_ns = log.submit_ns[1:] - log.complete_ns[:-1]
    assert list(np.flatnonzero(idle_ns)) == [3, 7, 11]
    assert set(idle_ns[[3, 7, 11]]) == {3_000_000}


def test_flows_in_turn_alternate(cli, tmp_path: Path) -> None:
    path = tmp_path / "mix.parquet"
    said = cli(
        "run", DRIVE, "--size", "1g", "--number-ios", "9", "--flow", "name=r rw=randread turn=3",
        "--flow", "name=w rw=write bs=32k", "--seed", "1", "--log", str(path), "-o", "json",
    )  # fmt: skip
    assert said.status == 0, said.err
    log, _ = read_log(path)
    assert log.flow is not None
    assert list(log.flow) == [0, 0, 0, 1] * 3
    assert (log.submit_ns[1:] >= log.complete_ns[:-1]).all()
    first, second = said.document["flows"]
    assert (first["read"]["requests"], second["write"]["requests"]) == (9, 3)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--partitions", "3", "--rw", "randread"], "--partitions: are for requests in order"),
        (["--thinktime-blocks", "3"], "--thinktime-blocks: there is no pause to make"),
        (["--stride", "-100"], "--stride: 100 is not a multiple of the drive's"),
        (["--numjobs", "2", "--offset-increment", "1t"], "--offset-increment: puts the last of"),
        (["--flow", "turn=2 iodepth=4"], "flow flow1: iodepth: flows that take turns"),
        (["--flow", "turn=0"], "--flow flow1: turn: '0' is not a positive whole number"),
    ],
)
def test_what_makes_no_sense_is_refused(cli, words: list[str], told: str) -> None:
    said = cli("run", DRIVE, *words)
    assert said.status == 2
    assert told in said.err


def test_a_sweep_takes_the_same_options(cli, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'targets = ["{DRIVE}"]\nseed = 1\n[workload]\nrw = "write"\nbs = "32k"\nsize = "8m"\n'
        'number_ios = 20\n[grid]\npartitions = [1, 4]\nstride = ["0", "-64k"]\n',
        encoding="utf-8",
    )
    said = cli("sweep", str(plan), "-O", str(tmp_path / "out.jsonl"))
    assert said.status == 0, said.err
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    workloads = [json.loads(line)["point"]["workload"] for line in lines]
    found = {(each["partitions"], each["stride_bytes"]) for each in workloads}
    assert found == {(1, 0), (1, -64 * KIB), (4, 0), (4, -64 * KIB)}
