"""How much a drive takes before its writes are as slow as they stay.

While a buffer fills, all writes take the same short time: a run would end at once, sure of a mean
that no minute has. So 1 MiB after the other is written at random, and the time of each is taken.
Where those of the end take twice as long as those of the beginning, what came before the change
has to be written, and some more, before anything counts.
"""

import math
from dataclasses import replace

import numpy as np

from ssdscope.targets.device import Device
from ssdscope.workloads import grid
from ssdscope.workloads.workload import Workload

PIECE_BYTES = 1 << 20
MOST_PIECES = 160
MOST_NS = 60_000_000_000
FIRST, SLOWER, MORE = 4, 2.0, 1.25
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
    least = grid.FILLED_STOP.fill_bytes
    if not device.info.writable:
        return least
    if device.info.snapshot:
        device = device.fork()
        grid.use(device, seed)
    pieces = fast_pieces(_times_ns(device, seed))
    return max(least, math.ceil(MORE * pieces) * PIECE_BYTES)


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
        result = device.run(replace(piece, seed=seed + len(times)))
        times.append(result.whole().elapsed_ns)
    return times
