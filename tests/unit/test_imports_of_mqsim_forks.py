"""Files of MQSim's forks and older versions: other names, missing tags, rates beyond its own."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import ssdscope
from ssdscope.errors import ConfigError, UsageError
from ssdscope.targets.imports import Imported, ImportOptions, import_file

PEERS = Path(__file__).parents[1] / "data" / "peers"
DEVICE, WORKLOAD = (PEERS / f"{each}.xml" for each in ("device", "workload"))
FAST = ("<Channel_Transfer_Rate>333<", "<Channel_Transfer_Rate>1200.0<")


def changed(folder: Path, source: Path, *swaps: tuple[str, str]) -> str:
    """Write a file with texts swapped, each of which must be there."""
    text = source.read_text(encoding="utf-8")
    for old, new in swaps:
        assert old in text
        text = text.replace(old, new)
    path = folder / source.name
    path.write_text(text, encoding="utf-8")
    return str(path)


def keys(imported: Imported) -> dict[str, Any]:
    return tomllib.loads(imported.toml)


def outcomes(imported: Imported) -> Mapping[str, str]:
    return {each.name: each.outcome for each in imported.account}


@pytest.mark.parametrize(
    ("asked", "per_byte_ns", "said"),
    [
        (None, 1000 / 1200, "0.8333 ns a transfer, as stated; MQSim computes 0 ns"),
        ("stated", 1000 / 1200, "as stated"),
        ("computed", 0.01, "0 ns; as MQSim computes it; stated are 0.8333 ns"),
    ],
)
def test_a_rate_beyond_mqsims_own_is_taken_as_stated_and_said(
    tmp_path: Path, asked: str | None, per_byte_ns: float, said: str
) -> None:
    path = changed(tmp_path, DEVICE, FAST)
    imported = import_file(path, ImportOptions(transfer_rate=asked))
    assert keys(imported)["channel"]["ns_per_byte"] == pytest.approx(per_byte_ns)
    assert any(said in each for each in imported.notes)


def test_a_rate_that_mqsim_cuts_is_said_with_both(tmp_path: Path) -> None:
    path = changed(tmp_path, DEVICE, (">333<", ">400<"))
    computed = import_file(path)
    stated = import_file(path, ImportOptions(transfer_rate="stated"))
    assert keys(computed)["channel"]["ns_per_byte"] == 2
    assert keys(stated)["channel"]["ns_per_byte"] == 2.5
    assert "Channel_Transfer_Rate = 400: 2 ns; as MQSim computes it; stated are 2.5 ns" in str(
        computed.notes
    )
    with pytest.raises(UsageError, match="unknown --transfer-rate 'guessed'"):
        ImportOptions(transfer_rate="guessed")


def test_other_names_of_sections_and_values_are_the_same_drive(tmp_path: Path) -> None:
    renamed = changed(
        tmp_path,
        DEVICE,
        ("Execution_Parameter_Set", "ExecParameterSet"),
        ("Flash_Parameter_Set", "FlashParameterSet"),
        ("Busrt", "Burst"),
        ('<?xml version="1.0" encoding="us-ascii"?>', '\n<!-- a fork -->\n<?xml version="1.0"?>'),
        ("<Memory_Type>FLASH</Memory_Type>", "<Memory_Type>flash</Memory_type>"),
    )
    assert keys(import_file(renamed)) == keys(import_file(str(DEVICE)))


def test_a_missing_tag_is_mqsims_default_and_named(tmp_path: Path) -> None:
    path = changed(tmp_path, DEVICE, ("<CMT_Capacity>2097152</CMT_Capacity>", ""))
    path = changed(tmp_path, Path(path), ("<Caching_Mechanism>TURNED_OFF</Caching_Mechanism>", ""))
    imported = import_file(path)
    assert keys(imported)["write_buffer"] == {"bytes": 0, "ns_per_byte": 5.0}
    assert outcomes(imported)["Caching_Mechanism"] == "default"
    assert "CMT_Capacity" not in outcomes(imported)  # all of the map is in RAM
    assert "Caching_Mechanism = ADVANCED: missing; the simulator's own default" in imported.notes


def test_cells_of_four_bits_and_bad_blocks_are_taken(tmp_path: Path) -> None:
    more = "".join(
        f"<Page_{way}_Latency_{each}>{ns}</Page_{way}_Latency_{each}>"
        for way, ns in (("Read", 90_000), ("Program", 900_000))
        for each in ("CSB", "WSB")
    )
    path = changed(
        tmp_path,
        DEVICE,
        (">MLC<", ">QLC<"),
        ("<Bad_Blocks_Expected>3</Bad_Blocks_Expected>", ("<Init_Bad_Block_Ratio>4"
         f"</Init_Bad_Block_Ratio>{more}")),
    )  # fmt: skip
    nand = keys(import_file(path))["nand"]
    assert nand["bits_per_cell"] == 4
    assert nand["read_by_type_ns"] == [75_000, 90_000, 75_000, 90_000]
    assert nand["bad_block_ratio"] == 0.04


def test_collection_that_could_never_yield_is_one_that_does_not(tmp_path: Path) -> None:
    path = changed(
        tmp_path,
        DEVICE,
        ("<Preemptible_GC_Enabled>false", "<Preemptible_GC_Enabled>true"),
        ("<GC_Exec_Threshold>0.05", "<GC_Exec_Threshold>0.01"),
    )
    imported = import_file(path)
    assert "preemptible" not in keys(imported)["gc"]
    assert any("begins at 10 free blocks" in each and "never" in each for each in imported.notes)


@pytest.mark.parametrize(
    ("swap", "said", "override"),
    [
        (
            (">PRIORITY_OUT_OF_ORDER<", ">SPEED_LIMIT<"),
            "Transaction_Scheduling_Policy is 'SPEED_LIMIT'",
            {"Transaction_Scheduling_Policy": "OUT_OF_ORDER"},
        ),
        (
            (">PAGE_LEVEL<", ">ZONE_LEVEL<"),
            "zones of its forks are not simulated",
            {"Address_Mapping": "PAGE_LEVEL"},
        ),
        (
            ("<Memory_Type>", "<Mapping_Unit>4096</Mapping_Unit><Memory_Type>"),
            "Mapping_Unit is 4096, part of a page of 8192 bytes",
            {"Mapping_Unit": "8192"},
        ),
        (
            ("<Memory_Type>", ("<Initial_SLC_Blk_Per_Plane>12</Initial_SLC_Blk_Per_Plane>"
             "<Memory_Type>")),
            "how an SLC cache of a fork fills and empties is not known",
            {"Initial_SLC_Blk_Per_Plane": "0"},
        ),
        (
            ("<Overprovisioning_Ratio>0.07<", "<Overprovisioning_Ratio>0.0<"),
            "such a drive could not work here: over_provisioning_ratio",
            {"device.Overprovisioning_Ratio": "0.07"},
        ),
    ],
)  # fmt: skip
def test_what_a_fork_does_otherwise_is_refused_and_may_be_overridden(
    tmp_path: Path, swap: tuple[str, str], said: str, override: dict[str, str]
) -> None:
    path = changed(tmp_path, DEVICE, swap)
    with pytest.raises(ConfigError) as caught:
        import_file(path)
    assert said in caught.value.message
    assert "--override" in str(caught.value.hint)
    imported = import_file(path, ImportOptions(overrides=override))
    assert "replaced" in outcomes(imported).values()
    assert any("as --override says" in each for each in imported.notes)


def test_an_override_that_nothing_asks_for_is_refused() -> None:
    with pytest.raises(UsageError, match="no value of that name is needed") as caught:
        import_file(str(DEVICE), ImportOptions(overrides={"Page_Capacty": "4096"}))
    assert "Page_Capacity" in str(caught.value.hint)
    with pytest.raises(UsageError, match="would change nothing: all of the table is in RAM"):
        import_file(str(DEVICE), ImportOptions(overrides={"CMT_Capacity": "65536"}))


def test_each_value_is_accounted_for_once() -> None:
    imported = import_file(str(DEVICE))
    entered = [(each.section, each.name) for each in imported.account]
    assert len(entered) == len(set(entered))
    in_file = DEVICE.read_text(encoding="utf-8").count("</") - 4  # the sections
    assert len(entered) == in_file
    assert outcomes(imported)["Page_Capacity"] == "taken"
    assert outcomes(imported)["IO_Queue_Depth"] == "without counterpart"
    assert outcomes(imported)["Bad_Blocks_Expected"] == "not known"


def test_an_old_workload_is_read_by_its_old_names(tmp_path: Path) -> None:
    new = keys(import_file(str(WORKLOAD)))
    old = changed(
        tmp_path,
        WORKLOAD,
        ("RANDOM_UNIFORM", "UNIFORM_RANDOM"),
        ("RANDOM_HOTCOLD", "HOTCOLD_RANDOM"),
        (">BANDWIDTH<", ">ARRIVAL_RATE<"),
        ("Bandwidth>", "Intensity>"),
        ("IO_Flow_Parameter_Set_Synthetic", "SyntheticFlowParamSet"),
    )
    assert keys(import_file(old)) == new


def test_a_tag_without_meaning_for_the_distribution_may_be_missing(tmp_path: Path) -> None:
    path = changed(
        tmp_path,
        WORKLOAD,
        ("<Percentage_of_Hot_Region>0</Percentage_of_Hot_Region>", ""),
        ("<Generated_Aligned_Addresses>true</Generated_Aligned_Addresses>", ""),
        ("<Variance_Request_Size>0</Variance_Request_Size>", ""),
        ("<Working_Set_Percentage>50</Working_Set_Percentage>", ""),
    )
    flow = keys(import_file(path))["flow-1"]
    assert flow == {"rw": "randread", "bs": 4096, "iodepth": 4, "runtime": "20000000ns"}


def test_a_flow_that_would_never_end_is_refused(tmp_path: Path) -> None:
    path = changed(tmp_path, WORKLOAD, (">20000000<", ">0<"))
    with pytest.raises(ConfigError, match="so it never ends"):
        import_file(path)


def test_an_imported_fork_runs_at_its_own_times(tmp_path: Path) -> None:
    drive, jobs = tmp_path / "fork.toml", tmp_path / "jobs.toml"
    drive.write_text(import_file(changed(tmp_path, DEVICE, FAST)).toml, encoding="utf-8")
    jobs.write_text(import_file(str(WORKLOAD)).toml, encoding="utf-8")
    target = ssdscope.open(str(drive), state="sequential")
    alone = ssdscope.run(target, rw="randread", bs="8k", number_ios=20, seed=1)
    # Command 290, array 75,000, ready 20, and 8,192 bytes in transfers of 0.833 ns.
    flash_ns = 290 + 75_000 + 20 + 8192 * 1000 / 1200
    assert flash_ns < alone.mean_latency_ns < flash_ns + 10_000  # the rest is the link
    both = ssdscope.run(ssdscope.open(str(drive)), jobs=str(jobs), seed=1)
    assert both.requests > 500
