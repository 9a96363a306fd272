"""Runs plans on a drive: its state, its caches, its other users, and the record of it all."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ssdscope.probes.bench.discipline import in_peace

if TYPE_CHECKING:
    from ssdscope.inference.series import Series
    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.probes.plan import Plan

__all__ = ["run"]


def run(bench: Bench, plan: Plan) -> Series:
    """Bring the drive into the state of a plan, and measure what it asks.

    Raises
    ------
    Stopped
        If others keep the drive busy, requests fail, or the allowance does not reach.
    """

    def begin() -> None:
        if plan.state is not None:
            bench.enter(plan.state)

    begin()
    measure = partial(plan.measure, bench, bench.rng(repr(plan)))
    whole_bytes = plan.writes_bytes(bench.info) if plan.whole else 0
    caches = bench.without_caches(write=not plan.write_cache, read=not plan.read_cache)
    with caches, bench.foreseen(whole_bytes):
        return in_peace(bench, measure, undo=begin)
