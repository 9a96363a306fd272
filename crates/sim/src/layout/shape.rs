//! What the keys of a drive file make of units: how many pages, on how many planes.

use crate::config::{Nand, UnitLayout};
use crate::divisor::Divisor;
use crate::geometry::Geometry;

/// The sizes that a drive file gives: how many pages make a unit, and how they lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Physical pages of a unit.
    pub pages: u32,
    /// Of those, in a row on a plane.
    pub in_a_row: u32,
    /// Planes of a unit.
    pub width: u32,
    /// Units in a row on the same planes.
    pub units_in_a_row: u32,
    /// Units side by side in a superblock.
    pub groups: u32,
}

impl Shape {
    /// What checked keys come to.
    #[must_use]
    pub fn new(nand: &Nand, keys: &UnitLayout) -> Self {
        let planes = Geometry::new(nand).plane_count;
        let pages = (keys.map_unit_bytes / u64::from(nand.page_bytes)) as u32;
        let in_a_row = keys.placement_pages.min(pages);
        let width = (pages / in_a_row).min(planes);
        let side_by_side = keys.reclaim_unit_bytes / (u64::from(width) * nand.block_bytes());
        Self {
            pages,
            in_a_row,
            width,
            units_in_a_row: keys.placement_pages / in_a_row,
            groups: (side_by_side as u32).max(1),
        }
    }

    /// Pages that a unit takes of each block it lies on.
    #[must_use]
    pub const fn rows(&self) -> u32 {
        self.pages / self.width
    }

    /// Physical planes that are one to the translation layer; of as many blocks is its block.
    #[must_use]
    pub const fn planes(&self) -> u32 {
        self.width * self.groups
    }

    /// The array as the translation layer sees it, of so many blocks in each plane.
    #[must_use]
    pub fn geometry(&self, nand: &Nand, blocks_per_plane: u32) -> Geometry {
        let array = Geometry::new(nand);
        let plane_count = array.plane_count / self.planes();
        let pages_per_block = nand.pages_per_block / self.rows() * self.groups;
        let pages_per_plane = blocks_per_plane * pages_per_block;
        Geometry {
            blocks_per_plane,
            pages_per_block,
            page_bytes: nand.page_bytes * self.pages,
            plane_count,
            pages_per_plane,
            by_plane: Divisor::new(pages_per_plane),
            by_block: Divisor::new(pages_per_block),
            page_count: plane_count * pages_per_plane,
            sectors_per_page: array.sectors_per_page * self.pages,
            ..array
        }
    }
}
