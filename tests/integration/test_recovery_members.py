"""Arrays whose members a host can tell apart are told as such first; others look like a drive."""

from typing import Any

import pytest
from tests.integration.test_recovery_rules import BITS

from ssdscope.recovery.arrays import DrawnArray
from ssdscope.recovery.known import known
from ssdscope.recovery.reference_members import members_apart
from ssdscope.recovery.second import SecondDrawn
from ssdscope.recovery.truth import ABSENT, Truth
from ssdscope.recovery.truth_of_arrays import TOLD_OF_ARRAYS, seen_values

KIB = 1 << 10
FAST_LINK = {"host.command_ns": 500, "channel.ns_per_byte": 0.5, "host.bytes_per_second": 1e11}
SLOW_LINK = {"host.command_ns": 30_000}
ONE_COMMAND = {"host.queue_depth": 1}
ONE_DIE = {"nand.channels": 1, "nand.ways": 1, "nand.blocks_per_plane": 384}
SLOWER = {"nand.read_ns": 90_000}


def array(*members: dict[str, Any]) -> DrawnArray:
    every = [BITS | each for each in members]
    drawn = tuple(SecondDrawn(1, 0, each, {}, False, 0, "modern", {}) for each in every)
    values = seen_values(every, 64 * KIB)
    return DrawnArray(1, 0, values, {}, False, 0, drawn, 64 * KIB, values)


@pytest.mark.parametrize(
    ("members", "apart"),
    [
        ((FAST_LINK, FAST_LINK), False),
        ((SLOW_LINK, SLOW_LINK), True),
        ((FAST_LINK, FAST_LINK | SLOWER), True),
        ((SLOW_LINK | ONE_COMMAND, SLOW_LINK | ONE_COMMAND), False),
        ((SLOW_LINK | ONE_DIE, SLOW_LINK | ONE_DIE), False),
    ],
)
def test_members_are_told_apart_by_their_reads_or_their_links(
    members: tuple[dict[str, Any], ...], apart: bool
) -> None:
    assert (members_apart(array(*members)) >= 0.1) == apart


def test_of_an_array_that_is_told_only_what_is_true_of_the_whole_is_expected() -> None:
    one, told = (known(array(link, link)).visible for link in (FAST_LINK, SLOW_LINK))
    assert not [name for name, each in one.items() if "array" in each.masked_by]
    hidden = {name for name, each in told.items() if each.masked_by == ("array",)}
    assert hidden == told.keys() - set(TOLD_OF_ARRAYS)


def test_unlike_members_are_counted_and_seen() -> None:
    unlike = known(array(FAST_LINK, FAST_LINK | SLOWER))
    assert unlike.truths["array_members"] == Truth(2)
    assert unlike.visible["array_members"].observable
    assert known(array(SLOW_LINK, SLOW_LINK)).truths["array_members"] == ABSENT


def test_a_member_of_one_command_counts_once_and_is_seen() -> None:
    found = known(array(ONE_COMMAND, ONE_COMMAND, ONE_COMMAND))
    assert found.truths["interleave_degree"] == Truth(3)
    assert found.visible["interleave_degree"].observable
