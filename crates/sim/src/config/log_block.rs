//! Drives with log blocks.

use super::cache::{self, CacheConfig};
use super::gc::{self, IdleMerging};
use super::get::Getter;
use super::host::{self, Host};
use super::layout::{self, UnitLayout};
use super::map::{self, Mapping};
use super::nand::{self, Channel, Lack, Nand, Scheduler};
use crate::geometry::{Geometry, exported_pages};
use crate::layout::Shape;

/// Which data blocks a log block takes pages of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogAssociation {
    /// Those of one (BAST).
    OneToOne,
    /// Those of all, with one log block for sequential writes (FAST).
    ManyToOne,
}

/// Which log block is merged when another one is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogVictim {
    /// The one not written for longest.
    Lru,
    /// The one in use for longest.
    Fifo,
}

/// How a log-block firmware maps.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct LogBlockFtl {
    pub over_provisioning_ratio: f64,
    /// The keys that say where pages lie.
    pub layout: UnitLayout,
    pub merge_unit_bytes: u64,
    pub log_blocks: u32,
    pub log_association: LogAssociation,
    pub log_victim: LogVictim,
}

/// The keys of a drive with log blocks.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is a table of the file")]
pub struct LogBlockConfig {
    pub nand: Nand,
    pub channel: Channel,
    pub host: Host,
    pub ftl: LogBlockFtl,
    pub gc: IdleMerging,
    pub scheduler: Scheduler,
    pub map: Mapping,
    /// Whether each zone of the mapping table has its own log blocks and free units.
    pub private_pools: bool,
    pub caches: CacheConfig,
}

impl LogBlockConfig {
    /// The array in mapping units.
    fn array(&self) -> Geometry {
        Shape::new(&self.nand, &self.ftl.layout).geometry(&self.nand, self.nand.blocks_per_plane)
    }

    /// Blocks of the array of mapping units in a merge unit.
    #[must_use]
    pub fn blocks_per_unit(&self) -> u32 {
        let array = self.array();
        let block_bytes = u64::from(array.pages_per_block) * u64::from(array.page_bytes);
        (self.ftl.merge_unit_bytes / block_bytes) as u32
    }

    /// Merge units of an array of so many blocks in each plane.
    #[must_use]
    pub fn units(&self, blocks_per_plane: u32) -> u32 {
        self.array().plane_count / self.blocks_per_unit() * blocks_per_plane
    }

    /// Exported merge units that share log blocks and free units: those of a zone, or all.
    #[must_use]
    pub fn units_per_pool(&self) -> u32 {
        match &self.map {
            Mapping::Zones(zones) if self.private_pools => {
                let units = zones.zone_bytes / self.ftl.merge_unit_bytes;
                u32::try_from(units).unwrap_or(u32::MAX).max(1)
            }
            _ => self.exported_units().max(1),
        }
    }

    /// What is wrong if so many blocks of a plane are too few.
    pub(crate) fn lack_of_blocks(&self, blocks_per_plane: u32) -> Option<Lack> {
        let (units, exported) = (self.units(blocks_per_plane), self.exported_units());
        let pools = exported.div_ceil(self.units_per_pool()).max(1);
        let spare = units.saturating_sub(exported) / pools;
        let each = if pools > 1 { format!(" for each of {pools} zones") } else { String::new() };
        (self.ftl.log_blocks >= spare).then(|| Lack {
            key: "ftl.log_blocks",
            reason: format!(
                "{} log blocks and one to merge into are more than the {spare} spare blocks that \
                 over_provisioning_ratio = {} leaves of {units}{each}",
                self.ftl.log_blocks, self.ftl.over_provisioning_ratio,
            ),
        })
    }

    /// The most log blocks that can be in use for the first bytes of the drive, or all of them.
    #[must_use]
    pub fn log_blocks_within(&self, window_bytes: Option<u64>) -> u32 {
        let all = self.exported_units();
        let units = window_bytes.map_or(all, |bytes| {
            u32::try_from(bytes.div_ceil(self.ftl.merge_unit_bytes)).unwrap_or(all).min(all)
        });
        units.div_ceil(self.units_per_pool()).saturating_mul(self.ftl.log_blocks).min(units)
    }

    /// Merge units that the host sees: whole ones only.
    #[must_use]
    pub fn exported_units(&self) -> u32 {
        let array = self.array();
        let pages = exported_pages(&array, self.ftl.over_provisioning_ratio);
        pages / (self.blocks_per_unit() * array.pages_per_block)
    }
}

pub(super) fn log_block_config(get: &Getter) -> LogBlockConfig {
    LogBlockConfig {
        nand: nand::nand(get),
        channel: nand::channel(get),
        host: host::host(get),
        ftl: LogBlockFtl {
            over_provisioning_ratio: get.float("over_provisioning_ratio"),
            layout: layout::unit_layout(get),
            merge_unit_bytes: get.long("ftl.merge_unit_bytes"),
            log_blocks: get.int("ftl.log_blocks"),
            log_association: match get.word("ftl.log_association") {
                "many-to-one" => LogAssociation::ManyToOne,
                _ => LogAssociation::OneToOne,
            },
            log_victim: match get.word("ftl.log_victim") {
                "fifo" => LogVictim::Fifo,
                _ => LogVictim::Lru,
            },
        },
        gc: gc::idle_merging(get),
        scheduler: nand::scheduler(get),
        map: map::mapping(get),
        private_pools: get.flag("map.private_pools"),
        caches: cache::caches(get),
    }
}
