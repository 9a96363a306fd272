//! Requests made out of events, matched by device and sectors.
//!
//! Requests leave in the order in which they arrived: one that has completed waits for
//! those before it. At most [`PENDING_MAX`] do; the oldest then goes without its latency,
//! so that one lost completion costs bounded memory.
//!
//! A dispatch or completion of `n` sectors counts for at most `n` sectors of requests that
//! it covers, oldest first: that tells two requests of one place apart, lets a merged
//! dispatch count for all of its parts, and a split request wait for its last part.

use super::super::format::{Noted, Record};
use super::super::options::Times;
use super::index::Index;
use super::window::Window;
use super::{Event, Kind};
use crate::request::Op;
use crate::units::{Nanos, SECTOR_BYTES};
use std::collections::{BTreeMap, VecDeque};

/// How many requests wait for their completion.
const PENDING_MAX: usize = 1 << 16;

/// A request on its way.
struct Pending {
    record: Record,
    sector: u64,
    sectors: u64,
    /// Sectors that were dispatched, and that completed.
    sent: u64,
    done: u64,
    /// The first dispatch.
    sent_at: Option<Nanos>,
    done_at: Option<Nanos>,
}

impl Pending {
    const fn is_complete(&self) -> bool {
        self.done >= self.sectors
    }
}

/// Which events of a device were seen.
#[derive(Clone, Copy, Default)]
struct Seen {
    queues: bool,
    dispatches: bool,
}

pub struct Matcher {
    times: Times,
    window: Window,
    pending: VecDeque<Pending>,
    /// The number of the first of `pending`, counted from the beginning of the trace.
    first: u64,
    /// Those that are not complete.
    index: Index,
    /// The longest of them so far: how far before an event a request may begin.
    longest: u64,
    /// By volume, and of the volume of the last event.
    seen: BTreeMap<u64, Seen>,
    present: (u64, Seen),
    /// The numbers of requests that the present event touches, oldest first.
    touched: Vec<u64>,
    noted: Noted,
}

impl Matcher {
    pub fn new(times: Times) -> Self {
        Self {
            times,
            window: Window::default(),
            pending: VecDeque::new(),
            first: 0,
            index: Index::default(),
            longest: 0,
            seen: BTreeMap::new(),
            present: (u64::MAX, Seen::default()),
            touched: Vec::new(),
            noted: Noted::new(),
        }
    }

    #[inline]
    pub fn push(&mut self, event: Event) {
        self.window.push(event);
    }

    /// The oldest request, once it is complete or cannot be waited for any longer.
    pub fn ready(&mut self, at_end: bool) -> Option<Record> {
        while let Some(event) = self.window.pop(at_end) {
            self.apply(&event);
        }
        loop {
            let complete = self.pending.front()?.is_complete();
            if !complete && !at_end && self.pending.len() <= PENDING_MAX {
                return None;
            }
            let oldest = self.pending.pop_front()?;
            if !complete {
                self.index.remove((oldest.record.volume, oldest.sector, self.first));
                self.note("without_completion");
            }
            self.first += 1;
            if let Some(record) = self.timed(&oldest) {
                return Some(record);
            }
        }
    }

    pub fn noted(&self) -> Noted {
        self.noted.clone()
    }

    /// The request at the chosen time, if it came to that. A flush is only ever queued.
    fn timed(&mut self, request: &Pending) -> Option<Record> {
        let at = match self.times {
            Times::Queued => Some(request.record.arrival),
            _ if request.record.op == Op::Flush => Some(request.record.arrival),
            Times::Issued => request.sent_at,
            Times::Completed => request.done_at,
        };
        if at.is_none() && self.times == Times::Issued {
            self.note("without_dispatch");
        }
        at.map(|arrival| Record { arrival, ..request.record })
    }

    pub fn note(&mut self, what: &'static str) {
        *self.noted.entry(what).or_default() += 1;
    }

    fn apply(&mut self, event: &Event) {
        let seen = self.seen(event);
        match event.kind {
            Kind::Queue => self.arrive(event),
            // It belongs to a request that was queued, if any was.
            Kind::Dispatch if event.op == Op::Flush => {
                if !seen.queues {
                    self.arrive(event);
                }
            }
            Kind::Insert => {
                if !self.waits_for_dispatch(event) {
                    self.arrive(event);
                }
            }
            Kind::Dispatch => {
                if !self.dispatch(event) {
                    self.arrive(event);
                    self.dispatch(event);
                }
            }
            Kind::Complete | Kind::Fail => {
                if !self.complete(event, seen.dispatches) {
                    self.note("completions_without_request");
                }
                if event.kind == Kind::Fail {
                    self.note("failed");
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

    /// What was seen of the event's device, with the event itself.
    fn seen(&mut self, event: &Event) -> Seen {
        if self.present.0 != event.volume {
            self.seen.insert(self.present.0, self.present.1);
            self.present =
                (event.volume, self.seen.get(&event.volume).copied().unwrap_or_default());
        }
        match event.kind {
            Kind::Queue => self.present.1.queues = true,
            Kind::Insert | Kind::Dispatch => self.present.1.dispatches = true,
            _ => {}
        }
        self.present.1
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
        let (sent, done, sent_at, done_at) = (0, 0, None, None);
        self.pending.push_back(Pending { record, sector, sectors, sent, done, sent_at, done_at });
    }

    /// Finds the requests on their way that share sectors with the event, oldest first.
    fn touch(&mut self, event: &Event) {
        let &Event { volume, sector, sectors, op, .. } = event;
        let from = (volume, sector.saturating_sub(self.longest), 0);
        let to = (volume, sector.saturating_add(sectors), 0);
        let (pending, first) = (&self.pending, self.first);
        let fits = |number| {
            let request = &pending[place(number, first)];
            request.sector + request.sectors > sector && request.record.op == op
        };
        self.touched.clear();
        self.index.find(from, to, fits, &mut self.touched);
        if self.touched.len() < 2 {
            return;
        }
        self.touched.sort_unstable();
    }

    fn waits_for_dispatch(&mut self, event: &Event) -> bool {
        self.touch(event);
        let mut requests = self.touched.iter().map(|&at| &self.pending[place(at, self.first)]);
        requests.any(|request| request.sent < request.sectors)
    }

    /// Marks what is dispatched; false if that is nothing known.
    fn dispatch(&mut self, event: &Event) -> bool {
        self.touch(event);
        let mut budget = event.sectors;
        for &number in &self.touched {
            let request = &mut self.pending[place(number, self.first)];
            let share = shared(request, event).min(request.sectors - request.sent).min(budget);
            if share > 0 && request.sent == 0 {
                request.sent_at = Some(event.time);
            }
            request.sent += share;
            budget -= share;
        }
        budget < event.sectors
    }

    /// Marks what is complete; false if that is nothing known. What a device completes that
    /// dispatches nothing runs from its arrival.
    fn complete(&mut self, event: &Event, dispatches: bool) -> bool {
        self.touch(event);
        let (mut budget, mut from_queue) = (event.sectors, 0);
        for &number in &self.touched {
            let request = &mut self.pending[place(number, self.first)];
            let open = if dispatches { request.sent } else { request.sectors };
            let share = shared(request, event).min(open.saturating_sub(request.done)).min(budget);
            request.done += share;
            budget -= share;
            if request.is_complete() {
                from_queue += u64::from(request.sent_at.is_none());
                let since = request.sent_at.unwrap_or(request.record.arrival);
                request.record.latency = Some(event.time.saturating_sub(since));
                request.done_at = Some(event.time);
                self.index.remove((event.volume, request.sector, number));
            }
        }
        if from_queue > 0 {
            *self.noted.entry("latencies_from_queue").or_default() += from_queue;
        }
        budget < event.sectors
    }

    fn requeue(&mut self, event: &Event) {
        self.touch(event);
        for &number in &self.touched {
            let request = &mut self.pending[place(number, self.first)];
            request.sent = request.done;
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "no more than PENDING_MAX wait")]
const fn place(number: u64, first: u64) -> usize {
    (number - first) as usize
}

/// How many sectors a request has in common with an event.
fn shared(request: &Pending, event: &Event) -> u64 {
    let event_end = event.sector.saturating_add(event.sectors);
    let end = (request.sector + request.sectors).min(event_end);
    end.saturating_sub(request.sector.max(event.sector))
}
