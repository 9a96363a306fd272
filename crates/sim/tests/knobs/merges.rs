//! What merges cost, in closed form, as kuo2009 2.3 counts them.
//!
//! One plane, so that all work is one after the other: merge units of 8 pages, three log
//! blocks, every page written in order.

use crate::rig::{ERASE, FLUSH, PAGE, READ, Rig, WRITE, read, write};
use ssdscope_io::counters::Merges;
use ssdscope_io::{Cause, Op};

pub const COPY: u64 = READ + WRITE;

const fn merges(switch: u64, partial: u64, full: u64) -> Merges {
    Merges { switch, partial, full }
}

#[test]
fn a_block_rewritten_in_order_is_switched() {
    let mut rig = Rig::logged(&[]);
    rig.write_pages(0..8);
    // The next write waits for the erase of the old block, and for nothing else.
    let next = rig.one(write(20));
    assert_eq!(next.latency().0, ERASE + WRITE);
    assert_eq!(next.attribution[Cause::Merge], ERASE);
    let counters = rig.rest();
    assert_eq!(counters.merges, merges(1, 0, 0));
    assert_eq!((counters.gc_pages_moved, counters.block_erases), (0, 1));
    assert_eq!(counters.waf(), Some(1.0));
}

#[test]
fn a_beginning_rewritten_in_order_is_completed() {
    for written in 1..8 {
        let mut rig = Rig::logged(&[]);
        rig.write_pages((0..written).chain([11, 19]));
        let fourth = rig.one(write(27));
        let copied = 8 - written;
        assert_eq!(fourth.latency().0, copied * COPY + ERASE + WRITE, "{written} pages");
        assert_eq!(fourth.attribution[Cause::Merge], copied * COPY + ERASE);
        let counters = rig.rest();
        assert_eq!(counters.merges, merges(0, 1, 0), "{written} pages");
        assert_eq!((counters.gc_pages_moved, counters.block_erases), (copied, 1));
    }
}

#[test]
fn a_flush_behind_a_merge_waits_for_the_merge_and_then_for_the_write() {
    let mut rig = Rig::logged(&[]);
    rig.write_pages([3, 11, 19]);
    let merge = 8 * COPY + 2 * ERASE;
    let flush = rig.together(&[write(27), FLUSH])[1];
    assert_eq!(flush.attribution[Cause::Merge], merge);
    assert_eq!(flush.attribution[Cause::DieWait], WRITE);
    assert_eq!(flush.latency().0, merge + WRITE);
    // One that comes when the merge is nearly over waits for the rest of it.
    rig.submit(write(35));
    rig.idle(merge - 5);
    let flush = rig.together(&[FLUSH])[1];
    assert_eq!(flush.attribution[Cause::Merge], 5);
    assert_eq!(flush.latency().0, 5 + WRITE);
}

#[test]
fn anything_else_is_copied_whole_and_erases_two() {
    // One page; the first one twice; all in reverse but for one.
    for written in [vec![5], vec![0, 0], vec![7, 6, 5, 4, 3, 2, 1]] {
        let mut rig = Rig::logged(&[]);
        rig.write_pages(written.iter().copied().chain([11, 19]));
        let fourth = rig.one(write(27));
        assert_eq!(fourth.latency().0, 8 * COPY + 2 * ERASE + WRITE, "{written:?}");
        assert_eq!(fourth.attribution[Cause::Merge], 8 * COPY + 2 * ERASE, "{written:?}");
        let counters = rig.rest();
        assert_eq!(counters.merges, merges(0, 0, 1), "{written:?}");
        assert_eq!((counters.gc_pages_moved, counters.block_erases), (8, 2));
    }
}

#[test]
fn writing_one_place_merges_once_per_unit() {
    let mut rig = Rig::logged(&[]);
    let spans: Vec<u64> = (0..80).map(|_| rig.latency_ns(write(3))).collect();
    for (number, &latency) in spans.iter().enumerate() {
        let behind_a_merge = number % 8 == 0 && number > 0;
        let expected = WRITE + if behind_a_merge { 8 * COPY + 2 * ERASE } else { 0 };
        assert_eq!(latency, expected, "write {number}");
    }
    assert_eq!(rig.rest().merges, merges(0, 0, 10));
}

#[test]
fn more_blocks_than_log_blocks_thrash() {
    let mut rig = Rig::logged(&[]);
    rig.write_pages([3, 11, 19]);
    for round in 0..5 {
        for block in 3..8 {
            let found = rig.latency_ns(write(block * 8 + round));
            let least = 8 * COPY + 2 * ERASE + WRITE;
            // The first page of a block in the log makes its merge a partial one.
            assert!(found == least || round < 2 && found == 7 * COPY + ERASE + WRITE, "{found}");
        }
    }
    let found = rig.rest().merges;
    assert_eq!(found.full + found.partial, 25, "one for every write");
}

#[test]
fn a_shared_log_block_takes_a_merge_for_each_block_in_it() {
    let mut rig = Rig::logged(&["ftl.log_association=many-to-one"]);
    // Two log blocks full of pages of eight blocks, all valid.
    rig.write_pages((0..8).map(|block| block * 8 + 3));
    rig.write_pages((0..8).map(|block| block * 8 + 4));
    assert_eq!(rig.counters().gc_runs, 0);
    let merged = 8 * (8 * COPY + ERASE) + ERASE;
    assert_eq!(rig.latency_ns(write(5)), merged + WRITE);
    let counters = rig.rest();
    assert_eq!(counters.merges, merges(0, 0, 8));
    assert_eq!((counters.gc_pages_moved, counters.block_erases), (64, 9));
    // The second one was emptied with it: only erased.
    rig.write_pages((1..8).map(|block| block * 8 + 3));
    assert_eq!(rig.latency_ns(write(3)), ERASE + WRITE);
    assert_eq!((rig.rest().merges, rig.rest().block_erases), (merges(0, 0, 8), 10));
}

#[test]
fn the_sequential_log_block_is_switched_or_completed() {
    let mut rig = Rig::logged(&["ftl.log_association=many-to-one"]);
    rig.write_pages(0..8);
    assert_eq!(rig.rest().merges, merges(1, 0, 0));
    // Another beginning sends the one before back, whatever is between.
    rig.write_pages([8, 9, 27, 10, 35, 11]);
    assert_eq!(rig.latency_ns(write(16)), 4 * COPY + ERASE + WRITE);
    assert_eq!(rig.rest().merges, merges(1, 1, 0));
    // What has a newer version elsewhere is no beginning any more.
    rig.write_pages([17, 16 + 1, 24]);
    assert_eq!(rig.rest().merges, merges(1, 1, 1));
}

#[test]
fn discarded_pages_are_not_copied() {
    for kept in 1..8 {
        let mut rig = Rig::logged(&[]);
        rig.one((Op::Discard, kept * PAGE, (8 - kept) * PAGE));
        rig.write_pages([0, 0, 11, 19]);
        assert_eq!(rig.latency_ns(write(27)), kept * COPY + 2 * ERASE + WRITE, "{kept}");
    }
    // A log block in which nothing is left is only erased.
    let mut rig = Rig::logged(&[]);
    rig.write_pages([3, 11, 19]);
    rig.one((Op::Discard, 0, 8 * PAGE));
    assert_eq!(rig.latency_ns(write(27)), ERASE + WRITE);
    assert_eq!(rig.rest().merges, merges(0, 0, 0));
}

#[test]
fn erased_units_are_used_in_turn() {
    for association in ["one-to-one", "many-to-one"] {
        let set = format!("ftl.log_association={association}");
        let mut rig = Rig::logged(&["nand.channels=2", "ftl.merge_unit_bytes=64k", &set]);
        rig.run(r#"{"rw": "randwrite", "requests": 3000}"#);
        let counters = rig.rest();
        let histogram = &counters.erase_histogram;
        assert_eq!(histogram.iter().sum::<u64>(), 32, "all blocks of both channels");
        let worn: u64 = histogram.iter().zip(0..).map(|(blocks, erases)| blocks * erases).sum();
        assert_eq!(worn, counters.block_erases);
        // Both blocks of a unit are worn alike.
        assert!(histogram.iter().all(|blocks| blocks % 2 == 0), "{histogram:?}");
        let mean = worn as f64 / 32.0;
        let spread = crate::rig::wear_spread(&counters);
        println!("{association}: {mean:.0} erases of a block, spread {spread:.1}");
        assert!(mean > 50.0 && spread < 0.2 * mean, "{spread} of {mean}");
    }
}

#[test]
fn a_small_write_reads_first_what_it_keeps() {
    let mut rig = Rig::logged(&[]);
    let sector = crate::rig::TRANSFER / 8;
    let done = rig.one((Op::Write, 5 * 512, 512));
    // Both pages lie in the same plane: the rest stays in the chip's register.
    assert_eq!(done.latency().0, READ - sector + WRITE - 7 * sector);
    assert_eq!(done.attribution[Cause::Rmw], READ - sector);
    assert_eq!(rig.counters().rmw_reads, 1);
}

#[test]
fn reads_go_on_during_a_merge() {
    let mut rig = Rig::logged(&[]);
    rig.write_pages([5, 11, 19]);
    let done = rig.together(&[write(27), read(40)]);
    assert_eq!(done[0].latency().0, 8 * COPY + 2 * ERASE + WRITE + READ);
    // It came behind the first copy's read.
    assert_eq!(done[1].latency().0, 2 * READ);
    assert_eq!(done[1].attribution[Cause::Merge], READ);
}

/// A drive as kuo2009 has them: 1 MB units of eight 128 KB blocks on four channels.
const K9: [&str; 12] = [
    "nand.channels=4",
    "nand.ways=2",
    "nand.pages_per_block=64",
    "nand.page_bytes=2048",
    "nand.spare_bytes=64",
    "nand.read_ns=20000",
    "nand.program_ns=200000",
    "nand.erase_ns=1500000",
    "channel.ns_per_byte=25",
    "ftl.merge_unit_bytes=1m",
    "host.queue_depth=32",
    "nand.blocks_per_plane=64",
];

#[test]
fn a_random_4_kb_write_costs_about_2_mb_written_in_order() {
    let mut rig = Rig::logged(&K9);
    let random = rig.run(r#"{"rw": "randwrite", "block_bytes": 4096, "requests": 400}"#);
    let random_ns = random.write.unwrap().latency_ns.mean;
    let mut rig = Rig::logged(&K9);
    let sequential = rig.run(r#"{"rw": "write", "block_bytes": 2097152, "requests": 10}"#);
    let sequential_ns = sequential.write.unwrap().latency_ns.mean;
    println!("4 KB at random {random_ns:.0} ns, 2 MB in order {sequential_ns:.0} ns");
    assert!((0.5..2.0).contains(&(random_ns / sequential_ns)), "{random_ns} / {sequential_ns}");
}

#[test]
fn a_unit_written_out_of_line_costs_much_more() {
    let mean = |offset: u64| {
        let mut rig = Rig::logged(&K9);
        // Two units from start to start, so that no request completes what another began.
        let workload = format!(
            r#"{{"rw": "write", "block_bytes": 1048576, "stride_bytes": 1048576,
                 "offset_bytes": {offset}, "size_bytes": 31457280, "requests": 15}}"#
        );
        let mean = rig.run(&workload).write.unwrap().latency_ns.mean;
        (mean, rig.counters().merges)
    };
    let (aligned, found) = mean(0);
    assert_eq!((found.partial, found.full), (0, 0));
    let (shifted, found) = mean(524_288);
    assert!(found.switch == 0 && found.full > 0 && found.partial > 0, "{found:?}");
    println!("aligned {aligned:.0} ns, shifted by half {shifted:.0} ns");
    assert!(shifted > 1.8 * aligned, "{shifted} against {aligned}");
}
