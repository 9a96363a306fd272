"""What a sweep says of a cluster that left it: without a cluster."""

import queue
from types import SimpleNamespace
from typing import Any

import pytest

from ssdscope.errors import ClusterError
from ssdscope.sweep import cluster

ADDRESS = "tcp://127.0.0.1:1"


def scheduler(*workers: int) -> Any:
    """Make a client whose scheduler has so many workers, one look after the other."""
    looks = iter(workers)
    return SimpleNamespace(nthreads=lambda: {str(each): 1 for each in range(next(looks))})


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_LOOK_S", 0.001)
    monkeypatch.setattr(cluster, "ALONE_S", 0)


@pytest.mark.usefixtures("impatient")
def test_a_cluster_without_workers_is_not_waited_for_without_end() -> None:
    with pytest.raises(ClusterError, match="has had no worker for") as caught:
        cluster._next(queue.SimpleQueue(), scheduler(2, 0, 1, 0, 0), ADDRESS)
    assert "dask worker tcp://127.0.0.1:1 starts one" in str(caught.value.hint)


@pytest.mark.usefixtures("impatient")
def test_what_ends_is_given_also_where_the_workers_left() -> None:
    ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
    ended.put("a")
    assert cluster._next(ended, scheduler(), ADDRESS) == "a"


def test_a_worker_of_another_version_that_came_later_says_so() -> None:
    with pytest.raises(ClusterError, match=r"the sweep is of ssdscope 0\.0\.9") as caught:
        cluster._run_here("ssdscope 0.0.9", str, 1)
    assert cluster._run_here(cluster.build(), str, 1) == "1"
    assert cluster._reason(caught.value) == caught.value.message


def test_a_run_that_ends_workers_is_told_with_how_many() -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is missing")
    last = SimpleNamespace(address="tcp://127.0.0.1:2")
    why = cluster._reason(distributed.KilledWorker("a run", last, 3))
    assert why.startswith(
        "the workers that ran it were killed (4 in all, the last tcp://127.0.0.1:2)"
    )
    assert cluster._reason(MemoryError("x")) == "the worker could not run it: MemoryError: x"
