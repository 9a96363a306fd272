"""The main job on simulated drives, a file and a hostile name; the page it leaves."""

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from ssdscope.errors import DeviceError, TraceError
from ssdscope.findings import Findings
from ssdscope.probes.budget import Budget, silent
from ssdscope.probes.registry import choose
from ssdscope.report import (
    Characterization,
    characterize,
    performance,
    render,
    stages,
    sustaining,
    words,
)
from ssdscope.report.figures import trace_chart
from ssdscope.report.replay import TraceFile, replay_trace
from ssdscope.results.record import strict_json
from ssdscope.targets import open_target

DEFAULT = Budget.parse("default")
HALF = Budget("default", wall_s=55, repetitions=1)
"""Most of the runs that a page has by default: enough for a model to be held to."""
BRIEF = Budget("default", wall_s=4, repetitions=1)
"""For what does not hang on how well the drive is known."""
KEYS = {"target", "findings", "performance", "models", "advice", "studies", "provenance"}


class Page(HTMLParser):
    """What a browser would load, and whether elements close in order."""

    VOID = frozenset({"meta", "br", "hr", "img", "link", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.downloads: list[str] = []
        self.ids: list[str] = []
        self.scripts = 0
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        for key, value in attrs:
            if key in ("src", "href", "xlink:href") and not (value or "").startswith("#"):
                kept = key == "href" and ("download" in dict(attrs))
                (self.downloads if kept else self.loads).append(value or "")
            if key == "id":
                self.ids.append(value or "")
            assert not key.startswith("on"), f"an event handler: {key}"
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


@pytest.fixture(scope="module", autouse=True)
def _brief() -> Iterator[None]:
    """Bring nothing to rest, and measure each point with a third of the requests.

    That would be half a minute of a core for each page.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sustaining, "CORE_NS_PER_S", 2.7e5)
        patch.setattr(performance, "REQUESTS", performance.REQUESTS // 3)
        yield


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Characterization, Path]:
    folder = tmp_path_factory.mktemp("page")
    result = characterize(
        open_target("sim:mqsim-8g", seed=1, state="random"),
        budget=HALF,
        seed=1,
        out_html=folder / "page.html",
        out_json=folder / "page.json",
    )
    return result, folder / "page.html"


def test_the_document_has_every_key_of_the_contract(done: tuple[Characterization, Path]) -> None:
    document = json.loads(done[1].with_suffix(".json").read_text(encoding="utf-8"))
    assert document.keys() >= KEYS
    assert document["schema_version"] == 1
    answered = {name for probe in choose("all", DEFAULT) for name in probe.properties}
    assert {each["property"] for each in document["findings"]} == answered
    patterns = {point["rw"] for point in document["performance"]["points"]}
    assert patterns == {"read", "randread", "write", "randwrite"}


def test_what_was_found_is_read_back_from_json_and_drawn(
    done: tuple[Characterization, Path],
) -> None:
    document = json.loads(done[1].with_suffix(".json").read_text(encoding="utf-8"))
    found = Findings.from_json(document["findings"])
    assert json.loads(strict_json(found.to_json())) == document["findings"]
    assert found.keys() == done[0].findings.keys()
    ids = Page(done[1].read_text(encoding="utf-8")).ids
    shown = {each.name for finding in found.values() for each in finding.evidence.exhibits}
    assert {"size-sweep", "depth-sweep"} <= shown
    assert {f"evidence-{name}" for name in shown} <= set(ids)


def test_the_page_stands_alone(done: tuple[Characterization, Path]) -> None:
    text = done[1].read_text(encoding="utf-8")
    page = Page(text)
    assert page.loads == []
    assert page.scripts == 1
    assert len(page.downloads) == 3
    assert all(each.startswith("data:") for each in page.downloads)
    assert len(page.ids) == len(set(page.ids))
    assert len(text) < 3_000_000
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text
    assert "width=device-width" in text
    assert not re.search(r"url\((?!#)", text)


def test_pictures_follow_the_theme(done: tuple[Characterization, Path]) -> None:
    text = done[1].read_text(encoding="utf-8")
    assert "#fe00" not in text, "a stand-in colour was not replaced"
    assert "var(--s1)" in text
    assert text.count('role="img"') >= 8


def test_attribution_of_a_point_adds_up_to_its_mean(
    done: tuple[Characterization, Path],
) -> None:
    points = done[0].to_json()["performance"]["points"]
    for point in points:
        if point["failure"] is None:
            total = sum(point["attribution_ns"].values())
            assert total == pytest.approx(point["mean_ns"], rel=1e-9)


def test_the_model_is_held_to_unseen_points(done: tuple[Characterization, Path]) -> None:
    rows = done[0].to_json()["models"][0]["rows"]
    off_grid = {row["name"]: row for row in rows if row["split"] == "off-grid"}
    model = done[0].to_json()["models"][0]
    assert off_grid[model["name"]]["mre"] < off_grid["constant (naive)"]["mre"] / 4
    assert off_grid[model["name"]]["n_test"] == len(model["held_out"]) > 30
    assert model["tree_grouped_mre"] < off_grid["constant (naive)"]["mre"] / 4
    assert [each["name"] for each in model["maps"]] == ["random reads", "random writes"]
    assert model["mix"]["wr_ratios"] == [0, 25, 50, 75, 100]
    alone, reads = model["mix"]["cells"][0][0], model["maps"][0]["cells"][0][0]
    assert alone == pytest.approx(reads), "a mix without writes is reads"
    deep, shallow = model["maps"][0]["cells"][-1][0], model["maps"][0]["cells"][0][0]
    assert shallow["low"] < shallow["value"] < deep["value"]
    text = done[1].read_text(encoding="utf-8")
    assert "A tree to read" in text
    assert "Predicted mean latency of random writes" in text


def test_the_model_agrees_with_what_the_page_measured(
    done: tuple[Characterization, Path],
) -> None:
    """Nearly all reads that the page shows lie inside of the 90 % intervals of its model."""
    document = done[0].to_json()
    measured = {
        (row["block_bytes"], row["iodepth"]): row["mean_ns"]
        for row in document["performance"]["points"]
        if row["rw"] == "randread" and row["failure"] is None
    }
    reads = document["models"][0]["maps"][0]
    cells = [
        (measured[size, depth], cell)
        for depth, row in zip(reads["depths"], reads["cells"], strict=True)
        for size, cell in zip(reads["sizes_bytes"], row, strict=True)
        if (size, depth) in measured
    ]
    outside = [cell for mean, cell in cells if not cell["low"] <= mean <= cell["high"]]
    assert len(cells) >= 28
    assert len(outside) <= 0.13 * len(cells)


def test_the_same_seed_gives_the_same_document(tmp_path: Path) -> None:
    documents = []
    for name in ("a", "b"):
        result = characterize(
            open_target("sim:msr-4gb", seed=1),
            budget=Budget("default", wall_s=20, repetitions=1),
            seed=5,
            out_html=tmp_path / f"{name}.html",
        )
        document = result.to_json()
        assert document["models"], "too few runs for a model: it would not be compared"
        del document["provenance"]
        for model in document["models"]:
            for row in model["rows"]:
                del row["fit_s"], row["predict_us"]
        documents.append(json.dumps(document))
        assert not (tmp_path / f"{name}.partial.json").exists()
    assert documents[0] == documents[1]


def test_the_twin_of_a_page_drive_is_a_drive(
    done: tuple[Characterization, Path], tmp_path: Path
) -> None:
    twin = done[0].to_json()["twin"]
    path = tmp_path / "twin.toml"
    path.write_text(twin["toml"], encoding="utf-8")
    opened = open_target(str(path), seed=1)
    assert opened.capacity_bytes == pytest.approx(
        done[0].to_json()["target"]["capacity_bytes"], rel=0.01
    )
    assert twin["errors"]["median_ape"] < 0.3


def test_names_from_outside_are_escaped(done: tuple[Characterization, Path]) -> None:
    document: dict[str, Any] = json.loads(json.dumps(done[0].to_json()))
    hostile = '<script>alert(1)</script>"onload=x'
    document["target"]["uri"] = hostile
    document["performance"]["trace"] = {"name": hostile, "failure": hostile}
    document["target"]["drive"] = {"description": hostile}
    document["advice"] = [
        {"tool": hostile, "knob": hostile, "command": hostile, "formula": hostile,
         "because": hostile, "source": "detected"}
    ]  # fmt: skip
    document["provenance"]["command"] = hostile
    document["target"]["declared"] = {"model": hostile, "serial": hostile}
    text = render(document)
    page = Page(text)
    assert page.scripts == 1, "only the page's own"
    assert hostile not in text


def test_only_the_own_script_may_run(done: tuple[Characterization, Path]) -> None:
    text = done[1].read_text(encoding="utf-8")
    policy = re.search(r"script-src '(sha256-[^']+)'[;\"]", text)
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)
    assert policy is not None
    assert script is not None
    digest = hashlib.sha256(script[1].encode()).digest()
    assert policy[1] == f"sha256-{base64.b64encode(digest).decode()}"
    assert "unsafe" not in text.partition("script-src")[2].partition('"')[0]


def test_the_downloads_are_the_document(done: tuple[Characterization, Path]) -> None:
    whole = Page(done[1].read_text(encoding="utf-8")).downloads[0]
    held = json.loads(base64.b64decode(whole.partition("base64,")[2]))
    assert held == json.loads(done[1].with_suffix(".json").read_text(encoding="utf-8"))


def test_an_early_end_leaves_a_page_of_what_there_is(tmp_path: Path) -> None:
    def impatient(stage: str, share: float) -> None:
        if 0.65 < share < 1 and not stage.startswith("writing"):
            raise KeyboardInterrupt

    result = characterize(
        open_target("sim:msr-4gb", seed=1),
        budget=BRIEF,
        seed=1,
        out_html=tmp_path / "page.html",
        out_json=tmp_path / "page.json",
        progress=impatient,
    )
    assert result.interrupted
    document = json.loads((tmp_path / "page.json").read_text(encoding="utf-8"))
    assert document["provenance"]["interrupted"]
    assert document["findings"]
    assert document["performance"]["points"]
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Interrupted" in text
    Page(text)


def test_a_file_is_read_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "drive.bin"
    path.write_bytes(b"\xa5" * (32 << 20))
    try:
        target = open_target(str(path))
    except Exception as error:  # noqa: BLE001
        pytest.skip(f"no direct I/O here: {error}")
    result = characterize(target, budget=BRIEF, seed=1, out_html=tmp_path / "page.html")
    document = result.to_json()
    assert {point["rw"] for point in document["performance"]["points"]} == {"read", "randread"}
    assert path.read_bytes() == b"\xa5" * (32 << 20)
    Page((tmp_path / "page.html").read_text(encoding="utf-8"))


def test_the_null_drive_is_refused_and_still_gets_a_page(tmp_path: Path) -> None:
    result = characterize(
        open_target("null:"),
        budget=Budget("default", wall_s=3, repetitions=1),
        seed=1,
        out_html=tmp_path / "page.html",
    )
    outcomes = {each["outcome"] for each in result.to_json()["findings"]}
    assert "detected" not in outcomes or result.to_json()["target"]["info"]["clock"] == "wall"


def spc_trace(path: Path, seconds: int) -> Path:
    lines = (f"0,{i % 64 * 8},4096,r,{i * seconds / 200:.3f}" for i in range(200))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_trace_is_shown_with_what_was_done_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in stages.RUN.keys() - {"trace"}:
        monkeypatch.setitem(stages.RUN, name, lambda _job, _progress: None)
    result = characterize(
        open_target("sim:msr-4gb", seed=1),
        budget=BRIEF,
        seed=1,
        out_html=tmp_path / "page.html",
        trace=TraceFile(spc_trace(tmp_path / "trace.spc", seconds=30_000)),
    )
    trace = result.to_json()["performance"]["trace"]
    assert trace["requests"] == 200
    assert not trace["cut_off"]
    assert sum(trace["timeline"]["read"]["requests"]) == 200
    assert "write" not in trace["timeline"]
    assert trace["timeline"]["drops"] == []
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "200 requests at the trace&#39;s own times" in text
    assert "packed in address order" in text


def test_a_trace_shows_its_own_latencies_and_that_it_was_made_up(tmp_path: Path) -> None:
    path = tmp_path / "synthetic.csv"
    rows = (f"{128166385290000000 + i},hm,0,Read,{i * 4096},4096,2500" for i in range(50))
    path.write_text("\n".join(["# synthetic: not a <real> one", *rows]), encoding="utf-8")
    device = open_target("sim:msr-4gb", seed=1).device
    shown = replay_trace(device, TraceFile(path), DEFAULT, silent)
    drawn = trace_chart({"performance": {"trace": shown}})
    assert drawn is not None
    assert "This trace is synthetic: not a <real> one. 50 requests" in drawn.caption
    assert drawn.table is not None
    assert [row[:3] for row in drawn.table.rows] == [
        ("read", "50", words.time(shown["read"]["latency_ns"]["mean"])),
        ("read, as traced", "", "250 µs"),
    ]
    assert "not a <real>" not in drawn.svg


def test_a_trace_of_hours_is_cut_off_on_a_real_drive(tmp_path: Path) -> None:
    path = tmp_path / "drive.bin"
    path.write_bytes(b"\xa5" * (1 << 20))
    try:
        device = open_target(str(path)).device
    except DeviceError as error:
        pytest.skip(f"no direct I/O here: {error}")
    trace = spc_trace(tmp_path / "trace.spc", seconds=3600)
    quick = Budget("default", wall_s=2, repetitions=1)
    shown = replay_trace(device, TraceFile(trace), quick, silent)
    assert shown["cut_off"]
    assert 1 <= shown["requests"] < 20


def test_a_trace_of_no_known_format_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text("once upon a time\n", encoding="utf-8")
    with pytest.raises(TraceError, match="no known format"):
        characterize(
            open_target("sim:msr-4gb", seed=1),
            budget=BRIEF,
            seed=1,
            out_html=tmp_path / "page.html",
            trace=TraceFile(trace),
        )
    assert not (tmp_path / "page.html").exists()


def test_columns_of_a_trace_are_checked_and_stand_in_the_command(tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text("0 4096 4096 R\n10 8192 4096 R\n", encoding="utf-8")
    right = TraceFile(trace, columns="time=ms:1,offset:2,size:3,op:4")
    right.require_readable()
    assert right.words()[2:] == ["--columns", "time=ms:1,offset:2,size:3,op:4"]
    with pytest.raises(TraceError, match="a column for size"):
        TraceFile(trace, columns="time=ms:1,offset:2,op:4").require_readable()
    device = open_target("sim:msr-4gb", seed=1).device
    assert replay_trace(device, right, DEFAULT, silent)["requests"] == 2


def test_the_command_on_the_page_repeats_the_run(tmp_path: Path) -> None:
    def impatient(stage: str, _share: float) -> None:
        if not stage.startswith("writing"):
            raise KeyboardInterrupt

    change = "over_provisioning_ratio=0.28"
    result = characterize(
        open_target("sim:mqsim-8g", seed=1, state="random", sets=[change]),
        budget=BRIEF,
        seed=1,
        out_html=tmp_path / "page.html",
        sets=[change],
        progress=impatient,
    )
    words = result.to_json()["provenance"]["command"].split()
    assert words == [
        *("ssdscope", "characterize", "sim:mqsim-8g", "--budget", "default", "--seed", "1"),
        *("--state", "random", "--set", change),
    ]


def test_a_file_that_is_cut_off_meanwhile_leaves_a_page_and_an_error(tmp_path: Path) -> None:
    file, page = tmp_path / "data.bin", tmp_path / "page.html"
    file.write_bytes(bytes(range(256)) * 2**16)

    def cut(stage: str, _done: float) -> None:
        if "findings" not in stage and file.stat().st_size > 2**20:
            os.truncate(file, 2**20)

    with pytest.raises(DeviceError, match="changed while it was measured") as ended:
        characterize(
            open_target(str(file), seed=1), budget=BRIEF, seed=1, out_html=page, progress=cut
        )
    assert isinstance(ended.value.partial, Characterization)
    assert ended.value.partial.to_json()["provenance"]["broken"] == ended.value.message
    assert "twin" not in ended.value.partial.to_json()["provenance"]["stages_done"]
    assert page.stat().st_size > 10_000
