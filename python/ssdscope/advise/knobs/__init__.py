"""The table of knobs: a file for each family of tools, a line here."""

from ssdscope.advise.knobs import (
    arrays,
    filesystems,
    innodb,
    linux,
    partitions,
    postgres,
    rocksdb,
    space,
)
from ssdscope.advise.knobs.knob import Knob

KNOBS: tuple[Knob, ...] = (
    *partitions.KNOBS,
    *filesystems.KNOBS,
    *arrays.KNOBS,
    *linux.KNOBS,
    *postgres.KNOBS,
    *innodb.KNOBS,
    *rocksdb.KNOBS,
    *space.KNOBS,
)
"""Every knob, in the order of a page."""

__all__ = ["KNOBS", "Knob"]
