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
        queues: HostQueues,
    },
    /// Frames on one half-duplex wire.
    Sata { bytes_per_second: f64, command_ns: u64, ncq: bool },
}

/// The submission queues of an `nvme` link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostQueues {
    /// `host.queues`
    pub count: u16,
    /// `host.fetch_size`; 0 = no limit of a queue's own.
    pub fetch_size: u32,
    /// `host.arbitration = "priority"`
    pub priorities: bool,
}

impl HostQueues {
    /// One queue, as any link has.
    pub const ONE: Self = Self { count: 1, fetch_size: 0, priorities: false };
}

impl Host {
    /// The queues in front of the drive.
    #[must_use]
    pub const fn queues(&self) -> HostQueues {
        match self.interface {
            Interface::Nvme { queues, .. } => queues,
            _ => HostQueues::ONE,
        }
    }
}

/// Disks have no keys of queues.
fn queues(get: &Getter) -> HostQueues {
    if !get.has("host.queues") {
        return HostQueues::ONE;
    }
    HostQueues {
        count: get.int("host.queues") as u16,
        fetch_size: get.int("host.fetch_size"),
        priorities: get.word("host.arbitration") == "priority",
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
            queues: queues(get),
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
