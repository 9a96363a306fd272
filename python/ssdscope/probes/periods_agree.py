"""Periods of two places that were written again and again, held against each other.

They agree within 2 %, or one write. Of waits that noise hides one in so many may be left, and none
are added: so one may be two to four times the other, which is told then of a merge unit, or where
addresses decide on the plane. If not, they are the candidates, unless they are what a known merge
unit looks like, seen by writes that are padded. Where waits of two to four lengths take turns (p <
1e-4), each may be another plane's: the period may be as many times as long, and both are
candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import (
    Ambiguous,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Finding,
    Reason,
    Recurrence,
    Undetectable,
    series,
)
from ssdscope.probes.discipline import cautions
from ssdscope.probes.slow_periods import SHORT, folded, taking_turns
from ssdscope.probes.slow_writes import relative

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope import stats
    from ssdscope.probes.bench import Bench
    from ssdscope.probes.overwriting import Granule

NAME = "gc_period"
PERIOD = "gc_period_bytes"

LEAST_FITS = 10
"""Requests, of which a period is found in whole ones, that must make it where nothing else says
how long it is."""
SHORT_RISE = 0.3
"""Times the usual latency, that a wait in such a period adds."""
AGREE, MOST_TIMES, OFTEN = 0.02, 4, 0.5
"""Apart at most, two places are alike; and so many times the other's, where waits are missed, and
so many of those that are slow at the other return."""
MOST_PADDED_BYTES = 128 * 1024
"""Two RMW units of the largest usual size, which a write lies across."""


@dataclass(frozen=True)
class Measured:
    """One place written again and again.

    Attributes
    ----------
    period
        In writes; None if none showed.
    latencies_ns
        Of every write, shape (n,).
    size_bytes
        Of a write.
    """

    period: stats.Recurrence | None
    latencies_ns: NDArray[np.float64]
    size_bytes: int

    @cached_property
    def slow(self) -> NDArray[np.float64]:
        """Latencies over the usual ones."""
        return relative(self.latencies_ns)

    @property
    def period_bytes(self) -> float | None:
        """What is written in a period."""
        return None if self.period is None else float(self.period.period * self.size_bytes)


def judged(bench: Bench, unit: Granule, found: list[Measured]) -> Finding:
    """Answer from what both places show, or from the first if no period shows there."""
    periods = [each.period for each in found if each.period is not None]
    common: dict[str, Any] = {"name": PERIOD, "probe": NAME}
    common["evidence"] = evidence = _evidence(bench, unit, found, periods)
    if any(each.period is None for each in found):
        buffered = bench.info.write_cache.control not in ("absent", "switchable")
        common["evidence"] = evidence.saying(
            "slow writes do not come back regularly at both places"
        )
        why = Reason.WRITE_ACKED_FROM_BUFFER if buffered else Reason.EFFECT_BELOW_NOISE
        return Undetectable(reason=why, **common)
    sizes = [each.period_bytes for each in found if each.period_bytes is not None]
    common["evidence"] = evidence = evidence.showing(_folded(found[0].slow, periods[0], unit))
    step = float(found[0].size_bytes)
    apart = abs(sizes[1] - sizes[0]) > max(AGREE * min(sizes), float(found[1].size_bytes))
    merge = float(bench.found("merge_unit_bytes") or 0)
    lesser = periods[int(np.argmin(sizes))]
    missed = lesser.share >= OFTEN and waits_were_missed(sizes)
    # Of planes that are collected in turn each may have its own, where the order of writes decides.
    in_turn = bench.found("allocation") != "address" and found[0].size_bytes == unit.size_bytes
    lone = merge == min(sizes) if merge else not in_turn
    if apart and unit.exact and lone and missed:
        sizes, apart = [min(sizes)], False
    if apart and merge and not unit.exact and padded_to(sizes, merge, unit):
        sizes, apart = [merge, merge], False
    if apart and not unit.exact:
        said = "the RMW unit is not known, and padding would count as data"
        common["evidence"] = evidence.saying(said)
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    if apart and missed:
        return Ambiguous(
            candidates=tuple(sorted(sizes)),
            reason="one place misses waits, or takes turns",
            **common,
        )
    if apart:
        common["evidence"] = evidence.saying("two places have different periods")
        return Undetectable(reason=Reason.MODEL_MISFIT, **common)
    value = sum(sizes) / len(sizes)
    shallow = any(_shallow(each) for each in found)
    if (value < LEAST_FITS * step or shallow) and value != merge:
        said = "so few writes in turn are slow for other reasons, too"
        common["evidence"] = evidence.saying(said)
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    turns = max(taking_turns(each.slow, each.period.period) for each in found if each.period)
    if turns > 1 and value != merge:
        return Ambiguous(
            candidates=(value, turns * value),
            reason=f"waits of {turns} lengths take turns, as where planes are collected in turn",
            **common,
        )
    effect = _effect(found[0].slow, periods[0].period)
    return Detected(
        value=value, interval=(min(sizes) - step, max(sizes) + step), effect=effect, **common
    )


def _evidence(
    bench: Bench, unit: Granule, found: list[Measured], periods: list[stats.Recurrence]
) -> Evidence:
    return Evidence(
        figures={
            "unit_bytes": unit.size_bytes,
            "periods_writes": [each.period for each in periods],
            "returning_share": [each.share for each in periods],
            "p_values": [each.p_value for each in periods],
            "writes": sum(each.latencies_ns.size for each in found),
        },
        cautions=tuple(cautions(bench.info)),
    )


def _shallow(found: Measured) -> bool:
    """Tell whether a period is short, and hardly any of its writes takes longer than the others."""
    if found.period is None or found.period.period >= SHORT:
        return False
    return _effect(found.slow, found.period.period) < SHORT_RISE


def waits_were_missed(sizes: list[float]) -> bool:
    """Tell whether of one place's waits only every other is seen at another, or one in a few."""
    times = round(max(sizes) / min(sizes))
    off = abs(max(sizes) - times * min(sizes))
    return 2 <= times <= MOST_TIMES and off <= AGREE * max(sizes)


def padded_to(sizes: list[float], merge_bytes: float, unit: Granule) -> bool:
    """Tell whether a log block is what is filled, though two places do not show it alike.

    Writes take whole RMW units, up to the largest there are, which are not known: then the unit
    that merges have shown is so many times what was written.
    """
    times = [merge_bytes / each for each in sizes]
    most = MOST_PADDED_BYTES / unit.size_bytes
    return all(each == round(each) and 1 <= each <= most for each in times)


def _effect(slow: NDArray[np.float64], period: int) -> float:
    return float(folded(slow, period).max() - 1)


def _folded(slow: NDArray[np.float64], found: stats.Recurrence, unit: Granule) -> Exhibit:
    period = found.period
    profile = folded(slow, period)
    step = max(1, period // 500)
    kept = profile[: period // step * step].reshape(-1, step).max(axis=1)
    every = float(period * unit.size_bytes)
    return Exhibit(
        name="one-place-folded",
        title="One place written again and again, laid over itself at the period",
        caption=f"Of each write in {period}, the median of ten rounds, over the usual latency.",
        x=Axis("written since the period began", "bytes"),
        y=Axis("times the usual latency"),
        series=(series("writes", np.arange(kept.size) * step * unit.size_bytes, kept, "steps"),),
        fitted=(Recurrence(every=every, word="again", share=found.share, p_value=found.p_value),),
    )
