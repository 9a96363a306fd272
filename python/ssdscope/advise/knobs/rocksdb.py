"""RocksDB."""

from ssdscope.advise.facts import (
    INTERLEAVE,
    MERGE,
    N90,
    PAGE_BYTES,
    PLACEMENT,
    RMW,
    SETTLED,
    Facts,
    doublings,
    up,
)
from ssdscope.advise.knobs.knob import PROGRAM, Knob, Worked
from ssdscope.advise.streams import KIB, MIB, Stream, sequential_reads, sequential_writes, size

READ_AHEAD_BYTES, MOST_BYTES = 2 * MIB, 8 * MIB
KERNELS_BYTES = 128 * KIB
"""What Linux reads ahead where RocksDB does not, if that is not known."""
BUFFER_BYTES = MIB
FILE_BYTES, LARGEST_BLOCK_BYTES = 64 * MIB, 256 * MIB
RATE_SHARE = 0.7
DATABASE = "RocksDB's OPTIONS file, under [DBOptions]"
FAMILY = 'RocksDB\'s OPTIONS file, under [CFOptions "default"]'
PRODUCT = "RocksDB 7.8"


def _read_ahead(facts: Facts) -> Worked:
    found, text = facts.n90()
    return Worked(max(READ_AHEAD_BYTES, up(found, PAGE_BYTES)), f"{text}, at least 2 MiB")


def _compacts(facts: Facts, value: int) -> Stream:
    kernels = facts.today("read_ahead_kb")
    return sequential_reads(value or (KERNELS_BYTES if not kernels else kernels * KIB))


def _buffer(facts: Facts) -> Worked:
    lanes = max(facts.lanes_bytes, facts.unit_bytes)
    value = up(BUFFER_BYTES, lanes)
    return Worked(value, f"1 MiB rounded up to whole {size(lanes)} that work side by side")


def _buffers(_facts: Facts, value: int) -> str:
    names = ("writable_file_max_buffer_size", "bytes_per_sync", "wal_bytes_per_sync")
    return "\n".join(f"{name}={value}" for name in names)


def _file(facts: Facts) -> Worked:
    block = facts.whole(MERGE)
    value = up(FILE_BYTES, block) if block <= LARGEST_BLOCK_BYTES else FILE_BYTES
    return Worked(value, f"64 MiB rounded up to whole merge units of {size(block)}")


def _rate(facts: Facts) -> Worked:
    rate = facts.settled_bytes()
    value = max(1, int(RATE_SHARE * rate))
    return Worked(value, f"0.7 · {size(round(rate))}/s of settled random writes")


KNOBS = (
    Knob(
        "rocksdb",
        "compaction_readahead_size",
        (N90,),
        "at least n90, and no less than 2 MiB",
        _read_ahead,
        lambda _facts, value: f"compaction_readahead_size={value}",
        default=0,
        product=PRODUCT,
        stream=_compacts,
        candidates=lambda _facts, _formula: doublings(READ_AHEAD_BYTES, MOST_BYTES),
        typed_in=DATABASE,
        at_most="for compactions, while they wait for reads",
    ),
    Knob(
        "rocksdb",
        "writable_file_max_buffer_size",
        (RMW,),
        "1 MiB or more, in whole units that work side by side (with use_direct_io_for_flush_and_"
        "compaction)",
        _buffer,
        _buffers,
        default=BUFFER_BYTES,
        product=PRODUCT,
        stream=lambda facts, value: sequential_writes(value, starts_bytes=facts.start_bytes),
        candidates=lambda _facts, _formula: doublings(256 * KIB, MOST_BYTES),
        also=(INTERLEAVE, PLACEMENT),
        typed_in=DATABASE,
        at_most="for flushes and compactions, while they wait for writes",
    ),
    Knob(
        "rocksdb",
        "target_file_size_base",
        (MERGE,),
        "64 MiB rounded up to whole merge units, if these are at most 256 MiB",
        _file,
        lambda _facts, value: f"target_file_size_base={value}",
        default=FILE_BYTES,
        product=PRODUCT,
        no_stream="too long to simulate",
        typed_in=FAMILY,
    ),
    Knob(
        "rocksdb",
        "rate_limiter",
        (SETTLED,),
        "0.7 of the settled random writes, in bytes per second",
        _rate,
        lambda _facts, value: (
            f"options.rate_limiter.reset(rocksdb::NewGenericRateLimiter({value}));"
        ),
        no_stream="a limit of the rate",
        typed_in=PROGRAM,
    ),
)
