"""Random overwriting until a drive has come to rest: collection or merging keeps up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.probes.discipline import base_request_bytes, in_peace
from ssdscope.probes.overwriting import Granule, granule, latencies_ns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

UNKNOWN_BYTES = 64 * 1024
"""Overwritten as one where the RMW unit is not known."""
IN_ORDER, FIRST_CHUNK, GROWTH = 16, 128, 1.5
SLOWED = 1.3
"""Mean over the lower quartile, from which on writes wait for more than their own programs."""
AGREE = 0.15
"""Relative difference of the means of two chunks up to which a drive has settled."""


@dataclass(frozen=True)
class Settled:
    """How a drive came to rest.

    Attributes
    ----------
    mean_ns
        Of the writes of the last chunk.
    slowed
        Whether writes have become slower, so that there is collection or merging to be seen.
    requests
        Written until then.
    """

    mean_ns: float
    slowed: bool
    requests: int


class Overwriter:
    """Overwrites whole granules, of some least size, at random places of a drive."""

    def __init__(self, bench: Bench, rng: np.random.Generator, least_bytes: int = 0) -> None:
        self.bench = bench
        self.rng = rng
        known = granule(bench)
        small = max(base_request_bytes(bench.info), UNKNOWN_BYTES)
        chosen = known if known.exact else Granule(small, 0, False)
        several = max(1, -(-least_bytes // chosen.size_bytes))
        self.granule = replace(chosen, size_bytes=several * chosen.size_bytes)

    def places(self, count: int, span_bytes: int) -> NDArray[np.uint64]:
        """Draw first bytes within the first `span_bytes`, shape (count,)."""
        return self.granule.places(count, span_bytes, self.rng)

    def write(self, count: int, span_bytes: int, **pacing: Any) -> NDArray[np.float64]:
        """Overwrite, one at a time; give latencies, shape (count,)."""
        size = self.granule.size_bytes

        def write() -> NDArray[np.float64]:
            return latencies_ns(self.bench.write(self.places(count, span_bytes), size, **pacing))

        return in_peace(self.bench, write)

    def _in_order(self) -> NDArray[np.float64]:
        size = self.granule.size_bytes
        begin = int(self.places(1, self.bench.info.capacity_bytes - (IN_ORDER + 1) * size)[0])
        places = np.uint64(begin) + np.arange(IN_ORDER, dtype=np.uint64) * np.uint64(size)
        return latencies_ns(self.bench.write(places, size))

    def settle(self, most_bytes: int) -> Settled:
        """Overwrite everywhere until it has become slower and stays as it is, or so much."""
        capacity = self.bench.info.capacity_bytes
        most = max(2 * FIRST_CHUNK, most_bytes // self.granule.size_bytes)
        means: list[float] = []
        # In order, nothing is merged or collected at the cost of each write.
        fast = float(np.quantile(self._in_order(), 0.25))
        written, chunk = IN_ORDER, FIRST_CHUNK
        while written < most:
            count = min(chunk, most - written)
            latencies = self.write(count, capacity)
            written += count
            fast = min(fast, float(np.quantile(latencies, 0.25)))
            means.append(float(latencies.mean()))
            slowed = means[-1] > SLOWED * fast
            if slowed and len(means) > 2 and abs(means[-1] / means[-2] - 1) < AGREE:
                return Settled(means[-1], True, written)
            chunk = round(chunk * GROWTH)
        return Settled(means[-1], means[-1] > SLOWED * fast, written)
