"""Which cases of a matrix are tried always, and which by `make calibration` alone.

``@pytest.mark.always(n)`` keeps ``n`` cases of a test, spread evenly over all that were collected,
in the default run; the others bear the marker ``calibration``.
"""

from collections.abc import Iterable

import pytest


def spread(cases: int, chosen: int) -> set[int]:
    """Choose evenly: the first, the last, and what lies between.

    In a product of parameters the first and the last differ in all of them.
    """
    if chosen >= cases:
        return set(range(cases))
    return {round(index * (cases - 1) / max(chosen - 1, 1)) for index in range(chosen)}


def mark_others(items: Iterable[pytest.Item]) -> None:
    """Mark the cases that are not always tried."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("always"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for mine in cases.values():
        marker = mine[0].get_closest_marker("always")
        assert marker is not None
        for index in set(range(len(mine))) - spread(len(mine), *marker.args):
            mine[index].add_marker(pytest.mark.calibration)
