"""Where pages end within a run on one die: what straddles two of them reads the array twice."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.rows import patient_read
from ssdscope.probes.together import APART_NS, ASIDE_BLOCKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.runs import Runs
    from ssdscope.probes.together import Together

SMALLEST_PAGE_BYTES = 2048
LARGEST_PAGE_BYTES = 1 << 17
ROUNDS = (8, 16, 32, 64)
COSTS_FROM = 0.05
"""What one more read of the array adds to a request of two blocks, in the logarithm, at least."""
CERTAIN = 5.0
"""Standard errors of a difference."""
COPIES = (2, 8)
DIE_BOUND = 1.2
TWICE = 1.86
"""Of two blocks, what a die takes longer than for one, above which it reads them one by one.
Within a page they come with one read: the second adds its transfer, at most 0.72."""
SAMPLES = 400


def page_bytes(
    bench: Bench, together: Together, runs: Runs, rng: np.random.Generator
) -> int | None:
    """Give the size of a page, a power of two; None if it cannot be told.

    Boundaries between blocks are told apart by the largest power of two of their distance from
    where the run begins: those from a page on cost a read of the array, those below none.
    """
    block = bench.info.logical_block_bytes
    if runs.bytes == block:
        return block
    last = min(runs.bytes - 1, LARGEST_PAGE_BYTES) // block
    sizes = block << np.arange(last.bit_length())
    costs = _costs(bench, together, runs, sizes, rng)
    if costs is None:
        return None
    if costs.any():
        page = int(sizes[np.argmax(costs)])
        return page if costs[np.argmax(costs) :].all() and runs.bytes % page == 0 else None
    # All boundaries are alike: every block is a page, or all of the run is one.
    whole = runs.bytes if (runs.bytes // block).bit_count() == 1 else None
    if block < SMALLEST_PAGE_BYTES:
        return whole
    if together.cached_units:
        return None
    each = _one_by_one(bench, runs, rng)
    return None if each is None else block if each else whole


def _costs(
    bench: Bench,
    together: Together,
    runs: Runs,
    sizes: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.bool_] | None:
    """Say at which boundaries two blocks cost more; None if it is not certain."""
    values = np.empty((0, sizes.size))
    for rounds in ROUNDS:
        for _ in range(rounds):
            values = np.vstack([values, _straddling(bench, together, runs, sizes, rng)])
        medians = np.median(values, axis=0)
        error = 1.7725 * stats.mad((values - medians).ravel()) / math.sqrt(len(values))
        ordered = np.sort(medians)
        gaps = np.diff(ordered, prepend=ordered[0])
        widest = int(np.argmax(gaps))
        if gaps[widest] > max(COSTS_FROM, CERTAIN * error):
            return np.asarray(medians >= ordered[widest])
        if ordered[-1] - ordered[0] + CERTAIN * error < COSTS_FROM:
            return np.zeros(sizes.size, np.bool_)
    return None


def _straddling(
    bench: Bench,
    together: Together,
    runs: Runs,
    sizes: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[Any]:
    """Read two blocks about a boundary of each kind in each run; shape (runs, kinds)."""
    block = bench.info.logical_block_bytes
    odd = np.maximum((runs.bytes - 1) // sizes - 1, 0) // 2 + 1
    odd = np.minimum(odd, np.maximum(LARGEST_PAGE_BYTES // sizes, 1))
    places = (2 * rng.integers(0, odd, (runs.begins.size, sizes.size)) + 1) * sizes
    edges = (runs.begins[:, None] + places).ravel()
    order = rng.permutation(edges.size)
    starts, lengths = np.repeat(edges[order] - block, 2), np.full(2 * edges.size, 2 * block)
    if together.cached_units:  # what is looked up, and nothing of what is read
        together.forget()
        starts[::2] += ASIDE_BLOCKS * block
        lengths[::2] = block
    log = patient_read(bench, starts, lengths)
    logs = np.log(np.maximum(log.latency_ns.astype(float), 1.0))[1::2]
    values = np.empty(edges.size)
    values[order] = logs  # in random order: what drifts adds to the scatter and favours none
    return values.reshape(places.shape)


def _one_by_one(bench: Bench, runs: Runs, rng: np.random.Generator) -> bool | None:
    """Say whether a die takes twice as long for two blocks of a run as for one.

    Many reads at once of the same place keep a die busy, whatever the link takes for each.
    """
    block = bench.info.logical_block_bytes
    kinds = ((1, 0), (2, 0), (1, runs.bytes))  # blocks, and how far every other read is
    bursts = [(*kind, copies) for kind in kinds for copies in COPIES]
    begins = rng.choice(runs.begins, SAMPLES)
    one_row = np.concatenate([[0], *(far * (np.arange(n) % 2) for _, far, n in bursts)])
    lengths = block * np.concatenate([[1], *(np.full(n, blocks) for blocks, _, n in bursts)])
    firsts = np.cumsum([1, *(n for *_, n in bursts)])
    pauses = np.zeros(one_row.size, np.uint64)
    pauses[[0, *firsts[:-1]]] = APART_NS
    log = patient_read(
        bench,
        (begins[:, None] + one_row).ravel(),
        np.tile(lengths, SAMPLES),
        iodepth=max(COPIES),
        pauses_ns=np.tile(pauses, SAMPLES),
    )
    latency = np.empty(one_row.size * SAMPLES)
    latency[log.index.astype(np.int64)] = log.latency_ns
    lasts = np.maximum.reduceat(latency.reshape(SAMPLES, -1), firsts[:-1], axis=1)
    few, many = np.median(lasts, axis=0).reshape(len(kinds), len(COPIES)).T
    one, two, beside = many - few
    if one < DIE_BOUND * beside:
        return None
    return bool(two > TWICE * one)
