//! The keys of the tables `[write_buffer]` and `[read_cache]`.

use super::Fallback::{Bool, Float, Int, Word};
use super::Kind::{Bytes, Choice, Count, Flag, Nanos, Rate, Ratio};
use super::Scope::Array;
use super::{Key, key};

/// This part of the table.
pub(super) const KEYS: &[Key] = &[
    key(
        "write_buffer.bytes",
        Bytes(0, 1 << 40),
        Int(0),
        Array,
        "memory in which writes are acknowledged before they are in flash; 0 is none",
    ),
    key(
        "write_buffer.unit_bytes",
        Bytes(512, 1 << 30),
        Int(4096),
        Array,
        "management unit: room is taken and given back in whole ones",
    ),
    key(
        "write_buffer.drain",
        Choice(&["eager", "high-water", "full", "idle"]),
        Word("eager"),
        Array,
        "when it is emptied, besides for a flush or for room: at once, above a mark, not, when idle",
    ),
    key(
        "write_buffer.high_water_ratio",
        Ratio(0.0, 1.0),
        Float(0.75),
        Array,
        "with drain = \"high-water\": share of its units above which it is emptied",
    ),
    key(
        "write_buffer.idle_ns",
        Nanos,
        Int(1_000_000),
        Array,
        "with drain = \"idle\": how long the host must be quiet first",
    ),
    key(
        "write_buffer.order",
        Choice(&["sequential-runs", "fifo", "lru"]),
        Word("sequential-runs"),
        Array,
        "what goes to flash first: the fullest run of neighbours, the oldest, the longest unwritten",
    ),
    key(
        "write_buffer.concurrent_drains",
        Count(0, 65_536),
        Int(0),
        Array,
        "runs on their way to flash at once; 0: as many as bring each plane 16 pages",
    ),
    key(
        "write_buffer.ns_per_byte",
        Rate(0.0, 1e6),
        Float(0.0),
        Array,
        "time to copy a byte into it or out of it, one request at a time",
    ),
    key(
        "write_buffer.power_loss_protected",
        Flag,
        Bool(false),
        Array,
        "as durable as flash, so that a flush or a forced write waits for nothing",
    ),
    key(
        "write_buffer.switchable",
        Flag,
        Bool(true),
        Array,
        "whether the host can switch it off, and on again",
    ),
    key(
        "read_cache.bytes",
        Bytes(0, 1 << 40),
        Int(0),
        Array,
        "memory that keeps what was read, the longest unused going first; 0 is none",
    ),
    key(
        "read_cache.unit_bytes",
        Bytes(512, 1 << 30),
        Int(4096),
        Array,
        "management unit: room is taken in whole ones",
    ),
    key(
        "read_cache.read_ahead_bytes",
        Bytes(0, 1 << 40),
        Int(0),
        Array,
        "how far ahead of reads that follow each other it is filled; 0 is not at all",
    ),
    key(
        "read_cache.ns_per_byte",
        Rate(0.0, 1e6),
        Float(0.0),
        Array,
        "time to copy a byte out of it, one request at a time",
    ),
    key(
        "read_cache.switchable",
        Flag,
        Bool(true),
        Array,
        "whether the host can switch it off, and on again",
    ),
];
