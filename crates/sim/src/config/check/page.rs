//! What page-mapped drives cannot be.

use super::super::{Allocation, PageConfig, State};
use super::Checker;
use crate::geometry::{Geometry, exported_pages};
use crate::layout::Shape;

impl Checker<'_> {
    pub(super) fn check_page(&mut self, page: &PageConfig, state: State) {
        if !self.check_hardware(&page.nand, &page.host) {
            return;
        }
        self.check_scheduler(&page.scheduler);
        self.check_water(page);
        let Some(shape) = self.check_layout(&page.nand, &page.ftl.layout) else { return };
        let units = shape.geometry(&page.nand, page.nand.blocks_per_plane);
        let capacity_units = exported_pages(&units, page.ftl.over_provisioning_ratio);
        self.check_spare(page, &shape, &units, capacity_units);
        let capacity_bytes = u64::from(capacity_units) * u64::from(units.page_bytes);
        self.check_map(&page.map, capacity_bytes);
        self.check_state(state, capacity_bytes);
    }

    /// Checks that `exported` pages of the translation layer leave it blocks to work with.
    fn check_spare(&mut self, page: &PageConfig, shape: &Shape, units: &Geometry, exported: u32) {
        let gc = &page.gc;
        if exported == 0 {
            let message = format!("{} leaves nothing to export", page.ftl.over_provisioning_ratio);
            self.fault("over_provisioning_ratio", &message);
            return;
        }
        let even = exported.div_ceil(units.plane_count);
        let fullest = match page.ftl.allocation {
            Allocation::Address => fullest_plane(shape.units_in_a_row, exported, units.plane_count),
            // In order of arrival they spread.
            Allocation::Order => even,
        };
        let spare_of = |pages: u32| {
            units.blocks_per_plane.saturating_sub(pages.div_ceil(units.pages_per_block))
        };
        // Two write frontiers, and one block more than the number that stops writes.
        let needed = gc.stop_writes_blocks + 3;
        if spare_of(even) < needed {
            let message = format!(
                "{} leaves {} spare blocks in a plane of {}, but {needed} are needed \
                 (gc.stop_writes_blocks = {} + 2 being written + 1 to clean with)",
                page.ftl.over_provisioning_ratio,
                spare_of(even),
                units.blocks_per_plane,
                gc.stop_writes_blocks
            );
            self.fault("over_provisioning_ratio", &message);
        } else if spare_of(fullest) < needed {
            let message = format!(
                "{} in a row on a plane give one of them {fullest} of the {exported} exported \
                 pages; its {} pages leave {} spare blocks, but {needed} are needed",
                page.ftl.layout.placement_pages,
                units.pages_per_plane,
                spare_of(fullest)
            );
            self.fault("ftl.placement_pages", &message);
        }
    }

    fn check_water(&mut self, page: &PageConfig) {
        let gc = &page.gc;
        if gc.min_free_blocks < gc.stop_writes_blocks {
            let message = format!(
                "{} is below gc.stop_writes_blocks = {}: writes would stop before collection starts",
                gc.min_free_blocks, gc.stop_writes_blocks
            );
            self.fault("gc.min_free_blocks", &message);
        }
        if gc.high_water_ratio < gc.low_water_ratio {
            let message = format!(
                "{} is below gc.low_water_ratio = {}",
                gc.high_water_ratio, gc.low_water_ratio
            );
            self.fault("gc.high_water_ratio", &message);
        }
    }
}

/// The most exported pages that any plane has by address.
fn fullest_plane(in_a_row: u32, exported: u32, planes: u32) -> u32 {
    let round = u64::from(in_a_row) * u64::from(planes);
    let (rounds, rest) = (u64::from(exported) / round, u64::from(exported) % round);
    (rounds * u64::from(in_a_row) + rest.min(in_a_row.into())) as u32
}
