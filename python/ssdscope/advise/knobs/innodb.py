"""InnoDB, the tables of MySQL and MariaDB."""

from ssdscope.advise.facts import (
    KNEE,
    MERGE,
    MERGES,
    RMW,
    SETTLED,
    Facts,
    doublings,
    power_of_two,
)
from ssdscope.advise.knobs.knob import Knob, Worked
from ssdscope.advise.streams import KIB, random_reads, random_writes, runs_of_writes, size

PAGE_BYTES, LEAST_PAGE_BYTES, MOST_PAGE_BYTES = 16 * KIB, 4 * KIB, 64 * KIB
LEAST_LOG_BYTES, MOST_LOG_BYTES = 512, 4 * KIB
PRODUCT = "MariaDB 10.11"
THREADS, MOST_THREADS = 4, 64
CAPACITY, LEAST_CAPACITY = 200, 100
FILE = "my.cnf, under [mysqld]"
NEIGHBOURS = 4
"""Dirty pages beside each other that are flushed together: an assumption, said with the gain."""


def _page(facts: Facts) -> Worked:
    unit = facts.unit_bytes
    value = min(MOST_PAGE_BYTES, power_of_two(max(unit, LEAST_PAGE_BYTES)))
    return Worked(value, f"the smallest of 4, 8, 16, 32, 64 KiB at or above RMW unit {size(unit)}")


def _log(facts: Facts) -> Worked:
    least = facts.least_unit_bytes
    value = min(MOST_LOG_BYTES, power_of_two(least))
    over = "" if least <= facts.unit_bytes else f", block {size(least)}"
    return Worked(value, f"RMW unit {size(facts.unit_bytes)}{over}, at most 4 KiB")


def _own_log(facts: Facts) -> int:
    """Return what MariaDB takes by itself: a block of the device, of 512 bytes if not known."""
    block = facts.today("physical_block_size") or LEAST_LOG_BYTES
    return min(MOST_LOG_BYTES, block)


def _neighbours(facts: Facts) -> Worked:
    if facts.known(MERGE):
        return Worked(1, f"a merge unit of {size(facts.whole(MERGE))} was detected")
    return Worked(0, "no merge unit was found")


def _threads(facts: Facts) -> Worked:
    return Worked(min(MOST_THREADS, facts.depth), f"queue-depth knee {facts.number(KNEE):.4g}")


def _capacity(facts: Facts) -> Worked:
    rate = facts.settled(PAGE_BYTES)
    value = max(LEAST_CAPACITY, round(rate / 2))
    text = (
        f"0.5 · {rate:,.0f} settled random writes of a page per second, at least {LEAST_CAPACITY}"
    )
    return Worked(value, text)


def _flushing(facts: Facts, value: int) -> str:
    highest = max(value, round(facts.settled(PAGE_BYTES)))
    return f"innodb_io_capacity = {value}\ninnodb_io_capacity_max = {highest}"


KNOBS = (
    Knob(
        "innodb",
        "innodb_page_size",
        (RMW,),
        "the smallest page at or above the RMW unit; it cannot be changed later",
        _page,
        lambda _facts, value: f"innodb_page_size = {value}",
        default=PAGE_BYTES,
        product=PRODUCT,
        # A change to a page writes it whole, however large it is.
        stream=lambda facts, value: random_writes(
            value, starts_bytes=facts.start_bytes, useful=PAGE_BYTES / value
        ),
        candidates=lambda _facts, _formula: doublings(LEAST_PAGE_BYTES, MOST_PAGE_BYTES),
        typed_in=FILE,
        at_most="for pages that are flushed one by one",
    ),
    Knob(
        "innodb",
        "innodb_log_write_ahead_size",
        (RMW,),
        "RMW unit, at least a block of the device and at most 4 KiB",
        _log,
        lambda _facts, value: f"innodb_log_write_ahead_size = {value}",
        default=_own_log,
        product=PRODUCT,
        no_stream="depends on the host's page cache",
        typed_in=FILE,
    ),
    Knob(
        "innodb",
        "innodb_flush_neighbors",
        (MERGES,),
        "1 on a drive that merges, 0 on others",
        _neighbours,
        lambda _facts, value: f"innodb_flush_neighbors = {value}",
        default=1,
        product=PRODUCT,
        stream=lambda facts, value: runs_of_writes(
            PAGE_BYTES, NEIGHBOURS if value else 1, starts_bytes=facts.start_bytes
        ),
        candidates=lambda _facts, _formula: (0, 1),
        typed_in=FILE,
        at_most=f"if {NEIGHBOURS} changed pages always lie beside each other",
    ),
    Knob(
        "innodb",
        "innodb_read_io_threads",
        (KNEE,),
        "the queue-depth knee, 1 to 64",
        _threads,
        lambda _facts, value: f"innodb_read_io_threads = {value}",
        default=THREADS,
        product=PRODUCT,
        stream=lambda _facts, value: random_reads(PAGE_BYTES, value),
        candidates=lambda _facts, _formula: doublings(1, MOST_THREADS),
        typed_in=FILE,
        at_most="for tables that are read ahead of a scan",
    ),
    Knob(
        "innodb",
        "innodb_io_capacity",
        (SETTLED,),
        "half of the settled random page writes per second; innodb_io_capacity_max is all of them",
        _capacity,
        _flushing,
        default=CAPACITY,
        product=PRODUCT,
        no_stream="a limit of the rate",
        typed_in=FILE,
    ),
)
