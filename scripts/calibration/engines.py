"""Each engine on a typical series, with an effect of a known size, or none at all.

From the evidence that it then finds come the levels, and the figures of docs/inference.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from scripts.calibration.of_families import OF_FAMILIES
from scripts.calibration.shared import SHARED, Calibrated

from ssdscope.seeds import stream

__all__ = ["ENGINES", "IS_ONE", "evidence"]

ENGINES: dict[str, Calibrated] = {**SHARED, **OF_FAMILIES}
"""Every engine that decides, by the name of its level."""
IS_ONE = {
    ("step", "a step"),
    ("filled", "a step"),
    ("bursts", "a step"),
    ("step of rare waits", "a step"),
    ("step at a place", "drift"),
    ("recurrence", "even waits"),
    ("in step", "even waits"),
}
"""No nulls of these engines: there they look for just that, or are given values without it."""


def evidence(engine: str, kind: str, effect: float, count: int, seed: int) -> Iterator[float]:
    """Return the evidence of an engine in so many series: the lesser of score and margin."""
    measured = ENGINES[engine].measured
    for number in range(count):
        yield measured(kind, effect, stream((seed, number), f"inference.calibrate {engine} {kind}"))
