//! What parses but cannot work: refused here with the reason and both values.

use super::parse::Entries;
use super::{DriveConfig, Faults, Firmware, MsrConfig, Nand, PageConfig, State};
use crate::geometry::{Geometry, exported_pages};
use crate::msr::ParamsError;

/// Adds a fault for everything that contradicts itself.
pub(super) fn check(config: &DriveConfig, entries: &Entries, faults: &mut Faults) {
    let mut checker = Checker { entries, faults };
    match &config.firmware {
        Firmware::Page(page) => checker.check_page(page, config.default_state),
        Firmware::Msr(msr) => checker.check_msr(msr),
    }
}

struct Checker<'a> {
    entries: &'a Entries,
    faults: &'a mut Faults,
}

impl Checker<'_> {
    fn fault(&mut self, key: &str, message: &str) {
        let line = self.entries.get(key).and_then(|entry| entry.line);
        self.faults.add(line, key, message, None);
    }

    fn check_nand(&mut self, nand: &Nand) -> bool {
        if !nand.page_bytes.is_multiple_of(512) {
            let message = format!("{} is not a multiple of 512 bytes", nand.page_bytes);
            self.fault("nand.page_bytes", &message);
        }
        let pages = [nand.channels, nand.ways, nand.dies, nand.planes]
            .iter()
            .chain(&[nand.blocks_per_plane, nand.pages_per_block])
            .map(|&factor| u64::from(factor))
            .product::<u64>();
        if pages >= u64::from(u32::MAX) {
            let message = format!(
                "the drive has {pages} pages; at most {} can be addressed (use larger pages)",
                u32::MAX - 1
            );
            self.fault("nand.blocks_per_plane", &message);
            return false;
        }
        true
    }

    fn check_page(&mut self, page: &PageConfig, state: State) {
        if !self.check_nand(&page.nand) {
            return;
        }
        let luns = page.nand.ways * page.nand.dies;
        if luns > 64 {
            let message = format!(
                "{} ways x {} dies is over 64 on a channel",
                page.nand.ways, page.nand.dies
            );
            self.fault("nand.ways", &message);
        }
        let block = page.host.logical_block_bytes;
        if !page.nand.page_bytes.is_multiple_of(block) {
            let message = format!(
                "{block} does not divide the page of nand.page_bytes = {}",
                page.nand.page_bytes
            );
            self.fault("host.logical_block_bytes", &message);
        }
        self.check_spare(page);
        self.check_state(page, state);
    }

    fn check_spare(&mut self, page: &PageConfig) {
        let (nand, gc) = (&page.nand, &page.gc);
        let geometry = Geometry::new(nand);
        let exported = exported_pages(&geometry, page.ftl.over_provisioning_ratio);
        if exported == 0 {
            let message = format!("{} leaves nothing to export", page.ftl.over_provisioning_ratio);
            self.fault("over_provisioning_ratio", &message);
            return;
        }
        let per_plane = exported.div_ceil(geometry.plane_count);
        let spare = nand.blocks_per_plane.saturating_sub(per_plane.div_ceil(nand.pages_per_block));
        // Two write frontiers, and one block more than the number that stops writes.
        let needed = gc.stop_writes_blocks + 3;
        if spare < needed {
            let message = format!(
                "{} leaves {spare} spare blocks in a plane of {}, but {needed} are needed \
                 (gc.stop_writes_blocks = {} + 2 being written + 1 to clean with)",
                page.ftl.over_provisioning_ratio, nand.blocks_per_plane, gc.stop_writes_blocks
            );
            self.fault("over_provisioning_ratio", &message);
        }
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

    fn check_state(&mut self, page: &PageConfig, state: State) {
        let State::Steady { window_bytes: Some(window) } = state else { return };
        let geometry = Geometry::new(&page.nand);
        let pages = exported_pages(&geometry, page.ftl.over_provisioning_ratio);
        let capacity = u64::from(pages) * u64::from(page.nand.page_bytes);
        if window > capacity {
            let message =
                format!("the window of {window} bytes is larger than the drive ({capacity})");
            self.fault("default_state", &message);
        }
    }

    fn check_msr(&mut self, msr: &MsrConfig) {
        if !self.check_nand(&msr.nand) {
            return;
        }
        if let Err(error) = msr.params().check() {
            let key = match &error {
                ParamsError::LowWater { .. } => "gc.low_water_ratio",
                ParamsError::Units { .. } => "msr.parallel_units",
                _ => "msr.reserve_ratio",
            };
            self.fault(key, &error.to_string());
        }
    }
}
