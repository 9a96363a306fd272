"""A page that was interrupted is gone on with, and says the same as one that was not."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.integration.brief import made_of
from tests.unit.quick_drive import SMALL

from ssdscope import twin
from ssdscope.cli.progress import watched_stages
from ssdscope.errors import DeviceError, UsageError
from ssdscope.probes import registry
from ssdscope.probes.budget import Budget
from ssdscope.probes.latency import probe as latency
from ssdscope.probes.units import probe as units
from ssdscope.report import Characterization, Watch, characterize, performance, stages, sustaining
from ssdscope.report.resuming import UNFINISHED, require_nothing_lost
from ssdscope.targets import Target, open_target

BRIEF = Budget("default", wall_s=16, repetitions=1)
"""Enough for a model, and for random writes to come to rest."""
TIMES = ("started", "resumed", "stages_ended", "stage_seconds", "seconds")
NAMES = [name for name, _ in stages.STAGES]


@pytest.fixture(autouse=True)
def _brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sustaining, "CORE_NS_PER_S", 8e8)
    monkeypatch.setattr(performance, "REQUESTS", performance.REQUESTS // 4)
    monkeypatch.setattr(performance, "DISTRIBUTION_REQUESTS", 2000)
    monkeypatch.setattr(registry, "_PROBES", (latency.PROBE, units.PROBE))
    monkeypatch.setattr(twin, "build", made_of)
    # Pages are drawn from the document alone, and tried elsewhere.
    drawing = sys.modules["ssdscope.report.characterize"]
    monkeypatch.setattr(drawing, "render", lambda _: '<meta name="generator" content="ssdscope">')


def page(folder: Path, seed: int = 5, **more: Any) -> Characterization:
    """Measure a small drive that was just opened, as a process of its own would."""
    target = open_target("sim:mqsim-8g", seed=seed, state="sequential", sets=SMALL)
    given = {"budget": BRIEF, "sets": SMALL, "seed": seed} | more
    return characterize(target, out_html=folder / "page.html", **given)


def without_times(document: dict[str, Any]) -> dict[str, Any]:
    """Leave out all that tells of this machine's clock."""
    told: dict[str, Any] = json.loads(json.dumps(document))
    given = told["provenance"]
    for name in TIMES:
        del given[name]
    del given["spent"]["used_seconds"]
    for stage in given["spent"]["stages"]:
        del stage["seconds"], stage["processor_seconds"]
    for model in told["models"]:
        for row in model["rows"]:
            del row["fit_s"], row["predict_us"]
    return told


def cut(name: str) -> Callable[[Any, Any], None]:
    """Make a stage that is interrupted in its middle."""
    whole = stages.RUN[name]

    def impatient(_stage: str, _share: float) -> None:
        raise KeyboardInterrupt

    def run(job: Any, _progress: Any) -> None:
        whole(job, impatient)
        raise KeyboardInterrupt

    return run


def require_told(document: dict[str, Any], found: list[str], ended: dict[str, str]) -> None:
    """Who waited was told what was found so far, and what each stage came to and left out."""
    detected = sum(each["outcome"] == "detected" for each in document["findings"])
    assert found[0].startswith("read latency per request ")
    assert " · read latency per request " in found[-1]
    assert found[-1].count(" · ") == detected - 1
    assert "trace" not in ended, "there is none"
    assert "kinds of writes: not steady within what may be spent" in ended["sustained"]
    assert "declared" not in ended["sustained"]
    assert ended["twin"].startswith("off by ")
    assert document["provenance"]["outcomes"]["findings"]["outcome"] == ended["findings"]


def test_interrupted_in_every_stage_it_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []
    ended: dict[str, str] = {}
    whole = without_times(page(tmp_path, watch=Watch(found.append, ended.__setitem__)).to_json())
    require_told(whole, found, ended)
    assert whole["models"]
    assert any(row["reached"] for row in whole["performance"]["sustained"])
    partial = tmp_path / "page.partial.json"
    assert not partial.exists()
    for at, name in enumerate(NAMES):
        with monkeypatch.context() as patch:
            patch.setitem(stages.RUN, name, cut(name))
            ended = page(tmp_path, resume=at > 0)
        assert ended.interrupted
        assert ended.unfinished == partial
        kept = json.loads(partial.read_text(encoding="utf-8"))
        assert kept["provenance"]["stages_done"] == NAMES[:at]
        assert len(kept["provenance"]["resumed"]) == at
    ended = page(tmp_path, resume=True)
    assert not partial.exists()
    assert ended.unfinished is None
    document = ended.to_json()
    assert UNFINISHED not in document
    assert len(document["provenance"]["resumed"]) == len(NAMES)
    assert document["provenance"]["stages_ended"].keys() == set(NAMES)
    resumed = without_times(document)
    assert resumed.keys() == whole.keys()
    for key in whole:
        assert resumed[key] == whole[key], key


@pytest.fixture(scope="module")
def put_away(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The document of a page that was interrupted behind its first stage."""
    folder = tmp_path_factory.mktemp("begun")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_PROBES", (latency.PROBE,))
        patch.setitem(stages.RUN, "performance", cut("performance"))
        assert page(folder).interrupted
    return (folder / "page.partial.json").read_bytes()


@pytest.fixture
def begun(tmp_path: Path, put_away: bytes) -> Path:
    """A folder where it lies."""
    (tmp_path / "page.partial.json").write_bytes(put_away)
    return tmp_path


@pytest.mark.parametrize(
    ("now", "both"),
    [
        ({"seed": 6}, ("--seed: 5; now 6",)),
        ({"budget": Budget("2m", 120, 2)}, ("--budget: default; now 2m",)),
        ({"sets": ()}, ("--set: nand.channels=2 nand", "now none")),
    ],
)
def test_what_was_begun_otherwise_is_refused_with_both_values(
    begun: Path, now: dict[str, Any], both: tuple[str, ...]
) -> None:
    partial = (begun / "page.partial.json").read_bytes()
    with pytest.raises(UsageError, match="was begun otherwise") as caught:
        page(begun, resume=True, **now)
    for text in both:
        assert text in caught.value.message
    assert (begun / "page.partial.json").read_bytes() == partial


@pytest.mark.parametrize(
    ("uri", "state", "both"),
    [
        ("sim:mqsim-8g", "fresh", "--state: sequential; now fresh"),
        ("sim:msr-4gb", "sequential", "target: sim:mqsim-8g; now sim:msr-4gb"),
    ],
)
def test_another_drive_is_refused(begun: Path, uri: str, state: str, both: str) -> None:
    out = begun / "page.html"
    other = open_target(uri, seed=5, state=state)
    with pytest.raises(UsageError, match="was begun otherwise") as caught:
        characterize(other, budget=BRIEF, seed=5, out_html=out, resume=True)
    assert both in caught.value.message


def spoilt(partial: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    document = json.loads(partial.read_text(encoding="utf-8"))
    change(document)
    partial.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda found: found[UNFINISHED]["begun_with"].update(version="0.0.9"), "version: 0.0.9;"),
        (lambda found: found.update(schema_version=0), "is of version 0"),
        (lambda found: found.pop(UNFINISHED), "is whole"),
        (lambda found: found[UNFINISHED].pop("distributions"), "was changed"),
        (lambda found: found["provenance"].update(stages_done="all"), "was changed"),
        (lambda found: found["provenance"].update(stages_done=["guesses"]), "was changed"),
        (lambda found: found["provenance"].update(spent={"stages": [{}]}), "was changed"),
    ],
)
def test_a_document_that_was_changed_is_refused(
    begun: Path, change: Callable[[dict[str, Any]], Any], told: str
) -> None:
    spoilt(begun / "page.partial.json", change)
    with pytest.raises(UsageError, match="page") as caught:
        page(begun, resume=True)
    assert told in caught.value.message


def test_nothing_to_go_on_with_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no .*page\.partial\.json to go on with"):
        page(tmp_path, resume=True)


def test_what_an_interrupted_run_measured_is_not_lost_by_forgetting_to_resume(
    begun: Path,
) -> None:
    with pytest.raises(UsageError, match="stages done: overview, findings") as caught:
        require_nothing_lost(begun / "page.partial.json")
    assert "--resume goes on with it; --force" in str(caught.value.hint)
    require_nothing_lost(begun / "elsewhere.json")


def test_what_a_cut_off_stage_wrote_to_a_real_drive_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "drive.bin"
    path.write_bytes(b"\0" * (8 << 20))
    out, quick = tmp_path / "page.html", Budget("default", wall_s=9, repetitions=1)

    def opened() -> Target:
        return open_target(str(path), destroy_token="FILE:drive.bin")

    try:
        opened()
    except DeviceError as error:
        pytest.skip(f"no direct I/O here: {error}")
    measure = stages.RUN["distribution"]

    def interrupted_late(job: Any, progress: Any) -> None:
        measure(job, progress)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setitem(stages.RUN, "distribution", interrupted_late)
        first = characterize(opened(), budget=quick, seed=1, out_html=out).to_json()
    with pytest.raises(UsageError, match="open for: reading and writing; now reading only"):
        characterize(open_target(str(path)), budget=quick, seed=1, out_html=out, resume=True)
    last = characterize(opened(), budget=quick, seed=1, out_html=out, resume=True).to_json()
    told = first["provenance"]["spent"], last["provenance"]["spent"]
    assert [each["name"] for each in told[1]["stages"]].count("distribution") == 2
    assert told[1]["bytes_written"] > told[0]["bytes_written"] > 0
    assert last["performance"]["points"] == first["performance"]["points"]
    ended = last["provenance"]["stages_ended"]
    assert ended["findings"] <= last["provenance"]["resumed"][0] <= ended["distribution"]


def nothing(*_: Any) -> None:
    """A stage that measures nothing."""


def interrupted(*_: Any) -> None:
    raise KeyboardInterrupt


def test_the_command_says_how_to_go_on(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "RUN", dict.fromkeys(NAMES, nothing) | {"models": interrupted})
    words = ("characterize", "sim:mqsim-8g", "-O", str(tmp_path / "page.html"))
    said = cli(*words)
    assert said.status == 130
    assert "plan: overview, findings (2 probes), performance, sustained, " in said.err
    assert "page.html --seed " in said.err
    assert said.err.rpartition("go on with: ssdscope ")[2].splitlines()[0].endswith(" --resume")
    assert "repeat:" not in said.err
    again = cli(*words)
    assert (again.status, again.out) == (2, "")
    assert "page.partial.json holds what an interrupted run measured" in again.err
    planned = cli(*words, "--resume", "--dry-run")
    assert (planned.status, "latency" in planned.out) == (0, False), planned.err
    monkeypatch.setitem(stages.RUN, "models", nothing)
    last = cli(*words, "--resume", "-o", "json")
    assert last.status == 3, "stages that measure nothing can tell nothing"
    assert "not to be trusted: nothing at all could be told" in last.err
    assert (
        "stages done: overview, findings, performance, sustained, distribution, trace)" in last.err
    )
    assert "plan: models, twin, advice\n" in last.err
    assert "--resume" not in last.err.rpartition("repeat: ")[2]
    seed = said.err.partition("seed ")[2].split(" ", 1)[0]
    assert last.document["seed"] == int(seed)
    assert not (tmp_path / "page.partial.json").exists()


@pytest.mark.parametrize("json_out", ["/dev/null", "missing.json"])
def test_there_may_be_nothing_to_go_on_with(cli, tmp_path: Path, json_out: str) -> None:
    words = ("characterize", "null:1m", "-O", str(tmp_path / "page.html"), "--json", json_out)
    said = cli(*words, "--resume")
    assert (said.status, said.out) == (2, "")
    assert "to go on with" in said.err


def test_a_bar_shows_what_was_found_so_far_and_other_streams_get_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for mode in ("always", "never", "auto"):
        with watched_stages(mode) as (progress, watch):
            progress("latency", 0.5)
            watch.found("write buffer 128 KiB")
            progress("merging", 0.6)
            watch.ended("findings", "1 of 2 properties detected")
        said = capsys.readouterr().err
        assert ("write buffer 128 KiB" in said) == (mode == "always")
        assert ("findings: 1 of 2 properties detected\n" in said) == (mode == "auto")
