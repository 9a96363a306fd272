"""Every line that may be advised: over all drives, knobs and values, on blocks of either size."""

from collections.abc import Iterator, Mapping
from functools import cache

from tests.lines.drives import GIB, Drive, drives
from tests.lines.line import BLOCKS, Line

from ssdscope.advise.facts import Facts
from ssdscope.advise.knobs import KNOBS, Knob

ROOM_BYTES = 32 * GIB
"""How large the device is that a line is tried on, if none of its drives is smaller."""


def _queue(logical: int, physical: int) -> Mapping[str, str]:
    sizes = {"logical_block_size": str(logical), "physical_block_size": str(physical)}
    return {**sizes, "nr_requests": "64", "read_ahead_kb": "128"}


QUEUES: tuple[tuple[Mapping[str, str], tuple[int, ...]], ...] = (
    ({}, BLOCKS),
    (_queue(512, 512), (512,)),
    (_queue(512, 4096), (512,)),
    (_queue(4096, 4096), (4096,)),
)
"""What reports know of a device, and the blocks that it may have then."""


@cache
def advised() -> tuple[Line, ...]:
    """List all lines, each once for each size of blocks."""
    found: dict[tuple[str, str, int], tuple[int, str]] = {}
    for drive in drives():
        for queue, blocks in QUEUES:
            # Units of a drive do not begin within a block of it.
            possible = [
                each for each in blocks if drive.phase_bytes % each == 0 or each == BLOCKS[0]
            ]
            for knob, text in _lines(drive, queue) if possible else ():
                for block in possible:
                    key = (f"{knob.tool} {knob.name}", text, block)
                    capacity = min(drive.capacity_bytes, found.get(key, (ROOM_BYTES, ""))[0])
                    found[key] = (capacity, str(knob.typed_in))
    return tuple(
        sorted(Line(*key, capacity, typed_in) for key, (capacity, typed_in) in found.items())
    )


def _lines(drive: Drive, queue: Mapping[str, str]) -> Iterator[tuple[Knob, str]]:
    facts = Facts(drive.findings, drive.sustained, capacity_bytes=drive.capacity_bytes, queue=queue)
    for knob in KNOBS:
        if knob.typed_in is None or not all(map(facts.known, knob.needs)):
            continue
        usual = knob.usual(facts)
        for value in knob.values(facts, knob.setting(facts).value):
            if value != usual:
                yield knob, knob.command(facts, value)
