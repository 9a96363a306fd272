"""Writes at shifted places: by how much places differ beyond noise."""

import numpy as np
import pytest
from tests.integration.small_drives import probed

from ssdscope.probes import Absent
from ssdscope.probes.shifted_writes import Samples, held_out
from ssdscope.studies.recovery.generator import draw
from ssdscope.targets.drive_writer import open_drive

UNITS = np.array([2, 3, 4, 6, 8, 12, 16])


def halves(unit: int, dearer: float, noise: tuple[float, float]) -> list[Samples]:
    """Write two and four blocks, as often, each with noise of its own."""
    rng, count = np.random.default_rng(5), 16_384
    place, size = rng.integers(0, 1 << 20, count), np.tile([2, 4], count // 2)
    touched = (place % unit + size - 1) // unit - (size - 1) // unit
    logs = (
        np.log(2e6)
        + np.log1p(dearer) * touched
        + rng.normal(0, 1, count) * np.where(size == 2, *noise)
    )
    one = np.ones(count, np.int64)
    samples = Samples(place, size, one, 0 * one, np.exp(logs))
    first = np.arange(count) % 4 < 2
    return [samples.part(first), samples.part(~first)]


@pytest.mark.parametrize("noise", [(0.05, 0.05), (0.05, 2.0), (2.0, 0.05)])
def test_only_a_unit_makes_places_differ_in_both_halves(noise: tuple[float, float]) -> None:
    """Though writes of one size, of which some waited, differ by more by chance."""
    assert held_out(halves(6, 0.0, noise), UNITS, 1, 0.03) < 0.03
    assert held_out(halves(6, 0.2, noise), UNITS, 1, 0.03) > 0.1


def test_where_noise_hides_all_sizes_nothing_is_said() -> None:
    assert held_out(halves(6, 0.0, (2.0, 2.0)), UNITS, 1, 0.03) == np.inf


def test_a_drive_on_which_longer_writes_wait_more_has_no_unit_all_the_same() -> None:
    """Their medians differ by a third from place to place, and by nothing twice."""
    device = open_drive(draw(95_389_691, 21).toml(), "drawn", 21)
    found = probed("rmw_unit", device, 21, "full")["rmw_unit_bytes"]
    assert isinstance(found, Absent)
