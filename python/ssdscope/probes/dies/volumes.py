"""Volumes: bits of the address that choose between halves of the dies.

Question
    Where a bit of the address chooses between halves of the dies, places on one die never differ
    in it, and with the bit fixed reads reach only half of the dies (SSDcheck's allocation
    volumes). Only what the address decides counts, and not how the last fill laid data out.
Plan
    Places that are sorted by die already (`dies`). Within an RMW unit the address decides in any
    case. If bits above it seem to choose, places are drawn that are written first, in random order,
    and sorted again (`Rewritten`): what the order of writing had laid out is gone then. Where log
    blocks are merged, units change their places: there two merge units are sorted, each by itself.
Engine
    `halves`: of places on a die, what share has the bit set. The bit chooses if that is at least a
    quarter from a half (so that its load is half as much again), against that it is less.
Cannot tell
    Bits that sizes which are no powers of two spread over several: these lie in between. That there
    are none: that would take thousands of places. What a buffer keeps that no flush empties.
Cost
    As much again as the dies; for bits above an RMW unit the same, and a unit written for each
    place, and twice what a buffer or a region of one bit per cell holds: an eighth of the drive
    at most.
Source
    PROBING.md 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Axis, Evidence, Exhibit, Finding, Partition, Reason, series
from ssdscope.inference.levels import APART
from ssdscope.inference.series import Series, Weighed, nothing
from ssdscope.probes.bench.discipline import cautions
from ssdscope.probes.dies.halves import halves
from ssdscope.probes.dies.sorting import Sorted, plenty, sizes_of, sort, sorted_by
from ssdscope.probes.plan import SETTLE_NS, Ask, Plan
from ssdscope.probes.shared.at_once import Kept, Pairs
from ssdscope.probes.verdict import detected, refused
from ssdscope.targets.records import OP_FLUSH, DeviceInfo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

BITS = "internal_volume_bits"
SHOWN = "same-die-by-bit"
LEAST_PAGE_BYTES = 2048
HALF = 0.5
"""How far a bit parts the dies that leaves half as much work again to those that it chooses."""
LEAST_OFTEN = 0.2
"""Of all places that have a bit set, or not, for it to be told."""


KEEPERS = ("write_buffer_bytes", "pslc_bytes")
"""What may keep units from where they are to lie."""
PUSHING_BYTES = 128 << 10
"""Of a write that pushes others out."""
MOST_SHARE = 8
"""Of a drive no more than this part of it is written for places and for what pushes them out."""


@dataclass(frozen=True, kw_only=True)
class Rewritten(Pairs):
    """The same, of places whose units are written before in random order.

    Others are written then, as many bytes as push these out of a buffer, or out of a region of one
    bit per cell.
    """

    unit: int
    phase: int
    pushing: int

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Write, let the drive settle, and pair the places."""
        places = self.drawn(bench, rng)
        begins = (rng.permutation(places) + self.phase) // self.unit * self.unit - self.phase
        whole = bench.info.capacity_bytes
        bench.write(
            begins[(begins >= 0) & (begins + self.unit <= whole)].astype(np.uint64), self.unit
        )
        others = rng.integers(0, whole // PUSHING_BYTES, self.pushing // PUSHING_BYTES)
        bench.write((others * PUSHING_BYTES).astype(np.uint64), PUSHING_BYTES)
        bench.issue([OP_FLUSH], [0], [0])
        bench.idle(SETTLE_NS)
        return self.paired(bench, rng, places)

    def writes_bytes(self, info: DeviceInfo) -> int:  # noqa: ARG002
        """Give what the units of all places hold, and what pushes them out."""
        return self.places * self.unit + self.pushing


def answer(ask: Ask, kept: Kept, found: Sorted, probe: str) -> Finding:
    """Name the bits, ascending, joined by commas."""
    evidence = Evidence(cautions=tuple(cautions(ask.info)))
    if not found.enough:
        waits = found.by_class.levels.count == 1
        reason = Reason.LINK_BOUND if waits else Reason.EFFECT_BELOW_NOISE
        said = (
            evidence.saying("reads at once take as long wherever they are") if waits else evidence
        )
        return refused(BITS, reason, said, probe=probe)
    if found.whole_drives:
        said = evidence.saying("what works alone may be drives of an array, and no dies")
        return refused(BITS, Reason.MASKED, said, probe=probe)
    spans = _spans(ask)
    by_span = [found] if spans is None else [sort(ask, kept, *each) for each in spans]
    if not by_span or not all(each.enough for each in by_span):
        return refused(BITS, Reason.RANGE_TOO_SMALL, evidence, probe=probe)
    bits = _Bits.of(ask.info, by_span)
    if bits.chosen.size and not bits.clear:
        bits = _Bits.of(ask.info, [plenty(ask, each) for each in by_span])
    unit = _sure_below(ask)
    if spans is None and bits.clear and (1 << bits.chosen >= unit).any():
        bits = bits.confirmed(_written_at_random(ask, found, unit), unit)
    evidence = Evidence(exhibits=(bits.exhibit(),), cautions=evidence.cautions)
    if not bits.clear:
        said = evidence.saying("some bits are neither seen to choose nor not to")
        return refused(BITS, Reason.MASKED, said, probe=probe)
    if not bits.chosen.size:
        said = evidence.saying("no bit shows, and not each that chooses a little would")
        return refused(BITS, Reason.MASKED, said, probe=probe)
    value = ",".join(map(str, bits.chosen))
    return detected(BITS, value, None, found.weighed.effect, evidence, probe=probe)


def _sure_below(ask: Ask) -> int:
    """Give the span within which the address decides where data lie, whatever was written when."""
    unit = ask.found("rmw_unit_bytes")
    return int(unit) if isinstance(unit, (int, float)) else ask.info.logical_block_bytes


def _spans(ask: Ask) -> list[tuple[int, int]] | None:
    """Give merge units to sort, each by itself, as they change their places; None without them."""
    merge, phase = ask.found("merge_unit_bytes"), ask.found("alignment_phase_bytes")
    if not isinstance(merge, (int, float)):
        return None
    unit, count = int(merge), int(ask.info.capacity_bytes / merge)
    begins = (index * unit - int(phase or 0) for index in (count // 3, 2 * count // 3))
    return [(begin, begin + unit) for begin in begins if begin >= 0]


def _written_at_random(ask: Ask, found: Sorted, unit: int) -> _Bits:
    """Say which bits choose where places were written in random order."""
    room = ask.info.capacity_bytes // MOST_SHARE
    kept_bytes = sum(int(2 * ask.size(name, unknown=room / 2)) for name in KEEPERS)
    pushing = min(kept_bytes, room // 2)
    drawn, (places, partners) = found.plan, sizes_of(found)
    plan = Rewritten(
        places=min(places, (room - pushing) // unit),
        partners=partners,
        times=drawn.times,
        low_bytes=drawn.low_bytes,
        high_bytes=drawn.high_bytes,
        kept=drawn.kept,
        unit=unit,
        phase=int(ask.found("alignment_phase_bytes") or 0),
        pushing=pushing,
    )
    return _Bits.of(ask.info, [sorted_by(ask, plan)])


@dataclass(frozen=True)
class _Bits:
    """How far bits part the dies, of those bits that can be told."""

    told: NDArray[np.int64]
    weighed: tuple[Weighed, ...]

    @classmethod
    def of(cls, info: DeviceInfo, found: Sequence[Sorted]) -> _Bits:
        """Weigh bits by places that were sorted, those of each sorting by itself."""
        places = np.concatenate([each.places for each in found]).astype(np.int64)
        firsts = np.cumsum([0, *(int(each.of.max(initial=-1)) + 1 for each in found)])
        of = np.concatenate([each.of + first for each, first in zip(found, firsts, strict=False)])
        least = max(LEAST_PAGE_BYTES, info.logical_block_bytes).bit_length() - 1
        every = np.arange(least, info.capacity_bytes.bit_length() - 1)
        told = every[_often(every, found) >= LEAST_OFTEN]
        return cls(told, tuple(halves(of, (places >> bit) & 1) for bit in told))

    @property
    def clear(self) -> bool:
        """Whether of each bit it is known on which side of a half it is."""
        return all(each.rivals and each.margin >= APART for each in self.weighed)

    @property
    def chosen(self) -> NDArray[np.int64]:
        """Give the bits that choose."""
        parted = np.array([each.effect >= HALF for each in self.weighed], bool)
        return np.asarray(self.told[parted])

    def confirmed(self, again: _Bits, unit: int) -> _Bits:
        """Give the same with what was seen again of bits that choose, and reach beyond a unit."""
        later = dict(zip(again.told.tolist(), again.weighed, strict=True))
        weighed = [
            later.get(bit, nothing()) if one.effect >= HALF and 1 << bit >= unit else one
            for bit, one in zip(self.told.tolist(), self.weighed, strict=True)
        ]
        return replace(self, weighed=tuple(weighed))

    def exhibit(self) -> Exhibit:
        """Show how far each bit parts the dies."""
        ends = [each.interval or (0.0, 1.0) for each in self.weighed]
        chosen = np.isin(self.told, self.chosen)
        parts = (self.told[chosen], self.told[~chosen])
        members = tuple(tuple(map(float, each)) for each in parts)
        return Exhibit(
            name=SHOWN,
            title="Places on one die, by bits of their address",
            caption="A bit that chooses between halves of the dies is alike in all places on one.",
            x=Axis("bit of the byte address"),
            y=Axis("how far it parts the dies"),
            series=(
                series(
                    "bits",
                    self.told,
                    [each.effect for each in self.weighed],
                    "points",
                    low=[low for low, _ in ends],
                    high=[high for _, high in ends],
                ),
            ),
            fitted=(Partition(names=("choose", "do not"), members=members),),
        )


def _often(bits: NDArray[np.int64], found: Sequence[Sorted]) -> NDArray[np.float64]:
    """Give how often bits are set, or not, whichever is rarer, where that is rarest."""
    shares = [
        ((each.places.astype(np.int64)[:, None] >> bits) & 1).mean(axis=0)
        for each in found
        if each.places.size
    ]
    if not shares:
        return np.zeros(bits.size)
    return np.asarray(np.min([np.minimum(each, 1 - each) for each in shares], axis=0))


def plans(info: DeviceInfo) -> Sequence[Plan]:
    """Give the largest plan that writes."""
    room = info.capacity_bytes // MOST_SHARE
    unit = info.logical_block_bytes
    return (
        Rewritten(
            places=room // unit,
            partners=1,
            times=1,
            high_bytes=info.capacity_bytes,
            unit=unit,
            phase=0,
            pushing=0,
        ),
    )
