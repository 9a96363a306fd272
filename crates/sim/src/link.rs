//! The host link: when a command and its data are in the drive, and when an
//! answer is back.
//!
//! Two forms. `simple` is one half-duplex wire with a cost per command. `nvme` is
//! PCIe as `MQSim` (FAST'18) models it with one queue pair: packets with framing,
//! each direction by itself, one message at a time per direction. A 4 KiB read
//! costs 8 ns for the doorbell, 8 ns for the drive's request for the command, 25 ns
//! for the command, 1,248 ns for the data and 11 ns for the completion entry; the
//! host then rings the completion doorbell, and a command submitted at once waits
//! those 8 ns.
//!
//! Messages that follow from each other are booked in one go, so a message of
//! another command cannot slip into the few nanoseconds between them.

use crate::config::{Host, Interface};
use crate::rounding::nearest;

/// Sizes of the messages of a queue pair, in bytes, as `MQSim` counts them.
const DOORBELL_BYTES: u64 = 2;
const SUBMISSION_ENTRY_BYTES: u64 = 72;
const COMPLETION_ENTRY_BYTES: u64 = 16;
const READ_REQUEST_BYTES: u64 = 4;

/// When a command is in the drive, and how that time divides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The instant at which command and data are in the drive.
    pub at_ns: u64,
    /// Waiting for the link before the first message.
    pub queued_ns: u64,
}

/// The link and how long each direction is booked.
#[derive(Clone, Debug)]
pub struct Link {
    wire: Wire,
    /// Host to drive; the only direction of a simple link.
    down_free_ns: u64,
    /// Drive to host.
    up_free_ns: u64,
}

#[derive(Clone, Debug)]
enum Wire {
    Simple { ns_per_byte: f64, command_ns: u64 },
    Nvme(Packets),
}

#[derive(Clone, Debug)]
struct Packets {
    lanes: u64,
    ns_per_lane_byte: f64,
    payload_bytes: u64,
    overhead_bytes: u64,
    doorbell_ns: u64,
    read_request_ns: u64,
    submission_ns: u64,
    completion_ns: u64,
}

impl Packets {
    /// How long a message of `bytes` holds its direction.
    fn message_ns(&self, bytes: u64) -> u64 {
        let lane_bytes = |payload: u64| (payload + self.overhead_bytes).div_ceil(self.lanes);
        let rest = bytes % self.payload_bytes;
        let mut total = bytes / self.payload_bytes * lane_bytes(self.payload_bytes);
        if rest > 0 {
            total += lane_bytes(rest);
        }
        nearest(total as f64 * self.ns_per_lane_byte)
    }
}

impl Link {
    /// The link that `host` describes.
    #[must_use]
    pub fn new(host: &Host) -> Self {
        let wire = match host.interface {
            Interface::Simple { bytes_per_second, command_ns } => {
                Wire::Simple { ns_per_byte: 1e9 / bytes_per_second, command_ns }
            }
            Interface::Nvme {
                lanes,
                lane_bytes_per_second,
                packet_payload_bytes,
                packet_overhead_bytes,
            } => {
                let mut packets = Packets {
                    lanes: u64::from(lanes),
                    ns_per_lane_byte: 1e9 / lane_bytes_per_second,
                    payload_bytes: u64::from(packet_payload_bytes),
                    overhead_bytes: u64::from(packet_overhead_bytes),
                    doorbell_ns: 0,
                    read_request_ns: 0,
                    submission_ns: 0,
                    completion_ns: 0,
                };
                packets.doorbell_ns = packets.message_ns(DOORBELL_BYTES);
                packets.read_request_ns = packets.message_ns(READ_REQUEST_BYTES);
                packets.submission_ns = packets.message_ns(SUBMISSION_ENTRY_BYTES);
                packets.completion_ns = packets.message_ns(COMPLETION_ENTRY_BYTES);
                Wire::Nvme(packets)
            }
        };
        Self { wire, down_free_ns: 0, up_free_ns: 0 }
    }

    /// Brings a command issued at `now_ns` into the drive, with `data_bytes` of a write.
    #[inline]
    pub fn fetch(&mut self, now_ns: u64, data_bytes: u64) -> Fetched {
        match &self.wire {
            Wire::Simple { ns_per_byte, command_ns } => {
                let start = now_ns.max(self.down_free_ns);
                let at_ns = start + command_ns + nearest(data_bytes as f64 * ns_per_byte);
                self.down_free_ns = at_ns;
                Fetched { at_ns, queued_ns: start - now_ns }
            }
            Wire::Nvme(packets) => {
                let start = now_ns.max(self.down_free_ns);
                let asked = (start + packets.doorbell_ns).max(self.up_free_ns);
                self.up_free_ns = asked + packets.read_request_ns;
                let mut at_ns = self.up_free_ns + packets.submission_ns;
                if data_bytes > 0 {
                    self.up_free_ns = self.up_free_ns.max(at_ns) + packets.read_request_ns;
                    at_ns = self.up_free_ns + packets.message_ns(data_bytes);
                }
                self.down_free_ns = at_ns;
                Fetched { at_ns, queued_ns: start - now_ns }
            }
        }
    }

    /// Sends the answer to a command from `now_ns` on, with `data_bytes` of a read;
    /// returns when the host sees it.
    #[inline]
    pub fn answer(&mut self, now_ns: u64, data_bytes: u64) -> u64 {
        match &self.wire {
            Wire::Simple { ns_per_byte, .. } => {
                let start = now_ns.max(self.down_free_ns);
                let done = start + nearest(data_bytes as f64 * ns_per_byte);
                if data_bytes > 0 {
                    self.down_free_ns = done;
                    done
                } else {
                    // An acknowledgement without data takes no time and waits for nobody.
                    now_ns
                }
            }
            Wire::Nvme(packets) => {
                let start = now_ns.max(self.up_free_ns);
                let data_ns = if data_bytes > 0 { packets.message_ns(data_bytes) } else { 0 };
                self.up_free_ns = start + data_ns + packets.completion_ns;
                self.up_free_ns
            }
        }
    }

    /// The host has seen an answer at `now_ns`: it rings the completion doorbell.
    #[inline]
    pub fn acknowledge(&mut self, now_ns: u64) {
        if let Wire::Nvme(packets) = &self.wire {
            self.down_free_ns = self.down_free_ns.max(now_ns) + packets.doorbell_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nvme() -> Link {
        Link::new(&Host {
            interface: Interface::Nvme {
                lanes: 4,
                lane_bytes_per_second: 1e9,
                packet_payload_bytes: 128,
                packet_overhead_bytes: 28,
            },
            logical_block_bytes: 512,
            queue_depth: 1,
            firmware_ns: 0,
        })
    }

    #[test]
    fn a_read_command_takes_41_ns_and_its_data_1248_and_11() {
        let mut link = nvme();
        assert_eq!(link.fetch(0, 0), Fetched { at_ns: 8 + 8 + 25, queued_ns: 0 });
        assert_eq!(link.answer(1000, 4096), 1000 + 1248 + 11);
    }

    #[test]
    fn a_write_fetches_its_data_and_the_next_command_waits_for_the_doorbell() {
        let mut link = nvme();
        assert_eq!(link.fetch(0, 8192).at_ns, 8 + 8 + 25 + 8 + 2496);
        let done = link.answer(10_000, 0);
        assert_eq!(done, 10_011);
        link.acknowledge(done);
        assert_eq!(link.fetch(done, 0), Fetched { at_ns: done + 8 + 41, queued_ns: 8 });
    }

    #[test]
    fn a_simple_link_carries_one_thing_at_a_time() {
        let mut link = Link::new(&Host {
            interface: Interface::Simple { bytes_per_second: 1e9, command_ns: 100 },
            logical_block_bytes: 512,
            queue_depth: 1,
            firmware_ns: 0,
        });
        assert_eq!(link.fetch(0, 4096).at_ns, 4196);
        assert_eq!(link.fetch(0, 0), Fetched { at_ns: 4296, queued_ns: 4196 });
        assert_eq!(link.answer(4250, 512), 4296 + 512);
    }
}
