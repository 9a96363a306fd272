//! The gate of a drive: which command comes in next.
//!
//! So many commands may be inside at once; the others wait in front, first come first
//! served. A command that must be alone (on ATA: one that is not queued) waits until those
//! before it have left, and those after it wait until it has left.

use ssdscope_io::Op;
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
}

impl Gate {
    /// The gate of a drive that takes `depth` commands, and whether it follows ATA, where
    /// flushes and discards are not queued.
    #[must_use]
    pub const fn new(depth: u32, ata: bool) -> Self {
        Self { depth: depth as usize, ata, inside: 0, held: false, outside: VecDeque::new() }
    }

    /// Whether a command that has just been submitted is in; if not, it waits.
    #[inline]
    pub fn enter(&mut self, request: u32, op: Op) -> bool {
        let alone = self.ata && matches!(op, Op::Flush | Op::Discard);
        if self.outside.is_empty() && self.has_room(alone) {
            self.take_in(alone);
            return true;
        }
        self.outside.push_back((request, alone));
        false
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

    /// A command has left.
    #[inline]
    pub const fn leave(&mut self) {
        self.inside -= 1;
        self.held = false;
    }

    /// Lets in one of those that wait, if there is room; to be asked after
    /// [`Gate::leave`] until there is none.
    #[inline]
    pub fn admit(&mut self) -> Option<u32> {
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
        self.inside + self.outside.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_must_be_alone_waits_for_all_before_and_is_waited_for_by_all_after() {
        let mut gate = Gate::new(2, true);
        assert!(gate.enter(0, Op::Read) && !gate.enter(1, Op::Flush));
        assert!(!gate.enter(2, Op::Read) && !gate.enter(3, Op::Write));
        assert_eq!((gate.admit(), gate.inside(), gate.unanswered()), (None, 1, 4));
        gate.leave();
        assert_eq!((gate.admit(), gate.admit()), (Some(1), None));
        gate.leave();
        assert_eq!((gate.admit(), gate.admit(), gate.admit()), (Some(2), Some(3), None));
    }
    #[test]
    fn without_ata_everything_is_queued() {
        let mut gate = Gate::new(3, false);
        assert!(gate.enter(0, Op::Read) && gate.enter(1, Op::Flush) && gate.enter(2, Op::Discard));
        assert!(!gate.enter(3, Op::Read));
    }
}
