"""``compare`` on results that commands wrote: runs, sweeps, a report; one page, no mixed kinds."""

import json
from pathlib import Path

import pytest

PLAN = """
targets = ["{target}"]
repeats = 2
[workload]
rw = "randread"
number_ios = 200
[grid]
bs = ["4k", "64k"]
"""
DRIVES = ("sim:sata-tlc", "sim:nvme-tlc")


@pytest.fixture
def results(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run and a sweep of each drive."""
    monkeypatch.chdir(tmp_path)
    for place, target in enumerate(DRIVES):
        words = ("--rw", "randread", "--iodepth", "4", "--number-ios", "2000", "--seed", "1")
        Path(f"run{place}.json").write_text(cli("run", target, *words, "-o", "json").out)
        Path(f"plan{place}.toml").write_text(PLAN.format(target=target))
        said = cli("sweep", f"plan{place}.toml", "-O", f"s{place}.jsonl", "--seed", "1",
                   "--jobs", "1")  # fmt: skip
        assert said.status == 0, said.err
    return tmp_path


def test_runs_and_sweeps_are_compared(cli, results: Path) -> None:
    runs = cli("compare", "run0.json", "run1.json", "-O", "page.html", "-o", "json")
    assert runs.status == 0, runs.err
    means = [
        json.loads((results / f"run{n}.json").read_text())["read"]["latency_ns"]["mean"]
        for n in (0, 1)
    ]
    first, second = runs.document["ranking"]
    assert (first["target"], second["target"]) == (DRIVES[1], DRIVES[0])
    assert second["times_slower_than_first"] == pytest.approx(means[0] / means[1])
    assert second["half_width"] > 0
    page = (results / "page.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 1
    assert page.count("<script") == 1, "only the page's own"
    assert "http://" not in page.replace("http://www.w3.org", "")

    sweeps = cli("compare", "s0.parquet", "s1.parquet", "-O", "page.html")
    assert sweeps.status == 0, sweeps.err  # the page is ours, and may be replaced
    assert sweeps.out.startswith("reads (2 workloads): sim:nvme-tlc ran\n")
    assert "bs=64k reads" in sweeps.out
    assert (results / "page.html").read_text(encoding="utf-8").count("<svg") == 2

    mixed = cli("compare", "run0.json", "s0.parquet")
    assert mixed.status == 2
    assert "run0.json: the results of a run" in mixed.err
    assert "s0.parquet: the table of a sweep" in mixed.err
