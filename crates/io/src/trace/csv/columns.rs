//! Which field of a row means what: from `--columns`, or from the words of a header.

use super::super::error::TraceError;
use super::super::format::Fault;
use super::super::number::{
    MICROSECOND_DIGITS, MILLISECOND_DIGITS, SECOND_DIGITS, decimal_ns, unsigned,
};
use super::FIELDS_MAX;
use crate::request::Op;
use crate::units::SECTOR_BYTES;

/// No address counts larger units than these.
const LBA_BYTES_MAX: u64 = 1 << 30;

/// A column of times, in units of `10^digits` nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    pub at: usize,
    pub digits: i32,
}

/// A column of spans or places, in units of so many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub at: usize,
    pub bytes: u64,
}

/// How a column tells operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Letters {
    Words,
    ZeroReads,
    ZeroWrites,
    /// By names or codes, in any case; `None` for what is left out.
    Named(Vec<(String, Option<Op>)>),
}

/// Where everything is, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub time: Time,
    pub op: usize,
    pub letters: Letters,
    pub offset: Extent,
    pub size: Extent,
    pub volume: Option<usize>,
    pub latency: Option<Time>,
    /// How many fields a row must have.
    pub fields: usize,
}

impl Layout {
    /// Whether a first row is words above the columns.
    pub fn is_header(&self, fields: &[&[u8]]) -> bool {
        let time = fields.get(self.time.at).copied().unwrap_or_default();
        let offset = fields.get(self.offset.at).copied().unwrap_or_default();
        decimal_ns(time, self.time.digits).is_none() && unsigned(offset).is_none()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Time,
    Op,
    Offset,
    Size,
    Volume,
    Latency,
}

/// The names that options and headers use, and those that must be there.
const NAMES: [(What, &str, bool); 6] = [
    (What::Time, "time", true),
    (What::Op, "op", true),
    (What::Offset, "offset", true),
    (What::Size, "size", true),
    (What::Volume, "volume", false),
    (What::Latency, "latency", false),
];

/// Words of headers that say what a column is; `_UNIT` follows where there are several units.
pub const WELL_KNOWN: [(&str, &str, &str); 20] = [
    ("time", "time", "ns us ms s"),
    ("timestamp", "time", "ns us ms s"),
    ("arrival", "time", "ns us ms s"),
    ("op", "op", ""),
    ("opcode", "op", ""),
    ("operation", "op", ""),
    ("rw", "op", ""),
    ("offset", "offset", "bytes sectors"),
    ("address", "offset", "bytes sectors"),
    ("sector", "offset", ""),
    ("size", "size", "bytes sectors"),
    ("length", "size", "bytes sectors"),
    ("bytes", "size", ""),
    ("sectors", "size", ""),
    ("volume", "volume", ""),
    ("device", "volume", ""),
    ("lun", "volume", ""),
    ("asu", "volume", ""),
    ("latency", "latency", "ns us ms s"),
    ("response", "latency", "ns us ms s"),
];

/// The unit that a word without one has.
const fn unit_of_word(word: &str) -> &str {
    match word.as_bytes() {
        b"sector" | b"sectors" => "sectors",
        _ => "",
    }
}

fn digits(unit: &str) -> Option<i32> {
    match unit {
        "ns" => Some(0),
        "us" => Some(MICROSECOND_DIGITS),
        "ms" => Some(MILLISECOND_DIGITS),
        "s" => Some(SECOND_DIGITS),
        _ => None,
    }
}

fn bytes(unit: &str) -> Option<u64> {
    match unit {
        "" | "bytes" => Some(1),
        "sectors" => Some(SECTOR_BYTES),
        _ => unsigned(unit.as_bytes()).filter(|bytes| (1..=LBA_BYTES_MAX).contains(bytes)),
    }
}

fn letters(unit: &str) -> Option<Letters> {
    match unit {
        "" | "letters" => Some(Letters::Words),
        "0r" => Some(Letters::ZeroReads),
        "0w" => Some(Letters::ZeroWrites),
        _ => unit.split('+').map(named).collect::<Option<_>>().map(Letters::Named),
    }
}

/// A name or code and what it means: `2a/write`.
fn named(pair: &str) -> Option<(String, Option<Op>)> {
    let (name, meaning) = pair.rsplit_once('/').filter(|(name, _)| !name.is_empty())?;
    let op = match meaning {
        "read" => Some(Op::Read),
        "write" => Some(Op::Write),
        "discard" => Some(Op::Discard),
        "flush" => Some(Op::Flush),
        "none" => None,
        _ => return None,
    };
    Some((name.to_ascii_lowercase(), op))
}

/// Whether a column of this kind may have this unit.
fn is_unit(what: What, unit: &str) -> bool {
    match what {
        What::Time | What::Latency => digits(unit).is_some(),
        What::Offset | What::Size => bytes(unit).is_some(),
        What::Op => letters(unit).is_some(),
        What::Volume => unit.is_empty(),
    }
}

/// A column with a legal unit, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Column<W> {
    what: What,
    unit: String,
    at: W,
}

/// What `--columns` says.
pub struct Columns(Vec<Column<String>>);

impl Columns {
    /// Reads `WHAT[=UNIT]:WHERE,...`.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let refuse = |word: &str, expected: &str| TraceError::Columns {
            word: word.chars().take(40).collect(),
            expected: expected.to_owned(),
        };
        let mut columns: Vec<Column<String>> = Vec::new();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let parts = word.split_once(':').filter(|(_, at)| !at.is_empty());
            let (name, at) = parts.ok_or_else(|| refuse(word, "WHAT=UNIT:WHERE"))?;
            let (name, unit) = name.split_once('=').unwrap_or((name, ""));
            let what = NAMES.iter().find(|(_, known, _)| *known == name).map(|known| known.0);
            let what =
                what.ok_or_else(|| refuse(word, "one of time, op, offset, size, volume, latency"))?;
            if !is_unit(what, unit) {
                let expected = "time=ns|us|ms|s, latency=ns|us|ms|s, \
                                offset=bytes|sectors|4096, size=bytes|sectors|4096 (a number \
                                is the bytes of an LBA), op=letters|0r|0w|28/read+2a/write \
                                (or discard, flush, none) or volume";
                return Err(refuse(word, expected));
            }
            if unsigned(at.as_bytes()).is_some_and(|n| n == 0 || n > FIELDS_MAX as u64) {
                return Err(refuse(word, "a field number from 1 to 64"));
            }
            if columns.iter().any(|column| column.what == what) {
                return Err(refuse(word, "each column once"));
            }
            columns.push(Column { what, unit: unit.to_owned(), at: at.to_owned() });
        }
        for (what, name, required) in NAMES {
            if required && columns.iter().all(|column| column.what != what) {
                return Err(refuse(text, &format!("a column for {name}")));
            }
        }
        let numbers = columns.iter().filter(|column| number(column).is_some()).count();
        if numbers != 0 && numbers != columns.len() {
            return Err(refuse(text, "all numbers or names of the header"));
        }
        Ok(Self(columns))
    }

    /// Where everything is, if fields were given by number.
    pub fn by_number(&self) -> Option<Layout> {
        let columns: Option<Vec<_>> =
            self.0.iter().map(|column| Some(column.moved(number(column)? - 1))).collect();
        columns.and_then(|columns| layout(&columns))
    }

    /// Where everything is, by the words of a header.
    pub fn in_header(&self, header: &[&[u8]]) -> Result<Layout, Fault> {
        let find = |column: &Column<String>| {
            let is = |word: &&[u8]| word.eq_ignore_ascii_case(column.at.as_bytes());
            header.iter().position(is).map(|at| column.moved(at))
        };
        let columns: Option<Vec<_>> = self.0.iter().map(find).collect();
        columns
            .and_then(|columns| layout(&columns))
            .ok_or(Fault("a header with all words that --columns names"))
    }
}

fn number(column: &Column<String>) -> Option<usize> {
    unsigned(column.at.as_bytes()).and_then(|number| usize::try_from(number).ok())
}

impl<W> Column<W> {
    fn moved<V>(&self, at: V) -> Column<V> {
        Column { what: self.what, unit: self.unit.clone(), at }
    }
}

/// Where everything is, by well-known words with units. A word without its unit is refused:
/// whether `timestamp` means seconds or microseconds nobody can know.
pub fn well_known(header: &[&[u8]]) -> Result<Layout, Fault> {
    let mut columns: Vec<Column<usize>> = Vec::new();
    for (at, word) in header.iter().enumerate() {
        let Some(column) = meaning(word) else { continue };
        if columns.iter().all(|known| known.what != column.what) {
            columns.push(column.moved(at));
        }
    }
    layout(&columns).ok_or(Fault(
        "a header with units, such as time_us,op,offset_bytes,size_bytes, or --columns",
    ))
}

/// What a word of a header means, if it is a well-known one with its unit.
fn meaning(word: &[u8]) -> Option<Column<()>> {
    let word = std::str::from_utf8(word).ok()?.to_ascii_lowercase();
    WELL_KNOWN.iter().find_map(|(known, name, units)| {
        let rest = word.strip_prefix(known)?;
        let unit = match rest.strip_prefix('_') {
            Some(unit) if units.split(' ').any(|legal| legal == unit) => unit,
            None if rest.is_empty() && units.is_empty() => unit_of_word(known),
            _ => return None,
        };
        let (what, _, _) = NAMES.into_iter().find(|(_, known, _)| known == name)?;
        Some(Column { what, unit: unit.to_owned(), at: () })
    })
}

/// All columns together; `None` if one that must be there is missing.
fn layout(columns: &[Column<usize>]) -> Option<Layout> {
    let of = |what| columns.iter().find(|column| column.what == what);
    let time = |what| {
        of(what).and_then(|column| Some(Time { at: column.at, digits: digits(&column.unit)? }))
    };
    let extent = |what| {
        of(what).and_then(|column| Some(Extent { at: column.at, bytes: bytes(&column.unit)? }))
    };
    let op = of(What::Op)?;
    Some(Layout {
        time: time(What::Time)?,
        op: op.at,
        letters: letters(&op.unit)?,
        offset: extent(What::Offset)?,
        size: extent(What::Size)?,
        volume: of(What::Volume).map(|column| column.at),
        latency: time(What::Latency),
        fields: columns.iter().map(|column| column.at + 1).max()?,
    })
}
