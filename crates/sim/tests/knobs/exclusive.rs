//! Collection that has its die to itself, and collections that are left out.

use crate::rig::{Ask, ERASE, NO_LINK, READ, Rig, WRITE, read, write};
use ssdscope_io::Cause;

knobs! {
    "gc.exclusive" => nothing_of_the_host_goes_before_the_erase,
    "gc.skip_every" => one_collection_of_so_many_is_left_out,
}

/// Pages of the block that is collected.
const MOVED: u64 = 3;

/// The drive on which `write(0)` starts collection of the block of pages 8 to 15, of which
/// the last three are valid.
fn before_collection(sets: &[&str]) -> Rig {
    let mut rig = Rig::page(&[&NO_LINK[..], &["gc.min_free_blocks=6"], sets].concat());
    rig.write_pages(0..64);
    rig.write_pages((8..13).chain(32..37).chain(48..53));
    rig
}

fn latencies(sets: &[&str], asks: &[Ask]) -> Vec<u64> {
    before_collection(sets).together(asks).iter().map(|done| done.latency().0).collect()
}

fn nothing_of_the_host_goes_before_the_erase() {
    let collection = MOVED * (READ + WRITE) + ERASE;
    for (set, read_first, written) in [
        ("gc.exclusive=false", READ, 2 * READ + MOVED * READ),
        ("gc.exclusive=true", collection + READ, collection + 2 * READ),
    ] {
        let mut rig = before_collection(&[set]);
        let done = rig.together(&[write(0), read(20), read(21)]);
        let found: Vec<u64> = done.iter().map(|one| one.latency().0).collect();
        // The first read waits for a read of collection that has begun, or for all of it.
        let begun = if set.ends_with("false") { READ } else { 0 };
        assert_eq!(found[1], read_first + begun, "{set}");
        assert_eq!(done[1].attribution[Cause::Gc], found[1] - READ, "{set}");
        assert_eq!(found[0], written + WRITE, "{set}");
        // The die did the same work in another order.
        let work = 80 * WRITE + 2 * READ + MOVED * (READ + WRITE) + ERASE;
        assert_eq!(rig.rest().die_busy_ns, [work], "{set}");
    }
    // What is in the block is read before it is erased: with collection's reads, or before
    // them if it was asked for before.
    let set = "gc.exclusive=true";
    assert_eq!(latencies(&[set], &[write(0), read(14)])[1], MOVED * READ + READ);
    assert_eq!(latencies(&[set], &[read(20), read(14), write(0)])[1], 2 * READ);
    // In order of arrival it is alone all the same: a program of the host goes after the erase.
    let arrival = [set, "scheduler.read_first=false"];
    assert_eq!(latencies(&arrival, &[write(0), read(20)])[0], collection + WRITE);
    // Where it may yield, it is alone once it is urgent: with the block that it begins to fill
    // four are left.
    for (urgent, expected) in [(2, 2 * READ), (5, collection + READ)] {
        let urgent = format!("gc.urgent_blocks={urgent}");
        let mut rig = before_collection(&[set, "gc.preemptible=true", &urgent]);
        rig.one(write(0));
        assert_eq!(rig.latency_ns(read(20)), expected, "{urgent}");
    }
}

fn one_collection_of_so_many_is_left_out() {
    for (every, runs) in [(0, 9), (2, 5), (3, 6), (4, 7), (100, 9)] {
        let mut rig = Rig::page(&["gc.min_free_blocks=6", &format!("gc.skip_every={every}")]);
        // With the tenth block too few are free; what is overwritten leaves nothing to move.
        rig.write_pages((0..18 * 8).map(|number| number % 64));
        let counters = rig.rest();
        assert_eq!((counters.gc_runs, counters.gc_pages_moved), (runs, 0), "{every}");
    }
}
