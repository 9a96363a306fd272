//! Suspension: a read of the host stops the program or erase that its unit is at, reads are
//! served, then the rest of the work goes on.
//!
//! Stopping takes `scheduler.suspend_ns` and going on `scheduler.resume_ns`. What would end
//! before it is stopped is left to end. At most `scheduler.suspend_reads` reads pass one
//! program or erase, in however many suspensions; so it always ends. Data of a cached program
//! that are loaded already stay where they are.

use super::Flash;
use super::busy::Doing;
use super::command::{Command, NONE, Work};
use super::unit::Takes;
use crate::config::Suspend;
use crate::events::{Event, EventQueue};

/// A program or erase that was, or is being, suspended.
#[derive(Clone, Copy, Debug)]
pub struct Suspension {
    /// What is suspended (linked), or [`NONE`].
    pub first: u32,
    /// Array time that it still takes.
    left_ns: u64,
    /// Reads that have passed what the unit is at.
    passed: u32,
    /// Whether the array is being stopped.
    stopping: bool,
}

impl Default for Suspension {
    fn default() -> Self {
        Self { first: NONE, left_ns: 0, passed: 0, stopping: false }
    }
}

impl Suspension {
    /// Its unit takes something up: a read that passes, or something new.
    #[inline]
    pub const fn pass(&mut self) {
        self.passed = if self.first == NONE { 0 } else { self.passed + 1 };
    }

    /// Whether a further read may pass.
    #[inline]
    const fn has_room(self, limit: u32) -> bool {
        self.passed < limit
    }
}

impl Flash {
    /// Whether a read of the host may suspend anything.
    #[inline]
    #[must_use]
    pub fn has_suspension(&self) -> bool {
        self.scheduler.suspend != Suspend::None
    }

    /// A command has begun to wait: if it is a read of the host, suspends what its unit is at,
    /// where that may be and is worth it.
    #[inline(never)]
    pub fn suspend_for(&mut self, slot: u32, now_ns: u64, events: &mut EventQueue) {
        let Command { work, page, .. } = self.commands[slot];
        if work.queue() != Work::HostRead.queue() {
            return;
        }
        let unit_index = self.unit_of(self.geometry.plane_of(page));
        let unit = &mut self.units[unit_index as usize];
        if unit.active == NONE || unit.suspension.stopping {
            return;
        }
        let allowed = match (self.scheduler.suspend, self.commands[unit.active].work) {
            (Suspend::None, _) => false,
            (_, work) if work.is_read() => false,
            (_, Work::Erase) => true,
            (mode, _) => mode == Suspend::ProgramAndErase,
        };
        // Nothing is stopped before its data are in.
        let from_ns = now_ns.max(unit.array_from_ns);
        let until_ns = from_ns + self.scheduler.suspend_ns;
        let has_room = unit.suspension.has_room(self.scheduler.suspend_reads);
        if !allowed || !has_room || unit.array_until_ns <= until_ns {
            return;
        }
        unit.suspension.stopping = true;
        unit.suspension.left_ns = unit.array_until_ns - from_ns;
        unit.takes = Takes::Nothing;
        unit.clock.hold(now_ns, from_ns, until_ns);
        let (first, loaded, for_gc) = (unit.active, unit.loaded, unit.clock.is_for_gc());
        self.each(first, |command| command.array_done(from_ns));
        self.each(loaded, |command| command.waited_for_array(from_ns, for_gc));
        self.refresh(unit_index);
        self.suspends += 1;
        events.cancel(Event::WriteDone(unit_index));
        events.schedule(until_ns, Event::WriteDone(unit_index));
    }

    /// If the array of a unit has come to rest because it was stopped, lets the reads pass;
    /// says whether that is so.
    #[inline]
    pub(super) fn stopped(
        &mut self,
        unit_index: u32,
        now_ns: u64,
        events: &mut EventQueue,
    ) -> bool {
        let unit = &mut self.units[unit_index as usize];
        if !unit.suspension.stopping {
            return false;
        }
        unit.suspension.stopping = false;
        unit.suspension.first = unit.active;
        unit.active = NONE;
        self.serve_or_resume(unit_index, now_ns, events);
        true
    }

    /// A unit with something suspended has nothing else to do: takes the next read of the
    /// host, or goes on with what is suspended.
    #[inline(never)]
    pub(super) fn serve_or_resume(
        &mut self,
        unit_index: u32,
        now_ns: u64,
        events: &mut EventQueue,
    ) {
        let reads_left = self.may_read(unit_index);
        let unit = &mut self.units[unit_index as usize];
        if reads_left {
            unit.takes = Takes::HostReads;
            unit.clock.turn(now_ns, Doing::Rest);
            self.refresh(unit_index);
        } else {
            self.resume(unit_index, now_ns, events);
        }
    }

    /// Whether a unit with something suspended has a read to serve, and may.
    pub(super) fn may_read(&self, unit_index: u32) -> bool {
        let unit = &self.units[unit_index as usize];
        unit.queues[0].head != NONE && unit.suspension.has_room(self.scheduler.suspend_reads)
    }

    #[inline(never)]
    fn resume(&mut self, unit_index: u32, now_ns: u64, events: &mut EventQueue) {
        let from_ns = now_ns + self.scheduler.resume_ns;
        let unit = &mut self.units[unit_index as usize];
        let first = unit.suspension.first;
        let loaded = unit.loaded;
        unit.suspension.first = NONE;
        unit.active = first;
        unit.array_from_ns = from_ns;
        unit.array_until_ns = from_ns + unit.suspension.left_ns;
        events.schedule(unit.array_until_ns, Event::WriteDone(unit_index));
        let work = self.commands[first].work;
        unit.clock.turn(now_ns, if work.is_gc() { Doing::Gc } else { Doing::Host });
        unit.clock.hold(now_ns, now_ns, from_ns);
        self.each(first, |command| command.suspended(from_ns));
        self.each(loaded, |command| command.suspended(from_ns));
        self.may_load(unit_index);
    }
}
