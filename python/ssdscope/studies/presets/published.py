"""What was published of the insides of the drives that presets stand for.

Sizes and times of requests are not among it: the presets are fitted to those, and the studies of
the papers hold them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ssdscope.findings import Reason

KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Published:
    """A property of a drive as it was published.

    Attributes
    ----------
    value
        In the property's unit; a reason where it follows that the property cannot be told.
    where
        The source, and the place in it.
    because
        Why no probe says the same; empty where it has to.
    """

    name: str
    value: float | str | Reason
    where: str
    because: str = ""


@dataclass(frozen=True)
class Subject:
    """A preset, and what was published of its drive.

    Attributes
    ----------
    sets
        What makes it small enough.
    state
        The one that it is opened in; its own if None.
    budget
        The least that lets probes ask for all that was published.
    """

    published: Sequence[Published]
    sets: tuple[str, ...] = ()
    state: str | None = None
    budget: str = "default"


_IN_STEP = "blocks of 16 KB lie on all channels, so that reads take as long whatever the order"
_ONE_COMMAND = "one command at a time behind a link: reads at once take as long wherever they are"
_SLOW_COMMAND = (
    "a command takes longer than what is read occupies a chip: reads do not wait for each other"
)
_KEEPS_UP = (
    "of blocks 96 KB apart as many leave the buffer as come, one every 0.6 ms: it never fills"
)
_NO_UNIT = "the probe needs the RMW unit, which the protected buffer hides"
_PADDED = "without the RMW unit requests of three sizes must agree, and by chance they may not"
_ACKNOWLEDGED = "SSD-iq: acknowledged from protected memory"


def _x25m(because: str = "") -> Sequence[Published]:
    """Give what two papers found on one model of drive, over different hosts."""
    order = "ryu2009, section 2 (C): 4 KB writes, the same way"
    return (
        Published("rmw_unit_bytes", 4 * KIB, "ryu2009, figure 7 (C)"),
        Published("allocation", "order", order, because),
        Published("write_buffer_bytes", 112 * KIB, "kuo2009, figure 37 (Intel)"),
        Published("interleave_degree", 20, "ryu2009, figure 4 (C): chips", because),
    )


SUBJECTS: Mapping[str, Subject] = {
    "kuo-transcend-slc": Subject(
        (
            Published("rmw_unit_bytes", 4 * KIB, "kuo2009, figure 35"),
            Published("merge_unit_bytes", MIB, "kuo2009, figure 30"),
            Published("map_zone_bytes", 476 * MIB, "kuo2009, figure 40"),
        )
    ),
    "kuo-samsung-slc": Subject(
        (
            Published("rmw_unit_bytes", 16 * KIB, "kuo2009, figure 35"),
            Published("merge_unit_bytes", 4 * MIB, "kuo2009, figure 30"),
            Published("write_buffer_bytes", 128 * KIB, "kuo2009, figure 37"),
            Published("read_cache_bytes", 256 * KIB, "kuo2009, figure 38"),
            Published("map_zone_bytes", 4 * MIB, "kuo2009, figure 41"),
        )
    ),
    "kuo-mtron-slc": Subject(
        (
            Published("rmw_unit_bytes", 8 * KIB, "kuo2009, figure 35"),
            Published("merge_unit_bytes", 4 * MIB, "kuo2009, figure 30"),
            Published("write_buffer_bytes", 20 * MIB, "kuo2009, figure 37"),
            Published("map_zone_bytes", 40 * MIB, "kuo2009, figure 41"),
        )
    ),
    "kuo-intel-mlc": Subject(_x25m()),
    "ryu-a": Subject(
        (
            Published("rmw_unit_bytes", 16 * KIB, "ryu2009, figure 7"),
            Published("allocation", "address", "ryu2009, section 2", _IN_STEP),
        )
    ),
    "ryu-b": Subject(
        (
            Published("merge_unit_bytes", MIB, "ryu2009, figure 7"),
            Published("allocation", "address", "ryu2009, section 2"),
            Published("placement", "multi-channel", "ryu2009, figure 14", _ONE_COMMAND),
            Published("placement_pages", 1, "ryu2009, figure 14", _ONE_COMMAND),
        )
    ),
    "ryu-c": Subject(_x25m(_SLOW_COMMAND)),
    "huang-ssd-i": Subject(_x25m(_SLOW_COMMAND)),
    "huang-ssd-a": Subject(
        (Published("write_buffer_bytes", 64 * MIB, "huang2011, table I", _KEEPS_UP),)
    ),
    "nvme-datacentre": Subject(
        (
            Published("rmw_unit_bytes", Reason.PLP_NO_FLUSH_EFFECT, _ACKNOWLEDGED),
            Published("merge_unit_bytes", Reason.PLP_NO_FLUSH_EFFECT, _ACKNOWLEDGED),
            Published("write_buffer_bytes", Reason.PLP_NO_FLUSH_EFFECT, _ACKNOWLEDGED),
            Published("over_provisioning_ratio", 0.445, "SSD-iq: 1,077 of 745 GiB", _PADDED),
            Published(
                "reclaim_unit_bytes", 32 * MIB, "SSD-iq: at most 2 GiB; blocks a 64th as long here"
            ),
            Published("gc_write_amplification", 1.89, "SSD-iq", _NO_UNIT),
        ),
        ("nand.blocks_per_plane=130", "nand.pages_per_block=32", "ftl.reclaim_unit_bytes=32MiB"),
        "sequential",
        "full",
    ),
}
"""By preset. Of the other three of kuo2009's table 2 name, kind and size were published; of SSD_S
and the consumer drives nothing that a probe asks for, or (pSLC) what only smaller ones tell."""
