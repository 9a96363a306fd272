"""Which probes there are, and in what order they run: one line for each family of properties."""

from __future__ import annotations

from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from ssdscope.errors import UsageError, nearest
from ssdscope.findings.earlier_names import EARLIER_NAMES, current_name
from ssdscope.findings.families import FAMILIES
from ssdscope.probes.array import probe as array
from ssdscope.probes.buffer import probe as buffer
from ssdscope.probes.caches import probe as caches
from ssdscope.probes.collection import probe as collection
from ssdscope.probes.dies import probe as dies
from ssdscope.probes.disk import probe as disk
from ssdscope.probes.latency import probe as latency
from ssdscope.probes.mechanisms import hiding
from ssdscope.probes.merging import probe as merging
from ssdscope.probes.order import probe as order
from ssdscope.probes.region import probe as region
from ssdscope.probes.spare import probe as spare
from ssdscope.probes.table import probe as table
from ssdscope.probes.trim import probe as trim
from ssdscope.probes.types import probe as types
from ssdscope.probes.units import probe as units

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ssdscope.probes.budget import Budget
    from ssdscope.probes.info import ProbeInfo

__all__ = ["answering", "choose", "every"]

_PROBES: tuple[ProbeInfo, ...] = (
    # Each runs behind those that it needs; of what is left those that write nothing come first,
    # then those that share a state, then the heavy ones.
    disk.PROBE,
    array.PROBE,
    latency.PROBE,
    caches.PROBE,
    table.PROBE,
    buffer.PROBE,
    units.PROBE,
    merging.PROBE,
    region.PROBE,
    types.PROBE,
    dies.PROBE,
    trim.PROBE,
    order.PROBE,
    collection.PROBE,
    spare.PROBE,
)


def every() -> dict[str, ProbeInfo]:
    """All probes by name, in the order in which they run: each behind those it needs.

    Raises
    ------
    CycleError
        If probes need each other.
    """
    answered = answering()
    before = {
        probe.name: {name for each in _wanted(probe) for name in answered.get(each, ())}
        for probe in _PROBES
    }
    graph = TopologicalSorter({name: those - {name} for name, those in before.items()})
    graph.prepare()
    left, ready = {probe.name: probe for probe in _PROBES}, set[str]()
    order: dict[str, ProbeInfo] = {}
    while graph.is_active():
        ready |= set(graph.get_ready())
        name = next(each for each in left if each in ready)
        order[name] = left.pop(name)
        graph.done(name)
    return order


def _wanted(probe: ProbeInfo) -> tuple[str, ...]:
    """Give the properties that a probe had better know, and those that may hide its own."""
    return (*probe.needs, *(name for each in probe.properties for name in hiding(each)))


def choose(name: str, budget: Budget) -> list[ProbeInfo]:
    """Give the probe of a name, those that answer a property or a family, or all that may run.

    Of several it is those that the budget allows; if it allows none of them, all. Names of probes
    of earlier versions stand for what answers the same today.

    Raises
    ------
    UsageError
        If the name is unknown.
    """
    probes, current = every(), current_name(name)
    if name == "all":
        return _allowed(probes.values(), budget)
    if current in probes:
        return [probes[current]]
    wanted = set(FAMILIES.get(current, (current,)))
    chosen = [probe for probe in probes.values() if wanted & set(probe.properties)]
    if not chosen:
        known = [*probes, *answering(), *FAMILIES, *EARLIER_NAMES, "all", "list"]
        hint = nearest(name, known, listed_by="ssdscope probe list")
        raise UsageError(f"there is no probe, property or family {name!r}", hint=hint)
    return _allowed(chosen, budget) or chosen


def _allowed(probes: Iterable[ProbeInfo], budget: Budget) -> list[ProbeInfo]:
    return [probe for probe in probes if budget.heavy or probe.weight != "heavy"]


def answering() -> dict[str, list[str]]:
    """Give the names of the probes that answer each property, in the order in which they run."""
    told: dict[str, list[str]] = {}
    for probe in _PROBES:
        for name in probe.properties:
            told.setdefault(name, []).append(probe.name)
    return told
