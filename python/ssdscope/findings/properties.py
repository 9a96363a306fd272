"""Every property that a probe may report: its unit, its name, and how exact its value is."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PROPERTIES", "Property"]

TOLERANCE = 0.10
"""A value with a tolerance may be off by this share of the truth."""


@dataclass(frozen=True)
class Property:
    """One thing to know of a drive.

    Attributes
    ----------
    key
        Its name in code and JSON, which ends in its unit where it has one.
    unit
        Of its value; empty where that is a word.
    name, note
        What a person calls it, and a few words more.
    sign
        What it shows by: the subject of a sentence.
    tolerance
        By what share of the truth a value may be off; None if only the truth itself is right.
    hangs_on_use
        Whether the size of a value hangs on what is asked of the drive, so that what is right or
        wrong is that it is there.
    absence
        What stands for its value where it is absent.
    """

    key: str
    unit: str
    name: str
    note: str
    sign: str
    tolerance: float | None = None
    hangs_on_use: bool = False
    absence: str = "none"

    @property
    def exact(self) -> bool:
        """Whether a value is right only if it is the truth."""
        return self.tolerance is None


_EVERY = (
    Property(
        "rotation_ns", "ns", "Rotation", "one turn of a hard disk",
        "a wait until a place comes round again", TOLERANCE,
    ),
    Property(
        "seek_track_ns", "ns", "Track-to-track seek", "to the next cylinder",
        "what the arm takes to the next cylinder", TOLERANCE,
    ),
    Property(
        "seek_full_ns", "ns", "Full-stroke seek", "over all cylinders",
        "what the arm takes from one end to the other", TOLERANCE,
    ),
    Property(
        "disk_cache_bytes", "bytes", "Disk cache", "read cache of a hard disk",
        "what a segment still holds", TOLERANCE,
    ),
    Property(
        "disk_cache_segments", "segments", "Disk cache segments", "runs of sectors that it holds",
        "the number of places that a cache still holds",
    ),
    Property(
        "read_latency_alpha_ns", "ns", "Read latency per request", "alpha",
        "what a read takes besides its bytes", TOLERANCE,
    ),
    Property(
        "read_latency_beta_ns_per_byte", "ns/byte", "Read latency per byte", "beta",
        "what each byte of a read takes", TOLERANCE,
    ),
    Property(
        "queue_depth_knee", "requests", "Queue-depth knee", "depth that gives 90 % of the plateau",
        "the depth from which on deeper queues gain nothing", TOLERANCE,
    ),
    Property(
        "read_ahead_bytes", "bytes", "Read-ahead", "fetched beyond a row of reads",
        "a block that was fetched before it was asked for", TOLERANCE,
    ),
    Property(
        "read_cache_bytes", "bytes", "Read cache", "size",
        "the block that no longer comes from a cache", TOLERANCE,
    ),
    Property(
        "read_cache_unit_bytes", "bytes", "Read cache unit", "what one miss brings in",
        "the edge of what one miss brings in",
    ),
    Property(
        "map_zone_bytes", "bytes", "Map zone", "span of one part of the mapping table",
        "an edge between blocks that are read faster one behind the other",
    ),
    Property(
        "map_cache_bytes", "bytes", "Map cache", "addresses whose mapping stays in RAM",
        "the number of places that stay fast", TOLERANCE, absence="the whole drive",
    ),
    Property(
        "interleave_degree", "units", "Interleave degree", "units that read at the same time",
        "which reads wait for each other",
    ),
    Property(
        "placement", "", "Placement", "of a large unit over the channels",
        "where runs of blocks that wait for each other end",
    ),
    Property(
        "placement_pages", "pages", "Placement k", "pages in a row on a channel",
        "where runs of blocks that wait for each other end",
    ),
    Property(
        "rmw_unit_bytes", "bytes", "RMW unit", "smallest span rewritten by a small write",
        "a place at which short writes take longer",
    ),
    Property(
        "alignment_phase_bytes", "bytes", "Alignment phase",
        "how far before multiples of their size units begin",
        "the place where units begin",
    ),
    Property(
        "merge_unit_bytes", "bytes", "Merge unit", "span of a data or log block",
        "a span after which slow writes return",
    ),
    Property(
        "write_buffer_bytes", "bytes", "Write buffer", "size",
        "the write that finds a buffer full", TOLERANCE,
    ),
    Property(
        "write_buffer_unit_bytes", "bytes", "Write buffer unit",
        "room that the smallest write takes", "the room that a short write takes in a buffer",
    ),
    Property(
        "allocation", "", "Allocation", "by the order of writing, or by address",
        "how blocks that were written one behind the other are read",
    ),
    Property(
        "internal_volume_bits", "bits of the byte address", "Internal volumes",
        "address bits that choose one", "an address bit that decides which reads wait",
    ),
    Property(
        "pslc_bytes", "bytes", "Fast region (pSLC)", "written at full speed when idle and empty",
        "the end of a fast region", TOLERANCE,
    ),
    Property(
        "trim_effect", "x", "Effect of TRIM", "on the settled rate of random writes",
        "a gain by discards", TOLERANCE, hangs_on_use=True,
    ),
    Property(
        "over_provisioning_ratio", "x", "Over-provisioning", "spare space over exported space",
        "the write from which on overwriting is slower", TOLERANCE,
    ),
    Property(
        "gc_write_amplification", "x", "Write amplification", "of settled uniform random writes",
        "how overwriting slows down", TOLERANCE,
    ),
    Property(
        "gc_period_bytes", "bytes", "GC period", "written between two collections",
        "a number of bytes after which waits return", TOLERANCE,
    ),
    Property(
        "idle_gc_onset_ns", "ns", "Idle collection", "quiet time after which it begins",
        "a pause that makes the next writes faster", TOLERANCE,
    ),
    Property(
        "reclaim_unit_bytes", "bytes", "Reclaim unit", "collected and erased as one",
        "a number of bytes after which waits return", TOLERANCE,
    ),
    Property(
        "open_units", "units", "Open units", "streams written side by side without loss",
        "the number of streams from which on each costs more",
    ),
)  # fmt: skip

PROPERTIES: dict[str, Property] = {each.key: each for each in _EVERY}
"""Every property by its key."""
