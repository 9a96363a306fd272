//! No dead knobs: every key of a drive file changes what it should, in the right
//! direction and by the right amount.
//!
//! * here: the count. A key of the table in `config::keys` without a test fails
//!   the suite by name, once per firmware that reads it;
//! * `rig`: the small drives of these tests, and how they are driven;
//! * `top`, `nand`, `channel`, `host`, `ftl`, `gc`, `pace`, `preemption`, `exclusive`, `wear`,
//!   `pslc`, `borrowed`, `end_of_life`, `scheduler`, `array`, `cached`, `suspend`: page-mapped drives;
//! * `map`: which part of the mapping table is in RAM, on both drives with a flash array;
//!   `map_demand`: paged in on demand; `map_pools`: with log blocks of its own;
//! * `log_block`, `log_block_hardware`, `log_block_array`: log-block drives; `merges`: what merges cost;
//! * `write_buffer`, `read_cache`, `switches` of both: on both of these;
//! * `msr`: the firmware of `DiskSim`'s SSD extension;
//! * `disk`, `disk_caches`, `disk_host`: hard disks; `disk_physics`: their formulas;
//! * `disturbance`, `foreign`: what spoils measurements, on every drive;
//! * `zeros`: writing zeros, on every drive;
//! * `sata`: Serial ATA, on every drive behind a link; `queues`: those of an nvme link;
//! * `physics`: formulas that hold across keys; `counters`: what a drive counts,
//!   recomputed from the log; `tight`: drives with the least to spare;
//! * `files`: what drive files may say; `faults`, `page_faults`, `log_block_faults`,
//!   `disk_faults`, `disturbance_faults`: what is said of wrong ones.
//!
//! To add a key: write its test, and name both in the table of the file it belongs to.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_sign_loss,
    reason = "a test may panic, says what it measured, and its times are not below zero"
)]

/// Names the keys that a file tests, and makes a test of each function behind them.
macro_rules! knobs {
    ($($key:literal => $test:ident),* $(,)?) => {
        pub const KEYS: &[&str] = &[$($key),*];
        mod knob {
            $(#[test] fn $test() { super::$test(); })*
        }
    };
}

mod array;
mod bad_blocks;
mod borrowed;
mod cached;
mod channel;
mod chip;
mod claims;
mod counters;
mod disk;
mod disk_caches;
mod disk_faults;
mod disk_host;
mod disk_physics;
mod disturbance;
mod disturbance_faults;
mod end_of_life;
mod exclusive;
mod faults;
mod files;
mod foreign;
mod ftl;
mod gc;
mod host;
mod idle_merging;
mod log_block;
mod log_block_array;
mod log_block_faults;
mod log_block_hardware;
mod map;
mod map_demand;
mod map_pools;
mod merges;
mod msr;
mod nand;
mod pace;
mod page_faults;
mod physics;
mod preemption;
mod pslc;
mod queues;
mod read_cache;
mod rig;
mod sata;
mod scheduler;
mod suspend;
mod switches;
mod tight;
mod top;
mod units;
mod units_log_block;
mod wear;
mod write_buffer;
mod zeros;

use ssdscope_sim::config::keys::{KEYS, KINDS};

fn page_keys() -> Vec<&'static str> {
    [
        top::KEYS,
        nand::KEYS,
        channel::KEYS,
        host::KEYS,
        sata::KEYS,
        queues::KEYS,
        ftl::KEYS,
        map::KEYS,
        map_demand::KEYS,
        gc::KEYS,
        pace::KEYS,
        preemption::KEYS,
        exclusive::KEYS,
        wear::KEYS,
        pslc::KEYS,
        borrowed::KEYS,
        end_of_life::PAGE_KEYS,
        scheduler::KEYS,
        array::KEYS,
        units::KEYS,
        cached::KEYS,
        suspend::KEYS,
        bad_blocks::KEYS,
        read_cache::KEYS,
        switches::KEYS,
        write_buffer::KEYS,
    ]
    .concat()
}

#[test]
fn every_key_has_a_test_on_every_firmware_that_reads_it() {
    let page = page_keys();
    let log_block = [
        log_block::KEYS,
        log_block_hardware::KEYS,
        log_block_array::KEYS,
        end_of_life::LOG_KEYS,
        units_log_block::KEYS,
        idle_merging::KEYS,
        map::KEYS,
        map_pools::KEYS,
        bad_blocks::KEYS,
        sata::KEYS,
        read_cache::KEYS,
        switches::KEYS,
        write_buffer::KEYS,
        queues::KEYS,
    ]
    .concat();
    let disk = [disk::KEYS, disk_caches::KEYS, disk_host::KEYS, sata::KEYS].concat();
    let on_all = [disturbance::KEYS, foreign::KEYS].concat();
    let tested =
        [("page", page), ("log-block", log_block), ("msr", msr::KEYS.to_vec()), ("disk", disk)]
            .map(|(kind, tested)| (kind, [tested, on_all.clone()].concat()));
    assert_eq!(tested.each_ref().map(|(kind, _)| *kind), KINDS);
    for (kind, tested) in &tested {
        let read = KEYS.iter().filter(|key| key.scope.kinds().contains(kind));
        let untested: Vec<_> =
            read.map(|key| key.path).filter(|path| !tested.contains(path)).collect();
        assert!(untested.is_empty(), "keys of {kind} drives without a test: {untested:?}");
    }
    for path in tested.iter().flat_map(|(_, tested)| tested) {
        assert!(KEYS.iter().any(|key| key.path == *path), "{path} is tested and does not exist");
    }
}
