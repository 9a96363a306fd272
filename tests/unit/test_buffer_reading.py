"""What leaves a full buffer while it is read back."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope import probes
from ssdscope.probes import Budget, Detected
from ssdscope.probes.buffer_reading import _leaves_ns
from ssdscope.studies.recovery.generator import draw
from ssdscope.targets.drive_writer import open_drive

FAST_NS = 40e3


@pytest.mark.parametrize(("merges", "pace_ns"), [(0, 195e3), (10, 195e3)])
def test_rare_waits_for_something_else_are_no_pace(merges: int, pace_ns: float) -> None:
    """Four leave at a time; merges, which take as long as hundreds of them, hold them up."""
    times = np.tile([FAST_NS, FAST_NS, FAST_NS, 660e3], 160)
    times[: 60 * merges : 60] = 130e6
    assert _leaves_ns(times.reshape(8, -1), FAST_NS) == pytest.approx(pace_ns, rel=0.05)


def test_waits_for_many_that_leave_at_once_are_the_pace() -> None:
    times = np.full((8, 96), FAST_NS)
    times[:, ::32] = 20e6
    assert _leaves_ns(times, FAST_NS) == pytest.approx(times.mean())


def test_a_buffer_behind_which_blocks_are_merged() -> None:
    """Held was 129 of 153 units: the others left while these were read."""
    device = open_drive(draw(3629088426, 83).toml(), "drawn", 83)
    found = {
        each.name: each for each in probes.run(["write_buffer"], device, Budget.parse("full"), 83)
    }
    size = found["write_buffer_bytes"]
    assert isinstance(size, Detected)
    assert size.value == pytest.approx(1_880_064, rel=0.1)
    assert size.interval is not None
    assert size.interval[0] < 1_880_064 < size.interval[1]
