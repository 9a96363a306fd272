//! Drive files: TOML in, a checked [`DriveConfig`] out.
//!
//! Read in order: [`keys`] (the table of all keys), `parse` (text to values, all
//! faults at once), `get` and a module per group of tables (the values as structs), `check` (what cannot
//! work, with the reason), [`state`].
//! The simulator's core never sees an optional value.

mod cache;
mod capacity;
mod check;
mod disk;
mod disturbance;
mod fault;
mod gc;
mod get;
mod host;
pub mod keys;
mod layout;
mod log_block;
mod map;
mod memory;
mod msr;
mod nand;
mod near;
mod page;
mod parse;
mod pslc;
mod scope;
mod shape;
pub mod state;
mod wear;

pub use cache::{CacheConfig, Drain, DrainOrder, ReadCacheConfig, WriteBufferConfig};
pub use disk::{Disk, DiskConfig, QueueOrder};
pub use disturbance::{Disturbance, Flushing};
pub use fault::{Fault, Faults};
pub use gc::{Gc, GcPolicy, IdleMerging};
pub use host::{Host, HostQueues, Interface};
pub use layout::UnitLayout;
pub use log_block::{LogAssociation, LogBlockConfig, LogBlockFtl, LogVictim};
pub use map::{DemandMap, Mapping, ZoneMap};
pub use msr::MsrConfig;
pub use nand::{Channel, Nand, Scheduler, Suspend, TypeOrder};
pub use page::{Allocation, PageConfig, PageFtl};
pub use pslc::{Overflow, Pslc};
pub use shape::check_shape;
pub use state::State;
pub use wear::Wear;

use get::Getter;
use parse::{Entries, Value};
use serde_json::{Map, Value as Json};

/// What the firmware reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Firmware {
    /// Page-mapped.
    Page(Box<PageConfig>),
    /// Block-mapped, with log blocks.
    LogBlock(Box<LogBlockConfig>),
    /// Microsoft Research's extension of `DiskSim`.
    Msr(Box<MsrConfig>),
    /// A hard disk.
    Disk(Box<DiskConfig>),
}

/// A drive file, read and found workable.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveConfig {
    /// One line for people.
    pub description: String,
    /// The state it is opened in unless the caller says otherwise.
    pub default_state: State,
    /// What drives of its kind read.
    pub firmware: Firmware,
    /// What spoils measurements on it.
    pub disturbance: Disturbance,
    resolved: Json,
}

impl DriveConfig {
    /// Reads a drive file and applies `sets` (each `KEY=VALUE`) over it.
    ///
    /// `label` names the file in messages.
    ///
    /// # Errors
    /// All faults found, each with line and key.
    pub fn parse(text: &str, label: &str, sets: &[String]) -> Result<Self, Faults> {
        let mut faults = Faults::new(label);
        let Some(entries) = parse::read(text, sets, &mut faults) else { return Err(faults) };
        let config = Self::assemble(&entries);
        let mut contradictions = Faults::new(label);
        check::check(&config, &entries, &mut contradictions);
        faults.add_independent(contradictions);
        faults.into_result(config)
    }

    /// Every key that applies with its value, defaults included, nested as in the file.
    #[must_use]
    pub const fn resolved(&self) -> &Json {
        &self.resolved
    }

    fn assemble(entries: &Entries) -> Self {
        let get = Getter { entries };
        let firmware = match parse::kind_of(entries) {
            Some("disk") => Firmware::Disk(Box::new(disk::disk_config(&get))),
            Some("msr") => Firmware::Msr(Box::new(msr::msr_config(&get))),
            Some("log-block") => Firmware::LogBlock(Box::new(log_block::log_block_config(&get))),
            _ => Firmware::Page(Box::new(page::page_config(&get))),
        };
        Self {
            description: get.word("description").to_owned(),
            default_state: get.word("default_state").parse().unwrap_or(State::Sequential),
            firmware,
            disturbance: disturbance::disturbance(&get),
            resolved: nested(entries),
        }
    }
}

fn nested(entries: &Entries) -> Json {
    let mut root = Map::new();
    for (path, entry) in entries {
        let value = match &entry.value {
            Value::Int(number) => Json::from(*number),
            Value::Float(number) => Json::from(*number),
            Value::Bool(flag) => Json::from(*flag),
            Value::Word(word) => Json::from(word.as_str()),
            Value::List(numbers) => Json::from(numbers.as_slice()),
        };
        match path.split_once('.') {
            None => drop(root.insert((*path).to_owned(), value)),
            Some((section, name)) => {
                let table = root.entry(section).or_insert_with(|| Json::Object(Map::new()));
                if let Json::Object(table) = table {
                    table.insert(name.to_owned(), value);
                }
            }
        }
    }
    Json::Object(root)
}
