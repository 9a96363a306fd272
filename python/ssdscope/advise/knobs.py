"""The table of knobs. A new one is a line in `KNOBS`."""

import math
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from ssdscope.units import format_size

ALPHA, BETA, KNEE = (
    "read_latency_alpha_ns",
    "read_latency_beta_ns_per_byte",
    "queue_depth_knee",
)
RMW, MERGE = "rmw_unit_bytes", "merge_unit_bytes"
PAGE_BYTES = 4096
SECTOR_BYTES = 512


@dataclass(frozen=True)
class Facts:
    """What a formula may use.

    Attributes
    ----------
    values
        Detected properties by name.
    n90_bytes
        Read size that reaches 90 % of the drive's bandwidth; None if not known.
    n90_formula
        Where that size came from.
    device
        Path of the block device, or a placeholder.
    """

    values: dict[str, float]
    n90_bytes: int | None
    n90_formula: str
    device: str

    @property
    def depth(self) -> int:
        """The knee, as a whole number of requests."""
        return math.ceil(self.values[KNEE])


@dataclass(frozen=True)
class Knob:
    """One setting of one tool.

    Attributes
    ----------
    needs
        Properties that must be detected.
    formula
        In words; the numbers are filled in where it is shown.
    setting
        The value as text, from the facts; None for a knob whose probes are still to come.
    command
        The whole command or configuration line, from the facts and the value.
    """

    tool: str
    name: str
    needs: tuple[str, ...]
    formula: str
    setting: Callable[[Facts], str] | None = None
    command: Callable[[Facts, str], str] | None = None


def _queue_file(facts: Facts) -> str:
    name = facts.device.removeprefix("/dev/")
    return shlex.quote(f"/sys/block/{name}/queue/nr_requests")


def _sectors(facts: Facts) -> str:
    return str(_n90(facts) // SECTOR_BYTES)


def _n90(facts: Facts) -> int:
    """Round up to whole pages."""
    return math.ceil((facts.n90_bytes or 0) / PAGE_BYTES) * PAGE_BYTES


def _raid_chunk(facts: Facts) -> str:
    return f"{2 ** math.ceil(math.log2(max(64 * 1024, _n90(facts)))) // 1024}K"


KNOBS = (
    Knob(
        "linux",
        "read-ahead",
        (ALPHA, BETA),
        "n90 rounded up to whole pages, in 512-byte sectors",
        _sectors,
        lambda facts, value: f"blockdev --setra {value} {shlex.quote(facts.device)}",
    ),
    Knob(
        "linux",
        "nr_requests",
        (KNEE,),
        "the queue-depth knee; deeper queues only add waiting",
        lambda facts: str(max(4, facts.depth)),
        lambda facts, value: f"echo {value} > {_queue_file(facts)}",
    ),
    Knob(
        "postgres",
        "effective_io_concurrency",
        (KNEE,),
        "the queue-depth knee (1 to 1000)",
        lambda facts: str(min(1000, facts.depth)),
        lambda _facts, value: f"ALTER SYSTEM SET effective_io_concurrency = {value};",
    ),
    Knob(
        "innodb",
        "innodb_read_io_threads",
        (KNEE,),
        "the queue-depth knee (1 to 64)",
        lambda facts: str(min(64, facts.depth)),
        lambda _facts, value: f"innodb_read_io_threads = {value}",
    ),
    Knob(
        "rocksdb",
        "compaction_readahead_size",
        (ALPHA, BETA),
        "at least n90",
        lambda facts: str(_n90(facts)),
        lambda _facts, value: f"compaction_readahead_size={value}",
    ),
    Knob(
        "mdadm",
        "chunk (RAID-0, RAID-10)",
        (ALPHA, BETA),
        "the power of two at or above max(64 KiB, n90)",
        _raid_chunk,
        lambda _facts, value: f"mdadm --create … --chunk={value}",
    ),
    Knob("sfdisk", "partition start", (MERGE,), "least common multiple of 1 MiB and the unit"),
    Knob("ext4", "stride, stripe_width", (RMW, MERGE), "units over the file system's block"),
    Knob("xfs", "su, sw", (RMW, MERGE), "stripe unit = RMW unit"),
    Knob("zfs", "ashift", (RMW,), "log2 of the RMW unit; cannot be changed later"),
    Knob("innodb", "innodb_page_size", (RMW,), "at least the RMW unit"),
)


def n90_from(alpha_ns: float, beta_ns_per_byte: float) -> tuple[int, str]:
    """Give the size whose transfer takes nine times as long as its start, and the sum in words."""
    size = round(9 * alpha_ns / beta_ns_per_byte)
    text = (
        f"n90 = 9·alpha/beta = 9 · {alpha_ns / 1000:.4g} us / {beta_ns_per_byte:.4g} ns/byte "
        f"= {format_size(_rounded(size))}"
    )
    return size, text


def n90_measured(size_bytes: int) -> tuple[int, str]:
    """Give a measured size, for a drive whose latency is not one line over all sizes."""
    text = (
        f"n90 = {format_size(size_bytes)}: smallest size measured at 90 % of the highest bandwidth "
        "(latency is not one line, so 9·alpha/beta does not hold)"
    )
    return size_bytes, text


def _rounded(size_bytes: int) -> int:
    return math.ceil(size_bytes / PAGE_BYTES) * PAGE_BYTES
