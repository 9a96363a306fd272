"""The library's front door: lazy names, errors of keywords, figures as of the command line."""

import doctest
import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import get_type_hints

import pytest
from tests.unit.made_up_runs import HEADER, collection

import ssdscope
import ssdscope as s
from ssdscope.api.running import WorkloadOptions
from ssdscope.errors import Interrupted, SsdscopeError, UsageError
from ssdscope.models.table import Table
from ssdscope.report import sustaining
from ssdscope.workloads.options import OPTIONS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "library.md"
FUNCTIONS = (
    "advice", "characterize", "collect", "compare", "fit", "import_fio", "open", "place", "probe",
    "read_report", "replay", "reproduce", "run", "run_search", "run_sweep",
)  # fmt: skip
SMALL = {
    "nand.channels": 2,
    "nand.ways": 1,
    "nand.blocks_per_plane": 64,
    "over_provisioning_ratio": 0.5,
}


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bring nothing to rest: that is half a minute of a core for each page."""
    monkeypatch.setattr(sustaining, "CORE_NS_PER_S", 2.7e5)


def in_a_new_process(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stderr == ""
    return done.stdout


def examples(page: Path) -> str:
    """Join the Python of a page: one session from its top to its end."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return "\n".join(blocks)


@pytest.mark.slow
@pytest.mark.usefixtures("brief")
def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    session = doctest.DocTestParser().get_doctest(examples(PAGE), {}, PAGE.name, str(PAGE), 0)
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=flags).run(session, out=said.append)
    assert result.attempted > 10
    assert result.failed == 0, "".join(said)


def test_importing_the_package_loads_nothing_else() -> None:
    loaded = in_a_new_process(
        "import sys; before = set(sys.modules); import ssdscope; dir(ssdscope)\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    own = {name for name in loaded.split() if name.startswith("ssdscope")}
    assert own == {"ssdscope"}
    assert not {"numpy", "typer", "pyarrow", "sklearn"} & set(loaded.split())


def test_every_name_is_there_and_listed() -> None:
    assert set(ssdscope.__all__) <= set(dir(ssdscope))
    assert sorted(ssdscope.__all__) == ssdscope.__all__
    assert set(FUNCTIONS) <= set(ssdscope.__all__)
    for name in ssdscope.__all__:
        assert getattr(ssdscope, name) is not None
    for name in s.models.__all__:
        assert getattr(s.models, name).__name__ == name
    for module in (ssdscope, s.models):
        with pytest.raises(AttributeError, match="no attribute 'guess'"):
            module.guess  # noqa: B018
        assert "import_module" not in dir(module)


def test_every_part_of_the_package_is_a_name() -> None:
    folder = Path(ssdscope.__file__).parent
    parts = {path.name for path in folder.iterdir() if (path / "__init__.py").exists()}
    parts |= {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert parts - {"api", "cli"} == set(ssdscope.__all__) - {*FUNCTIONS, "__version__"}


def test_a_type_checker_sees_every_name(tmp_path: Path) -> None:
    used = tmp_path / "used.py"
    names = [f"reveal_type(s.{name})" for name in ssdscope.__all__ if name != "__version__"]
    names += [f"reveal_type(s.models.{name})" for name in s.models.__all__]
    names += ['r: int | None = s.run("null:", rw="read", bs="4k", iodepth=4).p99_latency_ns']
    used.write_text("\n".join(["import ssdscope as s", *names, ""]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(used)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("Revealed type") == len(names) - 1
    assert 'Revealed type is "Any"' not in done.stdout


def test_run_takes_every_option_of_the_command() -> None:
    assert get_type_hints(WorkloadOptions).keys() == OPTIONS.keys()


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (
            ["--rw", "randrw", "--bs", "4k,8k", "--iodepth", "4", "--number-ios", "500"],
            {"rw": "randrw", "bs": ("4k", "8k"), "iodepth": 4, "number_ios": 500},
        ),
        (
            ["--rw", "randwrite", "--size", "16m", "--number-ios", "300", "--until-steady"],
            {"rw": "randwrite", "size": 16 << 20, "number_ios": 300, "until_steady": True},
        ),
        (
            ["--bs", "16k", "--flow", "rw=randread number_ios=50", "--flow", "rw=write io_size=1m"],
            {"bs": "16k", "flow": ["rw=randread number_ios=50", "rw=write io_size=1m"]},
        ),
    ],
)
def test_a_run_is_that_of_the_command(cli, words: list[str], options: dict[str, object]) -> None:
    sets = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
    told = cli(
        "run", "sim:mqsim-8g", *words, *sets, "--state", "random", "--seed", "7", "-o", "json"
    )
    drive = s.open("sim:mqsim-8g", state="random", sets=SMALL, seed=7)
    ran = s.run(drive, **options)
    assert json.loads(json.dumps(ran.to_dict())) == told.document
    assert ran.trustworthy == (told.status == 0)
    assert ran.seed == 7


def test_a_replay_is_that_of_the_command(cli, tmp_path: Path) -> None:
    trace = tmp_path / "few.spc"
    lines = [
        f"0,{number * 97},4096,{'rW'[number % 2]},{number / 1000:.6f}" for number in range(200)
    ]
    trace.write_text("\n".join([*lines, "broken", ""]), encoding="utf-8")
    words = ["--align", "expand", "--fit", "wrap", "--skip-bad", "--seed", "3", "-o", "json"]
    told = cli("replay", "sim:ryu-b", str(trace), *words)
    ran = s.replay("sim:ryu-b", trace, align="expand", fit="wrap", skip_bad=True, seed=3)
    assert json.loads(json.dumps(ran.to_dict())) == told.document
    assert any("line 201 left out" in remark for remark in ran.remarks)


def test_findings_are_those_of_the_command(cli) -> None:
    told = cli("probe", "latency", "sim:ryu-b", "--seed", "5", "-o", "json").document
    found = s.probe(s.open("sim:ryu-b", seed=5), "latency")
    assert json.loads(json.dumps([*found.to_dict().values()])) == told["findings"]
    assert found.spent["requests"] == told["spent"]["requests"]
    assert found.seed == 5
    with pytest.raises(UsageError, match="no finding 'latency'"):
        found["latency"]


def test_a_run_shows_itself_and_its_figures() -> None:
    ran = s.run("sim:ryu-b", rw="randrw", bs="4k", number_ios=4000, log=True)
    assert repr(ran).count("\n") == 1
    assert re.match(r"read: [\d,]+ IOPS, [\d.]+ MiB/s, mean [\d.]+ us, p99 [\d.]+ us\n", repr(ran))
    assert ran.read is not None
    assert ran.write is not None
    assert ran.iops == pytest.approx(ran.requests / ran.elapsed_ns * 1e9)
    assert ran.bandwidth_bytes_per_s == pytest.approx(4096 * ran.iops)
    assert ran.log is not None
    assert ran.mean_latency_ns == pytest.approx(float(ran.log.latency_ns.mean()))
    assert ran.p99_latency_ns is None, "of reads and writes together it is not known"
    rows = ran.to_frame().to_pylist()
    assert [row["direction"] for row in rows] == ["read", "write"]
    assert rows[0]["p99_ns"] == ran.read.p99_ns
    assert sum(row["requests"] for row in rows) == ran.requests == len(ran.log)
    causes = sum(value for name, value in rows[0].items() if name.startswith("attr_"))
    assert causes == pytest.approx(rows[0]["mean_ns"])
    assert ran.log_frame().num_rows == 4000
    with pytest.raises(UsageError, match="kept no log"):
        s.run("null:", number_ios=10).log_frame()


def test_a_run_keeps_both_seeds_where_they_differ() -> None:
    drive = s.open("sim:ryu-b", seed=3)
    same, other = (s.run(drive, rw="randread", number_ios=5, seed=each) for each in (None, 4))
    assert (same.seed, same.to_dict()["target"].get("seed")) == (3, None)
    assert (other.seed, other.to_dict()["target"]["seed"]) == (4, 3)


def test_few_requests_have_no_99th_percentile() -> None:
    ran = s.run("sim:ryu-b", rw="randread", number_ios=100)
    assert ran.p99_latency_ns is None
    assert "p99 unknown" in repr(ran)


def test_what_is_not_to_be_trusted_says_so(cli) -> None:
    ran = s.run("sim:ryu-b", rw="randrw", number_ios=40, until_ci="0.01%")
    assert not ran.trustworthy
    assert repr(ran).endswith("not to be trusted: remarks say why")
    assert "the 95 % interval did not come within 0.01% of the mean" in ran.remarks
    words = ["--rw", "randrw", "--number-ios", "40", "--until-ci", "0.01%", "--seed", "1"]
    assert cli("run", "sim:ryu-b", *words).status == 3


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        (lambda: s.run("null:", number_io=5), "run() takes no keyword 'number_io'", "number_ios"),
        (lambda: s.run("null:", untilsteady=True), "'untilsteady'", "until_steady"),
        (lambda: s.open("null:", sate="fresh"), "open() takes no keyword 'sate'", "state"),
        (lambda: s.probe("null:", bugdet="5m"), "probe() takes no keyword", "budget"),
        (lambda: s.replay("null:", "t", aligne="x"), "replay() takes no keyword", "align"),
        (lambda: s.characterize("null:", output="x"), "characterize() takes no", "out"),
        (lambda: s.reproduce("uflip", figures="1"), "reproduce() takes no", "figure"),
        (lambda: s.fit("x.parquet", feature="basic"), "fit() takes no", "features"),
        (lambda: s.collect("null:", point=5), "collect() takes no", "points"),
        (lambda: s.place("a.toml", onn="null:"), "place() takes no", "on"),
        (lambda: s.probe("null:", "latencies"), "there is no probe", "did you mean latency?"),
        (lambda: s.reproduce("machado"), "there is no study", "did you mean machado2015?"),
    ],
)
def test_a_wrong_name_is_refused_with_the_nearest(call, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as refusal:
        call()
    assert message in refusal.value.message
    assert refusal.value.hint is not None
    assert hint in refusal.value.hint
    assert refusal.value.__notes__ == [f"hint: {refusal.value.hint}"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("bs", "4KB"),
        ("rw", "sideways"),
        ("runtime", "10x"),
        ("until_ci", "5"),
        ("number_ios", "-1"),
        ("size", "17t"),
        ("thinktime_blocks", "2"),
        ("rwmixread", "130"),
        ("seed", -1),
    ],
)
def test_a_wrong_value_is_refused_in_the_words_of_the_command(cli, option: str, value) -> None:
    dashed = f"--{option.replace('_', '-')}"
    told = cli("run", "sim:ryu-b", dashed, str(value))
    with pytest.raises(UsageError) as refusal:
        s.run("sim:ryu-b", **{option: value})
    assert refusal.value.message.startswith(option)
    words = refusal.value.message.replace(option, dashed)
    assert f"error: {words}\n" in f"{told.err}\n"


def test_an_error_names_the_keyword_wherever_it_stands() -> None:
    with pytest.raises(UsageError) as refusal:
        s.open("null:", state="fresh")
    assert refusal.value.message == "target 'null:' is not simulated: state does not apply"
    with pytest.raises(UsageError, match=r"^read_cache=True: the read cache cannot be switched on"):
        s.open("sim:mqsim-8g", read_cache=True)


def test_caches_are_switched() -> None:
    buffer = {"write_buffer.bytes": "1m", "write_buffer.drain": "full"}
    drive = s.open("sim:mqsim-8g", state="fresh", sets=buffer, write_cache=False)
    assert not drive.device.info.write_cache.on


def test_an_error_hides_what_it_was_translated_from() -> None:
    with pytest.raises(SsdscopeError) as refusal:
        s.run("sim:ryu-b", bs=100)
    assert refusal.value.message == "bs: 100 is not a multiple of the drive's 512-byte blocks"
    assert refusal.value.__suppress_context__


def test_a_table_without_pyarrow_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = s.run("null:", number_ios=10)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="needs pyarrow") as refusal:
        ran.to_frame()
    assert "pip install pyarrow" in (refusal.value.hint or "")


def test_ctrl_c_hands_over_what_was_measured() -> None:
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(Interrupted) as interrupt:
        s.run("sim:ryu-b", rw="randread", number_ios=1 << 32)
    timer.join()
    assert interrupt.value.partial.interrupted
    assert interrupt.value.partial.requests > 0
    assert "interrupted after" in repr(interrupt.value.partial)


def test_nothing_prints(capsys: pytest.CaptureFixture[str]) -> None:
    s.probe(s.open("sim:ryu-b"), "latency")
    s.run("null:", rw="randrw", number_ios=100)
    assert capsys.readouterr() == ("", "")


def test_holes_of_a_file_are_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "holes.bin"
    with path.open("wb") as file:
        file.truncate(1 << 20)
    try:
        with pytest.warns(UserWarning, match="was never written") as warned:
            opened = s.open(path)
    except s.errors.DeviceError as error:
        pytest.skip(f"no direct I/O here: {error}")
    assert warned[0].filename == __file__
    assert repr(opened) == f"{path}, 1 MiB, file, read only"
    with pytest.raises(UsageError, match="reading only"):
        s.run(opened, rw="write")


def test_a_target_shows_itself() -> None:
    assert repr(s.open("sim:ryu-b")) == "sim:ryu-b, 14.9 GiB, sequential"
    assert repr(s.open("sim:msr-4gb", state="steady:64m")).endswith("steady:64m")
    assert repr(s.open("null:1g")) == "null:1g, 1 GiB, null"


@pytest.mark.usefixtures("brief")
def test_a_page_is_written_once_and_replaces_nothing_of_others(tmp_path: Path) -> None:
    page, foreign = tmp_path / "page.html", tmp_path / "mine.html"
    foreign.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="did not write"):
        s.characterize("null:", out=foreign)
    made = s.characterize("null:", out=page, json=tmp_path / "page.json", budget="3s")
    assert made.page == page
    assert page.exists()
    assert json.loads((tmp_path / "page.json").read_text(encoding="utf-8")) == json.loads(
        json.dumps(made.to_dict())
    )
    assert repr(made).startswith(f"{page}: ")
    assert foreign.read_text(encoding="utf-8") == "mine"


def test_a_study_is_run_again(tmp_path: Path) -> None:
    made = s.reproduce("kuo2009", figure="25-26", out=tmp_path)
    assert [figure.id for figure in made.figures] == ["25", "26"]
    assert s.reproduce("kuo2009", figure=["26"], out=tmp_path).figures[0].id == "26"
    rows = made.to_frame().to_pylist()
    assert len(rows) == sum(len(figure.rows) for figure in made.figures) > 0
    assert repr(made) == f"kuo2009: 2 figures; rows: {len(rows)} agree, 0 are explained, 0 differ"


def test_a_sweep_is_that_of_the_command_and_goes_on(cli, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    text = 'targets = ["sim:ryu-b"]\n[workload]\nnumber_ios = 20\n[grid]\nbs = ["4k", "8k"]\n'
    plan.write_text(text, encoding="utf-8")
    told = cli("sweep", str(plan), "-O", str(tmp_path / "a.jsonl"), "--jobs", "1", "--seed", "4")
    assert told.status == 0
    made = s.run_sweep(plan, out=tmp_path / "b.jsonl", jobs=1, seed=4)
    assert (made.runs, made.done, made.failed) == (2, 2, 0)
    assert repr(made) == f"{tmp_path / 'b.parquet'}: 2 of 2 runs, 0 failed"
    assert (tmp_path / "b.jsonl").read_text() == (tmp_path / "a.jsonl").read_text()
    assert made.to_frame().column("varied.bs").to_pylist() == ["4k", "8k"]
    before = (tmp_path / "b.jsonl").read_bytes()
    assert s.run_sweep(plan, out=tmp_path / "b.jsonl", jobs=1).done == 2
    assert (tmp_path / "b.jsonl").read_bytes() == before, "with the journal's seed, nothing is new"
    with pytest.raises(UsageError, match="jobs: 0 is no number of runs"):
        s.run_sweep(plan, jobs=0)
    with pytest.raises(UsageError, match="the command reads it"):
        s.run_sweep(plan, out=plan)


def test_a_model_is_that_of_the_command(cli, tmp_path: Path) -> None:
    data = tmp_path / "runs.parquet"
    with Table(data, HEADER) as table:
        for row in collection(96, repeats=8):
            table.append(row)
    names = {"model": "ols", "features": "basic", "seed": 4}
    words = [word for name, value in names.items() for word in (f"--{name}", str(value))]
    assert cli("model", "fit", str(data), *words, "-O", str(tmp_path / "told.json")).status == 0
    model = s.fit(data, **names)
    model.save(tmp_path / "made.json")
    assert (tmp_path / "made.json").read_bytes() == (tmp_path / "told.json").read_bytes()
    assert re.fullmatch(
        r"ols on basic features, \d+ runs; latency is [\d.]+% off on unseen runs", repr(model)
    )
    assert model.predict(q_dep=4, rd_size="4k")["iops"]["value"] > 0
    with pytest.raises(UsageError, match="no set of features 'none'"):
        s.fit(data, features="none")
