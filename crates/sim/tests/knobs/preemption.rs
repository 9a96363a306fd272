//! Collection that yields to the host between its steps, and when it no longer does.

use crate::rig::{Ask, ERASE, NO_LINK, READ, Rig, WRITE, read, write};
use ssdscope_io::Cause;

knobs! {
    "gc.preemptible" => reads_wait_for_a_step_of_collection_not_for_all_of_it,
    "gc.urgent_blocks" => collection_that_is_urgent_goes_first,
}

/// Pages of the block that is collected.
const MOVED: u64 = 6;

/// The drive at the instant at which collection of a block of [`MOVED`] pages begins, with
/// five blocks free: two pages of each of the first eight blocks were written again. Commands
/// of a kind go in order of arrival.
fn under_collection(sets: &[&str]) -> Rig {
    let order = ["gc.min_free_blocks=6", "scheduler.read_first=false"];
    let sets = [&NO_LINK[..], &order, sets].concat();
    let mut rig = Rig::page(&sets);
    rig.write_pages(0..64);
    rig.write_pages((0..8).flat_map(|block| [8 * block, 8 * block + 1]));
    assert_eq!((rig.counters().gc_runs, rig.counters().gc_pages_moved), (1, 0));
    rig
}

/// Reads one after the other until collection is over; their latencies.
fn reads_meanwhile(rig: &mut Rig) -> Vec<u64> {
    let mut latencies = Vec::new();
    while rig.counters().block_erases == 0 {
        let done = rig.one(read(40));
        assert_eq!(done.attribution[Cause::Gc], done.latency().0 - READ);
        latencies.push(done.latency().0);
    }
    latencies
}

fn reads_wait_for_a_step_of_collection_not_for_all_of_it() {
    // A read waits for all the reads of the block, the next one for all its programs, the
    // last one for the erase.
    let off = reads_meanwhile(&mut under_collection(&["gc.preemptible=false"]));
    assert_eq!(off, [MOVED * READ + READ, MOVED * WRITE + READ, ERASE + READ]);
    // Yielding, collection takes one step between two reads.
    let on = reads_meanwhile(&mut under_collection(&["gc.preemptible=true"]));
    let steps = [vec![READ; 6], vec![WRITE; 6], vec![ERASE]].concat();
    assert_eq!(on, steps.iter().map(|step| step + READ).collect::<Vec<_>>());
    assert!(on.iter().max() < off.iter().max(), "an erase is shorter than all programs");
    // So does a write.
    for (set, first) in [("gc.preemptible=false", MOVED * READ), ("gc.preemptible=true", READ)] {
        assert_eq!(under_collection(&[set]).latency_ns(write(40)), first + WRITE, "{set}");
    }
    // Either way the die does the same work.
    let [off, on] = ["gc.preemptible=false", "gc.preemptible=true"].map(|set| {
        let mut rig = under_collection(&[set]);
        (0..20).for_each(|_| assert!(rig.latency_ns(read(40)) >= READ));
        rig.rest()
    });
    assert_eq!((off.die_busy_ns, off.gc_pages_moved), (on.die_busy_ns, on.gc_pages_moved));
}

fn collection_that_is_urgent_goes_first() {
    // Eight writes take the fifth free block, collection the fourth.
    let asks: Vec<Ask> = [read(40)].into_iter().chain((24..32).map(write)).collect();
    let moves = MOVED * (READ + WRITE);
    for (urgent, before, erase) in [(2, READ, 0), (3, READ, 0), (4, moves, ERASE)] {
        let set = format!("gc.urgent_blocks={urgent}");
        let mut rig = under_collection(&["gc.preemptible=true", &set]);
        let done = rig.together(&asks);
        assert_eq!(done[0].latency().0, before + READ, "{urgent}");
        assert_eq!(done[0].attribution[Cause::Gc], before, "{urgent}");
        // The erase goes before the writes, but not before a read that was there first.
        assert_eq!(done[8].latency().0, before + READ + erase + 8 * WRITE, "{urgent}");
        assert_eq!(done[8].attribution[Cause::Gc], before + erase, "{urgent}");
    }
}
