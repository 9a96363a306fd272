//! Whether the sectors of a trace can be sectors, or are bytes that look like them.
//!
//! A table of numbers does not say its units. Bytes that are read as sectors make every
//! request 512 times as long, which nothing downstream would notice. Bytes of block I/O are
//! whole sectors themselves, so read as sectors all of them are multiples of 256 KiB. So are
//! traces of large aligned requests; read as bytes those reach over less than a drive.
//!
//! Places and sizes may have different units, so each column is asked by itself. Requests that
//! begin where the one before ended are evidence: they do so with the right units alone. So are places
//! that are multiples of sizes: of sizes 512 times too long they are by chance.

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

/// What is smaller in all requests, as bytes, is no size of block I/O.
const PAGE_BYTES: u64 = 4096;

/// So many requests that follow on, and so many times more than with other units, are evidence. So are
/// as many that are aligned, if all are.
const FOLLOWS_MIN: u64 = 8;

/// What a format counts in sectors, and how the same table is read in bytes.
#[derive(Clone, Copy, Debug)]
pub struct InSectors {
    /// Whether sizes are sectors too, and not only places.
    pub sizes: bool,
    /// What `--columns` takes if the numbers are bytes.
    pub columns: &'static str,
}

/// Which of the numbers that were taken for sectors are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InBytes {
    Both,
    Places,
    Sizes,
}

/// How large the requests of one reading are, how far they reach, and what their numbers say of
/// the units.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    requests: u64,
    /// Requests longer than any, by a multiple of a sector.
    too_long: u64,
    /// Whether all places, and all sizes, are multiples of a sector of sectors.
    whole_places: bool,
    whole_sizes: bool,
    /// Requests behind the first place, and those at a multiple of their length as read.
    behind: u64,
    aligned: u64,
    longest: u64,
    reach: u64,
    follows: Follows,
}

/// Requests that begin where the one before them ended: with the units as they were read, with
/// places in bytes alone, with sizes in bytes alone.
#[derive(Clone, Copy, Debug)]
struct Follows {
    as_read: u64,
    places: u64,
    sizes: u64,
    /// Volume, place and size of the request before.
    last: Option<(u64, u64, u64)>,
}

impl Follows {
    #[inline]
    fn add(&mut self, volume: u64, place: u64, size: u64) {
        if let Some((last_volume, last_place, last_size)) = self.last
            && last_volume == volume
            && let Some(step) = place.checked_sub(last_place).filter(|step| *step > 0)
        {
            self.as_read += u64::from(step == last_size);
            self.places += u64::from(step == last_size.saturating_mul(SECTOR_BYTES));
            self.sizes += u64::from(step * SECTOR_BYTES == last_size);
        }
        self.last = Some((volume, place, size));
    }

    /// Whether what follows on speaks for other units than those of which so many do.
    const fn deny(&self, mine: u64) -> bool {
        let most = if self.as_read > self.places { self.as_read } else { self.places };
        let most = if most > self.sizes { most } else { self.sizes };
        most >= FOLLOWS_MIN && most / FOLLOWS_MIN > mine
    }
}

impl Extent {
    /// Of no request.
    pub const NONE: Self = Self {
        requests: 0,
        too_long: 0,
        whole_places: true,
        whole_sizes: true,
        behind: 0,
        aligned: 0,
        longest: 0,
        reach: 0,
        follows: Follows { as_read: 0, places: 0, sizes: 0, last: None },
    };

    /// Counts a request in.
    #[inline]
    pub fn add(&mut self, record: &Record) {
        if record.op == Op::Flush || record.len_bytes == 0 {
            return;
        }
        let whole_size = record.len_bytes.is_multiple_of(SECTOR_OF_SECTORS_BYTES);
        self.requests += 1;
        self.too_long += u64::from(whole_size && record.len_bytes > REQUEST_BYTES_MAX);
        self.whole_sizes &= whole_size;
        self.whole_places &= record.offset_bytes.is_multiple_of(SECTOR_OF_SECTORS_BYTES);
        let is_behind = record.offset_bytes > 0;
        let is_aligned = record.offset_bytes.is_multiple_of(record.len_bytes);
        self.behind += u64::from(is_behind);
        self.aligned += u64::from(is_behind && is_aligned);
        self.longest = self.longest.max(record.len_bytes);
        self.reach = self.reach.max(record.end_bytes());
        self.follows.add(record.volume, record.offset_bytes, record.len_bytes);
    }

    /// What `format` took for sectors may as well be, or must be, bytes; each column by itself.
    pub fn may_be_bytes(&self, format: &Format) -> Vec<InBytes> {
        let Some(in_sectors) = &format.in_sectors else { return Vec::new() };
        if self.requests == 0 {
            return Vec::new();
        }
        let too_far = self.reach > REACH_BYTES_MAX;
        let places = too_far || (self.whole_places && self.reach / SECTOR_BYTES >= REACH_BYTES_MIN);
        let too_long = self.too_long * 2 > self.requests;
        let sizes = in_sectors.sizes && (self.whole_sizes || too_long);
        // Requests of a megabyte are sizes of two kilobytes as well, which nobody means alone.
        let long_sizes = too_long || self.longest / SECTOR_BYTES >= PAGE_BYTES;
        let follows = &self.follows;
        let are_aligned = self.aligned >= FOLLOWS_MIN && self.aligned == self.behind;
        let mixed = [
            (InBytes::Places, in_sectors.sizes && places && !follows.deny(follows.places)),
            (InBytes::Sizes, sizes && long_sizes && !are_aligned && !follows.deny(follows.sizes)),
        ];
        let both = if in_sectors.sizes { sizes && (places || too_long) || too_far } else { places };
        let mixed = mixed.into_iter().filter(|(_, may)| *may).map(|(units, _)| units);
        let both = (both && !follows.deny(follows.as_read)).then_some(InBytes::Both);
        both.into_iter().chain(mixed).collect()
    }

    /// How far requests reach, and the longest of them, if some of their numbers are bytes.
    fn told(&self, format: &Format, in_bytes: Option<InBytes>) -> String {
        let places = matches!(in_bytes, Some(InBytes::Both | InBytes::Places));
        let sizes = matches!(in_bytes, Some(InBytes::Both | InBytes::Sizes))
            && format.in_sectors.is_some_and(|in_sectors| in_sectors.sizes);
        let unit = |bytes: bool| if bytes { SECTOR_BYTES } else { 1 };
        let (reach, longest) = (self.reach / unit(places), self.longest / unit(sizes));
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
    for (words, columns) in told.iter().flat_map(Told::in_bytes) {
        readings.push(words);
        choices.push(columns);
    }
    let (readings, choices) = (readings.join(", "), choices.join(", or "));
    TraceError::AmbiguousFormat { path, readings, choices }
}

impl Told<'_> {
    fn as_it_is(&self) -> String {
        let &Self { format, requests, span, extent } = self;
        let space = if extent.may_be_bytes(format).is_empty() {
            String::new()
        } else {
            format!(" and {}", extent.told(format, None))
        };
        format!("as {} {requests} requests span {}{space}", format.name, human(span))
    }

    /// What the trace is if some of its sectors are bytes, and the columns to say so.
    fn in_bytes(&self) -> Vec<(String, String)> {
        let &Self { format, extent, .. } = self;
        let Some(in_sectors) = &format.in_sectors else { return Vec::new() };
        let reading = |units: InBytes| {
            let (words, columns, chosen) = match units {
                InBytes::Both => ("bytes for sectors", in_sectors.columns.to_owned(), "bytes"),
                InBytes::Places => (
                    "places in bytes and sizes in sectors",
                    in_sectors.columns.replace("size:", "size=sectors:"),
                    "places in bytes",
                ),
                InBytes::Sizes => (
                    "places in sectors and sizes in bytes",
                    in_sectors.columns.replace("offset:", "offset=sectors:"),
                    "sizes in bytes",
                ),
            };
            let space = extent.told(format, Some(units));
            let choice = format!("--columns {columns} for {chosen}");
            (format!("as {} with {words} {space}", format.name), choice)
        };
        extent.may_be_bytes(format).into_iter().map(reading).collect()
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
        let may = |requests: &[(u64, u64)], format| extent(requests).may_be_bytes(format);
        assert_eq!(may(&bytes_as_sectors, &disksim::FORMAT)[0], InBytes::Both);
        assert_eq!(may(&[(512 << 30, 4096 * 512), (4096, 4096)], &disksim::FORMAT), []);
        let small = [(1 << 30, 4096 * 512), (0, 512 * 512)];
        assert_eq!(may(&small, &disksim::FORMAT), [InBytes::Sizes], "2 MiB of bytes are no drive");
        assert_eq!(may(&bytes_as_sectors, &msr::FORMAT), [], "bytes already");
        assert_eq!(may(&[], &disksim::FORMAT), []);
    }

    #[test]
    fn each_column_is_asked_by_itself() {
        let may = |requests: &[(u64, u64)]| extent(requests).may_be_bytes(&disksim::FORMAT);
        let places_in_bytes = [(512 << 30, 4096), (5 << 30, 8192)];
        assert_eq!(may(&places_in_bytes), [InBytes::Places]);
        let sizes_in_bytes = [(4096, 4096 * 512), (8192, 512 * 512)];
        assert_eq!(may(&sizes_in_bytes), [InBytes::Sizes]);
        assert_eq!(may(&[(4096, 1 << 20), (8192, 1 << 20)]), [], "a megabyte, no 2 KiB");
    }

    #[test]
    fn requests_that_follow_on_tell_the_units() {
        let stream = |step: u64, size: u64| -> Vec<(u64, u64)> {
            (0..100).map(|at| (4096 + at * step, size)).collect()
        };
        let may = |requests: &[(u64, u64)]| extent(requests).may_be_bytes(&disksim::FORMAT);
        assert_eq!(may(&stream(2 << 20, 2 << 20)), [], "2 MiB, one behind the other");
        assert_eq!(may(&stream(4096, 4096 * 512)), [InBytes::Sizes], "4 KiB, in bytes");
    }

    #[test]
    fn places_that_are_multiples_of_a_size_tell_its_unit() {
        let may = |requests: &[(u64, u64)]| extent(requests).may_be_bytes(&disksim::FORMAT);
        let places = |step: u64| (0..9).map(move |at| at * 5 % 9 * step);
        let requests = |step: u64| places(step).map(|at| (at, 2 << 20)).collect::<Vec<_>>();
        assert_eq!(may(&requests(2 << 20)), [], "2 MiB, each at a multiple of 2 MiB");
        assert_eq!(may(&requests(4096)), [InBytes::Sizes], "of 4 KiB only");
        assert_eq!(may(&requests(2 << 20)[..8]), [InBytes::Sizes], "too few");
    }

    #[test]
    fn requests_of_megabytes_and_volumes_of_pebibytes_are_implausible() {
        let may =
            |requests: &[(u64, u64)], format| !extent(requests).may_be_bytes(format).is_empty();
        let long = [(512, 32 << 20), (512, 64 << 20), (512, 512)];
        assert!(may(&long, &disksim::FORMAT));
        assert!(!may(&long, &spc::FORMAT), "SPC has its sizes in bytes");
        let far = [(REACH_BYTES_MAX, 512)];
        assert!(may(&far, &spc::FORMAT));
        assert!(!may(&[(REACH_BYTES_MAX - 512, 512)], &spc::FORMAT));
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
