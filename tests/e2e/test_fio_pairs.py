"""Jobs through fio and through ssdscope side by side: a few that no clock has a say in.

``benchmarks/fio_jobs.py`` tries some hundreds.
"""

import shutil
from pathlib import Path

import pytest
from tests.fio_pairs import Pair, Seen, by_fio, by_ssdscope, differences

pytestmark = pytest.mark.e2e

with_fio = pytest.mark.skipif(
    shutil.which("fio") is None, reason="fio is not installed: jobs are not held against it"
)

JOBS: dict[str, tuple[str, ...]] = {
    "last-request-goes-over": ("rw=read", "bs=4k", "size=1m", "io_size=10k"),
    "size-not-whole": ("rw=read", "bs=64k", "size=1000k", "loops=3"),
    "size-not-whole-random": ("rw=randread", "bs=64k", "size=1000k"),
    "offset-percent": ("rw=read", "bs=64k", "size=1m", "offset=33%"),
    "gaps": ("rw=read:4k", "bs=4k", "size=1m"),
    "gaps-again": ("rw=read:4k", "bs=4k", "size=1m", "io_size=900k"),
    "mix-passes": ("rw=rw", "bs=4k", "size=256k", "io_size=1m"),
    "each-place-once": ("rw=randwrite", "bs=4k", "size=1m"),
    "places-repeat": ("rw=randread", "bs=4k", "size=1m", "norandommap"),
    "fsync-last": ("rw=write", "bs=4k", "size=40k", "fsync=5"),
    "fsync-in-mix": ("rw=randrw", "bs=4k", "size=4m", "rwmixread=70", "fsync=10"),
    "shares-below": ("rw=randread", "bssplit=4k/20:16k/50", "size=4m", "norandommap"),
    "shares-above": ("rw=randread", "bssplit=4k/60:16k/70", "size=4m", "norandommap"),
    "zipf-bare": ("rw=randread", "bs=4k", "size=1m", "io_size=8m", "random_distribution=zipf"),
    "one-in-flight": ("rw=randread", "bs=4k", "size=1m", "iodepth=32"),
}


@with_fio
@pytest.mark.parametrize("name", JOBS)
def test_a_job_asks_for_the_same(name: str, tmp_path: Path) -> None:
    pair = Pair(name, JOBS[name])
    assert differences(pair, by_fio(pair, tmp_path), by_ssdscope(pair)) == []


def test_what_differs_is_said() -> None:
    pair = Pair("a", ("rw=read", "bs=4k"))
    one = Seen((2, 0), (8192, 0), 0, 1, [(0, 0, 4096), (0, 4096, 4096)])
    assert differences(pair, one, one) == []
    other = Seen((3, 0), (12288, 0), 1, 8, [(0, 0, 4096), (0, 8192, 4096)])
    assert differences(pair, one, other) == [
        "requests: (2, 0) and (3, 0)",
        "bytes: (8192, 0) and (12288, 0)",
        "flushes: 0 and 1",
        "depth: 1 and 8",
        "read places: request 1 at (4096, 4096) and (8192, 4096)",
    ]
