//! A region written with one bit per cell: table `[pslc]`.

use super::get::Getter;
use super::{Nand, UnitLayout};
use crate::layout::Shape;

/// Where writes go when the region is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// They wait until a block of it has been folded.
    Fold,
    /// To the other blocks.
    Direct,
}

/// The region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct Pslc {
    pub bytes: u64,
    pub dynamic_bytes: u64,
    pub read_ns: u64,
    pub program_ns: u64,
    pub fold_when_idle: bool,
    pub overflow: Overflow,
}

impl Pslc {
    /// Pages of the translation layer that a block of its holds with one bit per cell.
    #[must_use]
    pub fn pages_per_block(nand: &Nand, layout: &UnitLayout) -> u32 {
        let shape = Shape::new(nand, layout);
        let turns = nand.pages_per_block / nand.bits_per_cell / shape.rows() / shape.units_in_a_row;
        match shape.groups {
            1 => nand.pages_per_block / nand.bits_per_cell / shape.rows(),
            // Whole turns round the planes of a superblock.
            groups => turns * shape.units_in_a_row * groups,
        }
    }

    /// Bytes of one block of the translation layer in each of its planes.
    #[must_use]
    pub fn step_bytes(nand: &Nand, layout: &UnitLayout) -> u64 {
        let units = Shape::new(nand, layout).geometry(nand, nand.blocks_per_plane);
        let pages = u64::from(Self::pages_per_block(nand, layout)) * u64::from(units.plane_count);
        pages * u64::from(units.page_bytes)
    }

    /// Blocks of each plane of the translation layer that hold so many bytes with one bit per
    /// cell, or less by a part of a step.
    #[must_use]
    pub fn blocks(bytes: u64, nand: &Nand, layout: &UnitLayout) -> u32 {
        let step = Self::step_bytes(nand, layout).max(1);
        u32::try_from(bytes / step).unwrap_or(u32::MAX)
    }
}

pub(super) fn pslc(get: &Getter) -> Pslc {
    Pslc {
        bytes: get.long("pslc.bytes"),
        dynamic_bytes: get.long("pslc.dynamic_bytes"),
        read_ns: get.long("pslc.read_ns"),
        program_ns: get.long("pslc.program_ns"),
        fold_when_idle: get.flag("pslc.fold_when_idle"),
        overflow: match get.word("pslc.overflow") {
            "direct" => Overflow::Direct,
            _ => Overflow::Fold,
        },
    }
}
