//! The link to the host and the controller: table `[host]`.

use super::get::Getter;
use crate::link::gate::Gate;

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
    /// Frames on one half-duplex wire.
    Sata { bytes_per_second: f64, command_ns: u64, ncq: bool },
}

impl Host {
    /// The gate in front of a solid-state drive.
    #[must_use]
    pub const fn gate(&self) -> Gate {
        Gate::new(self.queue_depth, matches!(self.interface, Interface::Sata { .. }))
    }
}

pub(super) fn host(get: &Getter) -> Host {
    let (bytes_per_second, command_ns) =
        (get.float("host.bytes_per_second"), get.long("host.command_ns"));
    let interface = match get.word("host.interface") {
        "nvme" => Interface::Nvme {
            lanes: get.int("host.lanes"),
            lane_bytes_per_second: get.float("host.lane_bytes_per_second"),
            packet_payload_bytes: get.int("host.packet_payload_bytes"),
            packet_overhead_bytes: get.int("host.packet_overhead_bytes"),
        },
        "sata" => Interface::Sata { bytes_per_second, command_ns, ncq: get.flag("host.ncq") },
        _ => Interface::Simple { bytes_per_second, command_ns },
    };
    let one_by_one = matches!(interface, Interface::Sata { ncq: false, .. });
    Host {
        interface,
        logical_block_bytes: get.int("host.logical_block_bytes"),
        queue_depth: if one_by_one { 1 } else { get.int("host.queue_depth") },
        firmware_ns: get.long("host.firmware_ns"),
    }
}
