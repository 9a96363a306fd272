//! Whose turn it is on a channel: a unit whose data were read, or one that takes up a command.
//!
//! With `scheduler.data_first` waiting data go before any command, as in `MQSim`. Dies that were
//! started together then stay in step: all of them read, then all of their data cross the channel
//! one after the other, and then all begin again. Without it a command that brings no data, which
//! takes a fraction of a page's time on the channel, goes first, so that its die works meanwhile.

use super::Flash;
use super::unit::{Takes, Unit};
use crate::events::{Event, EventQueue};

impl Flash {
    /// Uses a channel if it is free and somebody waits for it; if it is busy, sees to
    /// it that the next one is served when it is free.
    #[expect(clippy::inline_always, reason = "mostly there is nothing to do")]
    #[inline(always)]
    pub fn kick(&mut self, channel_index: u32, now_ns: u64, events: &mut EventQueue) {
        let channel = &self.channels[channel_index as usize];
        if !channel.has_work() {
            return;
        }
        if channel.free_at_ns <= now_ns {
            self.give(channel_index, now_ns, events);
        } else if channel.is_unattended() {
            self.wake(channel_index, events);
        }
    }

    /// Sees to it that somebody is served when a channel is free.
    #[inline(never)]
    fn wake(&mut self, channel_index: u32, events: &mut EventQueue) {
        let channel = &mut self.channels[channel_index as usize];
        channel.will_wake = true;
        events.schedule(channel.free_at_ns, Event::ChannelFree(channel_index));
    }

    /// Whether data that have just been read have a channel to themselves: they need not line up.
    #[inline]
    pub(super) fn data_go_at_once(&self, channel_index: u32, now_ns: u64) -> bool {
        let channel = &self.channels[channel_index as usize];
        let are_next = self.scheduler.data_first || channel.waiting == 0;
        channel.free_at_ns <= now_ns && channel.ready.is_empty() && are_next
    }

    /// Gives a free channel to one of those that wait for it.
    #[inline(never)]
    fn give(&mut self, channel_index: u32, now_ns: u64, events: &mut EventQueue) {
        let channel = &self.channels[channel_index as usize];
        let units = self.units_per_channel;
        let first = channel_index * units;
        let next = if channel.ready.is_empty() {
            channel.first_in_turn(|_| true)
        } else if self.scheduler.data_first {
            None
        } else {
            channel.first_in_turn(|turn| self.goes_before_data(first + turn))
        };
        let channel = &mut self.channels[channel_index as usize];
        if let Some(turn) = next {
            channel.take_turn(turn, units);
            self.issue(channel_index, first + turn, now_ns, events);
        } else if let Some(unit) = channel.ready.pop_front() {
            self.start_data_out(channel_index, unit, now_ns, events);
            return;
        }
        let channel = &self.channels[channel_index as usize];
        if channel.has_work() && channel.is_unattended() {
            self.wake(channel_index, events);
        }
    }

    /// Whether what a waiting unit takes up next goes before data that were read: it keeps the
    /// channel for no longer than a command takes.
    #[inline]
    fn goes_before_data(&self, unit_index: u32) -> bool {
        if self.scheduler.data_first {
            return false;
        }
        let unit = &self.units[unit_index as usize];
        match unit.takes {
            Takes::HostReads => true,
            Takes::Anything => {
                let next = unit.queues[self.next_queue(unit_index)].head;
                !self.commands[next].work.programs()
            }
            Takes::Nothing | Takes::Programs => false,
        }
    }

    /// A channel on which somebody waited is free.
    pub fn channel_free(&mut self, channel: u32, now_ns: u64, events: &mut EventQueue) {
        let was_awaited = std::mem::take(&mut self.channels[channel as usize].will_wake);
        debug_assert!(was_awaited, "channel {channel} is woken twice");
        self.kick(channel, now_ns, events);
    }

    /// A unit that has just become idle goes on with its next command, if its channel
    /// is free; turns are not touched.
    pub fn go_on(&mut self, unit: u32, now_ns: u64, events: &mut EventQueue) {
        let Unit { channel: channel_index, turn, .. } = self.units[unit as usize];
        let bit = 1 << turn;
        let channel = &self.channels[channel_index as usize];
        let is_free = channel.free_at_ns <= now_ns && channel.waiting & bit != 0;
        if is_free && (channel.ready.is_empty() || self.goes_before_data(unit)) {
            self.channels[channel_index as usize].waiting &= !bit;
            self.issue(channel_index, unit, now_ns, events);
        }
        self.kick(channel_index, now_ns, events);
    }
}
