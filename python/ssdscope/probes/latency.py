"""The probe `latency`: what a read costs per request and per byte, and how deep to queue.

Writes nothing, works on any drive, takes a second on a simulated one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ssdscope.probes import depth_sweep, size_sweep
from ssdscope.probes.info import ProbeInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdscope.probes.budget import Budget, StageProgress
    from ssdscope.probes.finding import Finding
    from ssdscope.targets.device import Device


def detect(device: Device, budget: Budget, seed: int, progress: StageProgress) -> Iterator[Finding]:
    """Measure both sweeps and answer three properties."""
    rng = np.random.default_rng([seed, 0x1A7E])
    yield from size_sweep.detect(
        device, budget, rng, lambda stage, share: progress(stage, share / 2)
    )
    yield from depth_sweep.detect(
        device, budget, rng, lambda stage, share: progress(stage, 0.5 + share / 2)
    )


PROBE = ProbeInfo(
    name="latency",
    summary="read latency per request (alpha) and per byte (beta), and the queue-depth knee",
    weight="light",
    properties=(size_sweep.ALPHA, size_sweep.BETA, depth_sweep.KNEE),
    declared_writes_bytes=lambda _info: 0,
    detect=detect,
)
