//! The requests of one job of a workload, one after the other.
//!
//! Deterministic: each job draws from streams of its own, named after it, and a
//! choice that is no choice (100 % reads) draws nothing. A sequential request
//! starts where the last one of its direction ended, plus the stride, and starts
//! over where it would leave the region, as fio does: at the region's start, or at its
//! last whole request if a negative stride makes it go backwards; random ones fall on multiples
//! of their size, counted from the start of the region, and so does the first
//! sequential one of each direction if the start is to be random.

mod skew;
mod track;

use self::skew::Skew;
use self::track::Track;
use crate::request::Op;
use crate::rng::Stream;
use crate::units::{Bytes, Lba, Sectors};
use crate::workload::{JobLimits, Plan, Region, Shape};

/// Why a job made its last request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// It made all requests asked for.
    Requests,
    /// It transferred all bytes asked for.
    Bytes,
}

/// A request of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generated {
    /// What to do.
    pub op: Op,
    /// First sector.
    pub lba: Lba,
    /// Length; zero for a flush.
    pub sectors: Sectors,
    /// Whether it counts: it comes after the ramp.
    pub measured: bool,
}

/// Makes the requests of one job.
#[derive(Clone, Debug)]
pub struct Generator {
    reads: Track,
    writes: Track,
    read_percent: u64,
    /// Whether anything but a plain request may be next: a flush, or one of several sizes.
    unusual: bool,
    splits: Option<Box<Splits>>,
    fsync_every: u64,
    writes_since_flush: u64,
    left: JobLimits,
    directions: Stream,
    places: Stream,
    offsets: Stream,
}

/// Several sizes of requests, with their shares.
#[derive(Clone, Debug)]
struct Splits {
    reads: Vec<(Sectors, u64)>,
    writes: Vec<(Sectors, u64)>,
    sizes: Stream,
}

impl Splits {
    fn of(plan: &Plan, sizes: Stream) -> Option<Box<Self>> {
        let (reads, writes) = (plan.read_split.clone(), plan.write_split.clone());
        let any = !reads.is_empty() || !writes.is_empty();
        any.then(|| Box::new(Self { reads, writes, sizes }))
    }
}

/// One of several sizes, by their shares of a hundred; `None` where there is only one.
fn draw_size(split: &[(Sectors, u64)], sizes: &mut Stream) -> Option<Sectors> {
    let &(last, _) = split.last()?;
    let mut drawn = sizes.below(100);
    for &(sectors, percent) in split {
        if drawn < percent {
            return Some(sectors);
        }
        drawn -= percent;
    }
    Some(last)
}

impl Generator {
    /// The generator of job number `job` of a plan.
    #[must_use]
    pub fn new(plan: &Plan, job: u64) -> Self {
        let stream = |name: &str| Stream::new(plan.workload.seed, &format!("job{job}/{name}"));
        let full = &plan.workload;
        let ahead = Bytes(full.offset_increment_bytes * job).whole_sectors();
        let region =
            Region { start: plan.region.start + ahead.unwrap_or(Sectors::ZERO), ..plan.region };
        let mut starts = stream("starts");
        let shifts = stream("shifts");
        let mut track = |shape: Shape, split: &[(Sectors, u64)]| {
            let start = full.random_start.then_some(&mut starts);
            let mut track = Track::new(region, shape, full.partitions, start);
            let unit = split.iter().map(|&(sectors, _)| sectors).min().unwrap_or(shape.sectors);
            let blocks = region.sectors.0 / unit.0.max(1);
            let distribution = full.random_distribution.as_ref();
            let skew = distribution
                .and_then(|each| Skew::new(each, blocks, unit.bytes().0, &mut shifts.clone()));
            if skew.is_some() || !split.is_empty() {
                track.draws(unit, region, skew);
            }
            track
        };
        let splits = Splits::of(plan, stream("sizes"));
        Self {
            reads: track(plan.reads, &plan.read_split),
            writes: track(plan.writes, &plan.write_split),
            read_percent: plan.read_percent,
            unusual: full.fsync_every > 0 || splits.is_some(),
            splits,
            fsync_every: full.fsync_every,
            writes_since_flush: 0,
            left: plan.limits,
            directions: stream("directions"),
            places: stream("places"),
            offsets: stream("offsets"),
        }
    }

    /// The next request.
    ///
    /// # Errors
    /// Which limit the job has reached.
    #[inline(always)]
    pub fn next_request(&mut self) -> Result<Generated, Exhausted> {
        if self.unusual {
            if self.fsync_every > 0 && self.writes_since_flush == self.fsync_every {
                return Ok(self.flush());
            }
            self.draw_sizes();
        }
        let is_read = percent(&mut self.directions, self.read_percent);
        let track = if is_read { &mut self.reads } else { &mut self.writes };
        let sectors = track.shape.sectors;
        let measured = take(&mut self.left, sectors)?;
        let lba = if percent(&mut self.places, track.shape.random_percent) {
            track.random(&mut self.offsets)
        } else {
            track.sequential()
        };
        self.writes_since_flush += u64::from(!is_read);
        let op = if is_read { Op::Read } else { Op::Write };
        Ok(Generated { op, lba, sectors, measured })
    }

    /// Lets all further requests count.
    #[inline]
    pub fn end_ramp(&mut self) {
        self.left.ramp_requests = 0;
    }

    /// Gives the next request of each direction its size.
    #[inline(never)]
    fn draw_sizes(&mut self) {
        let Some(splits) = &mut self.splits else { return };
        let Splits { reads, writes, sizes } = &mut **splits;
        if let Some(sectors) = draw_size(reads, sizes) {
            self.reads.resize(sectors);
        }
        if let Some(sectors) = draw_size(writes, sizes) {
            self.writes.resize(sectors);
        }
    }

    #[cold]
    fn flush(&mut self) -> Generated {
        self.writes_since_flush = 0;
        let measured = self.left.ramp_requests == 0;
        Generated { op: Op::Flush, lba: Lba(0), sectors: Sectors::ZERO, measured }
    }
}

/// Takes one request of `sectors` from what is left; whether it counts.
#[inline]
fn take(left: &mut JobLimits, sectors: Sectors) -> Result<bool, Exhausted> {
    if left.ramp_requests > 0 {
        left.ramp_requests -= 1;
        return Ok(false);
    }
    if left.requests == 0 {
        return Err(Exhausted::Requests);
    }
    let Bytes(bytes) = sectors.bytes();
    let Some(bytes_left) = left.bytes.0.checked_sub(bytes) else { return Err(Exhausted::Bytes) };
    left.requests -= 1;
    left.bytes = Bytes(bytes_left);
    Ok(true)
}

/// True in `share` of a hundred cases; certain cases cost no draw.
#[inline]
fn percent(stream: &mut Stream, share: u64) -> bool {
    match share {
        0 => false,
        100.. => true,
        _ => stream.below(100) < share,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caches::Caches;
    use crate::device::{ClockKind, DeviceInfo, DeviceKind};
    use crate::workload::{Pattern, Workload};

    fn info() -> DeviceInfo {
        DeviceInfo {
            kind: DeviceKind::Simulated,
            capacity_bytes: 1 << 20,
            logical_block_bytes: 512,
            clock: ClockKind::Virtual,
            writable: true,
            discard: false,
            attribution: false,
            snapshot: false,
            caches: Caches::ABSENT,
        }
    }

    fn generator(workload: &Workload, job: u64) -> Generator {
        Generator::new(&workload.plan(&info()).unwrap(), job)
    }

    fn all(workload: &Workload) -> Vec<Generated> {
        let mut generator = generator(workload, 0);
        std::iter::from_fn(|| generator.next_request().ok()).collect()
    }

    fn offsets(workload: &Workload) -> Vec<u64> {
        all(workload).iter().map(|request| request.lba.byte_offset().0).collect()
    }

    #[test]
    fn sequential_wraps_at_the_end_of_the_region() {
        let mut workload = Workload::new(Pattern::Read);
        workload.offset_bytes = 8192;
        workload.size_bytes = Some(3 * 4096 + 512);
        workload.requests = Some(5);
        assert_eq!(offsets(&workload), [8192, 12288, 16384, 8192, 12288]);
        workload.requests = None;
        assert_eq!(offsets(&workload).len(), 3, "the region once, what does not fit left out");
    }

    #[test]
    fn stride_is_the_gap_from_end_to_start() {
        let mut workload = Workload::new(Pattern::Write);
        workload.stride_bytes = 8192;
        workload.size_bytes = Some(32 * 1024);
        workload.requests = Some(4);
        assert_eq!(offsets(&workload), [0, 12288, 24576, 0]);
    }

    #[test]
    fn jobs_each_have_a_region_of_their_own_if_asked() {
        let mut workload = Workload::new(Pattern::Write);
        workload.offset_bytes = 4096;
        workload.numjobs = 3;
        workload.offset_increment_bytes = 256 << 10;
        let first = |job| generator(&workload, job).next_request().unwrap().lba.byte_offset().0;
        assert_eq!([first(0), first(1), first(2)], [4096, 4096 + (256 << 10), 4096 + (512 << 10)]);
        let size_bytes = workload.plan(&info()).unwrap().workload.size_bytes;
        assert_eq!(size_bytes, Some((512 << 10) - 4096), "as much as the last job has");
    }

    #[test]
    fn random_requests_are_whole_blocks_within_the_region_and_reach_all() {
        let mut workload = Workload::new(Pattern::RandRead);
        workload.offset_bytes = 512;
        workload.size_bytes = Some(10 * 4096 + 100 * 512);
        workload.requests = Some(2_000);
        let mut blocks: Vec<u64> = offsets(&workload)
            .into_iter()
            .map(|offset| {
                assert!((offset - 512).is_multiple_of(4096));
                (offset - 512) / 4096
            })
            .collect();
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks, (0..22).collect::<Vec<_>>());
    }

    #[test]
    fn percentages_are_kept() {
        let mut workload = Workload::new(Pattern::RandRw);
        workload.read_percent = 70;
        workload.percentage_random = Some(25);
        workload.write_block_bytes = Some(8192);
        workload.requests = Some(20_000);
        let requests = all(&workload);
        let reads = requests.iter().filter(|request| request.op == Op::Read).count();
        assert!((13_700..14_300).contains(&reads), "{reads}");
        assert!(requests.iter().all(|request| {
            request.sectors == if request.op == Op::Read { Sectors(8) } else { Sectors(16) }
        }));
        // A sequential read starts where the last read, random or not, ended.
        let reads: Vec<u64> =
            requests.iter().filter(|r| r.op == Op::Read).map(|r| r.lba.0).collect();
        let sequential = reads.windows(2).filter(|pair| pair[1] == pair[0] + 8).count();
        assert!((10_100..11_000).contains(&sequential), "{sequential} of {}", reads.len());
    }

    #[test]
    fn reads_and_writes_have_their_own_randomness_and_stride() {
        let mut workload = Workload::new(Pattern::Rw);
        workload.size_bytes = Some(1 << 20);
        workload.requests = Some(2_000);
        workload.read_percentage_random = Some(100);
        workload.write_stride_bytes = Some(12_288);
        let requests = all(&workload);
        let of = |op: Op| -> Vec<u64> {
            requests.iter().filter(|r| r.op == op).map(|r| r.lba.byte_offset().0).collect()
        };
        let expected: Vec<u64> = (0..64).map(|step| step * 16_384).cycle().take(1_000).collect();
        let writes = of(Op::Write);
        assert_eq!(writes[..900], expected[..900], "every write 12 KiB behind the one before");
        let in_order = of(Op::Read).windows(2).filter(|pair| pair[1] == pair[0] + 4096).count();
        assert!(in_order < 20, "{in_order} random reads in order");
        // The same for both is what the plain key says.
        workload.read_percentage_random = None;
        workload.read_stride_bytes = Some(0);
        workload.write_stride_bytes = None;
        workload.stride_bytes = 12_288;
        let requests = all(&workload);
        let reads = requests.iter().filter(|r| r.op == Op::Read).map(|r| r.lba.byte_offset().0);
        assert!(reads.enumerate().all(|(step, at)| at == step as u64 * 4096 % (1 << 20)));
    }

    #[test]
    fn a_random_start_is_a_block_of_the_region_and_goes_on_in_order() {
        let mut workload = Workload::new(Pattern::Read);
        workload.offset_bytes = 8192;
        workload.size_bytes = Some(50 * 4096);
        workload.requests = Some(60);
        workload.random_start = true;
        let mut starts = std::collections::BTreeSet::new();
        for seed in 0..400 {
            workload.seed = seed;
            let offsets = offsets(&workload);
            starts.insert(offsets[0]);
            for pair in offsets.windows(2) {
                let wrapped = pair[0] == 8192 + 49 * 4096;
                assert_eq!(pair[1], if wrapped { 8192 } else { pair[0] + 4096 });
            }
        }
        assert_eq!(starts, (0..50).map(|block| 8192 + block * 4096).collect());
    }

    #[test]
    fn a_flush_follows_every_n_writes() {
        let mut workload = Workload::new(Pattern::Write);
        workload.requests = Some(5);
        workload.fsync_every = 2;
        let ops: String = all(&workload)
            .iter()
            .map(|request| if request.op == Op::Flush { 'f' } else { 'w' })
            .collect();
        assert_eq!(ops, "wwfwwfw");
    }

    #[test]
    fn the_ramp_comes_on_top_and_limits_hold() {
        let mut workload = Workload::new(Pattern::Read);
        workload.requests = Some(3);
        workload.ramp_requests = 2;
        let measured: Vec<bool> = all(&workload).iter().map(|request| request.measured).collect();
        assert_eq!(measured, [false, false, true, true, true]);
        workload.io_bytes = Some(2 * 4096 + 1);
        assert_eq!(all(&workload).len(), 4, "bytes end it first, without going over");
    }

    #[test]
    fn jobs_differ_and_repeat() {
        let mut workload = Workload::new(Pattern::RandRead);
        workload.requests = Some(10);
        let draw = |job| {
            let mut generator = generator(&workload, job);
            std::iter::from_fn(|| generator.next_request().ok()).collect::<Vec<_>>()
        };
        assert_eq!(draw(0), draw(0));
        assert_ne!(draw(0), draw(1));
    }
}
