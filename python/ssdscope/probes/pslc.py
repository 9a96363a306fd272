"""What a region of one bit per cell, found or not ruled out, means to the probes that ask for it.

It goes with the last of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdscope.findings import Ambiguous, Detected, Reason, Undetectable

if TYPE_CHECKING:
    from ssdscope.probes.bench.ledger import Bench

SIZE = "pslc_bytes"

STILL_SLOW = 1.25
"""A stretch behind a flush alone takes so many times longer than one behind a pause."""
NOT_RULED_OUT = (
    Reason.MASKED,
    Reason.MODEL_MISFIT,
    Reason.PLP_NO_FLUSH_EFFECT,
    Reason.EFFECT_BELOW_NOISE,
    Reason.BUDGET_EXHAUSTED,
    Reason.INTERFERENCE,
)
"""Reasons that leave open whether there is a region; others say that nobody could look for one."""


def may_be_there(bench: Bench) -> bool:
    """Whether a region was found, or looked for and not ruled out."""
    known = bench.known.get(SIZE)
    if isinstance(known, Undetectable):
        return known.reason in NOT_RULED_OUT
    return isinstance(known, Ambiguous | Detected)


def may_be_behind_a_buffer(bench: Bench) -> bool:
    """Whether a protected buffer, which nothing passes, may hide a region."""
    known = bench.known.get(SIZE)
    return isinstance(known, Undetectable) and known.reason is Reason.PLP_NO_FLUSH_EFFECT


def seen(bench: Bench) -> bool:
    """Whether there is a region, though its size may not be known well enough to be told.

    Without a buffer nothing else is slow behind a flush where it was full, and fast behind a pause.
    """
    known = bench.known.get(SIZE)
    if not isinstance(known, Undetectable):
        return isinstance(known, Detected)
    return bool(known.evidence.figures.get("flushed_over_rested", 0.0) >= STILL_SLOW)
