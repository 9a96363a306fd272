//! The keys of the table `[map]`: which part of the mapping table is in RAM.

use super::Fallback::{Bool, Int, Word};
use super::Kind::{Bytes, Choice, Count, Flag, Nanos};
use super::Scope::{Array, LogBlock, Page};
use super::{Key, key};

/// This part of the table.
pub(super) const KEYS: &[Key] = &[
    key(
        "map.kind",
        Choice(&["ram", "zones", "demand"]),
        Word("ram"),
        Array,
        "what of the mapping table is in RAM: all of it, a few zones, or (page) the entries used last",
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
    key(
        "map.private_pools",
        Flag,
        Bool(false),
        LogBlock,
        "zones: each has ftl.log_blocks of its own, and its share of the spare blocks",
    ),
    key(
        "map.cache_bytes",
        Bytes(1, 1 << 40),
        Int(2 << 20),
        Page,
        "demand: RAM for entries of the table",
    ),
    key("map.cached_entry_bytes", Count(1, 512), Int(8), Page, "demand: an entry in RAM"),
    key("map.entry_bytes", Count(1, 512), Int(8), Page, "demand: an entry on its mapping page"),
    key(
        "map.load_bytes",
        Bytes(512, 131_072),
        Int(512),
        Page,
        "demand: what a miss reads of a mapping page, in whole sectors",
    ),
    key(
        "map.read_places",
        Flag,
        Bool(false),
        Page,
        "reading what was never written gives it a place, as if it had been written",
    ),
    key(
        "map.program_map",
        Flag,
        Bool(true),
        Page,
        "demand: what is written back is programmed; else it stays in RAM, a fault of MQSim",
    ),
];
