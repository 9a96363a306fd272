"""Table VII: traces named by the user or made up, and what may be said of them."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ssdscope import studies
from ssdscope.errors import UsageError
from ssdscope.probes.budget import silent
from ssdscope.studies import Claim, Verdict
from ssdscope.studies.huang2011 import PAPER, traces, traces_told
from ssdscope.studies.huang2011.traces import Replayed
from ssdscope.targets import open_target
from ssdscope.targets.traces import SYNTHETIC_MARK

SHARED = Path(__file__).parents[2].parent / "shared" / "traces"


@pytest.fixture(scope="module")
def spc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of 35 minutes and a request: reads of 4 to 64 KiB, a few writes."""
    rng = np.random.default_rng(1)
    lines = []
    for number in range(35 * 30 + 1):
        large = 1 + int(15 * (0.5 + 0.5 * np.sin(number / 100)))
        size = 4096 * int(rng.integers(1, 1 + large))
        op = "w" if rng.random() < 0.1 else "r"
        lines.append(f"0,{128 * int(rng.integers(0, 1000))},{size},{op},{2 * number}")
    path = tmp_path_factory.mktemp("traces") / "short.spc"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def replayed(spc: Path, tmp_path_factory: pytest.TempPathFactory) -> Replayed:
    drive = {"SSD_I": open_target("sim:mqsim-8g", seed=1).device}
    folder = tmp_path_factory.mktemp("out")
    (found,) = traces.run({"financial1": str(spc)}, drive, folder, 1, silent)
    return found


def errors(found: list[Replayed]) -> list[Claim]:
    """Judge the errors of table VII."""
    claims = PAPER.claims(traces_told.readings(found))
    return [claim for claim in claims if claim.name.startswith("trace: ")]


def test_files_are_named() -> None:
    assert traces.named(["DTRS=a=b.zst", "x=y"]) == {"dtrs": "a=b.zst", "x": "y"}
    for wrong in (["dtrs"], ["=file"], ["dtrs="], ["a=b", "A=c"]):
        with pytest.raises(UsageError, match="NAME=FILE"):
            traces.named(wrong)


@pytest.mark.parametrize(
    ("minutes", "parts"),
    [(500, (120, 60)), (180, (120, 60)), (179, (144, 35)), (50, (40, 10)), (30, (24, 6))],
)
def test_a_trace_of_less_than_three_hours_is_cut_at_four_fifths(
    minutes: int, parts: tuple[int, int]
) -> None:
    assert traces.split(minutes) == parts


def test_every_setting_and_metric_is_predicted(replayed: Replayed) -> None:
    made = {(each.setting, each.target) for each in replayed.forecasts}
    assert len(made) == len(replayed.forecasts) == 9
    assert replayed.rolled == []
    assert all(len(each.minutes) == 7 for each in replayed.forecasts)
    table = traces_told.table([replayed], PAPER)
    assert len(table.rows) == 9
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_a_short_trace_is_not_judged(replayed: Replayed) -> None:
    assert errors([replayed]) == []
    assert [row[5] for row in traces_told.table([replayed], PAPER).rows[:3]] == ["7", "11", "9"]
    (about, *_) = traces_told.notes([replayed])
    assert "35 minutes; 28 are learnt from, the next 7 predicted. That is too little" in about
    (about, *_) = traces_told.notes([replace(replayed, trace="dtrs")])
    assert "too little" not in about


def test_the_whole_of_websearch1_has_no_third_hour(replayed: Replayed) -> None:
    for off, verdict in ((0.015, Verdict.AGREES), (0.3, Verdict.DIFFERS), (1e-5, Verdict.EASIER)):
        whole = shortened(longer(replayed, off), 50)
        claims = errors([replace(whole, trace="websearch1")])
        assert [claim.verdict for claim in claims] == [verdict] * 3
    assert "40 minutes are learnt from, 10 predicted" in claims[0].why


def shortened(each: Replayed, minutes: int) -> Replayed:
    return replace(each, minutes=each.minutes.part(0, minutes))


def longer(replayed: Replayed, off: float) -> Replayed:
    """Stretch a replay to three hours, its predictions off by a share of what was measured."""
    minutes = replayed.minutes
    features = {name: np.tile(column, 6)[:180] for name, column in minutes.features.items()}
    targets = {name: np.tile(column, 6)[:180] for name, column in minutes.targets.items()}
    settled = np.tile(minutes.settled, 6)[:180]
    forecasts = [replace(each, predicted=each.measured * (1 + off)) for each in replayed.forecasts]
    whole = replace(minutes, features=features, targets=targets, settled=settled)
    return replace(replayed, minutes=whole, forecasts=forecasts)


def test_a_real_trace_of_three_hours_agrees_or_differs(replayed: Replayed) -> None:
    good = errors([longer(replayed, 0.08)])
    assert [claim.verdict for claim in good] == [Verdict.AGREES] * 3
    bad = errors([longer(replayed, 0.3)])
    assert [claim.verdict for claim in bad] == [Verdict.DIFFERS] * 3
    behind = longer(replayed, 0.3)
    late = np.zeros(180, dtype=bool)
    behind = replace(behind, minutes=replace(behind.minutes, settled=late))
    (first, *_) = errors([behind])
    assert first.verdict == Verdict.DIFFERS
    assert "cannot follow" in first.why


def test_words_of_the_paper_are_asked_of_beginnings_too(replayed: Replayed) -> None:
    """This one reads nine tenths: it is no financial trace, and a web search it nearly is."""
    searches = replace(replayed, trace="websearch1", forecasts=longer(replayed, 0.01).forecasts)
    claims = {each.name: each for each in PAPER.claims(traces_told.readings([replayed, searches]))}
    assert claims["write heavy: financial1"].verdict == Verdict.DIFFERS
    assert claims["read intensive: websearch1"].verdict == Verdict.DIFFERS
    assert "web searches: SSD_I" in claims
    assert "skill: SSD_I" in claims


def test_a_synthetic_trace_is_never_judged(replayed: Replayed) -> None:
    perfect = longer(replayed, 0.0)
    about = perfect.scenario.about | {"remark": f"{SYNTHETIC_MARK} made up"}
    perfect = replace(perfect, scenario=replace(perfect.scenario, about=about))
    assert errors([perfect]) == []
    assert {row[0] for row in traces_told.table([perfect], PAPER).rows} == {"synthetic financial1"}


def test_what_is_made_up_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "SYNTHETIC_S", 60)
    path = traces.made_up(tmp_path, 1, "websearch2")
    assert path.name == "synthetic-websearch2.spc.gz"
    assert traces.Scenario.read(str(path), traces.OPTIONS).synthetic
    monkeypatch.setattr(traces, "SLICES", tmp_path)
    assert traces.by_default(tmp_path, 1, "websearch2") == path


def test_beginnings_of_real_traces_are_shipped_and_cut_into_seconds() -> None:
    seconds = {}
    for name in traces.PAPER_TRACES[::2]:
        path = traces.by_default(Path("none"), 1, name)
        cut = traces.Scenario.read(
            str(path), traces.OPTIONS, traces.LEAST_INTERVALS, traces.SHORTER_NS
        )
        assert not cut.synthetic
        assert len(cut.table["iops"]) >= traces.LEAST_INTERVALS
        seconds[name] = cut.interval_ns / 1e9
    assert seconds == {"financial1": 5.0, "websearch1": 2.0}


def test_on_any_drive_from_the_command_line(cli, spc: Path, tmp_path: Path) -> None:
    said = cli(
        "reproduce", "huang2011", "--figure", "VII", "--trace", f"mine={spc}",
        "--target", "sim:mqsim-8g", "--seed", "1", "-O", str(tmp_path), "-o", "json",
    )  # fmt: skip
    assert said.status == 0, said.err
    (figure,) = said.document["figures"]
    assert figure["rows"] == []
    assert len(figure["table"]["rows"]) == 9
    assert {row[1] for row in figure["table"]["rows"]} == {"sim:mqsim-8g"}
    assert any("skill is the share" in note for note in figure["notes"])
    head, *rows = Path(figure["data"]).read_text(encoding="utf-8").splitlines()
    assert head.startswith(
        "trace,synthetic,interval_s,drive,setting,target,origins,interval,measured"
    )
    assert len(rows) == 9 * 7
    assert Path(figure["image"]).with_suffix(".png").stat().st_size > 10_000


def test_a_trace_needs_its_figure(cli, spc: Path) -> None:
    said = cli("reproduce", "huang2011", "--figure", "3", "--trace", f"mine={spc}")
    assert said.status == 2
    assert "--figure VII" in said.err
    said = cli("reproduce", "machado2015", "--trace", f"mine={spc}")
    assert said.status == 2
    assert "takes no --trace" in said.err
    assert "trace" in studies.registry()["huang2011"].extras


def test_a_trace_that_cannot_be_used_is_refused_at_once(cli, spc: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.spc"
    short.write_text("".join(spc.read_text().splitlines(keepends=True)[:9]), encoding="utf-8")
    for path, words in ((short, "16 whole intervals of 1 s"), (tmp_path / "none.spc", "none.spc")):
        said = cli(
            "reproduce", "huang2011", "--figure", "VII", "-O", str(tmp_path / "out"),
            "--trace", f"mine={path}",
        )  # fmt: skip
        assert said.status == 2
        assert words in said.err


@cache
def dtrs_scenario() -> traces.Scenario:
    path = SHARED / "DTRS.8h.ssdsim.zst"
    if not path.exists():
        pytest.skip("the DTRS trace may not be shipped, and is not at hand")
    return traces.Scenario.read(str(path), replace(traces.OPTIONS, limit=46_000))


@pytest.mark.parametrize("drive", ["SSD_I", "SSD_S", "HDD_S", "Array_I"])
def test_the_third_hour_of_dtrs_is_predicted_with_skill(drive: str) -> None:
    scenario = dtrs_scenario()
    minutes, _ = traces.measure(traces.in_use(drive, 1), scenario)
    assert len(minutes) >= 180
    settings = ("arrivals", "online")
    for made in traces.forecasts(
        minutes, settings=settings, target="latency_ns", train=120, test=60, seed=1
    ):
        told = made.to_dict()
        assert min(told["skill_median"], told["skill_last"]) > 0.1, told
        assert 0.8 <= told["coverage90"] <= 1
