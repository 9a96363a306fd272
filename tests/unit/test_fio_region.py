"""Where a job of fio works and when it ends: fio 3.33's arithmetic, each figure tried with fio."""

import pytest

from ssdscope.workloads.fio_job import parse_fio_job
from ssdscope.workloads.fio_numbers import fio_split
from ssdscope.workloads.workload import Passes, Workload

GIB = 1 << 30


def only(text: str) -> Workload:
    """Read a job file of one job, on a drive of 1 GiB."""
    (stage,) = parse_fio_job(text, "a.fio").stages
    (flow,) = stage.within(GIB).flows
    return flow.workload


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4k/60:64k/40", [(4096, 60), (65536, 40)]),
        ("4k/20:64k/50", [(4096, 20), (65536, 80)]),
        ("4k/60:64k/50", [(4096, 50), (65536, 50)]),
        ("4k/90:8k/80:16k/10", [(4096, 10), (8192, 80), (16384, 10)]),
        ("4k:8k:16k", [(4096, 33), (8192, 33), (16384, 34)]),
        ("4k", [(4096, 100)]),
        ("4k/0:8k/100", [(4096, 0), (8192, 100)]),
    ],
)
def test_shares_of_sizes_are_counted_from_the_smallest(
    text: str, expected: list[tuple[int, int]]
) -> None:
    assert fio_split(text, 1024) == expected


@pytest.mark.parametrize(
    ("options", "region"),
    [
        # offset, size and bytes to transfer, on 1 GiB
        ("bs=64k\noffset=33%", (354353152, GIB - 354353152, GIB - 354353152)),
        ("bs=64k\nsize=1000k", (0, 16 * 65536, 1_024_000)),
        ("rw=randread\nbs=64k\nsize=1000k", (0, 1_024_000, 1_024_000)),
        ("bs=4k\nsize=33%", (0, GIB * 33 // 100 // 4096 * 4096, GIB * 33 // 100 // 4096 * 4096)),
        ("rw=read:4k\nbs=4k\nsize=64k", (0, 15 * 4096, 65536)),
        ("size=64k\nio_size=10k\nloops=2", (0, 65536, 20480)),
        ("size=64k\nio_size=33%", (0, 65536, 21626)),
        ("size=64k\ntime_based\nruntime=1\nloops=2\nnumber_ios=5", (0, 65536, None)),
        ("size=64k\ntime_based", (0, 65536, 65536)),
        ("numjobs=4\noffset_increment=256m", (0, GIB // 4, GIB // 4)),
    ],
)
def test_regions_and_ends_are_fios(options: str, region: tuple[int, int, int | None]) -> None:
    workload = only(f"[a]\n{options}\n")
    assert (workload.offset_bytes, workload.size_bytes, workload.io_bytes) == region


@pytest.mark.parametrize(
    ("options", "passes"),
    [
        ("rw=read", Passes()),
        ("rw=randread", Passes(once=True)),
        ("rw=randread\nnorandommap", Passes()),
        ("rw=randread\nnorandommap\nrandom_generator=lfsr", Passes(once=True)),
        ("rw=randread\npercentage_random=50", Passes()),
        ("rw=randrw\nbs=4k,8k", Passes()),
        ("rw=randread\nrandom_distribution=zipf:0", Passes()),
        ("rw=read\nloops=3", Passes(count=3)),
        ("rw=read\nio_size=8m", Passes(until_bytes=1 << 23)),
        ("rw=read\nruntime=1\ntime_based", Passes(count=0)),
        ("rw=read:-8k", Passes(wraps=True)),
        ("rw=read:8k\nsize=1m", Passes()),
        ("rw=read:8k", Passes(wraps=True)),
    ],
)
def test_passes_are_fios(options: str, passes: Passes) -> None:
    assert only(f"[a]\n{options}\n").passes == passes
