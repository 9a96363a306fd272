"""``ssdscope advise`` as a user meets it: settings with gains, layouts of traces, wrong input."""

import json
import shlex
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tests.small_drives import MERGING

from ssdscope.findings import Detected, Findings
from ssdscope.results import envelope
from ssdscope.targets.drive_writer import open_drive

KIB, MIB = 1 << 10, 1 << 20
ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "layout" / "kuo2009.spc"
FOUND = {"rmw_unit_bytes": 4 * KIB, "merge_unit_bytes": 256 * KIB, "queue_depth_knee": 3.2}


def detected(name: str, value: float) -> Detected:
    return Detected(name=name, probe="p", value=value, interval=None, effect=1.0)


def document(**changes: Any) -> dict[str, Any]:
    """Give a report of a drive that its twin is like."""
    info = asdict(open_drive(MERGING, "twin", 1).info)
    whole = {
        **envelope(seed=1),
        "target": {"uri": "sim:x", "info": info},
        "findings": Findings([detected(*each) for each in FOUND.items()]).to_json(),
        "performance": {"points": [], "sustained": []},
        "models": [],
        "advice": [],
        "twin": {"toml": MERGING, "not_modelled": []},
        "provenance": {},
    }
    return whole | changes


@pytest.fixture
def report(tmp_path: Path) -> Callable[..., str]:
    def write(**changes: Any) -> str:
        path = tmp_path / "report.json"
        path.write_text(json.dumps(document(**changes)), encoding="utf-8")
        return str(path)

    return write


def test_settings_come_with_what_they_gain(cli, report: Callable[..., str]) -> None:
    said = cli("advise", report(), "--for", "ext4,zfs", "--seed", "1", "-o", "json").document
    by_tool = {each["tool"]: each for each in said["advice"]}
    ext4 = by_tool["ext4"]
    assert shlex.split(ext4["command"])[:4] == ["mkfs.ext4", "-b", "4096", "-E"]
    assert shlex.split(ext4["command"])[4] == "stride=2,stripe_width=64"
    assert ext4["gain"]["low"] > 1.2
    assert ext4["gain"]["of"] == "twin"
    assert (by_tool["zfs"]["outcome"], by_tool["zfs"]["command"]) == ("no effect", None)
    assert said["seed"] == 1


def test_the_text_fits_a_terminal_and_leaves_commands_whole(
    cli, report: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ssdscope.cli.terminal.width", lambda: 80)
    said = cli("advise", report(), "--device", "/dev/nvme0n1", "--seed", "1").out
    assert "\n  mkfs.ext4 -b 4096 -E stride=2,stripe_width=64 /dev/nvme0n1\n" in said
    assert "times as fast" in said
    assert "No difference on this drive:" in said
    assert "No advice, as what it rests on is not known:" in said
    long = [line for line in said.splitlines() if len(line) > 80]
    assert all("/dev/" in line or "options." in line for line in long), long


def test_a_report_without_a_twin_gives_settings_without_gains(
    cli, report: Callable[..., str]
) -> None:
    said = cli("advise", report(twin=None), "--for", "ext4", "--seed", "1").out
    assert "mkfs.ext4" in said
    assert "Gains were not measured: no twin." in said
    sketch = document()["twin"] | {"sketch": True}
    told = cli("advise", report(twin=sketch), "--for", "ext4", "--seed", "1").out
    assert "on the sketch of a twin" in " ".join(told.split())


def test_the_example_of_kuo2009_comes_out_of_the_command(cli, report: Callable[..., str]) -> None:
    words = ("--trace", str(EXAMPLE), "--rmw-unit", "2k", "--merge-unit", "8k", "--seed", "1")
    said = cli("advise", report(), *words, "-o", "json")
    steps = said.document["layout"]["steps"]
    assert [each["page_writes"] for each in steps] == [14, 9, 8, 8]
    assert [each["read_first"] for each in steps] == [12, 2, 0, 0]
    assert [each["blocks"] for each in steps] == [6, 6, 6, 2]
    assert said.document["trace"]["requests"] == 7
    text = cli("advise", report(), *words).out
    assert "starts aligned" in text
    assert "RMW unit 2 KiB, merge unit 8 KiB" in text


def test_a_layout_is_run_on_the_twin(cli, report: Callable[..., str], tmp_path: Path) -> None:
    trace = tmp_path / "appends.spc"
    lines = [f"0,{6 + 4 * n},2048,w,{n / 1000}" for n in range(600)]
    trace.write_text("\n".join(lines) + "\n", encoding="utf-8")
    said = cli("advise", report(), "--trace", str(trace), "--seed", "1", "-o", "json").document
    first, *_, last = said["layout"]["steps"]
    assert first["gain"] == 1
    assert last["gain"] > 1.2
    assert last["page_writes"] < first["page_writes"] / 1.5
    assert sum(first["twin"]["merges"].values()) > 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--for", "ext5"), "did you mean ext4"),
        (("--for", "ext4", "--trace", str(EXAMPLE)), "leave out one of the two"),
        (("--rmw-unit", "4k"), "--rmw-unit is of a trace"),
        (("--device", "sdb"), "--device: 'sdb' is not a device"),
        (("--trace", "missing.spc"), "missing.spc"),
        (("--trace", str(EXAMPLE), "--rmw-unit", "100"), "no whole sectors"),
        (("--trace", str(EXAMPLE), "--rmw-unit", "3k"), "no multiple"),
        (("--trace", str(EXAMPLE), "--fit", "wrap"), "--fit: 'wrap' is unknown"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    cli, report: Callable[..., str], words: tuple[str, ...], told: str
) -> None:
    said = cli("advise", report(), *words, "--seed", "1")
    assert (said.status, said.out) == (2, "")
    assert told in said.err


def test_a_twin_that_cannot_be_opened_costs_the_gains_alone(
    cli, report: Callable[..., str]
) -> None:
    said = cli("advise", report(twin={"toml": "nand = 3"}), "--for", "ext4", "--seed", "1")
    assert said.status == 0
    assert "mkfs.ext4" in said.out
    assert "Gains were not measured: the twin cannot be opened" in said.out


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"twin": []}, "twin"),
        ({"performance": {"sustained": [3]}}, "performance.sustained[0]"),
        ({"performance": {"sustained": "none"}}, "performance.sustained"),
    ],
)
def test_a_report_edited_by_hand_is_refused_with_the_place(
    cli, report: Callable[..., str], changes: dict[str, Any], where: str
) -> None:
    said = cli("advise", report(**changes), "--seed", "1")
    assert (said.status, said.out) == (2, "")
    assert where in said.err


def test_what_is_no_report_is_refused(cli, tmp_path: Path) -> None:
    for path, text in (("cut.json", '{"schema_version": 1, '), ("other.json", "[1]")):
        (tmp_path / path).write_text(text, encoding="utf-8")
        said = cli("advise", str(tmp_path / path), "--seed", "1")
        assert (said.status, said.out) == (2, "")
        assert path in said.err
    assert cli("advise", str(tmp_path), "--seed", "1").status == 2
    assert cli("advise", "/dev/null", "--seed", "1").status == 2


def test_a_trace_beyond_the_drive_is_refused_with_what_helps(
    cli, report: Callable[..., str], tmp_path: Path
) -> None:
    trace = tmp_path / "far.spc"
    trace.write_text("0,0,4096,w,0.0\n0,99999999999,4096,w,0.5\n", encoding="utf-8")
    said = cli("advise", report(), "--trace", str(trace), "--seed", "1")
    assert said.status == 2
    assert "1 of 2 requests lie beyond" in said.err
    assert "--fit compact" in said.err
    words = ("--trace", str(trace), "--fit", "compact", "--seed", "1")
    assert cli("advise", report(), *words).status == 0
