"""Configurations of FlashSim, SSDsim and SimpleSSD: what they become, and times by hand."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ssdscope
from ssdscope.errors import SsdscopeError
from ssdscope.targets.imports import Imported, ImportOptions, import_file

FLASHSIM = """# delays in microseconds
RAM_READ_DELAY 0.01
RAM_WRITE_DELAY 0.01
BUS_CTRL_DELAY 2
BUS_DATA_DELAY 10
BUS_TABLE_SIZE 512
SSD_SIZE 2
PACKAGE_SIZE 1
DIE_SIZE 2
PLANE_SIZE 256
PLANE_REG_READ_DELAY 0.01
PLANE_REG_WRITE_DELAY 0.01
BLOCK_SIZE 64
BLOCK_ERASES 1000
BLOCK_ERASE_DELAY 1500;
PAGE_READ_DELAY 25 # of a page
PAGE_WRITE_DELAY 200
PAGE_SIZE 4096
FTL_IMPLEMENTATION 0
BAST_LOG_PAGE_LIMIT 20
FAST_LOG_PAGE_LIMIT 30
CACHE_DFTL_LIMIT 8
"""
SSDSIM = """#parameter file
dram capacity = 0;
chip number[0] = 2;
chip number[1] = 2;
chip number[2] = 0;
channel number = 2;   #the number of channel
chip number = 4;
die number = 2;
plane number = 2;
block number = 256;
page number = 64;
subpage page = 4;
page capacity = 2048;
t_PROG = 200000;             #the unit is ns
t_BERS = 1500000;
t_WC = 30;
t_R = 20000;
t_RC = 25;
t_RST = 5000;
erase limit=100000;
address mapping=1;
overprovide=0.20;
gc hard threshold=0.10;
allocation=1;
static_allocation=2;
advanced command=14;
aged=0;
aged ratio=0.7;
"""
SIMPLESSD = """# version 2.0
[cpu]
ClockSpeed = 400000000
[nvme]
PCIEGeneration = 2   # 8 GT/s
PCIELane = 4
LBASize = 512
[pal]
Channel = 2
Package = 2
Die = 1
Plane = 2
Block = 128
Page = 64
PageSize = 16384
EnableMultiPlaneOperation = 1
NANDType = 1
LSBRead = 40000000
LSBWrite = 500us
CSBRead = 0
MSBRead = 65000000
MSBWrite = 1300000000
Erase = 3500000000
DMASpeed = 400
DMAWidth = 8
SuperblockSize = C
PageAllocation = WCDP
[ftl]
MappingMode = 0
OverProvisioningRatio = 0.2
FillRatio = 1.0
InvalidPageRatio = 0.0
EvictPolicy = 1
GCThreshold = 0.05
GCMode = 0
GCReclaimBlocks = 1
EnableRandomIOTweak = 0
[icl]
CacheSize = 1M
EnableReadCache = 0
EnableWriteCache = 0
[dram]
Channel = 1
"""
SIMPLESSD_XML = """<!-- 2.1 -->
<?xml version="1.0" encoding="UTF-8" ?>
<simplessd version="2.1">
  <section name="hil"><section name="interface"><section name="pcie">
    <config name="Generation">3</config><config name="Lane">4</config>
  </section></section></section>
  <section name="icl"><config name="CacheMode">2</config>
    <config name="CacheSize">1M</config></section>
  <section name="ftl"><config name="MappingMode">0</config>
    <section name="gc"><config name="VictimSelectionPolicy">0</config>
      <config name="GCThreshold">0.05</config></section>
    <section name="common"><config name="OverProvisioningRatio">0.2</config>
      <config name="SuperpageAllocation"></config></section></section>
  <section name="fil"><config name="Channel">2</config><config name="Way">2</config>
    <section name="nand"><config name="Die">1</config><config name="Plane">2</config>
      <config name="Block">128</config><config name="Page">64</config>
      <config name="PageSize">16K</config><config name="DMASpeed">333m</config>
      <config name="DataWidth">8</config><config name="NANDType">1</config>
      <config name="PageAllocation">CWDP</config>
      <section name="timing"><config name="tBERS">10ms</config>
        <config name="tPROG" level="0">600us</config><config name="tPROG" level="1">1200us</config>
        <config name="tPROG" level="2"></config>
        <config name="tR" level="0">50us</config><config name="tR" level="1">80us</config>
      </section></section></section>
</simplessd>
"""
SIMPLESSD_OLD = """NANDType = SLC # kind of cell
NumChannel = 2
NumPackage = 2
NumDie = 1
NumPlane = 2
NumBlock = 128
NumPage = 64
SizePage = 8192
DMAMhz = 100
AddrSeq0 = ADDR_BLOCK
AddrSeq1 = ADDR_PLANE
AddrSeq2 = ADDR_DIE
AddrSeq3 = ADDR_PACKAGE
AddrSeq4 = ADDR_CHANNEL
AddrSeq5 = ADDR_PAGE
IOCount = 38400
FTLOP = 0.25
FTLGCThreshold = 0.05
FTLEraseCycle = 100000
SuperblockDegree = 1
"""


def imported(folder: Path, text: str, options: ImportOptions | None = None) -> Imported:
    path = folder / "file"
    path.write_text(text, encoding="utf-8")
    return import_file(str(path), options)


def keys(found: Imported) -> dict[str, Any]:
    return tomllib.loads(found.toml)


def latency_ns(folder: Path, text: str, rw: str, bs: str) -> float:
    """Run an imported drive one request at a time, where nothing waits."""
    drive = folder / "drive.toml"
    drive.write_text(imported(folder, text).toml, encoding="utf-8")
    target = ssdscope.open(str(drive), state="sequential")
    return ssdscope.run(target, rw=rw, bs=bs, number_ios=40, seed=1).mean_latency_ns


@pytest.mark.parametrize(
    ("text", "rw", "bs", "expected_ns"),
    [
        # FlashSim: control, page and register, control and data; twice the RAM.
        (FLASHSIM, "randread", "4k", 2_000 + 25_010 + 2_000 + 10_000 + 20),
        (FLASHSIM, "randwrite", "4k", 2_000 + 10_000 + 200_010 + 20),
        # SSDsim: 7 cycles of 30 ns, the page, and 25 ns a byte out or 30 ns a byte in.
        (SSDSIM, "randread", "2k", 7 * 30 + 20_000 + 2048 * 25),
        (SSDSIM, "randwrite", "2k", 7 * 30 + 2048 * 30 + 200_000),
    ],
)
def test_requests_take_what_the_simulator_computes(
    tmp_path: Path, text: str, rw: str, bs: str, expected_ns: int
) -> None:
    # A link of a terabyte a second takes the rest.
    assert latency_ns(tmp_path, text, rw, bs) == pytest.approx(expected_ns, abs=10)


def test_simplessds_transfers_are_of_two_to_the_twenty_a_second(tmp_path: Path) -> None:
    channel = keys(imported(tmp_path, SIMPLESSD))["channel"]
    assert channel["ns_per_byte"] == pytest.approx(1e9 / (400 * 2**20))
    assert channel["read_command_ns"] == round(7 * 1e9 / (400 * 2**20))


@pytest.mark.parametrize(
    ("ftl", "expected", "spare"),
    [
        (0, {"kind": "page"}, 0.07),
        (3, {"kind": "page"}, 0.07),
        (
            1,
            {
                "kind": "log-block", "log_association": "one-to-one",
                "merge_unit_bytes": 64 * 4096, "log_blocks": 20,
            },
            1024 / (1024 - 22) - 1,
        ),
        (
            2,
            {
                "kind": "log-block", "log_association": "many-to-one",
                "merge_unit_bytes": 64 * 4096, "log_blocks": 30,
            },
            1024 / (1024 - 32) - 1,
        ),
    ],
)  # fmt: skip
def test_flashsims_ftls(tmp_path: Path, ftl: int, expected: dict[str, Any], spare: float) -> None:
    text = FLASHSIM.replace("FTL_IMPLEMENTATION 0", f"FTL_IMPLEMENTATION {ftl}")
    drive = keys(imported(tmp_path, text))
    assert drive["ftl"] == expected
    assert drive["over_provisioning_ratio"] == pytest.approx(spare)
    assert latency_ns(tmp_path, text, "randread", "4k") > 0
    assert ("map" in drive) == (ftl == 3)


def test_a_fork_numbers_its_ftls_otherwise(tmp_path: Path) -> None:
    fork = FLASHSIM.replace("FTL_IMPLEMENTATION 0", "FTL_IMPLEMENTATION 5") + (
        "SPARE_FACTOR 0.10\nGC_ALGORITHM 3\nDCHOICES_D 10\n"
    )
    drive = keys(imported(tmp_path, fork))
    assert drive["gc"] == {"policy": "d-choices", "choices": 10}
    assert drive["over_provisioning_ratio"] == pytest.approx(1 / 9)
    other = FLASHSIM.replace("FTL_IMPLEMENTATION 0", "FTL_IMPLEMENTATION 1") + (
        "GC_SCHEME 1\nOVERPROVISIONING 30\n"
    )
    assert keys(imported(tmp_path, other))["ftl"]["log_association"] == "many-to-one"


def test_flashsims_unit_is_that_in_which_all_delays_are_those_of_flash(tmp_path: Path) -> None:
    us = keys(imported(tmp_path, FLASHSIM))
    seconds = FLASHSIM
    for name, value in (
        ("RAM_READ", "0.01"), ("RAM_WRITE", "0.01"), ("BUS_CTRL", "2"), ("BUS_DATA", "10"),
        ("PLANE_REG_READ", "0.01"), ("PLANE_REG_WRITE", "0.01"), ("BLOCK_ERASE", "1500;"),
        ("PAGE_READ", "25"), ("PAGE_WRITE", "200"),
    ):  # fmt: skip
        whole = f"{float(value.rstrip(';')) / 1e6:.9f}"
        seconds = seconds.replace(f"{name}_DELAY {value}", f"{name}_DELAY {whole}")
    found = imported(tmp_path, seconds)
    assert keys(found) == us
    assert any(each.startswith("delays are in s:") for each in found.notes)
    mixed = FLASHSIM.replace("1500;", "1500000")
    with pytest.raises(SsdscopeError) as caught:
        imported(tmp_path, mixed)
    assert "those of flash in no unit" in caught.value.message
    assert "BLOCK_ERASE_DELAY 1.5e+06" in caught.value.message
    asked = imported(tmp_path, mixed, ImportOptions(time_unit="us"))
    assert keys(asked)["nand"]["erase_ns"] == 1_500_000_000


@pytest.mark.parametrize(
    ("static", "order"), [(0, "WDPC"), (1, "CWDP"), (2, "CPWD"), (3, "CDWP"), (5, "CDPW")]
)
def test_ssdsims_static_orders(tmp_path: Path, static: int, order: str) -> None:
    text = SSDSIM.replace("static_allocation=2", f"static_allocation={static}")
    assert keys(imported(tmp_path, text))["ftl"] == {
        "kind": "page", "allocation": "address", "plane_order": order,
    }  # fmt: skip


def test_ssdsims_commands_and_accounts(tmp_path: Path) -> None:
    found = imported(tmp_path, SSDSIM)
    drive = keys(found)
    assert drive["scheduler"] == {"multi_plane": True, "die_interleave": True}
    assert drive["gc"] == {"copyback": True, "policy": "greedy", "low_water_ratio": 0.1}
    assert drive["nand"]["ways"] == 2
    outcomes = {each.name: each.outcome for each in found.account}
    for name in ("t_RST", "chip number[2]", "aged ratio"):
        assert outcomes[name] == "without counterpart"
    assert outcomes["t_WC"] == outcomes["chip number[1]"] == "taken"
    assert "not known" not in outcomes.values()


def test_ssdsims_comments_may_be_of_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "page.parameters"
    path.write_bytes(SSDSIM.encode() + "gc=1; #记录\n".encode("gbk"))
    assert keys(import_file(str(path)))["nand"]["page_bytes"] == 2048


def test_simplessds_superblocks_are_mapped_as_one_or_collected_as_one(tmp_path: Path) -> None:
    whole = keys(imported(tmp_path, SIMPLESSD))
    assert whole["ftl"]["plane_order"] == "PCWD"
    assert whole["ftl"]["map_unit_bytes"] == 4 * 16_384
    assert whole["nand"]["read_by_type_ns"] == [40_000, 65_000]
    assert whole["gc"] == {"policy": "cost-benefit", "low_water_ratio": 0.05, "max_victims": 1}
    assert whole["default_state"] == "sequential"
    text = SIMPLESSD.replace("EnableRandomIOTweak = 0", "EnableRandomIOTweak = 1")
    single = keys(imported(tmp_path, text))
    assert single["ftl"]["reclaim_unit_bytes"] == 4 * 64 * 16_384
    assert "map_unit_bytes" not in single["ftl"]


def test_simplessds_xml_is_the_same_drive_by_other_names(tmp_path: Path) -> None:
    drive = keys(imported(tmp_path, SIMPLESSD_XML))
    assert drive["nand"]["program_by_type_ns"] == [600_000, 1_200_000]
    assert drive["nand"]["erase_ns"] == 10_000_000
    assert drive["channel"]["ns_per_byte"] == pytest.approx(1000 / 333)
    assert drive["ftl"]["plane_order"] == "CWDP"
    assert drive["write_buffer"] == {"bytes": 2**20}
    assert drive["host"]["lane_bytes_per_second"] == pytest.approx(8e9 / 8 * 128 / 130)


def test_simplessd_1_has_the_times_of_its_cells(tmp_path: Path) -> None:
    drive = keys(imported(tmp_path, SIMPLESSD_OLD))
    assert drive["nand"]["read_ns"] == 25_000
    assert drive["channel"]["ns_per_byte"] == pytest.approx(185_000 / 16_384 / 2)
    assert drive["ftl"]["plane_order"] == "CWDP"
    assert drive["over_provisioning_ratio"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("text", [SIMPLESSD, SIMPLESSD_XML, SIMPLESSD_OLD])
def test_an_imported_simplessd_runs(tmp_path: Path, text: str) -> None:
    assert latency_ns(tmp_path, text, "randread", "16k") > 25_000


def swapped(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (lambda: swapped(FLASHSIM, "DIE_SIZE 2\n", ""), "DIE_SIZE is missing"),
        (lambda: swapped(FLASHSIM, "DIE_SIZE 2", "DIE_SIZE two"), "DIE_SIZE is 'two'"),
        (lambda: swapped(FLASHSIM, "ATION 0", "ATION 4"), "FTL_IMPLEMENTATION is '4'"),
        (lambda: swapped(FLASHSIM, "SSD_SIZE 2", "SSD_SIZE 2\nSSD"), "line 8: 'SSD' is no setting"),
        (lambda: swapped(SSDSIM, "allocation=1;\nst", "allocation=3;\nst"), "allocation is '3'"),
        (lambda: swapped(SSDSIM, "[1] = 2", "[1] = 3"), "the channels have 2, 3 chips"),
        (lambda: swapped(SSDSIM, "mapping=1", "mapping=3"), "only 1 works"),
        (lambda: swapped(SSDSIM, "overprovide=0.20", "overprovide=1.5"), "overprovide is '1.5'"),
        (lambda: swapped(SSDSIM, "t_R = 20000", "t_R = 20us"), "t_R is '20us'"),
        (lambda: swapped(SIMPLESSD, "Page = 64\n", "Page = 64x\n"), "[pal]: Page is '64x'"),
        (lambda: swapped(SIMPLESSD, "MappingMode = 0", "MappingMode = 1"), "only 0 works"),
        (lambda: "[generator]\nio_size = 16M\n", "[pal] is missing"),
        (lambda: swapped(SIMPLESSD_XML, '"VictimSelectionPolicy">0', '"VictimSelectionPolicy">2'),
         "VictimSelectionPolicy is '2'"),
        (lambda: SIMPLESSD_XML[:900], "line 16, column 31: unclosed token"),
        (lambda: "<simplessd></simplessd>", "<section name='fil'> is missing"),
        (lambda: swapped(SIMPLESSD_OLD, "ADDR_DIE", "ADDR_DIR"), "AddrSeq0 to AddrSeq5"),
        (lambda: swapped(SIMPLESSD_OLD, "SLC", "PCM"), "NANDType is 'PCM'"),
    ],
)  # fmt: skip
def test_bad_files_are_refused_by_name(tmp_path: Path, text: Callable[[], str], said: str) -> None:
    with pytest.raises(SsdscopeError) as caught:
        imported(tmp_path, text())
    assert said in caught.value.message


def test_an_override_is_offered_as_a_shell_takes_it(tmp_path: Path) -> None:
    with pytest.raises(SsdscopeError) as caught:
        imported(tmp_path, swapped(SSDSIM, "mapping=1", "mapping=3"))
    assert "--override 'address mapping=1'" in str(caught.value.hint)


@pytest.mark.parametrize("text", [FLASHSIM, SSDSIM, SIMPLESSD, SIMPLESSD_XML, SIMPLESSD_OLD])
def test_a_cut_file_is_a_drive_or_refused(tmp_path: Path, text: str) -> None:
    refused = 0
    for end in range(0, len(text), 37):
        try:
            imported(tmp_path, text[:end])
        except SsdscopeError:
            refused += 1
    assert refused > 3


def test_the_command_accounts_for_each_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from ssdscope.cli.app import run_cli

    path = tmp_path / "ssd.conf"
    path.write_text(swapped(FLASHSIM, "1500;", "1500000"), encoding="utf-8")
    words = ["drives", "import", str(path), "-o", "json"]
    assert run_cli(words) != 0
    assert "--override" in capsys.readouterr().err
    assert run_cli([*words, "--override", "BLOCK_ERASE_DELAY=1500"]) == 0
    account = {each["name"]: each for each in json.loads(capsys.readouterr().out)["account"]}
    assert account["BLOCK_ERASE_DELAY"]["outcome"] == "replaced"
    assert account["BLOCK_ERASE_DELAY"]["value"] == "1500000"
    assert account["BUS_TABLE_SIZE"]["why"] == "a channel's schedule has no end"
    assert run_cli([*words, "--override", "BLOCK_ERASE_DELAY"]) == 2
    assert "expected NAME=VALUE" in capsys.readouterr().err
