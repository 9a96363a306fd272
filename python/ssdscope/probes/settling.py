"""Random overwriting until a drive has come to rest: collection or merging keeps up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Reason
from ssdscope.probes import pslc
from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import base_request_bytes, in_peace
from ssdscope.probes.gaps import between_bursts
from ssdscope.probes.overwriting import Granule, granule, latencies_ns, write_through

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

UNKNOWN_BYTES = 64 * 1024
"""Overwritten as one where the RMW unit is not known."""
IN_ORDER, FIRST_CHUNK, MOST_CHUNK, GROWTH = 16, 128, 8192, 1.5
PIECE, MOST_LOST = 32, 0.75
"""Written at once; and the share that others may disturb: what is left is enough for a mean."""
SLOWED = 1.25
"""Mean over that of the fastest chunk, from which on writes wait for collection."""
MERGING, MERGING_NS = 8.0, 8_000_000
"""Times what writes in order take, and nanoseconds: no mapping table explains it, merges do."""
KNOWN_MERGING = 0.5
"""Of both, where a merge unit was found before."""
TURNED_OVER_NS = 600_000_000_000
"""Written at most for that: as long as what follows is measured."""
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
    """Overwrites whole granules, of some least size, at random places of a drive.

    Parameters
    ----------
    least_bytes
        Of a granule.
    unknown_bytes
        Its size where the RMW unit is not known.
    """

    def __init__(
        self,
        bench: Bench,
        rng: np.random.Generator,
        least_bytes: int = 0,
        unknown_bytes: int = UNKNOWN_BYTES,
    ) -> None:
        self.bench = bench
        self.rng = rng
        known = granule(bench)
        small = max(base_request_bytes(bench.info), unknown_bytes)
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
        # To the flash: a buffer takes so few at once, and a full one none, in whatever order.
        return in_peace(self.bench, lambda: write_through(self.bench, places, size))

    def on_end(self, count: int, span_bytes: int) -> NDArray[np.float64]:
        """Overwrite without a pause, in which the drive might make room, whoever disturbs.

        Returns
        -------
        ndarray, shape (count,)
            Latencies, NaN where others disturbed.

        Raises
        ------
        Stopped
            If they always did.
        """
        size = self.granule.size_bytes

        def write(part: slice) -> NDArray[np.float64]:
            places = self.places(part.stop - part.start, span_bytes)
            return latencies_ns(self.bench.write(places, size))

        return between_bursts(
            self.bench, count, write, longest=PIECE, again=False, most_lost=MOST_LOST
        )

    def settle(self, most_bytes: int, *, turned_over: bool = False) -> Settled:
        """Overwrite everywhere: so much, or until merges, which settle at once, are steady.

        Slowing down is no reason to stop: a fast region that is full slows a drive too. Where there
        may be one, and no merge unit is known, slow writes may fold it, and all is written.

        Parameters
        ----------
        turned_over
            Whether log blocks are to hold only what was written since. They soon do if most writes
            merge; of shared ones few writes merge any, and all of it is written, if that does not
            take long.
        """
        capacity = self.bench.info.capacity_bytes
        most = max(2 * FIRST_CHUNK, most_bytes // self.granule.size_bytes)
        means: list[float] = []
        merging = max(MERGING * float(np.median(self._in_order())), MERGING_NS)
        merges = self.bench.found("merge_unit_bytes") is not None
        merging *= KNOWN_MERGING if merges else 1
        settles_at_once = merges or not pslc.seen(self.bench)
        written, chunk, spent_ns = IN_ORDER, FIRST_CHUNK, 0.0
        while written < most:
            count = min(chunk, most - written)
            written, chunk = written + count, min(round(chunk * GROWTH), MOST_CHUNK)
            try:
                latency = self.on_end(count, capacity)
            except Stopped as stop:
                if stop.reason is not Reason.INTERFERENCE:
                    raise
                continue
            latency = latency[~np.isnan(latency)]
            means.append(float(latency.mean()))
            rests = len(means) > 2 and abs(means[-1] / means[-2] - 1) < AGREE
            spent_ns += float(latency.sum())
            most_merge = float(np.median(latency)) > merging
            soon = not turned_over or most_merge or spent_ns > TURNED_OVER_NS
            if settles_at_once and rests and soon and means[-1] > merging:
                return Settled(means[-1], True, written)
        if not means:
            raise Stopped(Reason.INTERFERENCE)
        return Settled(means[-1], means[-1] > SLOWED * min(means), written)
