//! What is wrong with a workload, all of it, before anything is issued.

use super::shapes::sum_to_100;
use super::{BlockShare, Workload, WorkloadFault};
use crate::arrivals::Arrival;
use crate::device::DeviceInfo;
use crate::units::{Bytes, Nanos};

/// Bounds that keep a slip of the finger from exhausting the machine.
const MOST_IODEPTH: u64 = 65_536;
const MOST_JOBS: u64 = 1_024;
const MOST_PARTITIONS: u64 = 1 << 32;
pub(crate) const MOST_IN_FLIGHT: u64 = 1 << 20;

/// 31 years: longer pauses and later arrivals are refused, so that adding a few of
/// them to a clock cannot overflow it.
pub(crate) const LONGEST_SPAN: Nanos = Nanos(1_000_000_000_000_000_000);

/// Collects faults, so that a user sees all of them at once.
pub(super) struct Check {
    pub faults: Vec<WorkloadFault>,
}

impl Check {
    fn require(&mut self, fine: bool, field: &'static str, message: impl FnOnce() -> String) {
        if !fine {
            self.faults.push(WorkloadFault { field, message: message() });
        }
    }

    pub fn limits(&mut self, full: &Workload) {
        for (field, value) in [
            ("io_bytes", full.io_bytes),
            ("requests", full.requests),
            ("runtime_ns", full.runtime_ns),
            ("ramp_ns", full.ramp_ns),
            ("rate_iops", full.rate_iops),
            ("read_rate_bytes", full.read_rate_bytes),
            ("write_rate_bytes", full.write_rate_bytes),
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
        let enough = |bytes| bytes >= block_bytes || full.passes.is_some();
        self.require(io_bytes.is_none_or(enough), "io_bytes", || {
            format!("less than one request of {}", Bytes(block_bytes))
        });
    }

    pub fn choices(&mut self, full: &Workload) {
        let mut within = |field, value: u64, lowest: u64, highest: u64| {
            self.require((lowest..=highest).contains(&value), field, || {
                format!("{value} is not between {lowest} and {highest}")
            });
        };
        within("iodepth", full.iodepth, 1, MOST_IODEPTH);
        within("numjobs", full.numjobs, 1, MOST_JOBS);
        within("thinktime_ns", full.thinktime_ns, 0, LONGEST_SPAN.0);
        within("start_delay_ns", full.start_delay_ns, 0, LONGEST_SPAN.0);
        within("thinktime_every", full.thinktime_every, 1, u64::MAX);
        within("partitions", full.partitions, 1, MOST_PARTITIONS);
        within("read_percent", full.read_percent, 0, 100);
        for (field, share) in [
            ("percentage_random", full.percentage_random),
            ("read_percentage_random", full.read_percentage_random),
            ("write_percentage_random", full.write_percentage_random),
        ] {
            within(field, share.unwrap_or(0), 0, 100);
        }
        self.arrivals(full);
        self.drawn(full);
        self.require(full.thinktime_every <= 1 || full.thinktime_ns > 0, "thinktime_every", || {
            "there is no pause to make after so many requests: say how long (thinktime_ns)"
                .to_owned()
        });
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

    /// What is drawn for each request: sizes and skewed places.
    fn drawn(&mut self, full: &Workload) {
        for (field, split) in [
            ("read_block_split", &full.read_block_split),
            ("write_block_split", &full.write_block_split),
        ] {
            let Some(split) = split else { continue };
            if let Some(message) = sum_to_100(split.iter().map(|share| share.percent), "sizes") {
                self.faults.push(WorkloadFault { field, message });
            }
            let plain = full.partitions <= 1 && !full.random_start;
            self.require(plain, field, || {
                "partitions and a random start are for requests of one size".to_owned()
            });
        }
        if let Some(message) = full.random_distribution.as_ref().and_then(|each| each.fault()) {
            self.faults.push(WorkloadFault { field: "random_distribution", message });
        }
    }

    /// Places are visited once by requests that are all random and of one size.
    fn passes(&mut self, full: &Workload) {
        if !full.passes.is_some_and(|passes| passes.once) {
            return;
        }
        let shares = [
            full.read_percentage_random.filter(|_| full.rw.reads()),
            full.write_percentage_random.filter(|_| full.rw.writes()),
        ];
        let random = shares.into_iter().flatten().all(|share| share == 100);
        let plain = full.random_distribution.is_none()
            && full.read_block_split.is_none()
            && full.write_block_split.is_none()
            && full.align_bytes.is_none()
            && smallest_block(full) == largest_block(full);
        self.require(random && plain, "passes", || {
            "each place is visited once only by random requests of one size".to_owned()
        });
    }

    /// Partitions are of requests in order, and each must hold one.
    fn partitions(&mut self, full: &Workload) {
        if full.partitions <= 1 {
            return;
        }
        let reads = full.read_percentage_random.filter(|_| full.rw.reads());
        let writes = full.write_percentage_random.filter(|_| full.rw.writes());
        let random = reads.max(writes).unwrap_or(0) > 0;
        self.require(!random, "partitions", || {
            "are for requests in order; these are at random places".to_owned()
        });
        let share = full.size_bytes.unwrap_or(0) / full.partitions;
        let largest = largest_block(full);
        self.require(share >= largest, "partitions", || {
            format!("each of {share} bytes cannot hold one request of {}", Bytes(largest))
        });
    }

    /// Each of several sizes is whole blocks of the drive.
    fn split_sizes(&mut self, full: &Workload, unit_bytes: u64) {
        for (field, split) in [
            ("read_block_split", &full.read_block_split),
            ("write_block_split", &full.write_block_split),
        ] {
            for BlockShare { bytes, .. } in split.iter().flatten() {
                self.require(*bytes > 0 && bytes.is_multiple_of(unit_bytes), field, || {
                    format!("{bytes} is not a multiple of the drive's {unit_bytes}-byte blocks")
                });
            }
        }
    }

    pub fn places(&mut self, full: &Workload, info: &DeviceInfo) {
        let unit_bytes = info.logical_block_bytes;
        let size_bytes = full.size_bytes.unwrap_or(0);
        for (field, bytes) in [
            ("read_block_bytes", full.read_block_bytes.unwrap_or(0)),
            ("write_block_bytes", full.write_block_bytes.unwrap_or(0)),
            ("offset_bytes", full.offset_bytes),
            ("align_bytes", full.align_bytes.unwrap_or(unit_bytes)),
            ("offset_increment_bytes", full.offset_increment_bytes),
            ("read_stride_bytes", full.read_stride_bytes.unwrap_or(0).unsigned_abs()),
            ("write_stride_bytes", full.write_stride_bytes.unwrap_or(0).unsigned_abs()),
        ] {
            self.require(bytes.is_multiple_of(unit_bytes), field, || {
                format!("{bytes} is not a multiple of the drive's {unit_bytes}-byte blocks")
            });
        }
        self.split_sizes(full, unit_bytes);
        self.require(full.align_bytes != Some(0), "align_bytes", || {
            "must be more than 0; leave it out for the smallest request".to_owned()
        });
        self.partitions(full);
        self.passes(full);
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
        let last = last_offset(full);
        if last >= info.capacity_bytes {
            let message = format!(
                "puts the last of {} jobs at byte {last}, past the drive's end ({} bytes)",
                full.numjobs, info.capacity_bytes
            );
            self.faults.push(WorkloadFault { field: "offset_increment_bytes", message });
            return;
        }
        let end = last.checked_add(size_bytes);
        self.require(end.is_some_and(|end| end <= info.capacity_bytes), "size_bytes", || {
            format!(
                "{size_bytes} bytes from byte {last} reach past the drive's end ({} bytes)",
                info.capacity_bytes
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

/// Where the region of the last job starts.
pub(super) fn last_offset(full: &Workload) -> u64 {
    let jobs_before = full.numjobs.saturating_sub(1);
    full.offset_bytes.saturating_add(full.offset_increment_bytes.saturating_mul(jobs_before))
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
