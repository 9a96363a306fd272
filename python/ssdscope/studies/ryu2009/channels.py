"""Whether "the absolute difference between A and C" is due to the number of channels.

The number is changed: A gets C's ten channels, C gets A's four, and both are measured as bought
(figures 2 and 3). If the paper is right, C then leads no more. What else tells the two apart is
tried on A as well: C's block, link and buffer, on A's four channels.
"""

from dataclasses import dataclass, replace

from ssdscope.studies.judging import SIMILAR_WITHIN, claim, explained, similar
from ssdscope.studies.record import Claim
from ssdscope.studies.ryu2009 import ageing
from ssdscope.studies.ryu2009.ageing import Bandwidths, Subject

A_WITH_TEN = Subject("A, ten channels", "ryu-a", ("nand.channels=10", "nand.blocks_per_plane=412"))
C_WITH_FOUR = Subject("C, four channels", "ryu-c", ("nand.channels=4", "nand.blocks_per_plane=520"))
BLOCK = (
    "ftl.map_unit_bytes=4096",
    "ftl.phase_bytes=0",
    "map.write_back_ns=0",
    "map.load_ns=0",
    "scheduler.way_interleave=true",
)
"""C's block of 4 KB, and what goes with it: nothing that a random write waits for but flash."""
LINK = ("host.bytes_per_second=282e6", "host.command_ns=97600")
BUFFER = (
    "write_buffer.bytes=114688",
    'write_buffer.order="fifo"',
    "write_buffer.concurrent_drains=20",
)
A_AS_C = replace(ageing.A, name="A, C's block", sets=(*ageing.A.sets, *BLOCK, *LINK, *BUFFER))
"""A with all of C but its channels and chips."""
FEW = 0.1
"""C leads no more if it leads in up to this share of the tests."""
OTHERWISE = (
    "block, link and buffer make most of the difference: small requests do not use more channels, "
    "and large ones wait for the link"
)


@dataclass(frozen=True)
class Compared:
    """The drives as bought: bytes per second by pattern and request size."""

    a: Bandwidths
    c: Bandwidths
    a_with_ten: Bandwidths
    c_with_four: Bandwidths
    a_as_c: Bandwidths


def measure(a: Bandwidths, c: Bandwidths, seed: int) -> Compared:
    """Measure the drives that were changed, beside A and C."""
    changed = [ageing.as_bought(each, seed) for each in (A_WITH_TEN, C_WITH_FOUR, A_AS_C)]
    return Compared(a, c, *changed)


def due_to_channels(found: Compared) -> Claim:
    """Ask whether C still leads if A has as many channels, or if C has as few."""
    total = len(found.a)
    few = FEW * total
    now = leads(found.c, found.a)
    ten, four = leads(found.c, found.a_with_ten), leads(found.c_with_four, found.a)
    row = claim(
        "the absolute difference between A and C is due to the number of channels",
        "yes",
        f"C is more than {SIMILAR_WITHIN} times as fast in {now} of {total} tests, in {ten} if A "
        f"has ten channels, in {four} if C has four",
        "",
        holds=now > few >= max(ten, four),
    )
    others = leads(found.c, found.a_as_c)
    if others > few:
        return row
    tried = f"A on its four channels with C's block, link and buffer: C leads in {others}"
    return explained(row, OTHERWISE, f"{tried} of {total} tests")


def leads(one: Bandwidths, other: Bandwidths) -> int:
    """Count the tests in which a drive is faster than another, and not just similar."""
    return sum(one[key] > other[key] and not similar(one[key], other[key]) for key in one)
