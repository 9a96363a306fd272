//! The keys of array, channels, link and scheduler, as a log-block drive obeys them: the
//! hardware is that of a page-mapped drive, and here is seen to be the same.

use crate::nand::{in_step, overlapped};
use crate::rig::{
    COMMAND, ERASE, LINK, LOG_DRIVE, PAGE, PROGRAM_ARRAY, PROGRAM_COMMAND, READ, Rig, TRANSFER,
    WRITE, config, read, write,
};
use ssdscope_io::{Cause, Op};

knobs! {
    "nand.channels" => channels_work_side_by_side,
    "nand.ways" => ways_share_their_channel,
    "nand.dies" => dies_share_their_channel,
    "nand.planes" => planes_share_a_command,
    "nand.blocks_per_plane" => blocks_are_capacity,
    "nand.pages_per_block" => pages_make_a_block,
    "nand.page_bytes" => a_page_is_what_is_read,
    "nand.spare_bytes" => spare_bytes_cross_the_channel,
    "nand.read_ns" => a_read_takes_read_ns,
    "nand.program_ns" => a_program_takes_program_ns,
    "nand.erase_ns" => an_erase_takes_erase_ns,
    "channel.ns_per_byte" => a_byte_takes_its_time,
    "channel.read_command_ns" => a_read_command_takes_its_time,
    "channel.read_command_extra_plane_ns" => further_planes_of_a_read_take_cycles,
    "channel.program_command_ns" => a_program_command_takes_its_time,
    "channel.program_command_extra_plane_ns" => further_planes_of_a_program_take_cycles,
    "channel.erase_command_ns" => an_erase_command_takes_its_time,
    "channel.ready_busy_ns" => ready_busy_follows_a_read,
    "host.interface" => the_interface_decides_what_a_request_costs,
    "host.logical_block_bytes" => the_logical_block_is_reported,
    "host.queue_depth" => beyond_the_queue_depth_requests_wait_outside,
    "host.firmware_ns" => the_controller_takes_its_time,
    "host.bytes_per_second" => the_link_carries_so_many_bytes,
    "host.command_ns" => the_link_takes_so_long_for_a_command,
    "host.lanes" => lanes_share_out_the_bytes,
    "host.lane_bytes_per_second" => a_lane_carries_so_many_bytes,
    "host.packet_payload_bytes" => payload_cuts_messages_into_packets,
    "host.packet_overhead_bytes" => overhead_comes_with_every_packet,
    "scheduler.read_first" => reads_pass_programs,
    "scheduler.host_first" => the_host_passes_merges,
    "scheduler.multi_plane" => one_command_serves_several_planes,
    "scheduler.die_interleave" => dies_of_a_chip_overlap,
}

/// A drive with `key` set, and units over all its planes.
fn wide(key: &str, planes: u64, sets: &[&str]) -> Rig {
    let unit = format!("ftl.merge_unit_bytes={}", 32_768 * planes);
    Rig::logged(&[&[&format!("{key}={planes}"), &unit[..]], sets].concat())
}

/// Checks that eight pages are read in `expected` for so many of `key`, and the capacity.
fn check_eight(key: &str, expected: impl Fn(u64) -> u64) {
    for count in [1, 2, 4, 8] {
        let mut rig = wide(key, count, &[]);
        assert_eq!(rig.latency_ns((Op::Read, 0, 8 * PAGE)), expected(count), "{key} {count}");
        assert_eq!(rig.capacity(), count * 64 * PAGE, "{key} {count}");
    }
}

fn channels_work_side_by_side() {
    check_eight("nand.channels", |channels| 8 / channels * READ);
}

fn ways_share_their_channel() {
    check_eight("nand.ways", overlapped);
}

fn dies_share_their_channel() {
    check_eight("nand.dies", overlapped);
}

fn planes_share_a_command() {
    check_eight("nand.planes", in_step);
}

fn blocks_are_capacity() {
    for (blocks, units) in [(16, 8), (17, 8), (40, 20)] {
        let mut rig = Rig::logged(&[&format!("nand.blocks_per_plane={blocks}")]);
        assert_eq!(rig.capacity(), units * 8 * PAGE);
        assert_eq!(rig.counters().erase_histogram, [blocks]);
    }
}

fn pages_make_a_block() {
    for pages in [4, 8, 32] {
        let unit = format!("ftl.merge_unit_bytes={}", pages * PAGE);
        let mut rig = Rig::logged(&[&format!("nand.pages_per_block={pages}"), &unit]);
        rig.write_pages(0..pages);
        assert_eq!(rig.rest().merges.switch, 1, "{pages}");
        assert_eq!(rig.capacity(), 8 * pages * PAGE);
    }
}

fn a_page_is_what_is_read() {
    for page_bytes in [512, 2048, 16_384] {
        let unit = format!("ftl.merge_unit_bytes={}", 8 * page_bytes);
        let mut rig = Rig::logged(&[&format!("nand.page_bytes={page_bytes}"), &unit]);
        let found = rig.latency_ns((Op::Read, 0, page_bytes));
        assert_eq!(found, READ - TRANSFER + page_bytes * 5 / 2, "{page_bytes}");
    }
}

/// What a read and a write of a page take beyond the usual with `set`.
fn beyond(set: &str) -> (u64, u64) {
    let mut rig = Rig::logged(&[set]);
    (rig.latency_ns(read(9)) - READ, rig.latency_ns(write(9)) - WRITE)
}

fn spare_bytes_cross_the_channel() {
    assert_eq!(beyond("nand.spare_bytes=128"), (320, 320));
}

fn a_read_takes_read_ns() {
    assert_eq!(beyond("nand.read_ns=50001"), (1, 0));
}

fn a_program_takes_program_ns() {
    assert_eq!(beyond("nand.program_ns=700007"), (0, 100_007));
}

/// What a write waits for a switch merge, which is an erase.
fn erase_wait(set: &str) -> u64 {
    let mut rig = Rig::logged(&[set]);
    rig.write_pages(0..8);
    rig.one(write(20)).attribution[Cause::Merge]
}

fn an_erase_takes_erase_ns() {
    assert_eq!(erase_wait("nand.erase_ns=3000000"), ERASE);
    assert_eq!(erase_wait("nand.erase_ns=9000009"), ERASE + 6_000_009);
}

fn a_byte_takes_its_time() {
    assert_eq!(beyond("channel.ns_per_byte=25"), (9 * TRANSFER, 9 * TRANSFER));
}

fn a_read_command_takes_its_time() {
    assert_eq!(beyond("channel.read_command_ns=1300"), (1000, 0));
}

fn further_planes_of_a_read_take_cycles() {
    let mut rig = wide("nand.planes", 4, &["channel.read_command_extra_plane_ns=700"]);
    let usual = READ + 3 * TRANSFER;
    assert_eq!(rig.latency_ns((Op::Read, 0, 4 * PAGE)), usual + 3 * 700);
}

fn a_program_command_takes_its_time() {
    assert_eq!(beyond("channel.program_command_ns=1400"), (0, 1000));
}

fn further_planes_of_a_program_take_cycles() {
    let mut rig = wide("nand.planes", 4, &["channel.program_command_extra_plane_ns=900"]);
    let usual = WRITE + 3 * TRANSFER;
    assert_eq!(rig.latency_ns((Op::Write, 0, 4 * PAGE)), usual + 3 * 900);
}

fn an_erase_command_takes_its_time() {
    assert_eq!(erase_wait("channel.erase_command_ns=5200"), ERASE + 5000);
}

fn ready_busy_follows_a_read() {
    assert_eq!(beyond("channel.ready_busy_ns=77"), (77, 0));
}

/// Read and write of a page over a link.
fn linked(sets: &[&str]) -> (u64, u64) {
    let mut rig = Rig::open(LOG_DRIVE, sets, None);
    let written = rig.latency_ns(write(0));
    rig.idle(10_000);
    (rig.latency_ns(read(0)), written)
}

fn the_interface_decides_what_a_request_costs() {
    assert_eq!(linked(&[]), (COMMAND + READ + LINK, COMMAND + LINK + WRITE));
    // A page is 32 packets of 156 bytes over four lanes; messages of 2, 4, 72, 4 and 16 bytes.
    let (data, messages) = (32 * 39, [8, 8, 25, 8, 11]);
    let command = messages[0] + messages[1] + messages[2];
    let expected =
        (command + READ + data + messages[4], command + messages[3] + data + WRITE + messages[4]);
    assert_eq!(linked(&["host.interface=nvme"]), expected);
}

fn the_logical_block_is_reported() {
    let rig = Rig::logged(&["host.logical_block_bytes=4096"]);
    assert_eq!(rig.device.info().logical_block_bytes, 4096);
}

fn beyond_the_queue_depth_requests_wait_outside() {
    for depth in [1, 2, 4] {
        let mut rig = wide("nand.channels", 4, &[&format!("host.queue_depth={depth}")]);
        let span = rig.span_ns(&[read(0), read(1), read(2), read(3)]);
        assert_eq!(span, 4 / depth * READ, "depth {depth}");
    }
}

fn the_controller_takes_its_time() {
    assert_eq!(beyond("host.firmware_ns=7000"), (7000, 7000));
}

fn the_link_carries_so_many_bytes() {
    let found = linked(&["host.bytes_per_second=2.5e8"]);
    assert_eq!(found, (COMMAND + READ + 4 * LINK, COMMAND + 4 * LINK + WRITE));
}

fn the_link_takes_so_long_for_a_command() {
    assert_eq!(linked(&["host.command_ns=5005"]), (5005 + READ + LINK, 5005 + LINK + WRITE));
}

/// How much longer than usual a read takes over an `nvme` link with `set`.
fn nvme_beyond(set: &str) -> i64 {
    let read = |sets: &[&str]| linked(sets).0.cast_signed();
    read(&["host.interface=nvme", set]) - read(&["host.interface=nvme"])
}

fn lanes_share_out_the_bytes() {
    // 156 bytes on two lanes are 78 instead of 39; the small messages 15, 16, 50, 22.
    assert_eq!(nvme_beyond("host.lanes=2"), 32 * 39 + (15 - 8) + (16 - 8) + (50 - 25) + (22 - 11));
}

fn a_lane_carries_so_many_bytes() {
    assert_eq!(nvme_beyond("host.lane_bytes_per_second=500e6"), 32 * 39 + 8 + 8 + 25 + 11);
}

fn payload_cuts_messages_into_packets() {
    // 64 packets of 92 bytes, 23 to a lane; the command's 72 bytes in two.
    assert_eq!(nvme_beyond("host.packet_payload_bytes=64"), 64 * 23 - 32 * 39 + (23 + 9) - 25);
}

fn overhead_comes_with_every_packet() {
    assert_eq!(nvme_beyond("host.packet_overhead_bytes=128"), (32 + 4) * 25);
}

fn reads_pass_programs() {
    for (set, programs_before) in
        [("scheduler.read_first=true", 1), ("scheduler.read_first=false", 3)]
    {
        let mut rig = Rig::logged(&[set]);
        let done = rig.together(&[write(1), write(9), write(17), read(40)]);
        assert_eq!(done[3].latency().0, programs_before * WRITE + READ, "{set}");
    }
}

fn the_host_passes_merges() {
    // A read arrives with a write that sets off a full merge, whose first read is at work.
    for (set, before) in [("scheduler.host_first=true", 1), ("scheduler.host_first=false", 8)] {
        let mut rig = Rig::logged(&[set]);
        rig.write_pages([5, 11, 19]);
        let done = rig.together(&[write(27), read(40)]);
        assert_eq!(done[1].latency().0, (before + 1) * READ, "{set}");
        assert_eq!(done[1].attribution[Cause::Merge], before * READ, "{set}");
    }
}

fn one_command_serves_several_planes() {
    let shared = (READ + 3 * TRANSFER, PROGRAM_COMMAND + 4 * TRANSFER + PROGRAM_ARRAY);
    for (flag, expected) in [("true", shared), ("false", (4 * READ, 4 * WRITE))] {
        let mut rig = wide("nand.planes", 4, &[&format!("scheduler.multi_plane={flag}")]);
        let found = rig.latency_ns((Op::Read, 0, 4 * PAGE));
        assert_eq!((found, rig.latency_ns((Op::Write, 0, 4 * PAGE))), expected, "{flag}");
    }
}

fn dies_of_a_chip_overlap() {
    for (flag, expected) in [("true", READ + TRANSFER), ("false", 2 * READ)] {
        let mut rig = wide("nand.dies", 2, &[&format!("scheduler.die_interleave={flag}")]);
        assert_eq!(rig.latency_ns((Op::Read, 0, 2 * PAGE)), expected, "{flag}");
    }
}

#[test]
fn what_a_log_block_drive_does_not_read_it_does_not_show() {
    let resolved = config(LOG_DRIVE, &[]);
    let tables = resolved.resolved();
    assert!(tables["gc"].get("policy").is_none() && tables.get("msr").is_none());
}
