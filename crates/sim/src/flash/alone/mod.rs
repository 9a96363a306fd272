//! Copies and erases that have the array to themselves, worked out in one go.
//!
//! Nothing but the array decides how they go then, so that they need neither commands nor the
//! drive's events: what would happen to the channels and units happens to copies of them, in
//! the same order, and [`Flash::follow`] makes it so when it is over. It holds for an array
//! without a cache register.

mod laps;
mod run;

use super::Flash;
use super::busy::Doing;
use super::channel::Channel;
use crate::geometry::Ppn;
use run::Run;

/// What is to be done: copies are read side by side and programmed in their order, each when
/// those before it have been read; then blocks are erased.
#[derive(Debug)]
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

/// How it comes to pass.
#[derive(Clone, Debug)]
pub struct Course {
    /// When the last erase ends.
    pub end_ns: u64,
    /// The unit on which it does.
    pub last_unit: u32,
    /// The channels as they are then.
    channels: Vec<Channel>,
    /// By unit.
    busy_ns: Vec<u64>,
    pages: u64,
    commands: u64,
    multi_plane_commands: u64,
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

    /// Works an errand out that began, or begins, at `now_ns`; nothing if something is left over
    /// at its end.
    pub fn foresee(&mut self, errand: &Errand, now_ns: u64) -> Option<Course> {
        // All are left as they were found: at the end nobody waits anywhere.
        let spots = std::mem::take(&mut self.spots);
        let (course, spots) = Run::new(self, spots, errand, now_ns).finish();
        self.spots = spots;
        course
    }

    /// An errand has gone as it was foreseen.
    pub fn follow(&mut self, course: Course) {
        for (unit, busy_ns) in self.units.iter_mut().zip(course.busy_ns) {
            if busy_ns > 0 {
                unit.clock.turn(course.end_ns - busy_ns, Doing::Gc);
                unit.clock.turn(course.end_ns, Doing::Rest);
            }
        }
        self.channels = course.channels;
        self.pages_read += course.pages;
        self.pages_programmed += course.pages;
        self.multi_plane_commands += course.multi_plane_commands;
        self.arrivals += course.commands;
    }
}
