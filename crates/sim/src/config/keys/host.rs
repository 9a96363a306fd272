//! The keys of the table `[host]`: the link and the controller.

use super::Fallback::{Bool, Float, Int, Word};
use super::Kind::{Bytes, Choice, Count, Flag, Nanos, Rate};
use super::Scope::{All, Array, Linked};
use super::{Key, key};

/// This part of the table.
pub(super) const KEYS: &[Key] = &[
    key(
        "host.interface",
        Choice(&["simple", "nvme", "sata"]),
        Word("simple"),
        Linked,
        "the host link",
    ),
    key(
        "host.logical_block_bytes",
        Bytes(512, 65_536),
        Int(512),
        Linked,
        "smallest request and its alignment",
    ),
    key(
        "host.queue_depth",
        Count(1, 65_536),
        Int(256),
        Linked,
        "commands inside the drive at once",
    ),
    key("host.queues", Count(1, 64), Int(1), Array, "submission queues of an nvme link"),
    key(
        "host.fetch_size",
        Count(0, 65_536),
        Int(0),
        Array,
        "commands of one queue inside the drive at once; 0 = host.queue_depth",
    ),
    key(
        "host.arbitration",
        Choice(&["round-robin", "priority"]),
        Word("round-robin"),
        Array,
        "which queue's command is fetched next; priority = NVMe's weighted round robin",
    ),
    key("host.firmware_ns", Nanos, Int(0), Linked, "controller time of a command, one at a time"),
    key(
        "host.bytes_per_second",
        Rate(1.0, 1e15),
        Float(600e6),
        All,
        "data rate of a simple or sata link, both directions sharing it",
    ),
    key("host.command_ns", Nanos, Int(0), Linked, "time of a command on a simple or sata link"),
    key("host.ncq", Flag, Bool(true), Linked, "queue commands on a sata link; off: one at a time"),
    key("host.lanes", Count(1, 16), Int(4), Linked, "PCIe lanes of an nvme link"),
    key(
        "host.lane_bytes_per_second",
        Rate(1.0, 1e15),
        Float(1e9),
        Linked,
        "data rate of a lane, each direction by itself",
    ),
    key("host.packet_payload_bytes", Bytes(64, 4096), Int(128), Linked, "payload of a PCIe packet"),
    key("host.packet_overhead_bytes", Bytes(0, 256), Int(28), Linked, "framing of a PCIe packet"),
];
