//! Page-mapped drives.

use super::gc::{self, Gc};
use super::get::Getter;
use super::host::{self, Host};
use super::layout::{self, UnitLayout};
use super::map::{self, Mapping};
use super::nand::{self, Channel, Nand, Scheduler};

/// What picks the plane of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Its address.
    Address,
    /// The order of arrival.
    Order,
}

/// How a page-mapped firmware maps.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct PageFtl {
    pub over_provisioning_ratio: f64,
    pub allocation: Allocation,
    /// The keys that say where pages lie.
    pub layout: UnitLayout,
}

/// The keys of a page-mapped drive.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is a table of the file")]
pub struct PageConfig {
    pub nand: Nand,
    pub channel: Channel,
    pub host: Host,
    pub ftl: PageFtl,
    pub gc: Gc,
    pub scheduler: Scheduler,
    pub map: Mapping,
}

pub(super) fn page_config(get: &Getter) -> PageConfig {
    PageConfig {
        nand: nand::nand(get),
        channel: nand::channel(get),
        host: host::host(get),
        ftl: PageFtl {
            over_provisioning_ratio: get.float("over_provisioning_ratio"),
            allocation: match get.word("ftl.allocation") {
                "order" => Allocation::Order,
                _ => Allocation::Address,
            },
            layout: layout::unit_layout(get),
        },
        gc: gc::gc(get),
        scheduler: nand::scheduler(get),
        map: map::mapping(get),
    }
}
