//! SSDsim / MQSim ASCII: `nanoseconds device sector sectors type`, separated by blanks or tabs.
//!
//! Times are whole nanoseconds, sectors are 512 bytes, type 0 is a write and 1 a read.
//! MQSim itself ignores the device; here it is an address space of its own.

use super::format::{Fault, Format, Framing, Record, blank_separated, line_by_line};
use super::number::unsigned;
use super::plausible::InSectors;
use crate::request::Op;
use crate::units::{Nanos, SECTOR_BYTES};

pub static FORMAT: Format = Format {
    name: "mqsim",
    aliases: &["ssdsim", "mqsim-ascii"],
    layout: "nanoseconds device sector sectors 0=write|1=read",
    framing: Framing::Lines,
    in_sectors: Some(InSectors {
        sizes: true,
        columns: "time=ns:1,volume:2,offset:3,size:4,op=0w:5",
    }),
    parser: |_| line_by_line(parse),
};

fn parse(line: &[u8]) -> Result<Record, Fault> {
    let Some(([time, device, sector, count, kind], None)) = blank_separated(line) else {
        return Err(Fault("five fields: nanoseconds device sector sectors 0|1"));
    };
    let op = match kind {
        b"0" => Op::Write,
        b"1" => Op::Read,
        _ => return Err(Fault("a type 0 (write) or 1 (read) (field 5)")),
    };
    let sectors = unsigned(count).ok_or(Fault("a number of 512-byte sectors (field 4)"))?;
    Record::new(
        unsigned(time).map(Nanos).ok_or(Fault("a time in whole nanoseconds (field 1)"))?,
        unsigned(device).ok_or(Fault("a device number (field 2)"))?,
        op,
        unsigned(sector).ok_or(Fault("a 512-byte sector number (field 3)"))?,
        sectors.saturating_mul(SECTOR_BYTES),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_of_dtrs() {
        let record = parse(b"97900000 0 287641400 128 1").expect("a good line");
        assert_eq!((record.arrival, record.volume), (Nanos(97_900_000), 0));
        assert_eq!(record.op, Op::Read);
        assert_eq!((record.offset_bytes, record.len_bytes), (287_641_400 * 512, 65_536));
    }

    #[test]
    fn each_field_is_named_when_it_is_wrong() {
        for (line, field) in [
            ("1.5 0 8 8 1", "field 1"),
            ("1 a 8 8 1", "field 2"),
            ("1 0 -8 8 1", "field 3"),
            ("1 0 8 8k 1", "field 4"),
            ("1 0 8 8 2", "field 5"),
            ("1 0 8 8 1 1", "five fields"),
        ] {
            let Fault(expected) = parse(line.as_bytes()).expect_err(line);
            assert!(expected.contains(field), "{line}: {expected}");
        }
    }

    proptest! {
        #[test]
        fn a_written_line_reads_back(
            ns in any::<u64>(), device in any::<u64>(), sector in 0..1_u64 << 50,
            sectors in 0..1_u64 << 40, write: bool,
        ) {
            let line = format!("{ns}\t{device} {sector} {sectors}  {}", u8::from(!write));
            let op = if write { Op::Write } else { Op::Read };
            let expected = Record::new(Nanos(ns), device, op, sector, sectors * SECTOR_BYTES);
            prop_assert_eq!(parse(line.as_bytes()), expected);
        }
    }
}
