//! A workload checked against a drive, with every gap filled.

use super::check::{Check, last_offset};
use super::{BlockShare, MOST_REQUESTS_UNTIL_CI, Workload, WorkloadError};
use crate::device::DeviceInfo;
use crate::units::{Bytes, Lba, Nanos, SECTOR_BYTES, Sectors};

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
    /// Their length; of several sizes the largest.
    pub sectors: Sectors,
    /// Random places in a hundred requests.
    pub random_percent: u64,
    /// Gap between sequential requests, in sectors.
    pub stride: i64,
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
    /// Whether the last request may go over the bytes, and those before the ones that count are
    /// among them, as of a job of fio.
    pub reached: bool,
}

/// A workload that the drive can serve, in the units of the drivers.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The workload with every gap filled.
    pub workload: Workload,
    /// Where requests of the first job fall.
    pub region: Region,
    /// What reads are like.
    pub reads: Shape,
    /// What writes are like.
    pub writes: Shape,
    /// Sizes of reads with their shares, where there are several.
    pub read_split: Vec<(Sectors, u64)>,
    /// Sizes of writes with their shares, where there are several.
    pub write_split: Vec<(Sectors, u64)>,
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
        full.read_block_split = self.read_block_split.clone().or_else(|| self.block_split.clone());
        full.write_block_split =
            self.write_block_split.clone().or_else(|| self.block_split.clone());
        let largest =
            |split: &Option<Vec<BlockShare>>| split.iter().flatten().map(|share| share.bytes).max();
        let (reads, writes) = (largest(&full.read_block_split), largest(&full.write_block_split));
        full.read_block_bytes = reads.or(full.read_block_bytes).or(Some(self.block_bytes));
        full.write_block_bytes = writes.or(full.write_block_bytes).or(Some(self.block_bytes));
        full.read_rate_bytes = self.read_rate_bytes.or(self.rate_bytes);
        full.write_rate_bytes = self.write_rate_bytes.or(self.rate_bytes);
        let random_percent =
            *full.percentage_random.get_or_insert(if self.rw.is_random() { 100 } else { 0 });
        full.read_percentage_random.get_or_insert(random_percent);
        full.write_percentage_random.get_or_insert(random_percent);
        full.read_stride_bytes.get_or_insert(self.stride_bytes);
        full.write_stride_bytes.get_or_insert(self.stride_bytes);
        let rest = info.capacity_bytes.saturating_sub(last_offset(self));
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
        let split = |split: &Option<Vec<BlockShare>>| -> Vec<(Sectors, u64)> {
            split.iter().flatten().map(|share| (sectors(share.bytes), share.percent)).collect()
        };
        let shape = |block: Option<u64>, random: Option<u64>, stride: Option<i64>| Shape {
            sectors: sectors(block.unwrap_or(0)),
            random_percent: random.unwrap_or(0),
            stride: stride.unwrap_or(0) / SECTOR_BYTES as i64,
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
            read_split: split(&full.read_block_split),
            write_split: split(&full.write_block_split),
            read_percent: full.read_percent,
            ramp: full.ramp_ns.map_or(Nanos::MAX, Nanos),
            limits: JobLimits {
                ramp_requests: match full.ramp_requests {
                    0 if full.ramp_ns.is_some() => u64::MAX,
                    requests => requests,
                },
                requests: full.requests.unwrap_or(u64::MAX),
                bytes: full.io_bytes.map_or(Bytes::MAX, Bytes),
                reached: full.passes.is_some(),
            },
            runtime: full.runtime_ns.map_or(Nanos::MAX, Nanos),
            workload: full,
        })
    }
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
    fn partitions_and_regions_of_jobs_must_fit() {
        let refused = |change: fn(&mut Workload)| {
            let mut workload = Workload::new(Pattern::Read);
            change(&mut workload);
            workload.plan(&drive()).map_err(|error| error.to_string()).unwrap_err()
        };
        let told = refused(|w| w.partitions = 257);
        assert_eq!(told, "partitions: each of 4080 bytes cannot hold one request of 4 KiB");
        assert!(refused(|w| w.partitions = 0).contains("0 is not between 1 and"));
        let told = refused(|w| (w.partitions, w.percentage_random) = (2, Some(1)));
        assert_eq!(told, "partitions: are for requests in order; these are at random places");
        let told = refused(|w| (w.numjobs, w.offset_increment_bytes) = (3, 512 << 10));
        assert!(
            told.starts_with("offset_increment_bytes: puts the last of 3 jobs at byte 1048576")
        );
        let told = refused(|w| {
            (w.numjobs, w.offset_increment_bytes, w.size_bytes) = (2, 512 << 10, Some(768 << 10));
        });
        assert!(told.starts_with("size_bytes: 786432 bytes from byte 524288 reach past"), "{told}");
        let told = refused(|w| w.stride_bytes = -512);
        assert!(told.starts_with("read_stride_bytes: 512 is not a multiple"), "{told}");
        assert!(refused(|w| w.thinktime_every = 2).contains("say how long (thinktime_ns)"));
        let mut fits = Workload::new(Pattern::Read);
        (fits.partitions, fits.numjobs, fits.offset_increment_bytes) = (128, 2, 512 << 10);
        assert_eq!(fits.plan(&drive()).unwrap().workload.size_bytes, Some(512 << 10));
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
