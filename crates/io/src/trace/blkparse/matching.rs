//! Events of requests, sorted, and matched by device and sectors.
//!
//! Requests leave in the order in which they arrived: one that has completed waits for
//! those before it. At most [`PENDING_MAX`] do; the oldest then goes without its latency,
//! so that one lost completion costs bounded memory.
//!
//! A dispatch or completion of `n` sectors counts for at most `n` sectors of requests that
//! it covers, oldest first: that tells two requests of one place apart, lets a merged
//! dispatch count for all of its parts, and a split request wait for its last part.

use super::super::format::{Noted, Record};
use crate::request::Op;
use crate::units::{Nanos, SECTOR_BYTES};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

/// How many events are held to be sorted.
const WINDOW_EVENTS: usize = 1 << 14;

/// How many requests wait for their completion.
const PENDING_MAX: usize = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Queue,
    Insert,
    Dispatch,
    Complete,
    Requeue,
    BackMerge,
    FrontMerge,
    Split,
}

/// Something that happened to the sectors `sector..sector + sectors` of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub time: Nanos,
    pub line: u64,
    pub kind: Kind,
    pub op: Op,
    pub volume: u64,
    pub sector: u64,
    pub sectors: u64,
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time, self.line).cmp(&(other.time, other.line))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A request on its way.
struct Pending {
    record: Record,
    sector: u64,
    sectors: u64,
    /// Sectors that were dispatched, and that completed.
    sent: u64,
    done: u64,
    /// The first dispatch.
    sent_at: Nanos,
}

impl Pending {
    const fn is_complete(&self) -> bool {
        self.done >= self.sectors
    }
}

#[derive(Default)]
pub struct Matcher {
    events: BinaryHeap<Reverse<Event>>,
    pending: VecDeque<Pending>,
    /// The number of the first of `pending`, counted from the beginning of the trace.
    first: u64,
    /// (volume, first sector, number) of those that are not complete.
    index: BTreeSet<(u64, u64, u64)>,
    /// The longest of them so far: how far before an event a request may begin.
    longest: u64,
    noted: Noted,
}

impl Matcher {
    pub fn push(&mut self, event: Event) {
        self.events.push(Reverse(event));
    }

    /// The oldest request, once it is complete or cannot be waited for any longer.
    pub fn ready(&mut self, at_end: bool) -> Option<Record> {
        while at_end || self.events.len() > WINDOW_EVENTS {
            let Some(Reverse(event)) = self.events.pop() else { break };
            self.apply(&event);
        }
        let complete = self.pending.front()?.is_complete();
        if !complete && !at_end && self.pending.len() <= PENDING_MAX {
            return None;
        }
        let oldest = self.pending.pop_front()?;
        if !complete {
            self.index.remove(&(oldest.record.volume, oldest.sector, self.first));
            self.note("without_completion");
        }
        self.first += 1;
        Some(oldest.record)
    }

    pub fn noted(&self) -> Noted {
        self.noted.clone()
    }

    fn note(&mut self, what: &'static str) {
        *self.noted.entry(what).or_default() += 1;
    }

    fn apply(&mut self, event: &Event) {
        match event.kind {
            Kind::Queue => self.arrive(event),
            Kind::Insert => {
                if !self.covering(event).any(|request| request.sent < request.sectors) {
                    self.arrive(event);
                }
            }
            Kind::Dispatch => {
                if !self.dispatch(event) {
                    self.arrive(event);
                    self.dispatch(event);
                }
            }
            Kind::Complete => {
                if !self.complete(event) {
                    self.note("completions_without_request");
                }
            }
            Kind::Requeue => {
                self.requeue(event);
                self.note("requeues");
            }
            Kind::BackMerge => self.note("back_merges"),
            Kind::FrontMerge => self.note("front_merges"),
            Kind::Split => self.note("splits"),
        }
    }

    fn arrive(&mut self, event: &Event) {
        let &Event { time, line, op, volume, sector, sectors, .. } = event;
        // An address that no drive has is found to be one where the request is fitted.
        let len_bytes = sectors.saturating_mul(SECTOR_BYTES);
        let Ok(record) = Record::new(time, volume, op, sector, len_bytes) else {
            self.note("impossible_addresses");
            return;
        };
        let number = self.first + self.pending.len() as u64;
        if sectors > 0 {
            self.index.insert((volume, sector, number));
            self.longest = self.longest.max(sectors);
        }
        let record = Record { line, ..record };
        let sent_at = Nanos::ZERO;
        self.pending.push_back(Pending { record, sector, sectors, sent: 0, done: 0, sent_at });
    }

    /// The numbers of requests on their way that share sectors with the event, oldest first.
    fn overlapping(&self, event: &Event) -> Vec<u64> {
        let &Event { volume, sector, sectors, op, .. } = event;
        let from = (volume, sector.saturating_sub(self.longest), 0);
        let to = (volume, sector.saturating_add(sectors), 0);
        let mut numbers: Vec<u64> = self
            .index
            .range(from..to)
            .map(|&(_, _, number)| number)
            .filter(|&number| {
                let request = &self.pending[self.place(number)];
                request.sector + request.sectors > sector && request.record.op == op
            })
            .collect();
        numbers.sort_unstable();
        numbers
    }

    fn covering(&self, event: &Event) -> impl Iterator<Item = &Pending> {
        self.overlapping(event).into_iter().map(|number| &self.pending[self.place(number)])
    }

    #[expect(clippy::cast_possible_truncation, reason = "no more than PENDING_MAX wait")]
    const fn place(&self, number: u64) -> usize {
        (number - self.first) as usize
    }

    /// Marks what is dispatched; false if that is nothing known.
    fn dispatch(&mut self, event: &Event) -> bool {
        let mut budget = event.sectors;
        for number in self.overlapping(event) {
            let place = self.place(number);
            let request = &mut self.pending[place];
            let share = shared(request, event).min(request.sectors - request.sent).min(budget);
            if share > 0 && request.sent == 0 {
                request.sent_at = event.time;
            }
            request.sent += share;
            budget -= share;
        }
        budget < event.sectors
    }

    /// Marks what is complete; false if that is nothing known.
    fn complete(&mut self, event: &Event) -> bool {
        let mut budget = event.sectors;
        for number in self.overlapping(event) {
            let place = self.place(number);
            let request = &mut self.pending[place];
            let share = shared(request, event).min(request.sent - request.done).min(budget);
            request.done += share;
            budget -= share;
            if request.is_complete() {
                request.record.latency = Some(event.time.saturating_sub(request.sent_at));
                let key = (event.volume, request.sector, number);
                self.index.remove(&key);
            }
        }
        budget < event.sectors
    }

    fn requeue(&mut self, event: &Event) {
        for number in self.overlapping(event) {
            let place = self.place(number);
            let request = &mut self.pending[place];
            request.sent = request.done;
        }
    }
}

/// How many sectors a request has in common with an event.
fn shared(request: &Pending, event: &Event) -> u64 {
    let event_end = event.sector.saturating_add(event.sectors);
    let end = (request.sector + request.sectors).min(event_end);
    end.saturating_sub(request.sector.max(event.sector))
}
