//! The host link, the queue in front of the drive, the controller.

use crate::rig::{COMMAND, LINK, NO_LINK, PAGE, PAGE_DRIVE, READ, Rig, WRITE, config, read, write};
use ssdscope_io::{Cause, DeviceError, Lba, Nanos, Request, Sectors};

knobs! {
    "host.interface" => the_interface_decides_what_a_request_costs,
    "host.logical_block_bytes" => the_logical_block_is_the_grid,
    "host.queue_depth" => beyond_the_queue_depth_requests_wait_outside,
    "host.firmware_ns" => the_controller_does_one_command_at_a_time,
    "host.bytes_per_second" => a_simple_link_carries_so_many_bytes,
    "host.command_ns" => a_simple_link_takes_so_long_for_a_command,
    "host.lanes" => lanes_share_out_the_bytes,
    "host.lane_bytes_per_second" => a_lane_carries_so_many_bytes,
    "host.packet_payload_bytes" => payload_cuts_messages_into_packets,
    "host.packet_overhead_bytes" => overhead_comes_with_every_packet,
}

/// The `nvme` link as arithmetic: a message is cut into packets, each with framing, and
/// a packet's bytes are spread over the lanes.
#[derive(Clone, Copy)]
pub struct Nvme {
    pub lanes: u64,
    pub lane_bytes_per_second: f64,
    pub payload: u64,
    pub overhead: u64,
}

pub const USUAL: Nvme = Nvme { lanes: 4, lane_bytes_per_second: 1e9, payload: 128, overhead: 28 };

impl Nvme {
    pub fn message_ns(self, mut bytes: u64) -> u64 {
        let mut lane_bytes = 0;
        while bytes > 0 {
            let packet = bytes.min(self.payload);
            lane_bytes += (packet + self.overhead).div_ceil(self.lanes);
            bytes -= packet;
        }
        (lane_bytes as f64 * 1e9 / self.lane_bytes_per_second).round() as u64
    }

    /// Doorbell, the drive's request for the command, the command.
    pub fn command_ns(self) -> u64 {
        self.message_ns(2) + self.message_ns(4) + self.message_ns(72)
    }

    /// Data and completion entry behind a read.
    fn read_ns(self) -> u64 {
        self.command_ns() + READ + self.message_ns(PAGE) + self.message_ns(16)
    }

    /// The drive asks for the data first.
    fn write_ns(self) -> u64 {
        let data = self.message_ns(4) + self.message_ns(PAGE);
        self.command_ns() + data + WRITE + self.message_ns(16)
    }

    /// Holds the drive with `set` against the arithmetic.
    fn check(self, set: &str) {
        let mut rig = Rig::page(&["host.interface=nvme", set]);
        rig.idle(1_000);
        assert_eq!(rig.latency_ns(write(0)), self.write_ns(), "{set}");
        rig.idle(1_000);
        assert_eq!(rig.latency_ns(read(0)), self.read_ns(), "{set}");
    }
}

fn the_interface_decides_what_a_request_costs() {
    let mut simple = Rig::page(&["host.interface=simple"]);
    assert_eq!(simple.latency_ns(write(0)), COMMAND + LINK + WRITE);
    assert_eq!(simple.latency_ns(read(0)), COMMAND + READ + LINK);
    USUAL.check("host.lanes=4");
    // Both directions at once: while the data of a read go out, a command comes in.
    let mut nvme = Rig::page(&["host.interface=nvme", "nand.channels=2"]);
    nvme.write_pages(0..2);
    nvme.idle(1_000);
    let both = nvme.together(&[read(0), read(1)]);
    assert_eq!(both[0].latency().0, USUAL.read_ns());
    let apart = USUAL.message_ns(PAGE) + USUAL.message_ns(16);
    assert_eq!(both[1].latency().0, USUAL.read_ns() + apart, "one after the other on the way out");
}

fn the_logical_block_is_the_grid() {
    for block in [512, 1024, 4096] {
        let mut rig = Rig::page(&[&format!("host.logical_block_bytes={block}")]);
        assert_eq!(rig.device.info().logical_block_bytes, block);
        let sectors = block / 512;
        for (lba, length) in [(sectors, sectors), (1, sectors), (0, 1)] {
            let request = Request::read(0, Lba(lba), Sectors(length));
            let on_grid = lba % sectors == 0 && length % sectors == 0;
            let answer = rig.device.submit(Nanos(0), request);
            let refused = matches!(answer, Err(DeviceError::Misaligned { .. }));
            assert_eq!((answer.is_ok(), refused), (on_grid, !on_grid), "{block}: {lba} {length}");
        }
    }
}

fn beyond_the_queue_depth_requests_wait_outside() {
    for (depth, rounds) in [(1, [0, 1, 2, 3]), (2, [0, 0, 1, 1]), (4, [0, 0, 0, 0])] {
        let set = format!("host.queue_depth={depth}");
        let mut rig = Rig::filled(&["nand.channels=4", &set]);
        for (round, done) in
            rounds.into_iter().zip(rig.together(&[read(0), read(1), read(2), read(3)]))
        {
            assert_eq!(done.attribution[Cause::HostQueue], round * READ, "depth {depth}");
            assert_eq!(done.latency().0, (round + 1) * READ, "depth {depth}");
        }
    }
}

fn the_controller_does_one_command_at_a_time() {
    let mut rig = Rig::filled(&["nand.channels=4", "host.firmware_ns=7000"]);
    for (turn, done) in (1..).zip(rig.together(&[read(0), read(1), read(2), read(3)])) {
        assert_eq!(done.attribution[Cause::Firmware], turn * 7000);
        assert_eq!(done.latency().0, turn * 7000 + READ);
    }
    assert_eq!(rig.latency_ns(write(0)), 7000 + WRITE);
}

fn a_simple_link_carries_so_many_bytes() {
    for (rate, page_ns) in [("1e9", 4096), ("600e6", 6827), ("2.5e8", 16_384)] {
        let mut rig = Rig::page(&[&format!("host.bytes_per_second={rate}")]);
        let written = rig.one(write(0));
        assert_eq!(written.latency().0, COMMAND + page_ns + WRITE, "{rate}");
        assert_eq!(written.attribution[Cause::Link], COMMAND + page_ns, "{rate}");
        assert_eq!(rig.latency_ns(read(0)), COMMAND + READ + page_ns, "{rate}");
    }
}

fn a_simple_link_takes_so_long_for_a_command() {
    let mut rig = Rig::page(&["host.command_ns=5005"]);
    assert_eq!(rig.latency_ns(write(0)), 5005 + LINK + WRITE);
    assert_eq!(rig.latency_ns(read(0)), 5005 + READ + LINK);
    let both = rig.together(&[read(0), read(0)]);
    assert_eq!(both[1].attribution[Cause::HostQueue], 5005, "the link is held meanwhile");
}

fn lanes_share_out_the_bytes() {
    for lanes in [1, 3, 16] {
        Nvme { lanes, ..USUAL }.check(&format!("host.lanes={lanes}"));
    }
}

fn a_lane_carries_so_many_bytes() {
    for (text, lane_bytes_per_second) in [("250e6", 250e6), ("1.97e9", 1.97e9)] {
        let link = Nvme { lane_bytes_per_second, ..USUAL };
        link.check(&format!("host.lane_bytes_per_second={text}"));
    }
}

fn payload_cuts_messages_into_packets() {
    for payload in [64, 100, 4096] {
        Nvme { payload, ..USUAL }.check(&format!("host.packet_payload_bytes={payload}"));
    }
}

fn overhead_comes_with_every_packet() {
    for overhead in [0, 12, 256] {
        Nvme { overhead, ..USUAL }.check(&format!("host.packet_overhead_bytes={overhead}"));
    }
}

#[test]
fn keys_of_the_other_interface_change_nothing() {
    let resolved = config(PAGE_DRIVE, &NO_LINK);
    assert_eq!(resolved.resolved()["host"]["command_ns"], 0);
    let mut rig = Rig::page(&["host.lanes=16", "host.packet_overhead_bytes=256"]);
    rig.one(write(0));
    assert_eq!(rig.latency_ns(read(0)), COMMAND + READ + LINK);
}
