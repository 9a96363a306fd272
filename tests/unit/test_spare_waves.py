"""Waves of collection: two runs that wait at the same place say where it begins."""

import numpy as np
import pytest

from ssdscope.inference.series import Series
from ssdscope.probes.spare.waves import first_in_both

END = 1000.0


def run(seed: int, *waits: float, rows: int = 2000) -> Series:
    """Return times that scatter by 3 %, but for rows that take twice as long."""
    x = np.linspace(0, END, rows, endpoint=False)
    y = np.exp(0.03 * np.random.default_rng(seed).standard_normal(rows))
    for place in waits:
        y[np.searchsorted(x, place)] *= 2
    return Series.of(x, y)


def test_the_first_place_at_which_both_wait() -> None:
    one, other = run(1, 720, 790, 840), run(2, 790, 840, rows=1500)
    assert first_in_both(one, other, 600, 950) == pytest.approx(790, abs=1)


@pytest.mark.parametrize("elsewhere", [(), (700,), (700, 860)])
def test_waits_at_other_places_are_no_wave(elsewhere: tuple[float, ...]) -> None:
    assert first_in_both(run(1, 790, 840), run(2, *elsewhere), 600, 950) is None


def test_what_is_not_looked_at_does_not_count() -> None:
    assert first_in_both(run(1, 500, 990), run(2, 500, 990), 600, 950) is None
    assert first_in_both(run(1, 500), run(2, 500), 499.9, 500.0) is None


def test_many_waits_meet_by_chance() -> None:
    rng = np.random.default_rng(3)
    found = 0
    for seed in range(100):
        both = (run(seed + 100 * number, *rng.uniform(600, 950, 40)) for number in (1, 2))
        found += first_in_both(*both, 600, 950) is not None
    assert found <= 12, "one in twenty, and what 100 of them scatter by"
