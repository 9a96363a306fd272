//! Mapping units of several pages: what a small write costs, which pages a read touches,
//! what is collected as one. On page-mapped and on log-block drives, in closed form.

use crate::rig::{
    LOG_DRIVE, NO_LINK, PAGE, PAGE_DRIVE, PROGRAM_ARRAY, PROGRAM_COMMAND, READ, READ_ARRAY,
    READ_COMMAND, Rig, TRANSFER, WRITE, read, write,
};
use ssdscope_io::{Cause, Op};
use ssdscope_sim::State;

knobs! {
    "ftl.map_unit_bytes" => a_small_write_rewrites_its_unit,
    "ftl.phase_bytes" => units_begin_where_they_are_said_to,
    "ftl.stripe_bytes" => sectors_go_round_the_pages_of_a_unit,
    "ftl.reclaim_unit_bytes" => so_many_blocks_are_collected_as_one,
}

pub const SECTOR: u64 = TRANSFER / 8;

/// Both kinds of drive, every page written in order, without a link.
fn both(sets: &[&str]) -> [Rig; 2] {
    [PAGE_DRIVE, LOG_DRIVE]
        .map(|text| Rig::open(text, &[&NO_LINK, sets].concat(), Some(State::Sequential)))
}

/// Units of so many pages.
pub fn unit_of(pages: u64) -> String {
    format!("ftl.map_unit_bytes={}", pages * PAGE)
}

/// The same, each on a plane.
fn on_one_plane(pages: u64) -> [String; 2] {
    [unit_of(pages), format!("ftl.placement_pages={pages}")]
}

fn a_small_write_rewrites_its_unit() {
    for pages in [1, 2, 4, 8] {
        let [unit, placement] = on_one_plane(pages);
        for mut rig in both(&[&unit, &placement]) {
            // Every page is read and programmed, and each sector crosses the channel once.
            let done = rig.one((Op::Write, 512, 512));
            assert_eq!(done.latency().0, pages * (READ + WRITE - TRANSFER), "{pages} pages");
            assert_eq!(done.attribution[Cause::Nand], PROGRAM_ARRAY);
            let counters = rig.counters();
            assert_eq!(counters.rmw_reads, pages);
            assert_eq!(counters.flash_bytes_read, pages * PAGE);
            assert_eq!(counters.flash_bytes_programmed, pages * PAGE);
        }
    }
}

fn units_begin_where_they_are_said_to() {
    let [unit, placement] = on_one_plane(4);
    let open = |phase: u64| {
        let phase = format!("ftl.phase_bytes={}", phase * PAGE);
        both(&[&unit, &placement, &phase])
    };
    for phase in 0..4 {
        for (rig, whole) in open(phase).iter().zip(&open(0)) {
            let lost = whole.capacity() - rig.capacity();
            assert_eq!(lost, phase * PAGE);
        }
        for start in 0..4 {
            for mut rig in open(phase) {
                // Four pages in a row are a unit where one begins, and elsewhere parts of two.
                rig.one((Op::Write, start * PAGE, 4 * PAGE));
                let units = if (start + phase).is_multiple_of(4) { 1 } else { 2 };
                let counters = rig.counters();
                assert_eq!(counters.flash_bytes_programmed, units * 4 * PAGE, "{start} {phase}");
                assert_eq!(counters.rmw_reads, (units - 1) * 4, "{start} {phase}");
            }
        }
    }
}

#[test]
fn a_page_that_is_replaced_whole_is_not_read() {
    for pages in [2, 4, 8] {
        let [unit, placement] = on_one_plane(pages);
        for replaced in 1..=pages {
            for mut rig in both(&[&unit, &placement]) {
                let found = rig.latency_ns((Op::Write, 0, replaced * PAGE));
                let reads = (pages - replaced) * READ;
                let programs = pages * (PROGRAM_COMMAND + PROGRAM_ARRAY) + replaced * TRANSFER;
                assert_eq!(found, reads + programs, "{replaced} of {pages} pages");
                assert_eq!(rig.counters().rmw_reads, pages - replaced);
            }
        }
    }
}

#[test]
fn a_page_that_was_never_written_is_not_read_either() {
    let [unit, placement] = on_one_plane(4);
    let mut rig = Rig::page(&[&NO_LINK[..], &[&unit, &placement]].concat());
    let programs = 4 * (PROGRAM_COMMAND + PROGRAM_ARRAY);
    assert_eq!(rig.latency_ns(write(1)), programs + TRANSFER, "the unit is programmed whole");
    assert_eq!(
        rig.latency_ns((Op::Write, 0, 512)),
        READ + programs + SECTOR,
        "one page holds data"
    );
    assert_eq!(rig.counters().rmw_reads, 1);
}

#[test]
fn what_is_kept_is_sent_to_another_plane() {
    // In order of arrival a unit moves to the other channel; what was read must go there.
    let [unit, placement] = on_one_plane(2);
    let order = ["nand.channels=2", "ftl.allocation=order", &unit, &placement];
    let mut rig = Rig::filled(&order);
    let stays = 2 * (READ + WRITE - TRANSFER);
    assert_eq!(rig.latency_ns((Op::Write, 0, 512)), stays);
    assert_eq!(rig.latency_ns((Op::Write, 0, 512)), 2 * READ - SECTOR + 2 * WRITE);
}

#[test]
fn the_members_of_a_unit_work_side_by_side() {
    let sets = ["nand.channels=4", &unit_of(4), "ftl.merge_unit_bytes=131072"];
    for (mut rig, what) in [(Rig::filled(&sets[..2]), "page"), (Rig::logged(&sets), "log-block")] {
        let four = 4 * PAGE;
        assert_eq!(rig.latency_ns((Op::Read, 0, four)), READ, "{what}");
        assert_eq!(rig.latency_ns((Op::Write, 0, four)), WRITE, "{what}");
        // All four pages are read at once and programmed at once.
        let small = READ + PROGRAM_COMMAND + SECTOR + PROGRAM_ARRAY;
        assert_eq!(rig.latency_ns((Op::Write, 0, 512)), small, "{what}");
        let counters = rig.counters();
        assert_eq!((counters.rmw_reads, counters.flash_bytes_programmed), (4, 8 * PAGE));
    }
}

#[test]
fn a_unit_has_k_pages_in_a_row_on_a_plane() {
    for k in [1, 2, 4, 8, 16] {
        let placement = format!("ftl.placement_pages={k}");
        let sets = ["nand.channels=4", "nand.pages_per_block=16", &unit_of(8), &placement];
        let merge = ["ftl.merge_unit_bytes=262144", "ftl.log_blocks=2"];
        for mut rig in [Rig::filled(&sets), Rig::logged(&[&sets[..], &merge].concat())] {
            // So many in a row share a plane, the next ones do not.
            for pages in 1..=8 {
                let (rounds, rest) = (pages / (4 * k), pages % (4 * k));
                let longest = rounds * k + rest.min(k);
                let found = rig.latency_ns((Op::Read, 0, pages * PAGE));
                assert_eq!(found, longest * READ, "k {k}, {pages} pages");
            }
            // Of two units the second follows on the next planes, or behind the first.
            let both = rig.latency_ns((Op::Read, 0, 16 * PAGE));
            assert_eq!(both, k.clamp(4, 16) * READ, "k {k}");
        }
    }
}

fn sectors_go_round_the_pages_of_a_unit() {
    for stripe in [512, 1024, 2048, 4096_u64] {
        let set = format!("ftl.stripe_bytes={stripe}");
        let sets = ["nand.channels=4", &unit_of(4), &set, "ftl.merge_unit_bytes=131072"];
        for mut rig in [Rig::filled(&sets[..3]), Rig::logged(&sets)] {
            let sectors = 4096 / stripe.max(1024);
            let before = rig.counters();
            // A page's worth: on as many pages as there are stripes in it, at most all four.
            let found = rig.latency_ns(read(0));
            let touched = (4096 / stripe).min(4);
            let each = 8 / touched;
            assert_eq!(found, READ_COMMAND + READ_ARRAY + each * SECTOR, "stripes of {stripe}");
            let counters = rig.counters().since(&before);
            assert_eq!(counters.flash_bytes_read, touched * PAGE, "{sectors}");
            // A small write keeps something on every page, whatever the stripes.
            rig.one((Op::Write, 512, 512));
            assert_eq!(rig.counters().rmw_reads, 4);
        }
    }
}

fn so_many_blocks_are_collected_as_one() {
    for blocks in [1, 2, 4] {
        let set = format!("ftl.reclaim_unit_bytes={}", blocks * 8 * PAGE);
        let mut rig = Rig::filled(&["nand.channels=4", &set]);
        // Pages still go round the channels.
        assert_eq!(rig.latency_ns((Op::Read, 0, 4 * PAGE)), READ, "{blocks} blocks");
        assert_eq!(rig.latency_ns((Op::Read, 0, 8 * PAGE)), 2 * READ, "{blocks} blocks");
        rig.run(r#"{"rw": "randwrite", "block_bytes": 4096, "iodepth": 4, "requests": 4000}"#);
        let counters = rig.rest();
        assert!(counters.gc_runs > 20, "{blocks} blocks: {}", counters.gc_runs);
        assert_eq!(counters.block_erases, blocks * counters.gc_runs);
        let worn: u64 =
            (0..).zip(&counters.erase_histogram).map(|(erases, count)| erases * count).sum();
        assert_eq!(worn, counters.block_erases);
        let programmed = counters.flash_bytes_programmed / PAGE;
        assert_eq!(programmed, 4000 + counters.gc_pages_moved);
    }
}

#[test]
fn a_superblock_holds_whole_rounds_of_writes() {
    // A block of each of four channels: 32 pages. What is written together dies together,
    // so that rewriting in order moves nothing, and each run frees all four.
    let mut rig = Rig::filled(&["nand.channels=4", "ftl.reclaim_unit_bytes=131072"]);
    for _ in 0..4 {
        rig.write_pages(0..256);
    }
    let counters = rig.rest();
    assert_eq!(counters.gc_pages_moved, 0);
    assert!(counters.gc_runs >= 4 * 8 - 8, "{}", counters.gc_runs);
    assert_eq!(counters.block_erases, 4 * counters.gc_runs);
}
