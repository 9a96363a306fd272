//! The keys of `array`, as a log-block drive obeys them.

use crate::nand::{in_step, overlapped};
use crate::rig::{
    ERASE, LOG_DRIVE, NO_LINK, PAGE, PROGRAM_ARRAY, READ, READ_ARRAY, Rig, TRANSFER, WRITE, read,
    write,
};
use ssdscope_io::{Cause, Op};

knobs! {
    "nand.read_by_type_ns" => a_read_takes_the_time_of_its_type,
    "nand.program_by_type_ns" => a_program_takes_the_time_of_its_type,
    "nand.type_order" => types_come_in_turns_or_in_pairs,
    "scheduler.way_interleave" => chips_of_a_channel_overlap,
    "scheduler.data_first" => chips_read_while_others_send_or_all_in_step,
    "scheduler.multi_plane_erase" => one_command_erases_a_unit,
    "scheduler.cached_read" => the_next_page_is_read_while_data_go_out,
    "scheduler.cached_program" => data_come_in_while_the_array_programs,
    "scheduler.suspend" => a_read_stops_an_erase_or_a_program,
    "scheduler.suspend_ns" => stopping_takes_its_time,
    "scheduler.resume_ns" => going_on_takes_its_time,
    "scheduler.suspend_reads" => an_erase_lets_so_many_reads_pass,
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

fn types_come_in_turns_or_in_pairs() {
    let by_type = "nand.read_by_type_ns=[40000, 60001, 90000]";
    let mut rig = Rig::logged(&[by_type, "nand.type_order=pairs"]);
    for (page, array) in [(8, 40_000), (9, 40_000), (13, 40_000), (14, 60_001), (15, 60_001)] {
        assert_eq!(rig.latency_ns(read(page)), READ - READ_ARRAY + array, "{page}");
    }
}

fn chips_of_a_channel_overlap() {
    for (flag, expected) in [("true", READ + TRANSFER), ("false", 2 * READ)] {
        let way = format!("scheduler.way_interleave={flag}");
        let mut rig = Rig::logged(&["nand.ways=2", "ftl.merge_unit_bytes=65536", &way]);
        assert_eq!(rig.latency_ns((Op::Read, 0, 2 * PAGE)), expected, "{flag}");
    }
}

fn chips_read_while_others_send_or_all_in_step() {
    for (flag, expected) in [("false", overlapped(4)), ("true", in_step(4))] {
        let data = format!("scheduler.data_first={flag}");
        let mut rig = Rig::logged(&["nand.ways=4", "ftl.merge_unit_bytes=131072", &data]);
        assert_eq!(rig.latency_ns((Op::Read, 0, 8 * PAGE)), expected, "{flag}");
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

fn the_next_page_is_read_while_data_go_out() {
    for (flag, step) in [("false", READ), ("true", READ - TRANSFER)] {
        let mut rig = Rig::logged(&[&format!("scheduler.cached_read={flag}")]);
        assert_eq!(rig.latency_ns((Op::Read, 0, 8 * PAGE)), READ + 7 * step, "{flag}");
    }
}

fn data_come_in_while_the_array_programs() {
    for (flag, step) in [("false", WRITE), ("true", PROGRAM_ARRAY)] {
        let cached = format!("scheduler.cached_program={flag}");
        let mut rig = Rig::open(LOG_DRIVE, &[&NO_LINK[..], &[&cached]].concat(), None);
        assert_eq!(rig.latency_ns((Op::Write, 0, 8 * PAGE)), WRITE + 7 * step, "{flag}");
    }
}

/// Reads that arrive together in the midst of a switch merge's erase, and a write that waits
/// for it: when each is answered.
fn amid_an_erase(sets: &[&str], reads: u64) -> (Vec<u64>, u64) {
    let mut rig = Rig::logged(sets);
    rig.write_pages(0..8);
    rig.then(write(20), 100_000);
    (0..reads).for_each(|page| rig.submit(read(40 + page)));
    let done = rig.drain();
    let found = done[1..].iter().map(|one| one.latency().0).collect();
    (found, done[0].attribution[Cause::Merge])
}

fn a_read_stops_an_erase_or_a_program() {
    let left = ERASE - 100_000;
    assert_eq!(amid_an_erase(&["scheduler.suspend=none"], 1), (vec![left + READ], ERASE));
    for mode in ["erase", "program-and-erase"] {
        let mode = format!("scheduler.suspend={mode}");
        assert_eq!(amid_an_erase(&[&mode], 1), (vec![READ], ERASE + READ), "{mode}");
    }
    for (mode, wait) in [("erase", WRITE - 100_000), ("program-and-erase", 0)] {
        let mut rig = Rig::logged(&[&format!("scheduler.suspend={mode}")]);
        rig.then(write(9), 100_000).submit(read(40));
        assert_eq!(rig.drain()[1].latency().0, wait + READ, "{mode}");
    }
}

fn stopping_takes_its_time() {
    let sets = ["scheduler.suspend=erase", "scheduler.suspend_ns=7000"];
    assert_eq!(amid_an_erase(&sets, 1), (vec![7000 + READ], ERASE + 7000 + READ));
}

fn going_on_takes_its_time() {
    let sets = ["scheduler.suspend=erase", "scheduler.resume_ns=7000"];
    assert_eq!(amid_an_erase(&sets, 1), (vec![READ], ERASE + READ + 7000));
}

fn an_erase_lets_so_many_reads_pass() {
    let sets = ["scheduler.suspend=erase", "scheduler.suspend_reads=2"];
    let behind = 2 * READ + ERASE - 100_000 + READ;
    assert_eq!(amid_an_erase(&sets, 3), (vec![READ, 2 * READ, behind], ERASE + 2 * READ));
}
