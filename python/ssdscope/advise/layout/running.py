"""Layouts on a simulated drive: merges, and the time that they take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdscope.advise.facts import MERGE, RMW, Facts
from ssdscope.advise.ground import Ground
from ssdscope.advise.layout.counting import Count, count
from ssdscope.advise.layout.requests import Requests, fitted
from ssdscope.advise.layout.steps import laid_out
from ssdscope.errors import UsageError
from ssdscope.targets.records import OP_WRITE

if TYPE_CHECKING:
    from ssdscope.targets import Device

MOST_RUN = 20_000
"""More requests take too long to simulate where each costs a merge."""
MERGES = ("switch", "partial", "full")


@dataclass(frozen=True)
class Outcome:
    """What a drive made of a layout.

    Attributes
    ----------
    elapsed_ns
        From the first request to the end of the last, one at a time.
    write_mean_ns
        Mean latency of writes.
    merges
        By kind; nothing if the drive does not count them.
    flash_bytes
        Programmed, merges and collection included; None if the drive does not count.
    """

    elapsed_ns: int
    write_mean_ns: float
    merges: Mapping[str, int]
    flash_bytes: int | None

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return vars(self) | {"merges": dict(self.merges)}


@dataclass(frozen=True)
class LayoutAdvice:
    """A trace laid out step by step.

    Attributes
    ----------
    page_bytes, block_bytes
        The RMW unit and, if there is one, the merge unit.
    counts
        By the name of the step (`steps.STEPS`).
    outcomes
        Likewise, on the twin; nothing without one.
    run_requests
        How many of the trace's requests were run there: the first ones.
    remark
        Why none were.
    """

    page_bytes: int
    block_bytes: int | None
    counts: dict[str, Count]
    outcomes: dict[str, Outcome]
    run_requests: int = 0
    remark: str | None = None

    def gains(self) -> dict[str, float]:
        """Give the time of the trace as it is over that of each layout."""
        if not self.outcomes:
            return {}
        first = next(iter(self.outcomes.values())).elapsed_ns
        return {name: first / each.elapsed_ns for name, each in self.outcomes.items()}

    def to_json(self) -> dict[str, Any]:
        """Write it as plain data."""
        gains = self.gains()
        return {
            "page_bytes": self.page_bytes,
            "block_bytes": self.block_bytes,
            "twin_remark": self.remark,
            "twin_requests": self.run_requests if self.outcomes else 0,
            "steps": [
                {
                    "name": name,
                    **counted.to_json(),
                    "twin": self.outcomes[name].to_json() if name in self.outcomes else None,
                    "gain": gains.get(name),
                }
                for name, counted in self.counts.items()
            ],
        }


def advise_layout(
    requests: Requests,
    facts: Facts,
    ground: Ground | str,
    *,
    page_bytes: int | None = None,
    block_bytes: int | None = None,
    fit: str = "refuse",
) -> LayoutAdvice:
    """Lay out the requests of a trace for a drive, count, and run every layout on its twin.

    Parameters
    ----------
    requests
        Of the trace.
    facts
        What is known of the drive.
    ground
        Its twin, or why there is none.
    page_bytes, block_bytes
        The RMW unit and the merge unit, where the user knows them.
    fit
        One of `requests.FITS`.

    Raises
    ------
    UsageError
        If the RMW unit is not known.
    TraceError
        If the trace does not fit the drive.
    """
    own = (page_bytes, block_bytes) == (None, None)
    if page_bytes is None:
        if (why := facts.why_not(RMW)) is not None:
            raise UsageError(
                f"no layout without the RMW unit. {why}",
                hint="--rmw-unit SIZE says it, if you know it",
            )
        page_bytes = facts.unit_bytes
    if block_bytes is None and facts.known(MERGE):
        block_bytes = facts.whole(MERGE)
    if block_bytes is not None and block_bytes % page_bytes:
        raise UsageError(
            f"a merge unit of {block_bytes:,} bytes is no multiple of an RMW unit of "
            f"{page_bytes:,}",
            hint="--rmw-unit and --merge-unit set them",
        )
    if facts.capacity_bytes:
        requests = fitted(requests, facts.capacity_bytes, fit)
    layouts = laid_out(requests, page_bytes, block_bytes)
    counts = {name: count(each, page_bytes, block_bytes) for name, each in layouts.items()}
    if isinstance(ground, Ground) and not own and not _as_detected(facts, page_bytes, block_bytes):
        ground = "its units are not those that were given"
    run_first = requests.first(MOST_RUN)
    shorter = layouts if run_first is requests else laid_out(run_first, page_bytes, block_bytes)
    outcomes, remark = _outcomes(shorter, ground)
    return LayoutAdvice(page_bytes, block_bytes, counts, outcomes, len(run_first), remark)


def _as_detected(facts: Facts, page_bytes: int, block_bytes: int | None) -> bool:
    """Say whether units are those that were detected, which the twin has."""
    page = facts.unit_bytes if facts.known(RMW) else None
    block = facts.whole(MERGE) if facts.known(MERGE) else None
    return (page_bytes, block_bytes) == (page, block)


def _outcomes(
    layouts: Mapping[str, Requests], ground: Ground | str
) -> tuple[dict[str, Outcome], str | None]:
    if isinstance(ground, str):
        return {}, ground
    if not ground.writes:
        return {}, f"the {ground.name} has no writes"
    capacity = ground.device.info.capacity_bytes
    if any(int(each.end_bytes.max()) > capacity for each in layouts.values()):
        return {}, "a layout does not fit the drive"
    sector = ground.device.info.logical_block_bytes
    for each in layouts.values():
        if (each.offset_bytes % sector).any() or (each.bytes % sector).any():
            return {}, f"requests are no whole sectors of {sector} bytes"
    return {name: run(ground.busy(), each) for name, each in layouts.items()}, None


def run(device: Device, requests: Requests) -> Outcome:
    """Run requests one after the other on a fork of a drive, which is left as it is."""
    device = device.fork()
    before = device.counters() or {}
    log = device.run_list(requests.op, requests.offset_bytes, requests.bytes)
    after = device.counters() or {}
    writes = log.op == OP_WRITE
    merged = {
        kind: after["merges"][kind] - before["merges"][kind] for kind in MERGES if "merges" in after
    }
    programmed = after.get("flash_bytes_programmed")
    return Outcome(
        int(log.complete_ns.max() - log.submit_ns.min()),
        float(log.latency_ns[writes].mean()),
        merged,
        None if programmed is None else programmed - before["flash_bytes_programmed"],
    )
