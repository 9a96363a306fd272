//! What parses but cannot work: refused here with the reason and both values. A file for
//! each kind of drive; here what they share.

mod cache;
mod disk;
mod disturbance;
mod layout;
mod log_block;
mod map;
mod msr;
mod page;
mod pslc;

use super::nand::Lack;
use super::parse::{Entries, NCQ_TAGS, Value};
use super::{
    DriveConfig, Faults, Firmware, Host, Interface, Nand, Scheduler, State, Suspend, TypeOrder,
};

/// Adds a fault for everything that contradicts itself.
pub(super) fn check(config: &DriveConfig, entries: &Entries, faults: &mut Faults) {
    let mut checker = Checker { entries, faults };
    match &config.firmware {
        Firmware::Page(page) => checker.check_page(page, config.default_state),
        Firmware::LogBlock(log) => checker.check_log_block(log, config.default_state),
        Firmware::Msr(msr) => checker.check_msr(msr, config.default_state),
        Firmware::Disk(disk) => checker.check_disk(disk, config.default_state),
    }
    checker.check_disturbance(&config.disturbance, &config.firmware);
}

struct Checker<'a> {
    entries: &'a Entries,
    faults: &'a mut Faults,
}

impl Checker<'_> {
    pub(super) fn fault(&mut self, key: &str, message: &str) {
        let line = self.entries.get(key).and_then(|entry| entry.line);
        let (message, hint) = match message.split_once("\n\nhint: ") {
            Some((message, hint)) => (message, Some(hint.to_owned())),
            None => (message, None),
        };
        self.faults.add(line, key, message, hint);
    }

    pub(super) fn check_nand(&mut self, nand: &Nand) -> bool {
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

    fn check_type_order(&mut self, nand: &Nand) {
        let lists = [nand.read_by_type_ns.len(), nand.program_by_type_ns.len()];
        let fits = |types: usize| types == 0 || types == 3;
        if nand.type_order == TypeOrder::Pairs && !lists.into_iter().all(fits) {
            let message = format!(
                "\"pairs\" is of three types of page, but nand.read_by_type_ns and \
                 nand.program_by_type_ns name {} and {}",
                lists[0], lists[1]
            );
            self.fault("nand.type_order", &message);
        }
    }

    /// The array and the link of a page-mapped or log-block drive.
    pub(super) fn check_hardware(&mut self, nand: &Nand, host: &Host) -> bool {
        if !self.check_nand(nand) {
            return false;
        }
        if nand.ways * nand.dies > 64 {
            let message =
                format!("{} ways x {} dies is over 64 on a channel", nand.ways, nand.dies);
            self.fault("nand.ways", &message);
        }
        for (key, types) in [
            ("nand.read_by_type_ns", &nand.read_by_type_ns),
            ("nand.program_by_type_ns", &nand.program_by_type_ns),
        ] {
            if types.len() > nand.pages_per_block as usize {
                let message = format!(
                    "names {} types of page, but a block has only nand.pages_per_block = {} pages",
                    types.len(),
                    nand.pages_per_block
                );
                self.fault(key, &message);
            }
        }
        self.check_type_order(nand);
        self.check_link(host);
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

    /// What the link of any drive behind one cannot be.
    pub(super) fn check_link(&mut self, host: &Host) {
        let sata = matches!(host.interface, Interface::Sata { .. });
        if sata && u64::from(host.queue_depth) > NCQ_TAGS {
            let message = format!(
                "{} commands are more than the {NCQ_TAGS} that host.interface = \"sata\" queues",
                host.queue_depth
            );
            self.fault("host.queue_depth", &message);
        }
        self.check_queues(host);
    }

    fn check_queues(&mut self, host: &Host) {
        let value = |path| self.entries.get(path).map(|entry| entry.value.clone());
        let several = value("host.queues").is_some_and(|count| count != Value::Int(1));
        let priority = value("host.arbitration") == Some(Value::Word("priority".into()));
        let nvme = matches!(host.interface, Interface::Nvme { .. });
        if several && !nvme {
            let message = "several queues need host.interface = \"nvme\"";
            self.fault("host.queues", message);
        } else if priority && !several {
            let message = "\"priority\" is a choice between queues, but host.queues = 1";
            self.fault("host.arbitration", message);
        }
    }

    pub(super) fn check_scheduler(&mut self, scheduler: &Scheduler) {
        if scheduler.suspend != Suspend::None && !scheduler.read_first {
            self.fault(
                "scheduler.suspend",
                "lets a read pass what a die is at, but with scheduler.read_first = false it \
                 must not even pass what waits\n\nhint: suspend = \"none\", or read_first = true",
            );
        }
    }

    /// Too few blocks, and where some are bad, the share of those.
    pub(super) fn fault_of_lack(&mut self, lack: &Lack, nand: &Nand) {
        let (bad, all) = (nand.bad_block_ratio, nand.blocks_per_plane);
        let less = if bad > 0.0 {
            format!("; nand.bad_block_ratio = {bad} takes some of its {all}")
        } else {
            String::new()
        };
        self.fault(lack.key, &format!("{}{less}", lack.reason));
    }

    pub(super) fn check_state(&mut self, state: State, capacity_bytes: u64) {
        let State::Steady { window_bytes: Some(window) } = state else { return };
        if window > capacity_bytes {
            let message =
                format!("the window of {window} bytes is larger than the drive ({capacity_bytes})");
            self.fault("default_state", &message);
        }
    }
}
