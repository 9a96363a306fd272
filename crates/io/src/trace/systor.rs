//! Systor'17: `Timestamp,Response,IOType,LUN,Offset,Size`, with that header.
//!
//! Times are decimal seconds of the arrival, but the rows stand in the order in which
//! requests completed, so that they are out of order. The response is in seconds too and
//! may be missing. Offset and size are bytes.

use super::format::{
    Fault, Format, Framing, Record, comma_separated, line_by_line_after, read_or_write,
};
use super::number::{SECOND_DIGITS, decimal_ns, unsigned};

pub static FORMAT: Format = Format {
    name: "systor",
    aliases: &["systor17", "systor-17"],
    layout: "seconds,response,R|W,LUN,offset,bytes",
    framing: Framing::Lines,
    in_sectors: None,
    parser: |_| line_by_line_after(b"Timestamp,Response,IOType,LUN,Offset,Size", parse),
};

fn parse(line: &[u8]) -> Result<Record, Fault> {
    let Some([time, response, kind, lun, offset, size]) = comma_separated(line) else {
        return Err(Fault("six fields seconds,response,R|W,LUN,offset,bytes"));
    };
    let op = read_or_write(kind).ok_or(Fault("R or W (field 3)"))?;
    let latency = match response {
        b"" => None,
        _ => Some(
            decimal_ns(response, SECOND_DIGITS)
                .ok_or(Fault("a response time in seconds, or none (field 2)"))?,
        ),
    };
    let record = Record::at_byte(
        decimal_ns(time, SECOND_DIGITS).ok_or(Fault("a time in decimal seconds (field 1)"))?,
        unsigned(lun).ok_or(Fault("a LUN number (field 4)"))?,
        op,
        unsigned(offset).ok_or(Fault("an offset in bytes (field 5)"))?,
        unsigned(size).ok_or(Fault("a size in bytes (field 6)"))?,
    )?;
    Ok(record.taking(latency))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{faults, parse_all};
    use super::*;
    use crate::request::Op;
    use crate::units::Nanos;

    #[test]
    fn the_header_is_no_request_and_nanoseconds_are_kept() {
        let text = "Timestamp,Response,IOType,LUN,Offset,Size\n\
                    1456095145.133076001,0.000806,R,3,899056122368,131072\n1.5,,W,0,512,512";
        let records = parse_all(&FORMAT, text).expect("good lines");
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].arrival, Nanos(1_456_095_145_133_076_001));
        assert_eq!((records[0].op, records[0].volume), (Op::Read, 3));
        assert_eq!((records[0].offset_bytes, records[0].len_bytes), (899_056_122_368, 131_072));
        assert_eq!(records[0].latency, Some(Nanos(806_000)));
        assert_eq!((records[1].op, records[1].latency), (Op::Write, None));
    }

    #[test]
    fn each_field_is_named_when_it_is_wrong() {
        faults(
            &FORMAT,
            &[
                ("-1,0.1,R,0,0,512", "field 1"),
                ("1,x,R,0,0,512", "field 2"),
                ("1,0.1,1,0,0,512", "field 3"),
                ("1,0.1,R,a,0,512", "field 4"),
                ("1,0.1,R,0,0.5,512", "field 5"),
                ("1,0.1,R,0,0,", "field 6"),
                ("1,0.1,R,0,0", "six fields"),
            ],
        );
    }
}
