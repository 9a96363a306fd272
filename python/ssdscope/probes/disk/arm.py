"""Part of `disk`: how long the arm takes, over all of the disk and to the next cylinder.

Plan. Reads go to and fro between two places, after pauses of random length, and each place is read
once more where the arm is. For the full stroke the places are at the beginning and at the end;
others beside them are read before the arm turns back, so that all disks of an array come along.
For the next cylinder it must be known how far that is. The first 16 MiB are read in steps of
32 KiB: the angle at which a place lies grows with its address, and jumps where a track ends. Then
the arm is tried over 1 to 16 tracks: over a cylinder the same head reads, and elsewhere another.
Engine. `turn` gives how long each read took without noise; `beneath`, what comes before the wait.
Where the arm moves less where it stays is the seek. `tracks` finds where they end.
Cannot tell. Cylinders of more than 16 tracks or 8 MiB; seeks below a fiftieth of a turn; layouts
that follow another order, as most of today do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Axis, Evidence, Exhibit, Finding, Reason, series
from ssdscope.findings.properties import TOLERANCE
from ssdscope.inference.levels import NORMAL
from ssdscope.inference.series import Series, Weighed
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import base_request_bytes
from ssdscope.probes.disk.tracks import cylinder, tracks
from ssdscope.probes.disk.turn import Turned, beneath, turn
from ssdscope.probes.plan import Ask, Plan, Stopped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdscope.probes.bench.ledger import Bench

FULL, TRACK = "seek_full_ns", "seek_track_ns"

OTHER, STILL, MOVED = 0, 1, 2
"""What a read came after: anything, a read of the same place, one of the other end."""
PAIRS, ALONG = 16, 7
"""Pairs of places, and how many others are read beside one: eight leave one disk of three behind
once in 25 times, and `beneath` allows for that."""
NEAR_SHARE = 1 / 2048
"""Of the capacity: several chunks of an array, all of whose disks have a part of either end."""
STROKES, STEPS = 384, 2048
"""How often the arm moves: over all, or over each number of tracks; and to the next cylinder."""
STRIDE_BYTES, SPOTS, VISITS = 32 * 1024, 512, 6
"""Of the places at which tracks are looked for: several on a track."""
MOST_HEADS = 16
DRIFT = 0.001
"""By so much a spindle may have changed its speed since."""


@dataclass(frozen=True, kw_only=True)
class Hops(Plan):
    """Reads at one end, then at the other; `x` is what each came after, `stratum` the place.

    Attributes
    ----------
    distance_bytes
        Between the two places of a pair.
    near_bytes
        Over which the pairs are spread.
    along
        Places beside the first that are read before the arm goes back. If there are none, it goes
        to and fro between the two places of one pair.
    """

    distance_bytes: int
    near_bytes: int
    turn_ns: int
    hops: int
    along: int = 0

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read."""
        block = base_request_bytes(bench.info)
        firsts = rng.integers(0, self.near_bytes // block, PAIRS) * block
        places = np.stack([firsts, firsts + self.distance_bytes // block * block])
        sides = np.arange(self.hops) % 2
        pairs = np.arange(self.hops) * PAIRS // self.hops
        others = rng.permuted(np.tile(np.arange(PAIRS), (self.hops, 1)), axis=1)[:, : self.along]
        which = np.column_stack([pairs, pairs, others])
        kinds = np.full(which.shape, OTHER)
        kinds[:, 1] = STILL
        kinds[:, 0] = MOVED
        # Where a new pair begins the arm comes from another distance.
        kinds[0, 0] = OTHER
        kinds[1:, 0][(np.diff(pairs) > 0) & (self.along == 0)] = OTHER
        pauses = np.where(kinds == OTHER, 0, rng.integers(1, self.turn_ns, which.shape))
        spots = places[sides[:, None], which].ravel()
        log = bench.read(spots, block, pauses_ns=pauses.ravel())
        stratum = (which + PAIRS * sides[:, None]).ravel()
        return Series.of(kinds.ravel(), log.latency_ns, stratum=stratum, time_ns=log.submit_ns)


@dataclass(frozen=True, kw_only=True)
class Strides(Plan):
    """Places at even distances from the first on, in random order; `x` is where."""

    turn_ns: int

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read."""
        which = np.concatenate([rng.permutation(SPOTS) for _ in range(VISITS)])
        spots = which * STRIDE_BYTES
        log = bench.read(
            spots,
            base_request_bytes(bench.info),
            pauses_ns=rng.integers(1, self.turn_ns, which.size),
        )
        return Series.of(spots, log.latency_ns, stratum=which, time_ns=log.submit_ns)


@dataclass(frozen=True)
class _Seek:
    """What hops say of a seek: what comes before the wait, where the arm has moved and where not.

    What the arm takes more where it moves is the seek.
    """

    taken: Series
    turned: Turned
    moved: Weighed
    still: Weighed

    @classmethod
    def of(cls, ask: Ask, plan: Hops) -> _Seek:
        """Measure it."""
        taken = ask.take(plan)
        turned = _turned(taken, plan.turn_ns)
        period = float(turned.found.estimate or 1)
        # Two arms that differ by twice the tolerance have a mean that is right of either.
        moved, still = (
            beneath(turned.durations[taken.x == kind], period, turned.blur, 2 * TOLERANCE)
            for kind in (MOVED, STILL)
        )
        return cls(taken, turned, moved, still)

    @property
    def value(self) -> tuple[float, float] | None:
        """The seek, and half its interval: errors that know nothing of each other."""
        if self.moved.estimate is None or self.still.estimate is None:
            return None
        ends = (each.interval or (0.0, 0.0) for each in (self.moved, self.still))
        half = math.hypot(*((high - low) / 2 for low, high in ends), self.turned.blur / 2)
        return self.moved.estimate - self.still.estimate, half

    def finding(self, name: str) -> Finding:
        """Decide on it."""
        evidence = _shown(name, self)
        if self.value is None:
            return verdict.refused(name, Reason.MODEL_MISFIT, evidence)
        value, half = self.value
        found = replace(self.moved, effect=value / float(self.moved.estimate or value))
        ends = value - half, value + half
        return verdict.weighed(name, found, "beneath", evidence, value=value, interval=ends)


def full_stroke(ask: Ask, turn_ns: float) -> Iterator[Finding]:
    """Answer the seek over all cylinders."""
    near = round(ask.info.capacity_bytes * NEAR_SHARE)
    far = ask.info.capacity_bytes - near
    plan = Hops(
        distance_bytes=far, near_bytes=near, turn_ns=round(turn_ns), hops=STROKES, along=ALONG
    )
    yield _Seek.of(ask, plan).finding(FULL)


def next_cylinder(ask: Ask, turn_ns: float) -> Iterator[Finding]:
    """Answer the seek to the next cylinder: find how far that is, and go there and back."""
    taken = ask.take(Strides(turn_ns=round(turn_ns)))
    turned = _turned(taken, turn_ns)
    ends = taken.time_ns + turned.durations
    found = tracks(taken.x, ends, float(turned.found.estimate or turn_ns))
    # All on the first track: so it is known how many cylinders are in between.
    near = round(found.estimate or 0)
    plan = Hops(distance_bytes=0, near_bytes=near, turn_ns=round(turn_ns), hops=STROKES)
    heads = _tried(ask, plan) if verdict.is_sure(found, "tracks") else None
    if heads is None:
        raise Stopped(Reason.MODEL_MISFIT, "where its tracks and cylinders end does not show")
    yield _Seek.of(ask, replace(plan, distance_bytes=heads * near, hops=STEPS)).finding(TRACK)


def _tried(ask: Ask, plan: Hops) -> int | None:
    """Find by seeks how many tracks a cylinder has."""
    seeks = []
    for count in range(1, MOST_HEADS + 1):
        hops = replace(plan, distance_bytes=count * plan.near_bytes)
        if (seek := _Seek.of(ask, hops).value) is None:
            return None
        seeks.append(seek)
    least, errors = np.array(seeks).T
    return cylinder(least, errors / NORMAL, TOLERANCE)


def _turned(taken: Series, turn_ns: float) -> Turned:
    return turn(taken, turn_ns * (1 - DRIFT), turn_ns * (1 + DRIFT))


def _shown(name: str, seek: _Seek) -> Evidence:
    """Show how long reads took without noise, where the arm had moved and where not."""
    parts = []
    for kind, said in ((STILL, "the arm stays"), (MOVED, "the arm has moved")):
        values = seek.turned.durations[(seek.taken.x == kind) & seek.turned.together]
        if values.size:
            shares = (np.arange(values.size) + 1) / values.size
            parts.append(series(said, np.sort(values), shares, "steps"))
    if not parts:
        return Evidence()
    fits = (
        *verdict.marked(seek.still, "the least where it stays"),
        *verdict.marked(seek.moved, "the least where it has moved"),
    )
    shown = Exhibit(
        name="full-strokes" if name == FULL else "next-cylinder",
        title="Reads after a full stroke" if name == FULL else "Reads on the next cylinder",
        caption="How many of the reads take at most so long, without noise. All wait up to a turn.",
        x=Axis("time", "ns"),
        y=Axis("share of reads"),
        series=tuple(parts),
        fitted=fits,
    )
    return Evidence(exhibits=(shown,))
