//! What page-mapped drives cannot be.

use super::super::{Allocation, PageConfig, State};
use super::Checker;
use crate::geometry::{Geometry, exported_pages};

impl Checker<'_> {
    pub(super) fn check_page(&mut self, page: &PageConfig, state: State) {
        if !self.check_hardware(&page.nand, &page.host) {
            return;
        }
        let capacity_pages =
            exported_pages(&Geometry::new(&page.nand), page.ftl.over_provisioning_ratio);
        self.check_spare(page, capacity_pages);
        self.check_water(page);
        let capacity_bytes = u64::from(capacity_pages) * u64::from(page.nand.page_bytes);
        self.check_state(state, capacity_bytes);
    }

    fn check_spare(&mut self, page: &PageConfig, exported: u32) {
        let (nand, gc) = (&page.nand, &page.gc);
        if exported == 0 {
            let message = format!("{} leaves nothing to export", page.ftl.over_provisioning_ratio);
            self.fault("over_provisioning_ratio", &message);
            return;
        }
        let planes = Geometry::new(nand).plane_count;
        let even = exported.div_ceil(planes);
        let fullest = fullest_plane(page, exported, planes);
        let spare_of =
            |pages: u32| nand.blocks_per_plane.saturating_sub(pages.div_ceil(nand.pages_per_block));
        // Two write frontiers, and one block more than the number that stops writes.
        let needed = gc.stop_writes_blocks + 3;
        if spare_of(even) < needed {
            let message = format!(
                "{} leaves {} spare blocks in a plane of {}, but {needed} are needed \
                 (gc.stop_writes_blocks = {} + 2 being written + 1 to clean with)",
                page.ftl.over_provisioning_ratio,
                spare_of(even),
                nand.blocks_per_plane,
                gc.stop_writes_blocks
            );
            self.fault("over_provisioning_ratio", &message);
        } else if spare_of(fullest) < needed {
            let message = format!(
                "{} in a row on a plane give one of them {fullest} of the {exported} exported \
                 pages; its {} pages leave {} spare blocks, but {needed} are needed",
                page.ftl.placement_pages,
                nand.blocks_per_plane * nand.pages_per_block,
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

/// The most exported pages that any plane has by address; in order of arrival they spread.
fn fullest_plane(page: &PageConfig, exported: u32, planes: u32) -> u32 {
    if page.ftl.allocation == Allocation::Order {
        return exported.div_ceil(planes);
    }
    let in_a_row = page.ftl.placement_pages;
    let round = u64::from(in_a_row) * u64::from(planes);
    let (rounds, rest) = (u64::from(exported) / round, u64::from(exported) % round);
    (rounds * u64::from(in_a_row) + rest.min(in_a_row.into())) as u32
}
