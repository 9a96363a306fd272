//! SPC-1 / UMass: `ASU,LBA,bytes,opcode,seconds[,anything]`.
//!
//! LBA counts 512-byte blocks within the ASU, each ASU being an address space of
//! its own. The size is in bytes and may be zero or no whole number of blocks. The
//! opcode is R or W in either case. Blanks may follow the commas.

use super::format::{Fault, Format, Framing, Record, comma_separated, line_by_line, read_or_write};
use super::number::{SECOND_DIGITS, decimal_ns, unsigned};
use super::plausible::InSectors;

pub static FORMAT: Format = Format {
    name: "spc",
    aliases: &["umass", "spc-1"],
    layout: "ASU,LBA,bytes,R|W,seconds[,...]",
    framing: Framing::Lines,
    in_sectors: Some(InSectors { sizes: false, columns: "volume:1,offset:2,size:3,op:4,time=s:5" }),
    parser: |_| line_by_line(parse),
};

fn parse(line: &[u8]) -> Result<Record, Fault> {
    let Some([asu, lba, size, opcode, time]) = comma_separated(line) else {
        return Err(Fault("five fields ASU,LBA,bytes,R|W,seconds separated by commas"));
    };
    let op = read_or_write(opcode).ok_or(Fault("an opcode R or W (field 4)"))?;
    Record::new(
        decimal_ns(time, SECOND_DIGITS).ok_or(Fault("a time in decimal seconds (field 5)"))?,
        unsigned(asu).ok_or(Fault("an ASU number (field 1)"))?,
        op,
        unsigned(lba).ok_or(Fault("an LBA in 512-byte blocks (field 2)"))?,
        unsigned(size).ok_or(Fault("a size in bytes (field 3)"))?,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Op;
    use crate::units::Nanos;
    use proptest::prelude::*;

    #[test]
    fn a_line_of_financial1() {
        let record = parse(b"0,303574,3584,w,0.026214").expect("a good line");
        assert_eq!(record.arrival, Nanos(26_214_000));
        assert_eq!((record.volume, record.op), (0, Op::Write));
        assert_eq!((record.offset_bytes, record.len_bytes), (303_574 * 512, 3584));
    }

    #[test]
    fn blanks_case_and_optional_fields_do_not_matter() {
        let plain = parse(b"1,2,512,r,3.5");
        assert!(plain.is_ok());
        assert_eq!(parse(b" 1, 2,\t512 , R,3.5 "), plain);
        assert_eq!(parse(b"1,2,512,R,3.500000000,extra, fields,7"), plain);
    }

    #[test]
    fn each_field_is_named_when_it_is_wrong() {
        for (line, field) in [
            ("x,2,512,r,3.5", "field 1"),
            ("1,-2,512,r,3.5", "field 2"),
            ("1,2,51.2,r,3.5", "field 3"),
            ("1,2,512,x,3.5", "field 4"),
            ("1,2,512,r,3.5s", "field 5"),
            ("1,2,512,r", "five fields"),
        ] {
            let Fault(expected) = parse(line.as_bytes()).expect_err(line);
            assert!(expected.contains(field), "{line}: {expected}");
        }
    }

    proptest! {
        #[test]
        fn a_written_line_reads_back(
            ns in any::<u64>(), asu in any::<u64>(), lba in 0..1_u64 << 50,
            len_bytes in 0..1_u64 << 40, write: bool,
        ) {
            let opcode = if write { 'W' } else { 'r' };
            let time = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
            let line = format!("{asu},{lba},{len_bytes},{opcode},{time}");
            let op = if write { Op::Write } else { Op::Read };
            prop_assert_eq!(parse(line.as_bytes()), Record::new(Nanos(ns), asu, op, lba, len_bytes));
        }
    }
}
