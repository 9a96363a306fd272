"""Lines in logarithms between workloads that differ only in depth and sizes."""

import numpy as np
import pytest

from ssdscope.models import features
from ssdscope.models.interpolation import interpolate
from ssdscope.workloads.grid import Vector


def reads(*places: tuple[int, int]) -> np.ndarray:
    return features.inputs([Vector(0, depth, 4096, size, 0, 100) for depth, size in places])


def test_a_power_of_the_depth_is_exact_between_and_beyond() -> None:
    known = reads(*((depth, 4096) for depth in (2, 4, 32)))
    values = known[:, 1] ** 0.7
    wanted = reads(*((depth, 4096) for depth in (1, 3, 8, 128)))
    assert interpolate(known, values, wanted) == pytest.approx(wanted[:, 1] ** 0.7)


def test_a_kink_is_cut_across() -> None:
    known = reads((1, 4096), (4, 4096), (16, 4096))
    assert interpolate(known, np.array([1.0, 1.0, 4.0]), reads((8, 4096)))[0] == pytest.approx(2)


def test_depth_and_size_are_a_plane_within_what_was_measured() -> None:
    known = reads(*((depth, size) for depth in (1, 4, 16) for size in (4096, 65536)))
    values = known[:, 1] ** 0.5 * known[:, 3]
    wanted = reads((2, 8192), (8, 16384), (32, 8192), (2, 2048))
    found = interpolate(known, values, wanted)
    assert found[:2] == pytest.approx((wanted[:, 1] ** 0.5 * wanted[:, 3])[:2])
    assert np.isnan(found[2:]).all()


def test_repeats_count_by_their_geometric_mean() -> None:
    known = reads((1, 4096), (1, 4096), (4, 4096))
    found = interpolate(known, np.array([1.0, 4.0, 8.0]), reads((1, 4096), (2, 4096)))
    assert found == pytest.approx([2, 4])


def test_what_differs_in_more_has_no_answer() -> None:
    known = reads((1, 4096), (4, 4096))
    in_order = features.inputs([Vector(0, 2, 4096, 4096, 0, 0)])
    larger = reads((2, 8192))
    for wanted in (in_order, larger):
        assert np.isnan(interpolate(known, np.array([1.0, 2.0]), wanted)).all()
    assert interpolate(known[:1], np.array([3.0]), known)[0] == pytest.approx(3)
    assert np.isnan(interpolate(known[:1], np.array([3.0]), known)[1])


def test_places_on_one_line_span_no_triangle() -> None:
    known = reads((1, 4096), (2, 8192), (4, 16384))
    assert np.isnan(interpolate(known, np.ones(3), reads((2, 4096)))).all()
