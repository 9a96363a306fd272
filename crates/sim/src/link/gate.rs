//! The gate of a drive: which command comes in next.
//!
//! So many commands may be inside at once; the others wait in front, first come first
//! served. A command that must be alone (on ATA: one that is not queued) waits until those
//! before it have left, and those after it wait until it has left.

use super::arbiter::Arbiter;
use crate::config::Host;
use ssdscope_io::{Op, Queue};
use std::collections::VecDeque;

/// The gate, and who waits in front of it.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Commands inside at once.
    depth: usize,
    /// Whether flushes and discards must be alone.
    ata: bool,
    inside: usize,
    /// The one inside is alone.
    held: bool,
    /// Requests in front, and whether each must be alone.
    outside: VecDeque<(u32, bool)>,
    /// Where they wait instead, if there are several queues.
    arbiter: Option<Box<Arbiter>>,
}

impl Gate {
    /// The gate of a drive, and whether it follows ATA, where flushes and discards are not
    /// queued.
    #[must_use]
    pub fn new(host: &Host, ata: bool) -> Self {
        let queues = host.queues();
        let fetch_size = if queues.fetch_size == 0 { u32::MAX } else { queues.fetch_size };
        let several = queues.count > 1;
        let depth = if several { host.queue_depth } else { host.queue_depth.min(fetch_size) };
        Self {
            depth: depth as usize,
            ata,
            inside: 0,
            held: false,
            outside: VecDeque::new(),
            arbiter: several.then(|| Box::new(Arbiter::new(&queues))),
        }
    }

    /// Whether a command that has just been submitted is in; if not, it waits.
    #[inline]
    pub fn enter(&mut self, request: u32, op: Op, queue: Queue) -> bool {
        let alone = self.ata && matches!(op, Op::Flush | Op::Discard);
        let room = self.has_room(alone);
        let enters = match &mut self.arbiter {
            None if room && self.outside.is_empty() => true,
            None => {
                self.outside.push_back((request, alone));
                false
            }
            Some(arbiter) => arbiter.enter(request, queue, room),
        };
        if enters {
            self.take_in(alone);
        }
        enters
    }

    #[inline]
    const fn has_room(&self, alone: bool) -> bool {
        self.inside < self.depth && !self.held && !(alone && self.inside > 0)
    }

    #[inline]
    const fn take_in(&mut self, alone: bool) {
        self.inside += 1;
        self.held = alone;
    }

    /// A command of a queue has left.
    #[inline]
    pub fn leave(&mut self, queue: u16) {
        self.inside -= 1;
        self.held = false;
        if let Some(arbiter) = &mut self.arbiter {
            arbiter.leave(queue);
        }
    }

    /// Lets in one of those that wait, if there is room; to be asked after
    /// [`Gate::leave`] until there is none.
    #[inline]
    pub fn admit(&mut self) -> Option<u32> {
        if let Some(arbiter) = &mut self.arbiter {
            let request = if self.inside < self.depth { arbiter.fetch() } else { None };
            self.inside += usize::from(request.is_some());
            return request;
        }
        let &(request, alone) = self.outside.front()?;
        if !self.has_room(alone) {
            return None;
        }
        self.outside.pop_front();
        self.take_in(alone);
        Some(request)
    }

    /// Commands inside.
    #[inline]
    #[must_use]
    pub const fn inside(&self) -> usize {
        self.inside
    }

    /// Commands inside and in front.
    #[inline]
    #[must_use]
    pub fn unanswered(&self) -> usize {
        let apart = self.arbiter.as_ref().map_or(0, |arbiter| arbiter.waiting());
        self.inside + self.outside.len() + apart
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::host;
    use super::*;
    use crate::config::Interface;

    fn gate(depth: u32, ata: bool) -> Gate {
        let interface = Interface::Simple { bytes_per_second: 1e9, command_ns: 0 };
        Gate::new(&Host { queue_depth: depth, ..host(interface) }, ata)
    }

    #[test]
    fn who_must_be_alone_waits_for_all_before_and_is_waited_for_by_all_after() {
        let mut gate = gate(2, true);
        let mut enter = |request, op| gate.enter(request, op, Queue::default());
        assert!(enter(0, Op::Read) && !enter(1, Op::Flush));
        assert!(!enter(2, Op::Read) && !enter(3, Op::Write));
        assert_eq!((gate.admit(), gate.inside(), gate.unanswered()), (None, 1, 4));
        gate.leave(0);
        assert_eq!((gate.admit(), gate.admit()), (Some(1), None));
        gate.leave(0);
        assert_eq!((gate.admit(), gate.admit(), gate.admit()), (Some(2), Some(3), None));
    }

    #[test]
    fn without_ata_everything_is_queued() {
        let mut gate = gate(3, false);
        let mut enter = |request, op| gate.enter(request, op, Queue::default());
        assert!(enter(0, Op::Read) && enter(1, Op::Flush) && enter(2, Op::Discard));
        assert!(!enter(3, Op::Read));
    }
}
