"""A datacentre drive whose buffer is protected against power loss: what is found all the same.

Acceptance of the probes: what only writes to the medium could show is undetectable, for that
reason; what reads and sustained writes show is found.
"""

from collections.abc import Mapping

import pytest

from ssdscope.findings import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes import session
from ssdscope.probes.budget import Budget
from ssdscope.targets import open_target

MIB = 1 << 20
SMALLER = (
    "nand.blocks_per_plane=130",
    "nand.pages_per_block=32",
    "ftl.reclaim_unit_bytes=32MiB",
)
PROBES = (
    "table",
    "buffer",
    "units",
    "merging",
    "dies",
    "collection",
    "spare",
)
DIES = 16


@pytest.fixture(scope="module")
def found() -> Mapping[str, Finding]:
    """Findings on the preset with shorter and fewer blocks, written full."""
    target = open_target("sim:nvme-datacentre", state="sequential", sets=SMALLER, seed=4)
    assert target.device.info.write_cache.control == "fixed"
    findings = session.run(PROBES, target.device, Budget.parse("full"), 4)
    return {each.name: each for each in findings}


@pytest.mark.parametrize(
    "name",
    ["rmw_unit_bytes", "merge_unit_bytes", "write_buffer_bytes", "write_buffer_unit_bytes"],
)
def test_what_the_buffer_hides_is_undetectable_for_that(
    found: Mapping[str, Finding], name: str
) -> None:
    told = found[name]
    assert isinstance(told, Undetectable)
    assert told.reason is Reason.PLP_NO_FLUSH_EFFECT


def test_the_whole_table_is_in_memory(found: Mapping[str, Finding]) -> None:
    assert isinstance(found["map_cache_bytes"], Absent)
    assert isinstance(found["map_zone_bytes"], Absent)


def test_the_dies_are_counted(found: Mapping[str, Finding]) -> None:
    told = found["interleave_degree"]
    assert isinstance(told, Detected)
    assert told.value == DIES


def test_the_spare_space_is_not_told_behind_the_buffer(found: Mapping[str, Finding]) -> None:
    """What hides a region of one bit per cell, or merges, might be what shows."""
    told = found["over_provisioning_ratio"]
    assert isinstance(told, Undetectable)
    assert told.reason is Reason.MASKED


def test_the_superblock_is_found(found: Mapping[str, Finding]) -> None:
    told = found["reclaim_unit_bytes"]
    assert isinstance(told, Detected)
    assert told.value == pytest.approx(32 * MIB, rel=0.02)
