//! Mapping units as a log-block drive has them: inside its merge units.

use crate::rig::{ERASE, PAGE, READ, Rig, WRITE, write};
use crate::units::unit_of;
use ssdscope_io::Op;
use ssdscope_io::counters::Merges;

knobs! {
    "ftl.map_unit_bytes" => a_merge_copies_whole_units,
    "ftl.placement_pages" => so_many_pages_in_a_row_share_a_plane,
    "ftl.phase_bytes" => merge_units_begin_with_a_mapping_unit,
    "ftl.stripe_bytes" => a_sector_read_is_one_page_whatever_the_stripes,
}

fn a_merge_copies_whole_units() {
    for pages in [1, 2, 4] {
        let placement = format!("ftl.placement_pages={pages}");
        let mut rig = Rig::logged(&[&unit_of(pages), &placement]);
        // Three log blocks take the last unit of a block each; the fourth needs a merge.
        for block in 0..3 {
            rig.one((Op::Write, ((block + 1) * 8 - pages) * PAGE, pages * PAGE));
        }
        let fourth = rig.latency_ns((Op::Write, (32 - pages) * PAGE, pages * PAGE));
        assert_eq!(fourth, 8 * (READ + WRITE) + 2 * ERASE + pages * WRITE, "{pages} pages");
        let counters = rig.rest();
        assert_eq!(counters.merges, Merges { full: 1, ..Merges::default() });
        assert_eq!((counters.gc_pages_moved, counters.block_erases), (8, 2));
        assert_eq!(counters.rmw_reads, 0);
    }
}

fn merge_units_begin_with_a_mapping_unit() {
    for phase in 0..4 {
        let mut rig = Rig::logged(&[
            &unit_of(4),
            "ftl.placement_pages=4",
            &format!("ftl.phase_bytes={}", phase * PAGE),
        ]);
        // A merge unit of eight pages, written in order from where one begins: a switch.
        rig.one((Op::Write, (8 - phase) * PAGE, 4 * PAGE));
        rig.one((Op::Write, (12 - phase) * PAGE, 4 * PAGE));
        let counters = rig.rest();
        assert_eq!(counters.merges, Merges { switch: 1, ..Merges::default() }, "phase {phase}");
        assert_eq!(counters.flash_bytes_programmed, 8 * PAGE);
    }
}

fn so_many_pages_in_a_row_share_a_plane() {
    for k in [1, 2, 4, 8] {
        let placement = format!("ftl.placement_pages={k}");
        let mut rig = Rig::logged(&["nand.channels=4", "ftl.merge_unit_bytes=131072", &placement]);
        for pages in 1..=32 {
            let longest = pages / (4 * k) * k + (pages % (4 * k)).min(k);
            let found = rig.latency_ns((Op::Read, 0, pages * PAGE));
            assert_eq!(found, longest * READ, "k {k}, {pages} pages");
        }
        // All blocks of the unit are erased, whichever pages come first on them.
        rig.write_pages((0..32).chain([40]));
        let counters = rig.rest();
        assert_eq!((counters.merges.switch, counters.block_erases), (1, 4), "k {k}");
    }
}

fn a_sector_read_is_one_page_whatever_the_stripes() {
    for (stripe, pages) in [(512, 2), (1024, 1), (4096, 1)] {
        let set = format!("ftl.stripe_bytes={stripe}");
        let mut rig =
            Rig::logged(&["nand.channels=2", "ftl.merge_unit_bytes=65536", &unit_of(2), &set]);
        let before = rig.counters();
        rig.one((Op::Read, 0, 1024));
        assert_eq!(rig.counters().since(&before).flash_bytes_read, pages * PAGE, "{stripe}");
        // What the other half of the unit holds is on both pages if both have sectors of it.
        rig.one(write(0));
        assert_eq!(rig.counters().rmw_reads, if stripe == 4096 { 1 } else { 2 }, "{stripe}");
    }
}
