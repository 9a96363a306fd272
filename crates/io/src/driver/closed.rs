//! The closed loop: a fixed number of slots, each with one request in flight.
//!
//! A slot is free again when its request has completed and the host has thought;
//! then the source says what it does next, and when at the earliest.

use super::session::Session;
use super::source::{Next, Planned, Source};
use crate::summary::StopReason;
use crate::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The shape of a closed loop.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    /// Jobs side by side.
    pub lanes: u32,
    /// Requests in flight of each.
    pub depth: u32,
    /// Pause of a slot after each completion.
    pub think: Nanos,
}

/// A request whose time has not come; the earliest due first, then the oldest.
struct Waiting {
    sequence: u64,
    slot: u32,
    planned: Planned,
}

impl Waiting {
    fn key(&self) -> (Nanos, u64) {
        (self.planned.due, self.sequence)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// Runs `source` until all its lanes end or the session stops; why.
pub fn drive<S: Source>(session: &mut Session<'_>, source: &mut S, slots: Slots) -> StopReason {
    let mut closed =
        Closed { source, slots, waiting: BinaryHeap::new(), sequence: 0, end: StopReason::End };
    session.reserve_slots(slots.lanes * slots.depth);
    // Slot s belongs to lane s mod lanes, so that jobs start alternately.
    for slot in 0..slots.lanes * slots.depth {
        closed.offer(session, slot, session.now());
    }
    while session.stopped().is_none() && (session.in_flight() > 0 || !closed.waiting.is_empty()) {
        let to = closed.waiting.peek().map_or(Nanos::MAX, |Reverse(first)| first.planned.due);
        session.wait(to);
        let batch = session.take_batch();
        for completion in &batch {
            if let Some(slot) = session.settle(completion) {
                closed.offer(session, slot, completion.completed + slots.think);
            }
        }
        session.return_batch(batch);
        closed.issue_due(session);
    }
    session.stopped().unwrap_or(closed.end)
}

struct Closed<'s, S> {
    source: &'s mut S,
    slots: Slots,
    waiting: BinaryHeap<Reverse<Waiting>>,
    sequence: u64,
    end: StopReason,
}

impl<S: Source> Closed<'_, S> {
    /// Gives a slot that is free from `free_at` on its next request.
    #[inline]
    fn offer(&mut self, session: &mut Session<'_>, slot: u32, free_at: Nanos) {
        if session.stopped().is_some() {
            return;
        }
        let lane = if self.slots.lanes == 1 { 0 } else { slot % self.slots.lanes };
        match self.source.next(lane, free_at) {
            Next::Request(planned) if planned.due <= session.now() => {
                session.submit(slot, &planned);
            }
            Next::Request(planned) => self.keep(session, slot, planned),
            Next::End(reason) => self.end = reason,
            Next::Broken(error) => session.break_off(super::Failure::Source(error)),
        }
    }

    #[inline(never)]
    fn keep(&mut self, session: &mut Session<'_>, slot: u32, planned: Planned) {
        if session.is_past_deadline(planned.due) {
            session.stop(StopReason::Runtime);
            return;
        }
        self.sequence += 1;
        self.waiting.push(Reverse(Waiting { sequence: self.sequence, slot, planned }));
    }

    /// Submits what has waited long enough.
    #[inline]
    fn issue_due(&mut self, session: &mut Session<'_>) {
        while let Some(Reverse(first)) = self.waiting.peek()
            && first.planned.due <= session.now()
            && session.stopped().is_none()
        {
            if let Some(Reverse(Waiting { slot, planned, .. })) = self.waiting.pop() {
                session.submit(slot, &planned);
            }
        }
    }
}
