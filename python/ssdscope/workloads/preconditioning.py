"""Preparing a drive through its front door, the way a real one has to be prepared.

The quick states of simulated drives (``--state``) are for the command line; experiments that
must mean the same on every drive write it full and age it by I/O, as these functions do.
"""

from dataclasses import replace

from ssdscope.errors import UsageError
from ssdscope.targets import Device, RunResult
from ssdscope.targets.device import ProgressCallback
from ssdscope.workloads.workload import Workload

FILL_BLOCK_BYTES = 1024 * 1024
FILL_DEPTH = 4
OVERWRITE_DEPTH = 32


def fill_sequentially(
    device: Device,
    *,
    offset_bytes: int = 0,
    size_bytes: int | None = None,
    block_bytes: int = FILL_BLOCK_BYTES,
    progress: ProgressCallback | None = None,
) -> RunResult:
    """Write a region once, in order.

    Parameters
    ----------
    device
        The drive, open for writing.
    offset_bytes, size_bytes
        The region; a size of None is up to the end.
    block_bytes
        Size of a write; a last one takes what is left of the region. (Dividing the region evenly
        would mean writes of a sector each on many a drive, and small writes leave another state.)
    progress
        As in `Device.run`.

    Returns
    -------
    RunResult
        Of the whole writes, where there are any.

    Raises
    ------
    UsageError
        If the region is not whole logical blocks.
    """
    size = device.info.capacity_bytes - offset_bytes if size_bytes is None else size_bytes
    logical = device.info.logical_block_bytes
    if size <= 0 or size % logical:
        raise UsageError(f"a region of {size} bytes is not whole logical blocks of {logical} bytes")
    tail = size % block_bytes

    def write(from_bytes: int, length_bytes: int, each_bytes: int) -> RunResult:
        return device.run(
            Workload(
                rw="write",
                block_bytes=each_bytes,
                iodepth=FILL_DEPTH,
                offset_bytes=from_bytes,
                size_bytes=length_bytes,
                io_bytes=length_bytes,
            ),
            progress=progress,
        )

    if tail == size:
        return write(offset_bytes, tail, tail)
    filled = write(offset_bytes, size - tail, block_bytes)
    if tail and not filled.interrupted:
        rest = write(offset_bytes + size - tail, tail, tail)
        filled = replace(filled, interrupted=rest.interrupted)
    return filled


def overwrite_randomly(
    device: Device,
    *,
    io_bytes: int,
    seed: int,
    offset_bytes: int = 0,
    size_bytes: int | None = None,
    block_bytes: int = 4096,
    progress: ProgressCallback | None = None,
) -> RunResult:
    """Overwrite blocks of a region at random.

    Parameters
    ----------
    device
        The drive, open for writing.
    io_bytes
        How much to write in all; twice the region is a usual dose.
    seed
        Of the offsets.
    offset_bytes, size_bytes
        The region; a size of None is up to the end.
    block_bytes
        Size of a write.
    progress
        As in `Device.run`.
    """
    return device.run(
        Workload(
            rw="randwrite",
            block_bytes=block_bytes,
            iodepth=OVERWRITE_DEPTH,
            offset_bytes=offset_bytes,
            size_bytes=size_bytes,
            io_bytes=io_bytes,
            seed=seed,
        ),
        progress=progress,
    )
