//! The simple link: one half-duplex wire with a cost per command.

use super::direction::{Content, Direction, Message};
use crate::rounding::nearest;

/// One wire for both directions.
#[derive(Clone, Debug)]
pub(super) struct Simple {
    ns_per_byte: f64,
    command_ns: u64,
}

impl Simple {
    pub fn new(bytes_per_second: f64, command_ns: u64) -> Self {
        Self { ns_per_byte: 1e9 / bytes_per_second, command_ns }
    }

    /// Sends a command with the data of a write; returns when it begins.
    #[inline]
    pub fn issue(&self, wire: &mut Direction, now_ns: u64, request: u32, data_bytes: u64) -> u64 {
        let span_ns = self.command_ns + nearest(data_bytes as f64 * self.ns_per_byte);
        wire.send(now_ns, span_ns, Message::new(request, data_bytes, Content::Complete))
    }

    /// Sends an answer with the data of a read.
    #[inline]
    pub fn answer(&self, wire: &mut Direction, now_ns: u64, request: u32, data_bytes: u64) {
        let span_ns = nearest(data_bytes as f64 * self.ns_per_byte);
        wire.send(now_ns, span_ns, Message::new(request, data_bytes, Content::Answer));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Delivery;
    use super::super::testing::{link, next};
    use crate::config::Interface;
    use ssdscope_io::Op;

    #[test]
    fn a_simple_link_carries_one_thing_at_a_time() {
        let mut link = link(Interface::Simple { bytes_per_second: 1e9, command_ns: 100 });
        link.issue(0, 1, Op::Write, 4096);
        assert_eq!(link.issue(0, 2, Op::Read, 0), 4196);
        assert_eq!(next(&mut link), (4196, Delivery::InDrive(1)));
        link.answer(4250, 1, Op::Read, 512);
        assert_eq!(next(&mut link), (4296, Delivery::InDrive(2)));
        assert_eq!(next(&mut link), (4296 + 512, Delivery::AtHost(1)));
    }
}
