"""A report read back: what is none, of another version, cut or changed by hand is told so."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ssdscope.errors import UsageError
from ssdscope.findings import Detected, Findings
from ssdscope.report.document import parsed, read
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
POINT = {"rw": "randread", "block_bytes": 4096, "iodepth": 1, "split": "grid", "mean_ns": 80_000.0}


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


def found(**values: Any) -> Callable[[str], str]:
    return changed(findings=[DOCUMENT["findings"][0] | values])


def point(**values: Any) -> Callable[[str], str]:
    return changed(performance={"points": [POINT, POINT | values]})


def drive(**values: Any) -> Callable[[str], str]:
    return changed(target={"uri": "x", "info": asdict(INFO) | values})


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
        (changed(target={"uri": 7, "info": asdict(INFO)}), "target.uri: expected a text"),
        (drive(capacity_bytes="1"), "target.info.capacity_bytes: expected a whole number"),
        (drive(capacity_bytes=True), "target.info.capacity_bytes: expected a whole number"),
        (drive(writable="yes"), "target.info.writable: expected true or false"),
        (drive(write_cache=None), "target: "),
        (found(value="4 MiB"), "findings[0].value (merge_unit_bytes): expected a number"),
        (found(value=-4096), "-4096 is no value of it"),
        (found(value=2**40), "is more than the drive holds"),
        (found(value=10**400), "larger than any of a drive"),
        (found(value=None), "findings[0].value: a value is missing"),
        (found(property="allocation", value="chance"), "expected one of order, address"),
        (found(property="internal_volume_bits", value="13, x"), "expected a number"),
        (point(mean_ns=float("nan")), "holds NaN"),
        (point(mean_ns=-1), "performance.points[1].mean_ns: expected a number above 0, not -1"),
        (point(mean_ns="fast"), "performance.points[1].mean_ns: expected a number, not a text"),
        (point(iodepth=0), "performance.points[1].iodepth: expected a whole number"),
        (point(rw="guess"), "there is no pattern 'guess'"),
        (point(split=None), "expected one of grid, between, off-grid"),
        (changed(performance={"points": {}}), "performance.points: expected a list"),
        (changed(performance={"points": [1]}), "performance.points[0]: expected an object"),
        (changed(performance={"points": [], "trace": 1}), "performance.trace: expected an object"),
        (changed(models=[1]), "models[0]: expected an object"),
        (changed(twin=[]), "twin: expected an object"),
        (changed(twin={}), "twin.reason: expected a text"),
        (changed(twin={"toml": 1}), "twin.toml: expected a text"),
        (changed(twin={"toml": "", "errors": {"median_ape": 0.1}}), "twin.errors.p90_ape"),
        (lambda whole: whole.replace("4194304", "9" * 5000), "integer"),
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
    with pytest.raises(UsageError, match="it is a folder"):
        read(tmp_path)
    for endless in ("/dev/null", "/dev/zero"):
        with pytest.raises(UsageError, match="it is no plain file"):
            read(Path(endless))


def test_a_word_and_a_list_of_bits_are_values_of_their_own() -> None:
    for name, value in (("placement", "one-channel"), ("internal_volume_bits", "13, 15")):
        told = DOCUMENT["findings"][0] | {"property": name, "value": value}
        assert parsed(DOCUMENT | {"findings": [told]}, "x").findings[name].value == value


def test_a_report_without_a_twin_says_why() -> None:
    assert parsed(DOCUMENT, "x").require_twin() == "# a drive"
    with pytest.raises(UsageError, match=r"r\.json has no twin: it turns"):
        parsed(DOCUMENT | {"twin": {"reason": "it turns"}}, "r.json").require_twin()
    with pytest.raises(UsageError, match="measuring ended before one was built") as caught:
        parsed(DOCUMENT | {"twin": None}, "r.json").require_twin()
    assert "--resume" in str(caught.value.hint)
