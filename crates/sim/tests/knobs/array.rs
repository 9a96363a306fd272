//! What newer chips and controllers can do besides: types of pages, erases of several planes,
//! pages that move without the channel.

use crate::rig::{
    ERASE, PAGE, PROGRAM_ARRAY, PROGRAM_COMMAND, READ, READ_ARRAY, READ_COMMAND, Rig, TRANSFER,
    WRITE, read, write,
};
use ssdscope_io::{Cause, Op};

knobs! {
    "nand.read_by_type_ns" => a_read_takes_the_time_of_its_type,
    "nand.program_by_type_ns" => a_program_takes_the_time_of_its_type,
    "nand.type_order" => types_come_in_turns_or_in_pairs,
    "scheduler.way_interleave" => chips_of_a_channel_overlap,
    "scheduler.multi_plane_erase" => one_command_erases_on_several_planes,
    "gc.copyback" => what_is_collected_does_not_cross_the_channel,
}

/// Times of a cell of three bits, and the type of a page: its place in a block of eight.
const TYPES: [u64; 3] = [40_000, 60_001, 90_000];
const fn of_type(page: u64) -> u64 {
    TYPES[(page % 8 % 3) as usize]
}

fn a_read_takes_the_time_of_its_type() {
    let set = "nand.read_by_type_ns=[40000, 60001, 90000]";
    let mut rig = Rig::filled(&[set]);
    for page in 0..64 {
        let done = rig.one(read(page));
        assert_eq!(done.attribution[Cause::Nand], of_type(page), "{page}");
        assert_eq!(done.latency().0, READ - READ_ARRAY + of_type(page), "{page}");
    }
    assert_eq!(rig.latency_ns(write(0)), WRITE, "programs are as ever");
    // The planes of a command share the place in the block, and so the type.
    let mut rig = Rig::filled(&["nand.planes=4", set]);
    for page in 0..8 {
        let expected = READ_COMMAND + of_type(page) + 4 * TRANSFER;
        assert_eq!(rig.latency_ns((Op::Read, page * 4 * PAGE, 4 * PAGE)), expected, "{page}");
    }
    assert_eq!(Rig::filled(&["nand.read_by_type_ns=[]"]).latency_ns(read(2)), READ);
    let mut rig = Rig::filled(&[set, "channel.ready_busy_ns=77"]);
    assert_eq!(rig.latency_ns(read(1)), READ - READ_ARRAY + 60_001 + 77);
}

fn a_program_takes_the_time_of_its_type() {
    let set = "nand.program_by_type_ns=[40000, 60001, 90000]";
    let mut rig = Rig::page(&[&crate::rig::NO_LINK[..], &[set]].concat());
    for page in 0..64 {
        let done = rig.one(write(page));
        assert_eq!(done.attribution[Cause::Nand], of_type(page), "{page}");
        assert_eq!(done.latency().0, WRITE - PROGRAM_ARRAY + of_type(page), "{page}");
        assert_eq!(rig.latency_ns(read(page)), READ, "reads are as ever");
    }
    let mut rig = Rig::page(&[&crate::rig::NO_LINK[..], &["nand.planes=4", set]].concat());
    for page in 0..8 {
        let expected = PROGRAM_COMMAND + 4 * TRANSFER + of_type(page);
        assert_eq!(rig.latency_ns((Op::Write, page * 4 * PAGE, 4 * PAGE)), expected, "{page}");
    }
}

fn chips_of_a_channel_overlap() {
    for (flag, expected) in [
        ("true", [READ + TRANSFER, 2 * (WRITE - PROGRAM_ARRAY) + PROGRAM_ARRAY]),
        ("false", [2 * READ, 2 * WRITE]),
    ] {
        let set = format!("scheduler.way_interleave={flag}");
        let two = |key: &str| {
            let mut rig = Rig::filled(&[key, &set]);
            [Op::Read, Op::Write].map(|op| rig.latency_ns((op, 0, 2 * PAGE)))
        };
        assert_eq!(two("nand.ways=2"), expected, "{set}");
        assert_eq!(two("nand.dies=2"), expected, "dies are of a chip: {set}");
        assert_eq!(two("nand.channels=2"), [READ, WRITE], "channels do in any case: {set}");
    }
}

fn one_command_erases_on_several_planes() {
    for (flag, commands) in [("true", 1), ("false", 4)] {
        let sets = ["nand.planes=4", "gc.background=true", "gc.idle_ns=1000"];
        let more = ["gc.high_water_ratio=0.5", &format!("scheduler.multi_plane_erase={flag}")];
        let mut rig =
            Rig::filled(&[sets, [more[0], more[1], "scheduler.multi_plane=false"]].concat());
        // Nothing is valid any more, and every plane is one block short when it gets quiet.
        rig.one((Op::Discard, 0, rig.capacity()));
        let counters = rig.rest();
        assert_eq!((counters.block_erases, counters.gc_pages_moved), (4, 0), "{flag}");
        assert_eq!(counters.die_busy_ns, [commands * ERASE], "{flag}");
        assert_eq!(counters.multi_plane_commands, u64::from(commands == 1), "{flag}");
    }
}

/// Cycles of an erase on the channel.
const ERASE_COMMAND: u64 = 200;

fn what_is_collected_does_not_cross_the_channel() {
    let commands = READ_COMMAND + PROGRAM_COMMAND;
    for (flag, data) in [("false", 2 * TRANSFER), ("true", 0)] {
        let copyback = format!("gc.copyback={flag}");
        // Three pages are moved, as for `scheduler.host_first`, and nothing else happens.
        let mut rig =
            Rig::page(&[&crate::rig::NO_LINK[..], &["gc.min_free_blocks=6", &copyback]].concat());
        rig.write_pages((0..64).chain(8..13).chain(32..37).chain(48..53));
        let before = rig.rest();
        rig.one(write(0));
        let done = rig.rest().since(&before);
        assert_eq!((done.gc_pages_moved, done.flash_bytes_read), (3, 3 * PAGE), "{flag}");
        let moving = 3 * (commands + data + READ_ARRAY + PROGRAM_ARRAY);
        assert_eq!(done.die_busy_ns, [WRITE + moving + ERASE], "{flag}");
        // Under load, on mapping units of a page and of a page on each of two planes.
        for unit in [1, 2] {
            let units = format!("ftl.map_unit_bytes={}", unit * PAGE);
            let sets = ["nand.planes=2", "scheduler.multi_plane=false", &units, &copyback];
            let mut rig = Rig::filled(&sets);
            let bytes = unit * PAGE;
            rig.run(&format!(r#"{{"rw": "randwrite", "block_bytes": {bytes}, "requests": 900}}"#));
            let counters = rig.rest();
            let (moved, erased) = (counters.gc_pages_moved, counters.block_erases);
            assert!(moved > 100, "{moved} pages moved");
            let host = 900 * unit * (PROGRAM_COMMAND + TRANSFER);
            let expected = host + moved * (commands + data) + erased * ERASE_COMMAND;
            assert_eq!(counters.channel_busy_ns, [expected], "{flag}, {unit} pages");
            assert_eq!(counters.flash_bytes_programmed, (900 * unit + moved) * PAGE, "{flag}");
        }
    }
    // Planes move pages in one command, if they go to the same place in their blocks.
    let mut rig = Rig::filled(&["nand.planes=2", "ftl.map_unit_bytes=8192", "gc.copyback=true"]);
    rig.run(r#"{"rw": "randwrite", "block_bytes": 8192, "requests": 900}"#);
    let counters = rig.rest();
    let commands = 900 + counters.gc_pages_moved / 2;
    assert_eq!(counters.multi_plane_commands, commands);
    let work = 900 * (WRITE + TRANSFER)
        + counters.gc_pages_moved / 2
            * (READ_COMMAND + PROGRAM_COMMAND + READ_ARRAY + PROGRAM_ARRAY)
        + counters.block_erases * ERASE;
    assert_eq!(counters.die_busy_ns, [work]);
}

fn types_come_in_turns_or_in_pairs() {
    let types = [40_000, 60_001, 90_000];
    for (order, expected) in [
        ("turns", [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]),
        ("pairs", [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 0, 0]),
    ] {
        let set = format!("nand.type_order={order}");
        let by_type = "nand.read_by_type_ns=[40000, 60001, 90000]";
        let mut rig = Rig::filled(&["nand.pages_per_block=16", by_type, &set]);
        for (page, kind) in expected.into_iter().enumerate() {
            let array_ns = rig.one(read(page as u64)).attribution[Cause::Nand];
            assert_eq!(array_ns, types[kind as usize], "{order}, page {page}");
        }
    }
}
