"""`ssdscope probe` as a user meets it: on small, read-only, failing and busy drives."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from ssdscope.findings.families import FAMILIES
from ssdscope.targets import open_target

OUTCOMES = {"detected", "absent", "ambiguous", "undetectable"}
SMALL = ("--set", "nand.blocks_per_plane=32", "--set", "over_provisioning_ratio=1.0")
"""A drive after MQSim of 64 MiB."""


def properties(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = {each["property"]: each for each in document["findings"]}
    assert len(found) == len(document["findings"]), "one finding per property"
    assert {each["outcome"] for each in found.values()} <= OUTCOMES
    return found


def test_the_list_tells_what_each_probe_finds_costs_and_writes(cli) -> None:
    from ssdscope.probes import registry

    rows = cli("probe", "list", "sim:mqsim-8g", "-o", "json").document["probes"]
    info = open_target("sim:mqsim-8g", seed=1).device.info
    for row in rows:
        assert row["properties"]
        assert row["cost"]
        own = registry.every()[row["name"]].own_writes_bytes(info)
        if row["class"] == "light":
            assert row["writes_bytes"] == 0
        elif row["class"] == "standard":
            assert own <= info.capacity_bytes, row["name"]
    plain = cli("probe", "list").out
    assert all(row["name"] in plain for row in rows)


def test_a_file_that_is_only_read_is_left_to_the_bit(cli, tmp_path: Path) -> None:
    file = tmp_path / "drive.bin"
    file.write_bytes(bytes(range(256)) * 8192)
    before = hashlib.sha256(file.read_bytes()).hexdigest()
    said = cli("probe", "all", str(file), "--budget", "5s", "--seed", "1", "-o", "json")
    assert said.status == 0
    assert hashlib.sha256(file.read_bytes()).hexdigest() == before
    assert all(each["bytes_written"] == 0 for each in said.document["findings"])


@pytest.mark.parametrize("size", [512, 4096, 16384, 65536])
def test_a_tiny_target_is_refused_with_the_reason(cli, tmp_path: Path, size: int) -> None:
    file = tmp_path / "drive.bin"
    file.write_bytes(b"\1" * size)
    said = cli("probe", "all", str(file), "--budget", "5s", "--seed", "1", "-o", "json")
    assert said.status == 0
    found = properties(said.document)
    told = {name for name, each in found.items() if each["outcome"] == "detected"}
    # Four blocks are enough to queue for, and for nothing else.
    assert told <= ({"queue_depth_knee"} if size >= 16384 else set())
    assert found["read_latency_alpha_ns"]["reason"] == "range_too_small"


def test_a_drive_that_goes_away_is_a_clear_error_and_keeps_what_was_found(cli) -> None:
    gone = ("--set", "disturbance.gone_after_requests=12000")
    said = cli("probe", "latency", "sim:mqsim-8g", *SMALL, *gone, "--seed", "1", "-o", "json")
    assert said.status == 1
    assert "has gone away in the middle of a probe" in said.err
    assert "Traceback" not in said.err
    assert set(properties(said.document)) < {
        "read_latency_alpha_ns",
        "read_latency_beta_ns_per_byte",
        "queue_depth_knee",
    }


def test_errors_on_a_range_never_become_a_number(cli) -> None:
    """An eighth of the drive fails; no probe may answer from what is left as if it were whole."""
    bad = ("--set", "disturbance.fault_offset_bytes=8m", "--set", "disturbance.fault_bytes=8m")
    words = ("probe", "all", "sim:mqsim-8g", *SMALL, "--seed", "1", "-o", "json")
    sound = properties(cli(*words).document)
    said = cli(*words, *bad)
    assert said.status == 0
    for name, each in properties(said.document).items():
        if each["outcome"] == "undetectable":
            continue
        # Then the experiment never came near the bad range.
        assert (each["outcome"], each["value"]) == (sound[name]["outcome"], sound[name]["value"])
    refused = properties(said.document)["read_latency_alpha_ns"]
    assert refused["reason"] in ("device_errors", "interference")


def test_a_drive_without_flush_is_probed_all_the_same(cli) -> None:
    flags = ("--set", "disturbance.flush=refused")
    said = cli("probe", "all", "sim:mqsim-8g", *SMALL, *flags, "--seed", "1", "-o", "json")
    assert said.status == 0
    properties(said.document)


def test_another_load_spoils_no_number(cli) -> None:
    """A steady load would look like a slower drive; whoever counts requests tells."""
    load = ("--set", "disturbance.foreign_iops=30000", "--set", "disturbance.foreign_bytes=16k")
    words = ("probe", "latency", "sim:ryu-c", *SMALL, "--seed", "1", "-o", "json")
    quiet = properties(cli(*words).document)
    busy = properties(cli(*words, *load).document)
    assert quiet["read_latency_alpha_ns"]["outcome"] == "detected"
    for name in ("read_latency_alpha_ns", "read_latency_beta_ns_per_byte"):
        assert busy[name]["outcome"] == "undetectable"
        assert busy[name]["reason"] == "interference"
        assert "others moved" in busy[name]["evidence"]["detail"]


def test_a_property_is_answered_by_the_probes_that_look_for_it(cli) -> None:
    words = ("sim:mqsim-8g", *SMALL, "--seed", "1", "-o", "json")
    asked = cli("probe", "queue_depth_knee", *words).document["findings"]
    assert asked[0]["property"] == "queue_depth_knee"
    assert {each["probe"] for each in asked} == {"latency"}
    named = cli("probe", "latency", *words).document["findings"]
    assert named[0]["property"] != "queue_depth_knee"
    assert {each["property"]: each["value"] for each in asked} == {
        each["property"]: each["value"] for each in named
    }
    wrong = cli("probe", "queue_depth_nee", "sim:mqsim-8g")
    assert wrong.status == 2
    assert "property or family 'queue_depth_nee'" in wrong.err
    assert "queue_depth_knee" in wrong.err


def test_a_property_that_only_heavy_probes_answer_names_them() -> None:
    from ssdscope.probes import registry
    from ssdscope.probes.budget import Budget

    default, full = Budget.parse("default"), Budget.parse("full")
    assert [each.name for each in registry.choose("idle_gc_onset_ns", default)] == ["collection"]
    assert {each.name for each in registry.choose("table", default)} == {"table"}
    known = set(registry.answering())
    assert {each for family in FAMILIES.values() for each in family} == known
    for name, answering in registry.answering().items():
        chosen = [each.name for each in registry.choose(name, full)]
        assert chosen == answering or name in registry.every()


EVER_LISTED = {
    "disk": ("disk",),
    "array": ("array",),
    "latency": ("latency",),
    "caches": ("caches", "read_cache"),
    "table": ("table", "map_cache"),
    "buffer": ("buffer", "write_buffer"),
    "units": ("units", "rmw_unit"),
    "merging": ("merging", "merge_unit", "open_units"),
    "region": ("region", "pslc"),
    "dies": ("dies", "interleave", "placement", "internal_volumes"),
    "trim": ("trim", "trim_rounds"),
    "types": ("types",),
    "order": ("order", "allocation"),
    "collection": ("collection", "gc_period", "reclaim_unit", "idle_gc"),
    "spare": ("spare", "gc_knee", "amplification"),
}
"""Every name that `probe list` has shown in any version, by the probe that answers today."""


@pytest.mark.parametrize(
    ("name", "today"), [(name, today) for today, names in EVER_LISTED.items() for name in names]
)
def test_every_name_that_was_ever_listed_works(name: str, today: str) -> None:
    from ssdscope.findings import Absent, Evidence, Findings
    from ssdscope.probes import registry
    from ssdscope.probes.budget import Budget

    for budget in ("default", "full"):
        chosen = registry.choose(name, Budget.parse(budget))
        assert [each.name for each in chosen] == [today]
    properties = [each for names in FAMILIES.values() for each in names]
    every = Findings(
        Absent(name=each, probe="-", bound=0.0, reason="-", evidence=Evidence())
        for each in properties
    )
    (first, *_) = every.led_by(name)
    assert first in registry.every()[today].properties


def test_the_list_has_every_name_that_works_and_the_nearest_is_one(cli) -> None:
    from ssdscope.findings.earlier_names import EARLIER_NAMES
    from ssdscope.probes import registry

    assert not {*EARLIER_NAMES} & {*registry.every(), *registry.answering(), *FAMILIES}
    assert {name for names in EVER_LISTED.values() for name in names} == {
        *registry.every(),
        *EARLIER_NAMES,
    } | {*("allocation", "open_units", "placement")}
    listed = {word.strip(",") for word in cli("probe", "list").out.split()}
    assert listed >= {*registry.every(), *registry.answering(), *FAMILIES, *EARLIER_NAMES}
    said = cli("probe", "write_bufer", "sim:mqsim-8g")
    assert said.status == 2
    assert "did you mean write_buffer" in said.err


def test_half_of_a_drive_of_less_than_64_pieces_is_discarded_in_fewer(cli) -> None:
    hundred_mib = ("--set", "nand.blocks_per_plane=50", "--set", "over_provisioning_ratio=1.0")
    said = cli("probe", "trim", "sim:mqsim-8g", *hundred_mib, "--seed", "1", "-o", "json")
    assert said.status == 0, said.err
    (found,) = said.document["findings"]
    assert found["outcome"] in OUTCOMES
    assert found.get("reason") != "device_errors"
    assert found["bytes_written"] > 0


def test_what_was_measured_is_kept_and_decided_upon_again(cli, tmp_path: Path) -> None:
    file = str(tmp_path / "series.npz")
    words = ("probe", "caches", "sim:kuo-samsung-slc", "--record", file, "-o", "json")
    first = cli(*words, "--seed", "3")
    assert first.status == 0, first.err
    once_more = cli(*words)
    assert once_more.status == 0, once_more.err
    assert once_more.document["seed"] == 3
    assert once_more.document["spent"]["requests"] == 0
    without = cli("probe", "read_cache_bytes", "--record", file, "-o", "json")
    assert without.status == 0, without.err
    values = [
        [(each["property"], each.get("value")) for each in said.document["findings"]]
        for said in (first, once_more, without)
    ]
    assert values[0] == values[1] == values[2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("caches", "sim:kuo-samsung-slc", "--seed", "4"), "recorded of seed 3, not 4"),
        (("caches", "sim:ryu-a", "--seed", "3"), "recorded of target sim:kuo-samsung-slc"),
        (("trim",), "has nothing of trim"),
    ],
)
def test_a_record_of_something_else_is_refused_and_kept(cli, tmp_path: Path, words, said) -> None:
    file = tmp_path / "series.npz"
    assert (
        cli("probe", "disk", "sim:kuo-samsung-slc", "--seed", "3", "--record", str(file)).status
        == 0
    )
    before = file.read_bytes()
    wrong = cli("probe", *words, "--record", str(file))
    assert wrong.status == 2
    assert said in wrong.err
    assert file.read_bytes() == before


def test_a_file_that_is_no_record_is_left_alone(cli, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    assert cli("probe", "disk", "sim:ryu-a", "--record", str(file)).status == 2
    assert file.read_text() == "mine"
    missing = cli("probe", "disk", "--record", str(tmp_path / "none.npz"))
    assert missing.status == 2
    assert "no target to record" in missing.err
