//! Drive files: TOML in, a checked [`DriveConfig`] out.
//!
//! Read in order: [`keys`] (the table of all keys), `parse` (text to values, all
//! faults at once), `drive` and `disk` (the values as structs), `check` (what cannot
//! work, with the reason), [`state`].
//! The simulator's core never sees an optional value.

mod check;
mod disk;
mod drive;
mod fault;
pub mod keys;
mod keys_disk;
mod near;
mod parse;
mod scope;
pub mod state;

pub use disk::{Disk, DiskConfig, QueueOrder};
pub use drive::{
    Allocation, Channel, Gc, GcPolicy, Host, Interface, LogAssociation, LogBlockConfig,
    LogBlockFtl, LogVictim, MsrConfig, Nand, PageConfig, PageFtl, Scheduler,
};
pub use fault::{Fault, Faults};
pub use state::State;

use crate::msr::Policy;
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
    /// All the rest.
    pub firmware: Firmware,
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
        let entries = parse::read(text, label, sets)?;
        let config = Self::assemble(&entries);
        let mut faults = Faults::new(label);
        check::check(&config, &entries, &mut faults);
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
            Some("msr") => Firmware::Msr(Box::new(msr_config(&get))),
            Some("log-block") => Firmware::LogBlock(Box::new(log_block_config(&get))),
            _ => Firmware::Page(Box::new(page_config(&get))),
        };
        Self {
            description: get.word("description").to_owned(),
            default_state: get.word("default_state").parse().unwrap_or(State::Sequential),
            firmware,
            resolved: nested(entries),
        }
    }
}

fn nand(get: &Getter) -> Nand {
    Nand {
        channels: get.int("nand.channels"),
        ways: get.int("nand.ways"),
        dies: get.int("nand.dies"),
        planes: get.int("nand.planes"),
        blocks_per_plane: get.int("nand.blocks_per_plane"),
        pages_per_block: get.int("nand.pages_per_block"),
        page_bytes: get.int("nand.page_bytes"),
        spare_bytes: if get.has("nand.spare_bytes") { get.int("nand.spare_bytes") } else { 0 },
        read_ns: get.long("nand.read_ns"),
        program_ns: get.long("nand.program_ns"),
        erase_ns: get.long("nand.erase_ns"),
        endurance_erases: if get.has("nand.endurance_erases") {
            get.int("nand.endurance_erases")
        } else {
            u32::MAX
        },
    }
}

fn gc_policy(get: &Getter) -> GcPolicy {
    match get.word("gc.policy") {
        "wear-aware" => GcPolicy::WearAware,
        "cost-benefit" => GcPolicy::CostBenefit,
        "fifo" => GcPolicy::Fifo,
        "random" => GcPolicy::Random,
        "d-choices" => GcPolicy::DChoices,
        _ => GcPolicy::Greedy,
    }
}

fn msr_config(get: &Getter) -> MsrConfig {
    MsrConfig {
        nand: nand(get),
        ns_per_byte: get.float("channel.ns_per_byte"),
        bytes_per_second: get.float("host.bytes_per_second"),
        policy: match gc_policy(get) {
            GcPolicy::WearAware => Policy::WearAware,
            _ => Policy::Greedy,
        },
        low_water_ratio: get.float("gc.low_water_ratio"),
        background: get.flag("gc.background"),
        reserve_ratio: get.float("msr.reserve_ratio"),
        parallel_units: get.int("msr.parallel_units"),
    }
}

fn page_config(get: &Getter) -> PageConfig {
    PageConfig {
        nand: nand(get),
        channel: channel(get),
        host: host(get),
        ftl: PageFtl {
            over_provisioning_ratio: get.float("over_provisioning_ratio"),
            allocation: match get.word("ftl.allocation") {
                "order" => Allocation::Order,
                _ => Allocation::Address,
            },
            plane_order: get.word("ftl.plane_order").to_owned(),
            placement_pages: get.int("ftl.placement_pages"),
        },
        gc: Gc {
            policy: gc_policy(get),
            choices: get.int("gc.choices"),
            low_water_ratio: get.float("gc.low_water_ratio"),
            high_water_ratio: get.float("gc.high_water_ratio"),
            min_free_blocks: get.int("gc.min_free_blocks"),
            stop_writes_blocks: get.int("gc.stop_writes_blocks"),
            max_victims: get.int("gc.max_victims"),
            background: get.flag("gc.background"),
            idle_ns: get.long("gc.idle_ns"),
        },
        scheduler: scheduler(get),
    }
}

fn log_block_config(get: &Getter) -> LogBlockConfig {
    LogBlockConfig {
        nand: nand(get),
        channel: channel(get),
        host: host(get),
        ftl: LogBlockFtl {
            over_provisioning_ratio: get.float("over_provisioning_ratio"),
            plane_order: get.word("ftl.plane_order").to_owned(),
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
        scheduler: scheduler(get),
    }
}

fn channel(get: &Getter) -> Channel {
    Channel {
        ns_per_byte: get.float("channel.ns_per_byte"),
        read_command_ns: get.long("channel.read_command_ns"),
        read_command_extra_plane_ns: get.long("channel.read_command_extra_plane_ns"),
        program_command_ns: get.long("channel.program_command_ns"),
        program_command_extra_plane_ns: get.long("channel.program_command_extra_plane_ns"),
        erase_command_ns: get.long("channel.erase_command_ns"),
        ready_busy_ns: get.long("channel.ready_busy_ns"),
    }
}

fn scheduler(get: &Getter) -> Scheduler {
    Scheduler {
        read_first: get.flag("scheduler.read_first"),
        host_first: get.flag("scheduler.host_first"),
        multi_plane: get.flag("scheduler.multi_plane"),
        die_interleave: get.flag("scheduler.die_interleave"),
    }
}

fn host(get: &Getter) -> Host {
    let interface = if get.word("host.interface") == "nvme" {
        Interface::Nvme {
            lanes: get.int("host.lanes"),
            lane_bytes_per_second: get.float("host.lane_bytes_per_second"),
            packet_payload_bytes: get.int("host.packet_payload_bytes"),
            packet_overhead_bytes: get.int("host.packet_overhead_bytes"),
        }
    } else {
        Interface::Simple {
            bytes_per_second: get.float("host.bytes_per_second"),
            command_ns: get.long("host.command_ns"),
        }
    };
    Host {
        interface,
        logical_block_bytes: get.int("host.logical_block_bytes"),
        queue_depth: get.int("host.queue_depth"),
        firmware_ns: get.long("host.firmware_ns"),
    }
}

/// Typed access to entries that parsing has already checked and completed: a
/// missing one cannot happen, and would be a fault of the table, so it panics.
struct Getter<'a> {
    entries: &'a Entries,
}

impl Getter<'_> {
    fn value(&self, path: &str) -> &Value {
        &self.entries.get(path).unwrap_or_else(|| panic!("{path} was not resolved")).value
    }

    fn has(&self, path: &str) -> bool {
        self.entries.contains_key(path)
    }

    fn long(&self, path: &str) -> u64 {
        match self.value(path) {
            Value::Int(number) => *number,
            other => panic!("{path} is {other:?}, not a whole number"),
        }
    }

    fn int(&self, path: &str) -> u32 {
        u32::try_from(self.long(path))
            .unwrap_or_else(|_| panic!("{path} is not bounded to 32 bits"))
    }

    fn float(&self, path: &str) -> f64 {
        match self.value(path) {
            Value::Float(number) => *number,
            other => panic!("{path} is {other:?}, not a number"),
        }
    }

    fn flag(&self, path: &str) -> bool {
        matches!(self.value(path), Value::Bool(true))
    }

    fn word(&self, path: &str) -> &str {
        match self.value(path) {
            Value::Word(word) => word,
            other => panic!("{path} is {other:?}, not a word"),
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
