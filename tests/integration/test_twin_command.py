"""``ssdscope twin``: the drive file of a report, its error first, and what if it were changed."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.test_report_document import DOCUMENT

import ssdscope as s
from ssdscope.errors import ConfigError, UsageError
from ssdscope.report import twinning
from ssdscope.targets.drive_writer import drive_toml
from ssdscope.workloads import Workload

TWIN = drive_toml(
    {
        "default_state": "sequential",
        "over_provisioning_ratio": 0.3,
        "nand.channels": 2,
        "nand.blocks_per_plane": 32,
        "nand.pages_per_block": 16,
        "nand.page_bytes": 4096,
        "nand.read_ns": 50_000,
        "nand.program_ns": 200_000,
        "nand.erase_ns": 1_000_000,
        "channel.ns_per_byte": 0.01,
        "host.bytes_per_second": 1e9,
        "ftl.kind": "page",
    },
    ["a twin"],
)
ERRORS = {"n": 20, "median_ape": 0.042, "p90_ape": 0.2, "mre": 0.06}


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A report in a folder of its own, which is the working folder."""
    monkeypatch.chdir(tmp_path)
    return written(tmp_path / "report.json")


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask less than the whole table."""
    monkeypatch.setattr(twinning, "ASKED", (Workload(rw="randread", requests=50),))
    monkeypatch.setattr(twinning, "KEPT_UP", (Workload(rw="randwrite", requests=200),))


def written(path: Path, **twin: Any) -> Path:
    told = {"toml": TWIN, "errors": ERRORS, "not_modelled": ["read-ahead"]} | twin
    path.write_text(json.dumps(DOCUMENT | {"twin": told}), encoding="utf-8")
    return path


def test_the_twin_is_written_and_is_a_target(cli, report: Path) -> None:
    said = cli("twin", report.name, "-O", "twin.toml")
    assert said.status == 0, said.err
    title, error, *_ = said.out.splitlines()
    assert title == "twin of sim:x"
    assert "on 20 unseen workloads" in error
    assert "off by 4.2 % in the median, 20 % at the 90th percentile" in error
    assert "  read-ahead\n" in said.out
    assert said.out.endswith("drive file: twin.toml\n")
    assert cli("drives", "check", "twin.toml").status == 0
    ran = cli("run", "twin.toml", "--rw", "randread", "--number-ios", "10", "-o", "json")
    assert ran.document["requests"] == 10
    assert cli("twin", report.name, "-O", "twin.toml").status == 0, "it is ours to replace"


def test_a_sketch_is_said_to_be_one(cli, report: Path) -> None:
    written(report, sketch=True)
    assert "a sketch: ask it for directions, not for figures" in cli("twin", report.name).out
    written(report, errors=None)
    assert "nobody knows how far it is off" in cli("twin", report.name).out


@pytest.mark.usefixtures("brief")
def test_a_changed_twin_runs_against_the_original(cli, report: Path) -> None:
    words = ("twin", report.name, "--what-if", "nand.read_ns=100000", "--seed", "1")
    said = cli(*words)
    assert said.status == 0, said.err
    assert said.out.index("off by 4.2 %") < said.out.index("mean latency with")
    document = cli(*words, "-o", "json").document
    read, kept_up = document["what_if"]
    assert read["ratio"] == pytest.approx(read["changed_ns"] / read["original_ns"], rel=0.01)
    assert 1.5 < read["low"] <= read["ratio"] <= read["high"] < 2.1
    assert (kept_up["sustained"], read["sustained"]) == (True, False)
    assert document["changes"] == {"nand.read_ns": "100000"}
    assert document["twin"]["errors"] == ERRORS
    assert f"{read['ratio']:.3g}" in said.out
    assert "repeat: ssdscope twin report.json --what-if nand.read_ns=100000 --seed 1" in said.err


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("nand.raed_ns=1", "--what-if: nand.raed_ns: unknown key (did you mean nand.read_ns?)"),
        ("nand.read_ns=fast", '--what-if: nand.read_ns: is "fast"; expected whole nanoseconds'),
        ("nand.read_ns", "--what-if: nand.read_ns: expected KEY=VALUE"),
        ("=1", "--what-if: =1: expected KEY=VALUE"),
        ("over_provisioning_ratio=0.0001", "--what-if: over_provisioning_ratio: 0.0001 leaves"),
    ],
)
def test_a_change_that_cannot_be_is_refused_before_anything(
    cli, report: Path, change: str, told: str
) -> None:
    said = cli("twin", report.name, "-O", "twin.toml", "--what-if", change)
    assert (said.status, said.out) == (2, "")
    assert told in said.err
    assert not Path("twin.toml").exists()


def test_a_key_that_is_changed_twice_is_refused(cli, report: Path) -> None:
    words = ("--what-if", "nand.read_ns=1", "--what-if", "nand.read_ns=2")
    assert "nand.read_ns is given twice" in cli("twin", report.name, *words).err


@pytest.mark.parametrize(
    ("twin", "told"),
    [
        ({"reason": "it has moving parts"}, "report.json has no twin: it has moving parts"),
        (None, "report.json has no twin: measuring ended before one was built"),
        ({"toml": "nand = 7"}, "report.json: the twin: "),
        ({"toml": TWIN.replace("page_bytes", "page_byte")}, "did you mean nand.page_bytes?"),
    ],
)
def test_a_report_whose_twin_cannot_be_taken_is_refused(
    cli, report: Path, twin: dict[str, Any] | None, told: str
) -> None:
    report.write_text(json.dumps(DOCUMENT | {"twin": twin}), encoding="utf-8")
    said = cli("twin", report.name, "-O", "twin.toml")
    assert (said.status, said.out) == (2, "")
    assert told in said.err
    assert "Traceback" not in said.err
    assert not Path("twin.toml").exists()


@pytest.mark.parametrize("name", ["/dev/null", ".", "missing.json", "data.bin", "cut.json"])
def test_what_is_no_report_is_refused(cli, report: Path, name: str) -> None:
    Path("data.bin").write_bytes(b"\x80\x81" * 100)
    Path("cut.json").write_bytes(report.read_bytes()[:-20])
    said = cli("twin", name)
    assert (said.status, said.out) == (2, "")
    assert name in said.err
    assert "this is a defect" not in said.err


@pytest.mark.usefixtures("brief")
def test_the_library_reads_reports_and_their_twins(report: Path) -> None:
    read = s.read_report(report)
    assert read.findings["merge_unit_bytes"].value == 4 << 20
    twin = read.twin
    assert repr(twin).startswith("twin of sim:x: on 20 unseen workloads")
    made = twin.save("twin.toml")
    assert s.open(made).capacity_bytes > 0
    faster, _ = twin.what_if({"nand.read_ns": 10_000})
    assert faster.ratio < 0.6
    with pytest.raises(ConfigError, match=r"what_if: nand\.raed_ns: unknown key"):
        twin.what_if({"nand.raed_ns": 1})
    Path("mine.toml").write_text("mine = 1\n", encoding="utf-8")
    with pytest.raises(UsageError, match="did not write"):
        twin.save("mine.toml")
    with pytest.raises(UsageError, match=r"twin\.toml, line 1: "):
        s.read_report(made)
