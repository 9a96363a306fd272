//! A workload checked against a drive, with every gap filled.

use super::{MOST_REQUESTS_UNTIL_CI, Workload, WorkloadError, WorkloadFault};
use crate::arrivals::Arrival;
use crate::device::DeviceInfo;
use crate::units::{Bytes, Lba, Nanos, SECTOR_BYTES, Sectors};

/// Bounds that keep a slip of the finger from exhausting the machine.
const MOST_IODEPTH: u64 = 65_536;
const MOST_JOBS: u64 = 1_024;
pub(crate) const MOST_IN_FLIGHT: u64 = 1 << 20;

/// 31 years: longer pauses and later arrivals are refused, so that adding a few of
/// them to a clock cannot overflow it.
pub(crate) const LONGEST_SPAN: Nanos = Nanos(1_000_000_000_000_000_000);

/// The span that requests fall into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its first sector.
    pub start: Lba,
    /// Its length.
    pub sectors: Sectors,
}

/// What the requests of one direction are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Their length.
    pub sectors: Sectors,
    /// Random places in a hundred requests.
    pub random_percent: u64,
    /// Gap between sequential requests.
    pub stride: Sectors,
}

/// What ends a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobLimits {
    /// Requests before those that count.
    pub ramp_requests: u64,
    /// Requests that count.
    pub requests: u64,
    /// Bytes that count.
    pub bytes: Bytes,
}

/// A workload that the drive can serve, in the units of the drivers.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The workload with every gap filled.
    pub workload: Workload,
    /// Where requests fall.
    pub region: Region,
    /// What reads are like.
    pub reads: Shape,
    /// What writes are like.
    pub writes: Shape,
    /// Reads in a hundred requests.
    pub read_percent: u64,
    /// How long no request counts, if the ramp's requests last so long.
    pub ramp: Nanos,
    /// What ends each job.
    pub limits: JobLimits,
    /// How long new requests are issued.
    pub runtime: Nanos,
}

impl Workload {
    /// Fills every gap for a drive. What is wrong stays wrong: see [`Self::plan`].
    #[must_use]
    pub fn resolve(&self, info: &DeviceInfo) -> Self {
        let mut full = self.clone();
        full.read_block_bytes.get_or_insert(self.block_bytes);
        full.write_block_bytes.get_or_insert(self.block_bytes);
        let random_percent =
            *full.percentage_random.get_or_insert(if self.rw.is_random() { 100 } else { 0 });
        full.read_percentage_random.get_or_insert(random_percent);
        full.write_percentage_random.get_or_insert(random_percent);
        full.read_stride_bytes.get_or_insert(self.stride_bytes);
        full.write_stride_bytes.get_or_insert(self.stride_bytes);
        let rest = info.capacity_bytes.saturating_sub(self.offset_bytes);
        let size_bytes = *full.size_bytes.get_or_insert(rest);
        if !self.rw.is_mixed() {
            full.read_percent = if self.rw.reads() { 100 } else { 0 };
        }
        let ends = self.requests.is_some() || self.io_bytes.is_some() || self.runtime_ns.is_some();
        if !ends && self.until_ci.is_some() {
            full.requests = Some(MOST_REQUESTS_UNTIL_CI);
        } else if !ends {
            full.io_bytes = Some(size_bytes);
        }
        full
    }

    /// Checks the workload against a drive.
    ///
    /// # Errors
    /// Everything that is wrong with it, not only the first fault.
    pub fn plan(&self, info: &DeviceInfo) -> Result<Plan, WorkloadError> {
        let full = self.resolve(info);
        let mut check = Check { faults: Vec::new() };
        // A limit that was filled in follows from the region, which is checked by itself.
        check.limits(&Self { io_bytes: self.io_bytes, ..full.clone() });
        check.choices(&full);
        check.places(&full, info);
        if !check.faults.is_empty() {
            return Err(WorkloadError { faults: check.faults });
        }
        let sectors = |bytes: u64| Sectors(bytes / SECTOR_BYTES);
        let shape = |block: Option<u64>, random: Option<u64>, stride: Option<u64>| Shape {
            sectors: sectors(block.unwrap_or(0)),
            random_percent: random.unwrap_or(0),
            stride: sectors(stride.unwrap_or(0)),
        };
        Ok(Plan {
            region: Region {
                start: Lba(full.offset_bytes / SECTOR_BYTES),
                sectors: sectors(full.size_bytes.unwrap_or(0)),
            },
            reads: shape(
                full.read_block_bytes,
                full.read_percentage_random,
                full.read_stride_bytes,
            ),
            writes: shape(
                full.write_block_bytes,
                full.write_percentage_random,
                full.write_stride_bytes,
            ),
            read_percent: full.read_percent,
            ramp: full.ramp_ns.map_or(Nanos::MAX, Nanos),
            limits: JobLimits {
                ramp_requests: match full.ramp_requests {
                    0 if full.ramp_ns.is_some() => u64::MAX,
                    requests => requests,
                },
                requests: full.requests.unwrap_or(u64::MAX),
                bytes: full.io_bytes.map_or(Bytes::MAX, Bytes),
            },
            runtime: full.runtime_ns.map_or(Nanos::MAX, Nanos),
            workload: full,
        })
    }
}

/// Collects faults, so that a user sees all of them at once.
struct Check {
    faults: Vec<WorkloadFault>,
}

impl Check {
    fn require(&mut self, fine: bool, field: &'static str, message: impl FnOnce() -> String) {
        if !fine {
            self.faults.push(WorkloadFault { field, message: message() });
        }
    }

    fn limits(&mut self, full: &Workload) {
        for (field, value) in [
            ("io_bytes", full.io_bytes),
            ("requests", full.requests),
            ("runtime_ns", full.runtime_ns),
            ("ramp_ns", full.ramp_ns),
            ("rate_iops", full.rate_iops),
        ] {
            self.require(value != Some(0), field, || {
                "must be more than 0; leave it out for no limit".to_owned()
            });
        }
        self.require(
            full.until_ci.is_none_or(|share| share > 0.0 && share < 1.0),
            "until_ci",
            || {
                let share = full.until_ci.unwrap_or_default();
                format!("{share} is not between 0 and 1, as 0.05 for an interval within 5 %")
            },
        );
        let block_bytes = smallest_block(full);
        let io_bytes = full.io_bytes.filter(|&bytes| bytes > 0);
        self.require(io_bytes.is_none_or(|bytes| bytes >= block_bytes), "io_bytes", || {
            format!("less than one request of {}", Bytes(block_bytes))
        });
    }

    fn choices(&mut self, full: &Workload) {
        let mut within = |field, value: u64, lowest: u64, highest: u64| {
            self.require((lowest..=highest).contains(&value), field, || {
                format!("{value} is not between {lowest} and {highest}")
            });
        };
        within("iodepth", full.iodepth, 1, MOST_IODEPTH);
        within("numjobs", full.numjobs, 1, MOST_JOBS);
        within("thinktime_ns", full.thinktime_ns, 0, LONGEST_SPAN.0);
        within("read_percent", full.read_percent, 0, 100);
        for (field, share) in [
            ("percentage_random", full.percentage_random),
            ("read_percentage_random", full.read_percentage_random),
            ("write_percentage_random", full.write_percentage_random),
        ] {
            within(field, share.unwrap_or(0), 0, 100);
        }
        self.arrivals(full);
        let in_flight = full.iodepth.saturating_mul(full.numjobs);
        self.require(in_flight <= MOST_IN_FLIGHT, "iodepth", || {
            format!("times numjobs is {in_flight} requests in flight, more than {MOST_IN_FLIGHT}")
        });
    }

    /// Open arrivals need a rate, and leave nothing to what has been served.
    fn arrivals(&mut self, full: &Workload) {
        if full.arrival == Arrival::Closed {
            return;
        }
        self.require(full.rate_iops.is_some(), "arrival", || {
            "requests that arrive by themselves need rate_iops, how many a second".to_owned()
        });
        for (field, set) in [("iodepth", full.iodepth > 1), ("thinktime_ns", full.thinktime_ns > 0)]
        {
            self.require(!set, field, || {
                "means nothing where requests arrive by themselves (arrival)".to_owned()
            });
        }
    }

    fn places(&mut self, full: &Workload, info: &DeviceInfo) {
        let unit_bytes = info.logical_block_bytes;
        let size_bytes = full.size_bytes.unwrap_or(0);
        for (field, bytes) in [
            ("read_block_bytes", full.read_block_bytes.unwrap_or(0)),
            ("write_block_bytes", full.write_block_bytes.unwrap_or(0)),
            ("offset_bytes", full.offset_bytes),
            ("read_stride_bytes", full.read_stride_bytes.unwrap_or(0)),
            ("write_stride_bytes", full.write_stride_bytes.unwrap_or(0)),
        ] {
            self.require(bytes.is_multiple_of(unit_bytes), field, || {
                format!("{bytes} is not a multiple of the drive's {unit_bytes}-byte blocks")
            });
        }
        self.require(smallest_block(full) > 0, "block_bytes", || "must be more than 0".to_owned());
        let largest = largest_block(full);
        self.require(info.writable || !full.rw.writes(), "rw", || {
            "the drive is open for reading only".to_owned()
        });
        if full.offset_bytes >= info.capacity_bytes {
            let (at, end) = (full.offset_bytes, info.capacity_bytes);
            let message = format!("{at} is past the drive's end ({end} bytes)");
            self.faults.push(WorkloadFault { field: "offset_bytes", message });
            return; // whatever is wrong with the size follows from that
        }
        let end = full.offset_bytes.checked_add(size_bytes);
        self.require(end.is_some_and(|end| end <= info.capacity_bytes), "size_bytes", || {
            format!(
                "{size_bytes} bytes from byte {} reach past the drive's end ({} bytes)",
                full.offset_bytes, info.capacity_bytes
            )
        });
        self.require(largest <= size_bytes, "size_bytes", || {
            format!(
                "the region of {size_bytes} bytes cannot hold one request of {}",
                Bytes(largest)
            )
        });
    }
}

/// The blocks of the directions that the pattern uses.
fn blocks(full: &Workload) -> impl Iterator<Item = u64> {
    let read = full.read_block_bytes.filter(|_| full.rw.reads());
    let write = full.write_block_bytes.filter(|_| full.rw.writes());
    read.into_iter().chain(write)
}

fn smallest_block(full: &Workload) -> u64 {
    blocks(full).min().unwrap_or(0)
}

fn largest_block(full: &Workload) -> u64 {
    blocks(full).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caches::Caches;
    use crate::device::{ClockKind, DeviceKind};
    use crate::workload::Pattern;

    fn drive() -> DeviceInfo {
        DeviceInfo {
            kind: DeviceKind::Simulated,
            capacity_bytes: 1 << 20,
            logical_block_bytes: 4096,
            clock: ClockKind::Virtual,
            writable: true,
            discard: true,
            attribution: true,
            snapshot: true,
            caches: Caches::ABSENT,
        }
    }

    #[test]
    fn gaps_are_filled_from_the_drive() {
        let mut workload = Workload::new(Pattern::RandWrite);
        workload.offset_bytes = 4096;
        let plan = workload.plan(&drive()).unwrap();
        assert_eq!(plan.region, Region { start: Lba(8), sectors: Sectors(2048 - 8) });
        assert_eq!((plan.read_percent, plan.writes.random_percent), (0, 100));
        assert_eq!(plan.limits.bytes, Bytes((1 << 20) - 4096), "the region once");
        workload.until_ci = Some(0.05);
        let limits = workload.plan(&drive()).unwrap().limits;
        assert_eq!((limits.requests, limits.bytes), (MOST_REQUESTS_UNTIL_CI, Bytes::MAX));
        workload.runtime_ns = Some(5);
        assert_eq!(workload.plan(&drive()).unwrap().limits.requests, u64::MAX);
    }

    #[test]
    fn every_fault_is_named_at_once() {
        let mut workload = Workload::new(Pattern::Write);
        workload.block_bytes = 5_000;
        workload.iodepth = 0;
        workload.requests = Some(0);
        workload.until_ci = Some(5.0);
        workload.thinktime_ns = u64::MAX;
        workload.offset_bytes = 2 << 20;
        let read_only = DeviceInfo { writable: false, ..drive() };
        let error = workload.plan(&read_only).unwrap_err();
        let fields: Vec<_> = error.faults.iter().map(|fault| fault.field).collect();
        for field in [
            "thinktime_ns",
            "requests",
            "until_ci",
            "iodepth",
            "write_block_bytes",
            "offset_bytes",
            "rw",
        ] {
            assert!(fields.contains(&field), "{field} is missing in {error}");
        }
        assert!(error.to_string().contains("5000 is not a multiple of the drive's 4096-byte"));
    }

    #[test]
    fn one_mistake_is_one_fault() {
        let faults = |change: fn(&mut Workload)| {
            let mut workload = Workload::new(Pattern::Read);
            change(&mut workload);
            workload.plan(&drive()).unwrap_err().faults.iter().map(|f| f.field).collect::<Vec<_>>()
        };
        assert_eq!(faults(|w| w.size_bytes = Some(0)), ["size_bytes"]);
        assert_eq!(faults(|w| w.offset_bytes = 1 << 40), ["offset_bytes"]);
        assert_eq!(faults(|w| w.block_bytes = 1 << 40), ["size_bytes"]);
        assert_eq!(faults(|w| w.io_bytes = Some(0)), ["io_bytes"]);
        assert_eq!(faults(|w| w.io_bytes = Some(1)), ["io_bytes"]);
    }

    #[test]
    fn a_region_must_lie_on_the_drive_and_hold_a_request() {
        let mut workload = Workload::new(Pattern::Read);
        workload.offset_bytes = (1 << 20) - 4096;
        workload.block_bytes = 8192;
        let error = workload.plan(&drive()).unwrap_err().to_string();
        assert!(error.contains("cannot hold one request of 8 KiB"), "{error}");
        workload.size_bytes = Some(8192);
        let error = workload.plan(&drive()).unwrap_err().to_string();
        assert!(error.contains("past the drive's end"), "{error}");
    }
}
