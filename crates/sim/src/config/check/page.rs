//! What page-mapped drives cannot be.

use super::super::{PageConfig, State, Suspend};
use super::Checker;

impl Checker<'_> {
    pub(super) fn check_page(&mut self, page: &PageConfig, state: State) {
        if !self.check_hardware(&page.nand, &page.host) {
            return;
        }
        self.check_scheduler(&page.scheduler);
        self.check_pslc(page);
        self.check_water(page);
        self.check_caches(&page.caches, &page.nand);
        let Some(shape) = self.check_layout(&page.nand, &page.ftl.layout) else { return };
        let exported = page.exported_pages();
        if exported == 0 {
            let message = format!("{} leaves nothing to export", page.ftl.over_provisioning_ratio);
            self.fault("over_provisioning_ratio", &message);
        } else if let Some(lack) = page.lack_of_blocks(page.nand.good_blocks()) {
            self.fault_of_lack(&lack, &page.nand);
        }
        let unit_bytes = u64::from(shape.pages) * u64::from(page.nand.page_bytes);
        let capacity_bytes = u64::from(exported) * unit_bytes;
        self.check_map(&page.map, capacity_bytes);
        self.check_demand(&page.map, unit_bytes);
        self.check_state(state, capacity_bytes);
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
        self.check_urgency(page);
        self.check_exclusive(page);
        if gc.high_water_ratio < gc.low_water_ratio {
            let message = format!(
                "{} is below gc.low_water_ratio = {}",
                gc.high_water_ratio, gc.low_water_ratio
            );
            self.fault("gc.high_water_ratio", &message);
        }
    }

    fn check_exclusive(&mut self, page: &PageConfig) {
        if page.gc.exclusive && page.scheduler.suspend != Suspend::None {
            self.fault(
                "gc.exclusive",
                "lets no read pass collection, but with scheduler.suspend reads stop even what a \
                 die is at\n\nhint: gc.exclusive = false, or scheduler.suspend = \"none\"",
            );
        }
    }

    fn check_urgency(&mut self, page: &PageConfig) {
        let gc = &page.gc;
        if !gc.preemptible {
            return;
        }
        let low = gc.low_water_blocks(page.nand.blocks_per_plane);
        if gc.urgent_blocks >= low {
            let message = format!(
                "{} is not below the low-water mark of {low} blocks (gc.low_water_ratio = {}, \
                 gc.min_free_blocks = {}): collection would never yield",
                gc.urgent_blocks, gc.low_water_ratio, gc.min_free_blocks
            );
            self.fault("gc.urgent_blocks", &message);
        } else if gc.urgent_blocks < gc.stop_writes_blocks {
            let message = format!(
                "{} is below gc.stop_writes_blocks = {}: collection would yield while writes wait \
                 for it",
                gc.urgent_blocks, gc.stop_writes_blocks
            );
            self.fault("gc.urgent_blocks", &message);
        }
    }
}
