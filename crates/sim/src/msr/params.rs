//! The firmware's parameters as plain integers, and what each operation costs.

use super::geometry::Geometry;
use serde::Serialize;
use ssdscope_io::SECTOR_BYTES;

/// Bytes kept beside each sector, moved with it over an element's pins.
const SPARE_BYTES_PER_SECTOR: u64 = 16;
/// Sectors of a summary page that are moved over the pins.
const SUMMARY_SECTORS: u64 = 1;
/// Blocks of a plane are numbered in 16 bits by the victim index.
const MAX_BLOCKS_PER_PLANE: u32 = 1 << 16;

/// Which block is cleaned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The block with the fewest valid pages; of several the highest number.
    Greedy,
    /// As greedy, but blocks much older than the mean are filled with cold data or skipped.
    WearAware,
}

/// A drive with the firmware of DiskSim's SSD extension, resolved to integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MsrParams {
    /// Elements (flash packages), served side by side.
    pub elements: u32,
    /// Planes of an element.
    pub planes: u32,
    /// Blocks of a plane.
    pub blocks_per_plane: u32,
    /// Pages of a block, the last of which is its summary.
    pub pages_per_block: u32,
    /// Bytes of a page, a multiple of 512: the unit of every request.
    pub page_bytes: u32,
    /// Blocks of a plane that are not exported (the floor of ratio x blocks).
    pub reserve_blocks: u32,
    /// A plane with this many free blocks or fewer is cleaned.
    pub low_water_blocks: u32,
    /// Which block is cleaned.
    pub policy: Policy,
    /// Whether an element also cleans while no request waits for it.
    pub background: bool,
    /// Groups of planes in an element that work side by side: 1, 2 or 4.
    pub parallel_units: u32,
    /// From the array into the register, per page.
    pub read_ns: u64,
    /// From the register into the array, per page.
    pub program_ns: u64,
    /// Per block.
    pub erase_ns: u64,
    /// Over an element's pins, per byte; each sector carries 16 bytes of spare.
    pub transfer_ps_per_byte: u64,
    /// Over the bus to the host, per sector; rounded once per request.
    pub link_ps_per_sector: u64,
    /// How often a block can be erased.
    pub endurance_erases: u32,
}

/// Why a drive with these parameters could never work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamsError {
    /// A count that must be larger.
    #[error("{name} is {value}, it must be at least {least}")]
    TooFew {
        /// The field.
        name: &'static str,
        /// Its value.
        value: u32,
        /// The least possible.
        least: u32,
    },
    /// A count that must be smaller.
    #[error("{name} is {value}, it can be at most {most}")]
    TooMany {
        /// The field.
        name: &'static str,
        /// Its value.
        value: u64,
        /// The most possible.
        most: u64,
    },
    /// A page that is not made of sectors.
    #[error("page_bytes is {0}, it must be a multiple of 512")]
    PartSector(u32),
    /// Nothing to write to, or nothing to keep.
    #[error(
        "{reserve} of the {blocks} blocks of a plane are in reserve; at least one must be \
         (the block being written) and at least one must not be"
    )]
    Reserve {
        /// Blocks in reserve.
        reserve: u32,
        /// Blocks of a plane.
        blocks: u32,
    },
    /// Cleaning that could never end.
    #[error(
        "the low-water mark is {low} free blocks per plane, but only {reserve} are in reserve: \
         cleaning would start at once and never end\n\nhint: raise the reserve above the \
         low-water mark, or lower the mark"
    )]
    LowWater {
        /// Free blocks at which cleaning starts.
        low: u32,
        /// Blocks in reserve.
        reserve: u32,
    },
    /// Units that planes cannot be shared out to.
    #[error("{units} parallel units: there can be 1, 2 or 4, and they must share {planes} planes")]
    Units {
        /// Parallel units.
        units: u32,
        /// Planes of an element.
        planes: u32,
    },
}

impl MsrParams {
    /// Refuses what could never serve a request.
    ///
    /// # Errors
    /// The first reason found.
    pub fn check(&self) -> Result<(), ParamsError> {
        for (name, value, least) in [
            ("elements", self.elements, 1),
            ("planes", self.planes, 1),
            ("blocks_per_plane", self.blocks_per_plane, 2),
            ("pages_per_block", self.pages_per_block, 2),
            ("page_bytes", self.page_bytes, 512),
            ("endurance_erases", self.endurance_erases, 1),
        ] {
            if value < least {
                return Err(ParamsError::TooFew { name, value, least });
            }
        }
        let pages = u64::from(self.planes)
            .saturating_mul(self.blocks_per_plane.into())
            .saturating_mul(self.pages_per_block.into());
        for (name, value, most) in [
            ("blocks_per_plane", self.blocks_per_plane.into(), MAX_BLOCKS_PER_PLANE.into()),
            ("pages_per_block", self.pages_per_block.into(), u16::MAX.into()),
            ("the number of pages of an element", pages, u64::from(u32::MAX) - 1),
        ] {
            if value > most {
                return Err(ParamsError::TooMany { name, value, most });
            }
        }
        self.check_relations()
    }

    fn check_relations(&self) -> Result<(), ParamsError> {
        let (reserve, blocks, low) =
            (self.reserve_blocks, self.blocks_per_plane, self.low_water_blocks);
        if !u64::from(self.page_bytes).is_multiple_of(SECTOR_BYTES) {
            return Err(ParamsError::PartSector(self.page_bytes));
        }
        if reserve == 0 || reserve >= blocks {
            return Err(ParamsError::Reserve { reserve, blocks });
        }
        if low >= reserve {
            return Err(ParamsError::LowWater { low, reserve });
        }
        let (units, planes) = (self.parallel_units, self.planes);
        if !matches!(units, 1 | 2 | 4) || !planes.is_multiple_of(units) {
            return Err(ParamsError::Units { units, planes });
        }
        Ok(())
    }

    /// What a host sees: the pages that are not in reserve and not summaries.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        u64::from(self.elements)
            * u64::from(self.geometry().logical_pages())
            * u64::from(self.page_bytes)
    }

    pub(super) fn geometry(&self) -> Geometry {
        Geometry {
            planes: self.planes,
            blocks_per_plane: self.blocks_per_plane,
            pages_per_block: self.pages_per_block,
            reserve_blocks: self.reserve_blocks,
        }
    }

    pub(super) fn costs(&self) -> Costs {
        let pins_ns = |sectors: u64| {
            rounded_ns(sectors * (SECTOR_BYTES + SPARE_BYTES_PER_SECTOR), self.transfer_ps_per_byte)
        };
        Costs {
            read_ns: self.read_ns,
            program_ns: self.program_ns,
            erase_ns: self.erase_ns,
            page_transfer_ns: pins_ns(u64::from(self.page_bytes) / SECTOR_BYTES),
            summary_transfer_ns: pins_ns(SUMMARY_SECTORS),
        }
    }

    /// The time that `sectors` hold the bus to the host.
    pub(super) fn link_ns(&self, sectors: u64) -> u64 {
        rounded_ns(sectors, self.link_ps_per_sector)
    }
}

/// `count` times `ps_each`, to the nearest nanosecond.
fn rounded_ns(count: u64, ps_each: u64) -> u64 {
    let ns = (u128::from(count) * u128::from(ps_each) + 500) / 1000;
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// Nanoseconds of the elementary operations of an element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    pub read_ns: u64,
    pub program_ns: u64,
    pub erase_ns: u64,
    pub page_transfer_ns: u64,
    pub summary_transfer_ns: u64,
}

impl Costs {
    /// Programming the summary page that closes a block.
    pub fn summary_ns(&self) -> u64 {
        self.program_ns + self.summary_transfer_ns
    }
}
