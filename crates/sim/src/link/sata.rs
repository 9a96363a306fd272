//! Serial ATA, frame by frame: one half-duplex wire behind 8b/10b coding.
//!
//! Sizes and sequences are those of Serial ATA revision 3.x (FIS types, chapter 10; native
//! command queuing, 13.6) and of ATA/ATAPI Command Set 3:
//!
//! * a queued read: command, register FIS that releases the bus; later DMA setup, data, set
//!   device bits;
//! * a queued write: command, register FIS, DMA setup with auto-activate, data, with a DMA
//!   activate before each data FIS but the first; later set device bits;
//! * anything else (and all where queuing is off): command, then data, behind a DMA activate
//!   where the host sends it, and a register FIS with the status. A discard (DATA SET
//!   MANAGEMENT) sends one block of 512 bytes that names the span.
//!
//! Where both ends want the wire the drive goes first, as the standard has it, so a data
//! phase once begun holds the wire to its end.

use super::direction::{Content, Direction, Message};
use crate::rounding::nearest;
use ssdscope_io::Op;

/// Register FIS, either way: five double words.
const REGISTER_BYTES: u64 = 20;
/// DMA setup FIS: seven.
const DMA_SETUP_BYTES: u64 = 28;
/// DMA activate FIS: one.
const DMA_ACTIVATE_BYTES: u64 = 4;
/// Set device bits FIS: two.
const SET_DEVICE_BITS_BYTES: u64 = 8;
/// What a data FIS carries at most, behind a header of one double word.
const MOST_DATA_BYTES: u64 = 8192;
const DATA_HEADER_BYTES: u64 = 4;
/// Around every FIS a double word each: the handshake X_RDY and R_RDY, SOF, CRC, EOF, the
/// handshake WTRM and R_OK, and SYNC.
const FRAME_BYTES: u64 = 8 * 4;
/// The block of a DATA SET MANAGEMENT command.
const RANGES_BYTES: u64 = 512;

/// The wire, and whether commands are queued on it.
#[derive(Clone, Debug)]
pub(super) struct Sata {
    ns_per_byte: f64,
    command_ns: u64,
    queuing: bool,
}

/// What `fis` bytes hold the wire for, in bytes.
const fn frame(fis_bytes: u64) -> u64 {
    fis_bytes + FRAME_BYTES
}

/// How many data FIS it takes.
const fn data_frames(bytes: u64) -> u64 {
    bytes.div_ceil(MOST_DATA_BYTES)
}

/// Data in as many data FIS as it takes.
const fn data(bytes: u64) -> u64 {
    bytes + data_frames(bytes) * frame(DATA_HEADER_BYTES)
}

impl Sata {
    pub fn new(bytes_per_second: f64, command_ns: u64, queuing: bool) -> Self {
        Self { ns_per_byte: 1e9 / bytes_per_second, command_ns, queuing }
    }

    const fn is_queued(&self, op: Op) -> bool {
        // Zeros go by ZERO EXT of NCQ NON-DATA (ACS-4).
        self.queuing && matches!(op, Op::Read | Op::Write | Op::WriteZeroes)
    }

    fn span_ns(&self, bytes: u64) -> u64 {
        nearest(bytes as f64 * self.ns_per_byte)
    }

    /// Sends a command, and the data of a write; returns when that begins.
    pub fn issue(
        &self,
        wire: &mut Direction,
        now_ns: u64,
        request: u32,
        op: Op,
        data_bytes: u64,
    ) -> u64 {
        let command = frame(REGISTER_BYTES);
        let data_bytes = if op == Op::Discard { RANGES_BYTES } else { data_bytes };
        let frames = data_frames(data_bytes);
        let activate = frame(DMA_ACTIVATE_BYTES);
        let (before, after) = match (data_bytes, self.is_queued(op)) {
            (0, true) => (0, frame(REGISTER_BYTES)),
            (0, false) => (0, 0),
            (_, true) => {
                let release = frame(REGISTER_BYTES) + frame(DMA_SETUP_BYTES);
                (release + (frames - 1) * activate + data(data_bytes), 0)
            }
            (_, false) => (frames * activate + data(data_bytes), 0),
        };
        let span_ns = self.command_ns + self.span_ns(command + before);
        let message = Message::new(request, data_bytes, Content::Complete);
        let start_ns = wire.send(now_ns, span_ns, message);
        // The drive releases the bus while it already works on a read.
        wire.book(start_ns, self.span_ns(after));
        start_ns
    }

    /// Sends the data of a read, and the status.
    pub fn answer(&self, wire: &mut Direction, now_ns: u64, request: u32, op: Op, data_bytes: u64) {
        let (setup, status) = if self.is_queued(op) {
            (frame(DMA_SETUP_BYTES), frame(SET_DEVICE_BITS_BYTES))
        } else {
            (0, frame(REGISTER_BYTES))
        };
        let before = if data_bytes > 0 { setup + data(data_bytes) } else { 0 };
        let message = Message::new(request, data_bytes, Content::Answer);
        wire.send(now_ns, self.span_ns(before + status), message);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Delivery;
    use super::super::testing::{link, next};
    use super::*;
    use crate::config::Interface;

    /// A byte takes a nanosecond.
    fn sata(ncq: bool) -> super::super::Link {
        link(Interface::Sata { bytes_per_second: 1e9, command_ns: 0, ncq })
    }

    #[test]
    fn a_queued_read_is_52_bytes_then_60_4132_and_40() {
        let mut link = sata(true);
        link.issue(0, 1, Op::Read, 0);
        assert_eq!(next(&mut link), (52, Delivery::InDrive(1)));
        assert_eq!(link.issue(52, 2, Op::Read, 0), 52, "the bus is released first");
        assert_eq!(next(&mut link), (156, Delivery::InDrive(2)));
        link.answer(1_000, 1, Op::Read, 4096);
        assert_eq!(next(&mut link), (1_000 + 60 + 4132 + 40, Delivery::AtHost(1)));
    }

    #[test]
    fn the_data_of_a_write_come_in_frames_of_8_kib() {
        let mut link = sata(true);
        link.issue(0, 1, Op::Write, 20_480);
        let data = 20_480 + 3 * 36;
        assert_eq!(next(&mut link), (52 + 52 + 60 + 2 * 36 + data, Delivery::InDrive(1)));
        link.answer(50_000, 1, Op::Write, 0);
        assert_eq!(next(&mut link), (50_040, Delivery::AtHost(1)));
    }

    #[test]
    fn without_queuing_there_is_no_setup_and_every_frame_of_a_write_is_asked_for() {
        let mut link = sata(false);
        link.issue(0, 1, Op::Write, 16_384);
        assert_eq!(next(&mut link), (52 + 2 * 36 + 16_384 + 2 * 36, Delivery::InDrive(1)));
        link.answer(50_000, 1, Op::Write, 0);
        assert_eq!(next(&mut link), (50_052, Delivery::AtHost(1)));
        link.issue(60_000, 2, Op::Read, 0);
        assert_eq!(next(&mut link), (60_052, Delivery::InDrive(2)));
        link.answer(70_000, 2, Op::Read, 512);
        assert_eq!(next(&mut link), (70_000 + 548 + 52, Delivery::AtHost(2)));
    }

    #[test]
    fn a_discard_names_its_span_and_a_flush_says_nothing() {
        let mut link = sata(true);
        link.issue(0, 1, Op::Discard, 0);
        assert_eq!(next(&mut link), (52 + 36 + 548, Delivery::InDrive(1)));
        link.issue(10_000, 2, Op::Flush, 0);
        assert_eq!(next(&mut link), (10_052, Delivery::InDrive(2)));
        link.answer(20_000, 2, Op::Flush, 0);
        assert_eq!(next(&mut link), (20_052, Delivery::AtHost(2)));
    }
}
