//! What crosses a channel: exact at depth 1.

use crate::rig::{
    ERASE, PAGE, PROGRAM_ARRAY, PROGRAM_COMMAND, READ, READ_ARRAY, READ_COMMAND, Rig, TRANSFER,
    WRITE, read, write,
};
use ssdscope_io::Op;

knobs! {
    "channel.ns_per_byte" => a_byte_takes_its_time_both_ways,
    "channel.read_command_ns" => a_read_command_delays_its_read,
    "channel.read_command_extra_plane_ns" => each_further_plane_of_a_read_costs_more_cycles,
    "channel.program_command_ns" => a_program_command_delays_its_program,
    "channel.program_command_extra_plane_ns" => each_further_plane_of_a_program_costs_more_cycles,
    "channel.erase_command_ns" => an_erase_command_holds_channel_and_die,
    "channel.ready_busy_ns" => ready_busy_follows_each_page_read,
}

fn a_byte_takes_its_time_both_ways() {
    for (ns_per_byte, page_ns) in [("2.5", 10_240), ("25", 102_400), ("0.1", 410)] {
        let mut rig = Rig::filled(&[&format!("channel.ns_per_byte={ns_per_byte}")]);
        assert_eq!(rig.latency_ns(read(0)), READ - TRANSFER + page_ns);
        assert_eq!(rig.latency_ns(write(0)), WRITE - TRANSFER + page_ns);
    }
    // Only what is asked crosses.
    let mut rig = Rig::filled(&[]);
    assert_eq!(rig.latency_ns((Op::Read, 512, 1024)), READ - TRANSFER * 3 / 4);
}

fn a_read_command_delays_its_read() {
    let mut rig = Rig::filled(&["channel.read_command_ns=1234"]);
    assert_eq!(rig.latency_ns(read(0)), READ - READ_COMMAND + 1234);
    assert_eq!(rig.latency_ns(write(0)), WRITE);
}

fn a_program_command_delays_its_program() {
    let mut rig = Rig::filled(&["channel.program_command_ns=4321"]);
    assert_eq!(rig.latency_ns(write(0)), WRITE - PROGRAM_COMMAND + 4321);
    assert_eq!(rig.latency_ns(read(0)), READ);
}

fn each_further_plane_of_a_read_costs_more_cycles() {
    for planes in [1, 2, 4] {
        let sets = [&format!("nand.planes={planes}"), "channel.read_command_extra_plane_ns=700"];
        let mut rig = Rig::filled(&sets);
        let found = rig.latency_ns((Op::Read, 0, planes * PAGE));
        let command = READ_COMMAND + (planes - 1) * 700;
        assert_eq!(found, command + READ_ARRAY + planes * TRANSFER, "{planes} planes");
        assert_eq!(rig.latency_ns((Op::Write, 0, planes * PAGE)), {
            PROGRAM_COMMAND + planes * TRANSFER + PROGRAM_ARRAY
        });
    }
}

fn each_further_plane_of_a_program_costs_more_cycles() {
    for planes in [1, 2, 4] {
        let sets = [&format!("nand.planes={planes}"), "channel.program_command_extra_plane_ns=900"];
        let mut rig = Rig::filled(&sets);
        let found = rig.latency_ns((Op::Write, 0, planes * PAGE));
        let command = PROGRAM_COMMAND + (planes - 1) * 900;
        assert_eq!(found, command + planes * TRANSFER + PROGRAM_ARRAY, "{planes} planes");
    }
}

/// Overwrites all pages and nothing else until the first block is erased, which no read
/// or move goes with; what channel and die were busy with then.
fn busy_until_first_erase(sets: &[&str]) -> (u64, u64) {
    let mut rig = Rig::page(sets);
    rig.write_pages((0..112).map(|number| number % 64));
    let counters = rig.rest();
    assert_eq!((counters.block_erases, counters.gc_pages_moved), (1, 0));
    (counters.channel_busy_ns[0], counters.die_busy_ns[0])
}

fn an_erase_command_holds_channel_and_die() {
    let cycles = TRANSFER + PROGRAM_COMMAND;
    assert_eq!(busy_until_first_erase(&[]), (112 * cycles + 200, 112 * WRITE + ERASE));
    let slower = busy_until_first_erase(&["channel.erase_command_ns=5200"]);
    assert_eq!(slower, (112 * cycles + 5200, 112 * WRITE + ERASE + 5000));
}

fn ready_busy_follows_each_page_read() {
    let mut rig = Rig::filled(&["channel.ready_busy_ns=77", "nand.planes=2"]);
    assert_eq!(rig.latency_ns(read(0)), READ + 77);
    assert_eq!(rig.latency_ns((Op::Read, 0, 2 * PAGE)), READ + TRANSFER + 77);
    assert_eq!(rig.latency_ns(write(0)), WRITE);
}
