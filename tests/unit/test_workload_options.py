"""fio's options into a workload, and back into text."""

import json

import pytest

from ssdscope.errors import UsageError
from ssdscope.workloads import ReplayOptions, Workload
from ssdscope.workloads.options import (
    ALIASES,
    ELSEWHERE,
    OPTIONS,
    default_options,
    instead,
    standard,
    workload_from_options,
)
from ssdscope.workloads.workload import BlockShare


def test_every_option_sets_its_field() -> None:
    typed = {
        "rw": "randrw",
        "bs": "8k",
        "rwmixread": "70",
        "iodepth": "4",
        "numjobs": "2",
        "offset": "1m",
        "offset_increment": "512m",
        "size": "1g",
        "io_size": "2g",
        "number_ios": "300",
        "runtime": "10s",
        "until_ci": "5%",
        "thinktime": "80us",
        "thinktime_blocks": "10",
        "rate_iops": "1000",
        "arrival": "poisson",
        "fsync": "32",
        "fua": True,
        "percentage_random": "50%",
        "stride": "64k",
        "partitions": "8",
        "random_start": True,
        "ramp_ios": "10",
        "ramp_time": "1s",
    }
    assert typed.keys() | DRAWN.keys() == OPTIONS.keys()
    assert workload_from_options(typed, seed=9) == Workload(
        rw="randrw",
        block_bytes=8192,
        read_percent=70,
        iodepth=4,
        numjobs=2,
        offset_bytes=2**20,
        offset_increment_bytes=2**29,
        size_bytes=2**30,
        io_bytes=2**31,
        requests=300,
        runtime_ns=10**10,
        until_ci=0.05,
        thinktime_ns=80_000,
        thinktime_every=10,
        rate_iops=1000,
        arrival="poisson",
        fsync_every=32,
        fua=True,
        percentage_random=50,
        stride_bytes=65536,
        partitions=8,
        random_start=True,
        ramp_requests=10,
        ramp_ns=10**9,
        seed=9,
    )


DRAWN = {"bssplit": "4k/60:64k/40", "rate": "1m", "random_distribution": "zipf:1.2", "direct": "1"}


def test_what_is_drawn_and_what_is_always_so() -> None:
    assert workload_from_options(DRAWN, seed=9) == Workload(
        rw="read",
        block_split=(BlockShare(4096, 60), BlockShare(65536, 40)),
        rate_bytes=2**20,
        random_distribution={"zipf": 1.2},
        seed=9,
    )


def test_reads_and_writes_may_differ() -> None:
    pairs = {"bs": "4k,16k", "percentage_random": "100,0", "stride": "0,64k"}
    workload = workload_from_options({"rw": "rw", **pairs}, seed=1)
    assert (workload.read_block_bytes, workload.write_block_bytes) == (4096, 16384)
    assert (workload.read_percentage_random, workload.write_percentage_random) == (100, 0)
    assert (workload.read_stride_bytes, workload.write_stride_bytes) == (0, 65536)


def test_direct_is_always_on_and_shares_are_of_the_drive() -> None:
    for option, text, words in (
        ("direct", "0", "0 asks for the page cache"),
        ("direct", "2", "'2' is neither 0 nor 1"),
        ("size", "0%", "'0%' is not a part of the drive"),
        ("size", "101%", "'101%' is not a part of the drive"),
        ("verify", "crc32c", "there is no such option"),
        ("random_distribution", "zipf:1.2:0.5", "'zipf:1.2:0.5': '1.2:0.5' is not a number"),
    ):
        with pytest.raises(UsageError, match=f"^--{option.replace('_', '-')}: {words}") as refusal:
            workload_from_options({option: text}, seed=1)
        assert refusal.value.hint
    half = workload_from_options({"size": "50%", "offset": "25%", "io_size": "200%"}, seed=1)
    fitted = half.within(2**30 + 8192)
    assert (fitted.size_bytes, fitted.offset_bytes) == (2**29 + 4096, 2**28 + 4096)
    assert fitted.io_bytes == 2 * (2**29 + 4096)


def test_a_gap_may_be_negative() -> None:
    workload = workload_from_options({"rw": "rw", "stride": "-8k, -512"}, seed=1)
    assert (workload.read_stride_bytes, workload.write_stride_bytes) == (-8192, -512)
    with pytest.raises(UsageError, match=r"^--stride: '4KB' can be read") as refusal:
        workload_from_options({"stride": "-4KB"}, seed=1)
    assert refusal.value.hint


def test_second_names_of_fio_are_taken_and_doubles_are_refused() -> None:
    named = standard({"blocksize": "8k", "readwrite": "write", "timeout": "1s"}, str)
    assert named == {"bs": "8k", "rw": "write", "runtime": "1s"}
    with pytest.raises(UsageError, match="blocksize: it is given as bs, too"):
        standard({"bs": "4k", "blocksize": "8k"}, str)


def test_what_fio_does_otherwise_is_refused_with_what_to_write() -> None:
    assert set(ALIASES.values()) <= OPTIONS.keys()
    assert not ELSEWHERE.keys() & (OPTIONS.keys() | ALIASES.keys())
    with pytest.raises(UsageError, match="--filename: there is no such option") as refusal:
        workload_from_options({"filename": "x"}, seed=1)
    assert refusal.value.hint == "fio's filename: the target is the first word: run TARGET"
    assert instead("iodepht").startswith("did you mean iodepth?")


def test_what_is_not_given_is_the_default() -> None:
    assert workload_from_options({"bs": None}, seed=1) == Workload(rw="read")


def test_the_defaults_can_be_fed_back() -> None:
    assert workload_from_options(default_options(), seed=1) == Workload(rw="read")


def test_a_refusal_says_where() -> None:
    with pytest.raises(UsageError) as refusal:
        workload_from_options({"io_size": "4KB"}, seed=1)
    assert refusal.value.message.startswith("--io-size: '4KB'")
    with pytest.raises(UsageError) as refusal:
        workload_from_options({"bsize": "4k"}, seed=1, where=lambda name: f"plan.toml: {name}")
    assert refusal.value.message.startswith("plan.toml: bsize: there is no such option")


def test_the_json_of_a_plan_has_every_key() -> None:
    assert json.loads(Workload(rw="read").to_json()).keys() == Workload(rw="read").to_dict().keys()


def test_of_a_replay_the_driver_is_told_what_was_given() -> None:
    assert json.loads(ReplayOptions().to_json()) == {}
    assert json.loads(ReplayOptions(time_scale=2.0).to_json()) == {"time_scale": 2.0}


def test_only_some_patterns_write() -> None:
    writing = {rw for rw in ("read", "write", "randread", "randwrite", "rw", "randrw")
               if Workload(rw=rw).writes}  # fmt: skip
    assert writing == {"write", "randwrite", "rw", "randrw"}
    assert not Workload(rw="randrw", read_percent=100).writes
