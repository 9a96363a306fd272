"""How much a drive takes before its writes are as slow as they stay, and writing so much.

While a buffer fills, all writes take the same short time: a run would end at once, sure of a mean
that no minute has. So 1 MiB after the other is written at random, and the time of each is taken.
Where those of the end take twice as long as those of the beginning, what came before the change
has to be written, and some more, before anything counts. A workload's own writes do that, without
its reads, among which they may need minutes to (`fill`). Once a buffer is full of what a workload
leaves in it, that shows after half as much, written without its reads, too (`turn_over`), and any
other workload empties it soon.
"""

import math
from dataclasses import replace

import numpy as np

from ssdscope.seeds import numbered
from ssdscope.targets.device import Device
from ssdscope.workloads import grid
from ssdscope.workloads.grid import BUFFERED_BYTES, FILLED_STOP, PAPER_STOP, Drawn, Stop
from ssdscope.workloads.workload import Workload

PIECE_BYTES = 1 << 20
MOST_PIECES = 160
MOST_NS = 60_000_000_000
FIRST, SLOWER, MORE = 4, 2.0, 1.25
FILL_DEPTH = 8
"""How a large buffer is filled: writes at a time."""
FILL_PIECES, MOST_FILLS, FULL = 8, 3, 1.3
"""In so many pieces, and up to so many times as many, until one takes so many times as long as the
fastest: much may leave a buffer while it is filled, and yet less than comes in."""
SMALL = Workload(rw="randwrite", block_bytes=4096, requests=PIECE_BYTES // 4096, iodepth=8)


def fill_bytes(device: Device, seed: int) -> int:
    """Measure how much a run is to write before it counts; at least as much as `FILLED_STOP` says.

    A drive that can be forked is left as it was; another one is written to. One that may not be
    written is not asked. A buffer of more than `MOST_PIECES` MiB is not seen to be full.

    Raises
    ------
    DeviceError
        If the drive fails.
    KeyboardInterrupt
        After Ctrl-C.
    """
    least = FILLED_STOP.fill_bytes
    if not device.info.writable:
        return least
    if device.info.snapshot:
        device = device.fork()
        grid.use(device, seed)
    pieces = held_bytes(device, seed) // PIECE_BYTES
    return max(least, math.ceil(MORE * pieces) * PIECE_BYTES)


def held_bytes(device: Device, seed: int) -> int:
    """Write until writes become slow, and say how much went before; 0 if they do not.

    What leaves the buffer meanwhile is among it.

    Raises
    ------
    DeviceError
        If the drive fails.
    KeyboardInterrupt
        After Ctrl-C.
    """
    return fast_pieces(_times_ns(device, seed)) * PIECE_BYTES


def filled(stop: Stop, device: Device, seed: int) -> Stop:
    """Give a rule for the end of runs that count only once the buffer of a drive is full."""
    return replace(stop, fill_bytes=fill_bytes(device, seed))


def begins_full(drawn: Drawn, stop: Stop) -> bool:
    """Whether a run begins with a large buffer full: where there is one, and it writes."""
    return drawn.vector.wr_ratio > 0 and stop.full


def filler(drawn: Drawn) -> Drawn:
    """Give the writes that fill a buffer for a workload; the same for all that write alike.

    Where some go to random places, all of these do: those in order leave a buffer sooner, joined to
    runs, and what it holds by and by is random ones.
    """
    writes = replace(drawn.vector, wr_ratio=100, q_dep=FILL_DEPTH).effective()
    return drawn._replace(vector=replace(writes, wr_rand=100 if writes.wr_rand else 0))


def fill(device: Device, drawn: Drawn, stop: Stop, size_bytes: int | None = None) -> None:
    """Write until a buffer is full, in other places than what is measured will.

    Raises
    ------
    DeviceError
        If the drive fails.
    KeyboardInterrupt
        After Ctrl-C.
    """
    writes = filler(drawn)
    taken_bytes = max(writes.vector.wr_size, BUFFERED_BYTES)
    count = math.ceil(stop.fill_bytes / taken_bytes / FILL_PIECES)
    plan = replace(writes.plan(PAPER_STOP, size_bytes), until_ci=None, requests=count)
    fastest_ns = math.inf
    for piece in range(1, 1 + FILL_PIECES * MOST_FILLS):
        took_ns = (
            device.run(plan.seeded(numbered(plan.seed, piece, "workloads.filling.pieces")))
            .whole()
            .elapsed_ns
        )
        if took_ns > FULL * fastest_ns:
            return
        fastest_ns = min(fastest_ns, took_ns)


def turn_over(device: Device, drawn: Drawn, stop: Stop, size_bytes: int | None = None) -> None:
    """Write as a workload does that begins with a full buffer, without its reads; if it has any.

    Raises
    ------
    DeviceError
        If the drive fails.
    KeyboardInterrupt
        After Ctrl-C.
    """
    ratio = drawn.vector.wr_ratio
    if not begins_full(drawn, stop) or ratio == 100:
        return
    writes = drawn._replace(vector=replace(drawn.vector, wr_ratio=100))
    count = max(drawn.vector.uncounted(stop) * ratio // 100, 1)
    plan = writes.plan(PAPER_STOP, size_bytes)
    device.run(replace(plan, until_ci=None, runtime_ns=None, requests=count)).whole()


def fast_pieces(times_ns: list[int]) -> int:
    """Count the pieces that were written before writes became slow for good; 0 if they did not."""
    if len(times_ns) < 2 * FIRST:
        return 0
    fast = float(np.median(times_ns[:FIRST]))
    slow = float(np.median(times_ns[-len(times_ns) // 4 :]))
    if slow < SLOWER * fast:
        return 0
    quick = np.array(times_ns) < math.sqrt(fast * slow)
    return int(np.flatnonzero(quick)[-1]) + 1 if quick.any() else 0


def _times_ns(device: Device, seed: int) -> list[int]:
    block = max(SMALL.block_bytes, device.info.logical_block_bytes)
    piece = replace(SMALL, block_bytes=block, requests=PIECE_BYTES // block)
    times: list[int] = []
    while len(times) < MOST_PIECES and sum(times) < MOST_NS:
        result = device.run(piece.seeded(numbered(seed, len(times), "workloads.filling.times")))
        times.append(result.whole().elapsed_ns)
    return times
