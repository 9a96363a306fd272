//! Whether the sectors of a trace can be sectors, or are bytes that look like them.
//!
//! A table of numbers does not say its units. Bytes that are read as sectors make every
//! request 512 times as long, which nothing downstream would notice. Bytes of block I/O are
//! whole sectors themselves, so read as sectors all of them are multiples of 256 KiB. So are
//! traces of large aligned requests; read as bytes those reach over less than a drive.

use super::error::TraceError;
use super::format::{Format, Record};
use crate::request::Op;
use crate::units::{Nanos, SECTOR_BYTES};

/// No request of a block trace is longer: kernels split them far below.
const REQUEST_BYTES_MAX: u64 = 16 << 20;

/// What is smaller is no drive, and numbers that reach over less are no bytes.
const REACH_BYTES_MIN: u64 = 256 << 20;

/// No traced volume reaches further.
const REACH_BYTES_MAX: u64 = 64 << 40;

/// A multiple of a sector that was taken for as many sectors.
const SECTOR_OF_SECTORS_BYTES: u64 = SECTOR_BYTES * SECTOR_BYTES;

/// What a format counts in sectors, and how the same table is read in bytes.
#[derive(Clone, Copy, Debug)]
pub struct InSectors {
    /// Whether sizes are sectors too, and not only places.
    pub sizes: bool,
    /// What `--columns` takes if the numbers are bytes.
    pub columns: &'static str,
}

/// How large the requests of one reading are, and how far they reach.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    requests: u64,
    /// Requests longer than any, by a multiple of a sector.
    too_long: u64,
    /// Whether all places and sizes are multiples of a sector of sectors.
    whole: bool,
    longest: u64,
    reach: u64,
}

impl Extent {
    /// Of no request.
    pub const NONE: Self = Self { requests: 0, too_long: 0, whole: true, longest: 0, reach: 0 };

    /// Counts a request in.
    #[inline]
    pub fn add(&mut self, record: &Record) {
        if record.op == Op::Flush || record.len_bytes == 0 {
            return;
        }
        let whole_size = record.len_bytes.is_multiple_of(SECTOR_OF_SECTORS_BYTES);
        self.requests += 1;
        self.too_long += u64::from(whole_size && record.len_bytes > REQUEST_BYTES_MAX);
        self.whole &= whole_size && record.offset_bytes.is_multiple_of(SECTOR_OF_SECTORS_BYTES);
        self.longest = self.longest.max(record.len_bytes);
        self.reach = self.reach.max(record.end_bytes());
    }

    /// Whether what `format` took for sectors may as well be, or must be, bytes.
    pub const fn may_be_bytes(&self, format: &Format) -> bool {
        let Some(in_sectors) = &format.in_sectors else { return false };
        let whole = self.whole && self.reach / SECTOR_BYTES >= REACH_BYTES_MIN;
        let by_size = in_sectors.sizes && (whole || self.too_long * 2 > self.requests);
        self.requests > 0 && (self.reach > REACH_BYTES_MAX || by_size)
    }

    /// How far requests reach, and the longest of them, if counts are of `unit` bytes.
    fn told(&self, format: &Format, unit: u64) -> String {
        let sizes = format.in_sectors.is_some_and(|in_sectors| in_sectors.sizes);
        let longest = if sizes { self.longest / SECTOR_BYTES * unit } else { self.longest };
        let reach = self.reach / SECTOR_BYTES * unit;
        format!("{} (requests of up to {})", human_bytes(reach), human_bytes(longest))
    }
}

/// One way to read a trace.
#[derive(Clone, Copy)]
pub struct Told<'a> {
    pub format: &'static Format,
    pub requests: u64,
    pub span: Nanos,
    pub extent: &'a Extent,
}

/// Refuses a trace that can be read in all of these ways, with what each would mean.
pub fn ambiguous(path: String, told: &[Told<'_>]) -> TraceError {
    let names: Vec<_> = told.iter().map(|told| told.format.name).collect();
    let mut readings: Vec<_> = told.iter().map(Told::as_it_is).collect();
    let mut choices = vec![format!("--format {}", names.join(" or "))];
    for (words, columns) in told.iter().filter_map(Told::in_bytes) {
        readings.push(words);
        choices.push(format!("--columns {columns} for bytes"));
    }
    let (readings, choices) = (readings.join(", "), choices.join(", or "));
    TraceError::AmbiguousFormat { path, readings, choices }
}

impl Told<'_> {
    fn as_it_is(&self) -> String {
        let &Self { format, requests, span, extent } = self;
        let space = if extent.may_be_bytes(format) {
            format!(" and {}", extent.told(format, SECTOR_BYTES))
        } else {
            String::new()
        };
        format!("as {} {requests} requests span {}{space}", format.name, human(span))
    }

    /// What the trace is if its sectors are bytes, and the columns to say so.
    fn in_bytes(&self) -> Option<(String, &'static str)> {
        let &Self { format, extent, .. } = self;
        let columns = format.in_sectors.filter(|_| extent.may_be_bytes(format))?.columns;
        let space = extent.told(format, 1);
        Some((format!("as {} with bytes for sectors {space}", format.name), columns))
    }
}

/// The largest of `units` (factor, name) that fits into `value`, with a tenth; else `smallest`.
fn scaled(value: u64, units: &[(u64, &str)], smallest: &str) -> String {
    match units.iter().find(|(unit, _)| value >= *unit) {
        Some((unit, name)) => {
            let tenths = u128::from(value) * 10 / u128::from(*unit);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => format!("{value} {smallest}"),
    }
}

/// A span in the unit that suits it.
fn human(span: Nanos) -> String {
    const UNITS: [(u64, &str); 5] = [
        (86_400_000_000_000, "days"),
        (3_600_000_000_000, "h"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
    ];
    scaled(span.0, &UNITS, "ns")
}

/// A size in the binary unit that suits it.
fn human_bytes(bytes: u64) -> String {
    const UNITS: [(u64, &str); 5] =
        [(1 << 50, "PiB"), (1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    scaled(bytes, &UNITS, "bytes")
}

#[cfg(test)]
mod tests {
    use super::super::{disksim, msr, spc};
    use super::*;

    fn extent(requests: &[(u64, u64)]) -> Extent {
        let mut extent = Extent::NONE;
        for &(offset, len) in requests {
            let record = Record::at_byte(Nanos(0), 0, Op::Read, offset, len).expect("an address");
            extent.add(&record);
        }
        extent
    }

    #[test]
    fn whole_sectors_of_sectors_may_be_bytes() {
        let bytes_as_sectors = [(512 << 30, 4096 * 512), (0, 512 * 512)];
        assert!(extent(&bytes_as_sectors).may_be_bytes(&disksim::FORMAT));
        let one_odd = [(512 << 30, 4096 * 512), (0, 4096)];
        assert!(!extent(&one_odd).may_be_bytes(&disksim::FORMAT));
        let small = [(1 << 30, 4096 * 512), (0, 512 * 512)];
        assert!(!extent(&small).may_be_bytes(&disksim::FORMAT), "2 MiB of bytes are no drive");
        assert!(!extent(&bytes_as_sectors).may_be_bytes(&msr::FORMAT), "bytes already");
        assert!(!extent(&[]).may_be_bytes(&disksim::FORMAT));
    }

    #[test]
    fn requests_of_megabytes_and_volumes_of_pebibytes_are_implausible() {
        let long = [(512, 32 << 20), (512, 64 << 20), (512, 512)];
        assert!(extent(&long).may_be_bytes(&disksim::FORMAT));
        assert!(!extent(&long).may_be_bytes(&spc::FORMAT), "SPC has its sizes in bytes");
        let far = [(REACH_BYTES_MAX, 512)];
        assert!(extent(&far).may_be_bytes(&spc::FORMAT));
        assert!(!extent(&[(REACH_BYTES_MAX - 512, 512)]).may_be_bytes(&spc::FORMAT));
    }

    #[test]
    fn spans_are_shown_in_a_unit_that_suits_them() {
        assert_eq!(human(Nanos(999)), "999 ns");
        assert_eq!(human(Nanos(30_000_000_000_000)), "8.3 h");
        assert_eq!(human(Nanos(u64::MAX)), "213503.9 days");
        assert_eq!(human_bytes(7_660_000_000_000), "6.9 TiB");
        assert_eq!(human_bytes(512), "512 bytes");
    }
}
