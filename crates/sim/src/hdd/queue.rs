//! What the arm does next.
//!
//! Commands of the host come before emptying the write-back cache, until somebody waits
//! for that: then both compete. By position, the span whose first sector comes under the
//! head first is next (shortest positioning time first, Seltzer, Chen & Ousterhout,
//! "Disk scheduling revisited", USENIX 1990), but nobody is passed over for ever. By
//! arrival, commands keep their order and take turns with the cache.

use super::device::{HardDisk, Work};
use crate::config::QueueOrder;
use ssdscope_io::{Cause, Op};
use std::ops::Range;

/// Who was passed over so often is next.
pub(super) const PATIENCE: u32 = 128;

/// A span for the arm.
#[derive(Clone, Debug)]
enum Next {
    /// A place in the queue.
    Command(usize),
    /// A part of the write-back cache.
    Store(Range<u64>),
}

impl HardDisk {
    /// Gives the arm something to do, if it is free.
    pub(super) fn kick(&mut self) {
        if self.work.is_some() {
            return;
        }
        self.catch_up();
        let urgent = self.flush.is_some() || !self.no_room.is_empty();
        let next = if self.waiting.is_empty() && !urgent {
            // Nobody waits: reading ahead comes first, since it ends soon.
            if self.ahead.is_some() || !self.dirty.has_runs() {
                return;
            }
            self.best_store().map(|(_, span)| Next::Store(span))
        } else {
            match self.queue_order {
                QueueOrder::Position => self.by_position(urgent),
                QueueOrder::Arrival => self.by_arrival(urgent),
            }
        };
        match next {
            Some(Next::Command(place)) => self.serve(place),
            Some(Next::Store(span)) => self.store(span),
            None => {}
        }
    }

    fn by_arrival(&self, urgent: bool) -> Option<Next> {
        let store = || self.best_store().map(|(_, span)| Next::Store(span));
        let first = (!self.waiting.is_empty()).then_some(Next::Command(0));
        match (first, urgent) {
            (first, false) => first,
            (Some(first), true) if self.stored_last => Some(first),
            (first, true) => store().or(first),
        }
    }

    fn by_position(&self, urgent: bool) -> Option<Next> {
        let passed = |&slot: &u32| self.front.requests[slot].passed >= PATIENCE;
        if let Some(place) = self.waiting.iter().position(passed) {
            return Some(Next::Command(place));
        }
        let costs =
            self.waiting.iter().enumerate().map(|(place, &slot)| (self.cost_ns(slot), place));
        let command = costs.min();
        let store = if urgent { self.best_store() } else { None };
        match (command, store) {
            (Some((command_ns, place)), Some((store_ns, _)))
                if command_ns <= store_ns && self.store_passed < PATIENCE =>
            {
                Some(Next::Command(place))
            }
            (_, Some((_, span))) => Some(Next::Store(span)),
            (Some((_, place)), None) => Some(Next::Command(place)),
            (None, None) => None,
        }
    }

    /// How long until the arm could begin with a command.
    fn cost_ns(&self, slot: u32) -> u64 {
        let request = &self.front.requests[slot];
        let write = request.op == Op::Write;
        if !write && self.continues(&request.span).is_some() {
            return 0;
        }
        self.medium.access_ns(self.arm, self.now_ns, request.span.start, write)
    }

    /// The part of the write-back cache that the arm could begin with first, up to the end
    /// of its track.
    fn best_store(&self) -> Option<(u64, Range<u64>)> {
        let here = self.medium.geometry.first_of(self.arm.cylinder());
        let cost = |run: Range<u64>| {
            (self.medium.access_ns(self.arm, self.now_ns, run.start, true), run.start, run.end)
        };
        let (cost_ns, start, end) = self.dirty.around(here).map(cost).min()?;
        let left = u64::from(self.medium.geometry.locate(start).left);
        Some((cost_ns, start..end.min(start + left)))
    }

    /// Begins with the command at `place` of the queue.
    fn serve(&mut self, place: usize) {
        let slot = self.waiting.remove(place);
        for &other in &self.waiting {
            self.front.requests[other].passed += 1;
        }
        self.store_passed += 1;
        self.stored_last = false;
        let now_ns = self.now_ns;
        let stored_ns = self.stored_ns(now_ns);
        let span = self.front.requests[slot].span.clone();
        let write = self.front.requests[slot].op == Op::Write;
        let begun = if write { None } else { self.continues(&span) };
        let (from_ns, rest) =
            begun.map_or((now_ns, span.clone()), |ahead| (ahead.at_ns, ahead.next..span.end));
        self.ahead = None;
        let pass = self.medium.pass(&mut self.arm, from_ns, rest, write, now_ns);
        let request = &mut self.front.requests[slot];
        let wait_ns = now_ns - request.arrived_ns;
        let store_wait_ns = stored_ns - request.stored_before_ns;
        request.attribution[Cause::Buffer] += store_wait_ns;
        request.attribution[Cause::HostQueue] += wait_ns - store_wait_ns;
        request.attribution[Cause::Mechanical] += pass.mechanical_ns;
        request.attribution[Cause::Transfer] += pass.transfer_ns;
        self.work = Some(Work { command: Some(slot), start_ns: now_ns, end_ns: pass.end_ns });
    }

    /// Begins to write a part of the write-back cache.
    fn store(&mut self, span: Range<u64>) {
        self.waiting.iter().for_each(|&slot| self.front.requests[slot].passed += 1);
        self.store_passed = 0;
        self.stored_last = true;
        self.ahead = None;
        self.dirty.send(&span);
        let start_ns = self.now_ns;
        let end_ns = self.medium.pass(&mut self.arm, start_ns, span, true, start_ns).end_ns;
        self.work = Some(Work { command: None, start_ns, end_ns });
    }

    /// The time until `now_ns` that the arm spent on emptying the write-back cache.
    pub(super) fn stored_ns(&self, now_ns: u64) -> u64 {
        let current = self.work.filter(|work| work.command.is_none());
        self.stored_ns + current.map_or(0, |work| now_ns - work.start_ns)
    }

    /// The arm has ended what it was doing.
    pub(super) fn end_work(&mut self, work: Work) {
        self.work = None;
        let Some(slot) = work.command else {
            self.stored_ns += work.end_ns - work.start_ns;
            self.dirty.sent();
            self.room_was_made();
            return;
        };
        let request = &self.front.requests[slot];
        let span = request.span.clone();
        if request.op == Op::Read {
            self.segments.fill(span.clone());
            self.read_ahead(span.end, span.end);
            self.answer(slot, (span.end - span.start) * 512);
        } else {
            self.answer(slot, 0);
        }
    }
}
