"""The only thresholds: how much evidence an answer takes, and how little an effect may be.

Each says where it comes from. Those that `calibrate` measures are held against it by a test.
"""

from __future__ import annotations

__all__ = ["APART", "FOUND", "INTERVAL_DROP", "LEAST_EFFECT", "SPLIT_LEAST", "TOLD"]

SPLIT_LEAST = 8
"""Values on either side of a split, at least: of fewer no share can be told."""

INTERVAL_DROP = 3.0
"""Places are in an interval of 95 % if their log likelihood is no further below that of the best.
A place is one of few and its likelihood no parabola, so that 1.92 would not do; measured by
`calibrate.covered`."""

FOUND: dict[str, float] = {
    "step": 30.0,
    "step of rare waits": 30.0,
    "step at a place": 12.0,
    "period": 10.0,
    "recurrence": 30.0,
    "contrast": 10.0,
    "partition": 10.0,
    "cells": 10.0,
    "ending": 10.0,
    "saturation": 10.0,
}
"""The evidence that it takes to say that something is there, by engine: a log likelihood ratio, or
minus the logarithm of a probability. Above what any of six nulls comes to once in hundreds of
series (`calibrate`; the table is in docs/inference.md). Engines that weigh bursts by their scatter
have a longer tail, and need more."""

APART = 7.0
"""By how much, in log likelihood, an answer must beat each rival: a thousand to one."""

LEAST_EFFECT = 0.03
"""Of the time that a request takes: what makes less of a difference nobody notices."""

TOLD = 1.0
"""Times the tolerance of a property, that an interval may reach to either side of its value: a
value that may be further off is not told."""
