"""Truths that no formula gives: measured on the undisturbed twin.

What a mechanism comes to (how much may be overwritten before collection, how long a read takes)
follows from all keys together, so the twin is asked.
"""

from dataclasses import replace
from functools import cached_property

from ssdscope.recovery import reference_bursts as bursts
from ssdscope.recovery import reference_reads as reads
from ssdscope.recovery import reference_writes as writes
from ssdscope.recovery.generator import Drawn
from ssdscope.recovery.reference_curves import DEPTH_MOST, Latencies, Line, Rates, latencies
from ssdscope.recovery.shape import Values, answers_for_flash, number
from ssdscope.recovery.truth import ABSENT, NO_ONE, Truth, configured, page_types
from ssdscope.recovery.twin import Twin

SPARE_SHOWS = 0.01
AMPLIFIED_FROM = 1.05
TRIM_SHOWS = 0.03
LINE_MISSES_MOST = 0.10
PLATEAU_FROM = DEPTH_MOST * 3 // 4


class Case:
    """A drawn drive with everything that is true of it.

    Parameters
    ----------
    drawn
        The drive.
    """

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn
        self.twin = Twin(drawn)
        self.values: Values = {**drawn.values, **drawn.disturbance}

    @cached_property
    def truths(self) -> dict[str, Truth]:
        """All truths by property."""
        known = configured(self.drawn.values, self.twin.shape)
        amplified = self.amplification >= AMPLIFIED_FROM
        return known | {
            "page_types": page_types(self.drawn.filed()),
            "gc_period_bytes": self._period(known["gc_period_bytes"]),
            "over_provisioning_ratio": self._spare(),
            "gc_write_amplification": Truth(self.amplification, present=amplified),
            "trim_effect": Truth(self.trimmed, present=self.trimmed >= TRIM_SHOWS),
            "read_latency_alpha_ns": self._of_line(self.line.alpha_ns),
            "read_latency_beta_ns_per_byte": self._of_line(self.line.beta_ns_per_byte),
            "queue_depth_knee": self._knee(),
        }

    @cached_property
    def order_effect(self) -> reads.OrderEffect:
        """What the order of writing does to large reads."""
        return reads.order(self.twin)

    @cached_property
    def order_effect_by_order(self) -> reads.OrderEffect:
        """What it would do if the drive placed by order: what "address" is held against."""
        return reads.order(self.twin.by_order)

    @cached_property
    def overwritten(self) -> writes.Overwritten:
        """What may be overwritten before collection, and before it shows; how much slower then."""
        found = writes.overwritten(self.twin)
        values = self.drawn.values
        if values["ftl.kind"] != "page" or not answers_for_flash(values):
            return found
        # Single writes may end in the buffer whatever is collected behind it.
        deep = writes.overwritten(Twin(self.drawn), bursts.DEPTH)
        return replace(found, shown=found.share + deep.shown - deep.share, contrast=deep.contrast)

    @cached_property
    def amplification(self) -> float:
        """Write amplification of uniform overwrites."""
        return writes.amplification(self.twin)

    @cached_property
    def trimmed(self) -> float:
        """What discarding half of the drive gains random writes."""
        return writes.trimmed(self.twin)

    @cached_property
    def latencies(self) -> Latencies:
        """Mean latencies of random reads by size."""
        return latencies(self.twin)

    @cached_property
    def line(self) -> Line:
        """The line through all of them."""
        return self.latencies.line()

    @cached_property
    def rates(self) -> Rates:
        """Rates of random reads by queue depth."""
        return Rates(self.twin)

    @cached_property
    def noisy_knee(self) -> int:
        """The knee with noise and spikes, which lengthen a closed loop."""
        return Rates(Twin(self.drawn, noisy=True)).knee

    @cached_property
    def turns(self) -> int:
        """In how many turns the planes are collected that are filled together."""
        values = self.drawn.values
        by_order = values["ftl.kind"] == "page" and values.get("ftl.allocation") == "order"
        if number(values, "pslc.bytes") or not by_order:
            return 1
        by = bursts if answers_for_flash(values) else writes
        return int(by.collected_apart(self.twin))

    def _period(self, filled: Truth) -> Truth:
        """Give what is filled between two collections; no one value if its parts are in turn."""
        return filled if self.turns == 1 else NO_ONE

    def _spare(self) -> Truth:
        share = self.overwritten.share
        return Truth(share, present=share >= SPARE_SHOWS)

    def _knee(self) -> Truth:
        """Give the knee, if the rate does not still rise where the queues end."""
        knee = self.rates.knee
        return ABSENT if knee > PLATEAU_FROM else Truth(knee, present=knee > 1)

    def _of_line(self, coefficient: float) -> Truth:
        """Give a coefficient, if the latencies are a line that has it."""
        straight = self.line.missed <= LINE_MISSES_MOST
        return Truth(coefficient) if straight and coefficient > 0 else ABSENT
