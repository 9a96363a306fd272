//! Log blocks merged while the host is quiet.
//!
//! One plane, merge units of 8 pages, three log blocks, every page written in order.

use crate::rig::{ERASE, READ, Rig, WRITE, write};
use ssdscope_io::Cause;

knobs! {
    "gc.background" => only_with_background_are_log_blocks_merged_when_idle,
    "gc.idle_ns" => merging_waits_until_the_host_has_been_quiet_so_long,
}

const FULL_MERGE: u64 = 8 * (READ + WRITE) + 2 * ERASE;

/// The drive with a page of three blocks written again, each in a log block of its own.
fn with_three_logs(sets: &[&str]) -> Rig {
    let mut rig = Rig::logged(sets);
    rig.write_pages([3, 11, 19]);
    assert_eq!(rig.counters().gc_runs, 0);
    rig
}

fn only_with_background_are_log_blocks_merged_when_idle() {
    for (background, merged, next) in [(false, 0, FULL_MERGE + WRITE), (true, 3, WRITE)] {
        for association in ["one-to-one", "many-to-one"] {
            let association = format!("ftl.log_association={association}");
            let background = format!("gc.background={background}");
            let mut rig = with_three_logs(&[&background, &association]);
            // Both kinds have a page of each block in log blocks.
            let counters = rig.rest();
            assert_eq!(counters.merges.full, merged, "{background}, {association}");
            assert_eq!(counters.gc_pages_moved, merged * 8);
            if association.ends_with("one-to-one") {
                assert_eq!(rig.latency_ns(write(27)), next, "{background}");
            }
        }
    }
}

fn merging_waits_until_the_host_has_been_quiet_so_long() {
    for idle_ns in [1_000_000, 25_000_000] {
        let set = format!("gc.idle_ns={idle_ns}");
        let mut rig = with_three_logs(&[&set, "gc.background=true"]);
        rig.idle(idle_ns - 1);
        assert_eq!(rig.counters().gc_runs, 0, "{idle_ns}");
        rig.one(write(3));
        rig.idle(idle_ns - 1);
        assert_eq!(rig.counters().gc_runs, 0, "{idle_ns}: a write starts it anew");
        rig.idle(1);
        assert_eq!(rig.counters().gc_runs, 1, "{idle_ns}");
    }
}

#[test]
fn the_host_waits_for_the_merge_under_way_and_no_other() {
    let mut rig = with_three_logs(&["gc.background=true", "gc.idle_ns=1000000"]);
    rig.idle(1_000_000 + FULL_MERGE / 2);
    let met = rig.one(write(27));
    assert_eq!(met.latency().0, FULL_MERGE - FULL_MERGE / 2 + WRITE);
    assert_eq!(met.attribution[Cause::Merge], FULL_MERGE - FULL_MERGE / 2);
    assert_eq!(rig.counters().merges.full, 1);
    // The rest follows in the next pause, the longest unwritten first.
    rig.idle(1_000_000 + FULL_MERGE + 1);
    assert_eq!(rig.counters().merges.full, 3);
    assert_eq!(rig.rest().merges.full, 4);
}

#[test]
fn a_beginning_in_order_is_completed_and_a_whole_block_switched() {
    let mut rig = Rig::logged(&["gc.background=true"]);
    rig.write_pages(0..5);
    let counters = rig.rest();
    assert_eq!((counters.merges.partial, counters.gc_pages_moved), (1, 3));
    rig.write_pages(0..8);
    assert_eq!(rig.rest().merges.switch, 1);
}
