"""``ssdscope model``: from a drive to runs, a model, a prediction, its error and its tree."""

import json
import signal
import time
from pathlib import Path

import pytest

SMALL = (
    *("--set", "nand.channels=2", "--set", "nand.ways=1", "--set", "nand.blocks_per_plane=64"),
    *("--set", "over_provisioning_ratio=0.5", "--state", "sequential"),
)
QUICK = ("--until-ci", "5%", "--seed", "3")
COLLECT = ("model", "collect", "sim:mqsim-8g", *SMALL, *QUICK)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs and a model of them."""
    from ssdscope.cli.app import run_cli

    place = tmp_path_factory.mktemp("model")
    data, model = place / "runs.parquet", place / "model.json"
    wanted = ("--points", "64", "--test", "24", "--repeats", "12", "-O", str(data))
    assert run_cli((*COLLECT, *wanted)) == 0
    assert run_cli(("model", "fit", str(data), "-O", str(model), "--seed", "1")) == 0
    return place


def test_the_file_holds_what_the_contract_says(folder: Path) -> None:
    from ssdscope.models.table import load

    header, rows = load(folder / "runs.parquet")
    assert (header["design"], header["seed"]) == ("sobol", 3)
    assert [sum(each.split == split for each in rows) for split in ("train", "test", "repeat")] == [
        64,
        24,
        12,
    ]
    repeated = {each.row.vector for each in rows if each.split == "repeat"}
    assert repeated < {each.row.vector for each in rows if each.split == "train"}
    assert [path.name for path in folder.iterdir() if path.suffix == ".part"] == []


def test_nothing_is_run_twice_and_more_points_are_added(cli, folder: Path) -> None:
    data = folder / "more.parquet"
    data.write_bytes((folder / "runs.parquet").read_bytes())
    wanted = ("--test", "24", "--repeats", "0", "-O", str(data), "-o", "json")
    said = cli(*COLLECT, "--points", "64", *wanted)
    assert said.status == 0
    assert "100 of the runs are in" in said.err
    said = cli(*COLLECT, "--points", "70", *wanted)
    assert said.document["train"] == 70
    said = cli(*COLLECT, "--points", "70", "--design", "grid", *wanted)
    assert said.status == 2
    assert "holds runs with design 'sobol'" in said.err


def test_requests_are_kept_within_a_size(cli, tmp_path: Path) -> None:
    """On a disk the arm moves less."""
    from ssdscope.models.table import load

    total = {}
    disk = ("model", "collect", "sim:huang-hdd-s", "--points", "40", *QUICK)
    for size in ("400g", "1g"):
        data = tmp_path / f"{size}.parquet"
        words = ("--test", "0", "--repeats", "0", "--size", size, "-O", str(data))
        assert cli(*disk, *words).status == 0
        header, rows = load(data)
        assert header["size_bytes"] == int(size[:-1]) << 30
        total[size] = sum(each.row.latency_ns for each in rows)
    assert total["1g"] < 0.8 * total["400g"]
    said = cli(*disk, "--size", "1m", "-O", str(tmp_path / "none.parquet"))
    assert said.status == 2
    assert "--size: 1m is not between 16777216 bytes and" in said.err
    said = cli(*disk, "-O", str(data))
    assert "holds runs with size_bytes 1073741824" in said.err


def test_an_adaptive_design_goes_on_too(cli, tmp_path: Path) -> None:
    wanted = ("--design", "adaptive", "--test", "0", "--repeats", "0", "-o", "json")
    words = (*COLLECT, *wanted, "-O", str(tmp_path / "runs.parquet"))
    first = cli(*words, "--points", "36").document
    assert first["train"] == 36
    said = cli(*words, "--points", "36")
    assert "36 of the runs are in" in said.err
    assert cli(*words, "--points", "40").document["train"] == 40


def test_prediction(cli, folder: Path) -> None:
    words = ("--wr-ratio", "0.3", "--q-dep", "16", "--wr-size", "4k", "--rd-size", "64k")
    said = cli("model", "predict", str(folder / "model.json"), *words, "-o", "json")
    assert said.status == 0
    assert said.err == ""
    document = said.document
    assert document["workload"]["wr_ratio"] == 30
    found = document["predicted"]
    assert found.keys() >= {"latency_ns", "iops", "bandwidth_bytes_per_s"}
    for each in found.values():
        assert 0 < each["low"] < each["value"] < each["high"]
    assert found["latency_ns"]["value"] * found["iops"]["value"] / 1e9 == pytest.approx(16)
    percent = cli("model", "predict", str(folder / "model.json"), "--wr-ratio", "30%", *words[2:])
    assert "latency_ns" in percent.out
    far = cli("model", "predict", str(folder / "model.json"), "--q-dep", "500")
    assert far.status == 3
    assert "warning: outside of what the model was fitted on: q_dep 500" in far.err
    mix = ("--wr-ratio", "0.5", "--wr-rand", "1", "--rd-stride", "64k")
    new = cli("model", "predict", str(folder / "model.json"), *mix)
    assert new.status == 3
    assert "fitted on: random writes with strided reads (fitted on none)" in new.err


def test_evaluation(cli, folder: Path) -> None:
    data = str(folder / "runs.parquet")
    said = cli("model", "evaluate", data, "--model", "gp,ols", "--seed", "1", "-o", "json")
    assert said.status == 0
    keys = {"name", "features", "target", "split", "mre", "mae", "r2", "median_ape", "p90_ape"}
    keys |= {"coverage90", "n_train", "n_test", "fit_s"}
    rows = said.document["models"]
    assert all(row.keys() >= keys for row in rows)
    names = {(row["name"], row["split"]) for row in rows}
    assert names >= {("gp", "grouped"), ("gp", "off-grid"), ("constant (naive)", "off-grid")}
    shown = cli("model", "evaluate", data, "--model", "ols", "--features", "basic", "--seed", "1")
    assert "constant (naive)" in shown.out


def test_explanation(cli, folder: Path) -> None:
    picture = folder / "tree.svg"
    said = cli("model", "explain", str(folder / "model.json"), "-O", str(picture))
    assert said.status == 0
    assert "exchanging it" in said.out
    assert "A tree to read" in said.out
    assert picture.read_text(encoding="utf-8").startswith("<?xml")
    document = cli("model", "explain", str(folder / "model.json"), "-o", "json").document
    assert document["schema_version"] == 1
    assert document.keys() >= {"importances", "dependences", "tree", "rules"}


def test_the_same_seed_gives_the_same_files(cli, folder: Path, tmp_path: Path) -> None:
    data, model = tmp_path / "runs.parquet", tmp_path / "model.json"
    wanted = ("--points", "64", "--test", "24", "--repeats", "12", "-O", str(data), "--jobs", "1")
    assert cli(*COLLECT, *wanted).status == 0
    assert data.read_bytes() == (folder / "runs.parquet").read_bytes()
    assert cli("model", "fit", str(data), "-O", str(model), "--seed", "1").status == 0
    assert model.read_text() == (folder / "model.json").read_text()


def test_a_file_is_only_read(cli, tmp_path: Path) -> None:
    path, data = tmp_path / "drive.bin", tmp_path / "runs.parquet"
    path.write_bytes(b"\xa5" * (17 << 20))
    words = ("--points", "6", "--test", "0", "--repeats", "0", "--runtime", "50ms", "--seed", "1")
    said = cli("model", "collect", str(path), *words, "-O", str(data), "-o", "json")
    if "no direct I/O" in said.err:
        pytest.skip("no direct I/O here")
    assert said.document["train"] == 6
    assert path.read_bytes() == b"\xa5" * (17 << 20)
    from ssdscope.models.table import load

    assert {each.row.vector.wr_ratio for each in load(data)[1]} == {0}


def test_runs_that_the_host_takes_the_time_of_are_told(cli, tmp_path: Path) -> None:
    data = tmp_path / "runs.parquet"
    words = ("--points", "6", "--test", "0", "--repeats", "0", "--runtime", "50ms", "--seed", "1")
    said = cli("model", "collect", "null:", *words, "-O", str(data), "-o", "json")
    assert said.status == 1
    assert said.document["against_little"] == 6
    assert "6 runs against Little's law" in said.err
    assert "6 of 6 runs failed or are doubtful" in said.err


def test_a_file_that_may_be_written_is_filled_and_watched(cli, tmp_path: Path) -> None:
    path, data = tmp_path / "drive.bin", tmp_path / "runs.parquet"
    path.write_bytes(bytes(17 << 20))
    words = ("--points", "18", "--test", "0", "--repeats", "0", "--runtime", "20ms", "--seed", "1")
    token = ("--destroy-data", "FILE:drive.bin")
    said = cli("model", "collect", str(path), *words, *token, "-O", str(data), "-o", "json")
    assert said.document["train"] == 18, said.err
    assert any(path.read_bytes())


def test_ctrl_c_keeps_the_runs(spawn, tmp_path: Path) -> None:
    data = tmp_path / "runs.parquet"
    process = spawn("model", "collect", "sim:huang-ssd-i", "--seed", "1", "-O", str(data))
    part = tmp_path / "runs.parquet.part"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if part.exists() and len(part.read_text().splitlines()) > 4:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert "interrupted; run it again to go on" in told
    from ssdscope.models.table import load

    assert len(load(data)[1]) >= 4
    assert not part.exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("collect", "sim:mqsim-8g", "--design", "spiral"), "--design: 'spiral' is not a design"),
        (("collect", "sim:mqsim-8g", "--points", "0"), "--points: 0 is not between 1 and"),
        (("collect", "sim:mqsim-8g", "--until-ci", "1"), "--until-ci: '1' has no % sign"),
        (("collect", "sim:mqsim-8g", "--runtime", "5x"), "--runtime: '5x' is not a time"),
        (("collect", "sim:mqsim-8g", "-O", "runs.csv"), "must end in .parquet"),
        (("collect", "sim:mqsim-8g", "-O", "no/such/runs.parquet"), "there is no folder"),
        (("collect", "sim:mqsim-8g", "--jobs", "0"), "--jobs: 0 is no number of runs"),
        (("collect", "null:1m"), "too few for 64 requests of 256 KiB"),
        (("fit", "none.parquet"), "there is no file none.parquet"),
        (("fit", "none.parquet", "--model", "forest"), "there is no model 'forest'"),
        (("fit", "none.parquet", "--features", "all"), "there is no set of features 'all'"),
        (("fit", "none.parquet", "--target", "speed"), "there is no target 'speed'"),
        (("fit", "none.parquet", "--workload", "odd"), "there is no kind of workload 'odd'"),
        (("evaluate", "none.parquet", "--model", "gp,forest"), "there is no model 'forest'"),
        (("evaluate", "none.parquet", "--features", "basic,x"), "no set of features 'x'"),
        (("predict", "none.json"), "cannot read none.json"),
        (("predict", "none.json", "--wr-ratio", "30"), "--wr-ratio: '30' is not between 0 and 1"),
        (("predict", "none.json", "--wr-ratio", "nan"), "--wr-ratio: 'nan' is not between"),
        (("predict", "none.json", "--wr-ratio", "x"), "--wr-ratio: 'x' is not a share"),
        (("predict", "none.json", "--q-dep", "0"), "--q-dep: 0 is not between 1 and"),
        (("predict", "none.json", "--wr-size", "4KB"), "--wr-size: '4KB' can be read as"),
        (("predict", "none.json", "--rd-size", "0"), "--rd-size: must be more than 0"),
        (("explain", "none.json", "-O", "tree.txt"), "the name must end in one of .svg"),
    ],
)
def test_what_is_wrong_is_named_as_it_was_typed(
    cli, words: tuple[str, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = cli("model", *words)
    assert said.status == 2
    assert told in said.err
    assert said.out == ""
    assert list(tmp_path.iterdir()) == []


def test_damaged_files_are_refused(cli, folder: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.json"
    document = json.loads((folder / "model.json").read_text())
    del document["predictions"]["latency"]["interval"]
    damaged.write_text(json.dumps(document))
    for command in ("predict", "explain"):
        said = cli("model", command, str(damaged))
        assert said.status == 2
        assert "the model is damaged" in said.err
    said = cli("model", "fit", str(folder / "model.json"), "-O", str(tmp_path / "m.json"))
    assert said.status == 2
    assert "cannot read" in said.err
    said = cli("model", "predict", str(folder / "runs.parquet"))
    assert said.status == 2
    assert "is not JSON" in said.err
