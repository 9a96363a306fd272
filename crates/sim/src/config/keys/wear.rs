//! The keys of the table `[wear]`: spreading erases.

use super::Fallback::{Bool, Int};
use super::Kind::{Count, Flag};
use super::Scope::Page;
use super::{Key, key};

/// This part of the table.
pub(super) const KEYS: &[Key] = &[
    key(
        "wear.dynamic",
        Flag,
        Bool(false),
        Page,
        "the host writes to the free block erased least, collection to the one erased most",
    ),
    key(
        "wear.static_spread_erases",
        Count(0, 1 << 30),
        Int(0),
        Page,
        "with more erases between the blocks of a plane, data that rest are moved; 0: never",
    ),
];
