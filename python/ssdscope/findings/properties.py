"""Every property that a probe may report: unit, family, names, meaning, and how exact it is."""

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
    families
        Families of properties that it is of, one of which answers it.
    name, note
        What a person calls it, and a few words more.
    sign
        What it shows by: the subject of a sentence.
    meaning
        What it means for who uses the drive.
    tolerance
        By what share of the truth a value may be off; None if only the truth itself is right.
    hangs_on_use
        Whether the size of a value hangs on what is asked of the drive, so that what is right or
        wrong is that it is there.
    absence
        What stands for its value where it is absent.
    words
        What its value may be, where that is a word.
    """

    key: str
    unit: str
    families: tuple[str, ...]
    name: str
    note: str
    sign: str
    meaning: str
    tolerance: float | None = None
    hangs_on_use: bool = False
    absence: str = "none"
    words: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether a value is right only if it is the truth."""
        return self.tolerance is None


_EVERY = (
    Property(
        "rotation_ns", "ns", ("disk",), "Rotation", "one turn of a hard disk",
        sign="a wait until a place comes round again",
        meaning="one turn of the spindle; a read waits for half of it on average",
        tolerance=TOLERANCE,
    ),
    Property(
        "seek_track_ns", "ns", ("disk",), "Track-to-track seek", "to the next cylinder",
        sign="what the arm takes to the next cylinder",
        meaning="what the arm takes to the next cylinder",
        tolerance=TOLERANCE,
    ),
    Property(
        "seek_full_ns", "ns", ("disk",), "Full-stroke seek", "over all cylinders",
        sign="what the arm takes from one end to the other",
        meaning="what the arm takes from one end of the disk to the other",
        tolerance=TOLERANCE,
    ),
    Property(
        "disk_cache_bytes", "bytes", ("disk",), "Disk cache", "read cache of a hard disk",
        sign="what a segment still holds",
        meaning="what was read or read ahead and comes back from RAM",
        tolerance=TOLERANCE,
    ),
    Property(
        "disk_cache_segments", "segments", ("disk",),
        "Disk cache segments", "runs of sectors that it holds",
        sign="the number of places that a cache still holds",
        meaning="streams that are read side by side without losing what is read ahead",
    ),
    Property(
        "array_members", "drives", ("array",), "Members", "unlike drives of an array",
        sign="chunks in turn that take longer to read",
        meaning="drives that chunks lie on in turn; what is found of one holds for none of it all",
    ),
    Property(
        "read_latency_alpha_ns", "ns", ("latency",), "Read latency per request", "alpha",
        sign="what a read takes besides its bytes",
        meaning="what every read takes, however small",
        tolerance=TOLERANCE,
    ),
    Property(
        "read_latency_beta_ns_per_byte", "ns/byte", ("latency",), "Read latency per byte", "beta",
        sign="what each byte of a read takes",
        meaning="what each further byte of a read takes",
        tolerance=TOLERANCE,
    ),
    Property(
        "queue_depth_knee", "requests", ("latency",),
        "Queue-depth knee", "depth that gives 90 % of the plateau",
        sign="the depth from which on deeper queues gain nothing",
        meaning="requests in flight that give 90 % of the most reads per second",
        tolerance=TOLERANCE,
    ),
    Property(
        "rmw_unit_bytes", "bytes", ("units",),
        "RMW unit", "smallest span rewritten by a small write",
        sign="a place at which short writes take longer",
        meaning="a smaller write reads, changes and rewrites so much",
    ),
    Property(
        "alignment_phase_bytes", "bytes", ("units",),
        "Alignment phase", "how far before multiples of their size units begin",
        sign="the place where units begin",
        meaning="units begin so far before multiples of their size",
    ),
    Property(
        "merge_unit_bytes", "bytes", ("merging",), "Merge unit", "span of a data or log block",
        sign="a span after which slow writes return",
        meaning="random writes make the drive rewrite so much",
    ),
    Property(
        "open_units", "units", ("merging",),
        "Open units", "streams written side by side without loss",
        sign="the number of streams from which on each costs more",
        meaning="streams that are written side by side without loss",
    ),
    Property(
        "write_buffer_bytes", "bytes", ("buffer",), "Write buffer", "size",
        sign="the write that finds a buffer full",
        meaning="a burst up to this size is taken at the speed of RAM",
        tolerance=TOLERANCE,
    ),
    Property(
        "write_buffer_unit_bytes", "bytes", ("units", "buffer"),
        "Write buffer unit", "room that the smallest write takes",
        sign="the room that a short write takes in a buffer",
        meaning="room that the smallest write takes in the buffer",
    ),
    Property(
        "read_cache_bytes", "bytes", ("caches",), "Read cache", "size",
        sign="the block that no longer comes from a cache",
        meaning="reads that come back from RAM as long as no more is read between",
        tolerance=TOLERANCE,
    ),
    Property(
        "read_cache_unit_bytes", "bytes", ("caches",), "Read cache unit", "what one miss brings in",
        sign="the edge of what one miss brings in",
        meaning="what a read brings into the cache, however small it is",
    ),
    Property(
        "read_ahead_bytes", "bytes", ("caches",), "Read-ahead", "fetched beyond a row of reads",
        sign="a block that was fetched before it was asked for",
        meaning="what the drive fetches unasked behind reads in sequence",
        tolerance=TOLERANCE,
    ),
    Property(
        "map_zone_bytes", "bytes", ("table",), "Map zone", "span of one part of the mapping table",
        sign="an edge between blocks that are read faster one behind the other",
        meaning="what one piece of the mapping table covers",
    ),
    Property(
        "map_cache_bytes", "bytes", ("table",), "Map cache", "addresses whose mapping stays in RAM",
        sign="the number of places that stay fast",
        meaning="addresses whose mapping stays in RAM; beyond, reads wait for the map",
        tolerance=TOLERANCE, absence="the whole drive",
    ),
    Property(
        "interleave_degree", "units", ("dies",),
        "Interleave degree", "units that read at the same time",
        sign="which reads wait for each other",
        meaning="units that serve reads at the same time",
    ),
    Property(
        "placement", "", ("dies",), "Placement", "of a large unit over the channels",
        sign="where runs of blocks that wait for each other end",
        meaning="how a large unit lies over the channels",
        words=("one-channel", "multi-channel"),
    ),
    Property(
        "placement_pages", "pages", ("dies",), "Placement k", "pages in a row on a channel",
        sign="where runs of blocks that wait for each other end",
        meaning="pages in a row on one channel",
    ),
    Property(
        "internal_volume_bits", "bits of the byte address", ("dies",),
        "Internal volumes", "address bits that choose one",
        sign="an address bit that decides which reads wait",
        meaning="bits of an address that choose the part of the drive",
    ),
    Property(
        "page_types", "types", ("types",), "Page types", "pages of a word line",
        sign="a type of pages that takes longer to read",
        meaning="pages that share their cells, each of which takes another time",
        absence="one",
    ),
    Property(
        "allocation", "", ("order",), "Allocation", "by the order of writing, or by address",
        sign="how blocks that were written one behind the other are read",
        meaning="whether data lie in the order of writing or by address",
        words=("order", "address"),
    ),
    Property(
        "over_provisioning_ratio", "x", ("spare",),
        "Over-provisioning", "spare space over exported space",
        sign="the write from which on overwriting is slower",
        meaning="spare space, as a share of what is exported",
        tolerance=TOLERANCE,
    ),
    Property(
        "gc_write_amplification", "x", ("spare",),
        "Write amplification", "of settled uniform random writes",
        sign="how overwriting slows down",
        meaning="bytes programmed for each byte of settled random writes",
        tolerance=TOLERANCE,
    ),
    Property(
        "gc_period_bytes", "bytes", ("collection",), "GC period", "written between two collections",
        sign="a number of bytes after which waits return",
        meaning="written between two collections",
        tolerance=TOLERANCE,
    ),
    Property(
        "reclaim_unit_bytes", "bytes", ("collection",),
        "Reclaim unit", "collected and erased as one",
        sign="a number of bytes after which waits return",
        meaning="collected and erased as one; trim and delete in such pieces",
        tolerance=TOLERANCE,
    ),
    Property(
        "idle_gc_onset_ns", "ns", ("collection",),
        "Idle collection", "quiet time after which it begins",
        sign="a pause that makes the next writes faster",
        meaning="quiet time after which the drive collects by itself",
        tolerance=TOLERANCE,
    ),
    Property(
        "pslc_bytes", "bytes", ("region",),
        "Fast region (pSLC)", "written at full speed when idle and empty",
        sign="the end of a fast region",
        meaning="written fast after a pause, before the drive folds",
        tolerance=TOLERANCE,
    ),
    Property(
        "trim_effect", "x", ("trim",), "Effect of TRIM", "on the settled rate of random writes",
        sign="a gain by discards",
        meaning="how much faster random writes are once half of the drive is discarded",
        tolerance=TOLERANCE, hangs_on_use=True,
    ),
)  # fmt: skip

PROPERTIES: dict[str, Property] = {each.key: each for each in _EVERY}
"""Every property by its key."""
