//! The keys of how a drive maps: tables `[ftl]` and `[msr]`.

use super::Fallback::{Float, Int, Required, SameAs, Word};
use super::Kind::{Bytes, Choice, Count, PlaneOrder, Ratio};
use super::Scope::{Array, Flash, LogBlock, Msr, Page};
use super::{FIRMWARES, Key, key};

/// This part of the table.
pub(super) const KEYS: &[Key] = &[
    key("ftl.kind", Choice(FIRMWARES), Required, Flash, "the firmware"),
    key(
        "ftl.allocation",
        Choice(&["address", "order"]),
        Word("address"),
        Page,
        "what picks the plane of a write: its address, or the order of arrival",
    ),
    key(
        "ftl.plane_order",
        PlaneOrder,
        Word("CWDP"),
        Array,
        "which of channel, way, die, plane advances first from page to page",
    ),
    key(
        "ftl.placement_pages",
        Count(1, 16_384),
        Int(1),
        Array,
        "pages in a row on one plane before the next plane (k), inside a mapping unit too",
    ),
    key(
        "ftl.map_unit_bytes",
        Bytes(512, 1 << 30),
        SameAs("nand.page_bytes"),
        Array,
        "what is mapped and written as one: a smaller write reads and rewrites the rest",
    ),
    key(
        "ftl.phase_bytes",
        Bytes(0, 1 << 30),
        Int(0),
        Array,
        "bytes of the first mapping unit before the drive's first byte, which nobody reaches",
    ),
    key(
        "ftl.stripe_bytes",
        Bytes(512, 1 << 17),
        SameAs("nand.page_bytes"),
        Array,
        "bytes of a mapping unit on one of its pages before the next page",
    ),
    key(
        "ftl.reclaim_unit_bytes",
        Bytes(0, 1 << 40),
        Int(0),
        Page,
        "bytes collected and erased as one, so many blocks side by side (0: no more than a unit's)",
    ),
    key(
        "ftl.merge_unit_bytes",
        Bytes(1024, 1 << 40),
        Required,
        LogBlock,
        "bytes of a data or log block: physical blocks at one place of so many planes",
    ),
    key(
        "ftl.log_blocks",
        Count(1, 65_536),
        Int(8),
        LogBlock,
        "log blocks, each of a merge unit; over_provisioning_ratio must leave one more",
    ),
    key(
        "ftl.log_association",
        Choice(&["one-to-one", "many-to-one"]),
        Word("one-to-one"),
        LogBlock,
        "a log block for one data block (BAST), or for all, with one for sequential writes (FAST)",
    ),
    key(
        "ftl.log_victim",
        Choice(&["lru", "fifo"]),
        Word("lru"),
        LogBlock,
        "which log block is merged for another: the longest unwritten, or the longest in use",
    ),
    key(
        "msr.reserve_ratio",
        Ratio(0.0, 0.99),
        Float(0.15),
        Msr,
        "share of a plane's blocks that is not exported",
    ),
    key(
        "msr.parallel_units",
        Count(1, 4),
        Int(1),
        Msr,
        "groups of planes in an element that work side by side: 1, 2 or 4",
    ),
];
