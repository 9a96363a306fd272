"""Which die an address is on, on a drive filled in order: what address bits and runs come to."""

import math
from collections.abc import Iterable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ssdscope.studies.recovery.shape import Shape, Values, number

HALVES_AT = 1.5
"""How much slower a drive is with a bit fixed that counts; exactly two where units are aligned."""
SHOWS_AT = 1.1
BLURRED_BELOW = 1.8
_SAMPLE = 1 << 16


def dies_of_planes(values: Values) -> NDArray[np.int64]:
    """Give the independently working unit of each plane, in the order in which runs go round."""
    extents = {
        "C": number(values, "nand.channels"),
        "W": number(values, "nand.ways", 1),
        "D": number(values, "nand.dies", 1),
        "P": number(values, "nand.planes", 1),
    }
    rest = np.arange(math.prod(extents.values()))
    place = {}
    for letter in str(values["ftl.plane_order"]):
        place[letter] = rest % extents[letter]
        rest = rest // extents[letter]
    die = place["C"]
    if values.get("scheduler.way_interleave", True):
        die = die * extents["W"] + place["W"]
        if values.get("scheduler.die_interleave", True):
            die = die * extents["D"] + place["D"]
    return np.asarray(die, dtype=np.int64)


def bit_slowdowns(values: Values, shape: Shape, width: int) -> dict[int, float]:
    """How many times slower random access is with one bit of the address fixed.

    Saturated, a drive is as fast as its busiest die allows; fixing a bit may leave some idle.

    Parameters
    ----------
    width
        Planes that the runs go round by address; what is beyond them does not follow from it.

    Returns
    -------
    dict
        Slowdown by bit of the byte address, from that of a page on.
    """
    stream = np.random.default_rng(0)
    dies = dies_of_planes(values)[:width]
    addresses = stream.integers(0, shape.capacity_bytes, _SAMPLE)
    first, last = int(math.log2(shape.page_bytes)), int(math.log2(shape.capacity_bytes)) - 1
    slowdowns = {}
    phase = number(values, "ftl.phase_bytes")
    for bit in range(first, last + 1):
        fixed = addresses & ~np.int64(1 << bit)
        runs = (fixed + phase) // (shape.page_bytes * shape.run_pages)
        load = np.bincount(dies[runs % width], minlength=int(dies.max()) + 1) / _SAMPLE
        free = np.bincount(dies, minlength=int(dies.max()) + 1) / width
        slowdowns[bit] = float(load.max() / free.max())
    return slowdowns


def volume_bits(values: Values, shape: Shape, width: int) -> list[int]:
    """Name the bits that halve the drive when they are fixed."""
    slow = bit_slowdowns(values, shape, width)
    return [bit for bit, each in slow.items() if each >= HALVES_AT]


def volume_sets(values: Values, shape: Shape, width: int) -> list[str]:
    """Write the sets of bits that may be named: bits that neither halve nor do nothing, or not."""
    slow = bit_slowdowns(values, shape, width)
    sure = {bit for bit, each in slow.items() if each >= BLURRED_BELOW}
    perhaps = [bit for bit, each in slow.items() if SHOWS_AT < each < BLURRED_BELOW]
    chosen = [
        sure.union(some) for n in range(len(perhaps) + 1) for some in combinations(perhaps, n)
    ]
    return [in_words(bits) for bits in chosen]


def in_words(bits: Iterable[int]) -> str:
    """Write bits as probes do: `13,14`; nothing for none."""
    return ",".join(map(str, sorted(bits)))


def blurred(values: Values, shape: Shape, width: int) -> bool:
    """Whether some bit neither halves the drive nor leaves it as it is."""
    slow = bit_slowdowns(values, shape, width).values()
    return any(SHOWS_AT < each < BLURRED_BELOW for each in slow)


def pages_in_a_row(values: Values, shape: Shape, width: int) -> int | None:
    """Count pages that follow each other on what works as one; None if all do.

    Planes of a die work together if a command may serve several of them, and as one otherwise.
    """
    units = dies_of_planes(values)[:width]
    apart = {**values, "scheduler.way_interleave": True, "scheduler.die_interleave": True}
    chips = dies_of_planes(apart)[:width]
    parallel = units != units[0]
    if values.get("scheduler.multi_plane", True):
        parallel |= (chips == chips[0]) & (np.arange(width) > 0)
    first = np.flatnonzero(parallel)
    return shape.run_pages * int(first[0]) if first.size else None
