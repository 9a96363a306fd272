"""Overwriting a drive at random, as the heavy probes do: what is written, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.probes.bench.discipline import MAX_FOREIGN_SHARE
from ssdscope.targets.records import OP_DISCARD, OP_FLUSH, OP_WRITE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

FILL_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Granule:
    """What is overwritten as one: the smallest span that costs no read-modify-write.

    Attributes
    ----------
    size_bytes
        Of a request.
    phase_bytes
        Granules begin so far before multiples of their size.
    """

    size_bytes: int
    phase_bytes: int

    def places(self, count: int, span_bytes: int, rng: np.random.Generator) -> NDArray[np.uint64]:
        """Draw first bytes of granules that lie within the first `span_bytes`, shape (count,)."""
        last = (span_bytes + self.phase_bytes) // self.size_bytes
        first = 1 if self.phase_bytes else 0
        drawn = rng.integers(first, max(last, first + 1), count)
        return (drawn * self.size_bytes - self.phase_bytes).astype(np.uint64)


def discard(bench: Bench, span_bytes: int, piece_bytes: int) -> None:
    """Tell the drive piece by piece that nothing in its first `span_bytes` is needed."""
    starts = np.arange(0, span_bytes, piece_bytes)
    bench.issue(OP_DISCARD, starts, np.minimum(piece_bytes, span_bytes - starts))


def discard_all(bench: Bench) -> None:
    """Tell the drive that nothing on it is needed, where it can be told."""
    if bench.info.discard:
        discard(bench, bench.info.capacity_bytes, 64 * FILL_BYTES)


def fill_afresh(bench: Bench, unit: Granule, most_foreign_share: float = MAX_FOREIGN_SHARE) -> None:
    """Discard everything, and write the drive once in whole units, one request after the other.

    What was there before is then stale in whole blocks. Requests that end within a unit, or reach
    the flash in another order than they were sent, leave stale pages all over the drive, and a
    drive that collects blindly would copy what lies around them. Whoever does not count what is
    stale may let others write meanwhile.
    """
    discard_all(bench)
    step = max(FILL_BYTES // unit.size_bytes, 1) * unit.size_bytes
    capacity = bench.info.capacity_bytes
    starts = np.arange(step - unit.phase_bytes, capacity, step, dtype=np.int64)
    starts = np.concatenate([[0], starts])
    lengths = np.diff(np.concatenate([starts, [capacity]]))
    bench.issue(OP_WRITE, starts, lengths, most_foreign_share=most_foreign_share)


def completions_ns(log: Any) -> NDArray[np.float64]:
    """When the first, second ... request of a list was served, from its start; shape (n,)."""
    return np.sort(log.complete_ns).astype(np.float64) - float(log.submit_ns.min())


def latencies_ns(log: Any) -> NDArray[np.float64]:
    """Latencies in the order of the list."""
    return np.asarray(log.in_order_ns)


def write_through(
    bench: Bench, places: NDArray[np.uint64], size_bytes: int, **judging: Any
) -> NDArray[np.float64]:
    """Write one by one, to the medium as far as the drive allows; give the latencies.

    The write cache is switched off, or each write followed by a flush whose time counts; a cache
    that is protected against power loss hides the medium all the same.

    Parameters
    ----------
    places : ndarray of uint64, shape (n,)
        First bytes.
    judging
        ``most_foreign_share``, as `Bench.issue` takes it.

    Returns
    -------
    ndarray, shape (n,)
        Nanoseconds, in the order of the list.
    """
    cache = bench.info.write_cache
    if cache.control == "switchable":
        with bench.caches(write=False):
            return latencies_ns(bench.write(places, size_bytes, **judging))
    if cache.control == "absent":
        return latencies_ns(bench.write(places, size_bytes, **judging))
    return write_and_flush(bench, places, size_bytes, **judging)


def write_and_flush(
    bench: Bench, places: NDArray[np.uint64], size_bytes: int, **judging: Any
) -> NDArray[np.float64]:
    """Write one by one, each followed by a flush whose time counts; as `write_through`."""
    ops = np.tile(np.array([OP_WRITE, OP_FLUSH], np.uint8), places.size)
    starts, lengths = np.zeros(2 * places.size, np.uint64), np.zeros(2 * places.size, np.uint64)
    starts[::2], lengths[::2] = places, size_bytes
    pairs = latencies_ns(bench.issue(ops, starts, lengths, **judging)).reshape(-1, 2)
    return np.asarray(pairs.sum(axis=1))
