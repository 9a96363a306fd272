"""What reads at once come to, of blocks in a row, apart in time, and neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope.findings import Detected, Reason, Undetectable
from ssdscope.inference.series import Series
from ssdscope.probes.mechanisms import IMPLIED, hiding, implied
from ssdscope.probes.order.plans import ALONE, APART_IN_TIME, IN_A_ROW, NEIGHBOURS
from ssdscope.probes.order.probe import contrasts, judged

ROWS, NOISE = 256, 0.05


def taken(*, alone: float = 1.0, seed: int = 1, **ratios: float) -> Series:
    """Give rows of all kinds at once, by how much longer each takes than those at random.

    Parameters
    ----------
    alone
        How much longer one takes alone of what is told.
    """
    kinds = {"row": IN_A_ROW, "apart": APART_IN_TIME, "neighbours": NEIGHBOURS}
    rng = np.random.default_rng(seed)
    series = Series.of([], [])
    for odd, size in enumerate(("two", "more")):
        for kind, name in enumerate(("random", *kinds)):
            times = ratios.get(f"{size}_{name}", 1.0)
            for factor, first in ((times, 0), (alone if times != 1 else 1.0, ALONE)):
                y = 1e5 * factor * rng.lognormal(0, NOISE, ROWS)
                strata = 2 * np.arange(ROWS) + odd + first
                series = series.then(Series.of(np.full(ROWS, kind), y, stratum=strata))
    return series


@pytest.mark.parametrize(
    ("ratios", "word"),
    [
        ({"two_row": 0.9, "more_row": 0.8}, "order"),
        ({"two_row": 1.3, "more_row": 1.4}, "order"),
        ({"more_row": 0.8, "more_apart": 0.9}, "order"),
        ({"two_row": 0.9, "more_neighbours": 0.8}, "order"),
        ({"two_neighbours": 0.9}, "address"),
        ({"two_neighbours": 1.4, "more_neighbours": 1.6}, "address"),
    ],
)
def test_the_word_is_that_of_what_differs_from_chance(ratios: dict[str, float], word: str) -> None:
    found = judged(contrasts(taken(**ratios)))
    assert isinstance(found, Detected), found
    assert found.value == word


@pytest.mark.parametrize(
    ("ratios", "reason"),
    [
        # Planes in step answer one command, of more than two reads.
        ({"more_row": 0.8}, Reason.MASKED),
        # A trace of an order is none of an address.
        ({"more_row": 0.98, "two_neighbours": 0.9}, Reason.MODEL_MISFIT),
        # Each alone takes another time: its table, or a cache.
        ({"two_neighbours": 0.9, "more_neighbours": 0.9, "alone": 0.9}, Reason.MODEL_MISFIT),
        ({"two_row": 0.9, "alone": 0.9}, Reason.MODEL_MISFIT),
        ({}, Reason.LINK_BOUND),
    ],
)
def test_neither_word_is_told_where_something_else_may_be_what_shows(
    ratios: dict[str, float], reason: Reason
) -> None:
    found = judged(contrasts(taken(**ratios)))
    assert isinstance(found, Undetectable), found
    assert found.reason is reason


def test_noise_is_neither() -> None:
    for seed in range(60):
        assert not isinstance(judged(contrasts(taken(seed=seed))), Detected)


def test_a_drive_that_merges_places_by_address() -> None:
    """Its data blocks hold every page at its own place; it is asked for before."""
    ((by, _, _),) = IMPLIED.values()
    assert by in hiding("allocation")
    merge = Detected(name=by, probe="merging", value=1 << 20, interval=None, effect=0.7)
    found = implied("allocation", "order", {by: merge})
    assert found is not None
    assert (found.value, found.probe, found.effect) == ("address", "order", 0.7)
    assert implied("allocation", "order", {}) is None
    assert implied("pslc_bytes", "region", {by: merge}) is None
