"""How quiet the machine was while a real drive was measured, and what of that is too much.

The native module takes a reading before each call and one after; docs/quiet.md says what each
number means. Simulated drives have no such record: nothing of the machine reaches their times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

WAITED_SHARE_MAX = 0.05
"""Of a stretch, that our threads may wait for a core before its latencies are doubted."""
WAITED_SHARE_DROWNS = 0.5
"""Of a stretch, from which on times are those of the machine, however well they agree."""
STEAL_SHARE_MAX = 0.02
"""Of a stretch, that the host of a virtual machine may give to others."""
OTHERS_SHARE_MAX = 0.25
"""Of all cores, that other processes may use: they share caches and the clock of the cores."""
CLOCK_STEP_MAX_NS = 1_000_000
"""Reading two clocks one after the other takes far less."""
SPLIT_MIN = 1.05
"""Requests on the disk for each of ours, from which on requests were split."""
FOREIGN_SHARE_MAX = 0.05
"""Of our bytes, that others may move on the disk meanwhile."""


@dataclass(frozen=True)
class DiskCounts:
    """What the disk beneath served, for anyone, as its kernel counted.

    Attributes
    ----------
    read_requests, write_requests
        As they reached the drive: after splitting and merging. The kernel counts a flush as a
        write of nothing, too.
    merges
        Requests that were put together with another.
    read_bytes, written_bytes
        Moved.
    flush_requests
        Flushes that reached the drive. Where a drive knows no FUA, each durable write has one.
        None where the kernel does not count them, as of dm and md; whether it counts them as writes
        is not known then, either.
    """

    read_requests: int = 0
    write_requests: int = 0
    merges: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    flush_requests: int | None = 0

    def joined(self, other: DiskCounts) -> DiskCounts:
        """Count two stretches as one."""
        mine, theirs = asdict(self), asdict(other)
        both: dict[str, Any] = {
            name: None if None in (mine[name], theirs[name]) else mine[name] + theirs[name]
            for name in mine
        }
        return DiskCounts(**both)


@dataclass(frozen=True)
class Quiet:
    """How quiet the machine was during one stretch: a call of the native module, or several.

    Attributes
    ----------
    wall_ns
        How long it took.
    waited_ns
        How long our threads, all together, were ready and had no core (scheduling delay).
    involuntary_switches
        How often the measuring thread was made to give up its core.
    steal_ns
        What the host of this virtual machine gave to others, of all cores together.
    others_cpu_share
        What other processes used of all cores, 0 to 1.
    clock_step_ns
        How far the wall clock was moved, either way.
    stalls, longest_stall_ns
        How often the whole machine stood still for 10 ms or longer, and the longest time.
    disk
        What the disk beneath served; None where nobody counts.
    """

    wall_ns: int
    waited_ns: int = 0
    involuntary_switches: int = 0
    steal_ns: int = 0
    others_cpu_share: float = 0.0
    clock_step_ns: int = 0
    stalls: int = 0
    longest_stall_ns: int = 0
    disk: DiskCounts | None = None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any] | None) -> Self | None:
        """Take it out of a run's summary; None for a simulated drive."""
        if values is None:
            return None
        known = {each.name: values[each.name] for each in fields(cls)}
        disk = known.pop("disk")
        return cls(**known, disk=None if disk is None else DiskCounts(**disk))

    @property
    def waited_share(self) -> float:
        """Waiting for a core, as a share of the time."""
        return self.waited_ns / max(self.wall_ns, 1)

    @property
    def held_up(self) -> bool:
        """Whether times that were taken meanwhile are bounds: our threads had no core at times."""
        return self.waited_share > WAITED_SHARE_MAX or self.steal_ns > STEAL_SHARE_MAX * max(
            self.wall_ns, 1
        )

    @property
    def lost_share(self) -> float:
        """Time without a core, as a share: waited for one, or given away by the machine's host."""
        return min(1.0, (self.waited_ns + self.steal_ns) / max(self.wall_ns, 1))

    @property
    def drowned(self) -> bool:
        """Whether no time that was taken meanwhile may be told as the drive's."""
        return self.waited_share > WAITED_SHARE_DROWNS

    def joined(self, other: Quiet | None) -> Quiet:
        """Take two stretches as one; shares by their time."""
        if other is None:
            return self
        wall_ns = self.wall_ns + other.wall_ns
        busy = self.others_cpu_share * self.wall_ns + other.others_cpu_share * other.wall_ns
        both = self.disk is not None and other.disk is not None
        return Quiet(
            wall_ns=wall_ns,
            waited_ns=self.waited_ns + other.waited_ns,
            involuntary_switches=self.involuntary_switches + other.involuntary_switches,
            steal_ns=self.steal_ns + other.steal_ns,
            others_cpu_share=busy / max(wall_ns, 1),
            clock_step_ns=max(self.clock_step_ns, other.clock_step_ns),
            stalls=self.stalls + other.stalls,
            longest_stall_ns=max(self.longest_stall_ns, other.longest_stall_ns),
            disk=self.disk.joined(other.disk) if both and self.disk and other.disk else None,
        )

    def disturbances(self) -> tuple[str, ...]:
        """Say what of the machine was too busy for latencies to be trusted; nothing if quiet."""
        span = max(self.wall_ns, 1)
        said = []
        if self.waited_ns > WAITED_SHARE_MAX * span:
            waited = 100 * self.waited_ns / span
            said.append(f"our threads waited for a core for {waited:.0f} % of the time")
        if self.steal_ns > STEAL_SHARE_MAX * span:
            stolen = 100 * self.steal_ns / span
            said.append(f"the host of this virtual machine took {stolen:.0f} % of a core")
        if self.others_cpu_share > OTHERS_SHARE_MAX:
            said.append(f"other processes used {100 * self.others_cpu_share:.0f} % of all cores")
        if self.stalls:
            longest = self.longest_stall_ns / 1e6
            said.append(f"it stood still {self.stalls} times, {longest:.0f} ms at most")
        if self.clock_step_ns > CLOCK_STEP_MAX_NS:
            said.append(f"its wall clock was moved by {self.clock_step_ns / 1e6:.0f} ms")
        return tuple(said)

    def on_disk(self, requests: int, moved_bytes: int, flushes: int = 0) -> tuple[str, ...]:
        """Say what the disk's counts tell beside ours: requests that were split, other I/O.

        Parameters
        ----------
        requests, moved_bytes
            Reads and writes of ours in this stretch. They must have gone to this disk directly.
        flushes
            Flushes of ours beside them.
        """
        if self.disk is None or not requests:
            return ()
        theirs = self.disk.read_bytes + self.disk.written_bytes - moved_bytes
        if theirs > FOREIGN_SHARE_MAX * moved_bytes:
            return (f"others moved {theirs:,} bytes on the disk while we moved {moved_bytes:,}",)
        split = self.split(requests, moved_bytes, flushes)
        return (split,) if split else ()

    def split(self, requests: int, moved_bytes: int, flushes: int = 0) -> str:
        """Say that the disk served more requests than we made; nothing if it did not.

        Parameters
        ----------
        requests, moved_bytes, flushes
            As in `on_disk`. Where others moved much, nobody can tell whose requests were split.
        """
        if self.disk is None or not requests:
            return ""
        theirs = self.disk.read_bytes + self.disk.written_bytes - moved_bytes
        # Of a drive without a cache the kernel drops flushes, and counts none. Where a drive has
        # no FUA, flushes that follow durable writes are in `flush_requests` and no writes.
        known = self.disk.flush_requests is not None
        writes = self.disk.write_requests - (0 if self.disk.flush_requests == 0 else flushes)
        each = (self.disk.read_requests + writes) / requests
        if not 0 <= theirs <= FOREIGN_SHARE_MAX * moved_bytes or each < SPLIT_MIN:
            return ""
        about = "" if known or not flushes else "at least "
        return f"the kernel made {about}{each:.2f} requests of each (max_sectors_kb)"


def machine_busy(quiet: Quiet | None) -> str:
    """Say in one line why the machine was too busy; nothing if it was quiet, or is simulated."""
    return "" if quiet is None else "; ".join(quiet.disturbances())
