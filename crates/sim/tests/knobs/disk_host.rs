//! The host's side of a hard disk: link, controller, places in the queue. A write into the
//! cache needs nothing else.

use crate::disk::{LINK, order};
use crate::host::{Nvme, USUAL};
use crate::rig::{COMMAND, Rig, read_sector, write_sector};
use ssdscope_io::{Cause, DeviceError, Lba, Nanos, Op, Request, Sectors};

const CACHE: &str = "disk.write_cache_bytes=64k";

knobs! {
    "host.interface" => the_interface_decides_what_a_request_costs,
    "host.logical_block_bytes" => the_logical_block_is_the_grid,
    "host.queue_depth" => outside_the_drive_nobody_chooses,
    "host.firmware_ns" => the_controller_does_one_command_at_a_time,
    "host.bytes_per_second" => the_link_carries_so_many_bytes,
    "host.command_ns" => a_command_takes_so_long,
    "host.lanes" => lanes_share_out_the_bytes,
    "host.lane_bytes_per_second" => a_lane_carries_so_many_bytes,
    "host.packet_payload_bytes" => payload_cuts_messages_into_packets,
    "host.packet_overhead_bytes" => overhead_comes_with_every_packet,
}

/// Holds cached writes of 4 KiB over PCIe against the arithmetic.
fn check(link: Nvme, set: &str) {
    let mut rig = Rig::disk(&[CACHE, "host.interface=nvme", set]);
    let data = link.message_ns(4) + link.message_ns(4096);
    let expected = link.command_ns() + data + link.message_ns(16);
    assert_eq!(rig.latency_ns((Op::Write, 0, 4096)), expected, "{set}");
}

fn the_interface_decides_what_a_request_costs() {
    check(USUAL, "host.lanes=4");
    let mut simple = Rig::disk(&[CACHE, "host.interface=simple"]);
    assert_eq!(simple.latency_ns((Op::Write, 0, 4096)), COMMAND + 4096);
}

fn the_logical_block_is_the_grid() {
    for block in [512, 4096] {
        let mut rig = Rig::disk(&[&format!("host.logical_block_bytes={block}")]);
        assert_eq!(rig.device.info().logical_block_bytes, block);
        assert_eq!(rig.capacity(), 6800 * 512 / block * block);
        let refused = rig.device.submit(Nanos(0), Request::read(0, Lba(1), Sectors(1)));
        assert_eq!(matches!(refused, Err(DeviceError::Misaligned { .. })), block > 512);
    }
}

fn outside_the_drive_nobody_chooses() {
    assert_eq!(order(&["host.queue_depth=4"]), [45, 25, 5]);
    assert_eq!(order(&["host.queue_depth=1"]), [45, 125, 205], "by arrival");
    // Whoever comes in finds the arm on its way. With two places that leaves no choice; with
    // three, 30 before 50, but 10 only behind both.
    assert_eq!(order(&["host.queue_depth=2"]), [45, 125, 205]);
    assert_eq!(order(&["host.queue_depth=3"]), [45, 25, 105]);
}

fn the_controller_does_one_command_at_a_time() {
    let mut rig = Rig::disk(&[CACHE, "host.firmware_ns=70000"]);
    let done = rig.together(&[0, 1, 2, 3].map(write_sector));
    for (turn, done) in (1..).zip(done) {
        let waited = (turn - 1) * (COMMAND + LINK);
        assert_eq!(done.attribution[Cause::Firmware], turn * 70_000 - waited);
    }
}

fn the_link_carries_so_many_bytes() {
    for (rate, page_ns) in [("1e9", 4096), ("300e6", 13_653), ("1.5e8", 27_307)] {
        let mut rig = Rig::disk(&[CACHE, &format!("host.bytes_per_second={rate}")]);
        assert_eq!(rig.latency_ns((Op::Write, 0, 4096)), COMMAND + page_ns, "{rate}");
        assert_eq!(rig.latency_ns((Op::Read, 0, 4096)), COMMAND + page_ns, "{rate}");
    }
}

fn a_command_takes_so_long() {
    let mut rig = Rig::disk(&[CACHE, "host.command_ns=5005"]);
    assert_eq!(rig.latency_ns(write_sector(0)), 5005 + LINK);
    assert_eq!(rig.latency_ns(read_sector(0)), 5005 + LINK);
}

fn lanes_share_out_the_bytes() {
    for lanes in [1, 3, 16] {
        check(Nvme { lanes, ..USUAL }, &format!("host.lanes={lanes}"));
    }
}

fn a_lane_carries_so_many_bytes() {
    for (text, lane_bytes_per_second) in [("250e6", 250e6), ("1.97e9", 1.97e9)] {
        check(
            Nvme { lane_bytes_per_second, ..USUAL },
            &format!("host.lane_bytes_per_second={text}"),
        );
    }
}

fn payload_cuts_messages_into_packets() {
    for payload in [64, 100, 4096] {
        check(Nvme { payload, ..USUAL }, &format!("host.packet_payload_bytes={payload}"));
    }
}

fn overhead_comes_with_every_packet() {
    for overhead in [0, 12, 256] {
        check(Nvme { overhead, ..USUAL }, &format!("host.packet_overhead_bytes={overhead}"));
    }
}
