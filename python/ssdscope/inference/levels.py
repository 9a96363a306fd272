"""The only thresholds: how much evidence an answer takes, and how little an effect may be.

Each says where it comes from. Those that `scripts.calibration` measures are held against it
by a test.
"""

from __future__ import annotations

SPLIT_LEAST = 8
"""Values on either side of a split, at least: of fewer no share can be told."""

NORMAL = 1.96
"""Standard errors on either side of an interval of 95 %."""

ONE_SIDED = 1.645
"""Standard errors, for 95 % on one side."""

ENDS = (0.025, 0.975)
"""Shares of what may be below either end of it."""

QUARTILES = (0.25, 0.75)
"""Shares below the ends of the middle half, which the other half may be anything beside."""

NEGLIGIBLE = 1e-12
"""A share that is as good as none."""

INTERVAL_DROP = 3.0
"""Places are in an interval of 95 % if their log likelihood is no further below that of the best.
A place is one of few and its likelihood no parabola, so that 1.92 would not do."""

APART = 7.0
"""By how much, in log likelihood, an answer must beat each rival: a thousand to one."""

FOUND: dict[str, float] = {
    "step": 30.0,
    "step of rare waits": 30.0,
    "step at a place": 12.0,
    "period": 10.0,
    "scan": 10.0,
    "multiples": 10.0,
    "recurrence": 30.0,
    "in step": 30.0,
    "bursts": 20.0,
    "contrast": 10.0,
    "signed": APART,
    "cells": 10.0,
    "places": 10.0,
    "partition": 10.0,
    "halves": APART,
    "common length": 10.0,
    "onset": 10.0,
    "ending": 10.0,
    "line": 10.0,
    "saturation": 10.0,
    "turn": 30.0,
    "no turn": 10.0,
    "beneath": 10.0,
    "tracks": 10.0,
    "held": 10.0,
    "locked": 10.0,
    "filled": 10.0,
    "members": 10.0,
    "members apart": 10.0,
    "kinds": 10.0,
    "moved": 10.0,
}
"""The evidence that it takes to say that something is there, by engine: a log likelihood ratio, or
minus the logarithm of a probability. Above what any of six nulls comes to once in hundreds of
series (the table in docs/inference.md, made by `scripts.calibration`). Engines that weigh bursts by
their scatter have a longer tail, and need more. Where an engine only holds an answer against its
rivals, it is `APART`."""

LEAST_EFFECT = 0.03
"""Of the time that a request takes: what makes less of a difference nobody notices."""

TOLD = 1.0
"""Times the tolerance of a property, that an interval may reach to either side of its value: a
value that may be further off is not told."""

BEGUN = 15.0
"""Likewise of where something begins that is known to be there: it begins gently, and what is seen
before is more likely that than chance."""

NOTICED = 0.1
"""Of the time that a request takes: what a host notices. Where collection makes less of a
difference it may go on beside the writes, and have begun before (docs/observability.md)."""

SOONER = 2 / 3
"""Times the place where writes begin to wait for collection: from there on all of them may take a
little longer."""

RARER = 0.1
"""Times as often as behind a step, values as large as there may be before it: else it came
before, went and came again, as where all planes collect together."""

PLACE_ERROR = 0.04
"""Of a place from which on collection is waited for, beyond its scatter: blocks are whole, and each
plane has its own. Measured on 60 drawn drives."""

COURSE_ERROR = 0.03
"""Of the logarithm of an amplification, beyond scatter, as a standard deviation: what theory is off
by. Measured on 35 drawn drives, 34 of which were off by less than 10 %."""

CHOOSES = 0.15
"""Of the rise that uniform overwrites have, where whole blocks are stale: a drive that chooses its
victims had 0.10 at most of 34 drawn drives, one that draws them blindly 0.18 and more of 10."""

NEXT_TO_NONE = 0.01
"""Of the capacity: less spare space is none (docs/observability.md)."""

ERASES = 0.35
"""Of the time that a write takes: what erases alone, which a drive that collects in pauses is then
spared, may add to it. A third of a block's programs, at most, of all chips that are drawn."""

HERE_AND_THERE = 0.2
"""Of values, that are on the wrong side where there is no one side: a fifth. One that is misread
now and then has a thirtieth."""
