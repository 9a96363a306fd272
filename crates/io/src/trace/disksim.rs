//! DiskSim ASCII: `milliseconds device block blocks flags`, separated by blanks or tabs.
//!
//! Blocks are 512 bytes, flags are hexadecimal and bit 0 set means read. The variant
//! with a batch number as a sixth field is read too; the number is not used.

use super::format::{Fault, Format, Framing, Record, blank_separated, line_by_line};
use super::number::{MILLISECOND_DIGITS, decimal_ns, hexadecimal, unsigned};
use super::plausible::InSectors;
use crate::request::Op;
use crate::units::SECTOR_BYTES;

pub static FORMAT: Format = Format {
    name: "disksim",
    aliases: &["disksim-ascii"],
    layout: "milliseconds device block blocks hex-flags",
    framing: Framing::Lines,
    in_sectors: Some(InSectors {
        sizes: true,
        columns: "time=ms:1,volume:2,offset:3,size:4,op=0w:5",
    }),
    parser: |_| line_by_line(parse),
};

/// Set for a read, clear for a write; the other flags say how urgent it was.
const READ_FLAG: u64 = 1;

fn parse(line: &[u8]) -> Result<Record, Fault> {
    let Some(([time, device, block, count, flags], batch)) = blank_separated(line) else {
        return Err(Fault("five fields: milliseconds device block blocks hex-flags"));
    };
    if batch.is_some_and(|batch| unsigned(batch).is_none()) {
        return Err(Fault("nothing, or a batch number, after the flags (field 6)"));
    }
    let flags = hexadecimal(flags).ok_or(Fault("hexadecimal flags (field 5)"))?;
    let blocks = unsigned(count).ok_or(Fault("a number of 512-byte blocks (field 4)"))?;
    Record::new(
        decimal_ns(time, MILLISECOND_DIGITS)
            .ok_or(Fault("a time in decimal milliseconds (field 1)"))?,
        unsigned(device).ok_or(Fault("a device number (field 2)"))?,
        if flags & READ_FLAG == 0 { Op::Write } else { Op::Read },
        unsigned(block).ok_or(Fault("a 512-byte block number (field 3)"))?,
        blocks.saturating_mul(SECTOR_BYTES),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;
    use proptest::prelude::*;

    #[test]
    fn flags_are_hexadecimal_and_bit_0_reads() {
        let op = |flags: &str| parse(format!("0.0 0 8 8 {flags}").as_bytes()).map(|r| r.op);
        assert_eq!((op("1"), op("0")), (Ok(Op::Read), Ok(Op::Write)));
        assert_eq!((op("1b"), op("1A"), op("10")), (Ok(Op::Read), Ok(Op::Write), Ok(Op::Write)));
    }

    #[test]
    fn times_are_milliseconds_tabs_separate_and_a_batch_number_may_follow() {
        let record = parse(b"1.234567\t2 100\t 8 1").expect("a good line");
        assert_eq!((record.arrival, record.volume), (Nanos(1_234_567), 2));
        assert_eq!((record.offset_bytes, record.len_bytes), (51_200, 4096));
        assert_eq!(parse(b"1.234567 2 100 8 1 42"), Ok(record));
    }

    #[test]
    fn each_field_is_named_when_it_is_wrong() {
        for (line, field) in [
            ("-1.0 0 8 8 1", "field 1"),
            ("1.0 a 8 8 1", "field 2"),
            ("1.0 0 8.5 8 1", "field 3"),
            ("1.0 0 8 -8 1", "field 4"),
            ("1.0 0 8 8 W", "field 5"),
            ("1.0 0 8 8 1 x", "field 6"),
            ("1.0 0 8 8", "five fields"),
        ] {
            let Fault(expected) = parse(line.as_bytes()).expect_err(line);
            assert!(expected.contains(field), "{line}: {expected}");
        }
    }

    proptest! {
        #[test]
        fn a_written_line_reads_back(
            ns in any::<u64>(), device in any::<u64>(), block in 0..1_u64 << 50,
            blocks in 0..1_u64 << 40, flags in any::<u32>(),
        ) {
            let time = format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000);
            let line = format!("{time} {device} {block} {blocks} {flags:x}");
            let op = if flags & 1 == 0 { Op::Write } else { Op::Read };
            let expected = Record::new(Nanos(ns), device, op, block, blocks * SECTOR_BYTES);
            prop_assert_eq!(parse(line.as_bytes()), expected);
        }
    }
}
