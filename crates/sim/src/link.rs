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
//! Messages of a direction arrive in the order in which they were sent, so the link
//! keeps its own two queues of what is under way and needs no place in the heap.

use crate::config::{Host, Interface};
use crate::ring::Ring;
use crate::rounding::nearest;

/// Sizes of the messages of a queue pair, in bytes, as `MQSim` counts them.
const DOORBELL_BYTES: u64 = 2;
const SUBMISSION_ENTRY_BYTES: u64 = 72;
const COMPLETION_ENTRY_BYTES: u64 = 16;
const READ_REQUEST_BYTES: u64 = 4;

/// What comes out of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Command and data of this request are in the drive.
    InDrive(u32),
    /// The host sees the answer to this request.
    AtHost(u32),
}

/// A message under way.
#[derive(Clone, Copy, Debug)]
struct Message {
    arrives_ns: u64,
    request: u32,
    /// Data that a write still has to fetch, or a message brings.
    data_bytes: u64,
    content: Content,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// The host announces a command.
    Doorbell,
    /// The drive asks for the command.
    AskCommand,
    /// The command.
    Command,
    /// The drive asks for a write's data.
    AskData,
    /// The last of what the drive needs to start.
    Complete,
    /// The answer, behind the data of a read.
    Answer,
}

/// One direction: what it carries, first in, first out.
#[derive(Clone, Debug)]
struct Direction {
    free_at_ns: u64,
    /// When the next message arrives; `u64::MAX` if none is under way.
    next_ns: u64,
    under_way: Ring<Message>,
}

impl Default for Direction {
    fn default() -> Self {
        Self { free_at_ns: 0, next_ns: u64::MAX, under_way: Ring::default() }
    }
}

impl Direction {
    /// Books `span_ns` from `now_ns` on; returns when that begins and ends.
    #[inline]
    fn book(&mut self, now_ns: u64, span_ns: u64) -> (u64, u64) {
        let start = now_ns.max(self.free_at_ns);
        self.free_at_ns = start + span_ns;
        (start, self.free_at_ns)
    }

    /// Sends a message that takes `span_ns`; returns when it begins.
    #[inline]
    fn send(&mut self, now_ns: u64, span_ns: u64, mut message: Message) -> u64 {
        let (start, end) = self.book(now_ns, span_ns);
        message.arrives_ns = end;
        self.next_ns = self.next_ns.min(end);
        self.under_way.push_back(message);
        start
    }

    /// Takes the message that arrives next.
    #[inline]
    fn receive(&mut self) -> Option<Message> {
        let message = self.under_way.pop_front();
        self.next_ns = self.under_way.front().map_or(u64::MAX, |next| next.arrives_ns);
        message
    }
}

/// The link and what is under way on it.
#[derive(Clone, Debug)]
pub struct Link {
    wire: Wire,
    /// Host to drive; on a simple link both directions.
    down: Direction,
    /// Drive to host.
    up: Direction,
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
    /// The last length of data and its time: mostly the next one is as long.
    last_data: (u64, u64),
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

    /// As [`Packets::message_ns`], for data.
    #[inline]
    fn data_ns(&mut self, bytes: u64) -> u64 {
        if bytes != self.last_data.0 {
            self.last_data = (bytes, self.message_ns(bytes));
        }
        self.last_data.1
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
                    last_data: (0, 0),
                };
                packets.doorbell_ns = packets.message_ns(DOORBELL_BYTES);
                packets.read_request_ns = packets.message_ns(READ_REQUEST_BYTES);
                packets.submission_ns = packets.message_ns(SUBMISSION_ENTRY_BYTES);
                packets.completion_ns = packets.message_ns(COMPLETION_ENTRY_BYTES);
                Wire::Nvme(packets)
            }
        };
        Self { wire, down: Direction::default(), up: Direction::default() }
    }

    /// Issues a command at `now_ns`, with the data of a write; returns how long it waits
    /// for the link. [`Link::deliver`] says when it is in the drive.
    #[inline]
    pub fn issue(&mut self, now_ns: u64, request: u32, data_bytes: u64) -> u64 {
        let message = |content| Message { arrives_ns: 0, request, data_bytes, content };
        let start = match &self.wire {
            Wire::Simple { ns_per_byte, command_ns } => {
                let span_ns = command_ns + nearest(data_bytes as f64 * ns_per_byte);
                self.down.send(now_ns, span_ns, message(Content::Complete))
            }
            Wire::Nvme(packets) => {
                self.down.send(now_ns, packets.doorbell_ns, message(Content::Doorbell))
            }
        };
        start - now_ns
    }

    /// Sends the answer to a command, with the data of a read. [`Link::deliver`] says
    /// when the host sees it.
    #[inline]
    pub fn answer(&mut self, now_ns: u64, request: u32, data_bytes: u64) {
        let message = Message { arrives_ns: 0, request, data_bytes, content: Content::Answer };
        match &mut self.wire {
            Wire::Simple { ns_per_byte, .. } => {
                let span_ns = nearest(data_bytes as f64 * *ns_per_byte);
                self.down.send(now_ns, span_ns, message);
            }
            Wire::Nvme(packets) => {
                let data_ns = if data_bytes > 0 { packets.data_ns(data_bytes) } else { 0 };
                self.up.send(now_ns, data_ns + packets.completion_ns, message);
            }
        }
    }

    /// When the next message arrives; `u64::MAX` if none is under way.
    #[inline]
    #[must_use]
    pub fn next_time_ns(&self) -> u64 {
        self.down.next_ns.min(self.up.next_ns)
    }

    /// Handles the messages that arrive until `until_ns`, in order, up to the first that
    /// delivers something; returns when, and what.
    #[inline]
    pub fn deliver(&mut self, until_ns: u64) -> Option<(u64, Delivery)> {
        loop {
            let now_ns = self.next_time_ns();
            if now_ns > until_ns {
                return None;
            }
            let upward = self.up.next_ns == now_ns;
            let message = if upward { self.up.receive() } else { self.down.receive() };
            if let Some(delivery) = self.step(now_ns, message?) {
                return Some((now_ns, delivery));
            }
        }
    }

    /// What follows from a message that has arrived.
    #[inline]
    fn step(&mut self, now_ns: u64, message: Message) -> Option<Delivery> {
        let next = |content| Message { content, ..message };
        match (&mut self.wire, message.content) {
            (_, Content::Complete) => return Some(Delivery::InDrive(message.request)),
            (Wire::Nvme(packets), Content::Answer) => {
                // The host rings the completion doorbell at once.
                self.down.book(now_ns, packets.doorbell_ns);
                return Some(Delivery::AtHost(message.request));
            }
            (_, Content::Answer) => return Some(Delivery::AtHost(message.request)),
            (Wire::Nvme(packets), Content::Command) if message.data_bytes > 0 => {
                self.up.send(now_ns, packets.read_request_ns, next(Content::AskData));
            }
            (_, Content::Command) => return Some(Delivery::InDrive(message.request)),
            (Wire::Nvme(packets), Content::Doorbell) => {
                self.up.send(now_ns, packets.read_request_ns, next(Content::AskCommand));
            }
            (Wire::Nvme(packets), Content::AskCommand) => {
                self.down.send(now_ns, packets.submission_ns, next(Content::Command));
            }
            (Wire::Nvme(packets), Content::AskData) => {
                let span_ns = packets.data_ns(message.data_bytes);
                self.down.send(now_ns, span_ns, next(Content::Complete));
            }
            (Wire::Simple { .. }, _) => {}
        }
        None
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

    /// Runs the link until it delivers something.
    fn next(link: &mut Link) -> (u64, Delivery) {
        link.deliver(u64::MAX - 1).expect("something is under way")
    }

    #[test]
    fn a_read_command_takes_41_ns_and_its_data_1248_and_11() {
        let mut link = nvme();
        assert_eq!(link.issue(0, 7, 0), 0);
        assert_eq!(next(&mut link), (8 + 8 + 25, Delivery::InDrive(7)));
        link.answer(1000, 7, 4096);
        assert_eq!(next(&mut link), (1000 + 1248 + 11, Delivery::AtHost(7)));
    }

    #[test]
    fn a_write_fetches_its_data_and_the_next_command_waits_for_the_doorbell() {
        let mut link = nvme();
        link.issue(0, 1, 8192);
        assert_eq!(next(&mut link), (8 + 8 + 25 + 8 + 2496, Delivery::InDrive(1)));
        link.answer(10_000, 1, 0);
        assert_eq!(next(&mut link), (10_011, Delivery::AtHost(1)));
        assert_eq!(link.issue(10_011, 2, 0), 8, "the completion doorbell is ahead");
        assert_eq!(next(&mut link), (10_011 + 8 + 41, Delivery::InDrive(2)));
    }

    #[test]
    fn commands_issued_together_overlap_their_messages() {
        let mut link = nvme();
        link.issue(0, 1, 8192);
        link.issue(0, 2, 8192);
        // Doorbells until 16, commands until 41 and 66; the data of the first until
        // 66 + 2,496, and those of the second right behind.
        assert_eq!(next(&mut link), (66 + 2496, Delivery::InDrive(1)));
        assert_eq!(next(&mut link), (66 + 2 * 2496, Delivery::InDrive(2)));
    }

    #[test]
    fn a_simple_link_carries_one_thing_at_a_time() {
        let mut link = Link::new(&Host {
            interface: Interface::Simple { bytes_per_second: 1e9, command_ns: 100 },
            logical_block_bytes: 512,
            queue_depth: 1,
            firmware_ns: 0,
        });
        link.issue(0, 1, 4096);
        assert_eq!(link.issue(0, 2, 0), 4196);
        assert_eq!(next(&mut link), (4196, Delivery::InDrive(1)));
        link.answer(4250, 1, 512);
        assert_eq!(next(&mut link), (4296, Delivery::InDrive(2)));
        assert_eq!(next(&mut link), (4296 + 512, Delivery::AtHost(1)));
    }
}
