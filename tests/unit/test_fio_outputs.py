"""Results of fio: its JSON of versions 2 and 3, streams, text around it, cut ones, and folders."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Said

import ssdscope
from ssdscope.advise.imported import findings_of
from ssdscope.errors import UsageError
from ssdscope.findings import Ambiguous, Detected
from ssdscope.models import imported as runs
from ssdscope.report.comparison import compare
from ssdscope.results.fio import bins
from ssdscope.results.fio.folders import find
from ssdscope.results.fio.outputs import records_of
from ssdscope.sweep.imported import outcomes

GROUPS = Path(__file__).parents[2] / "examples" / "fio" / "groups.json"
"""fio 3.33, json+: two readers beside a writer, then a mix that flushes."""
REAL = Path(__file__).parents[3] / "shared" / "real" / "fio-json"


def direction(requests: int, mean_ns: float, *, runtime_ms: int = 1000) -> dict[str, Any]:
    """Make a direction as fio 3 writes it."""
    percentile = {"50.000000": mean_ns, "99.000000": 2 * mean_ns}
    times = {"min": 1, "max": 5 * mean_ns, "mean": mean_ns, "stddev": 0.0, "N": requests}
    return {
        "io_bytes": 4096 * requests,
        "io_kbytes": 4 * requests,
        "bw": 4 * requests,
        "runtime": runtime_ms,
        "total_ios": requests,
        "clat_ns": {**times, "percentile": percentile},
        "lat_ns": times,
    }


NOTHING = {"io_bytes": 0, "io_kbytes": 0, "bw": 0, "runtime": 0, "total_ios": 0}


def output(*jobs: dict[str, Any], at: int = 100, version: str = "3.33") -> dict[str, Any]:
    """Make a document of fio."""
    return {"fio version": f"fio-{version}", "timestamp": at, "time": f"t{at}", "jobs": list(jobs)}


def job(
    requests: int = 1000, mean_ns: float = 5e4, name: str = "j", **options: Any
) -> dict[str, Any]:
    """Make a job of random reads."""
    asked = {"rw": "randread", "bs": "4k", "ioengine": "libaio", "iodepth": "1"}
    asked |= {key: str(value) for key, value in options.items()}
    return {
        "jobname": name,
        "groupid": 0,
        "elapsed": 1,
        "job options": asked,
        "read": direction(requests, mean_ns),
        "write": NOTHING,
        "trim": NOTHING,
    }


def write(path: Path, *documents: dict[str, Any], text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n".join(json.dumps(each, indent=1) for each in documents))
    return path


def records(path: Path) -> list[dict[str, Any]]:
    found = records_of(path)
    assert found is not None
    return found[0]


def test_rates_counts_and_percentiles_are_those_of_fio() -> None:
    jobs = json.loads(GROUPS.read_text())["jobs"]
    side, mixed = records(GROUPS)
    readers, (writer,) = jobs[:2], jobs[2:3]
    read = side["read"]
    assert read["requests"] == sum(each["read"]["total_ios"] for each in readers)
    assert read["bytes"] == sum(each["read"]["io_bytes"] for each in readers)
    assert side["write"]["latency_ns"]["mean"] == writer["write"]["lat_ns"]["mean"]
    assert side["write"]["iops"] == pytest.approx(writer["write"]["iops"], rel=1e-6)
    assert [each["name"] for each in side["flows"]] == ["reader", "writer"]
    assert side["flows"][0]["workload"]["numjobs"] == 2
    assert mixed["flush"]["requests"] == jobs[3]["sync"]["total_ios"]
    for way in ("read", "write"):
        theirs, ours = jobs[3][way], mixed[way]
        assert ours["requests"] == theirs["total_ios"]
        assert ours["iops"] == pytest.approx(theirs["iops"], rel=1e-6)
        for percent, value in theirs["clat_ns"]["percentile"].items():
            assert ours["percentiles_ns"][f"{float(percent):g}"] == value
    assert mixed["workload"]["read_percent"] == pytest.approx(70, abs=15)


def test_percentiles_of_several_jobs_are_of_all_their_requests() -> None:
    jobs = json.loads(GROUPS.read_text())["jobs"][:2]
    counts = [bins.of_json(each["read"]["clat_ns"]["bins"], 1) for each in jobs]
    every = np.sort(np.concatenate([np.repeat(list(each), list(each.values())) for each in counts]))
    found = records(GROUPS)[0]["read"]["percentiles_ns"]
    for percent, value in found.items():
        rank = int(np.ceil(float(percent) / 100 * len(every))) - 1
        assert value == every[rank], percent


def test_percentiles_without_bins_are_known_where_all_jobs_agree(tmp_path: Path) -> None:
    apart = write(tmp_path / "a.json", output(job(mean_ns=5e4), job(mean_ns=9e4)))
    alike = write(tmp_path / "b.json", output(job(mean_ns=5e4), job(mean_ns=5e4)))
    assert records(apart)[0]["read"]["percentiles_ns"] == {}
    assert records(apart)[0]["read"]["latency_ns"]["mean"] == pytest.approx(7e4)
    assert records(alike)[0]["read"]["latency_ns"]["p50"] == 5e4


def test_bins_are_those_of_fio() -> None:
    edges = bins.edges(bins.BINS_NS)
    assert (edges[[0, 63, 64, 127, 128, 129]] == [0, 63, 64, 127, 128, 130]).all()
    assert (np.diff(edges) > 0).all()
    wide = edges[:-1] >= 128
    assert (np.diff(edges)[wide] <= edges[:-1][wide] / 64).all()
    assert bins.times_of(1856 >> 3) is not None
    assert bins.times_of(1857) is None
    old = {"FIO_IO_U_PLAT_BITS": 6, "FIO_IO_U_PLAT_NR": 1216, "5": 3, "130": 4, "7": 0}
    assert bins.of_json(old, 1000) == {5000.0: 3, 133000.0: 4}


def test_jobs_that_begin_apart_are_added_over_the_time_in_which_they_ran(tmp_path: Path) -> None:
    first, then = job(1000) | {"job_start": 5000}, job(3000) | {"job_start": 9000}
    found = records(write(tmp_path / "a.json", output(first, then)))[0]
    assert found["elapsed_ns"] == 2_000_000_000
    assert found["read"]["iops"] == pytest.approx(2000)
    together = records(write(tmp_path / "b.json", output(job(1000), job(3000))))[0]
    assert together["read"]["iops"] == pytest.approx(4000)


def test_fio_2_counts_kib_and_microseconds(tmp_path: Path) -> None:
    times = {"min": 20, "max": 900, "mean": 55.5, "stddev": 3.0}
    old = {
        "io_bytes": 4000, "bw": 4000, "iops": 1000.0, "runtime": 1000, "total_ios": 1000,
        "clat": {**times, "percentile": {"50.000000": 54, "0.00": 0}}, "lat": times,
    }  # fmt: skip
    nothing = {"io_bytes": 0, "bw": 0, "iops": 0, "runtime": 0, "total_ios": 0}
    document = output(
        {"jobname": "random-read", "groupid": 0, "read": old, "write": nothing}, version="2.2.10"
    )
    found = records(write(tmp_path / "randread-16-4.json", document))[0]
    assert (found["read"]["bytes"], found["read"]["requests"]) == (4_096_000, 1000)
    assert found["read"]["latency_ns"]["mean"] == pytest.approx(55_500)
    assert found["read"]["latency_ns"]["p50"] == pytest.approx(54_000)
    plan = found["workload"]
    assert (plan["rw"], plan["iodepth"], plan["numjobs"]) == ("randread", 16, 4)


def test_text_around_and_interim_states(tmp_path: Path) -> None:
    states = [output(job(count) | {"elapsed": at}, at=100 + at) for at, count in ((1, 10), (2, 30))]
    found = records_of(write(tmp_path / "a.json", *states, text="fio: hello {\nnice\n"))
    assert found is not None
    (record,), read = found
    assert (record["requests"], read.interim, read.text_lines) == (30, 1, 2)
    other = output(job(20, name="another"), at=300)
    assert len(records(write(tmp_path / "b.json", states[1], other))) == 2


@pytest.mark.parametrize("share", [0.35, 0.6, 0.8, 0.95, 0.999])
def test_a_cut_file_gives_what_is_whole_and_says_where_it_ends(
    share: float, cli: Callable[..., Said], tmp_path: Path
) -> None:
    whole = GROUPS.read_text()
    cut = whole[: int(share * len(whole.rstrip()))]
    path = tmp_path / "cut.json"
    path.write_text(cut)
    said = cli("import", str(path), "-o", "json")
    assert said.status == 3
    assert f"not read from line {cut.count(chr(10)) + 1:,}" in said.err
    first = records(GROUPS)[0]["flows"][0]
    found = said.document
    found = found["drives"][0]["runs"][0] if "drives" in found else found
    flow = found["flows"][0] if "flows" in found else found
    assert flow["read"]["requests"] in (first["read"]["requests"], first["read"]["requests"] / 2)


def test_nothing_whole_is_an_error_that_says_where(
    cli: Callable[..., Said], tmp_path: Path
) -> None:
    path = tmp_path / "cut.json"
    path.write_text(GROUPS.read_text()[:400])
    said = cli("import", str(path))
    assert said.status == 2
    assert "not read from line" in said.err


def test_what_fio_reports_as_one_is_refused_unless_it_is_one(tmp_path: Path) -> None:
    mixed = job() | {"mixed": direction(500, 1e4)}
    del mixed["read"]
    assert records(write(tmp_path / "a.json", output(mixed)))[0]["read"]["requests"] == 500
    mixed["job options"]["rw"] = "randrw"
    with pytest.raises(UsageError, match="unified_rw_reporting"):
        records_of(write(tmp_path / "b.json", output(mixed)))


def test_options_of_another_job_are_not_believed(tmp_path: Path) -> None:
    both = job(rw="randwrite", group_reporting=1) | {"write": direction(500, 1e4)}
    assert records(write(tmp_path / "a.json", output(both)))[0]["workload"]["rw"] is None


def grid(folder: Path, *, faster: float = 1) -> Path:
    """Make a drive's folder as fio-plot has it: depths by jobs, twice."""
    at = 0
    for turn in (1, 2):
        for depth in (1, 2, 4, 8, 16, 32):
            for jobs in (1, 2, 4):
                at += 10
                rate = faster * 10_000 * min(depth * jobs, 16) * (1 + 0.01 * turn)
                one = job(round(rate), depth * jobs / rate * 1e9, iodepth=depth, numjobs=jobs)
                write(folder / f"4k/RUN{turn}/randread-{depth}-{jobs}.json", output(one, at=at))
    return folder


def test_a_folder_is_told_drive_by_drive(cli: Callable[..., Said], tmp_path: Path) -> None:
    grid(tmp_path / "PM883")
    write(tmp_path / "flat" / "WD-randread-4-1.json", output(job(iodepth=4), version="2.21"))
    (tmp_path / "flat" / "notes.txt").write_text("hello")
    (tmp_path / "flat" / "normal.txt").write_text("j: (g=0): rw=randread\nfio-3.33\n")
    found = find([str(tmp_path)])
    assert {name: len(each) for name, each in found.drives.items()} == {"PM883": 36, "flat/WD": 1}
    assert [Path(each.path).name for each in found.left] == ["normal.txt", "notes.txt"]
    assert "--output-format=json" in found.left[0].why
    said = cli("import", str(tmp_path))
    assert said.status == 0
    assert "PM883" in said.out
    assert "normal.txt: fio's output for people" in " ".join(said.err.split())


def test_a_copy_is_no_repetition(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.json", output(job()))
    found = find([str(tmp_path)])
    assert len(found.records) == 1
    assert found.left[0].why.startswith("the same run as")


def test_runs_that_differ_in_anything_are_no_repetitions(tmp_path: Path) -> None:
    write(tmp_path / "a.json", output(job(), at=1))
    write(tmp_path / "b.json", output(job(ioengine="io_uring"), at=2))
    write(tmp_path / "c.json", output(job(runtime=60), at=3))
    varied = [each["point"]["varied"] for each in outcomes(find([str(tmp_path)]).drives)]
    assert [each["ioengine"] for each in varied] == ["libaio", "io_uring", "libaio"]


def test_folders_are_compared_with_intervals_of_their_repetitions(tmp_path: Path) -> None:
    compared = compare([str(grid(tmp_path / "old")), str(grid(tmp_path / "new", faster=2))])
    assert compared.sentences()[0].startswith("reads of randread (18 workloads): new ran")
    first, second = compared.ranking
    assert (first.entry.name, second.slower.value) == ("new", pytest.approx(2, rel=0.01))
    assert second.slower.half is not None
    axes = {point["axis"] for point in first.entry.points}
    assert {"depth", "jobs"} <= axes


def test_a_page_draws_both_over_depth_and_jobs(cli: Callable[..., Said], tmp_path: Path) -> None:
    page = tmp_path / "fio.html"
    assert cli("import", str(grid(tmp_path / "PM883")), "-O", str(page)).status == 0
    text = page.read_text()
    assert text.count("<svg") == 2
    assert "reads over depth of each job" in text
    assert "bars are 95 % intervals" in text
    table = tmp_path / "pm883.parquet"
    assert cli("import", str(tmp_path / "PM883"), "-O", str(table)).status == 0
    compared = compare([str(table), str(grid(tmp_path / "other"))])
    assert len(compared.workloads) == 18


def test_the_page_says_why_nothing_or_not_everything_is_drawn(
    cli: Callable[..., Said], tmp_path: Path
) -> None:
    write(tmp_path / "one" / "randread-1-1.json", output(job()))
    page = tmp_path / "fio.html"
    assert cli("import", str(tmp_path / "one"), "-O", str(page)).status == 0
    assert "Nothing is drawn: no workload was run at several depths" in page.read_text()
    for drive in range(25):
        grid(tmp_path / "many" / f"drive{drive}")
    assert cli("import", str(tmp_path / "many"), "-O", str(page), "--force").status == 0
    assert "The first 48 of 50 pictures" in page.read_text()


def test_a_model_learns_from_a_folder(cli: Callable[..., Said], tmp_path: Path) -> None:
    header, rows = runs.load(grid(tmp_path / "PM883"))
    assert (header["target"], len(rows)) == ("PM883", 36)
    row = rows[-1].row
    assert (row.vector.q_dep, row.vector.rd_size, row.vector.rd_rand) == (128, 4096, 100)
    assert row.latency_ns * row.iops == pytest.approx(128e9, rel=0.01)
    assert all(each.usable for each in rows)
    made = tmp_path / "pm883.parquet"
    cli("import", str(tmp_path / "PM883"), "-O", str(made))
    assert runs.load(made) == (header, rows)
    write(tmp_path / "PM883" / "paced.json", output(job(rate_iops=100), at=9999))
    assert runs.load(tmp_path / "PM883")[0]["left"] == {"requests come at a rate or with pauses": 1}
    grid(tmp_path / "WD")
    with pytest.raises(UsageError, match="results of 2 drives"):
        runs.load(tmp_path)


def test_the_library_gives_what_the_command_does(cli: Callable[..., Said], tmp_path: Path) -> None:
    folder = grid(tmp_path / "PM883")
    found = ssdscope.import_fio(folder)
    assert found.to_dict() == cli("import", str(folder), "-o", "json").document
    assert found.to_frame().num_rows == 36
    assert len(found.pictures) == 2
    assert repr(found) == "36 runs of fio on 1 drive"
    assert "PM883" in found._repr_html_()
    assert found.plot().axes


def test_requests_that_were_not_timed_have_rates_alone(
    cli: Callable[..., Said], tmp_path: Path
) -> None:
    one = job()  # as with gtod_reduce=1
    for name in ("clat_ns", "lat_ns"):
        one["read"][name] = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0}
    path = write(tmp_path / "a.json", output(one))
    assert records(path)[0]["read"]["latency_ns"] is None
    assert "1,000" in cli("import", str(path)).out.replace("1 k", "1,000")
    timed = write(tmp_path / "b.json", output(job(), at=7))
    with pytest.raises(UsageError, match="no workload in common"):
        compare([str(path), str(timed)])
    with pytest.raises(UsageError, match="latencies were not timed"):
        runs.load(path)


def test_an_engine_of_one_call_has_one_request_in_flight(tmp_path: Path) -> None:
    document = output(job(ioengine="psync", iodepth=32, numjobs=4))
    plan = records(write(tmp_path / "a.json", document))[0]["workload"]
    assert (plan["iodepth"], plan["in_flight"]) == (32, 4)


def test_logs_without_json_are_a_result(tmp_path: Path) -> None:
    for number in (1, 2):
        head = tmp_path / f"randread-iodepth-8-numjobs-2_{{}}.{number}.log"
        for kind, value in (("iops", 1000), ("bw", 4000), ("lat", 8_000_000)):
            text = "".join(f"{at}, {value}, 0, 0, 0\n" for at in (500, 1000))
            Path(str(head).format(kind)).write_text(text)
    (record,) = find([str(tmp_path)]).records
    assert record["read"]["iops"] == pytest.approx(2000)
    assert record["read"]["latency_ns"]["mean"] == pytest.approx(8e6)
    plan = record["workload"]
    assert (plan["rw"], plan["iodepth"], plan["numjobs"]) == ("randread", 8, 2)
    assert plan["block_bytes"] == 4096


@pytest.mark.skipif(not REAL.is_dir(), reason="fio's outputs of real drives are not here")
def test_real_drives_have_the_figures_of_fio() -> None:
    found = find([str(REAL)])
    assert len(found.drives) == 4
    assert not found.left
    for record in found.records:
        text = Path(record["fio"]["file"]).read_text()
        (theirs,) = json.loads(text[text.index("{") :])["jobs"]
        way = "read" if theirs["read"]["total_ios"] else "write"
        ours, printed = record[way], theirs[way]
        assert (ours["requests"], ours["bytes"]) == (printed["total_ios"], printed["io_bytes"])
        assert ours["iops"] == pytest.approx(printed["iops"], rel=1e-3)
        assert ours["latency_ns"]["mean"] == pytest.approx(printed["lat_ns"]["mean"], rel=1e-3)
        for percent, value in printed["clat_ns"]["percentile"].items():
            if float(percent):
                assert ours["percentiles_ns"][f"{float(percent):g}"] == value


def test_fio_s_results_support_advice_on_depth_and_sizes(
    cli: Callable[..., Said], tmp_path: Path
) -> None:
    grid(tmp_path / "PM883")
    for number, size in enumerate((4096, 8192, 16384, 65536, 131072)):
        one = job(1000, 91_000 + 2 * size, bs=size)
        one["read"]["io_bytes"] = 1000 * size
        write(tmp_path / "PM883" / f"size-{size}.json", output(one, at=5000 + number))
    found = findings_of(find([str(tmp_path / "PM883")]).records)
    knee = found["queue_depth_knee"]
    assert isinstance(knee, Detected)
    assert (knee.value, knee.interval) == (16, (8, 16))
    alpha, beta = (found[f"read_latency_{name}"] for name in ("alpha_ns", "beta_ns_per_byte"))
    assert isinstance(alpha, Detected)
    assert isinstance(beta, Detected)
    assert beta.value == pytest.approx(2, rel=0.05)
    said = cli("advise", str(tmp_path / "PM883"), "--for", "postgres,linux")
    assert said.status == 0
    assert "queue-depth knee 16" in said.out
    assert "read-ahead = 800" in said.out
    assert "gains are not measured" in said.out


def test_a_rate_that_still_rises_has_no_knee(tmp_path: Path) -> None:
    for number, depth in enumerate((1, 2, 4, 8)):
        one = job(1000 * depth, 1e6, iodepth=depth)
        write(tmp_path / f"{depth}.json", output(one, at=number))
    (knee,) = findings_of(find([str(tmp_path)]).records).values()
    assert isinstance(knee, Ambiguous)
    assert "still rise" in knee.reason
