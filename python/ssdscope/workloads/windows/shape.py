"""Directions, sizes, alignment, sequentiality, strides, control: requests as they are."""

import numpy as np

from ssdscope.targets.records import OP_READ, OP_WRITE
from ssdscope.targets.traces import TraceRows
from ssdscope.workloads.windows.segments import Floats, Ints, Mask, Windows, divide, runs

OP_FLUSH, OP_DISCARD = 2, 3
DIRECTIONS = {"rd": OP_READ, "wr": OP_WRITE}

MIX = ("wr_ratio", "read_bytes_share", "bytes_per_s", "switches_per_s")
SIZE = (
    "size_mean", "rd_size", "wr_size", "rd_size_p50", "wr_size_p50", "rd_size_p95", "wr_size_p95",
    "rd_below_4k", "wr_below_4k", "rd_128k_up", "wr_128k_up",
)  # fmt: skip
ALIGNMENT = ("unaligned_4k", "unaligned_16k", "unaligned_4k_bytes", "unaligned_16k_bytes")
SEQUENTIALITY = ("rd_rand", "wr_rand", "rd_run", "wr_run", "rd_streams", "wr_streams")
STRIDE = (
    "rd_stride", "wr_stride", "rd_stride_share", "wr_stride_share",
    "rd_gap_64k", "wr_gap_64k", "rd_gap_128k", "wr_gap_128k",
)  # fmt: skip
CONTROL = ("flushes_per_s", "discards_per_s")

STREAMS_MAX = 32
"""A request continues a stream if it begins where one of the last so many ended."""


def _moves(rows: TraceRows) -> Mask:
    return rows.op <= OP_WRITE


def mix(windows: Windows, rows: TraceRows) -> dict[str, Floats]:
    """Describe the mix of reads and writes, of their requests and bytes."""
    reads, writes = rows.op == OP_READ, rows.op == OP_WRITE
    moves = reads | writes
    amount = np.where(moves, rows.bytes, 0)
    total = windows.sum(amount)
    direction, of = rows.op[moves], windows.of[moves]
    switched = (direction[1:] != direction[:-1]) & (of[1:] == of[:-1])
    return {
        "wr_ratio": divide(windows.sum(writes), windows.sum(moves)),
        "read_bytes_share": divide(windows.sum(np.where(reads, rows.bytes, 0)), total),
        "bytes_per_s": windows.per_second(total),
        "switches_per_s": windows.per_second(windows.sum(switched, of[1:])),
    }


def sizes(windows: Windows, rows: TraceRows) -> dict[str, Floats]:
    """Describe sizes in bytes: means, nearest-rank percentiles, shares of requests."""
    moves = _moves(rows)
    found = {"size_mean": windows.mean(rows.bytes[moves], windows.of[moves])}
    for name, code in DIRECTIONS.items():
        chosen = rows.op == code
        size, of = rows.bytes[chosen].astype(np.int64), windows.of[chosen]
        found[f"{name}_size"] = windows.mean(size, of)
        found[f"{name}_size_p50"] = windows.percentile(size, of, 50)
        found[f"{name}_size_p95"] = windows.percentile(size, of, 95)
        found[f"{name}_below_4k"] = windows.mean(size < 4096, of)
        found[f"{name}_128k_up"] = windows.mean(size >= 128 * 1024, of)
    return found


def alignment(windows: Windows, rows: TraceRows) -> dict[str, Floats]:
    """Shares of requests, and of their bytes, that do not begin and end on a boundary."""
    moves = _moves(rows)
    of, size = windows.of[moves], rows.bytes[moves].astype(np.float64)
    begin = rows.offset_bytes[moves].astype(np.int64)
    ends = begin | (begin + rows.bytes[moves].astype(np.int64))
    found = {}
    for name, bound in (("4k", 4096), ("16k", 16384)):
        off = ends % bound != 0
        found[f"unaligned_{name}"] = windows.mean(off, of)
        found[f"unaligned_{name}_bytes"] = divide(
            windows.sum(np.where(off, size, 0), of), windows.sum(size, of)
        )
    return found


def sequentiality(windows: Windows, rows: TraceRows) -> dict[str, Floats]:
    """Describe how requests continue earlier ones of their direction and volume.

    A request is sequential if it begins where one of the last 32 of its direction ended; the
    nearest such one is its predecessor, in whatever window. ``*_rand``: the share of others.
    ``*_run``: requests per non-sequential one (all of them, where none is). ``*_streams``:
    sequential requests whose predecessor is not, that is, streams that got going.
    """
    found = {}
    for name, code in DIRECTIONS.items():
        chosen = rows.op == code
        of = windows.of[chosen]
        lag = _lags(
            rows.offset_bytes[chosen].astype(np.int64),
            rows.bytes[chosen].astype(np.int64),
            rows.volume[chosen],
        )
        sequential = lag > 0
        predecessor = np.maximum(np.arange(len(lag)) - lag, 0)
        begun = sequential & ~sequential[predecessor]
        others = windows.sum(~sequential, of)
        number = windows.number(of)
        found[f"{name}_rand"] = divide(others, number)
        found[f"{name}_run"] = np.where(number > 0, number / np.maximum(others, 1), np.nan)
        found[f"{name}_streams"] = windows.sum(begun, of)
    return found


def _lags(begin: Ints, size: Ints, volume: np.ndarray) -> Ints:
    """How many requests before each the one lies that it continues; 0 where it is none."""
    lag = np.zeros(len(begin), dtype=np.int64)
    end = begin + size
    for back in range(1, min(STREAMS_MAX, len(begin) - 1) + 1):
        follows = (begin[back:] == end[:-back]) & (volume[back:] == volume[:-back])
        fresh = lag[back:]
        fresh[follows & (fresh == 0)] = back
    return lag


def strides(windows: Windows, rows: TraceRows) -> dict[str, Floats]:
    """Describe gaps, from the end of the last request of a direction and volume to the next.

    ``*_stride``: the most frequent gap in bytes (the smallest of several), 0 of sequential
    requests. ``*_stride_share``: its share. ``*_gap_64k``, ``*_gap_128k``: the share of
    gaps other than 0 that are whole multiples.
    """
    found = {}
    for name, code in DIRECTIONS.items():
        chosen = np.flatnonzero(rows.op == code)
        chosen = chosen[np.argsort(rows.volume[chosen], kind="stable")]
        begin = rows.offset_bytes[chosen].astype(np.int64)
        end = begin + rows.bytes[chosen].astype(np.int64)
        same = rows.volume[chosen][1:] == rows.volume[chosen][:-1]
        gap, of = (begin[1:] - end[:-1])[same], windows.of[chosen[1:][same]]
        mode, share = _modes(windows, gap, of)
        found[f"{name}_stride"], found[f"{name}_stride_share"] = mode, share
        jumps = gap != 0
        for unit in (64, 128):
            whole = gap[jumps] % (unit * 1024) == 0
            found[f"{name}_gap_{unit}k"] = windows.mean(whole, of[jumps])
    return found


def _modes(windows: Windows, values: Ints, of: Ints) -> tuple[Floats, Floats]:
    """Find the most frequent value of each window, and its share."""
    order = np.lexsort((values, of))
    values, of = values[order], of[order]
    begins, lengths = runs(of, values)
    # By window, longest run last; of equal ones the smallest value last.
    best = np.lexsort((-values[begins], lengths, of[begins]))
    lasts = np.append(of[begins][best][1:] != of[begins][best][:-1], True)[: len(best)]
    chosen = best[lasts]
    mode, share = np.full(windows.count, np.nan), np.full(windows.count, np.nan)
    places = of[begins][chosen]
    mode[places] = values[begins][chosen]
    share[places] = lengths[chosen] / windows.number(of)[places]
    return mode, share


def control(windows: Windows, rows: TraceRows) -> dict[str, Floats]:
    """Rates of flushes and discards."""
    return {
        "flushes_per_s": windows.per_second(windows.sum(rows.op == OP_FLUSH)),
        "discards_per_s": windows.per_second(windows.sum(rows.op == OP_DISCARD)),
    }
