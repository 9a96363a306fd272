"""What the page's model learns from beside its own runs, and on which drives those begin."""

from typing import Any

import pytest

from ssdscope.models.table import Collected
from ssdscope.report import model_runs
from ssdscope.report.model_runs import Kinds
from ssdscope.workloads.grid import KIB, Row, Vector

FRESH: Any = "as it was found"
DRIVES: Any = {("randwrite", 4 * KIB): "a", ("randwrite", 64 * KIB): "b", ("write", 16 * KIB): "c"}
KINDS = Kinds(DRIVES)


def point(rw: str, size: int, split: str = "grid", **more: Any) -> dict[str, Any]:
    figures = {"requests": 400, "mean_ns": 1e5, "iops": 4e4, "bandwidth_bytes_per_s": 1.6e8}
    place = {"rw": rw, "block_bytes": size, "iodepth": 4, "split": split}
    return {**place, **figures, "duration_ns": 10**7, "failure": None, "reached": True, **more}


@pytest.mark.parametrize(
    ("given", "nearest", "drive"),
    [
        (Vector(30, 4, 5 * KIB, KIB, 80, 10), Vector(30, 4, 4 * KIB, KIB, 100, 10), "a"),
        (Vector(30, 4, 5 * KIB, KIB, 20, 10), Vector(30, 4, 16 * KIB, KIB, 0, 10), "c"),
        (
            Vector(30, 4, 99 * KIB, KIB, wr_stride=64 * KIB, rd_stride=KIB),
            Vector(30, 4, 64 * KIB, KIB, 100, 0, 0, KIB),
            "b",
        ),
        (Vector(0, 4, 5 * KIB, KIB, 80, 10), Vector(0, 4, 5 * KIB, KIB, 80, 10), FRESH),
    ],
)
def test_runs_write_as_drives_were_settled(given: Vector, nearest: Vector, drive: str) -> None:
    assert KINDS.nearest(given) == nearest
    assert KINDS.drive(nearest, FRESH) == drive


def test_only_one_sort_of_writes_is_learnt() -> None:
    """A burst is no row of a model of what the drive keeps up, nor of one of minutes."""
    points = [
        point("randread", 4096),
        point("read", 8192, "off-grid"),
        point("randwrite", 4096, mean_ns=5e4),
        point("randread", 1 << 20),
        point("randread", 16384, failure="broken"),
    ]
    sustained = [
        point("randwrite", 4096, mean_ns=9e5),
        point("write", 4096, reached=False, iops=None),
    ]
    page = {"points": points, "sustained": sustained}
    reads = model_runs.of_page(page, sustained=False)
    assert [(each.split, each.row.vector.wr_ratio) for each in reads] == [
        ("beside", 0),
        ("test", 0),
    ]
    assert [each.row.vector.rd_rand for each in reads] == [100, 0]
    (*_, write) = model_runs.of_page(page, sustained=True)
    assert (write.row.vector.wr_ratio, write.row.vector.wr_rand) == (100, 100)
    assert (write.row.latency_ns, write.split) == (9e5, "beside")
    assert all(each.usable for each in reads)


def test_what_was_learnt_is_not_held_to() -> None:
    def run(split: str, depth: int, hidden: int) -> Collected:
        return Collected(split, Row(Vector(0, depth, hidden, 4096)))

    rows = [run("train", 1, 4096), run("test", 1, 8192), run("test", 2, 4096), run("repeat", 1, 1)]
    kept = model_runs.without_known(rows, rows)
    assert kept == [rows[0], rows[2], rows[3]]
