"""Spare space and padding, from where requests of three sizes find the knee."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope.probes import padded_knee
from ssdscope.probes.padded_knee import SIZES
from ssdscope.probes.slow_writes import waits_before

SPARE = 400e6


@pytest.mark.parametrize("padding", [0.0, 8192.0, 65536.0])
def test_spare_space_is_told_from_padding(padding: float) -> None:
    knees = SPARE / (1 + padding / np.array(SIZES)) * np.array([1.002, 0.999, 1.001])
    line = padded_knee._line(knees)
    assert line is not None
    assert line[0] == pytest.approx(SPARE, rel=0.02)
    assert line[1] == pytest.approx(padding, abs=3000)


@pytest.mark.parametrize(
    "shares",
    [
        (0.2761, 0.2587, 0.2436),  # the first collections show late
        (0.1859, 0.2215, 0.2188),  # so they do, by chance
        (0.0711, 0.0608, 0.0568),  # common log blocks, with other merges before
        (0.4187, 0.0540, 0.0540),  # likewise
        (0.4, 0.2, 0.1),  # a log block for each unit: as many requests
    ],
)
def test_what_is_no_spare_space_depends_on_the_size_otherwise(shares: tuple[float, ...]) -> None:
    assert padded_knee._line(np.array(shares) * 1e9) is None


def test_where_writes_wait_before_there_is_no_knee() -> None:
    """Log blocks are merged again and again; a burst of somebody else's is one wait."""
    latencies = np.ones(4000)
    latencies[2000::40] = 300.0
    assert not waits_before(latencies, 2000)
    latencies[500] = 300.0
    assert not waits_before(latencies, 2000)
    latencies[:2000:100] = 300.0
    assert waits_before(latencies, 2000)
