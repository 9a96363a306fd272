//! The closed loop: a fixed number of slots, each with one request in flight.
//!
//! A slot is free again when its request has completed and the host has thought;
//! then the source says what it does next, and when at the earliest.

use super::session::Session;
use super::source::{Next, Planned, Source};
use super::{Failure, RunError};
use crate::summary::StopReason;
use crate::units::Nanos;
use crate::workload::LONGEST_SPAN;
use std::collections::VecDeque;

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

/// More slots than this are a slip of the finger, and would exhaust the memory.
const MOST_IODEPTH: u32 = 65_536;

impl Slots {
    /// One job of this depth.
    pub fn of_one_job(iodepth: u32, think: Nanos) -> Result<Self, RunError> {
        if !(1..=MOST_IODEPTH).contains(&iodepth) {
            let reason = format!("iodepth: {iodepth} is not between 1 and {MOST_IODEPTH}");
            return Err(RunError::Refused(reason));
        }
        if think > LONGEST_SPAN {
            let reason = format!("think time: {think} is more than {LONGEST_SPAN}");
            return Err(RunError::Refused(reason));
        }
        Ok(Self { lanes: 1, depth: iodepth, think })
    }
}

/// A request whose time has not come.
struct Waiting {
    slot: u32,
    planned: Planned,
}

/// Runs `source` until all its lanes end or the session stops; why.
pub fn drive<S: Source>(session: &mut Session<'_>, source: &mut S, slots: Slots) -> StopReason {
    let (waiting, held) = (VecDeque::new(), Vec::new());
    let mut closed = Closed { source, slots, waiting, held, end: StopReason::End };
    let mut batch = Vec::new();
    session.reserve_slots(slots.lanes * slots.depth);
    // Slot s belongs to lane s mod lanes, so that jobs start alternately.
    for slot in 0..slots.lanes * slots.depth {
        closed.offer(session, slot, session.now());
    }
    while session.stopped().is_none() && (session.in_flight() > 0 || !closed.waiting.is_empty()) {
        let to = closed.waiting.front().map_or(Nanos::MAX, |first| first.planned.due);
        session.wait(to, &mut batch);
        for completion in &batch {
            if let Some(slot) = session.settle(completion) {
                closed.offer(session, slot, completion.completed + slots.think);
            }
        }
        batch.clear();
        if !closed.waiting.is_empty() {
            closed.issue_due(session);
        }
    }
    session.stopped().unwrap_or(closed.end)
}

struct Closed<'s, S> {
    source: &'s mut S,
    slots: Slots,
    /// Ascending by due time, the oldest first among equals.
    waiting: VecDeque<Waiting>,
    /// Slots whose lanes wait until all of theirs was served.
    held: Vec<u32>,
    end: StopReason,
}

impl<S: Source> Closed<'_, S> {
    /// Gives a slot that is free from `free_at` on its next request.
    #[inline(always)]
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
            other => self.pass(session, slot, other),
        }
    }

    /// What is no request.
    #[cold]
    fn pass(&mut self, session: &mut Session<'_>, slot: u32, next: Next) {
        match next {
            Next::Request(planned) => self.keep(session, slot, planned),
            Next::Hold => self.held.push(slot),
            Next::End(reason) if self.end != StopReason::Runtime => self.end = reason,
            Next::End(_) => {}
            Next::Broken(error) => session.break_off(Failure::Source(error)),
        }
    }

    /// Offers the held slots of a lane requests of its own, not before `free_at`.
    #[cold]
    fn release(&mut self, session: &mut Session<'_>, lane: u32, free_at: Nanos) {
        let of_lane = |slot: &mut u32| *slot % self.slots.lanes == lane;
        let released: Vec<u32> = self.held.extract_if(.., of_lane).collect();
        for slot in released {
            let next = self.source.resume(lane, free_at);
            self.pass(session, slot, next);
        }
    }

    /// Keeps a request until it is due. Mostly it is the last one: all slots think alike.
    #[inline(never)]
    fn keep(&mut self, session: &mut Session<'_>, slot: u32, planned: Planned) {
        if session.is_past_deadline(planned.due) {
            // This slot is done; others may still have time.
            self.end = StopReason::Runtime;
            return;
        }
        let waiting = &mut self.waiting;
        if waiting.back().is_none_or(|last| last.planned.due <= planned.due) {
            waiting.push_back(Waiting { slot, planned });
        } else {
            let place = waiting.partition_point(|other| other.planned.due <= planned.due);
            waiting.insert(place, Waiting { slot, planned });
        }
        let lane = slot % self.slots.lanes;
        if self.held.iter().any(|held| held % self.slots.lanes == lane) {
            self.release(session, lane, planned.due);
        }
    }

    /// Submits what has waited long enough.
    #[inline(never)]
    fn issue_due(&mut self, session: &mut Session<'_>) {
        let now = session.now();
        let is_due = |first: &Waiting| first.planned.due <= now;
        while session.stopped().is_none() && self.waiting.front().is_some_and(is_due) {
            let Some(Waiting { slot, planned }) = self.waiting.pop_front() else { return };
            session.submit(slot, &planned);
        }
    }
}
