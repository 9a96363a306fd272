"""When channels and chips of a simulated drive are busy, for the thesis's timing diagrams.

A drive counts how long each channel and each die was busy. Read again and again while the drive
works on by itself, on what its write buffer took in, these counts say when.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ssdscope.targets import Device

Busy = npt.NDArray[np.bool_]
Span = tuple[float, float]


@dataclass(frozen=True)
class Timeline:
    """Which channels and dies were busy, step by step.

    Attributes
    ----------
    step_ns
        Length of a step.
    channels, dies
        Shape (channels, steps) and (dies, steps): whether it was busy for most of the step.
    merges
        Shape (steps,): how many had begun by then.
    """

    step_ns: int
    channels: Busy
    dies: Busy
    merges: npt.NDArray[np.int64]

    def spans(self, busy: Busy) -> list[Span]:
        """Give the begins and ends of the busy times of one channel or die, in nanoseconds."""
        edges = np.flatnonzero(np.diff(np.concatenate([[False], busy, [False]]).astype(int)))
        return [
            (float(self.step_ns * begin), float(self.step_ns * end))
            for begin, end in edges.reshape(-1, 2)
        ]

    def busy_ns(self, busy: Busy) -> int:
        """Give the time in which a channel or die, or any of several, was busy."""
        return int(self.step_ns * np.atleast_2d(busy).any(axis=0).sum())

    def since_merge(self) -> "Timeline":
        """Give the steps from the first merge on; none if there was none."""
        steps = slice(int(np.searchsorted(self.merges, 1)), None)
        return Timeline(
            self.step_ns, self.channels[:, steps], self.dies[:, steps], self.merges[steps]
        )


def watch(device: Device, action: Callable[[Device], object], steps: int, step_ns: int) -> Timeline:
    """Do something to a drive, and watch its channels and dies from then on.

    Parameters
    ----------
    action
        Takes no time to speak of, or the beginning is missed.
    steps, step_ns
        How often, and how far apart, the counts are read.
    """
    before = _counts(device)
    action(device)
    seen = [before]
    for _ in range(steps):
        device.idle(step_ns)
        seen.append(_counts(device))
    channels, dies = (
        np.diff(np.array([each[kind] for each in seen]).T) * 2 > step_ns for kind in (0, 1)
    )
    merges = np.array([each[2] - before[2] for each in seen[1:]])
    return Timeline(step_ns, channels, dies, merges)


def _counts(device: Device) -> tuple[list[int], list[int], int]:
    counters = device.counters() or {}
    merges = sum(counters["merges"].values())
    return counters["channel_busy_ns"], counters["die_busy_ns"], merges
