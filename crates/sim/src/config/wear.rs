//! Wear levelling of page-mapped drives: table `[wear]`.

use super::get::Getter;

/// How erases are spread over the blocks of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct Wear {
    pub dynamic: bool,
    pub static_spread_erases: u32,
}

pub(super) fn wear(get: &Getter) -> Wear {
    Wear {
        dynamic: get.flag("wear.dynamic"),
        static_spread_erases: get.int("wear.static_spread_erases"),
    }
}
