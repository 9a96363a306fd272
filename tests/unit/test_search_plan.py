"""Plans of searches: spaces, limits and prices, and what of them is refused."""

import math
from pathlib import Path

import pytest

from ssdscope.errors import ConfigError, UsageError
from ssdscope.search import read_plan
from ssdscope.search.costs import amounts, cost_of, read_costs
from ssdscope.search.limits import Limit, excesses, read_limits
from ssdscope.search.space import Choices, Range, combinations, read_space, sets_of
from ssdscope.targets.opening import resolve_drive

DRIVE = str(Path(__file__).parents[2] / "examples/drives/classroom.toml")
PLAN = """
target = "sim:nvme-tlc"
minimise = ["write.latency_ns.p99"]
[workload]
rw = "randwrite"
[space]
over_provisioning_ratio = {from = 0.07, to = 0.5}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return tmp_path / "plan.toml"


def test_every_form_of_a_space_is_read() -> None:
    space = read_space(
        {
            "gc": {"policy": ["greedy", "fifo", "greedy"]},
            "nand.channels": [8, 2, 4],
            "write_buffer.bytes": "1m:8m",
            "ftl": {"map_unit_bytes": ["16k", "4k"]},
            "over_provisioning_ratio": {"from": 0.07, "to": 0.5},
            "nand.ways": {"from": 1, "to": 11, "step": 4},
            "gc.idle_ns": {"from": "1ms", "to": "1s", "log": True},
        },
        "space",
    )
    policy, channels, buffer, unit, spare, ways, idle = space
    assert policy == Choices("gc.policy", ("greedy", "fifo"), ordered=False)
    assert channels == Choices("nand.channels", (2, 4, 8), ordered=True)
    assert buffer.ends() == (1 << 20, 2 << 20, 4 << 20, 8 << 20)
    assert unit == Choices("ftl.map_unit_bytes", (4096, 16384), ordered=True)
    assert (spare.size, ways.size) == (math.inf, 3)
    assert [ways.at(share) for share in (0.0, 0.34, 0.99)] == [1, 5, 9]
    assert idle == Range("gc.idle_ns", 10**6, 10**9, log=True, whole=True)
    assert idle.at(0.5) == round(10**7.5)
    assert combinations(space[:4]) == 2 * 3 * 4 * 2
    assert combinations(space) == math.inf


def test_values_are_short_and_never_leave_their_range() -> None:
    spare = Range("over_provisioning_ratio", 0.07, 0.5)
    assert spare.at(1 / 3) == 0.2133
    assert spare.rounded(0.0699999) == 0.07
    assert spare.rounded(0.49999999) == 0.5
    assert sets_of({"over_provisioning_ratio": 0.2133, "gc.policy": "fifo"}) == (
        "over_provisioning_ratio=0.2133",
        "gc.policy=fifo",
    )


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({}, "nothing varies"),
        ({"nand.channelz": [1]}, "no such key"),
        ({"nand": {"channelz": [1]}}, "space.nand.channelz"),
        ({"nand.channels": []}, "no list of values"),
        ({"nand.channels": 4}, "no list of values"),
        ({"nand.channels": [[4]]}, "not a value"),
        ({"nand.channels": "3:8"}, "never meets 8"),
        ({"nand.channels": {"from": 1}}, "no 'to'"),
        ({"nand.channels": {"from": 4, "to": 4}}, "nothing to choose"),
        ({"nand.channels": {"from": "a", "to": 4}}, "not a number"),
        ({"write_buffer.bytes": {"from": "4KB", "to": "8k"}}, "can be read as"),
        ({"gc.idle_ns": ["5"]}, "space.gc.idle_ns"),
        ({"nand.channels": {"from": 0, "to": 4, "log": True}}, "above 0"),
        ({"nand.channels": {"from": 1, "to": 4, "log": 1}}, "neither true nor false"),
        ({"over_provisioning_ratio": {"from": 0.1, "to": 0.4, "step": 2}}, "step"),
        ({"nand.channels": {"from": 1, "to": 4, "step": 0}}, "step"),
    ],
)
def test_spaces_that_cannot_be_meant_are_refused(table: dict, expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        read_space(table, "space")


def test_a_key_that_is_misspelt_is_named_with_near_ones() -> None:
    with pytest.raises(ConfigError) as refused:
        read_space({"nand.chanels": [1]}, "plan.toml: space")
    assert "plan.toml: space.nand.chanels" in refused.value.message
    assert "nand.channels" in (refused.value.hint or "")


def test_limits_are_the_most_and_of_rates_the_least() -> None:
    limits = read_limits({"write": {"latency_ns": {"p99": "2ms"}}, "waf": 3, "iops": 100}, "limits")
    assert [str(each) for each in limits] == ["at most 2 ms", "at most 3", "at least 100"]
    found = excesses(limits, {"write.latency_ns.p99": 4e6, "waf": 3.0, "iops": 50})
    assert found == pytest.approx(
        {"write.latency_ns.p99": math.log(2), "waf": 0, "iops": math.log(2)}
    )
    assert excesses(limits, {"waf": 1.0}) == {"waf": 0}
    assert Limit("iops", 10).excess(0) == math.inf


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"latency": 1}, "no such figure"),
        ({"write.latency_ns.p98": "1ms"}, "no such figure"),
        ({"write.latency_ns.p99": "2"}, "limits.write.latency_ns.p99"),
        ({"waf": "3"}, "no limit"),
        ({"waf": 0}, "no limit"),
        ({"waf": True}, "no limit"),
    ],
)
def test_limits_that_cannot_be_meant_are_refused(table: dict, expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        read_limits(table, "limits")


def test_a_cost_is_the_sum_of_prices_times_amounts() -> None:
    sets = ("write_buffer.bytes=3145728", "nand.channels=4")
    drive = resolve_drive(DRIVE, sets)
    table = {
        "fixed": 2,
        "raw_bytes": "0.05 per 1g",
        "nand": {"channels": 1.5},
        "write_buffer.bytes": "0.02 per 1m",
    }
    prices = read_costs(table, drive, "cost")
    nand = drive["nand"]
    raw = nand["page_bytes"] * nand["pages_per_block"] * nand["blocks_per_plane"]
    raw *= nand["planes"] * nand["dies"] * nand["ways"] * 4
    assert cost_of(prices, drive) == pytest.approx(2 + 0.05 * raw / 2**30 + 6 + 0.06)
    assert amounts(drive)["raw_bytes"] == raw
    assert cost_of((), drive) == 0


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"nand.channelz": 1}, "no such number"),
        ({"gc.policy": 1}, "no such number"),
        ({"fixed": -1}, "no price"),
        ({"fixed": "1"}, "no price"),
        ({"raw_bytes": "1 per 0"}, "no price"),
        ({"raw_bytes": "cheap per 1g"}, "no price"),
        ({"raw_bytes": True}, "no price"),
    ],
)
def test_prices_that_cannot_be_meant_are_refused(table: dict, expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        read_costs(table, resolve_drive(DRIVE), "cost")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('target = "sim:nvme-tlc"', "", "there is no target"),
        ("sim:nvme-tlc", "sim:nvme-tlcc", "no drive named"),
        ("sim:nvme-tlc", "null:", "no drive file"),
        ("minimise", "minimize", "no key 'minimize'"),
        ('["write.latency_ns.p99"]', "[]", "names no figure"),
        ('["write.latency_ns.p99"]', '["p99"]', "no figure 'p99'"),
        ('["write.latency_ns.p99"]', '"write.iops"', "more is better"),
        ('["write.latency_ns.p99"]', '"cost"', "nothing has a price"),
        ("[workload]", "[trace]", "trace.rw: there is no such option"),
        ("[workload]", "[trace]\n[workload]", "and not both"),
        ('rw = "randwrite"', 'rw = "randwrit"', "access pattern"),
        ("minimise", "trials = 0\nminimise", "trials is not 1 or more"),
        ("minimise", "trials = true\nminimise", "trials is not a int"),
        ("minimise", "part = 1.0\nminimise", "part is not a share"),
        ("minimise", "sampler = 'gp'\nminimise", "sampler 'gp' is unknown"),
        ("minimise", "seed = -1\nminimise", "seed: -1"),
        ("minimise", "state = 'old'\nminimise", "not a state"),
        ("over_provisioning_ratio", "gc.policy = ['gredy', 'fifo']\n#", "space.gc.policy: is"),
        ("over_provisioning_ratio", "nand.channels = [2, 0]\n#", "space.nand.channels: is 0"),
        ("over_provisioning_ratio", "ftl.log_blocks = [2, 4]\n#", "no configuration of 64 drawn"),
    ],
)
def test_plans_that_cannot_be_meant_are_refused(
    plan: Path, old: str, new: str, expected: str
) -> None:
    assert old in PLAN
    plan.write_text(PLAN.replace(old, new), encoding="utf-8")
    with pytest.raises(UsageError, match=expected):
        read_plan(str(plan)).load(1)


def test_the_examples_are_plans() -> None:
    folder = Path(__file__).parents[2]
    examples = sorted(folder.glob("examples/search-*.toml"))
    assert examples
    for example in examples:
        text = example.read_text(encoding="utf-8")
        assert f"ssdscope search examples/{example.name}" in text
        loaded = read_plan(str(example))
        assert loaded.load(1)
