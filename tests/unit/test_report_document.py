"""A report read back: what is none, of another version, cut or changed by hand is told so."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ssdscope.errors import UsageError
from ssdscope.findings import Detected, Findings
from ssdscope.report.document import read
from ssdscope.results import envelope
from ssdscope.targets.records import CacheInfo, DeviceInfo

INFO = DeviceInfo("simulated", 1 << 30, 512, "virtual", True, True, True, True)
MERGE = Detected(
    name="merge_unit_bytes", value=4194304, interval=None, effect=3.0, probe="merge_unit"
)
DOCUMENT: dict[str, Any] = {
    **envelope(seed=1),
    "target": {"uri": "sim:x", "info": asdict(INFO)},
    "findings": Findings([MERGE]).to_json(),
    "performance": {"points": []},
    "models": [],
    "advice": [],
    "twin": {"toml": "# a drive"},
    "provenance": {},
}


def test_a_report_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    report = read(path)
    assert (report.uri, report.info, report.twin_toml) == ("sim:x", INFO, "# a drive")
    assert isinstance(report.info.write_cache, CacheInfo)
    assert report.findings["merge_unit_bytes"] == MERGE


def without(key: str) -> Callable[[str], str]:
    return lambda _: json.dumps({name: each for name, each in DOCUMENT.items() if name != key})


def changed(**values: Any) -> Callable[[str], str]:
    return lambda _: json.dumps(DOCUMENT | values)


@pytest.mark.parametrize(
    ("spoilt", "told"),
    [
        (lambda whole: whole[: len(whole) // 2], "ends too early"),
        (lambda _: "{" * 100_000, "report.json"),
        (lambda _: "[1]", "is no report"),
        (lambda _: "", "ends too early"),
        (changed(schema_version=99), "version 99"),
        (changed(tool={"name": "fio"}), "is no report"),
        (without("findings"), "'findings' is missing"),
        (changed(performance=[]), "'performance' is missing or not an object"),
        (changed(findings=[{"property": "merge_unit_bytes"}]), "findings[0]"),
        (changed(target={"uri": "sim:x"}), "'info' is missing"),
        (changed(target={"uri": "x", "info": asdict(INFO) | {"capacity_bytes": "1"}}), "capacity"),
    ],
)
def test_what_is_none_is_told_so(tmp_path: Path, spoilt: Callable[[str], str], told: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(spoilt(json.dumps(DOCUMENT)), encoding="utf-8")
    with pytest.raises(UsageError, match=r"report\.json") as caught:
        read(path)
    assert told in caught.value.message


def test_what_is_not_there_or_no_text_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read(tmp_path / "missing.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="is no text"):
        read(tmp_path / "binary.json")
