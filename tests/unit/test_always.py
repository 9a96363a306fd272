"""Of a matrix some cases are always tried, and the others left to `make calibration`."""

from unittest.mock import Mock

import pytest
from tests import always


@pytest.mark.parametrize(
    ("cases", "chosen", "expected"),
    [
        (8, 1, {0}),
        (8, 2, {0, 7}),
        (9, 3, {0, 4, 8}),
        (16, 4, {0, 5, 10, 15}),
        (3, 3, {0, 1, 2}),
        (2, 5, {0, 1}),
        (1, 2, {0}),
    ],
)
def test_cases_are_chosen_evenly(cases: int, chosen: int, expected: set[int]) -> None:
    assert always.spread(cases, chosen) == expected


def item(name: str, *marks: pytest.Mark) -> Mock:
    return Mock(nodeid=name, get_closest_marker=lambda _: next(iter(marks), None))


def test_only_the_others_of_a_matrix_are_marked() -> None:
    two = pytest.mark.always(2).mark
    matrix = [item(f"a.py::test_matrix[{place}]", two) for place in "abc"]
    other = [item("a.py::test_other[a]", two), item("a.py::test_plain[a]")]
    always.mark_others([*matrix, *other])
    assert [each.add_marker.called for each in matrix] == [False, True, False]
    assert not any(each.add_marker.called for each in other)
