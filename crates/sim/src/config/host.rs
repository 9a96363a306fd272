//! The link to the host and the controller: table `[host]`.

use super::get::Getter;

/// The link to the host.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct Host {
    pub interface: Interface,
    pub logical_block_bytes: u32,
    pub queue_depth: u32,
    pub firmware_ns: u64,
}

/// What kind of link.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub enum Interface {
    /// One half-duplex wire.
    Simple { bytes_per_second: f64, command_ns: u64 },
    /// PCIe lanes, both directions at once, packets.
    Nvme {
        lanes: u32,
        lane_bytes_per_second: f64,
        packet_payload_bytes: u32,
        packet_overhead_bytes: u32,
    },
}

pub(super) fn host(get: &Getter) -> Host {
    let interface = if get.word("host.interface") == "nvme" {
        Interface::Nvme {
            lanes: get.int("host.lanes"),
            lane_bytes_per_second: get.float("host.lane_bytes_per_second"),
            packet_payload_bytes: get.int("host.packet_payload_bytes"),
            packet_overhead_bytes: get.int("host.packet_overhead_bytes"),
        }
    } else {
        Interface::Simple {
            bytes_per_second: get.float("host.bytes_per_second"),
            command_ns: get.long("host.command_ns"),
        }
    };
    Host {
        interface,
        logical_block_bytes: get.int("host.logical_block_bytes"),
        queue_depth: get.int("host.queue_depth"),
        firmware_ns: get.long("host.firmware_ns"),
    }
}
