"""What a drive file's numbers come to: planes, dies, blocks, units, in bytes.

Says again, from outside, what `docs/simulator.md` says under "Where pages lie"; a test holds the
two against each other.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ssdscope.targets.drive_writer import Value

Values = Mapping[str, Value]


def number(values: Values, key: str, default: int = 0) -> int:
    """Read a whole number of a drive file."""
    return int(values.get(key, default))


def answers_for_flash(values: Values) -> bool:
    """Whether a protected buffer stays on, so that neither flushes nor forced writes wait."""
    protected = bool(values.get("write_buffer.power_loss_protected", False))
    stays_on = not values.get("write_buffer.switchable", True)
    return number(values, "write_buffer.bytes") > 0 and protected and stays_on


@dataclass(frozen=True)
class Shape:
    """Sizes that follow from the keys of a drive.

    Attributes
    ----------
    planes
        Of the whole drive.
    dies
        Units that can read different pages at the same time: of a chip that does not overlap its
        dies, or a channel that does not overlap its chips, one.
    run_pages
        Pages in a row on one plane (ryu2009's k).
    unit_planes
        Planes that one mapping unit lies on.
    """

    planes: int
    dies: int
    page_bytes: int
    block_bytes: int
    unit_bytes: int
    run_pages: int
    unit_planes: int
    collected_bytes: int
    capacity_bytes: int

    @property
    def stripe_bytes(self) -> int:
        """Bytes after which pages come to the first plane again."""
        return self.run_pages * self.page_bytes * self.planes

    @property
    def span_bytes(self) -> int:
        """A block on every plane: what one stream of writes fills before any block is whole."""
        return self.planes * self.block_bytes


def shape_of(values: Values) -> Shape:
    """Work out the sizes of a drive."""
    channels = number(values, "nand.channels")
    ways = number(values, "nand.ways", 1)
    dies = number(values, "nand.dies", 1)
    planes = channels * ways * dies * number(values, "nand.planes", 1)
    apart = channels
    if values.get("scheduler.way_interleave", True):
        apart *= ways * (dies if values.get("scheduler.die_interleave", True) else 1)
    page = number(values, "nand.page_bytes")
    block = page * number(values, "nand.pages_per_block")
    unit = number(values, "ftl.map_unit_bytes", page)
    run = number(values, "ftl.placement_pages", 1)
    unit_planes = min(max(unit // page // run, 1), planes)
    if values["ftl.kind"] == "log-block":
        collected = number(values, "ftl.merge_unit_bytes")
    else:
        collected = number(values, "ftl.reclaim_unit_bytes") or unit_planes * block
    raw_units = planes * number(values, "nand.blocks_per_plane") * block // unit
    ratio = float(values["over_provisioning_ratio"])
    capacity = int(raw_units / (1 + ratio)) * unit
    if values["ftl.kind"] == "log-block":
        capacity -= capacity % collected
    capacity -= number(values, "ftl.phase_bytes")
    return Shape(planes, apart, page, block, unit, run, unit_planes, collected, capacity)
