//! Tencent CBS: `seconds,offset,size,0|1,volume`, usually no header.
//!
//! Offset and size count 512-byte sectors; 0 is a read, 1 a write. Times are whole
//! seconds and not in order: within a second nothing is known but the order of the lines,
//! so a replay at the trace's own times issues each second's requests at once.

use super::format::{Fault, Format, Framing, Record, comma_separated, line_by_line_after};
use super::number::{SECOND_DIGITS, decimal_ns, unsigned};
use super::plausible::InSectors;
use crate::request::Op;
use crate::units::SECTOR_BYTES;

pub static FORMAT: Format = Format {
    name: "tencent",
    aliases: &["tencent-cbs", "cbs"],
    layout: "seconds,sector,sectors,0=read|1=write,volume",
    framing: Framing::Lines,
    in_sectors: Some(InSectors {
        sizes: true,
        columns: "time=s:1,offset:2,size:3,op=0r:4,volume:5",
    }),
    parser: |_| line_by_line_after(b"Timestamp,Offset,Size,IOType,VolumeID", parse),
};

fn parse(line: &[u8]) -> Result<Record, Fault> {
    let Some([time, sector, count, kind, volume]) = comma_separated(line) else {
        return Err(Fault("five fields seconds,sector,sectors,0|1,volume"));
    };
    let op = match kind {
        b"0" => Op::Read,
        b"1" => Op::Write,
        _ => return Err(Fault("a type 0 (read) or 1 (write) (field 4)")),
    };
    let sectors = unsigned(count).ok_or(Fault("a number of 512-byte sectors (field 3)"))?;
    Record::new(
        decimal_ns(time, SECOND_DIGITS).ok_or(Fault("a time in seconds (field 1)"))?,
        unsigned(volume).ok_or(Fault("a volume number (field 5)"))?,
        op,
        unsigned(sector).ok_or(Fault("a 512-byte sector number (field 2)"))?,
        sectors.saturating_mul(SECTOR_BYTES),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{faults, parse_all};
    use super::*;
    use crate::units::Nanos;

    #[test]
    fn zero_reads_and_one_writes() {
        let text = "1538323200,4247200,128,1,1058\n1538323199,16,8,0,1063";
        let records = parse_all(&FORMAT, text).expect("good lines");
        assert_eq!(records[0].arrival, Nanos(1_538_323_200_000_000_000));
        assert_eq!((records[0].volume, records[0].op), (1058, Op::Write));
        assert_eq!((records[0].offset_bytes, records[0].len_bytes), (4_247_200 * 512, 65_536));
        assert_eq!(records[1].op, Op::Read);
    }

    #[test]
    fn each_field_is_named_when_it_is_wrong() {
        faults(
            &FORMAT,
            &[
                ("x,0,8,0,1", "field 1"),
                ("1,-1,8,0,1", "field 2"),
                ("1,0,8k,0,1", "field 3"),
                ("1,0,8,R,1", "field 4"),
                ("1,0,8,0,v", "field 5"),
                ("1,0,8,0", "five fields"),
            ],
        );
    }
}
