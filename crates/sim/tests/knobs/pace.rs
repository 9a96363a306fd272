//! How collection and the host's writes keep each other back.

use crate::rig::{PAGE, PROGRAM_ARRAY, Rig};
use ssdscope_io::{Cause, Nanos, Op};

knobs! {
    "gc.stop_writes_blocks" => writes_stop_with_fewer_free_blocks,
    "gc.max_victims" => so_many_blocks_are_collected_at_once,
}

/// The drive with nine blocks filled, six free and collection due with the next filled
/// one; then a write of the 56 pages from page 8 on, seven blocks.
fn long_write(sets: &[&str]) -> Rig {
    let mut rig = Rig::page(&[&["gc.min_free_blocks=6"], sets].concat());
    rig.write_pages((0..72).map(|number| number % 64));
    assert_eq!(rig.counters().gc_runs, 0);
    rig.submit((Op::Write, 8 * PAGE, 56 * PAGE));
    rig
}

/// Lets the next thing happen; whether anything is left to.
fn step(rig: &mut Rig) -> bool {
    let Some(next) = rig.device.next_event() else { return false };
    rig.device.advance(next, &mut Vec::new()).unwrap();
    true
}

fn writes_stop_with_fewer_free_blocks() {
    for stop in [1, 2, 3, 4, 5] {
        let mut rig = long_write(&[&format!("gc.stop_writes_blocks={stop}")]);
        // Programs go before erases, so all that could be placed is programmed before the
        // first block is erased: from six free blocks down to one fewer than `stop`.
        let before = rig.counters().flash_bytes_programmed;
        let mut pages = 0;
        while rig.counters().block_erases == 0 {
            pages = (rig.counters().flash_bytes_programmed - before) / PAGE;
            assert!(step(&mut rig));
        }
        assert_eq!(pages, 8 * (6 - stop + 1), "{stop}");
        assert_eq!(rig.counters().gc_pages_moved, 0);
        // The last page of the request waited for erases, and says so.
        let done = rig.drain()[0].attribution;
        assert!(done[Cause::Gc] > 3_000_000, "{stop}: {done:?}");
        assert_eq!(done[Cause::Nand], PROGRAM_ARRAY);
    }
}

fn so_many_blocks_are_collected_at_once() {
    for victims in [1, 2, 3] {
        let sets = ["gc.stop_writes_blocks=2", &format!("gc.max_victims={victims}")];
        let mut rig = long_write(&sets);
        let mut most = 0;
        let deadline = rig.device.now() + Nanos(1_000_000_000);
        while rig.device.now() < deadline && step(&mut rig) {
            let counters = rig.counters();
            most = most.max(counters.gc_runs - counters.block_erases);
        }
        assert_eq!(most, victims);
    }
}
