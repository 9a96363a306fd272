//! What a drive file says, as plain structs with nothing optional in them.

use crate::msr::{MsrParams, Policy};
use crate::rounding::{nearest, share_of};

/// The flash array's shape and times.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub erase_ns: u64,
    pub endurance_erases: u32,
}

impl Nand {
    /// Bytes of data in a physical block.
    #[must_use]
    pub const fn block_bytes(&self) -> u64 {
        self.pages_per_block as u64 * self.page_bytes as u64
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

/// The link to the host.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct Host {
    pub interface: Interface,
    pub logical_block_bytes: u32,
    pub queue_depth: u32,
    pub firmware_ns: u64,
}

/// What kind of link.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub enum Interface {
    /// One half-duplex wire.
    Simple { bytes_per_second: f64, command_ns: u64 },
    /// PCIe lanes, both directions at once, packets.
    Nvme {
        lanes: u32,
        lane_bytes_per_second: f64,
        packet_payload_bytes: u32,
        packet_overhead_bytes: u32,
    },
}

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
    /// Four of the letters C, W, D, P.
    pub plane_order: String,
    pub placement_pages: u32,
}

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
    /// Four of the letters C, W, D, P.
    pub plane_order: String,
    pub merge_unit_bytes: u64,
    pub log_blocks: u32,
    pub log_association: LogAssociation,
    pub log_victim: LogVictim,
}

/// Which blocks are collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcPolicy {
    /// The one with the fewest valid pages.
    Greedy,
    /// Greedy, sparing worn blocks and giving them cold data.
    WearAware,
    /// The one with the most space gained per page moved, weighted by its age.
    CostBenefit,
    /// The one filled longest ago.
    Fifo,
    /// Any.
    Random,
    /// The best of a few drawn at random.
    DChoices,
}

/// Garbage collection of a page-mapped drive.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct Gc {
    pub policy: GcPolicy,
    pub choices: u32,
    pub low_water_ratio: f64,
    pub high_water_ratio: f64,
    pub min_free_blocks: u32,
    pub stop_writes_blocks: u32,
    pub max_victims: u32,
    pub background: bool,
    pub idle_ns: u64,
}

/// How commands reach the dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct Scheduler {
    pub read_first: bool,
    pub host_first: bool,
    pub multi_plane: bool,
    pub die_interleave: bool,
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
}

/// The keys of a drive with the firmware of `DiskSim`'s SSD extension.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is a key or table of the file")]
pub struct MsrConfig {
    pub nand: Nand,
    pub ns_per_byte: f64,
    pub bytes_per_second: f64,
    pub policy: Policy,
    pub low_water_ratio: f64,
    pub background: bool,
    pub reserve_ratio: f64,
    pub parallel_units: u32,
}

impl MsrConfig {
    /// The integers that the firmware works with.
    #[must_use]
    pub fn params(&self) -> MsrParams {
        let nand = &self.nand;
        MsrParams {
            elements: nand.channels * nand.ways * nand.dies,
            planes: nand.planes,
            blocks_per_plane: nand.blocks_per_plane,
            pages_per_block: nand.pages_per_block,
            page_bytes: nand.page_bytes,
            reserve_blocks: share_of(nand.blocks_per_plane, self.reserve_ratio),
            low_water_blocks: share_of(nand.blocks_per_plane, self.low_water_ratio),
            policy: self.policy,
            background: self.background,
            parallel_units: self.parallel_units,
            read_ns: nand.read_ns,
            program_ns: nand.program_ns,
            erase_ns: nand.erase_ns,
            transfer_ps_per_byte: nearest(self.ns_per_byte * 1e3),
            link_ps_per_sector: nearest(512.0 * 1e12 / self.bytes_per_second),
            endurance_erases: nand.endurance_erases,
        }
    }
}
