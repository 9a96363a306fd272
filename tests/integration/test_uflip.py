"""``reproduce uflip`` on small drives and files."""

import csv
from pathlib import Path

import numpy as np
import pytest

from ssdscope import studies
from ssdscope.errors import UsageError
from ssdscope.probes.budget import silent
from ssdscope.studies import StudyResult, Verdict
from ssdscope.studies.uflip.bench import Bench
from ssdscope.studies.uflip.benchmarks import BENCHMARKS
from ssdscope.targets import Target, open_target

MIB = 1 << 20
SMALL = ("nand.blocks_per_plane=160", "ftl.log_blocks=6")
FIGURES = ["phases", "alignment", "order", "mix"]


def small() -> Target:
    return open_target("sim:ryu-b", state="fresh", sets=SMALL, seed=1)


@pytest.fixture(scope="module")
def on_small(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    folder = tmp_path_factory.mktemp("uflip")
    return studies.run("uflip", out_dir=folder, figures=FIGURES, target=small(), seed=1)


def test_every_figure_has_a_picture_a_table_and_its_rows(on_small: StudyResult) -> None:
    assert (on_small.study, on_small.target) == ("uflip", "sim:ryu-b")
    assert [figure.id for figure in on_small.figures] == FIGURES
    for figure in on_small.figures:
        assert figure.rows
        assert figure.image is not None
        assert figure.image.name == f"uflip-{figure.id}-target.svg"
        assert figure.image.with_suffix(".png").stat().st_size > 10_000
        assert figure.data is not None
        assert all(
            row.why == "of another drive" for row in figure.rows if row.verdict != Verdict.AGREES
        )


def test_the_phases_are_in_a_table(on_small: StudyResult) -> None:
    table = on_small.figures[0].table
    assert table is not None
    assert [row[0] for row in table.rows] == ["SR", "RR", "SW", "RW"]


def test_every_point_stands_in_the_data(on_small: StudyResult) -> None:
    data = on_small.figures[FIGURES.index("order")].data
    assert data is not None
    with data.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    expected = {(series, value) for series, all_ in BENCHMARKS["order"].values.items()
                for value in all_}  # fmt: skip
    assert {(row["series"], float(row["value"])) for row in rows} == expected
    writes = {float(row["value"]): float(row["mean_ns"]) for row in rows if row["series"] == "SW"}
    # Blocks of 1 MB that are written backwards cannot become data blocks as they are.
    assert writes[-1.0] > 1.1 * writes[1.0]
    assert writes[64.0] > 5 * writes[1.0]


def test_every_series_runs_and_the_nine_are_on_one_page(tmp_path: Path) -> None:
    from ssdscope.studies.uflip import figure

    bench = Bench(small(), 1, traced=64, most=32)
    measured = {name: bench.measure(name, each, silent) for name, each in BENCHMARKS.items()}
    assert bench.failures == {}
    for name, points in measured.items():
        assert points.keys() == BENCHMARKS[name].values.keys()
        assert all(point.requests >= 2 for line in points.values() for point in line.values())
    titles = dict.fromkeys(measured, "A title: of a benchmark")
    figure.page(measured, titles).savefig(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 50_000


def test_experiments_on_a_copy_do_not_touch_each_other() -> None:
    name = "alignment"
    once = Bench(small(), 1, traced=64, most=32)
    points = once.measure(name, BENCHMARKS[name], silent)
    after = Bench(small(), 1, traced=64, most=32)
    after.measure("locality", BENCHMARKS["locality"], silent)
    assert after.measure(name, BENCHMARKS[name], silent) == points


def test_a_file_is_only_read_without_the_token(tmp_path: Path) -> None:
    path = tmp_path / "drive.bin"
    path.write_bytes(b"\x5a" * (64 * MIB))
    bench = Bench(open_target(str(path)), 1, traced=64, most=32)
    assert bench.patterns == ("SR", "RR")
    assert bench.measure("mix", BENCHMARKS["mix"], silent).keys() == {"SR/RR"}
    assert bench.measure("order", BENCHMARKS["order"], silent).keys() == {"SR"}
    assert path.read_bytes() == b"\x5a" * (64 * MIB)


def test_a_file_is_written_all_over_with_the_token(tmp_path: Path) -> None:
    path = tmp_path / "drive.bin"
    path.write_bytes(bytes(64 * MIB))
    target = open_target(str(path), destroy_token="FILE:drive.bin")
    bench = Bench(target, 1, traced=32, most=32, rest_ns=0)
    points = bench.measure("alignment", BENCHMARKS["alignment"], silent)
    assert points.keys() == {"SR", "RR", "SW", "RW"}
    written = np.frombuffer(path.read_bytes(), np.uint8).reshape(-1, 4096)
    assert written.any(axis=1).all(), "the random state reaches every block"


def test_a_drive_too_small_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "drive.bin"
    path.write_bytes(bytes(63 * MIB))
    with pytest.raises(UsageError, match="holds 66060288 bytes: too few") as refused:
        studies.run("uflip", out_dir=tmp_path, target=open_target(str(path)))
    assert "67108864" in (refused.value.hint or "")


def test_what_is_done_is_kept_after_an_interrupt(tmp_path: Path) -> None:
    def interrupt(stage: str, _share: float) -> None:
        if stage == "order":
            raise KeyboardInterrupt

    result = studies.run(
        "uflip", out_dir=tmp_path, figures=["phases", "order"], target=small(), seed=1,
        progress=interrupt,
    )  # fmt: skip
    assert result.interrupted
    assert [figure.id for figure in result.figures] == ["phases"]


def test_an_array_is_told(tmp_path: Path) -> None:
    members = [tmp_path / "a.bin", tmp_path / "b.bin"]
    for path in members:
        path.write_bytes(b"\x5a" * (32 * MIB))
    pair = open_target("raid0:{},{}?chunk=64k".format(*members))
    result = studies.run("uflip", out_dir=tmp_path, figures=["phases"], target=pair, seed=1)
    notes = result.figures[0].notes
    assert "the target is an array: the advice was for single drives" in notes
    assert "writes are left out: the target is open for reading only" in notes
