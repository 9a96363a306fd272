//! Named CSV: any table of one request per row, with its columns named.
//!
//! The names stand in a header whose words say the units (`time_us,op,offset_bytes,size_bytes`,
//! see [`columns::WELL_KNOWN`]), or in `--columns`, which is a list of
//! `WHAT[=UNIT]:WHERE`; WHERE is the number of a field, from 1, or a word of the header:
//!
//! | WHAT | UNIT | without one |
//! | --- | --- | --- |
//! | `time`, `latency` | `ns`, `us`, `ms`, `s` | refused |
//! | `offset`, `size` | `bytes`, `sectors` (512 bytes), a number: the bytes of an LBA | bytes |
//! | `op` | `letters`, `0r` (0 is a read, 1 a write), `0w` (0 is a write, 1 a read) | letters |
//! | | or names and codes: `28/read+2a/write+35/flush+12/none` | |
//! | `volume` | none | |
//!
//! `time`, `op`, `offset` and `size` must be there. Fields are separated by commas,
//! semicolons or tabs; in a line without any of them, by blanks. As letters, an operation
//! is known by its first one: r, w, d or t (discard, trim), f (flush); names and codes are
//! compared in any case, and those of `none` left out. An empty latency is none. Offsets and sizes
//! that begin with `0x` are hexadecimal.

mod columns;

use super::error::TraceError;
use super::format::{Fault, Format, Framing, Noted, Parser, Record};
use super::number::{decimal_ns, hexadecimal, unsigned};
use super::options::TraceOptions;
use crate::request::Op;
use columns::{Columns, Layout, Letters};

pub static FORMAT: Format = Format {
    name: "csv",
    aliases: &["named-csv", "tsv"],
    layout: "a header such as time_us,op,offset_bytes,size_bytes, or --columns",
    framing: Framing::Lines,
    in_sectors: None,
    parser,
};

/// More fields than anybody records of a request.
const FIELDS_MAX: usize = 64;

fn parser(options: &TraceOptions) -> Result<Box<dyn Parser>, TraceError> {
    let columns = options.columns.as_deref().map(Columns::parse).transpose()?;
    let layout = columns.as_ref().and_then(Columns::by_number);
    Ok(Box::new(Csv { columns, layout, begun: false, left_out: 0 }))
}

struct Csv {
    /// What `--columns` says.
    columns: Option<Columns>,
    /// Where the fields are, once that is known.
    layout: Option<Layout>,
    begun: bool,
    /// Rows of operations that mean nothing here.
    left_out: u64,
}

/// The fields of a row, and how many there are.
fn fields(line: &[u8]) -> ([&[u8]; FIELDS_MAX], usize) {
    let mut fields = [&[][..]; FIELDS_MAX];
    let mut count = 0;
    let is_mark = |byte: &u8| matches!(byte, b',' | b';' | b'\t');
    let mut put = |field| {
        if count < FIELDS_MAX {
            fields[count] = field;
            count += 1;
        }
    };
    if line.iter().any(is_mark) {
        line.split(is_mark).map(<[u8]>::trim_ascii).for_each(&mut put);
    } else {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.for_each(&mut put);
    }
    (fields, count)
}

impl Parser for Csv {
    fn parse(&mut self, line: &[u8], _number: u64) -> Result<Option<Record>, Fault> {
        let (fields, count) = fields(line);
        let fields = &fields[..count];
        let first = !std::mem::replace(&mut self.begun, true);
        let Some(layout) = &self.layout else {
            self.layout = Some(match &self.columns {
                Some(columns) => columns.in_header(fields)?,
                None => columns::well_known(fields)?,
            });
            return Ok(None);
        };
        // A header above columns that were given by number.
        if first && layout.is_header(fields) {
            return Ok(None);
        }
        let request = request(layout, fields)?;
        self.left_out += u64::from(request.is_none());
        Ok(request)
    }

    fn noted(&self) -> Noted {
        match self.left_out {
            0 => Noted::new(),
            count => Noted::from([("other_operations", count)]),
        }
    }
}

/// A number of bytes or units, decimal or as `0x1f`.
fn number(text: &[u8]) -> Option<u64> {
    if text.starts_with(b"0x") || text.starts_with(b"0X") {
        hexadecimal(text)
    } else {
        unsigned(text)
    }
}

fn request(layout: &Layout, fields: &[&[u8]]) -> Result<Option<Record>, Fault> {
    if fields.len() < layout.fields {
        return Err(Fault("as many fields as the columns need"));
    }
    let time = decimal_ns(fields[layout.time.at], layout.time.digits);
    let arrival = time.ok_or(Fault("a time without a sign in its column"))?;
    let volume = layout.volume.map_or(Some(0), |at| unsigned(fields[at]));
    let volume = volume.ok_or(Fault("a number in the column of the volume"))?;
    let latency = match layout.latency.map(|latency| (fields[latency.at], latency.digits)) {
        None | Some((b"", _)) => None,
        Some((text, digits)) => {
            Some(decimal_ns(text, digits).ok_or(Fault("a latency, or nothing, in its column"))?)
        }
    };
    let Some(op) = operation(fields[layout.op], &layout.letters)? else { return Ok(None) };
    if op == Op::Flush {
        return Ok(Some(Record::flush(arrival, volume).taking(latency)));
    }
    let offset = number(fields[layout.offset.at]).ok_or(Fault("a number as offset"))?;
    let size = number(fields[layout.size.at]).ok_or(Fault("a number as size"))?;
    let record = Record::at_byte(
        arrival,
        volume,
        op,
        offset.saturating_mul(layout.offset.bytes),
        size.saturating_mul(layout.size.bytes),
    )?;
    Ok(Some(record.taking(latency)))
}

/// What an operation is; `None` if `--columns` leaves it out.
fn operation(text: &[u8], letters: &Letters) -> Result<Option<Op>, Fault> {
    let op = match (letters, text) {
        (Letters::Named(names), _) => {
            let is = |name: &String| name.as_bytes().eq_ignore_ascii_case(text);
            let known = names.iter().find(|(name, _)| is(name)).map(|(_, op)| *op);
            return known.ok_or(Fault("an operation that --columns names, in its column"));
        }
        (Letters::ZeroReads, b"0") | (Letters::ZeroWrites, b"1") => Some(Op::Read),
        (Letters::ZeroReads, b"1") | (Letters::ZeroWrites, b"0") => Some(Op::Write),
        (Letters::Words, [first, ..]) => match first.to_ascii_lowercase() {
            b'r' => Some(Op::Read),
            b'w' => Some(Op::Write),
            b'd' | b't' => Some(Op::Discard),
            b'f' => Some(Op::Flush),
            _ => None,
        },
        _ => None,
    };
    op.map(Some).ok_or(Fault("an operation such as R or W in its column"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{faults, parse_all};
    use super::*;
    use crate::units::Nanos;

    fn with_columns(columns: &str, text: &str) -> Result<Vec<Record>, String> {
        let columns = Some(columns.to_owned());
        let options = TraceOptions { columns, ..TraceOptions::default() };
        let mut parser = parser(&options).map_err(|error| error.to_string())?;
        let mut records = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let parsed = parser.parse(line.as_bytes(), number);
            records.extend(parsed.map_err(|fault| fault.0.to_owned())?);
        }
        Ok(records)
    }

    #[test]
    fn a_header_with_units_is_understood_in_any_order() {
        let text = "op;lun;size_bytes;Time_us;offset_sectors;latency_ms\n\
                    Read;3;4096;1.5;8;0.25\nwrite;0;512;2;0;\nTRIM;0;512;3;1;\nflush;0;;4;;";
        let records = parse_all(&FORMAT, text).expect("good rows");
        assert_eq!(records[0].arrival, Nanos(1500));
        assert_eq!((records[0].volume, records[0].op), (3, Op::Read));
        assert_eq!((records[0].offset_bytes, records[0].len_bytes), (4096, 4096));
        assert_eq!(records[0].latency, Some(Nanos(250_000)));
        let ops: Vec<_> = records.iter().map(|r| (r.op, r.latency)).collect();
        assert_eq!(ops[1..], [(Op::Write, None), (Op::Discard, None), (Op::Flush, None)]);
    }

    #[test]
    fn columns_by_number_take_a_header_or_none() {
        let columns = "time=ms:2,op=0w:4,offset=sectors:1,size=sectors:3,latency=us:5";
        let row = "8,0.5,16,0,99";
        for text in [row.to_owned(), format!("where,when,how much,what,how long\n{row}")] {
            let records = with_columns(columns, &text).expect("good rows");
            assert_eq!(records.len(), 1);
            assert_eq!((records[0].arrival, records[0].op), (Nanos(500_000), Op::Write));
            assert_eq!((records[0].offset_bytes, records[0].len_bytes), (4096, 8192));
            assert_eq!(records[0].latency, Some(Nanos(99_000)));
        }
        assert!(with_columns(columns, &format!("{row}\nx,y,z,0,1")).is_err(), "not the first row");
    }

    #[test]
    fn blanks_separate_where_nothing_else_does() {
        let columns = "time=ms:1,op=0w:5,offset:3,size:4";
        let records =
            with_columns(columns, "  0.5   0 8192  4096 1\n1 0 8192 512 0").expect("rows");
        assert_eq!((records[0].op, records[1].op), (Op::Read, Op::Write));
        assert_eq!((records[0].offset_bytes, records[0].len_bytes), (8192, 4096));
        assert!(with_columns(columns, "0.5 0 8192\n").is_err(), "too few");
    }

    #[test]
    fn operations_have_names_or_codes_and_addresses_an_lba_of_any_size() {
        let columns = "time=us:1,op=28/read+2A/write+Sync/flush+12/none:2,offset=4096:3,size=8:4";
        let records = with_columns(columns, "5,28,2,512\n6,2a,0x10,0x40\n7,12,0,0\n8,SYNC,0,0");
        let records = records.expect("good rows");
        let essence: Vec<_> = records.iter().map(|r| (r.op, r.offset_bytes, r.len_bytes)).collect();
        let expected = [(Op::Read, 8192, 4096), (Op::Write, 65_536, 512), (Op::Flush, 0, 0)];
        assert_eq!(essence, expected);
        let error = with_columns(columns, "5,99,2,512").expect_err("no such code");
        assert!(error.contains("that --columns names"), "{error}");
    }

    #[test]
    fn columns_by_name_need_their_header() {
        let columns = "time=s:when,op=0r:rw,offset:where,size:bytes,volume:disk";
        let records = with_columns(columns, "disk,WHEN,where,bytes,rw\n4,1.25,512,1024,0");
        let record = records.expect("a good row")[0];
        assert_eq!((record.arrival, record.volume), (Nanos(1_250_000_000), 4));
        assert_eq!((record.op, record.offset_bytes, record.len_bytes), (Op::Read, 512, 1024));
        let error = with_columns(columns, "disk,when,bytes,rw").expect_err("no `where`");
        assert!(error.contains("--columns"), "{error}");
    }

    #[test]
    fn columns_that_cannot_be_meant_are_refused_with_the_word() {
        for (columns, part) in [
            ("time:1,op:2,offset:3,size:4", "time:1"),
            ("time=us:1,op:2,offset:3", "size"),
            ("time=us:1,time=us:2,op:2,offset:3,size:4", "time=us:2"),
            ("time=us:0,op:2,offset:3,size:4", "time=us:0"),
            ("time=us:65,op:2,offset:3,size:4", "time=us:65"),
            ("time=us:1,op=2w:2,offset:3,size:4", "op=2w:2"),
            ("time=us:1,op:2,offset=kb:3,size:4", "offset=kb:3"),
            ("time=us:1,op:2,offset=0:3,size:4", "offset=0:3"),
            ("time=us:1,op=2a/erase:2,offset:3,size:4", "op=2a/erase:2"),
            ("time=us:1,op=/read:2,offset:3,size:4", "op=/read:2"),
            ("time=us:1,op:2,offset:3,size:length", "numbers or names"),
            ("when=us:1", "when=us:1"),
            ("", "time"),
        ] {
            let error = with_columns(columns, "").expect_err(columns);
            assert!(error.contains(part) && error.contains("--columns"), "{columns}: {error}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let header = "time_us,op,offset_bytes,size_bytes,volume,latency_us\n";
        for (row, words) in [
            ("x,R,0,512,0,1", "a time"),
            ("1,0,0,512,0,1", "an operation"),
            ("1,R,-1,512,0,1", "as offset"),
            ("1,R,0,5.5,0,1", "as size"),
            ("1,R,0,512,a,1", "the volume"),
            ("1,R,0,512,0,x", "a latency"),
            ("1,R,0,512", "as many fields"),
        ] {
            faults(&FORMAT, &[(&format!("{header}{row}"), words)]);
        }
        faults(&FORMAT, &[("time,op,offset,size", "units"), ("1,R,0,512", "a header")]);
    }
}
