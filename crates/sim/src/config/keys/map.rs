//! The keys of the table `[map]`: which part of the mapping table is in RAM.

use super::Fallback::{Int, Word};
use super::Kind::{Bytes, Choice, Count, Nanos};
use super::Scope::Array;
use super::{Key, key};

/// This part of the table.
pub(super) const KEYS: &[Key] = &[
    key(
        "map.kind",
        Choice(&["ram", "zones"]),
        Word("ram"),
        Array,
        "what of the mapping table is in RAM: all of it, or a few zones",
    ),
    key(
        "map.zone_bytes",
        Bytes(512, 1 << 50),
        Int(64 << 20),
        Array,
        "zones: the span of the address space whose table is loaded as a whole",
    ),
    key(
        "map.resident_zones",
        Count(1, 1 << 24),
        Int(1),
        Array,
        "zones: how many tables fit in RAM",
    ),
    key("map.load_ns", Nanos, Int(1_000_000), Array, "zones: loading a table"),
    key(
        "map.write_back_ns",
        Nanos,
        Int(2_000_000),
        Array,
        "zones: writing a changed table back before another one takes its place",
    ),
];
