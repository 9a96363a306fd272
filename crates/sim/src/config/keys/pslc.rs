//! The keys of the table `[pslc]`: blocks written with one bit per cell.

use super::Fallback::{Bool, Int, Word};
use super::Kind::{Bytes, Choice, Flag, Nanos};
use super::Scope::Page;
use super::{Key, key};

/// This part of the table.
pub(super) const KEYS: &[Key] = &[
    key(
        "pslc.bytes",
        Bytes(0, 1 << 50),
        Int(0),
        Page,
        "what a region of blocks with one bit per cell holds, where writes go first; 0: none",
    ),
    key(
        "pslc.dynamic_bytes",
        Bytes(0, 1 << 50),
        Int(0),
        Page,
        "what free blocks hold at most that it borrows, while more than the low-water mark are free",
    ),
    key("pslc.read_ns", Nanos, Int(25_000), Page, "array time of a page read there"),
    key("pslc.program_ns", Nanos, Int(200_000), Page, "array time of a page program there"),
    key(
        "pslc.fold_when_idle",
        Flag,
        Bool(true),
        Page,
        "after gc.idle_ns without requests its full blocks are moved to the others, and erased",
    ),
    key(
        "pslc.overflow",
        Choice(&["fold", "direct"]),
        Word("fold"),
        Page,
        "when it is full, writes wait until a block of it is folded, or go to the other blocks",
    ),
];
