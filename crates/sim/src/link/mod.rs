//! The host link: when a command and its data are in the drive, and when an
//! answer is back.
//!
//! Three forms: [`simple`], one wire with a cost per command; [`nvme`], PCIe packets of
//! queue pairs; [`sata`], the frames of Serial ATA. All send messages over [`direction`]s.
//! [`gate`]: which command comes into the drive next; [`arbiter`]: of which queue.

mod arbiter;
mod direction;
pub mod gate;
mod nvme;
mod sata;
mod simple;
#[cfg(test)]
mod testing;

use crate::config::{Host, Interface};
use direction::{Content, Direction};
use nvme::Packets;
use sata::Sata;
use simple::Simple;
use ssdscope_io::Op;

/// What comes out of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Command and data of this request are in the drive.
    InDrive(u32),
    /// The host sees the answer to this request.
    AtHost(u32),
}

/// The link and what is under way on it.
#[derive(Clone, Debug)]
pub struct Link {
    wire: Wire,
    /// Host to drive; both directions where they share a wire.
    down: Direction,
    /// Drive to host.
    up: Direction,
}

#[derive(Clone, Debug)]
enum Wire {
    Simple(Simple),
    Nvme(Packets),
    Sata(Sata),
}

impl Link {
    /// The link that `host` describes.
    #[must_use]
    pub fn new(host: &Host) -> Self {
        let wire = match host.interface {
            Interface::Simple { bytes_per_second, command_ns } => {
                Wire::Simple(Simple::new(bytes_per_second, command_ns))
            }
            Interface::Nvme {
                lanes,
                lane_bytes_per_second,
                packet_payload_bytes,
                packet_overhead_bytes,
                ..
            } => Wire::Nvme(Packets::new(
                lanes,
                lane_bytes_per_second,
                packet_payload_bytes,
                packet_overhead_bytes,
            )),
            Interface::Sata { bytes_per_second, command_ns, ncq } => {
                Wire::Sata(Sata::new(bytes_per_second, command_ns, ncq))
            }
        };
        Self { wire, down: Direction::default(), up: Direction::default() }
    }

    /// Issues a command at `now_ns`, with the data of a write; returns how long it waits
    /// for the link. [`Link::deliver`] says when it is in the drive.
    #[inline]
    pub fn issue(&mut self, now_ns: u64, request: u32, op: Op, data_bytes: u64) -> u64 {
        let down = &mut self.down;
        let start_ns = match &self.wire {
            Wire::Simple(simple) => simple.issue(down, now_ns, request, data_bytes),
            Wire::Nvme(packets) => packets.issue(down, now_ns, request, data_bytes),
            Wire::Sata(sata) => sata.issue(down, now_ns, request, op, data_bytes),
        };
        start_ns - now_ns
    }

    /// Sends the answer to a command, with the data of a read. [`Link::deliver`] says
    /// when the host sees it.
    #[inline]
    pub fn answer(&mut self, now_ns: u64, request: u32, op: Op, data_bytes: u64) {
        match &mut self.wire {
            Wire::Simple(simple) => simple.answer(&mut self.down, now_ns, request, data_bytes),
            Wire::Nvme(packets) => packets.answer(&mut self.up, now_ns, request, data_bytes),
            Wire::Sata(sata) => sata.answer(&mut self.down, now_ns, request, op, data_bytes),
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
        if self.next_time_ns() > until_ns { None } else { self.deliver_next(until_ns) }
    }

    /// The same where a message arrives in time.
    fn deliver_next(&mut self, until_ns: u64) -> Option<(u64, Delivery)> {
        while self.next_time_ns() <= until_ns {
            let upward = self.up.next_ns <= self.down.next_ns;
            let message = if upward { self.up.receive() } else { self.down.receive() }?;
            let Wire::Nvme(packets) = &mut self.wire else {
                let delivery = match message.content {
                    Content::Answer => Delivery::AtHost(message.request),
                    _ => Delivery::InDrive(message.request),
                };
                return Some((message.arrives_ns, delivery));
            };
            let delivered = packets.follow(&mut self.down, &mut self.up, message, until_ns);
            if delivered.is_some() {
                return delivered;
            }
        }
        None
    }
}
