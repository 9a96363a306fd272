"""``place``: placements on simulated drives, what stands in the way of one, and rankings."""

import json
from dataclasses import asdict
from itertools import product
from pathlib import Path

import pytest

from ssdscope.advise.placement.drives import Drive, of_target
from ssdscope.advise.placement.judging import Judge
from ssdscope.advise.placement.limits import Limits
from ssdscope.advise.placement.placing import solve
from ssdscope.advise.placement.reading import Reading, read_loads
from ssdscope.results import envelope
from ssdscope.targets import open_target
from ssdscope.targets.presets import preset_text

QUICK = ("--seed", "1", "--duration", "1s", "--progress", "never")
WORDS = (
    "rw=randread,bs=4k,rate_iops=100,size=1g,name=a,latency=1ms",
    "rw=randrw,bs=8k,rate_iops=60,size=2g,name=b,latency=30ms",
    "rw=read,bs=64k,rate_iops=20,size=100g,name=c,latency=30ms",
)
COSTS = """
[[drive]]
target = "sim:huang-hdd-s"
price = 10
[[drive]]
target = "sim:sata-tlc"
price = 30
capacity = "100g"
endurance = "10t"
"""


@pytest.fixture
def costs(tmp_path: Path) -> str:
    path = tmp_path / "costs.toml"
    path.write_text(COSTS, encoding="utf-8")
    return str(path)


def test_each_workload_lies_where_it_may_and_the_replay_says_so(cli, costs: str) -> None:
    said = cli("place", *WORDS, "--cost", costs, *QUICK, "-o", "json")
    assert said.status == 0, said.err
    placement = said.document["placement"]
    placed = {row["workload"]: row for row in placement["replay"]}
    assert placed["a"]["drive"] == "sim:sata-tlc"  # a disk takes ten milliseconds
    assert placed["c"]["drive"] == "sim:huang-hdd-s"  # the SSD may hold 100 GiB in all
    assert placement["cost"] == 40
    assert len(placement["pairs"]) == 6
    for row in placement["replay"]:
        assert row["kept"]
        assert row["replayed"]["requests"] > 0
        assert row["error"] == pytest.approx(
            row["predicted"]["mean_ns"] / row["replayed"]["mean_ns"] - 1
        )
    text = cli("place", *WORDS, "--cost", costs, *QUICK).out
    assert "the cheapest placement costs 40" in text


LIMITS = {
    ("--max-cost", "5"): "buys no drive",
    ("--max-cost", "35"): "in the way: the limits of capacity or cost",
    ("--lifetime", "9000y"): "no drive is for workload 'b', even alone",
    ("--lifetime", "-3y"): "is not a lifetime",
}


@pytest.mark.parametrize("words", LIMITS)
def test_what_is_in_the_way_is_named(cli, costs: str, words: tuple[str, str]) -> None:
    loads = [word.replace("latency=30ms", "latency=5ms") if "name=b" in word else word
             for word in WORDS]  # fmt: skip
    said = cli("place", *loads, "--cost", costs, *words, *QUICK)
    assert said.status == 2
    assert LIMITS[words] in said.err


def test_a_drive_whose_blocks_are_larger_is_left_out(cli, tmp_path: Path) -> None:
    path = tmp_path / "costs.toml"
    path.write_text(
        '[[drive]]\ntarget = "sim:msr-4gb"\nprice = 1\n[[drive]]\ntarget = "sim:sata-tlc"\n'
        "price = 2\n",
        encoding="utf-8",
    )
    word = "rw=randread,bs=512,rate_iops=100,size=1g,name=small"
    said = cli("place", word, "--cost", str(path), *QUICK, "-o", "json")
    assert said.status == 0, said.err
    assert said.document["placement"]["cost"] == 2
    path.write_text('[[drive]]\ntarget = "sim:msr-4gb"\nprice = 1\n', encoding="utf-8")
    refused = cli("place", word, "--cost", str(path), *QUICK)
    assert refused.status == 2
    assert "not whole blocks of 4,096 bytes" in refused.err


def test_no_placement_of_all_is_cheaper() -> None:
    loads = read_loads(WORDS, Reading())
    drives = [
        Drive(name, each.capacity_bytes, each.opener, price=price)
        for name, price in (("sim:huang-hdd-s", 10.0), ("sim:sata-tlc", 30.0))
        for each in [of_target(name, state=None, seed=1)]
    ]
    judge = Judge(loads, drives, duration_ns=10**9, seed=1)
    found = solve(judge, Limits())
    assert found is not None

    def cost(placed: tuple[int, ...]) -> float:
        sets = {d: frozenset(n for n, at in enumerate(placed) if at == d) for d in set(placed)}
        fine = all(judge.verdict(d, these, Limits(), 6).fine for d, these in sets.items())
        return sum(drives[d].price for d in sets) if fine else float("inf")

    best = min(cost(each) for each in product(range(2), repeat=3))
    assert found.cost <= 1.02 * best


def test_a_trace_of_a_disk_is_told_what_would_help(cli, tmp_path: Path) -> None:
    trace = tmp_path / "hm.csv"
    trace.write_text(
        "".join(
            f"{128166372003061629 + n * 100_000},hm,0,Read,{n * 77 % 100 * 2**30},4096,90000\n"
            for n in range(200)
        ),
        encoding="utf-8",
    )
    words = ("--on", "sim:ryu-a", "--on", "sim:sata-tlc", *QUICK)
    said = cli("place", str(trace), *words, "--fit", "compact", "-o", "json")
    assert said.status == 0, said.err
    (ranking,) = said.document["rankings"]
    assert ranking["reference"] == "as traced"
    assert ranking["reference_ns"] == 9_000_000
    assert ranking["verdict"].startswith("Yes: hm is answered")
    assert ranking["rows"][0]["drive"] == "sim:sata-tlc"
    refused = cli("place", str(trace), *words).out
    assert refused.count("too small") == 1  # ryu-a holds 8 GB, the trace reaches to 99 GiB


def test_drives_are_compared_with_each_other_and_none_that_nobody_named(cli) -> None:
    words = ("place", WORDS[0], "--on", "sim:sata-tlc", "--on", "sim:nvme-tlc", *QUICK)
    said = cli(*words)
    assert said.status == 0, said.err
    assert "huang-hdd-s" not in said.out
    assert "is answered the fastest by sim:nvme-tlc" in said.out
    (ranking,) = cli(*words, "-o", "json").document["rankings"]
    means = [row["seen"]["mean_ns"] for row in ranking["rows"]]
    assert ranking["reference"] == "sim:sata-tlc"
    assert ranking["rows"][0]["times_faster"] == pytest.approx(means[1] / means[0])
    named = cli(*words, "--reference", "sim:ryu-hdd", "-o", "json").document["rankings"][0]
    assert named["reference"] == "sim:ryu-hdd"


def report(folder: Path, name: str, twin: dict[str, object] | None) -> str:
    info = asdict(open_target("sim:sata-tlc").device.info)
    document = {
        **envelope(seed=1),
        "target": {"uri": "/dev/x", "info": info},
        "findings": [],
        "performance": {},
        "models": [],
        "advice": [],
        "twin": twin,
        "provenance": {},
    }
    path = folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def test_a_measured_drive_is_tried_by_its_twin(cli, tmp_path: Path) -> None:
    twin: dict[str, object] = {"toml": preset_text("sata-tlc"), "sketch": False}
    known = report(tmp_path, "known.json", twin)
    unknown = report(tmp_path, "unknown.json", None)
    said = cli("place", WORDS[0], "--on", known, "--on", unknown, *QUICK, "-o", "json")
    assert said.status == 0, said.err
    one, other = said.document["rankings"][0]["rows"]
    assert (one["drive"], one["source"]) == (known, "twin")
    assert "has no twin" in other["reason"]
    rough = report(tmp_path, "rough.json", twin | {"sketch": True})
    warned = cli("place", WORDS[0], "--on", rough, *QUICK)
    assert "is a sketch" in warned.err
    assert "sketch" in warned.out
    cut = tmp_path / "cut.json"
    cut.write_text(Path(known).read_text(encoding="utf-8")[:-99], encoding="utf-8")
    refused = cli("place", WORDS[0], "--on", str(cut), *QUICK)
    assert refused.status == 2
    assert "ends too early" in refused.err


def test_the_same_seed_places_alike(cli, costs: str) -> None:
    words = ("place", *WORDS[:2], "--cost", costs, *QUICK, "-o", "json")
    assert cli(*words).out == cli(*words).out


WRONG = {
    ("nothing.spc", "--on", "sim:ryu-a"): "cannot read the trace nothing.spc",
    (WORDS[0],): "there is no drive",
    (WORDS[0], "--on", "null:"): "null: is not simulated",
    (WORDS[0], "--on", "sim:ryu-a", "--lifetime", "5y"): "--lifetime is a limit of a placement",
    (WORDS[0], "--on", "sim:ryu-a", "--duration", "0"): "--duration: 0 is no time",
    ("rw=read,4k", "--on", "sim:ryu-a"): "'4k' is not KEY=VALUE",
}


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_meant_is_refused(cli, words: tuple[str, ...]) -> None:
    said = cli("place", *words)
    assert said.status == 2, said.err
    assert WRONG[words] in said.err
    assert "Traceback" not in said.err
