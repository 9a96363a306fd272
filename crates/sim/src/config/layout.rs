//! Where pages lie: the keys of `[ftl]` that page-mapped and log-block drives share.

use super::get::Getter;

/// How mapping units lie on physical pages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct UnitLayout {
    /// Four of the letters C, W, D, P.
    pub plane_order: String,
    pub placement_pages: u32,
    pub map_unit_bytes: u64,
    pub phase_bytes: u64,
    pub stripe_bytes: u32,
    /// 0 on log-block drives, which have merge units.
    pub reclaim_unit_bytes: u64,
}

pub(super) fn unit_layout(get: &Getter) -> UnitLayout {
    let reclaim = "ftl.reclaim_unit_bytes";
    UnitLayout {
        plane_order: get.word("ftl.plane_order").to_owned(),
        placement_pages: get.int("ftl.placement_pages"),
        map_unit_bytes: get.long("ftl.map_unit_bytes"),
        phase_bytes: get.long("ftl.phase_bytes"),
        stripe_bytes: get.int("ftl.stripe_bytes"),
        reclaim_unit_bytes: if get.has(reclaim) { get.long(reclaim) } else { 0 },
    }
}
