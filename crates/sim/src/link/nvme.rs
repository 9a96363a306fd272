//! PCIe as `MQSim` (FAST'18) models it with one queue pair: packets with framing, each
//! direction by itself, one message at a time per direction.
//!
//! A 4 KiB read costs 8 ns for the doorbell, 8 ns for the drive's request for the command,
//! 25 ns for the command, 1,248 ns for the data and 11 ns for the completion entry; the host
//! then rings the completion doorbell, and a command submitted at once waits those 8 ns.

use super::Delivery;
use super::direction::{Content, Direction, Message};
use crate::rounding::nearest;

/// Sizes of the messages of a queue pair, in bytes, as `MQSim` counts them.
const DOORBELL_BYTES: u64 = 2;
const SUBMISSION_ENTRY_BYTES: u64 = 72;
const COMPLETION_ENTRY_BYTES: u64 = 16;
const READ_REQUEST_BYTES: u64 = 4;

/// PCIe lanes and what a message costs on them.
#[derive(Clone, Debug)]
pub(super) struct Packets {
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
    pub fn new(
        lanes: u32,
        lane_bytes_per_second: f64,
        payload_bytes: u32,
        overhead_bytes: u32,
    ) -> Self {
        let mut packets = Self {
            lanes: u64::from(lanes),
            ns_per_lane_byte: 1e9 / lane_bytes_per_second,
            payload_bytes: u64::from(payload_bytes),
            overhead_bytes: u64::from(overhead_bytes),
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
        packets
    }

    /// How long a message of `bytes` holds its direction.
    #[inline(never)]
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

    /// Rings the doorbell of a command; returns when that begins.
    #[inline]
    pub fn issue(&self, down: &mut Direction, now_ns: u64, request: u32, data_bytes: u64) -> u64 {
        let message = Message::new(request, data_bytes, Content::Doorbell);
        down.send(now_ns, self.doorbell_ns, message)
    }

    /// Sends the data of a read and the completion entry.
    #[inline]
    pub fn answer(&mut self, up: &mut Direction, now_ns: u64, request: u32, data_bytes: u64) {
        let data_ns = if data_bytes > 0 { self.data_ns(data_bytes) } else { 0 };
        let message = Message::new(request, data_bytes, Content::Answer);
        up.send(now_ns, data_ns + self.completion_ns, message);
    }

    /// What follows from a message of a queue pair that has arrived: the messages after it, as
    /// long as nothing else arrives before them, nor later than `until_ns`; returns when
    /// something is delivered, and what.
    #[inline]
    pub fn follow(
        &mut self,
        down: &mut Direction,
        up: &mut Direction,
        mut message: Message,
        until_ns: u64,
    ) -> Option<(u64, Delivery)> {
        loop {
            let now_ns = message.arrives_ns;
            let (downward, span_ns, content) = match message.content {
                Content::Doorbell => (false, self.read_request_ns, Content::AskCommand),
                Content::AskCommand => (true, self.submission_ns, Content::Command),
                Content::Command if message.data_bytes > 0 => {
                    (false, self.read_request_ns, Content::AskData)
                }
                Content::AskData => (true, self.data_ns(message.data_bytes), Content::Complete),
                Content::Command | Content::Complete => {
                    return Some((now_ns, Delivery::InDrive(message.request)));
                }
                Content::Answer => {
                    // The host rings the completion doorbell at once.
                    down.book(now_ns, self.doorbell_ns);
                    return Some((now_ns, Delivery::AtHost(message.request)));
                }
            };
            let direction = if downward { &mut *down } else { &mut *up };
            (_, message.arrives_ns) = direction.book(now_ns, span_ns);
            message.content = content;
            if message.arrives_ns >= down.next_ns.min(up.next_ns) || message.arrives_ns > until_ns {
                let direction = if downward { &mut *down } else { &mut *up };
                direction.carry(message);
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Link;
    use super::super::testing::{link, next};
    use super::*;
    use crate::config::{HostQueues, Interface};
    use ssdscope_io::Op;

    fn nvme() -> Link {
        link(Interface::Nvme {
            lanes: 4,
            lane_bytes_per_second: 1e9,
            packet_payload_bytes: 128,
            packet_overhead_bytes: 28,
            queues: HostQueues::ONE,
        })
    }

    #[test]
    fn a_read_command_takes_41_ns_and_its_data_1248_and_11() {
        let mut link = nvme();
        assert_eq!(link.issue(0, 7, Op::Read, 0), 0);
        assert_eq!(next(&mut link), (8 + 8 + 25, Delivery::InDrive(7)));
        link.answer(1000, 7, Op::Read, 4096);
        assert_eq!(next(&mut link), (1000 + 1248 + 11, Delivery::AtHost(7)));
    }

    #[test]
    fn a_write_fetches_its_data_and_the_next_command_waits_for_the_doorbell() {
        let mut link = nvme();
        link.issue(0, 1, Op::Write, 8192);
        assert_eq!(next(&mut link), (8 + 8 + 25 + 8 + 2496, Delivery::InDrive(1)));
        link.answer(10_000, 1, Op::Write, 0);
        assert_eq!(next(&mut link), (10_011, Delivery::AtHost(1)));
        assert_eq!(link.issue(10_011, 2, Op::Read, 0), 8, "the completion doorbell is ahead");
        assert_eq!(next(&mut link), (10_011 + 8 + 41, Delivery::InDrive(2)));
    }

    #[test]
    fn commands_issued_together_overlap_their_messages() {
        let mut link = nvme();
        link.issue(0, 1, Op::Write, 8192);
        link.issue(0, 2, Op::Write, 8192);
        // Doorbells until 16, commands until 41 and 66; the data of the first until
        // 66 + 2,496, and those of the second right behind.
        assert_eq!(next(&mut link), (66 + 2496, Delivery::InDrive(1)));
        assert_eq!(next(&mut link), (66 + 2 * 2496, Delivery::InDrive(2)));
    }
}
