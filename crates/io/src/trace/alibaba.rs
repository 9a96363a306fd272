//! Alibaba 2020 block traces: `device,R|W,offset,length,microseconds`, usually no header.
//!
//! Offset and length are bytes. Devices are interleaved, each an address space of its own.

use super::format::{
    Fault, Format, Framing, Record, comma_separated, line_by_line_after, read_or_write,
};
use super::number::{MICROSECOND_DIGITS, decimal_ns, unsigned};

pub static FORMAT: Format = Format {
    name: "alibaba",
    aliases: &["alibaba2020", "alibaba-2020"],
    layout: "device,R|W,offset,bytes,microseconds",
    framing: Framing::Lines,
    in_sectors: None,
    parser: |_| line_by_line_after(b"device_id,opcode,offset,length,timestamp", parse),
};

fn parse(line: &[u8]) -> Result<Record, Fault> {
    let Some([device, kind, offset, length, time]) = comma_separated(line) else {
        return Err(Fault("five fields device,R|W,offset,bytes,microseconds"));
    };
    let op = read_or_write(kind).ok_or(Fault("R or W (field 2)"))?;
    Record::at_byte(
        decimal_ns(time, MICROSECOND_DIGITS).ok_or(Fault("a time in microseconds (field 5)"))?,
        unsigned(device).ok_or(Fault("a device number (field 1)"))?,
        op,
        unsigned(offset).ok_or(Fault("an offset in bytes (field 3)"))?,
        unsigned(length).ok_or(Fault("a length in bytes (field 4)"))?,
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{faults, parse_all};
    use super::*;
    use crate::request::Op;
    use crate::units::Nanos;

    #[test]
    fn a_line_with_and_without_a_header() {
        let line = "419,W,8792731648,16384,1577808144360767";
        let record = parse_all(&FORMAT, line).expect("a good line")[0];
        assert_eq!(record.arrival, Nanos(1_577_808_144_360_767_000));
        assert_eq!((record.volume, record.op, record.latency), (419, Op::Write, None));
        assert_eq!((record.offset_bytes, record.len_bytes), (8_792_731_648, 16_384));
        let headed = format!("device_id,opcode,offset,length,timestamp\n{line}");
        assert_eq!(parse_all(&FORMAT, &headed).expect("good lines").len(), 1);
    }

    #[test]
    fn each_field_is_named_when_it_is_wrong() {
        faults(
            &FORMAT,
            &[
                ("a,R,0,512,1", "field 1"),
                ("1,0,0,512,1", "field 2"),
                ("1,R,-1,512,1", "field 3"),
                ("1,R,0,x,1", "field 4"),
                ("1,R,0,512,", "field 5"),
                ("1,R,0,512", "five fields"),
            ],
        );
    }
}
