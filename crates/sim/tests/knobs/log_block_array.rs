//! The keys of `array`, as a log-block drive obeys them.

use crate::rig::{
    ERASE, LOG_DRIVE, NO_LINK, PAGE, PROGRAM_ARRAY, READ, READ_ARRAY, Rig, TRANSFER, WRITE, read,
    write,
};
use ssdscope_io::{Cause, Op};

knobs! {
    "nand.read_by_type_ns" => a_read_takes_the_time_of_its_type,
    "nand.program_by_type_ns" => a_program_takes_the_time_of_its_type,
    "scheduler.way_interleave" => chips_of_a_channel_overlap,
    "scheduler.multi_plane_erase" => one_command_erases_a_unit,
}

fn a_read_takes_the_time_of_its_type() {
    let mut rig = Rig::logged(&["nand.read_by_type_ns=[40000, 60001, 90000]"]);
    for (page, array) in [(8, 40_000), (9, 60_001), (10, 90_000), (11, 40_000), (15, 60_001)] {
        assert_eq!(rig.latency_ns(read(page)), READ - READ_ARRAY + array, "{page}");
    }
}

fn a_program_takes_the_time_of_its_type() {
    let set = "nand.program_by_type_ns=[40000, 60001, 90000]";
    let mut rig = Rig::open(LOG_DRIVE, &[&NO_LINK[..], &[set]].concat(), None);
    for (page, array) in [(0, 40_000), (1, 60_001), (2, 90_000), (3, 40_000)] {
        assert_eq!(rig.latency_ns(write(page)), WRITE - PROGRAM_ARRAY + array, "{page}");
    }
}

fn chips_of_a_channel_overlap() {
    for (flag, expected) in [("true", READ + TRANSFER), ("false", 2 * READ)] {
        let way = format!("scheduler.way_interleave={flag}");
        let mut rig = Rig::logged(&["nand.ways=2", "ftl.merge_unit_bytes=65536", &way]);
        assert_eq!(rig.latency_ns((Op::Read, 0, 2 * PAGE)), expected, "{flag}");
    }
}

fn one_command_erases_a_unit() {
    for (flag, commands) in [("true", 1), ("false", 4)] {
        let several = format!("scheduler.multi_plane_erase={flag}");
        let unit = ["nand.planes=4", "ftl.merge_unit_bytes=131072", &several];
        let mut rig = Rig::logged(&unit);
        rig.write_pages(0..32);
        let wait = rig.one(write(80)).attribution[Cause::Merge];
        assert_eq!(wait, commands * ERASE, "{flag}");
        assert_eq!(rig.rest().block_erases, 4, "{flag}");
    }
}
