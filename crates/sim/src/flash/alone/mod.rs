//! Copies and erases that have the array to themselves, worked out in one go.
//!
//! Nothing but the array decides how they go then, so that they need neither commands nor the
//! drive's events: what would happen to the channels and units happens to copies of them, in
//! the same order, and [`Flash::follow`] makes it so when it is over. It holds for an array
//! without a cache register.
//!
//! `run` works a `course` out, `laps` leaps over what recurs in it, `pattern` says what decides it,
//! and `known` keeps it for all errands of the same pattern.

mod course;
pub(super) mod known;
mod laps;
mod pattern;
mod run;
#[cfg(test)]
mod testing;

use super::Flash;
use super::busy::Doing;
use crate::geometry::{PlaneId, Ppn};
use course::Course;
use pattern::Cast;
pub use pattern::Plan;
use run::Run;
use triomphe::Arc;

/// What is to be done: copies are read side by side and programmed in their order, each when
/// those before it have been read; then blocks are erased.
#[derive(Clone, Debug)]
pub struct Errand {
    /// Pages to read, those of one copy together.
    pub reads: Vec<Ppn>,
    /// By page read: where it goes.
    pub programs: Vec<Ppn>,
    /// Pages of a copy.
    pub members: u32,
    /// Copies after which planes come again, as long as all go on in order.
    pub lap: u32,
    /// A page of each block to erase; of one at least.
    pub erases: Vec<Ppn>,
    /// The unit that has just ended something, and looks for more when all is queued.
    pub after: Option<u32>,
}

/// What will be of an errand.
#[derive(Clone, Debug)]
pub struct Fate {
    begun_ns: u64,
    course: Arc<Course>,
    cast: Cast,
}

impl Fate {
    /// When the last erase ends.
    #[must_use]
    pub fn end_ns(&self) -> u64 {
        self.begun_ns + self.course.spent_ns[0]
    }

    /// The unit on which it does.
    #[must_use]
    pub fn last_unit(&self) -> u32 {
        self.cast.units[self.course.last_unit]
    }
}

impl Flash {
    /// Whether what begins now has the array to itself, and it is one to look ahead on.
    #[must_use]
    pub fn is_alone(&self, now_ns: u64) -> bool {
        let scheduler = &self.scheduler;
        let one_by_one = !scheduler.cached_read && !scheduler.cached_program;
        one_by_one
            && self.channels.iter().all(|channel| channel.is_quiet(now_ns))
            && self.units.iter().all(super::unit::Unit::is_quiet)
    }

    /// How long copying so many pages and erasing blocks takes at the least.
    #[must_use]
    pub fn least_span_ns(&self, pages: u64) -> u64 {
        let in_turn = pages.div_ceil(u64::from(self.geometry.plane_count));
        in_turn * self.times.program.least_ns() + self.times.erase_ns
    }

    /// Whether it matters for an errand that reads such planes where in its blocks one of them is
    /// read: pages differ, or could be read together with those of another plane.
    #[must_use]
    pub fn tells_pages_apart(&self, plane: PlaneId, read: &[PlaneId]) -> bool {
        let beside = |other: &PlaneId| *other != plane && self.die_of(*other) == self.die_of(plane);
        self.times.lap_pages() > 1 || (!self.spots.none() && read.iter().any(beside))
    }

    /// Says how an errand goes that began, or begins, at `begun_ns`; nothing if something is left
    /// over at its end. One without a plan is worked out each time.
    pub fn foresee(
        &mut self,
        plan: Option<Plan>,
        after: Option<u32>,
        errand: impl FnOnce() -> Errand,
        begun_ns: u64,
    ) -> Option<Fate> {
        let Some(plan) = plan else {
            let cast = Cast::all(self);
            let course = Arc::new(self.work_out(&errand(), &cast, begun_ns)?);
            return Some(Fate { begun_ns, course, cast });
        };
        let (cast, pattern) = Cast::of(&plan, after, self);
        let known = self.known.get(&pattern, &plan.bends);
        let course = if let Some(course) = known {
            course
        } else {
            let course = Arc::new(self.work_out(&errand(), &cast, begun_ns)?);
            self.known.keep(pattern, plan.bends, &course);
            course
        };
        Some(Fate { begun_ns, course, cast })
    }

    fn work_out(&mut self, errand: &Errand, cast: &Cast, begun_ns: u64) -> Option<Course> {
        // All are left as they were found: at the end nobody waits anywhere.
        let spots = std::mem::take(&mut self.spots);
        let (course, spots, sent) = Run::new(self, spots, errand, begun_ns).finish(cast);
        self.spots = spots;
        self.worked_out += sent;
        course
    }

    /// An errand has gone as it was foreseen.
    pub fn follow(&mut self, fate: &Fate) {
        let Fate { course, cast, .. } = fate;
        let (end_ns, mut spent_ns) = (fate.end_ns(), course.spent_ns[1..].iter());
        for (&unit, &busy_ns) in cast.units.iter().zip(&mut spent_ns) {
            if busy_ns > 0 {
                let clock = &mut self.units[unit as usize].clock;
                clock.turn(end_ns - busy_ns, Doing::Gc);
                clock.turn(end_ns, Doing::Rest);
            }
        }
        let turns = self.units_per_channel;
        let served = course.served.iter().map(|&unit| cast.units[unit]);
        for ((&channel, &busy_ns), served) in cast.channels.iter().zip(spent_ns).zip(served) {
            let channel = &mut self.channels[channel as usize];
            channel.take_turn(self.units[served as usize].turn, turns);
            channel.carried(busy_ns, end_ns);
        }
        self.pages_read += course.pages;
        self.pages_programmed += course.pages;
        self.multi_plane_commands += course.multi_plane_commands;
        self.arrivals += course.commands;
        self.followed += course.commands;
    }
}
