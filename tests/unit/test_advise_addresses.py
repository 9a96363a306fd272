"""Addresses of a trace's requests: packing and volumes, against counting one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ssdscope.advise.addresses import PART_BYTES, end_to_end, packed

QUARTER = PART_BYTES // 4
requests = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 60), st.integers(1, 12)), min_size=1, max_size=20
)


def columns(rows: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    volume, place, size = np.array(rows, np.int64).T
    return volume.astype(np.uint64), place * QUARTER, size * QUARTER


@given(requests)
def test_packed_requests_lie_in_the_parts_that_are_touched(
    rows: list[tuple[int, int, int]],
) -> None:
    _, place, size = columns(rows)
    touched = sorted(
        {
            part
            for first, length in zip(place.tolist(), size.tolist(), strict=True)
            for part in range(first // PART_BYTES, (first + length - 1) // PART_BYTES + 1)
        }
    )
    expected = [
        touched.index(each // PART_BYTES) * PART_BYTES + each % PART_BYTES
        for each in place.tolist()
    ]
    assert packed(place, size).tolist() == expected


@given(requests)
def test_volumes_lie_end_to_end_in_whole_parts(rows: list[tuple[int, int, int]]) -> None:
    volume, place, size = columns(rows)
    begins, begin = {}, 0
    for number in sorted(set(volume.tolist())):
        begins[number] = begin
        reach = max((place + size)[volume == number].tolist())
        begin += -(-reach // PART_BYTES) * PART_BYTES
    expected = [
        begins[number] + each for number, each in zip(volume.tolist(), place.tolist(), strict=True)
    ]
    assert end_to_end(volume, place, size).tolist() == expected
