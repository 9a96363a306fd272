//! Drives with log blocks.

use super::get::Getter;
use super::host::{self, Host};
use super::layout::{self, UnitLayout};
use super::map::{self, Mapping};
use super::nand::{self, Channel, Nand, Scheduler};

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
    pub scheduler: Scheduler,
    pub map: Mapping,
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
        scheduler: nand::scheduler(get),
        map: map::mapping(get),
    }
}
