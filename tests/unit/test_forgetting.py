"""Reading so much else that a read cache which stays on holds nothing of what was read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from ssdscope.probes.bench.ledger import Stopped
from ssdscope.probes.together import FORGETTING_BYTES, Together, cached_units

if TYPE_CHECKING:
    from ssdscope.probes.bench.ledger import Bench

KIB, MIB = 1 << 10, 1 << 20


class Reads:
    """A drive with a read cache of some size, which notes what is read."""

    def __init__(self, cache_bytes: int, unit_bytes: int) -> None:
        self.info = SimpleNamespace(capacity_bytes=4096 * MIB, logical_block_bytes=4096)
        self.places = np.empty(0, np.uint64)
        self._found = {"read_cache_bytes": cache_bytes, "read_cache_unit_bytes": unit_bytes}

    def found(self, name: str) -> int:
        return self._found[name]

    def read(self, offsets: Any, _length: int, iodepth: int) -> None:  # noqa: ARG002 - as a bench
        self.places = np.asarray(offsets)


def together(cache_bytes: int, unit_bytes: int) -> tuple[Reads, Together]:
    reads = Reads(cache_bytes, unit_bytes)
    bench = cast("Bench", reads)
    return reads, Together(bench, np.random.default_rng(1), cached_units(bench))


def test_more_than_it_holds_is_read_and_nothing_twice() -> None:
    reads, read = together(1024 * MIB, 32 * KIB)
    read.forget()
    places = np.sort(reads.places.astype(np.int64))
    assert np.diff(places).min() >= FORGETTING_BYTES
    assert 1024 * MIB < places.size * FORGETTING_BYTES < 1.2 * 1024 * MIB


def forget_often(read: Together) -> None:
    for _ in range(1500):
        read.forget()


def test_a_large_cache_may_be_emptied_a_thousand_times_and_a_huge_one_may_not() -> None:
    forget_often(together(40 * MIB, 4 * KIB)[1])
    with pytest.raises(Stopped, match="too large"):
        forget_often(together(1024 * MIB, 32 * KIB)[1])
