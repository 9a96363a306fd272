"""Files of MQSim and DiskSim: what they become, what is named, what is refused."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdscope import _native
from ssdscope.errors import ConfigError, SsdscopeError, UsageError
from ssdscope.targets.imports import ImportOptions, import_file
from ssdscope.targets.opening import read_drive

PEERS = Path(__file__).parents[1] / "data" / "peers"
SHARED = Path(__file__).parents[3] / "shared" / "reference" / "configs"
DEVICE, WORKLOAD, SSD = (str(PEERS / each) for each in ("device.xml", "workload.xml", "ssd.parv"))


def resolved(toml: str) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(_native.resolve_drive(toml, "drive", []))
    return {key: each for key, each in values.items() if key != "description"}


def different(toml: str, preset: str) -> dict[str, tuple[Any, Any]]:
    """Give the keys in which an imported drive is not the preset: (imported, preset)."""
    pairs = [resolved(toml), resolved(read_drive(f"sim:{preset}")[0])]
    flat = [
        {
            (table, key): each
            for table, values in whole.items()
            for key, each in (values.items() if isinstance(values, dict) else [("", values)])
        }
        for whole in pairs
    ]
    return {
        ".".join(filter(None, key)): (flat[0].get(key), flat[1].get(key))
        for key in flat[0].keys() | flat[1].keys()
        if flat[0].get(key) != flat[1].get(key)
    }


def test_a_device_of_mqsim_is_the_preset() -> None:
    imported = import_file(DEVICE)
    found = different(imported.toml, "mqsim-8g")
    ratio = found.pop("over_provisioning_ratio", (1.0, 1.0))
    assert ratio[0] == pytest.approx(ratio[1])
    assert found == {"nand.bits_per_cell": (2, 1)}
    assert any(each.startswith("Bad_Blocks_Expected = 3: not known") for each in imported.notes)


def test_a_drive_of_disksim_is_the_preset() -> None:
    imported = import_file(SSD)
    assert different(imported.toml, "msr-4gb") == {"gc.policy": ("wear-aware", "greedy")}
    assert "Wear of tomorrow = 7: not known, left out" in imported.notes


@pytest.mark.parametrize(
    ("file", "preset", "apart"),
    [
        ("disksim-msr-32gb.parv", "msr-32gb", set()),
        (
            "mqsim-ssdconfig.xml",
            "mqsim-512g",
            {
                "over_provisioning_ratio", "nand.bits_per_cell", "nand.endurance_erases",
                "gc.policy", "gc.choices", "map.kind", "write_buffer.bytes",
                "write_buffer.ns_per_byte",
            },
        ),
    ],
)  # fmt: skip
def test_files_that_ship_with_them_are_the_presets(file: str, preset: str, apart: set[str]) -> None:
    if not (SHARED / file).exists():
        pytest.skip(f"{file} is not here: files that ship with other simulators are not read")
    assert different(import_file(str(SHARED / file)).toml, preset).keys() <= apart


def test_a_workload_becomes_jobs() -> None:
    imported = import_file(WORKLOAD)
    flows = tomllib.loads(imported.toml)
    assert imported.kind == "jobs"
    assert flows["flow-1"] == {
        "rw": "randread", "bs": 4096, "size": "50%", "iodepth": 4, "runtime": "20000000ns",
    }  # fmt: skip
    assert flows["flow-2"] == {
        "rw": "randrw", "bs": 4096, "rwmixread": 30, "size": "50%", "rate_iops": 10_000,
        "random_distribution": "zoned:80/20:20/80", "arrival": "poisson", "number_ios": 500,
    }  # fmt: skip
    second = import_file(WORKLOAD, ImportOptions(scenario=2))
    flows = tomllib.loads(second.toml)
    assert [flow["rw"] for flow in flows.values()] == ["write", "write"]
    assert [flow["priority"] for flow in flows.values()] == ["high", "urgent"]
    assert any("host.queues=2" in each for each in second.notes)


def test_a_scenario_of_traces_says_how_to_replay_them() -> None:
    with pytest.raises(UsageError) as caught:
        import_file(WORKLOAD, ImportOptions(scenario=3))
    assert "replay TARGET mine.trace" in str(caught.value.hint)
    with pytest.raises(UsageError, match="has 3 scenarios, and no 4"):
        import_file(WORKLOAD, ImportOptions(scenario=4))


def swapped(path: str, old: str, new: str) -> Callable[[], str]:
    def text() -> str:
        whole = Path(path).read_text(encoding="utf-8")
        assert old in whole
        return whole.replace(old, new)

    return text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (swapped(DEVICE, "<Execution", "<!DOCTYPE a><Execution"), "line 2: <!DOCTYPE"),
        (swapped(DEVICE, "</Flash_Parameter_Set>", ""), "mismatched tag"),
        (swapped(DEVICE, "NVDDR2", "TOGGLE"), "Flash_Comm_Protocol is 'TOGGLE'"),
        (swapped(DEVICE, "GREEDY", "BEST"), "GC_Block_Selection_Policy is 'BEST'"),
        (swapped(DEVICE, ">1024<", ">many<"), "Block_No_Per_Plane is 'many', not a whole number"),
        (swapped(DEVICE, ">CWDP<", ">CWXP<"), "plane_order"),
        (swapped(SSD, "Copy back = 1", "Copy back = 0"), "Copy back is '0', and only 1 works"),
        (swapped(SSD, "element = 2048", "element = 2000"), "8 planes of 256 blocks are 2048"),
        (swapped(SSD, "ssdmodel_ssd", "disksim_simpledisk"), "has no mechanics"),
        (lambda: "capacity = 5", "no known simulator"),
        (lambda: "<html></html>", "<html> is no file of a known simulator"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    tmp_path: Path, text: Callable[[], str], told: str
) -> None:
    path = tmp_path / "file"
    path.write_text(text(), encoding="utf-8")
    with pytest.raises(SsdscopeError) as caught:
        import_file(str(path))
    assert told in caught.value.message


@pytest.mark.parametrize(
    ("path", "told"),
    [("/dev/zero", "not a plain file"), ("missing.xml", "cannot read missing.xml")],
)
def test_what_is_no_file_is_refused(path: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        import_file(path)


def test_what_is_no_text_is_refused_with_what_is_known(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="is not UTF-8") as caught:
        import_file(str(path))
    assert "MQSim" in (caught.value.hint or "")


def test_a_block_that_does_not_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.parv"
    path.write_text(Path(SSD).read_text(encoding="utf-8").rpartition("}")[0], encoding="utf-8")
    with pytest.raises(ConfigError, match="block of SSD does not end"):
        import_file(str(path))
