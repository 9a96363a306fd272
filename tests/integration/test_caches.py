"""Caches that the host switches: through `Device`, and by options of `run` and `replay`."""

import json
from pathlib import Path

import pytest

from ssdscope.errors import UsageError
from ssdscope.targets import open_target
from ssdscope.targets.records import CacheInfo
from ssdscope.workloads import Workload

BUFFER = ("write_buffer.bytes=1m", "write_buffer.drain=full")
FIXED = (*BUFFER, "write_buffer.switchable=false")
RUN = ("run", "sim:mqsim-8g", "--rw", "randwrite", "--bs", "8k", "--number_ios", "50")
ANY = ("--state", "fresh", "--seed", "1")


def sets(*keys: str) -> list[str]:
    return [word for key in keys for word in ("--set", key)]


def test_a_device_says_and_switches_its_caches() -> None:
    device = open_target("sim:mqsim-8g", state="fresh", sets=BUFFER, seed=1).device
    assert device.info.write_cache == CacheInfo("switchable", on=True)
    assert device.info.read_cache == CacheInfo("absent", on=False)
    saved = device.snapshot()
    plan = Workload(rw="randwrite", block_bytes=8192, requests=20, seed=1)
    buffered = device.run(plan).only().latency_ns.mean
    before_ns = device.now_ns()
    device.set_write_cache(False)
    assert device.now_ns() > before_ns
    assert device.info.write_cache == CacheInfo("switchable", on=False)
    assert device.run(plan).only().latency_ns.mean > buffered + 500_000
    device.restore(saved)
    assert device.info.write_cache.on
    with pytest.raises(UsageError, match="the read cache cannot be switched on: the drive has"):
        device.set_read_cache(True)


def test_the_options_switch_and_the_record_says_so(cli) -> None:
    means = {}
    for state in ("on", "off"):
        done = cli(*RUN, *ANY, *sets(*BUFFER), "--write-cache", state, "-o", "json")
        assert done.status == 0
        record = json.loads(done.out)
        assert record["target"]["caches"]["write"] == {
            "control": "switchable",
            "on": state == "on",
        }
        means[state] = record["write"]["latency_ns"]["mean"]
    assert means["off"] > means["on"] + 500_000


@pytest.mark.parametrize(
    ("keys", "words", "told"),
    [
        (
            FIXED,
            ("--write-cache", "off"),
            "--write-cache off: the write cache cannot be switched off: the drive keeps it on",
        ),
        (
            (),
            ("--read-cache", "on"),
            "--read-cache on: the read cache cannot be switched on: the drive has none",
        ),
    ],
)
def test_what_cannot_be_switched_is_refused(cli, keys, words, told) -> None:
    said = cli(*RUN, *ANY, *sets(*keys), *words)
    assert said.status == 2
    assert told in said.err


def test_nothing_is_known_of_the_caches_of_a_file(cli, tmp_path: Path) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(bytes(1 << 20))
    said = cli("run", str(path), "--number_ios", "1", "--write-cache", "off")
    assert said.status == 2
    assert "nothing is known of the caches of this device" in said.err
