"""Locality, overwriting, reads of fresh writes: requests taken apart into blocks of 4 KiB.

A request touches every block that it shares a byte with. All blocks of all requests are
sorted once by place; the access before, and the write before, of the same block stand then
next to each other.
"""

from dataclasses import dataclass

import numpy as np

from ssdscope.errors import UsageError
from ssdscope.targets.records import OP_WRITE
from ssdscope.targets.traces import TraceRows
from ssdscope.workloads.windows.segments import Floats, Ints, Mask, Windows, divide, runs

LOCALITY = (
    "rd_blocks", "wr_blocks", "regions", "region_entropy_bits", "reuse_interval_blocks",
)  # fmt: skip
OVERWRITE = ("overwrite_ratio", "update_interval_s", "top_10_write_share", "rewritten_share")
INTERPLAY = ("read_after_write",)

BLOCK_BYTES = 4096
REGION_BLOCKS = 256
ACCESSES_MAX = 1 << 29
HOT_SHARE = 0.1


@dataclass(frozen=True)
class _Accesses:
    """Blocks touched, by place, then by time; columns of equal length.

    `number` counts accesses in the order of time. `again` says that the one before has the
    same place.
    """

    place: Ints
    number: Ints
    window: Ints
    arrival_ns: Ints
    write: Mask
    written_bytes: Ints
    again: Mask


def blocks(windows: Windows, rows: TraceRows, buffer_bytes: int) -> dict[str, Floats]:
    """Describe what places are touched.

    ``rd_blocks``, ``wr_blocks``: different blocks read and written in the window.
    ``regions``: different megabytes touched. ``region_entropy_bits``: Shannon entropy of the
    accesses over those. ``reuse_interval_blocks``: median of the accesses since the one
    before of the same block, of those that have one (an upper bound of the distance in an
    LRU stack).

    ``overwrite_ratio``: the share of block writes whose block was written before, in
    whatever window. ``update_interval_s``: the median time since then.
    ``top_10_write_share``: the share of the window's block writes that go to the tenth of its
    written blocks that is written most. ``rewritten_share``: the share of its written blocks
    that are written more than once.

    ``read_after_write``: the share of block reads whose block is among the last
    `buffer_bytes` written.
    """
    accesses = _accesses(windows, rows)
    last_write = _last_writes(accesses)
    return (
        _locality(windows, accesses)
        | _overwriting(windows, accesses, last_write)
        | _read_after_write(windows, accesses, last_write, buffer_bytes)
    )


def _accesses(windows: Windows, rows: TraceRows) -> _Accesses:
    moves = np.flatnonzero(rows.op <= OP_WRITE)
    begin = rows.offset_bytes[moves].astype(np.int64)
    size = rows.bytes[moves].astype(np.int64)
    first = begin // BLOCK_BYTES
    number = (begin + size - 1) // BLOCK_BYTES - first + 1
    total = int(number.sum())
    if total > ACCESSES_MAX:
        raise UsageError(
            f"the trace touches {total:,} blocks of 4 KiB, more than {ACCESSES_MAX:,}",
            hint="describe it in parts",
        )
    _, volume = np.unique(rows.volume[moves], return_inverse=True)
    extent = int((first + number).max(initial=0)) + 1
    extent += -extent % REGION_BLOCKS
    write = rows.op[moves] == OP_WRITE
    written = np.cumsum(np.where(write, size, 0))
    request = np.repeat(np.arange(len(moves)), number)
    within = np.arange(total) - np.repeat(np.cumsum(number) - number, number)
    place = volume[request] * extent + first[request] + within
    order = np.argsort(place, kind="stable")
    place, request = place[order], request[order]
    return _Accesses(
        place=place,
        number=order,
        window=windows.of[moves][request],
        arrival_ns=windows.arrival_ns[moves][request],
        write=write[request],
        written_bytes=written[request],
        again=np.append(False, place[1:] == place[:-1])[:total],
    )


def _last_writes(accesses: _Accesses) -> Ints:
    """Where the last write of the same block before each access stands; -1 if there is none."""
    count = len(accesses.place)
    index = np.arange(count)
    latest = np.maximum.accumulate(np.where(accesses.write, index, -1))
    before = np.append(-1, latest[:-1])[:count]
    group = np.maximum.accumulate(np.where(accesses.again, 0, index))
    return np.where(before >= group, before, -1)


def _different(windows: Windows, window: Ints, place: Ints) -> tuple[Floats, Ints, Ints]:
    """How many different places each window has; the window and the accesses of each."""
    order = np.lexsort((place, window))
    begins, lengths = runs(window[order], place[order])
    of = window[order][begins]
    return windows.number(of).astype(np.float64), of, lengths


def _locality(windows: Windows, accesses: _Accesses) -> dict[str, Floats]:
    found = {}
    for name, chosen in (("rd_blocks", ~accesses.write), ("wr_blocks", accesses.write)):
        window, place = accesses.window[chosen], accesses.place[chosen]
        found[name], _, _ = _different(windows, window, place)
    regions, of, lengths = _different(windows, accesses.window, accesses.place // REGION_BLOCKS)
    share = lengths / windows.number(accesses.window)[of]
    entropy = windows.sum(-share * np.log2(share), of)
    again = np.flatnonzero(accesses.again)
    interval = accesses.number[again] - accesses.number[again - 1]
    return found | {
        "regions": regions,
        "region_entropy_bits": np.where(regions > 0, np.maximum(entropy, 0), np.nan),
        "reuse_interval_blocks": windows.percentile(interval, accesses.window[again], 50),
    }


def _overwriting(windows: Windows, accesses: _Accesses, last: Ints) -> dict[str, Floats]:
    write = np.flatnonzero(accesses.write)
    window = accesses.window[write]
    over = write[last[write] >= 0]
    interval = accesses.arrival_ns[over] - accesses.arrival_ns[last[over]]
    different, of, lengths = _different(windows, window, accesses.place[write])
    # The tenth that is written most, rounded up: by window, most written first.
    order = np.lexsort((-lengths, of))
    of, lengths = of[order], lengths[order]
    rank = np.arange(len(of)) - (np.cumsum(windows.number(of)) - windows.number(of))[of]
    hot = rank < np.ceil(HOT_SHARE * different)[of]
    writes = windows.number(window)
    return {
        "overwrite_ratio": divide(windows.number(accesses.window[over]), writes),
        "update_interval_s": windows.percentile(interval, accesses.window[over], 50) / 1e9,
        "top_10_write_share": divide(windows.sum(lengths * hot, of), writes),
        "rewritten_share": divide(windows.number(of[lengths > 1]), different),
    }


def _read_after_write(
    windows: Windows, accesses: _Accesses, last: Ints, buffer_bytes: int
) -> dict[str, Floats]:
    read = np.flatnonzero(~accesses.write)
    since = accesses.written_bytes[read] - accesses.written_bytes[last[read]]
    fresh = (last[read] >= 0) & (since < buffer_bytes)
    return {"read_after_write": windows.mean(fresh, accesses.window[read])}
