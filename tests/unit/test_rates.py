"""Units by rates: what is there is found wherever it begins, and what is not there never."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ssdscope.probes.units.rates import Took, Way, searched
from ssdscope.seeds import stream

SMALL: Any = SimpleNamespace(logical_block_bytes=512)
LARGE: Any = SimpleNamespace(logical_block_bytes=4096)
NOISES = ("alone", "drift", "spikes", "others")


def taking(cost: Callable[[Way], float], noise: str, seed: int, sigma: float = 0.05) -> Took:
    """Make up what writes take."""
    rng = stream(seed, "rates")

    def took(ways: Sequence[Way], rounds: int) -> NDArray[np.float64]:
        times = np.tile([cost(way) for way in ways], (rounds, 1)) * np.exp(
            sigma * rng.standard_normal((rounds, len(ways)))
        )
        if noise == "drift":
            times *= np.linspace(1, 1.3, times.size).reshape(times.shape)
        elif noise == "spikes":
            times *= np.where(rng.random(times.shape) < 0.02, rng.uniform(2, 40), 1)
        elif noise == "others":
            times *= np.where(rng.random((rounds, 1)) < 0.1, 1.5, 1)
        return np.asarray(times)

    return took


def unit_of(unit: int, begin: int, read: float = 0.5) -> Callable[[Way], float]:
    """Say what a write takes that rewrites units, read where they are not written whole."""

    def cost(way: Way) -> float:
        length, period, phase = way
        starts = (phase - begin + period * np.arange(unit)) % unit
        touched = -(-(starts + length) // unit)
        whole = (starts + length) // unit - -(-starts // unit)
        return float(np.mean(touched + read * (touched - np.maximum(whole, 0))))

    return cost


@pytest.mark.parametrize("noise", NOISES)
def test_nothing_is_found_where_there_is_nothing(noise: str) -> None:
    for seed in range(60):
        took = taking(lambda _: 1.0, noise, seed, sigma=0.05 + 0.1 * (seed % 2))
        found = searched(SMALL, 1.0, took)
        assert found.estimate is None
        assert found.bound > 0


@pytest.mark.parametrize(("unit", "begin"), [(4, 0), (8, 0), (8, 5), (24, 7), (32, 31), (96, 1)])
def test_a_unit_is_found_where_it_begins(unit: int, begin: int) -> None:
    found = searched(SMALL, 1.0, taking(unit_of(unit, begin), "alone", 1))
    assert (found.estimate, found.detail["begin"]) == (unit, begin)


def test_what_is_never_read_is_no_unit() -> None:
    """Room in a buffer is taken twice across a boundary, and not spared by what fills it."""
    assert searched(SMALL, 1.0, taking(unit_of(8, 0, read=0.0), "alone", 1)).estimate is None


def test_units_as_large_as_blocks_of_flash_are_left_open() -> None:
    assert searched(SMALL, 1.0, taking(unit_of(192, 0), "alone", 1)).estimate is None


@pytest.mark.parametrize(("rested_ns", "is_absent"), [(0.2, True), (1.0, False)])
def test_the_block_is_the_unit_where_the_flash_decides(rested_ns: float, is_absent: bool) -> None:
    """A link that is as slow makes two blocks take twice as long, too."""
    found = searched(LARGE, rested_ns, taking(lambda way: float(way[0]), "alone", 1, sigma=0.02))
    assert (found.bound == 0) == is_absent
