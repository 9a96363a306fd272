//! VSCSI (CloudPhysics): binary records of the SCSI commands of a virtual disk.
//!
//! Version 1, 32 bytes, little-endian: serial u32, bytes u32, segments u32, command u16,
//! version u16, sector u64, microseconds u64. Version 2, 40 bytes: command u16, version u16,
//! serial u32, bytes u32, segments u32, sector u64, microseconds u64, response u64
//! (microseconds). The high byte of the version says which. Sectors are 512 bytes. Commands
//! that neither read, write nor synchronise are passed over and counted by name.

use super::error::TraceError;
use super::format::{Fault, Format, Framing, Noted, Parser, Record};
use crate::request::Op;
use crate::units::Nanos;

pub static V1: Format = Format {
    name: "vscsi1",
    aliases: &["vscsi-v1"],
    layout: "binary records of 32 bytes",
    framing: Framing::Records(V1_BYTES),
    in_sectors: None,
    parser: |_| parser(&V1_LAYOUT),
};

pub static V2: Format = Format {
    name: "vscsi2",
    aliases: &["vscsi-v2"],
    layout: "binary records of 40 bytes",
    framing: Framing::Records(V2_BYTES),
    in_sectors: None,
    parser: |_| parser(&V2_LAYOUT),
};

const V1_BYTES: usize = 32;
const V2_BYTES: usize = 40;

/// Where a version has its fields.
struct Layout {
    bytes: usize,
    version: u8,
    command_at: usize,
    version_at: usize,
    len_at: usize,
    sector_at: usize,
    time_at: usize,
    response_at: Option<usize>,
}

const V1_LAYOUT: Layout = Layout {
    bytes: V1_BYTES,
    version: 1,
    command_at: 12,
    version_at: 14,
    len_at: 4,
    sector_at: 16,
    time_at: 24,
    response_at: None,
};

const V2_LAYOUT: Layout = Layout {
    bytes: V2_BYTES,
    version: 2,
    command_at: 0,
    version_at: 2,
    len_at: 8,
    sector_at: 16,
    time_at: 24,
    response_at: Some(32),
};

fn parser(layout: &'static Layout) -> Result<Box<dyn Parser>, TraceError> {
    Ok(Box::new(Vscsi { layout, noted: Noted::new() }))
}

struct Vscsi {
    layout: &'static Layout,
    /// Other commands, by name.
    noted: Noted,
}

/// The little-endian number of `N` bytes at `at`.
fn number<const N: usize>(record: &[u8], at: usize) -> u64 {
    let field = &record[at..at + N];
    field.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

fn micros(record: &[u8], at: usize) -> Result<Nanos, Fault> {
    let nanos = number::<8>(record, at).checked_mul(1000);
    nanos.map(Nanos).ok_or(Fault("a time in microseconds"))
}

/// What a command that moves no data of the disk is called.
const fn name(command: u64) -> &'static str {
    match command {
        0x00 => "test_unit_ready",
        0x03 => "request_sense",
        0x12 => "inquiry",
        0x16 | 0x17 | 0x56 | 0x57 | 0x5e | 0x5f => "reservations",
        0x1a | 0x5a => "mode_sense",
        0x25 | 0x9e => "read_capacity",
        0x41 | 0x93 => "write_same",
        0x42 => "unmap",
        0x2f | 0x8f | 0xaf => "verify",
        0xa0 => "report_luns",
        _ => "other_commands",
    }
}

impl Parser for Vscsi {
    fn parse(&mut self, record: &[u8], _number: u64) -> Result<Option<Record>, Fault> {
        let layout = self.layout;
        if record.len() != layout.bytes {
            return Err(Fault("a whole record"));
        }
        if number::<2>(record, layout.version_at) >> 8 != u64::from(layout.version) {
            return Err(Fault("a record of this version"));
        }
        let arrival = micros(record, layout.time_at)?;
        let op = match number::<2>(record, layout.command_at) {
            0x08 | 0x28 | 0xa8 | 0x88 => Op::Read,
            0x0a | 0x2a | 0xaa | 0x8a => Op::Write,
            0x35 | 0x91 => return Ok(Some(Record::flush(arrival, 0))),
            other => {
                *self.noted.entry(name(other)).or_default() += 1;
                return Ok(None);
            }
        };
        let (sector, len_bytes) =
            (number::<8>(record, layout.sector_at), number::<4>(record, layout.len_at));
        let latency = layout.response_at.map(|at| micros(record, at)).transpose()?;
        Ok(Some(Record::new(arrival, 0, op, sector, len_bytes)?.taking(latency)))
    }

    fn noted(&self) -> Noted {
        self.noted.clone()
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::options::TraceOptions;
    use super::*;

    /// A record of version 1 or 2.
    pub fn made(version: u8, command: u16, sector: u64, len: u32, time_us: u64) -> Vec<u8> {
        let (serial, segments) = (7_u32.to_le_bytes(), 1_u32.to_le_bytes());
        let (command, tag) = (command.to_le_bytes(), (u16::from(version) << 8).to_le_bytes());
        let (len, sector, time) = (len.to_le_bytes(), sector.to_le_bytes(), time_us.to_le_bytes());
        let response = 250_u64.to_le_bytes();
        if version == 1 {
            [&serial[..], &len, &segments, &command, &tag, &sector, &time].concat()
        } else {
            [&command[..], &tag, &serial, &len, &segments, &sector, &time, &response].concat()
        }
    }

    #[test]
    fn both_versions_say_the_same_and_the_second_has_latencies() {
        for (format, version) in [(&V1, 1), (&V2, 2)] {
            let mut parser = (format.parser)(&TraceOptions::default()).expect("no options");
            let record = parser.parse(&made(version, 0x2a, 100, 8192, 5_000_000), 1);
            let record = record.expect("a good record").expect("a write");
            assert_eq!((record.arrival, record.op), (Nanos(5_000_000_000), Op::Write));
            assert_eq!((record.offset_bytes, record.len_bytes), (51_200, 8192));
            assert_eq!(record.latency, (version == 2).then_some(Nanos(250_000)));
            assert_eq!(parser.parse(&made(version, 0x12, 0, 36, 1), 2), Ok(None), "an inquiry");
            assert_eq!(parser.noted()["inquiry"], 1);
            let flush = parser.parse(&made(version, 0x35, 0, 0, 1), 3);
            assert_eq!(flush.map(|record| record.map(|r| r.op)), Ok(Some(Op::Flush)));
            assert!(parser.parse(&made(3 - version, 0x2a, 0, 512, 1), 4).is_err());
            assert!(parser.parse(&made(version, 0x2a, 0, 512, 1)[..20], 5).is_err());
            assert!(parser.parse(&made(version, 0x2a, 0, 512, u64::MAX), 6).is_err());
        }
    }
}
