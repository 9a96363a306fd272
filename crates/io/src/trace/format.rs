//! The registry of trace formats, and what a line of any of them says.

use super::error::TraceError;
use super::number::unsigned;
use super::options::TraceOptions;
use super::plausible::InSectors;
use super::{alibaba, biosnoop, blkparse, blktrace, csv, disksim, fio, fiu, ftrace, mqsim};
use super::{msr, spc, systor, tencent, vscsi};
use crate::request::Op;
use crate::units::{Nanos, SECTOR_BYTES};
use serde::{Serialize, Serializer};
use std::fmt;

/// Every format, in the order they are listed to people.
pub static FORMATS: [&Format; 16] = [
    &spc::FORMAT,
    &msr::FORMAT,
    &systor::FORMAT,
    &alibaba::FORMAT,
    &tencent::FORMAT,
    &fiu::FORMAT,
    &blktrace::FORMAT,
    &blkparse::FORMAT,
    &ftrace::FORMAT,
    &biosnoop::FORMAT,
    &fio::FORMAT,
    &disksim::FORMAT,
    &mqsim::FORMAT,
    &vscsi::V1,
    &vscsi::V2,
    &csv::FORMAT,
];

/// No drive and no trace reaches this far; below it, sums of addresses cannot overflow.
const ADDRESS_LIMIT_BYTES: u64 = 1 << 62;

/// How a file is cut into what a parser takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Lines of text; blank ones and those that start with `#` say nothing.
    Lines,
    /// Binary records of so many bytes; messages count them as lines.
    Records(usize),
    /// Events of blktrace, of one file or one for each processor, merged by time.
    Events,
}

impl Framing {
    /// How long a binary record is; `None` of text.
    pub const fn record_bytes(self) -> Option<usize> {
        match self {
            Self::Lines => None,
            Self::Records(bytes) => Some(bytes),
            Self::Events => Some(blktrace::EVENT_BYTES),
        }
    }
}

/// A trace format.
pub struct Format {
    /// What `--format` calls it.
    pub name: &'static str,
    /// Other names it goes by.
    pub aliases: &'static [&'static str],
    /// How a line looks, for messages.
    pub layout: &'static str,
    /// What it consists of.
    pub framing: Framing,
    /// What it counts in sectors where a table of bytes would look the same.
    pub in_sectors: Option<InSectors>,
    /// A parser at the beginning of a file.
    pub parser: fn(&TraceOptions) -> Result<Box<dyn Parser>, TraceError>,
}

/// Reads a trace line by line; it may remember what earlier lines said.
pub trait Parser: Send {
    /// Takes a line that is neither blank nor a comment. `None`: it is understood, but is
    /// no request, or not a whole one yet.
    ///
    /// # Errors
    /// What the line should have been.
    fn parse(&mut self, line: &[u8], number: u64) -> Result<Option<Record>, Fault>;

    /// Whether requests may be ready that [`parse`](Self::parse) did not return.
    fn holds(&self) -> bool {
        false
    }

    /// A request that earlier lines made up, while there is one; at the end of the
    /// trace, all that is left.
    fn ready(&mut self, _at_end: bool) -> Option<Record> {
        None
    }

    /// What was understood and is no request of its own, counted by name.
    fn noted(&self) -> Noted {
        Noted::new()
    }
}

/// Counts by name.
pub type Noted = std::collections::BTreeMap<&'static str, u64>;

/// A parser that remembers nothing.
struct LineByLine(fn(&[u8]) -> Result<Record, Fault>);

impl Parser for LineByLine {
    #[inline]
    fn parse(&mut self, line: &[u8], _number: u64) -> Result<Option<Record>, Fault> {
        (self.0)(line).map(Some)
    }
}

/// For formats of one request per line.
pub(super) fn line_by_line(
    parse: fn(&[u8]) -> Result<Record, Fault>,
) -> Result<Box<dyn Parser>, TraceError> {
    Ok(Box::new(LineByLine(parse)))
}

/// The same, with a header that a file may begin with.
struct AfterHeader {
    header: &'static [u8],
    parse: fn(&[u8]) -> Result<Record, Fault>,
    begun: bool,
}

impl Parser for AfterHeader {
    fn parse(&mut self, line: &[u8], _number: u64) -> Result<Option<Record>, Fault> {
        let first = !std::mem::replace(&mut self.begun, true);
        if first && line.eq_ignore_ascii_case(self.header) {
            return Ok(None);
        }
        (self.parse)(line).map(Some)
    }
}

/// For formats of one request per line that may begin with a header.
pub(super) fn line_by_line_after(
    header: &'static [u8],
    parse: fn(&[u8]) -> Result<Record, Fault>,
) -> Result<Box<dyn Parser>, TraceError> {
    Ok(Box::new(AfterHeader { header, parse, begun: false }))
}

/// The operation of a letter R or W, in either case.
#[inline]
pub(super) const fn read_or_write(letter: &[u8]) -> Option<Op> {
    match letter {
        b"r" | b"R" => Some(Op::Read),
        b"w" | b"W" => Some(Op::Write),
        _ => None,
    }
}

/// The volume of `major,minor`, as Linux's tools print a device.
pub(super) fn device_of(text: &[u8]) -> Option<u64> {
    let comma = text.iter().position(|&byte| byte == b',')?;
    device_volume(unsigned(&text[..comma])?, unsigned(&text[comma + 1..])?)
}

/// The volume that stands for a Linux device `major,minor`, legible in decimal.
pub(super) fn device_volume(major: u64, minor: u64) -> Option<u64> {
    const MINORS: u64 = 10_000_000;
    if minor < MINORS { major.checked_mul(MINORS)?.checked_add(minor) } else { None }
}

impl Format {
    /// The format that goes by `name`, in any case.
    ///
    /// # Errors
    /// If there is none; the message lists those there are.
    pub fn named(name: &str) -> Result<&'static Self, TraceError> {
        let goes_by = |format: &Self| {
            let mut names = format.aliases.iter().chain([&format.name]);
            names.any(|known| known.eq_ignore_ascii_case(name))
        };
        FORMATS.into_iter().find(|format| goes_by(format)).ok_or_else(|| TraceError::NoSuchFormat {
            name: name.chars().take(40).collect(),
            known: FORMATS.map(|format| format.name).join(", "),
        })
    }

    /// Whether it has times of a request to choose from.
    pub(super) fn has_times(&self) -> bool {
        [&blktrace::FORMAT, &blkparse::FORMAT, &ftrace::FORMAT, &biosnoop::FORMAT].contains(&self)
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

/// What is wrong with a line: the field, and what it should have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault(pub &'static str);

/// A line as it stands in the trace: its own clock, its own volume, its own bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// On the trace's clock.
    pub arrival: Nanos,
    /// ASU, device or volume: an address space of its own.
    pub volume: u64,
    /// What it does.
    pub op: Op,
    /// First byte within the volume.
    pub offset_bytes: u64,
    /// Length; may be zero or no whole number of sectors.
    pub len_bytes: u64,
    /// How long the traced device took, where the trace tells.
    pub latency: Option<Nanos>,
    /// The line it came from, counted from 1.
    pub line: u64,
}

impl Record {
    /// A request of `len_bytes` from sector `sector` of `volume`; the line number comes later.
    pub(super) fn new(
        arrival: Nanos,
        volume: u64,
        op: Op,
        sector: u64,
        len_bytes: u64,
    ) -> Result<Self, Fault> {
        Self::at_byte(arrival, volume, op, sector.saturating_mul(SECTOR_BYTES), len_bytes)
    }

    /// The same, from byte `offset_bytes`.
    pub(super) fn at_byte(
        arrival: Nanos,
        volume: u64,
        op: Op,
        offset_bytes: u64,
        len_bytes: u64,
    ) -> Result<Self, Fault> {
        match offset_bytes.checked_add(len_bytes) {
            Some(end) if end <= ADDRESS_LIMIT_BYTES => {
                Ok(Self { arrival, volume, op, offset_bytes, len_bytes, latency: None, line: 0 })
            }
            _ => Err(Fault("an address below 4 EiB")),
        }
    }

    /// A request to make everything before it durable.
    pub(super) const fn flush(arrival: Nanos, volume: u64) -> Self {
        let op = Op::Flush;
        Self { arrival, volume, op, offset_bytes: 0, len_bytes: 0, latency: None, line: 0 }
    }

    /// With the time that the traced device took.
    pub(super) const fn taking(self, latency: Option<Nanos>) -> Self {
        Self { latency, ..self }
    }

    /// The byte after the last one.
    #[must_use]
    pub const fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.len_bytes
    }
}

/// The first `N` fields of a line, and the next one if there is one.
type Fields<'a, const N: usize> = ([&'a [u8]; N], Option<&'a [u8]>);

/// The fields of a line separated by blanks or tabs, if there are at least `N`.
pub(super) fn blank_separated<const N: usize>(line: &[u8]) -> Option<Fields<'_, N>> {
    let mut fields =
        line.split(|byte| byte.is_ascii_whitespace()).filter(|field| !field.is_empty());
    take(&mut fields)
}

/// The fields of a line separated by commas, blanks around them cut, if there are at least `N`.
pub(super) fn comma_separated<const N: usize>(line: &[u8]) -> Option<[&[u8]; N]> {
    let mut fields = [&[][..]; N];
    let mut rest = Some(line);
    for field in &mut fields {
        let line = rest?;
        // Fields are too short for anything cleverer.
        let comma = line.iter().position(|&byte| byte == b',');
        *field = without_blanks(&line[..comma.unwrap_or(line.len())]);
        rest = comma.map(|at| &line[at + 1..]);
    }
    Some(fields)
}

/// A field without the blanks around it; most have none.
#[inline]
fn without_blanks(field: &[u8]) -> &[u8] {
    match (field.first(), field.last()) {
        (Some(first), Some(last)) if *first > b' ' && *last > b' ' => field,
        _ => field.trim_ascii(),
    }
}

fn take<'a, const N: usize>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<Fields<'a, N>> {
    let mut taken = [&[][..]; N];
    for slot in &mut taken {
        *slot = fields.next()?;
    }
    Some((taken, fields.next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(format: &Format) -> Box<dyn Parser> {
        (format.parser)(&TraceOptions::default()).expect("no options")
    }

    #[test]
    fn every_format_is_found_by_each_of_its_names() {
        for format in FORMATS {
            assert_eq!(Format::named(format.name), Ok(format));
            assert_eq!(Format::named(&format.name.to_uppercase()), Ok(format));
            for alias in format.aliases {
                assert_eq!(Format::named(alias), Ok(format));
            }
        }
        let error = Format::named("etl").expect_err("no such format").to_string();
        assert!(error.contains("`etl`") && error.contains("disksim, mqsim"), "{error}");
    }

    #[test]
    fn no_line_makes_a_parser_panic_or_leave_the_address_range() {
        let evil: [&[u8]; 12] = [
            b"\x00\xff\xfe\x80",
            b"-1 -1 -1 -1 -1",
            b"-1,-1,-1,w,-1",
            b"0 0 18446744073709551615 18446744073709551615 1",
            b"0,18446744073709551615,18446744073709551615,r,0",
            b"99999999999999999999999999 0 0 1 1",
            b"0,0,0,r,1e999999999999",
            b",,,,,,,,,,,,,",
            b". . . . .",
            b"0 0 9007199254740992 1 1",
            b"0 0 0 36028797018963968 1",
            b"1",
        ];
        for format in FORMATS {
            for line in evil {
                let taken = fresh(format).parse(line, 1);
                assert!(taken.is_err(), "{format:?} took {:?}", line.escape_ascii());
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn garbage_never_panics(
            lines in proptest::collection::vec(
                proptest::collection::vec(proptest::num::u8::ANY, 0..60), 1..5,
            ),
        ) {
            for format in FORMATS {
                let mut parser = fresh(format);
                for (line, number) in lines.iter().zip(1..) {
                    let _ = parser.parse(line, number);
                }
                while parser.ready(true).is_some() {}
            }
        }
    }
}
