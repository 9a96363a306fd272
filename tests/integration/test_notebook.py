"""Results in a notebook: each shows itself, draws the page's pictures, and makes tables.

All are made of a drive whose name would be a tag of HTML, if it were not escaped.
"""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

import ssdscope as s
from ssdscope.api import findings
from ssdscope.api.shown import Pictured, Shown
from ssdscope.errors import UsageError
from ssdscope.report import sheet, sustaining, twinning
from ssdscope.report.parts import Table

ROOT = Path(__file__).parents[2]
NAME = '<img src=x onerror=alert(1)>"\x1b\u202e.toml'
TAGS = {
    "a", "code", "div", "p", "strong", "style", "table", "tbody", "td", "th", "thead", "tr",
}  # fmt: skip
ATTRIBUTES = {"class", "href", "rel", "scope", "target"}
PLAN = """
targets = ["DRIVE"]
[workload]
rw = "randread"
number_ios = 50
[grid]
bs = ["4k", "8k"]
iodepth = [1, 2]
"""


class Sheet(HTMLParser):
    """The tags, attributes and texts of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: dict[str, str | None] = {}
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= dict(attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """One of each result of the library, by the name of its class; nothing is brought to rest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sustaining, "CORE_NS_PER_S", 2.7e5)
        patch.setattr(twinning, "ASKED", twinning.ASKED[:4])
        patch.setattr(twinning, "KEPT_UP", ())
        patch.chdir(tmp_path_factory.mktemp("notebook"))
        yield {type(each).__name__: each for each in _results()}


def _results() -> Iterator[Any]:
    shutil.copy(ROOT / "examples/drives/classroom.toml", NAME)
    drive = s.open(NAME)
    run = s.run(drive, rw="randrw", bs="4k", number_ios=3000, log=True)
    yield run
    found = s.probe(drive, "latency", "units")
    yield found
    yield found["rmw_unit_bytes"]
    yield s.probe("null:1m", "units")["rmw_unit_bytes"]
    shown = findings.Findings(_others())
    yield from shown.values()
    report = s.characterize(NAME, budget="12s", out="<b>.html", json="report.json")
    yield report
    advice = s.advice(report)
    yield advice
    yield next(each for each in advice if each.command)
    yield report.twin
    yield report.twin.what_if({"nand.read_ns": 28_000})
    Path("plan.toml").write_text(
        PLAN.replace('"DRIVE"', f'{json.dumps(NAME)}, "sim:ryu-b"'), encoding="utf-8"
    )
    yield s.run_sweep("plan.toml", jobs=1)
    yield s.compare({NAME: run, "again": run})
    yield s.place("rw=randread,bs=4k,rate_iops=500,size=64m", on=[NAME, "sim:ryu-b"], duration="1s")
    runs = s.collect(NAME, points=48, until_ci="20%", runtime="100ms")
    yield runs
    yield s.fit(runs, model="cart", features="basic")
    yield s.reproduce("kuo2009", figure="25")
    yield _search()
    shutil.copy(ROOT / "examples/fio/groups.json", "groups.json")
    yield s.import_fio("groups.json")


def _others() -> list[Any]:
    return [
        s.findings.Absent(name="read_ahead_bytes", probe="caches", bound=0.01, reason="<b>none"),
        s.findings.Ambiguous(
            name="map_zone_bytes", probe="table", candidates=(1 << 20, 1 << 21), reason="<b>two"
        ),
    ]


def _search() -> Any:
    Path("search.toml").write_text(
        'target = "sim:ryu-b"\ntrials = 2\nminimise = ["read.latency_ns.mean"]\n'
        '[workload]\nrw = "randread"\nnumber_ios = 50\n'
        '[space]\nnand.read_ns = ["20us", "40us"]\n',
        encoding="utf-8",
    )
    return s.run_search("search.toml", jobs=1)


def every(kind: type) -> set[type]:
    """List the classes of results that are made: those that nothing is made of."""
    below = {each for one in kind.__subclasses__() for each in every(one)}
    return below or {kind}


def test_each_kind_of_result_is_tried(results: dict[str, Any]) -> None:
    known = {each.__name__ for each in every(Shown) if each.__module__.startswith("ssdscope")}
    assert known == results.keys()


def test_each_shows_itself_and_nothing_in_it_runs(results: dict[str, Any]) -> None:
    for name, each in results.items():
        html = each._repr_html_()
        shown = Sheet(html)
        assert shown.tags <= TAGS, name
        assert shown.attributes.keys() <= ATTRIBUTES, name
        assert not re.search("[\x1b\u202e]", html), name
        assert shown.text.strip(), name
        html.encode()
    for name in ("Run", "Report", "Comparison", "Placement", "Twin", "FittedModel"):
        text = Sheet(results[name]._repr_html_()).text
        assert NAME.split("\x1b", maxsplit=1)[0] in text, name
        assert r"\x1b\u202e" in text, name


def test_a_link_leads_to_a_file_and_to_nothing_else() -> None:
    html = sheet.html(sheet.Sheet("a", link='javascript:alert(1)"><b>'))
    assert 'href="javascript%3Aalert%281%29%22%3E%3Cb%3E"' in html


def test_bytes_that_are_no_text_can_be_shown() -> None:
    shown = sheet.html(sheet.Sheet("b\udcfe", [("a", "\udcff")], link="c\udcfe.html"))
    assert r"b\xfe" in shown
    assert 'href="c%FE.html"' in shown
    shown.encode()


def test_a_long_table_is_cut_and_says_so() -> None:
    rows = [(f"row {number}", str(number)) for number in range(100)]
    html = sheet.html(sheet.Sheet("t", tables=[Table(("name", "number"), rows)]))
    assert html.count("<tr>") == 1 + sheet.MOST_ROWS
    assert "and 60 more rows" in html
    assert '<td class="words">row 1</td><td>1</td>' in html


def test_figures_on_a_sheet_are_those_of_the_result(results: dict[str, Any]) -> None:
    run = results["Run"]
    text = Sheet(run._repr_html_()).text
    assert f"{run.requests:,} requests" in text
    for direction in (run.read, run.write):
        mean = f"{direction.mean_ns / 1e3:.3g}" if direction.mean_ns < 1e6 else "ms"
        assert mean in text
    report = results["Report"]
    detected = sum(each.outcome == "detected" for each in report.findings.values())
    assert f"{detected} detected" in Sheet(report._repr_html_()).text
    made = [each for each in results["Settings"] if each.outcome == "set"]
    told = Sheet(results["Settings"]._repr_html_()).text
    assert f"{len(made)} of {len(results['Settings'])} settings" in told
    assert all((each.command or each.habit) in told for each in made)


def texts(svg: str) -> list[str]:
    """Give the texts of a picture: its axes, ticks, legend and marks."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def drawn(figure: Figure) -> list[str]:
    file = StringIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(file, format="svg")
    return texts(file.getvalue())


def test_a_picture_is_that_of_the_page(results: dict[str, Any]) -> None:
    """Whatever is written into the page's picture is written into the notebook's, and the title."""
    page = Path("<b>.html").read_text(encoding="utf-8")
    report = results["Report"]
    assert len(report.pictures) >= 8
    for chart in report._charts():
        title = chart.title.replace("µ", "µ")
        told = drawn(report.plot(chart.id))
        assert f'id="{chart.id}"' in page
        own = page.partition(f'id="{chart.id}"')[2].partition("</svg>")[0]
        assert not Counter(texts(own)) - Counter(told), chart.id
        # A long title takes several lines; nothing else is added.
        added = " ".join((Counter(told) - Counter(texts(own))).elements())
        assert sorted(added.split()) == sorted(title.split()), chart.id
        assert len(told) > 2, chart.id


def test_each_with_pictures_draws_them_all(results: dict[str, Any]) -> None:
    pictured = {name: each for name, each in results.items() if isinstance(each, Pictured)}
    assert {"Run", "Findings", "Detected", "Report", "Twin", "Comparison"} <= pictured.keys()
    for name in ("Run", "Findings", "Detected", "Report", "Twin", "Comparison"):
        each = pictured[name]
        assert each.pictures, name
        assert isinstance(each.plot(), Figure)
        first = next(iter(each.pictures))
        assert drawn(each.plot()) == drawn(each.plot(first))
        with pytest.raises(UsageError, match="there is no picture") as refusal:
            each.plot(first[:-1])
        assert first in (refusal.value.hint or "")
    for name in ("Sweep", "Search", "FittedModel"):
        assert len(drawn(results[name].plot())) > 4, name


def test_a_picture_is_found_by_its_property(results: dict[str, Any]) -> None:
    found, report = results["Findings"], results["Report"]
    knee = drawn(found["queue_depth_knee"].plot())
    assert "queue depth" in knee
    assert drawn(found.plot("queue_depth_knee")) == knee
    assert "queue depth" in drawn(report.plot("queue_depth_knee"))
    with pytest.raises(UsageError, match="nothing to draw"):
        results["Absent"].plot()


def test_a_sweep_is_drawn_as_by_the_command(results: dict[str, Any], cli) -> None:
    made = results["Sweep"]
    words = ["--x", "iodepth", "--metric", "read.latency_ns.mean"]
    assert cli("sweep", "plot", made.out, "-O", "a.svg", *words).status == 0
    figure = made.plot(x="iodepth", metric="read.latency_ns.mean")
    assert "target sim:ryu-b, bs 8k" in drawn(figure)
    assert drawn(figure)[-1] == "read.latency_ns.mean against iodepth"
    for wrong, message in (({"x": "bz"}, "x: 'bz' was not varied"), ({"y": "bs"}, "no keyword")):
        with pytest.raises(UsageError, match=message):
            made.plot(**wrong)


def test_a_figure_shows_itself_without_pyplot() -> None:
    script = (
        "import sys, ssdscope as s\n"
        "figure = s.run('sim:ryu-b', rw='randread', number_ios=2000).plot()\n"
        "png, size = figure._repr_png_()\n"
        "print(png[:4], size['width'], 'matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "b'\\x89PNG' 576 False\n"


def test_a_percentile_is_drawn_where_it_is(results: dict[str, Any]) -> None:
    """The curve of a run that kept its log goes through the percentiles that it counted."""
    run = results["Run"]
    for kept in (run, replace(run, log=None)):
        lines = {line.get_label(): line for line in kept.plot().axes[0].lines}
        assert lines.keys() == {"reads", "writes"}
        for name, direction in (("reads", run.read), ("writes", run.write)):
            beyond, latency = lines[name].get_data()
            near = latency[abs(beyond - 0.1).argmin()]
            assert near == pytest.approx(direction.p90_ns, rel=0.1)
            assert beyond.min() * direction.requests >= 10


def test_a_report_is_tables(results: dict[str, Any]) -> None:
    report = results["Report"]
    measured = report.document["performance"]
    rows = report.to_frame().to_pylist()
    assert len(rows) == len(measured["points"]) + len(measured["sustained"]) > 50
    first = measured["points"][0]
    assert {key: rows[0][key] for key in ("rw", "iodepth", "mean_ns", "iops")} == {
        key: first[key] for key in ("rw", "iodepth", "mean_ns", "iops")
    }
    assert report.to_frame("findings") == report.findings.to_frame()
    assert report.to_frame("advice").column_names == results["Settings"].to_frame().column_names
    held_out = report.to_frame("twin").to_pylist()
    assert [row["predicted_ns"] for row in held_out] == [
        row["predicted_ns"] for row in report.document["twin"]["held_out"]
    ]
    with pytest.raises(UsageError, match="has no table 'finding'") as refusal:
        report.to_frame("finding")
    assert "findings" in (refusal.value.hint or "")


def test_advice_is_a_table_and_that_of_the_command(results: dict[str, Any], cli) -> None:
    advice = results["Settings"]
    told = cli("advise", "report.json", "--seed", "1", "-o", "json").document
    assert json.loads(json.dumps(advice.to_dict()["advice"])) == told["advice"]
    rows = advice.to_frame().to_pylist()
    assert [row["command"] for row in rows] == [each.command for each in advice]
    for row, each in zip(rows, advice, strict=True):
        gain = None if each.gain is None else (each.gain.ratio, each.gain.low, each.gain.high)
        assert (gain or (None,) * 3) == (row["gain"], row["gain_low"], row["gain_high"])
        assert row["findings"] == list(each.findings)
    assert {row["outcome"] for row in rows} >= {"set", "no effect"}


def test_a_comparison_is_that_of_the_command(results: dict[str, Any], cli, tmp_path: Path) -> None:
    run = results["Run"]
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps(run.to_dict()), encoding="utf-8")
    files = [str(tmp_path / f"{name}.json") for name in ("a", "b")]
    told = cli("compare", *files, "-o", "json").document
    assert json.loads(json.dumps(s.compare(*files).to_dict())) == told
    assert [each.name for each in s.compare(files[0], run).told.entries] == [
        f"{name} ({NAME})" for name in ("a", "result 2")
    ]
    rows = results["Comparison"].to_frame().to_pylist()
    assert [row["name"] for row in rows] == [NAME, "again"] * 2
    assert rows[0]["mean_ns"] == run.read.mean_ns
    page = tmp_path / "page.html"
    s.compare({"one": run, "other": run}, out=page)
    assert "one" in page.read_text(encoding="utf-8")
    sweep = results["Sweep"]
    assert s.compare({"one": sweep, "other": sweep.table}).told.kind == "sweep"
    report = results["Report"]
    both = s.compare({"one": report, "other": "report.json"})
    assert both.told.kind == "report"
    assert len(both.pictures) > 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (s.compare, "takes two files or more"),
        (lambda run: s.compare(run, 5), r"compare\(\) takes no int"),
        (lambda run: s.compare(run, "missing.json"), "cannot read missing.json"),
        (lambda run: s.compare(run, run, out="page.txt"), "must end in .html"),
        (lambda run: s.compare(run, run, outt="a"), "no keyword 'outt'"),
        (lambda run: s.compare({"a": run, "b": "report.json"}), "cannot be compared with each"),
        (lambda _: s.place("rw=randread", on="sim:ryu-b"), "rate"),
        (lambda _: s.place("missing.toml", on="sim:ryu-b"), "missing.toml"),
        (lambda _: s.place(on="sim:ryu-b", duration="0s"), "^duration: 0s is no time"),
        (lambda _: s.place("a.toml", lifetime="5y"), "^lifetime is a limit of a placement"),
        (lambda _: s.collect("null:", points=0), "^points: 0 is not between"),
        (lambda _: s.collect("null:", design="sobel"), "^design: 'sobel' is not a design"),
        (lambda _: s.collect("sim:ryu-b", size="1k"), "^size: 1k is not between"),
        (lambda _: s.collect("sim:ryu-b", out="runs.csv", points=1), "runs.csv"),
    ],
)
def test_what_cannot_be_meant_is_refused(results: dict[str, Any], call, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call(results["Run"])


def test_a_placement_is_that_of_the_command(results: dict[str, Any], cli, tmp_path: Path) -> None:
    load = "rw=randread,bs=4k,rate_iops=500,size=64m"
    words = ["--on", "sim:ryu-a", "--on", "sim:ryu-b", "--duration", "1s", "--seed", "3"]
    told = cli("place", load, *words, "-o", "json").document
    ranked = s.place(load, on=["sim:ryu-a", "sim:ryu-b"], duration="1s", seed=3)
    assert json.loads(json.dumps(ranked.to_dict())) == told
    assert ranked.cheapest is None
    assert [row["drive"] for row in ranked.to_frame().to_pylist()] == ["sim:ryu-b", "sim:ryu-a"]
    cost = tmp_path / "cost.toml"
    cost.write_text('[[drive]]\ntarget = "sim:ryu-b"\nprice = 5\n', encoding="utf-8")
    words = ["--cost", str(cost), "--duration", "1s", "--seed", "3", "-o", "json"]
    told = cli("place", load, *words).document
    placed = s.place(load, cost=cost, duration="1s", seed=3)
    assert json.loads(json.dumps(placed.to_dict())) == told
    assert placed.trustworthy
    assert repr(placed).startswith("the cheapest placement costs 5 ")
    (row,) = placed.to_frame().to_pylist()
    assert (row["drive"], row["keeps_up"]) == ("sim:ryu-b", True)
    assert row["replayed_mean_ns"] > 0
    assert "sim:ryu-b" in Sheet(placed._repr_html_()).text
    twin = s.place(load, on=results["Report"], duration="1s")
    assert twin.rankings[0].rows[0]["source"] in ("twin", "sketch")
    assert s.place(load, on="<b>.html", duration="1s").to_dict() == twin.to_dict()


@pytest.mark.usefixtures("results")
def test_collected_runs_are_those_of_the_command(cli) -> None:
    words = ["--points", "8", "--until-ci", "20%", "--runtime", "100ms", "--seed", "3"]
    told = cli("model", "collect", "sim:ryu-b", *words, "-O", "a.parquet", "-o", "json").document
    options = {"points": 8, "until_ci": "20%", "runtime": "100ms"}
    made = s.collect("sim:ryu-b", **options, out="b.parquet", seed=3)
    assert Path("b.parquet").read_bytes() == Path("a.parquet").read_bytes()
    counted = {key: value for key, value in made.to_dict().items() if key != "out"}
    assert counted == {key: told[key] for key in counted}
    assert made.to_frame().num_rows == len(made.rows) == told["train"] + told["test"]
    again = s.collect("sim:ryu-b", **options | {"points": 12}, out="b.parquet")
    assert again.before == len(made.rows), "it goes on with the seed that it began with"
    with pytest.raises(UsageError, match="holds runs with"):
        s.collect("sim:ryu-a", points=8, out="b.parquet", seed=3)
    Path("mine.parquet").write_bytes(b"mine")
    with pytest.raises(UsageError, match="did not write"):
        s.collect("sim:ryu-b", points=8, out="mine.parquet")
