"""``drives``, ``config``, ``doctor``, ``probe``: what they print, and in which form."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from ssdscope.report import sustaining
from ssdscope.targets.presets import preset_names


def test_the_version_is_printed(cli) -> None:
    commit = r"commit (unknown|[0-9a-f]{7,}( with changes)?)"
    wanted = rf"ssdscope \d+\.\d+\.\d+ \({commit}, rustc \d+\.\d+\.\S+, abi3 cp311\)\n"
    assert re.fullmatch(wanted, cli("--version").out)


def test_an_unknown_command_names_the_nearest(cli) -> None:
    said = cli("rnu")
    assert said.status == 2
    assert "did you mean run?" in said.err


def test_drives_are_listed(cli) -> None:
    table, listed = cli("drives", "list").out, cli("drives", "list", "-o", "json").document
    assert [drive["name"] for drive in listed["drives"]] == preset_names()
    for drive in listed["drives"]:
        assert drive["description"]
        assert drive["uri"] in table


@pytest.mark.parametrize("name", preset_names())
def test_a_copy_of_a_preset_is_the_preset(cli, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "copy.toml"
    copy.write_text(cli("drives", "show", name, "--toml").out, encoding="utf-8")
    assert cli("drives", "check", str(copy)).status == 0
    words = ("run", "--rw", "randread", "--number-ios", "50", "--seed", "1", "-o", "json")
    original, copied = cli(*words, f"sim:{name}").document, cli(*words, str(copy)).document
    assert original["target"]["drive"] == copied["target"]["drive"]
    assert original["read"] == copied["read"]


@pytest.mark.parametrize("name", preset_names())
def test_a_drive_is_drawn_with_the_origin_of_its_values(
    cli, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    drawing = cli("drives", "show", name).out.splitlines()
    assert max(map(len, drawing)) <= 80
    document = cli("drives", "show", name, "-o", "json").document
    values = {each["key"]: each for each in document["values"]}
    for table in ("host", "nand" if "nand" in document["drive"] else "disk"):
        for key, value in document["drive"][table].items():
            assert values[f"{table}.{key}"]["value"] == value
            rows = [line for line in drawing if f"{key} " in line]
            assert rows, key
    assert {each["source"] for each in values.values()} <= {"line", "table", "head", "default"}
    for each in values.values():
        assert (each["line"] is None) == (each["source"] == "default"), each


def test_the_resolved_drive_can_be_fed_back(cli, tmp_path: Path) -> None:
    fed = tmp_path / "resolved.toml"
    shown = cli("config", "show", "sim:mqsim-8g", "--set", "nand.read_ns=50000")
    fed.write_text(shown.out, encoding="utf-8")
    assert tomllib.loads(shown.out)["nand"]["read_ns"] == 50_000
    again = cli("config", "show", str(fed))
    assert again.out == shown.out


def test_the_defaults_of_a_workload_are_shown(cli) -> None:
    shown = tomllib.loads(cli("config", "show").out)
    assert shown["workload"]["bs"] == 4096
    assert shown["workload"]["iodepth"] == 1


def test_every_fault_of_a_drive_file_is_told(cli, tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    text = cli("drives", "show", "mqsim-8g", "--toml").out
    bad.write_text(text.replace("read_ns", "raed_ns", 1) + "\nfrobnicate = 1\n", encoding="utf-8")
    said = cli("drives", "check", str(bad))
    assert said.status == 2
    assert "raed_ns" in said.out
    assert "read_ns" in said.out
    assert "frobnicate" in said.out
    document = cli("drives", "check", str(bad), "-o", "json").document
    assert document["valid"] is False
    assert len(document["faults"]) >= 2
    run = cli("run", str(bad), "--number-ios", "1")
    assert run.status == 2
    assert "raed_ns" in run.err


def test_every_key_of_a_drive_file_is_listed(cli) -> None:
    keys = {key["key"] for key in cli("drives", "keys", "-o", "json").document["keys"]}
    assert {"nand.read_ns", "ftl.kind", "gc.policy", "over_provisioning_ratio"} <= keys
    assert "nand.read_ns" in cli("drives", "keys").out


def test_the_doctor_reports(cli) -> None:
    environment = cli("doctor", "-o", "json").document["environment"]
    assert environment["kernel"].startswith("Linux ")
    assert environment["libraries"]["numpy"] != "missing"
    assert "io_uring" in cli("doctor").out


def test_the_doctor_identifies_nothing_that_is_not_there(cli) -> None:
    said = cli("doctor", "--identify", "missing.bin")
    assert said.status == 2
    assert "missing.bin" in said.err


def test_probes_are_listed_and_run(cli) -> None:
    listed = cli("probe", "list", "-o", "json").document["probes"]
    assert "latency" in {probe["name"] for probe in listed}
    said = cli("probe", "latency", "sim:mqsim-8g", "--seed", "1", "-o", "json")
    assert said.status == 0, said.err
    findings = {finding["property"]: finding for finding in said.document["findings"]}
    assert findings.keys() == {
        "read_latency_alpha_ns",
        "read_latency_beta_ns_per_byte",
        "queue_depth_knee",
    }
    keys = {"outcome", "value", "unit", "interval", "effect", "evidence", "reason", "candidates",
            "bytes_written", "requests", "probe"}  # fmt: skip
    for finding in findings.values():
        assert keys <= finding.keys()
        assert finding["bytes_written"] == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("probe", "latncy", "sim:mqsim-8g"), "did you mean latency?"),
        (("probe", "latency"), "on which target?"),
        (("probe", "latency", "sim:mqsim-8g", "--budget", "7"), "budget"),
        (("reproduce", "machado2016"), "did you mean machado2015?"),
        (("reproduce", "machado2015", "--figure", "one"), "--figure: 'one' is no figure"),
        (("characterize", "sim:mqsim-8g", "-O", "nowhere/page.html"), "no folder nowhere"),
        (("drives", "show", "mqsim-9g"), "did you mean mqsim-8g"),
        (("config", "show", "null:"), "has no drive file"),
    ],
)
def test_bad_words_are_refused(cli, words: tuple[str, ...], expected: str) -> None:
    said = cli(*words)
    assert said.status == 2, said.err
    assert expected in said.err
    assert "Traceback" not in said.err


def test_a_study_is_reproduced(cli, tmp_path: Path) -> None:
    words = ("reproduce", "machado2015", "--figure", "1,difference", "--seed", "1")
    said = cli(*words, "-O", str(tmp_path), "--strict", "-o", "json")
    document = said.document
    rows = [row for figure in document["figures"] for row in figure["rows"]]
    assert document["study"] == "machado2015"
    assert {row["verdict"] for row in rows} <= {"agrees", "differs", "explained"}
    assert all(row.get("why") for row in rows if row["verdict"] != "agrees")
    assert said.status == any(row["verdict"] == "differs" for row in rows)
    for figure in document["figures"]:
        assert figure["image"] is None or Path(figure["image"]).exists()


def test_a_page_is_written(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sustaining, "CORE_NS_PER_S", 2.7e5)
    page, data = tmp_path / "page.html", tmp_path / "page.json"
    words = ("characterize", "sim:msr-4gb", "-O", str(page), "--json", str(data), "--seed", "1")
    said = cli(*words, "--budget", "4s", "-o", "json")
    assert said.status == 0, said.err
    assert said.document["findings"]
    html = page.read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert len(html) < 2 * 2**20
    assert "http://" not in html.replace("http://www.w3.org/", "")
    stored = json.loads(data.read_text(encoding="utf-8"))
    assert {"target", "findings", "performance", "models", "advice", "provenance"} <= stored.keys()
