"""Which die an address is on, whatever was written when: what address bits and runs come to."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssdscope import seeds
from ssdscope.recovery.shape import Shape, Values, number

HALVES_AT = 1.5
"""How much more work a bit that counts leaves to half of the dies; two where units are aligned."""
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


@dataclass(frozen=True)
class Reached:
    """On which dies addresses may be.

    Attributes
    ----------
    dies
        Equally likely ones of each class of addresses that share them; shape (m, classes).
    of
        The class of each address; shape (n,).
    """

    dies: NDArray[np.int64]
    of: NDArray[np.int64]


def dies_reached(values: Values, shape: Shape, addresses: NDArray[np.int64]) -> Reached:
    """Give the dies on which each address may be, equally likely, whatever was written when."""
    dies = _dies_of_runs(values, shape)
    runs = (addresses + number(values, "ftl.phase_bytes")) // (shape.page_bytes * shape.run_pages)
    return Reached(dies, runs % dies.shape[1])


def _dies_of_runs(values: Values, shape: Shape) -> NDArray[np.int64]:
    """Give the dies on which each run of a round may be, equally likely; shape (m, runs).

    What the address decides whatever was written in what order: the place within a merge unit, up
    to a renaming; by order of arrival that within an RMW unit, which may be on any group of planes
    that lie side by side; else the plane, of a superblock's one of those that take turns.
    """
    dies = dies_of_planes(values)
    if values["ftl.kind"] == "log-block":
        return dies[None, : shape.collected_bytes // shape.block_bytes]
    if values.get("ftl.allocation", "address") == "order":
        return dies.reshape(-1, shape.unit_planes)
    turns = max(shape.collected_bytes // (shape.unit_planes * shape.block_bytes), 1)
    return dies.reshape(turns, -1)


def order_chooses_dies(values: Values, shape: Shape) -> bool:
    """Whether data may lie on one die or another, by when they were written.

    Addresses may choose a superblock, in which what comes next takes the next place.
    """
    dies = _dies_of_runs(values, shape)
    return bool((dies != dies[0]).any())


def bit_slowdowns(values: Values, shape: Shape) -> dict[int, float]:
    """How many times more work a bit of the address leaves to the dies that it chooses.

    1 plus half of what the loads of the dies differ by, all in all, with the bit 0 and with it 1:
    2 if either leaves half of the dies idle, 1 if it makes no difference.

    Returns
    -------
    dict
        By bit of the byte address, from that of a page on.
    """
    addresses = sampled(shape.capacity_bytes)
    reached = dies_reached(values, shape, addresses)
    return slowdowns_of(addresses, reached, shape)


def sampled(capacity_bytes: int) -> NDArray[np.int64]:
    """Draw addresses all over a drive."""
    stream = seeds.stream(0, "studies.recovery.addresses")
    return stream.integers(0, capacity_bytes, _SAMPLE)


def slowdowns_of(addresses: NDArray[np.int64], reached: Reached, shape: Shape) -> dict[int, float]:
    """Work out the same from the dies on which each of some addresses may be."""
    first, last = int(math.log2(shape.page_bytes)), int(math.log2(shape.capacity_bytes)) - 1
    rows, classes = reached.dies.shape
    likely = np.zeros((classes, int(reached.dies.max()) + 1))
    np.add.at(likely, (np.arange(classes), reached.dies), 1 / rows)
    slowdowns = {}
    for bit in range(first, last + 1):
        loads = []
        for value in (0, 1):
            chosen = reached.of[(addresses >> bit) & 1 == value]
            loads.append(np.bincount(chosen, minlength=classes) / chosen.size @ likely)
        slowdowns[bit] = 1 + float(np.abs(loads[0] - loads[1]).sum()) / 2
    return slowdowns


def volume_bits(values: Values, shape: Shape) -> list[int]:
    """Name the bits that halve the drive when they are fixed."""
    slow = bit_slowdowns(values, shape)
    return [bit for bit, each in slow.items() if each >= HALVES_AT]


def blurred(values: Values, shape: Shape) -> bool:
    """Whether some bit neither halves the drive nor leaves it as it is."""
    slow = bit_slowdowns(values, shape).values()
    return any(SHOWS_AT < each < BLURRED_BELOW for each in slow)


def pages_in_a_row(values: Values, shape: Shape, width: int, first: int = 0) -> int | None:
    """Count pages that follow each other on what works as one, of planes from the first; or None.

    None if all do. Planes of a die work together if a command may serve several of them, and as
    one otherwise.
    """
    planes = slice(first, first + width)
    units = dies_of_planes(values)[planes]
    apart = {**values, "scheduler.way_interleave": True, "scheduler.die_interleave": True}
    chips = dies_of_planes(apart)[planes]
    parallel = units != units[0]
    if values.get("scheduler.multi_plane", True):
        parallel |= (chips == chips[0]) & (np.arange(width) > 0)
    begins = np.flatnonzero(parallel)
    return shape.run_pages * int(begins[0]) if begins.size else None
