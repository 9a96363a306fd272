//! Page-mapped drives.

use super::cache::{self, CacheConfig};
use super::gc::{self, Gc};
use super::get::Getter;
use super::host::{self, Host};
use super::layout::{self, UnitLayout};
use super::map::{self, Mapping};
use super::nand::{self, Channel, Lack, Nand, Scheduler};
use super::pslc::{self, Pslc};
use super::wear::{self, Wear};
use crate::geometry::exported_pages;
use crate::layout::Shape;

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
    /// The key `map.read_places`.
    pub read_places: bool,
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
    pub wear: Wear,
    pub pslc: Pslc,
    pub scheduler: Scheduler,
    pub map: Mapping,
    pub caches: CacheConfig,
}

impl PageConfig {
    /// Pages of the translation layer that the host sees, however many blocks are bad.
    #[must_use]
    pub fn exported_pages(&self) -> u32 {
        let shape = Shape::new(&self.nand, &self.ftl.layout);
        let all = shape.geometry(&self.nand, self.nand.blocks_per_plane);
        exported_pages(&all, self.ftl.over_provisioning_ratio)
    }

    /// What is wrong, and with which key, if so many blocks of a plane are too few.
    pub(crate) fn lack_of_blocks(&self, blocks: u32) -> Option<Lack> {
        let shape = Shape::new(&self.nand, &self.ftl.layout);
        let region = Pslc::blocks(self.pslc.bytes, &self.nand, &self.ftl.layout);
        let blocks = blocks.saturating_sub(region);
        let units = shape.geometry(&self.nand, blocks);
        let exported = self.exported_pages();
        // The table's own pages take room like any others.
        let used = exported + self.map.pages_in_flash(exported, units.page_bytes);
        let even = used.div_ceil(units.plane_count);
        let fullest = match self.ftl.allocation {
            Allocation::Address => fullest_plane(shape.units_in_a_row, used, units.plane_count),
            // In order of arrival they spread.
            Allocation::Order => even,
        };
        let spare_of = |pages: u32| blocks.saturating_sub(pages.div_ceil(units.pages_per_block));
        // Two write frontiers, and one block more than the number that stops writes.
        let stop = self.gc.stop_writes_blocks;
        let needed = stop + 3;
        if spare_of(even) < needed {
            let reason = format!(
                "{} leaves {} spare blocks in a plane of {blocks}, but {needed} are needed \
                 (gc.stop_writes_blocks = {stop} + 2 being written + 1 to clean with){}",
                self.ftl.over_provisioning_ratio,
                spare_of(even),
                if region > 0 {
                    format!("; pslc.bytes = {} takes {region}", self.pslc.bytes)
                } else {
                    String::new()
                },
            );
            return Some(Lack { key: "over_provisioning_ratio", reason });
        }
        (spare_of(fullest) < needed).then(|| Lack {
            key: "ftl.placement_pages",
            reason: format!(
                "{} in a row on a plane give one of them {fullest} of the {exported} exported \
                 pages; its {} pages leave {} spare blocks, but {needed} are needed",
                self.ftl.layout.placement_pages,
                units.pages_per_plane,
                spare_of(fullest)
            ),
        })
    }
}

/// The most exported pages that any plane has by address.
fn fullest_plane(in_a_row: u32, exported: u32, planes: u32) -> u32 {
    let round = u64::from(in_a_row) * u64::from(planes);
    let (rounds, rest) = (u64::from(exported) / round, u64::from(exported) % round);
    (rounds * u64::from(in_a_row) + rest.min(in_a_row.into())) as u32
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
            read_places: get.flag("map.read_places"),
            layout: layout::unit_layout(get),
        },
        gc: gc::gc(get),
        wear: wear::wear(get),
        pslc: pslc::pslc(get),
        scheduler: nand::scheduler(get),
        map: map::mapping(get),
        caches: cache::caches(get),
    }
}
