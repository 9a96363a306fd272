//! The requests of one job of a workload, one after the other.
//!
//! Deterministic: each job draws from streams of its own, named after it, and a
//! choice that is no choice (100 % reads) draws nothing. A sequential request
//! starts where the last one of its direction ended, plus the stride, and starts
//! over where it would leave the region, as fio does: at the region's start, or at its
//! last whole request if a negative stride makes it go backwards; random ones fall on multiples
//! of their size, counted from the start of the region, and so does the first
//! sequential one of each direction if the start is to be random. A job with
//! [`Passes`](crate::workload::Passes) begins its region anew as fio's jobs do.

mod once;
mod passes;
mod skew;
mod splits;
mod track;

#[cfg(test)]
mod tests;

use self::once::Once;
use self::passes::Walk;
use self::skew::Skew;
use self::splits::{Splits, draw_size, draw_size_within};
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
    read_track: Track,
    write_track: Track,
    read_percent: u64,
    /// Whether anything but a plain request may be next: a flush, one of several sizes, or the
    /// first of a pass.
    unusual: bool,
    splits: Option<Box<Splits>>,
    walk: Option<Box<Walk>>,
    fsync_every: u64,
    writes: u64,
    last_was_flush: bool,
    least_bytes: u64,
    limits: JobLimits,
    left: JobLimits,
    directions: Stream,
    places: Stream,
    offsets: Stream,
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
        let align = full.align_bytes.and_then(|bytes| Bytes(bytes).whole_sectors());
        let once = full.passes.is_some_and(|passes| passes.once);
        let mut track = |shape: Shape, split: &[(Sectors, u64)]| {
            let start = full.random_start.then_some(&mut starts);
            let mut track = Track::new(region, shape, full.partitions, start);
            let unit = split.iter().map(|&(sectors, _)| sectors).min().unwrap_or(shape.sectors);
            let unit = align.unwrap_or(unit);
            let blocks = region.sectors.0 / unit.0.max(1);
            let distribution = full.random_distribution.as_ref();
            let skew = distribution
                .and_then(|each| Skew::new(each, blocks, unit.bytes().0, &mut shifts.clone()));
            if once {
                track.visits(unit, Once::new(blocks, &mut stream("once")));
            } else if full.passes.is_some() && shape.stride < 0 {
                track.goes_back_from_the_first();
            } else if skew.is_some() || !split.is_empty() || align.is_some() {
                track.draws(unit, region, skew);
            }
            track
        };
        let splits = Splits::of(plan, stream("sizes"));
        let (read_track, write_track) =
            (track(plan.reads, &plan.read_split), track(plan.writes, &plan.write_split));
        let largest = plan.reads.sectors.max(plan.writes.sectors).bytes().0;
        let walk = full.passes.map(|passes| Box::new(Walk::new(passes, largest)));
        Self {
            read_track,
            write_track,
            read_percent: plan.read_percent,
            unusual: full.fsync_every > 0 || splits.is_some() || walk.is_some(),
            splits,
            walk,
            fsync_every: full.fsync_every,
            writes: 0,
            last_was_flush: false,
            least_bytes: least_bytes(plan),
            limits: plan.limits,
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
        if self.unusual
            && let Some(flush) = self.prepare()?
        {
            return Ok(flush);
        }
        let is_read = percent(&mut self.directions, self.read_percent);
        self.request(is_read)
    }

    /// The next request, whose direction is turned after it was drawn: true for a read.
    ///
    /// # Errors
    /// As [`Self::next_request`].
    #[inline(never)]
    pub fn next_turned(
        &mut self,
        turned: impl FnOnce(bool) -> bool,
    ) -> Result<Generated, Exhausted> {
        if let Some(flush) = self.prepare()? {
            return Ok(flush);
        }
        let drawn = percent(&mut self.directions, self.read_percent);
        self.request(turned(drawn))
    }

    #[inline(always)]
    fn request(&mut self, is_read: bool) -> Result<Generated, Exhausted> {
        let track = if is_read { &mut self.read_track } else { &mut self.write_track };
        let sectors = track.shape.sectors;
        let measured = take(&mut self.left, sectors)?;
        let lba = if percent(&mut self.places, track.shape.random_percent) {
            track.random(&mut self.offsets)
        } else {
            track.sequential()
        };
        self.writes += u64::from(!is_read);
        let op = if is_read { Op::Read } else { Op::Write };
        Ok(Generated { op, lba, sectors, measured })
    }

    /// Lets all further requests count.
    #[inline]
    pub fn end_ramp(&mut self) {
        self.left.ramp_requests = 0;
    }

    /// What comes before a request: the start of a pass, a flush, or a size.
    #[inline(never)]
    fn prepare(&mut self) -> Result<Option<Generated>, Exhausted> {
        self.left.exhausted(self.least_bytes)?;
        // A pass begins with a flush, too, if one was due at the end of the last.
        if self.flush_is_due() || (self.begins_pass()? && self.flush_is_due()) {
            self.last_was_flush = true;
            let measured = self.left.ramp_requests == 0;
            let sectors = Sectors::ZERO;
            return Ok(Some(Generated { op: Op::Flush, lba: Lba(0), sectors, measured }));
        }
        self.last_was_flush = false;
        self.draw_sizes();
        Ok(None)
    }

    /// As fio: in a mix also before every read, until the next write.
    const fn flush_is_due(&self) -> bool {
        self.fsync_every > 0
            && self.writes > 0
            && self.writes.is_multiple_of(self.fsync_every)
            && !self.last_was_flush
    }

    /// Starts over where a pass of a fio job is over; whether it was.
    fn begins_pass(&mut self) -> Result<bool, Exhausted> {
        let Some(walk) = &mut self.walk else { return Ok(false) };
        let issued = self.limits.bytes.0 - self.left.bytes.0;
        let mut used = [
            (self.read_percent > 0).then_some(&mut self.read_track),
            (self.read_percent < 100).then_some(&mut self.write_track),
        ];
        let tracks = || used.iter().flatten();
        let visited = tracks().map(|track| track.visited()).max().unwrap_or(0);
        let is_over = tracks().any(|track| track.is_through(visited, walk.rules.wraps));
        if is_over && !walk.again(issued) {
            return Err(Exhausted::Bytes);
        }
        for track in used.iter_mut().flatten() {
            if is_over {
                track.start_over();
            } else {
                track.visited_by_all(visited);
            }
        }
        self.last_was_flush &= !is_over;
        Ok(is_over)
    }

    /// Gives the next request of each direction its size.
    fn draw_sizes(&mut self) {
        let Some(splits) = &mut self.splits else { return };
        let Splits { reads, writes, sizes } = &mut **splits;
        let fits = self.walk.is_some();
        for (split, track) in [(reads, &mut self.read_track), (writes, &mut self.write_track)] {
            let drawn = match track.room().filter(|_| fits) {
                Some(room) => draw_size_within(split, sizes, room),
                None => draw_size(split, sizes),
            };
            if let Some(sectors) = drawn {
                track.resize(sectors);
            }
        }
    }
}

/// The shortest request of a plan.
fn least_bytes(plan: &Plan) -> u64 {
    let of = |used: bool, split: &[(Sectors, u64)], shape: Shape| {
        let least = split.iter().map(|&(sectors, _)| sectors).min().unwrap_or(shape.sectors);
        used.then_some(least.bytes().0)
    };
    let reads = of(plan.read_percent > 0, &plan.read_split, plan.reads);
    let writes = of(plan.read_percent < 100, &plan.write_split, plan.writes);
    reads.into_iter().chain(writes).min().unwrap_or(0)
}

impl JobLimits {
    /// Whether a job makes no more requests, of at least so many bytes.
    fn exhausted(&self, least_bytes: u64) -> Result<(), Exhausted> {
        let ramps = self.ramp_requests > 0;
        if self.requests == 0 && !ramps {
            return Err(Exhausted::Requests);
        }
        let counts = !ramps || self.reached;
        let is_over = if self.reached { self.bytes.0 == 0 } else { self.bytes.0 < least_bytes };
        if counts && is_over { Err(Exhausted::Bytes) } else { Ok(()) }
    }
}

/// Takes one request of `sectors` from what is left; whether it counts.
#[inline(always)]
fn take(left: &mut JobLimits, sectors: Sectors) -> Result<bool, Exhausted> {
    let Bytes(bytes) = sectors.bytes();
    if left.ramp_requests > 0 {
        left.ramp_requests -= 1;
        if left.reached {
            left.bytes = Bytes(left.bytes.0.saturating_sub(bytes));
        }
        return Ok(false);
    }
    if left.requests == 0 {
        return Err(Exhausted::Requests);
    }
    let Some(bytes_left) = left.bytes.0.checked_sub(bytes) else { return take_last(left) };
    left.requests -= 1;
    left.bytes = Bytes(bytes_left);
    Ok(true)
}

/// Takes a request that goes over the last byte.
#[cold]
fn take_last(left: &mut JobLimits) -> Result<bool, Exhausted> {
    if !left.reached || left.bytes.0 == 0 {
        return Err(Exhausted::Bytes);
    }
    left.requests -= 1;
    left.bytes = Bytes(0);
    Ok(true)
}

/// True in `share` of a hundred cases; certain cases cost no draw.
#[inline(always)]
fn percent(stream: &mut Stream, share: u64) -> bool {
    match share {
        0 => false,
        100.. => true,
        _ => stream.below(100) < share,
    }
}
