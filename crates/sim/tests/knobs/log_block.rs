//! The keys that only a log-block drive has, and those of the whole drive.
//!
//! Merge units of 8 pages; 16 of them, 8 exported, 3 of the others log blocks.

use crate::rig::{LOG_DRIVE, PAGE, READ, Rig, TRANSFER, WRITE, config, write};
use ssdscope_io::Op;
use ssdscope_io::counters::Merges;
use ssdscope_sim::config::Firmware;

knobs! {
    "description" => description_is_reported,
    "default_state" => default_state_is_what_open_prepares,
    "over_provisioning_ratio" => whole_units_are_exported,
    "ftl.kind" => the_kind_is_this_firmware,
    "ftl.plane_order" => the_order_says_which_planes_make_a_unit,
    "ftl.merge_unit_bytes" => a_unit_is_what_a_merge_copies_and_erases,
    "ftl.log_blocks" => so_many_blocks_can_be_rewritten_without_a_merge,
    "ftl.log_association" => shared_log_blocks_take_what_would_thrash,
    "ftl.log_victim" => the_victim_is_the_coldest_or_the_oldest,
}

fn description_is_reported() {
    assert_eq!(config(LOG_DRIVE, &["description=Old"]).description, "Old");
}

fn default_state_is_what_open_prepares() {
    // What the first small write reads first, how many blocks are worn, whether a page
    // goes straight to its data block.
    let look = |state: &str| {
        let mut rig = Rig::open(LOG_DRIVE, &[&format!("default_state={state}")], None);
        let worn: u64 = rig.counters().erase_histogram.iter().skip(1).sum();
        rig.one((Op::Write, 0, 512));
        assert_eq!(rig.counters().merges, Merges::default(), "{state}: preparing counts nothing");
        (rig.counters().rmw_reads, worn > 0)
    };
    assert_eq!(look("fresh"), (0, false));
    assert_eq!(look("sequential"), (1, false));
    let mut rig = Rig::open(LOG_DRIVE, &["default_state=random"], None);
    assert!(rig.counters().erase_histogram[0] < 16 && rig.device.now().0 == 0);
    rig.write_pages((0..8).map(|block| block * 8 + 3));
    assert!(rig.rest().merges.full >= 5, "its log blocks are in use");
    let mut steady = Rig::open(LOG_DRIVE, &["default_state=steady:64k"], None);
    assert!(steady.counters().erase_histogram.len() > 2);
}

fn whole_units_are_exported() {
    for (ratio, units) in [("0.4", 11), ("0.7", 9), ("1", 8), ("2", 5)] {
        let rig = Rig::logged(&[&format!("over_provisioning_ratio={ratio}")]);
        assert_eq!(rig.capacity(), units * 8 * PAGE, "{ratio}");
    }
}

fn the_kind_is_this_firmware() {
    assert!(matches!(config(LOG_DRIVE, &[]).firmware, Firmware::LogBlock(_)));
    let mut rig = Rig::logged(&[]);
    rig.write_pages(0..8);
    assert_eq!(rig.rest().merges.switch, 1, "no other firmware merges");
}

fn the_order_says_which_planes_make_a_unit() {
    // Two of the four planes: one on each channel, or both of a channel.
    for (order, two_pages) in [("CWDP", READ), ("PDWC", READ + TRANSFER)] {
        let order = format!("ftl.plane_order={order}");
        let sets = ["nand.channels=2", "nand.planes=2", "ftl.merge_unit_bytes=65536", &order];
        let mut rig = Rig::logged(&sets);
        assert_eq!(rig.latency_ns((Op::Read, 0, 2 * PAGE)), two_pages, "{order}");
    }
}

fn a_unit_is_what_a_merge_copies_and_erases() {
    for width in [1, 2, 4] {
        let unit = format!("ftl.merge_unit_bytes={}", 32_768 * width);
        let mut rig = Rig::logged(&["nand.channels=4", &unit]);
        let pages = 8 * width;
        // Four blocks are rewritten, three log blocks are there.
        rig.write_pages((0..4).map(|block| block * pages + 3));
        let counters = rig.rest();
        assert_eq!(counters.merges, Merges { full: 1, ..Merges::default() });
        assert_eq!((counters.gc_pages_moved, counters.block_erases), (pages, 2 * width));
        assert_eq!(rig.capacity(), 4 * 64 * PAGE, "whatever the unit");
    }
}

fn so_many_blocks_can_be_rewritten_without_a_merge() {
    for logs in [1, 2, 3, 7] {
        let mut rig = Rig::logged(&[&format!("ftl.log_blocks={logs}")]);
        rig.write_pages((0..logs).map(|block| block * 8 + 3));
        assert_eq!(rig.rest().gc_runs, 0, "{logs}");
        rig.write_pages([logs * 8 + 3]);
        assert_eq!(rig.rest().merges.full, 1, "{logs}");
    }
}

fn shared_log_blocks_take_what_would_thrash() {
    // Two rounds of one page in each of eight blocks.
    let merges = |association: &str| {
        let mut rig = Rig::logged(&[&format!("ftl.log_association={association}")]);
        rig.write_pages((0..16).map(|number| number % 8 * 8 + 3));
        rig.rest().merges
    };
    assert_eq!(merges("one-to-one").full, 16 - 3, "one for every write that finds no log block");
    assert_eq!(merges("many-to-one"), Merges::default(), "two shared ones hold 16 pages");
}

fn the_victim_is_the_coldest_or_the_oldest() {
    for (rule, latency) in
        [("lru", WRITE), ("fifo", 8 * (READ + WRITE) + 2 * crate::rig::ERASE + WRITE)]
    {
        let mut rig = Rig::logged(&[&format!("ftl.log_victim={rule}")]);
        // Block 0 is first, and written again; then block 3 needs a log block.
        rig.write_pages([3, 11, 19, 3, 27]);
        rig.rest();
        assert_eq!(rig.latency_ns(write(3)), latency, "{rule}");
    }
}
