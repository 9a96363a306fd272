//! Read-ahead: behind a read the arm reads on into the cache until somebody needs it.
//!
//! It happens between events: whoever wants to know how far it has come asks for the
//! present first. It gives way in no time, and what was read stays in the cache.

use super::device::HardDisk;
use std::ops::Range;

/// A read-ahead under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// The first sector that was not read yet.
    pub next: u64,
    /// Where it ends.
    pub limit: u64,
    /// When the sector before `next` had been read.
    pub at_ns: u64,
    /// When the limit will be reached.
    pub done_ns: u64,
}

impl HardDisk {
    /// Reads on from `next`, so far as is worth it behind a read that ended at `end`.
    pub(super) fn read_ahead(&mut self, next: u64, end: u64) {
        let limit = (end + self.read_ahead_sectors).min(self.medium.geometry.sectors());
        if self.segments.is_on() && next < limit {
            self.aim(next, limit, self.now_ns);
        }
    }

    fn aim(&mut self, next: u64, limit: u64, at_ns: u64) {
        let mut arm = self.arm;
        let done_ns = self.medium.pass(&mut arm, at_ns, next..limit, false, at_ns).end_ns;
        self.ahead = Some(Ahead { next, limit, at_ns, done_ns });
    }

    /// Puts into the cache what was read until now.
    pub(super) fn catch_up(&mut self) {
        let Some(ahead) = &mut self.ahead else { return };
        let span = ahead.next..ahead.limit;
        let (next, at_ns) = self.medium.progress(&mut self.arm, ahead.at_ns, span, self.now_ns);
        let read = ahead.next..next;
        (ahead.next, ahead.at_ns) = (next, at_ns);
        if next == ahead.limit {
            self.ahead = None;
        }
        self.segments.fill(read);
    }

    /// A read was answered from the segment that ends at `held_to`: stays ahead of it.
    pub(super) fn stay_ahead(&mut self, end: u64, held_to: u64) {
        match self.ahead {
            None if self.work.is_none() => self.read_ahead(held_to, end),
            Some(ahead) if ahead.next == held_to => {
                let limit = (end + self.read_ahead_sectors).min(self.medium.geometry.sectors());
                if limit > ahead.limit {
                    self.aim(ahead.next, limit, ahead.at_ns);
                }
            }
            _ => {}
        }
    }

    /// Where to go on with a read-ahead that has begun with `span`, if one has.
    pub(super) fn continues(&self, span: &Range<u64>) -> Option<Ahead> {
        self.ahead
            .filter(|ahead| ahead.next < span.end && self.segments.ends_at(span.start, ahead.next))
    }
}
