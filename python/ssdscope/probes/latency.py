"""The probe `latency`: what a read costs per request and per byte, and how deep to queue.

Writes nothing, works on any drive, takes a second or two on a simulated one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdscope.probes import depth_sweep, size_sweep
from ssdscope.probes.info import ProbeInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdscope.findings import Finding
    from ssdscope.probes.bench import Bench


def detect(bench: Bench) -> Iterator[Finding]:
    """Measure both sweeps and answer three properties."""
    rng = bench.rng("latency")
    yield from size_sweep.detect(bench, rng)
    yield from depth_sweep.detect(bench, rng)


PROBE = ProbeInfo(
    name="latency",
    summary="read latency per request (alpha) and per byte (beta), and the queue-depth knee",
    weight="light",
    properties=(size_sweep.ALPHA, size_sweep.BETA, depth_sweep.KNEE),
    cost="0.3 to 1.4 million reads, on a slow drive fewer",
    least_bytes=0,
    detect=detect,
)
