"""Reading when nobody else is at work on the drive, nor the drive at what others have asked of it.

What others write may keep a drive busy long after they have gone: a few small writes can have log
blocks merged for seconds. That shows in no count of bytes. So reads of single blocks at random
places, taken after each visit of others, must be about as fast as they ever were; until then the
drive is left to its work. On a drive that nobody else uses nothing is read or waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ssdscope.findings import Reason
from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import WAITS_NS, base_request_bytes, in_peace, random_offsets

if TYPE_CHECKING:
    from ssdscope.probes.bench import Bench

CONTROLS = 64
FASTER_SHARE = 0.9
"""Of the control reads, whose mean counts: without spikes, but with those that meet other work."""
USUAL_EXCESS = 1.3
"""Times the least mean: drift and chance come to less."""
FIRST_LOOKS = 6
RESTS_NS = tuple(250_000_000 << doubled for doubled in (0, 0, 1, 1, 2, 2, 3, 3))
TRIES = 4
"""Of a measurement that others come across, however little they move."""

T = TypeVar("T")


class Calm:
    """Waits for the drive to be alone and idle."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._rng = bench.rng("calm")
        self._least_ns = np.inf
        self._seen = bench.foreign

    def measured(self, call: Callable[[], T], waits_ns: Sequence[int] = WAITS_NS) -> T:
        """Measure what nobody comes across, if that can be in a few tries.

        Raises
        ------
        Stopped
            If others keep the drive busy, or for another reason.
        """
        for _ in range(TRIES):
            self._wait()
            before = self._bench.foreign
            result = in_peace(self._bench, call, waits_ns=waits_ns)
            if self._bench.foreign == before:
                break
        return result

    def _wait(self) -> None:
        """Leave the drive alone until control reads are fast, if others have used it since."""
        if self._bench.foreign == self._seen:
            return
        if not np.isfinite(self._least_ns):
            for rest_ns in RESTS_NS[:FIRST_LOOKS]:
                self._least_ns = min(self._least_ns, self._control_ns())
                self._bench.idle(rest_ns)
        for rest_ns in RESTS_NS:
            now_ns = self._control_ns()
            self._least_ns = min(self._least_ns, now_ns)
            if now_ns <= USUAL_EXCESS * self._least_ns:
                break
            self._bench.idle(rest_ns)
        self._seen = self._bench.foreign

    def _control_ns(self) -> float:
        """Give the mean time of single reads; infinite if others disturb them."""
        lengths = np.full(CONTROLS, base_request_bytes(self._bench.info), np.uint64)
        offsets = random_offsets(self._rng, self._bench.info.capacity_bytes, lengths)
        try:
            latency = np.sort(self._bench.read(offsets, lengths).latency_ns)
        except Stopped as stop:
            if stop.reason is not Reason.INTERFERENCE:
                raise
            return float(np.inf)
        return float(latency[: int(FASTER_SHARE * CONTROLS)].mean())
