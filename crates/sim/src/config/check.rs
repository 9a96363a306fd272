//! What parses but cannot work: refused here with the reason and both values.

use super::parse::{Entries, Value};
use super::{
    Allocation, DiskConfig, DriveConfig, Faults, Firmware, Host, LogAssociation, LogBlockConfig,
    MsrConfig, Nand, PageConfig, State,
};
use crate::geometry::{Geometry, exported_pages};
use crate::hdd::SeekError;
use crate::msr::ParamsError;

/// Adds a fault for everything that contradicts itself.
pub(super) fn check(config: &DriveConfig, entries: &Entries, faults: &mut Faults) {
    let mut checker = Checker { entries, faults };
    match &config.firmware {
        Firmware::Page(page) => checker.check_page(page, config.default_state),
        Firmware::LogBlock(log) => checker.check_log_block(log, config.default_state),
        Firmware::Msr(msr) => checker.check_msr(msr, config.default_state),
        Firmware::Disk(disk) => checker.check_disk(disk, config.default_state),
    }
}

struct Checker<'a> {
    entries: &'a Entries,
    faults: &'a mut Faults,
}

impl Checker<'_> {
    fn fault(&mut self, key: &str, message: &str) {
        let line = self.entries.get(key).and_then(|entry| entry.line);
        let (message, hint) = match message.split_once("\n\nhint: ") {
            Some((message, hint)) => (message, Some(hint.to_owned())),
            None => (message, None),
        };
        self.faults.add(line, key, message, hint);
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

    /// The array and the link of a page-mapped or log-block drive.
    fn check_hardware(&mut self, nand: &Nand, host: &Host) -> bool {
        if !self.check_nand(nand) {
            return false;
        }
        if nand.ways * nand.dies > 64 {
            let message =
                format!("{} ways x {} dies is over 64 on a channel", nand.ways, nand.dies);
            self.fault("nand.ways", &message);
        }
        let block = host.logical_block_bytes;
        if !nand.page_bytes.is_multiple_of(block) {
            let message = format!(
                "{block} does not divide the page of nand.page_bytes = {}",
                nand.page_bytes
            );
            self.fault("host.logical_block_bytes", &message);
        }
        true
    }

    fn check_log_block(&mut self, log: &LogBlockConfig, state: State) {
        if !self.check_hardware(&log.nand, &log.host) {
            return;
        }
        let (unit, block) = (log.ftl.merge_unit_bytes, log.nand.block_bytes());
        let planes = Geometry::new(&log.nand).plane_count;
        if !unit.is_multiple_of(block) || unit == 0 {
            let message = format!(
                "{unit} is not a whole number of physical blocks of {block} bytes \
                 (nand.pages_per_block x nand.page_bytes)"
            );
            self.fault("ftl.merge_unit_bytes", &message);
            return;
        }
        if unit / block > u64::from(planes) || !planes.is_multiple_of(log.blocks_per_unit()) {
            let message = format!(
                "{unit} is {} physical blocks of {block} bytes, which do not divide the {planes} \
                 planes of channels x ways x dies x planes",
                unit / block
            );
            self.fault("ftl.merge_unit_bytes", &message);
            return;
        }
        self.check_log_blocks(log);
        self.check_state(state, u64::from(log.exported_units()) * unit);
    }

    fn check_log_blocks(&mut self, log: &LogBlockConfig) {
        let (ftl, exported) = (&log.ftl, log.exported_units());
        let spare = log.units() - exported;
        if exported == 0 {
            let message = format!(
                "{} leaves less than one merge unit of {} bytes to export",
                ftl.over_provisioning_ratio, ftl.merge_unit_bytes
            );
            self.fault("over_provisioning_ratio", &message);
        } else if ftl.log_blocks >= spare {
            let message = format!(
                "{} log blocks and one to merge into are more than the {spare} spare blocks that \
                 over_provisioning_ratio = {} leaves of {}",
                ftl.log_blocks,
                ftl.over_provisioning_ratio,
                log.units()
            );
            self.fault("ftl.log_blocks", &message);
        }
        if ftl.log_association == LogAssociation::ManyToOne && ftl.log_blocks < 2 {
            let message = "1 is too few for ftl.log_association = \"many-to-one\", which keeps one \
                           for sequential writes";
            self.fault("ftl.log_blocks", message);
        }
    }

    fn check_page(&mut self, page: &PageConfig, state: State) {
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

    fn check_state(&mut self, state: State, capacity_bytes: u64) {
        let State::Steady { window_bytes: Some(window) } = state else { return };
        if window > capacity_bytes {
            let message =
                format!("the window of {window} bytes is larger than the drive ({capacity_bytes})");
            self.fault("default_state", &message);
        }
    }

    fn check_msr(&mut self, msr: &MsrConfig, state: State) {
        if !self.check_nand(&msr.nand) {
            return;
        }
        if let Some(Value::Word(policy)) = self.entries.get("gc.policy").map(|entry| &entry.value)
            && !["greedy", "wear-aware"].contains(&policy.as_str())
        {
            let message = format!(
                "\"{policy}\" is not built into the firmware of ftl.kind = \"msr\", which has \
                 greedy and wear-aware"
            );
            self.fault("gc.policy", &message);
        }
        match msr.params().check() {
            Ok(()) => self.check_state(state, msr.params().capacity_bytes()),
            // Said already.
            Err(ParamsError::PartSector(_)) => {}
            Err(error) => self.fault(key_of(&error), &error.to_string()),
        }
    }
}

impl Checker<'_> {
    fn check_disk(&mut self, config: &DiskConfig, state: State) {
        let disk = &config.disk;
        match disk.seek_curve() {
            Ok(_) => {}
            Err(error @ SeekError::Falling { .. }) => {
                let message = format!("{} {error}", disk.seek_full_ns);
                self.fault("disk.seek_full_ns", &message);
            }
            Err(error @ SeekError::Average { .. }) => {
                self.fault("disk.seek_average_ns", &error.to_string());
            }
        }
        let segment_bytes = disk.segment_bytes();
        if disk.read_cache_bytes > 0 && segment_bytes < 512.max(disk.read_ahead_bytes) {
            let (key, wanted) = if segment_bytes < 512 {
                ("disk.read_cache_segments", "not one sector".to_owned())
            } else {
                ("disk.read_ahead_bytes", format!("less than {}", disk.read_ahead_bytes))
            };
            let message = format!(
                "each of the {} segments of disk.read_cache_bytes = {} has {segment_bytes} bytes, \
                 {wanted}",
                disk.read_cache_segments, disk.read_cache_bytes
            );
            self.fault(key, &message);
        }
        if disk.zones > disk.cylinders {
            let message = format!("{} zones in {} cylinders", disk.zones, disk.cylinders);
            self.fault("disk.zones", &message);
        } else if disk.inner_sectors_per_track > disk.outer_sectors_per_track {
            let message = format!(
                "{} is above disk.outer_sectors_per_track = {}: the inner tracks are the shorter ones",
                disk.inner_sectors_per_track, disk.outer_sectors_per_track
            );
            self.fault("disk.inner_sectors_per_track", &message);
        } else {
            self.check_disk_capacity(config, state);
        }
    }

    fn check_disk_capacity(&mut self, config: &DiskConfig, state: State) {
        let (capacity_bytes, block) = (config.capacity_bytes(), config.host.logical_block_bytes);
        if !block.is_multiple_of(512) || capacity_bytes == 0 {
            let message = format!("{block} is not a multiple of 512, or larger than the disk");
            self.fault("host.logical_block_bytes", &message);
        }
        self.check_state(state, capacity_bytes);
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

/// The key whose value makes the firmware's parameters impossible.
fn key_of(error: &ParamsError) -> &'static str {
    match error {
        ParamsError::LowWater { .. } => "gc.low_water_ratio",
        ParamsError::Units { .. } => "msr.parallel_units",
        ParamsError::Reserve { .. } => "msr.reserve_ratio",
        ParamsError::PartSector(_) => "nand.page_bytes",
        ParamsError::TooFew { name, .. } | ParamsError::TooMany { name, .. } => match *name {
            "pages_per_block" => "nand.pages_per_block",
            "page_bytes" => "nand.page_bytes",
            "endurance_erases" => "nand.endurance_erases",
            _ => "nand.blocks_per_plane",
        },
    }
}
