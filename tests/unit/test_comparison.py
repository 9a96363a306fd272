"""Relative speeds and what stands side by side, from made-up results."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ssdscope.errors import UsageError
from ssdscope.findings import Absent, Detected, Findings, Undetectable
from ssdscope.findings.reasons import Reason
from ssdscope.report.comparison import compare, render, sides
from ssdscope.report.comparison.inputs import Cell, Entry, read_all
from ssdscope.report.comparison.speeds import Ratio, over_all, rank, ratio, shared
from ssdscope.targets.records import DeviceInfo

LATENCY = ("stddev", "min", "p50", "p90", "p95", "p99", "p99_9", "max")


def entry(name: str, cells: dict[str, Cell], **more: Any) -> Entry:
    return Entry(name, f"{name}.json", "run", name, cells, **more)


def test_relative_errors_add_in_quadrature() -> None:
    found = ratio(Cell(300.0, 9.0), Cell(100.0, 4.0))
    assert found.value == pytest.approx(3.0)
    assert found.half == pytest.approx(3 * math.hypot(0.03, 0.04))
    assert str(found) == "3.00 ± 0.15"
    assert str(ratio(Cell(183.0), Cell(100.0))) == "1.83"


def test_an_interval_around_one_is_no_difference() -> None:
    assert Ratio(1.5, 0.1).sure
    assert not Ratio(1.05, 0.1).sure
    assert not Ratio(9.0, None).sure


def test_over_several_workloads_the_geometric_mean_counts() -> None:
    slow = entry("slow", {"a": Cell(200.0, 2.0), "b": Cell(800.0, 8.0), "c": Cell(1.0)})
    fast = entry("fast", {"b": Cell(100.0, 1.0), "a": Cell(100.0, 1.0)})
    assert shared([slow, fast]) == ["a", "b"]
    found = over_all(slow, fast, ["a", "b"])
    assert found.value == pytest.approx(4.0)
    assert found.half == pytest.approx(4 * math.hypot(*[0.01 * math.sqrt(2)] * 2) / 2)
    ranked = rank([slow, fast], ["a", "b"])
    assert [each.entry.name for each in ranked] == ["fast", "slow"]
    assert str(ranked[0].slower) == "1.00 ± 0.00"


def detected(value: float, low: float, high: float) -> Findings:
    found = Detected(
        name="read_latency_alpha_ns", probe="latency", value=value, interval=(low, high), effect=1.0
    )
    return Findings([found])


def test_findings_differ_if_their_intervals_do_not_overlap() -> None:
    def told(one: Findings, other: Findings) -> bool | None:
        (row,) = sides.findings([entry("a", {}, findings=one), entry("b", {}, findings=other)])
        differs: bool | None = row["differs"]
        return differs

    known = detected(100.0, 90.0, 110.0)
    assert told(known, detected(120.0, 111.0, 130.0)) is True
    assert told(known, detected(115.0, 105.0, 125.0)) is False
    absent = Absent(name="read_latency_alpha_ns", probe="latency", bound=0.01, reason="")
    assert told(known, Findings([absent])) is True
    unknown = Undetectable(name="read_latency_alpha_ns", probe="latency", reason=next(iter(Reason)))
    assert told(known, Findings([unknown])) is None

    def of_three(*found: Findings) -> tuple[bool | None, int]:
        (row,) = sides.findings([entry(f"{n}", {}, findings=each) for n, each in enumerate(found)])
        return row["differs"], row["answered"]

    nothing = Findings([unknown])
    assert of_three(known, nothing, detected(120.0, 111.0, 130.0)) == (True, 2)
    assert of_three(known, nothing, known) == (False, 2)
    assert of_three(known, nothing, nothing) == (None, 1)
    assert told(known, Findings([])) is None


def run_document(uri: str, mean: float, **workload: Any) -> dict[str, Any]:
    latency = dict.fromkeys(LATENCY, mean) | {"mean": mean, "ci95_low": 0.99 * mean}
    latency["ci95_high"] = 1.01 * mean
    read = {"requests": 9, "bytes": 9, "iops": 5.0, "latency_ns": latency}
    return {
        "schema_version": 1,
        "tool": {"name": "ssdscope", "version": "0"},
        "target": {"uri": uri, "drive": {"a": {"b": uri}}},
        "workload": {"rw": "randread", "seed": mean} | workload,
        "requests": 9,
        "elapsed_ns": 9,
        "read": read,
        "write": None,
    }


def written(folder: Path, name: str, document: Any) -> str:
    path = folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def test_runs_are_ranked_and_what_else_differs_is_listed(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>$x$"
    paths = [
        written(tmp_path, "a.json", run_document("sim:a", 200_000.0)),
        written(tmp_path, "b.json", run_document(hostile, 100_000.0, iodepth=4)),
    ]
    told = compare(paths)
    assert told.headline() == f"{hostile} ran 2.00 ± 0.03 times faster than sim:a in reads"
    assert told.caution() is None
    settings = sides.settings(told.entries)
    assert settings is not None
    assert {row[0] for row in settings.rows} == {
        "workload.iodepth", "target.uri", "target.drive.a.b"
    }  # fmt: skip
    page = render(told)
    assert page.count("<script") == 1, "only the page's own"
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page


def test_drives_of_one_name_are_told_apart_by_their_files(tmp_path: Path) -> None:
    document = run_document("sim:a", 1e5)
    paths = [written(tmp_path, name, document) for name in ("a.json", "b.json")]
    told = compare(paths)
    assert {each.name for each in told.entries} == {"a (sim:a)", "b (sim:a)"}
    assert told.caution() == "The first two do not differ for certain."
    with pytest.raises(UsageError, match="named twice"):
        read_all([paths[0], paths[0]])


def report_document(uri: str, slower: float) -> dict[str, Any]:
    points = [
        {
            "split": "grid", "sort": "read", "rw": "randread", "block_bytes": size, "iodepth": 1,
            "mean_ns": slower * size, "ci95_low_ns": slower * size * 0.98,
            "ci95_high_ns": slower * size * 1.02,
        }
        for size in (4096, 65536)
    ]  # fmt: skip
    sustained = points[0] | {
        "rw": "randwrite",
        "sort": "sustained",
        "reached": True,
        "bandwidth_bytes_per_s": 5e6,
    }
    info = DeviceInfo("simulated", 1 << 30, 512, "virtual", True, True, True, True)
    return {
        "schema_version": 1,
        "tool": {"name": "ssdscope", "version": "0"},
        "target": {"uri": uri, "info": asdict(info)},
        "findings": detected(slower, 0.9 * slower, 1.1 * slower).to_json(),
        "performance": {"points": points, "sustained": [sustained]},
        "models": [],
        "advice": [],
        "twin": {"toml": "", "errors": {"n": 7, "median_ape": 0.031, "p90_ape": 0.12}},
        "provenance": {},
    }


def test_reports_lie_side_by_side(tmp_path: Path) -> None:
    paths = [
        written(tmp_path, "a.json", report_document("sim:a", 3.0)),
        written(tmp_path, "b.json", report_document("sim:b", 1.0)),
        written(tmp_path, "c.json", report_document("sim:c", 2.0) | {"twin": None}),
    ]
    told = compare(paths)
    said = "sim:b is the fastest of 3 in all that was compared: "
    assert told.headline() == f"{said}random read and random write, sustained"
    assert told.sentences()[:2] == [
        "random read (2 workloads): sim:b ran",
        "  2.00 ± 0.04 times faster than sim:c",
    ]
    assert len(told.workloads) == 3
    assert [each.slower.value for each in told.ranking] == pytest.approx([1.0, 2.0, 3.0])
    assert told.to_json()["findings"][0]["differs"] is True
    page = render(told)
    for shown in ("differ", "5 MB/s", "7 held-out workloads", "no twin", "times as fast as"):
        assert shown in page
    assert page.count("<svg") == 3  # two rankings, and the sizes; one depth makes no curve


def test_who_is_ahead_is_said_by_group(tmp_path: Path) -> None:
    paths = []
    for name, read, write in (("a", 1.0, 3.0), ("b", 2.0, 1.0), ("c", 3.0, 1.0)):
        document = report_document(f"sim:{name}", read)
        document["performance"]["sustained"][0] |= {
            "mean_ns": write, "ci95_low_ns": 0.98 * write, "ci95_high_ns": 1.02 * write
        }  # fmt: skip
        paths.append(written(tmp_path, f"{name}.json", document))
    told = compare(paths)
    said = "The fastest of 3 for certain: sim:a in random read; nobody in random write, sustained"
    assert told.headline() == said
    caution = "The first two do not differ for certain in random write, sustained."
    assert told.caution() == caution
    groups = told.to_json()["groups"]
    assert [each["group"] for each in groups] == ["random read", "random write, sustained"]
    assert groups[0]["ranking"][0]["target"] == "sim:a"


def test_what_not_all_have_is_named_and_claims_nothing(tmp_path: Path) -> None:
    busy = report_document("/dev/loop0", 0.1)
    first = busy["performance"]["points"][0]
    failed = {**first, "mean_ns": None, "failure": "the machine was busy"}
    busy["performance"]["points"] = [{**first, "rw": "read"}, failed]
    other = report_document("sim:a", 1.0)
    alike = {**other["performance"]["points"][0], "rw": "read"}
    other["performance"]["points"].append(alike)
    paths = [written(tmp_path, f"{n}.json", each) for n, each in enumerate((busy, other))]
    told = compare(paths)
    assert "random read: not compared, measured of sim:a only" in told.missing()
    assert "1 of 2 workloads not measured: the machine was busy" in render(told)
    assert all("random read" not in each.name for each in told.groups)


WRONG: dict[str, Any] = {
    "is nothing that ssdscope wrote": [1],
    "is neither a report nor the results of a run": {"a": 1},
    "was not written by ssdscope": {"requests": 1, "elapsed_ns": 1, "workload": {}},
    "is of version 9": run_document("sim:a", 1.0) | {"schema_version": 9},
    "is no report of ssdscope": {"findings": [], "performance": {}},
    "'latency_ns' is missing": run_document("sim:a", 1.0) | {"read": {"iops": 1}},
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_no_result_is_refused(tmp_path: Path, message: str) -> None:
    good = written(tmp_path, "good.json", run_document("sim:a", 1.0))
    with pytest.raises(UsageError, match=message):
        compare([good, written(tmp_path, "bad.json", WRONG[message])])


def test_what_is_cut_short_or_alone_is_refused(tmp_path: Path) -> None:
    good = written(tmp_path, "good.json", run_document("sim:a", 1.0))
    cut = tmp_path / "cut.json"
    cut.write_text('{"a": "', encoding="utf-8")
    with pytest.raises(UsageError, match="ends too early"):
        compare([good, str(cut)])
    with pytest.raises(UsageError, match="takes two files"):
        compare([good])
    writes = run_document("sim:b", 1.0)
    writes["read"], writes["write"] = None, writes["read"]
    with pytest.raises(UsageError, match="no workload in common"):
        compare([good, written(tmp_path, "writes.json", writes)])
