"""The layout adviser: the example of kuo2009, and properties that hold for any requests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdscope.advise.facts import Facts
from ssdscope.advise.layout import (
    Requests,
    advise_layout,
    count,
    fitted,
    laid_out,
    of_trace,
)
from ssdscope.errors import TraceError, UsageError
from ssdscope.findings import Detected, Findings
from ssdscope.targets.records import OP_READ, OP_WRITE
from ssdscope.targets.traces import TraceRows

SECTOR, PAGE, BLOCK = 512, 2048, 8192
EXAMPLE = [(6, 4), (66, 4), (10, 6), (113, 4), (163, 4), (16, 6), (210, 4)]
"""Figure 25 of kuo2009: first sectors and lengths, as SPEC 9 has them."""
FIGURES = {
    "26": [(4, 4), (64, 4), (8, 6), (112, 4), (160, 4), (14, 6), (208, 4)],
    "27": [(4, 4), (64, 4), (8, 8), (112, 4), (160, 4), (16, 4), (208, 4)],
    "28": [(0, 4), (64, 4), (4, 8), (68, 4), (72, 4), (12, 4), (76, 4)],
}


def in_sectors(spans: list[tuple[int, int]]) -> Requests:
    return Requests.writes([(first * SECTOR, size * SECTOR) for first, size in spans])


def test_the_example_takes_14_then_9_then_8_page_writes() -> None:
    layouts = laid_out(in_sectors(EXAMPLE), PAGE, BLOCK)
    counted = [count(each, PAGE, BLOCK) for each in layouts.values()]
    assert [each.page_writes for each in counted] == [14, 9, 8, 8]
    assert [each.read_first for each in counted] == [12, 2, 0, 0]
    assert [each.blocks for each in counted] == [6, 6, 6, 2]
    for layout, figure in zip(list(layouts.values())[1:], FIGURES.values(), strict=True):
        assert layout.spans() == in_sectors(figure).spans()


def test_small_appends_are_gathered_into_pages() -> None:
    appends = Requests.writes([(n * SECTOR, SECTOR) for n in range(8)])
    pages = laid_out(appends, PAGE, None)["whole pages"]
    assert pages.spans() == [(0, PAGE), (PAGE, PAGE)]
    # Updates in one place do not go on: each writes its page anew.
    updates = Requests.writes([(SECTOR, SECTOR)] * 3)
    assert laid_out(updates, PAGE, None)["whole pages"].spans() == [(0, PAGE)] * 3


spans = st.lists(
    st.tuples(st.integers(0, 300), st.integers(1, 40), st.booleans()), min_size=1, max_size=40
)


@given(spans)
def test_no_step_costs_pages_and_objects_never_overlap(rows: list[tuple[int, int, bool]]) -> None:
    requests = Requests(
        np.array([OP_READ if reads else OP_WRITE for *_, reads in rows]),
        np.array([first * SECTOR for first, *_ in rows], np.int64),
        np.array([size * SECTOR for _, size, _ in rows], np.int64),
    )
    layouts = laid_out(requests, PAGE, BLOCK)
    counts = [count(each, PAGE, BLOCK) for each in layouts.values()]
    assert counts[1].page_writes >= counts[2].page_writes
    assert counts[2].read_first == counts[3].read_first == 0
    # Moved, not changed: two requests that did not overlap do not do so afterwards.
    moved = layouts["starts aligned"]
    assert moved.bytes.tolist() == requests.bytes.tolist()
    for a in range(len(rows)):
        for b in range(a):
            before = requests.offset_bytes[a] - requests.offset_bytes[b]
            after = moved.offset_bytes[a] - moved.offset_bytes[b]
            apart = before >= requests.bytes[b] or -before >= requests.bytes[a]
            still = after >= moved.bytes[b] or -after >= moved.bytes[a]
            assert apart == still


def rows_of(spans_: list[tuple[int, int, int]], op: int = OP_WRITE) -> TraceRows:
    volume, offset, size = np.array(spans_, np.uint64).T
    return TraceRows(
        np.arange(len(spans_), dtype=np.uint64), np.full(len(spans_), op, np.uint8), volume,
        offset, size, np.zeros(len(spans_), np.uint64),
    )  # fmt: skip


def test_volumes_of_a_trace_lie_end_to_end_and_odd_requests_are_widened() -> None:
    taken = of_trace(rows_of([(0, 100, 100), (3, 0, 512)]), SECTOR)
    assert taken.spans() == [(0, SECTOR), (1 << 20, SECTOR)]
    with pytest.raises(TraceError, match="nothing in the trace writes"):
        of_trace(rows_of([(0, 0, 512)], OP_READ), SECTOR)


def test_a_trace_that_does_not_fit_is_refused_or_packed() -> None:
    far = Requests.writes([(0, SECTOR), (1 << 40, SECTOR), ((1 << 40) + 7 * SECTOR, SECTOR)])
    with pytest.raises(TraceError, match="2 of 3 requests lie beyond"):
        fitted(far, 1 << 30, "refuse")
    assert fitted(far, 1 << 30, "compact").spans() == [
        (0, SECTOR),
        (1 << 20, SECTOR),
        ((1 << 20) + 7 * SECTOR, SECTOR),
    ]
    with pytest.raises(TraceError, match="does not fit"):
        fitted(far, 4096, "compact")


def test_without_the_unit_there_is_no_layout_unless_it_is_given() -> None:
    nothing = Facts(Findings())
    with pytest.raises(UsageError, match="RMW unit not probed"):
        advise_layout(in_sectors(EXAMPLE), nothing, "no twin")
    told = advise_layout(
        in_sectors(EXAMPLE), nothing, "no twin", page_bytes=PAGE, block_bytes=BLOCK
    )
    assert [each["page_writes"] for each in told.to_json()["steps"]] == [14, 9, 8, 8]
    assert (told.remark, told.gains()) == ("no twin", {})
    unit = Detected(name="rmw_unit_bytes", probe="p", value=PAGE, interval=None, effect=1.0)
    found = advise_layout(in_sectors(EXAMPLE), Facts(Findings([unit])), "no twin")
    assert [each.page_writes for each in found.counts.values()] == [14, 9, 8]
    with pytest.raises(UsageError, match="no multiple"):
        advise_layout(in_sectors(EXAMPLE), nothing, "", page_bytes=PAGE, block_bytes=PAGE + 1)
