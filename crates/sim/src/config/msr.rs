//! The firmware of `DiskSim`'s SSD extension.

use super::gc::{GcPolicy, gc_policy};
use super::get::Getter;
use super::nand::{self, Nand};
use crate::msr::{MsrParams, Policy};
use crate::rounding::{nearest, share_of};

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

pub(super) fn msr_config(get: &Getter) -> MsrConfig {
    MsrConfig {
        nand: nand::nand(get),
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
