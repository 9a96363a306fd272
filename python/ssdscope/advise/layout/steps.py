"""What an application could do otherwise, one step after the other (kuo2009 3.6, figs 25 to 28)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.advise.layout.requests import Objects, Requests, objects_of

if TYPE_CHECKING:
    import numpy.typing as npt

STEPS = {
    "as it is": "the requests of the trace",
    "starts aligned": "each object begins at an edge of a page",
    "whole pages": "and is written in whole pages",
    "own blocks": "and what fills blocks begins at one; small objects share blocks, hot ones first",
}
"""The layouts, and what each does besides the one before."""


def laid_out(requests: Requests, page_bytes: int, block_bytes: int | None) -> dict[str, Requests]:
    """Give the layouts by their names in `STEPS`; the last one only for a drive that merges.

    Parameters
    ----------
    requests
        Of the trace.
    page_bytes, block_bytes
        The RMW unit, and the merge unit if there is one.
    """
    starts = aligned(requests, page_bytes)
    pages = whole_pages(starts, page_bytes)
    found = [requests, starts, pages]
    if block_bytes is not None:
        found.append(grouped(pages, page_bytes, block_bytes))
    return dict(zip(STEPS, found, strict=False))


def aligned(requests: Requests, page_bytes: int) -> Requests:
    """Begin every object at the edge of a page before it, or behind the object before it."""
    objects = objects_of(requests, page_bytes)
    starts = _stacked(objects, objects.start_bytes // page_bytes * page_bytes, page_bytes)
    return requests.placed(objects.moved(requests, starts), requests.bytes)


def whole_pages(requests: Requests, page_bytes: int) -> Requests:
    """Write whole pages only.

    A write that goes on where the one before it in its object ended leaves out the page that this
    one completed: an application that writes in order gathers its data into pages.
    """
    writes = requests.is_write
    first = requests.offset_bytes // page_bytes * page_bytes
    last = -(-requests.end_bytes // page_bytes) * page_bytes
    goes_on = _goes_on(requests, objects_of(requests, page_bytes))
    first = np.where(goes_on, -(-requests.offset_bytes // page_bytes) * page_bytes, first)
    offsets = np.where(writes, first, requests.offset_bytes)
    lengths = np.where(writes, last - first, requests.bytes)
    return requests.placed(offsets, lengths)


def grouped(requests: Requests, page_bytes: int, block_bytes: int) -> Requests:
    """Begin objects of a block and more at the edge of one; pack all others, hot ones first.

    Then the log block of an object in order holds nothing else, and replaces its data block as a
    whole; and hot objects share log blocks.
    """
    objects = objects_of(requests, page_bytes)
    lengths = objects.end_bytes - objects.start_bytes
    large = lengths >= block_bytes
    starts = objects.start_bytes // block_bytes * block_bytes
    behind = 0
    for each in np.flatnonzero(large):
        starts[each] = max(starts[each], behind)
        behind = -(-(starts[each] + lengths[each]) // block_bytes) * block_bytes
    small = np.flatnonzero(~large)
    if len(small):
        hot = np.bincount(objects.of[requests.is_write], minlength=len(lengths))[small]
        small = small[np.argsort(-hot, kind="stable")]
        sizes = -(-lengths[small] // page_bytes) * page_bytes
        first = max(int(starts[small].min()), behind)
        starts[small] = first + np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return requests.placed(objects.moved(requests, starts), requests.bytes)


def _stacked(objects: Objects, wanted: npt.NDArray[Any], grain_bytes: int) -> npt.NDArray[np.int64]:
    """Let objects begin where they are wanted, or else at the first grain behind those before."""
    starts = wanted.copy()
    behind = 0
    sizes = (objects.end_bytes - objects.start_bytes).tolist()
    for each, (start, size) in enumerate(zip(wanted.tolist(), sizes, strict=True)):
        placed = max(start, behind)
        starts[each] = placed
        behind = -(-(placed + size) // grain_bytes) * grain_bytes
    return np.asarray(starts)


def _goes_on(requests: Requests, objects: Objects) -> npt.NDArray[np.bool_]:
    """Say which writes begin where the write before them in the same object ended."""
    places = np.flatnonzero(requests.is_write)
    order = places[np.argsort(objects.of[places], kind="stable")]
    before, here = order[:-1], order[1:]
    same = objects.of[before] == objects.of[here]
    joined = requests.end_bytes[before] == requests.offset_bytes[here]
    found = np.zeros(len(requests), dtype=bool)
    found[here] = same & joined
    return found
