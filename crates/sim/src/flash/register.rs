//! The cache register: data of one command cross the channel while the array works on another.
//!
//! * `scheduler.cached_read`: what was read moves to the register, and the command of the next
//!   read goes to the array just before the data go out.
//! * `scheduler.cached_program`: while the array programs, the data of the next program come
//!   in. Only a program that is next in turn does so: reads that wait go first.
//!
//! A page in a row thus takes the longer of array and channel, not their sum.

use super::Flash;
use super::command::{NONE, Work};
use super::unit::Takes;
use crate::events::EventQueue;

impl Flash {
    /// Sends the command of the next read to a unit whose data are about to go out, if its
    /// array is free for it; returns when the data can follow.
    #[inline(never)]
    pub(super) fn read_ahead(
        &mut self,
        channel_index: u32,
        unit_index: u32,
        now_ns: u64,
        events: &mut EventQueue,
    ) -> u64 {
        let unit = &self.units[unit_index as usize];
        if unit.active != NONE || unit.queued == 0 {
            return now_ns;
        }
        let next_is_read = if unit.suspension.first == NONE {
            self.next_queue(unit_index) <= Work::GcRead.queue()
        } else {
            self.may_read(unit_index)
        };
        if next_is_read { self.issue(channel_index, unit_index, now_ns, events) } else { now_ns }
    }

    /// The array of a unit programs: the data of the next program may come in, if there is a
    /// cache register for them.
    #[inline(never)]
    pub(super) fn may_load(&mut self, unit_index: u32) {
        let unit = &mut self.units[unit_index as usize];
        let programs = self.scheduler.cached_program && self.commands[unit.active].work.programs();
        unit.takes = if programs && unit.loaded == NONE { Takes::Programs } else { Takes::Nothing };
        if programs {
            self.refresh(unit_index);
        }
    }

    /// The array of a unit is free for the program whose data are loaded, or coming in.
    #[inline(never)]
    pub(super) fn start_loaded(&mut self, unit_index: u32, now_ns: u64, events: &mut EventQueue) {
        let unit = &mut self.units[unit_index as usize];
        let first = std::mem::replace(&mut unit.loaded, NONE);
        let for_gc = unit.clock.is_for_gc();
        let from_ns = now_ns.max(self.commands[first].since_ns);
        self.each(first, |command| command.waited_for_array(from_ns, for_gc));
        self.start_array(unit_index, first, from_ns, now_ns, events);
    }
}
