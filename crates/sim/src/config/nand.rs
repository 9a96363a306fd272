//! The flash array: tables `[nand]`, `[channel]`, `[scheduler]`.

use super::get::Getter;
use crate::error::SimError;
use crate::rounding::nearest;

/// Which page of a block is of which type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeOrder {
    /// The types in turn, page by page.
    Turns,
    /// Of three types, as cells of three bits are filled in some order that disturbs their
    /// neighbours least: two pages of each in turn, the first type well ahead.
    Pairs,
}

impl TypeOrder {
    /// The type of page `page` of a block, of `types`.
    #[must_use]
    pub const fn of(self, page: usize, types: usize) -> usize {
        match (self, page) {
            (Self::Turns, _) => page % types,
            (Self::Pairs, 0..=5) => 0,
            (Self::Pairs, 6..=7) => 1,
            (Self::Pairs, _) => (page - 8) / 2 % 3,
        }
    }
}

/// The flash array's shape and times.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct Nand {
    pub channels: u32,
    pub ways: u32,
    pub dies: u32,
    pub planes: u32,
    pub blocks_per_plane: u32,
    pub pages_per_block: u32,
    pub page_bytes: u32,
    pub spare_bytes: u32,
    pub read_ns: u64,
    pub program_ns: u64,
    pub read_by_type_ns: Vec<u64>,
    pub program_by_type_ns: Vec<u64>,
    pub type_order: TypeOrder,
    pub erase_ns: u64,
    pub endurance_erases: u32,
    pub bits_per_cell: u32,
    pub bad_block_ratio: f64,
}

impl Nand {
    /// Bytes of data in a physical block.
    #[must_use]
    pub const fn block_bytes(&self) -> u64 {
        self.pages_per_block as u64 * self.page_bytes as u64
    }

    /// Good blocks of a plane, on average.
    #[must_use]
    pub fn good_blocks(&self) -> u32 {
        self.blocks_per_plane
            - nearest(f64::from(self.blocks_per_plane) * self.bad_block_ratio) as u32
    }
}

/// Why a plane has too few blocks, and the key at fault.
#[derive(Clone, Debug)]
pub(crate) struct Lack {
    pub key: &'static str,
    pub reason: String,
}

impl Lack {
    /// The same of a drive whose bad blocks turned out to be too many.
    pub(crate) fn of_good_blocks(&self, ratio: f64, seed: u64) -> SimError {
        SimError::BadBlocks(format!(
            "too many bad blocks with nand.bad_block_ratio = {ratio} and seed {seed}; {}: {}",
            self.key, self.reason
        ))
    }
}

/// Cycles on a flash channel.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct Channel {
    pub ns_per_byte: f64,
    pub read_command_ns: u64,
    pub read_command_extra_plane_ns: u64,
    pub program_command_ns: u64,
    pub program_command_extra_plane_ns: u64,
    pub erase_command_ns: u64,
    pub ready_busy_ns: u64,
}

/// What a read of the host may stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspend {
    /// Nothing.
    None,
    /// Erases.
    Erase,
    /// Programs and erases.
    ProgramAndErase,
}

/// How commands reach the dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct Scheduler {
    pub read_first: bool,
    pub host_first: bool,
    pub multi_plane: bool,
    pub multi_plane_erase: bool,
    pub die_interleave: bool,
    pub way_interleave: bool,
    pub data_first: bool,
    pub cached_read: bool,
    pub cached_program: bool,
    pub suspend: Suspend,
    pub suspend_ns: u64,
    pub resume_ns: u64,
    pub suspend_reads: u32,
}

pub(super) fn nand(get: &Getter) -> Nand {
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
        read_by_type_ns: types(get, "nand.read_by_type_ns"),
        program_by_type_ns: types(get, "nand.program_by_type_ns"),
        type_order: if get.has("nand.type_order") && get.word("nand.type_order") == "pairs" {
            TypeOrder::Pairs
        } else {
            TypeOrder::Turns
        },
        erase_ns: get.long("nand.erase_ns"),
        endurance_erases: get.int("nand.endurance_erases"),
        bits_per_cell: if get.has("nand.bits_per_cell") {
            get.int("nand.bits_per_cell")
        } else {
            1
        },
        bad_block_ratio: if get.has("nand.bad_block_ratio") {
            get.float("nand.bad_block_ratio")
        } else {
            0.0
        },
    }
}

/// Times by type of page, of a firmware that knows types.
fn types(get: &Getter, path: &str) -> Vec<u64> {
    if get.has(path) { get.list(path).to_vec() } else { Vec::new() }
}

pub(super) fn channel(get: &Getter) -> Channel {
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

pub(super) fn scheduler(get: &Getter) -> Scheduler {
    Scheduler {
        read_first: get.flag("scheduler.read_first"),
        host_first: get.flag("scheduler.host_first"),
        multi_plane: get.flag("scheduler.multi_plane"),
        multi_plane_erase: get.flag("scheduler.multi_plane_erase"),
        die_interleave: get.flag("scheduler.die_interleave"),
        way_interleave: get.flag("scheduler.way_interleave"),
        data_first: get.flag("scheduler.data_first"),
        cached_read: get.flag("scheduler.cached_read"),
        cached_program: get.flag("scheduler.cached_program"),
        suspend: match get.word("scheduler.suspend") {
            "erase" => Suspend::Erase,
            "program-and-erase" => Suspend::ProgramAndErase,
            _ => Suspend::None,
        },
        suspend_ns: get.long("scheduler.suspend_ns"),
        resume_ns: get.long("scheduler.resume_ns"),
        suspend_reads: get.int("scheduler.suspend_reads"),
    }
}
