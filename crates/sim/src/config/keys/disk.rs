//! The keys of the table `[disk]`, which makes a drive file that of a hard disk.

use super::Fallback::{Int, Required, Word};
use super::Kind::{Bytes, Choice, Count, Nanos};
use super::{Key, Scope, key};

const fn disk(
    path: &'static str,
    kind: super::Kind,
    default: super::Fallback,
    doc: &'static str,
) -> Key {
    key(path, kind, default, Scope::Disk, doc)
}

/// This part of the table.
pub(super) const KEYS: &[Key] = &[
    disk("disk.rpm", Count(600, 60_000), Required, "revolutions of the spindle in a minute"),
    disk("disk.surfaces", Count(1, 64), Required, "surfaces, each with its head"),
    disk("disk.cylinders", Count(16, 1 << 20), Required, "tracks of a surface"),
    disk(
        "disk.zones",
        Count(1, 256),
        Int(16),
        "groups of cylinders, each with its number of sectors per track",
    ),
    disk(
        "disk.outer_sectors_per_track",
        Count(8, 65_536),
        Required,
        "sectors of 512 bytes on a track of the outermost zone",
    ),
    disk(
        "disk.inner_sectors_per_track",
        Count(8, 65_536),
        Required,
        "sectors on a track of the innermost zone; the zones between fall evenly",
    ),
    disk("disk.seek_track_ns", Nanos, Required, "seek to the next cylinder"),
    disk(
        "disk.seek_average_ns",
        Nanos,
        Required,
        "mean seek over all pairs of different cylinders",
    ),
    disk("disk.seek_full_ns", Nanos, Required, "seek over all cylinders"),
    disk(
        "disk.head_switch_ns",
        Nanos,
        Int(1_000_000),
        "from one surface to another of the same cylinder",
    ),
    disk("disk.write_settle_ns", Nanos, Int(0), "more of a seek or a head switch before a write"),
    disk(
        "disk.queue_order",
        Choice(&["position", "arrival"]),
        Word("position"),
        "which command is next: the one that the arm can begin with first, or the oldest",
    ),
    disk("disk.read_cache_bytes", Bytes(0, 1 << 32), Int(0), "the read cache; 0 is none"),
    disk(
        "disk.read_cache_segments",
        Count(1, 4096),
        Int(16),
        "equal parts of the read cache, each for one run of sectors",
    ),
    disk(
        "disk.read_ahead_bytes",
        Bytes(0, 1 << 32),
        Int(0),
        "how far behind a read the arm reads on into the read cache; 0 is not at all",
    ),
    disk(
        "disk.write_cache_bytes",
        Bytes(0, 1 << 32),
        Int(0),
        "writes acknowledged before they are on the medium; 0 writes through",
    ),
];
