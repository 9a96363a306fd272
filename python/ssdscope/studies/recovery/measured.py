"""Truths that no formula gives: measured on the undisturbed twin, then disturbed by formula.

What a mechanism comes to (how much may be overwritten before collection, how long a read takes)
follows from all keys together, so the twin is asked.
"""

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ssdscope.studies.recovery import reference_reads as reads
from ssdscope.studies.recovery import reference_writes as writes
from ssdscope.studies.recovery.generator import Drawn
from ssdscope.studies.recovery.shape import number
from ssdscope.studies.recovery.truth import ABSENT, Truth, configured
from ssdscope.studies.recovery.twin import Twin

ORDER_FAINT, ORDER_SHOWS, ORDER_CLEAR = 0.02, 0.03, 0.10
"""Shares of a reading time: what no measurement tells from the next, what shows, what is clear."""
SPARE_SHOWS = 0.01
AMPLIFIED_FROM = 1.05
DEPTH_GAINS = 0.10
TRIM_SHOWS = 0.03
OTHERS_WROTE = ((32, 12_500), (256, 1_562), (96, 32))
"""Writes, after which a table on demand lies where they have left it: a page, or all of it; and how
many reads there are behind each: such that drive out what it changed, or few."""


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

    @cached_property
    def truths(self) -> dict[str, Truth]:
        """All truths by property."""
        known = configured(self.drawn.values, self.twin.shape)
        lines = [reads.latency_line(each)[:2] for each in (self.noisy, *self.others_wrote)]
        alpha, beta = (_any_of([line[index] for line in lines]) for index in (0, 1))
        return known | {
            "allocation": self._allocation(),
            "reclaim_unit_bytes": self._or_in_turn(known["reclaim_unit_bytes"]),
            "gc_period_bytes": self._or_in_turn(known["gc_period_bytes"]),
            "over_provisioning_ratio": self._spare(),
            "gc_write_amplification": self._amplified(),
            "trim_effect": Truth(self.trim_effect) if self.trim_effect >= TRIM_SHOWS else ABSENT,
            "read_latency_alpha_ns": self._disturbed(alpha),
            "read_latency_beta_ns_per_byte": self._disturbed(beta),
            "queue_depth_knee": self._knee(),
        }

    @cached_property
    def noisy(self) -> Twin:
        """The twin with noise and spikes after all."""
        return Twin(self.drawn, noisy=True)

    @cached_property
    def others_wrote(self) -> tuple[Twin, ...]:
        """The noisy twin as others leave it, whose writes move pages of a table on demand.

        Reads meet these on other dies then, or in faster cells.
        """
        writes = float(self.drawn.disturbance.get("disturbance.foreign_write_ratio", 0.0)) > 0
        if not writes or self.drawn.values.get("map.kind") != "demand":
            return ()
        return tuple(Twin(self.drawn, noisy=True, others_wrote=count) for count in OTHERS_WROTE)

    @cached_property
    def order_effect(self) -> reads.OrderEffect:
        """What the order of writing does to large reads."""
        return reads.order(self.twin)

    @cached_property
    def line(self) -> tuple[Truth, Truth, float]:
        """Alpha, beta, and the lesser share of them."""
        return reads.latency_line(self.twin)

    @cached_property
    def overwritten(self) -> writes.Overwritten:
        """What may be overwritten before collection, and before it shows; how much slower then."""
        return writes.overwritten(self.twin)

    @cached_property
    def amplification(self) -> float:
        """Write amplification of uniform overwrites."""
        return writes.amplification(self.twin)

    @cached_property
    def trim_effect(self) -> float:
        """What discarding half of the drive gains random writes."""
        return writes.trimmed(self.twin)

    @cached_property
    def depths(self) -> NDArray[np.float64]:
        """Rates of the undisturbed twin by queue depth."""
        return reads.depth_rates(self.twin)

    @cached_property
    def noisy_depths(self) -> list[NDArray[np.float64]]:
        """Rates by queue depth with noise and spikes: as opened, and as others leave the drive."""
        return [reads.depth_rates(each) for each in (self.noisy, *self.others_wrote)]

    def _allocation(self) -> Truth:
        """Give the effect of order; log blocks have one though addresses choose the place.

        A small one differs from region to region: there what the drive file says is right, too, and
        both answers where the regions one way show it and the other way do not; or where it shows
        once a protected buffer is taken away, which no force passes, and which sorts what it holds.
        """
        effect = self.order_effect
        if self.drawn.values["ftl.kind"] == "log-block":
            return Truth("address", ("order",) if effect.least >= ORDER_SHOWS else ())
        if effect.least < ORDER_SHOWS and effect.mean >= ORDER_FAINT:
            return Truth("order", ("address",))
        configured = str(self.drawn.values.get("ftl.allocation", "address"))
        also = [configured] if effect.least < ORDER_CLEAR else []
        if effect.mean >= ORDER_SHOWS:
            return Truth("order", tuple(also))
        bare = self.twin.unprotected
        if bare is not self.twin and reads.order(bare).mean >= ORDER_SHOWS:
            also.append("order")
        return Truth("address", tuple(also))

    @cached_property
    def _turns(self) -> int:
        """In how many turns the planes are collected that are filled together."""
        values = self.drawn.values
        by_order = values["ftl.kind"] == "page" and values.get("ftl.allocation") == "order"
        if number(values, "pslc.bytes") or not by_order:
            return 1
        return writes.collected_apart(self.twin)

    def _or_in_turn(self, span: Truth) -> Truth:
        """Add what is collected as one, of a drive that collects planes in turn."""
        if self._turns == 1:
            return span
        return Truth(span.value, (self.twin.shape.span_bytes // self._turns,))

    def _spare(self) -> Truth:
        share, shown = self.overwritten.share, self.overwritten.shown
        values, shape = self.drawn.values, self.twin.shape
        if share < SPARE_SHOWS and not number(values, "pslc.bytes"):
            return ABSENT
        if not number(values, "pslc.bytes"):
            return Truth(share, shown)
        nominal = float(values["over_provisioning_ratio"])
        taken = number(values, "pslc.bytes") * number(values, "nand.bits_per_cell", 1)
        return Truth(share, (nominal - taken / shape.capacity_bytes, nominal))

    def _amplified(self) -> Truth:
        return Truth(self.amplification) if self.amplification >= AMPLIFIED_FROM else ABSENT

    @property
    def _drift(self) -> float:
        return float(self.drawn.disturbance.get("disturbance.drift_ratio", 0.0))

    def _disturbed(self, latency: Truth) -> Truth:
        """Give a latency at the low and the high of a drift; noise and spikes are in it."""
        if not isinstance(latency.value, float) or latency.value <= 0:
            return ABSENT
        also = [float(each) for each in (latency.value, *latency.also)]
        drifted = (each * (1 + self._drift) for each in also)
        return Truth(latency.value * (1 + self._drift / 2), (*also, *drifted))

    def _knee(self) -> Truth:
        """Give the knee with and without noise and drift: longer requests make it deeper.

        They also make depth gain more: what makes one request wait occupies no part of the drive.
        """
        curves = [self.depths, *self.noisy_depths]
        if self._drift:
            curves.append(reads.depth_rates(Twin(self.drawn, crest=True)))
        gains = [reads.depth_gain(rates) for rates in curves]
        if max(gains) < DEPTH_GAINS or min(reads.knees(self.depths)) > reads.DEPTHS[-2]:
            return ABSENT
        knees = [knee for rates in curves for knee in reads.knees(rates)]
        return Truth(math.sqrt(min(knees) * max(knees)), (min(knees), max(knees)))


def _any_of(latencies: list[Truth]) -> Truth:
    """Give the first, if there is one, with all others as true as it."""
    first, *others = latencies
    if first.value is None:
        return first
    more = [each for other in others for each in (other.value, *other.also) if each is not None]
    return Truth(first.value, (*first.also, *more))
