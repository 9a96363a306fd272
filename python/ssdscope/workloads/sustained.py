"""What a drive keeps up: a workload brought to rest, then measured.

A figure of writes is sustained if the drive was written through with such writes, the rate of
this very workload no longer changes (`steady`), and it is measured from there. Everything else is
a burst. Where pages lie depends on what is written, and hardly on the depth or on the reads beside
it: neighbours may begin on forks of a settled drive, and come to rest in five rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ssdscope.workloads.figures import Figure, Stretch, figures_of
from ssdscope.workloads.rounds import MOST_REGIONS, Rounds
from ssdscope.workloads.steady import RANGE_MAX, ROUND_SHARE, WINDOW_ROUNDS, Steadiness

if TYPE_CHECKING:
    from ssdscope.targets.device import Device
    from ssdscope.workloads.workload import Workload


@dataclass(frozen=True)
class Sustained:
    """How a workload came to rest, and what it then came to.

    Attributes
    ----------
    steadiness
        The rate over time, and whether it came to rest.
    figures
        By direction, ``read`` and ``write``; nothing where it did not.
    bytes_written
        Of such writes, with those before.
    stretch
        The requests behind the figures.
    cost
        What it came to, as ``most_cost`` counts it.
    """

    steadiness: Steadiness
    figures: dict[str, Figure] = field(default_factory=dict)
    bytes_written: int = 0
    stretch: Stretch | None = None
    cost: float = 0.0

    @property
    def reached(self) -> bool:
        """Whether the figures are of what the drive keeps up."""
        return self.steadiness.reached


def sustain(
    device: Device,
    workload: Workload,
    *,
    written_bytes: int = 0,
    spare_bytes: int | None = None,
    most_regions: float = MOST_REGIONS,
    most_cost: float | None = None,
    drift: float = 0.0,
    round_share: float = ROUND_SHARE,
) -> Sustained:
    """Bring a workload that writes to rest, and measure it there.

    As many rounds are measured as were judged. Where they differ from those by more than these
    may among each other, they were no rest, and it goes on.

    Parameters
    ----------
    device
        The drive, open for writing; it is left where the workload brought it.
    workload
        What is run; its own limits do not matter.
    written_bytes, spare_bytes, most_regions, most_cost
        As in `rounds.write_until_steady`; what is measured may go beyond both limits.
    drift
        What the rate may still change, as a share of it, where that is known from the drive
        that this one is a fork of.
    round_share
        As of `rounds.Rounds`. Where the same writes have brought the drive to rest before, a
        smaller share shows as well whether the rate of this workload changes.

    Raises
    ------
    UsageError
        As `rounds.write_until_steady`.
    DeviceError
        If the drive fails.
    KeyboardInterrupt
        After Ctrl-C.
    """
    rounds = Rounds(
        device, workload, most_regions=most_regions, written_bytes=written_bytes,
        spare_bytes=spare_bytes, most_cost=most_cost, round_share=round_share,
    )  # fmt: skip
    while rounds.may_go_on:
        if not rounds.settled:
            rounds.write()
            continue
        level = rounds.level_bytes_per_s
        stretch = Stretch.joined([rounds.measure() for _ in range(WINDOW_ROUNDS)])
        if abs(rounds.level_bytes_per_s - level) <= RANGE_MAX * level:
            found = rounds.steadiness(reached=True)
            # A rate that is to rise makes latencies fall.
            figures = figures_of([stretch], drift=-max(found.drift, drift, key=abs))
            written_bytes += found.bytes_written
            return Sustained(found, figures, written_bytes, stretch, rounds.cost)
    found = rounds.steadiness(reached=False)
    return Sustained(found, bytes_written=written_bytes + found.bytes_written, cost=rounds.cost)
