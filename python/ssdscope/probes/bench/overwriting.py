"""Overwriting a drive at random, as the heavy probes do: what is written, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Absent, Detected, Reason, Undetectable
from ssdscope.probes.bench.discipline import MAX_FOREIGN_SHARE, base_request_bytes
from ssdscope.targets.records import OP_DISCARD, OP_FLUSH, OP_WRITE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

MOST_REQUESTS = 300_000
"""In one pass over the drive; more are joined to requests of several units."""
UNKNOWN_UNIT_BYTES = 512 * 1024
"""Written where the RMW unit is not known: so large that what it adds at both ends is little."""
FILL_BYTES = 1024 * 1024
HIDDEN = (Reason.PLP_NO_FLUSH_EFFECT, Reason.WRITE_ACKED_FROM_BUFFER)
"""Why a unit is not known where there is more to be seen of collection than of writes."""


@dataclass(frozen=True)
class Granule:
    """What is overwritten as one: the smallest span that costs no read-modify-write.

    Attributes
    ----------
    size_bytes
        Of a request.
    phase_bytes
        Granules begin so far before multiples of their size.
    exact
        Whether they are known to be whole RMW units.
    apart
        How many sizes lie between the beginnings of two.
    """

    size_bytes: int
    phase_bytes: int
    exact: bool
    apart: int = 1

    def places(self, count: int, span_bytes: int, rng: np.random.Generator) -> NDArray[np.uint64]:
        """Draw first bytes of granules that lie within the first `span_bytes`, shape (count,)."""
        step_bytes = self.apart * self.size_bytes
        last = (span_bytes + self.phase_bytes) // step_bytes
        first = 1 if self.phase_bytes else 0
        drawn = rng.integers(first, max(last, first + 1), count)
        return (drawn * step_bytes - self.phase_bytes).astype(np.uint64)

    def nearest(self, offset_bytes: int) -> int:
        """Give the first byte of the granule that holds a byte, or of the next one."""
        index = -(-(offset_bytes + self.phase_bytes) // self.size_bytes)
        return index * self.size_bytes - self.phase_bytes


def unit_or_base(bench: Bench) -> Granule:
    """Give the RMW unit if it is known, else the smallest usual request."""
    found = bench.known.get("rmw_unit_bytes")
    base = base_request_bytes(bench.info)
    if not isinstance(found, Detected):
        return Granule(base, 0, isinstance(found, Absent))
    unit = int(float(found.value))
    return Granule(unit, int(bench.found("alignment_phase_bytes") or 0) % unit, exact=True)


def buffered(bench: Bench) -> bool:
    """Whether a buffer hides what writes take, and the unit was seen otherwise."""
    known = bench.known.get("rmw_unit_bytes")
    return isinstance(known, Detected) and "by" in known.evidence.figures


def may_be_cut(bench: Bench) -> bool:
    """Whether a buffer may let go of parts of units, which are then written twice.

    It hides what writes take; or it stays on, and takes them in units that are not certain.
    """
    parts = bench.known.get("write_buffer_unit_bytes")
    unclear = isinstance(parts, Undetectable) and parts.reason is Reason.EFFECT_BELOW_NOISE
    return buffered(bench) or (unclear and bench.info.write_cache.control == "fixed")


def granule(bench: Bench) -> Granule:
    """Choose what to overwrite as one, many times over, by what is known of the RMW unit."""
    known = unit_or_base(bench)
    unit = known.size_bytes if known.exact else max(known.size_bytes, UNKNOWN_UNIT_BYTES)
    most = max(1, bench.info.capacity_bytes // unit // MOST_REQUESTS)
    return Granule(unit * most, known.phase_bytes, known.exact)


def discard_all(bench: Bench) -> None:
    """Tell the drive that nothing on it is needed, where it can be told."""
    if not bench.info.discard:
        return
    starts, lengths = _in_order(bench.info.capacity_bytes, 64 * FILL_BYTES)
    bench.issue(OP_DISCARD, starts, lengths)


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
    bench.issue(
        OP_WRITE,
        starts.astype(np.uint64),
        lengths.astype(np.uint64),
        most_foreign_share=most_foreign_share,
    )


def _in_order(size_bytes: int, step: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    starts = np.arange(0, size_bytes, step, dtype=np.int64)
    return starts.astype(np.uint64), np.minimum(step, size_bytes - starts).astype(np.uint64)


def completions_ns(log: Any) -> NDArray[np.float64]:
    """When the first, second ... request of a list was served, from its start; shape (n,)."""
    return np.sort(log.complete_ns).astype(np.float64) - float(log.submit_ns.min())


def latencies_ns(log: Any) -> NDArray[np.float64]:
    """Latencies in the order of the list."""
    return np.asarray(log.latency_ns, dtype=float)[np.argsort(log.index)]


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
    ops = np.tile(np.array([OP_WRITE, OP_FLUSH], np.uint8), places.size)
    starts, lengths = np.zeros(2 * places.size, np.uint64), np.zeros(2 * places.size, np.uint64)
    starts[::2], lengths[::2] = places, size_bytes
    pairs = latencies_ns(bench.issue(ops, starts, lengths, **judging)).reshape(-1, 2)
    return np.asarray(pairs.sum(axis=1))
