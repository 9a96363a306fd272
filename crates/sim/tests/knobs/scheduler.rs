//! Which command goes next, and what goes at the same time.

use crate::nand::{in_step, overlapped};
use crate::rig::{
    ERASE, PAGE, PROGRAM_ARRAY, PROGRAM_COMMAND, READ, READ_ARRAY, READ_COMMAND, Rig, TRANSFER,
    WRITE, read, write,
};
use ssdscope_io::{Cause, Op};

knobs! {
    "scheduler.read_first" => reads_pass_programs,
    "scheduler.host_first" => the_host_passes_collection,
    "scheduler.multi_plane" => one_command_serves_several_planes,
    "scheduler.die_interleave" => dies_of_a_chip_overlap,
    "scheduler.data_first" => dies_read_while_others_send_or_all_in_step,
}

fn reads_pass_programs() {
    for (set, programs_before) in
        [("scheduler.read_first=true", 1), ("scheduler.read_first=false", 3)]
    {
        let mut rig = Rig::filled(&[set]);
        let done = rig.together(&[write(0), write(1), write(2), read(10)]);
        assert_eq!(done[3].latency().0, programs_before * WRITE + READ, "{set}");
        assert_eq!(done[3].attribution[Cause::DieWait], programs_before * WRITE, "{set}");
        // What one gains the others lose: the die is as busy either way.
        let last = done.iter().map(|one| one.latency().0).max().unwrap();
        assert_eq!(last, 3 * WRITE + READ, "{set}");
    }
}

fn dies_read_while_others_send_or_all_in_step() {
    for dies in [1, 2, 4, 8] {
        for (flag, expected) in [("false", overlapped(dies)), ("true", in_step(dies))] {
            let sets = [format!("nand.ways={dies}"), format!("scheduler.data_first={flag}")];
            let mut rig = Rig::filled(&[&sets[0], &sets[1]]);
            assert_eq!(rig.latency_ns((Op::Read, 0, 8 * PAGE)), expected, "{sets:?}");
        }
    }
    // A program brings data itself, and waits: what is read of the second die comes first.
    for (ask, flag, second_ns) in [
        (read(2), "false", READ + READ_COMMAND + TRANSFER),
        (read(2), "true", READ + TRANSFER),
        (write(2), "false", READ + TRANSFER),
        (write(2), "true", READ + TRANSFER),
    ] {
        let mut rig = Rig::filled(&["nand.ways=4", &format!("scheduler.data_first={flag}")]);
        let _ = rig.then(read(0), 0).then(read(1), READ - 1).then(ask, 0);
        assert_eq!(rig.drain()[1].latency().0, second_ns, "{ask:?}, {flag}");
    }
}

fn the_host_passes_collection() {
    let moved = 3;
    for (set, reads_before, programs_before) in
        [("scheduler.host_first=true", 1, 0), ("scheduler.host_first=false", moved, moved)]
    {
        let sets = [&crate::rig::NO_LINK[..], &["gc.min_free_blocks=6", set]].concat();
        let mut rig = Rig::page(&sets);
        rig.write_pages(0..64);
        // Blocks 1, 4, 6 lose five pages each; the sixteenth overwrite starts collection.
        rig.write_pages((8..13).chain(32..37).chain(48..53));
        let done = rig.together(&[write(0), read(20)]);
        assert_eq!(done[1].latency().0, (reads_before + 1) * READ, "{set}");
        assert_eq!(done[1].attribution[Cause::Gc], reads_before * READ, "{set}");
        let reads = (moved + 1) * READ;
        assert_eq!(done[0].latency().0, reads + (programs_before + 1) * WRITE, "{set}");
        let counters = rig.rest();
        assert_eq!((counters.gc_runs, counters.gc_pages_moved), (1, moved));
        // The die did the same work in another order.
        let work = 80 * WRITE + reads + moved * WRITE + ERASE;
        assert_eq!(counters.die_busy_ns, [work], "{set}");
    }
}

fn one_command_serves_several_planes() {
    for (set, commands) in [("scheduler.multi_plane=true", 1), ("scheduler.multi_plane=false", 0)] {
        let mut rig = Rig::filled(&["nand.planes=4", set]);
        let shared_read = READ_COMMAND + READ_ARRAY + 4 * TRANSFER;
        let shared_write = PROGRAM_COMMAND + 4 * TRANSFER + PROGRAM_ARRAY;
        let (expected_read, expected_write) =
            if commands == 1 { (shared_read, shared_write) } else { (4 * READ, 4 * WRITE) };
        assert_eq!(rig.latency_ns((Op::Read, 0, 4 * PAGE)), expected_read, "{set}");
        assert_eq!(rig.latency_ns((Op::Write, 0, 4 * PAGE)), expected_write, "{set}");
        assert_eq!(rig.counters().multi_plane_commands, 2 * commands, "{set}");
    }
    // Only pages at the same place in their blocks can share a command: of two that wait.
    let mut rig = Rig::filled(&["nand.planes=4"]);
    assert_eq!(rig.span_ns(&[read(0), read(0), read(1)]), 2 * READ + TRANSFER);
    assert_eq!(rig.span_ns(&[read(0), read(0), read(5)]), 3 * READ);
}

fn dies_of_a_chip_overlap() {
    let overlapped = READ_COMMAND + READ_ARRAY + 2 * TRANSFER;
    for (set, expected_read, expected_write) in [
        ("scheduler.die_interleave=true", overlapped, 2 * (PROGRAM_COMMAND + TRANSFER) + 600_000),
        ("scheduler.die_interleave=false", 2 * READ, 2 * WRITE),
    ] {
        let mut rig = Rig::filled(&["nand.dies=2", set]);
        assert_eq!(rig.latency_ns((Op::Read, 0, 2 * PAGE)), expected_read, "{set}");
        assert_eq!(rig.latency_ns((Op::Write, 0, 2 * PAGE)), expected_write, "{set}");
        // Chips do in any case.
        let mut rig = Rig::filled(&["nand.ways=2", set]);
        assert_eq!(rig.latency_ns((Op::Read, 0, 2 * PAGE)), overlapped, "{set}");
    }
}
