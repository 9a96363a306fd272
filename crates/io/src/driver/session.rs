//! One run against one device: submitting, waiting, adding up, stopping.
//!
//! Whatever goes wrong is kept here as a pending failure, and the loops only look
//! whether the session has stopped. [`Session::finish`] then waits for everything
//! in flight and hands out either a summary or the failure together with what was
//! measured.

mod flows;
mod recording;
mod report;

pub use flows::FlowOfRun;

use super::source::Planned;
use super::tally::Tally;
use super::{Failure, RunError, RunObserver};
use crate::counters::{Counters, Simulated};
use crate::device::{ClockKind, Device};
use crate::log::LogChunk;
use crate::recorder::Recorder;
use crate::request::{Completion, Op, Outcome, Queue, Request};
use crate::summary::{LatencyFrom, StopReason};
use crate::timeline::Timeline;
use crate::units::{Bytes, Lba, Nanos, Sectors};
use std::ops::Range;

/// Times of logs and summaries are signed: no run goes on later.
pub const LATEST: Nanos = Nanos(i64::MAX.unsigned_abs());
/// More failed requests in a row than this end a run, unless it is a list.
const MOST_FAILURES_IN_A_ROW: u64 = 100;
/// The longest wait on a wall clock before the observer is asked again.
const LONGEST_WAIT: Nanos = Nanos(20_000_000);
/// A wall-clock device that holds requests and completes none for so long is stuck.
/// The kernel's own timeouts, with their retries, fail a request sooner.
const LONGEST_SILENCE: Nanos = Nanos(300_000_000_000);
/// So many waits in a row without time passing mean that a wall clock stands still.
const MOST_BARREN_WAITS: u32 = 1 << 20;
/// Completions between two reports to the observer in virtual time.
const REPORT_EVERY: usize = 64;

/// What a run aims at.
#[derive(Clone, Debug)]
pub struct Goals {
    /// From where latencies count.
    pub latency_from: LatencyFrom,
    /// How long new requests are issued, from the first that counts.
    pub runtime: Nanos,
    /// Requests that will be made, if known: for progress only.
    pub requests: Option<u64>,
    /// Bytes that will be moved, if known: for progress only.
    pub bytes: Option<u64>,
    /// Whether too many failures in a row end the run.
    pub gives_up: bool,
    /// Relative half-width to stop at, and the directions that must reach it.
    pub until_ci: Option<(f64, Vec<Op>)>,
}

impl Goals {
    /// No end but the source's.
    pub const fn until_the_end(latency_from: LatencyFrom) -> Self {
        Self {
            latency_from,
            runtime: Nanos::MAX,
            requests: None,
            bytes: None,
            gives_up: true,
            until_ci: None,
        }
    }
}

/// A request in flight.
#[derive(Clone, Copy, Debug)]
struct Flight {
    due: Nanos,
    index: u64,
    lba: Lba,
    sectors: Sectors,
    op: Op,
    flow: u16,
    measured: bool,
    busy: bool,
}

const IDLE: Flight = Flight {
    due: Nanos::ZERO,
    index: 0,
    lba: Lba(0),
    sectors: Sectors::ZERO,
    op: Op::Read,
    flow: 0,
    measured: false,
    busy: false,
};

/// A run.
///
/// What the loops do per request is inlined by force: one function then holds the
/// whole path from completion to next submission, in a seventh fewer instructions.
pub struct Session<'a> {
    device: &'a mut dyn Device,
    observer: &'a mut dyn RunObserver,
    clock: ClockKind,
    goals: Goals,
    now: Nanos,
    flights: Vec<Flight>,
    in_flight: usize,
    issued: u64,
    measuring: bool,
    deadline: Nanos,
    tally: Tally,
    /// In a run of several flows; empty otherwise.
    flows: Vec<FlowOfRun>,
    log: Option<LogChunk>,
    timeline: Option<Box<Timeline>>,
    /// Whether there is a log or a timeline: whether single requests are recorded.
    records: bool,
    counters_before: Option<Counters>,
    /// Before the ramp.
    simulated_before: Simulated,
    lateness: Option<Recorder>,
    failures_in_a_row: u64,
    unreported: usize,
    next_ci_check: u64,
    relative_half_width: Option<f64>,
    last_completion: Nanos,
    barren_waits: u32,
    stop: Option<StopReason>,
    failure: Option<Failure>,
    dead: bool,
}

impl<'a> Session<'a> {
    /// A run on an idle device.
    pub fn new(
        device: &'a mut dyn Device,
        observer: &'a mut dyn RunObserver,
        goals: Goals,
    ) -> Result<Self, RunError> {
        if device.in_flight() > 0 {
            // What a device holds since it broke down never comes back; it says why.
            device.advance(device.now(), &mut Vec::new())?;
            let busy = crate::device::DeviceError::Busy(device.in_flight());
            return Err(RunError::Refused(busy.to_string()));
        }
        let info = device.info();
        let now = device.now();
        let timed_by_wall =
            info.clock == ClockKind::Wall && goals.latency_from == LatencyFrom::Arrival;
        let log = observer.wants_log().then(|| LogChunk::new(info.attribution));
        let timeline = observer.timeline();
        let timeline = timeline.map(|each| Timeline::new(each, info.clock, info.attribution));
        Ok(Self {
            clock: info.clock,
            now,
            flights: Vec::new(),
            in_flight: 0,
            issued: 0,
            measuring: false,
            deadline: Nanos::MAX,
            tally: Tally::new(info.attribution),
            flows: Vec::new(),
            records: log.is_some() || timeline.is_some(),
            log,
            timeline: timeline.map(Box::new),
            counters_before: None,
            simulated_before: device.counters().unwrap_or_default().simulated,
            lateness: timed_by_wall.then(Recorder::default),
            failures_in_a_row: 0,
            unreported: 0,
            next_ci_check: 0,
            relative_half_width: None,
            last_completion: now,
            barren_waits: 0,
            stop: None,
            failure: None,
            dead: false,
            device,
            observer,
            goals,
        })
    }

    /// Tells the device what will be written, if it wants to know; issues nothing if the observer
    /// calls it off meanwhile.
    ///
    /// # Errors
    /// As [`expect_writes`](super::expect_writes).
    pub fn expect_writes(
        &mut self,
        spans: impl FnOnce() -> Vec<Range<u64>>,
    ) -> Result<(), RunError> {
        if !super::expect_writes(self.device, spans, self.observer)? {
            self.stop(StopReason::Interrupted);
        }
        self.now = self.device.now();
        self.last_completion = self.now;
        Ok(())
    }

    /// The present on the device's clock, as of the last wait.
    #[inline]
    pub const fn now(&self) -> Nanos {
        self.now
    }

    /// Requests issued and not yet settled.
    #[inline]
    pub const fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Why nothing more may be issued, if so.
    #[inline]
    pub const fn stopped(&self) -> Option<StopReason> {
        self.stop
    }

    /// Issues nothing more.
    pub fn stop(&mut self, reason: StopReason) {
        self.stop.get_or_insert(reason);
    }

    /// Stops because of a failure; the first one is kept.
    pub fn break_off(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
        self.stop = Some(StopReason::Error);
    }

    /// Whether nothing may be issued at `due` any more.
    pub fn is_past_deadline(&self, due: Nanos) -> bool {
        due >= self.deadline
    }

    /// Makes room for slots 0 to `slots` - 1.
    pub fn reserve_slots(&mut self, slots: u32) {
        if self.flights.len() < slots as usize {
            self.flights.resize(slots as usize, IDLE);
        }
    }

    /// Hands a request to the device, now; its slot must be free.
    #[inline(always)]
    pub fn submit(&mut self, slot: u32, planned: &Planned) {
        if planned.measured && !self.measuring {
            self.start_measuring(planned.due);
        }
        if self.now >= self.deadline {
            self.stop(StopReason::Runtime);
            return;
        }
        let arrives = self.latency_from(planned.flow) == LatencyFrom::Arrival;
        if let Some(lateness) = self.lateness.as_mut().filter(|_| arrives) {
            self.now = self.device.now();
            lateness.record(self.now.saturating_sub(planned.due).0);
        }
        let &Planned { due, op, lba, sectors, fua, measured, flow } = planned;
        let queue = self.flows.get(usize::from(flow)).map_or_else(Queue::default, |of| of.queue);
        let request = Request { fua, queue, ..Request::new(u64::from(slot), op, lba, sectors) };
        if let Err(error) = self.device.submit(self.now, request) {
            self.break_off(error.into());
            return;
        }
        let index = self.issued;
        self.flights[slot as usize] =
            Flight { due, index, lba, sectors, op, flow, measured, busy: true };
        self.issued += 1;
        self.in_flight += 1;
    }

    #[cold]
    fn start_measuring(&mut self, due: Nanos) {
        self.measuring = true;
        self.counters_before = self.device.counters();
        let start = self.now.max(due);
        self.deadline = Nanos(start.0.saturating_add(self.goals.runtime.0));
        self.begin_timeline(due);
    }

    /// Lets time pass until completions come, which are put into the empty `batch` and
    /// must each be settled, or until `to`. On a wall clock it may
    /// return earlier with nothing, so that the observer is asked often enough.
    #[inline]
    pub fn wait(&mut self, to: Nanos, batch: &mut Vec<Completion>) {
        let until = match self.clock {
            ClockKind::Virtual => to,
            ClockKind::Wall => to.min(Nanos(self.now.0.saturating_add(LONGEST_WAIT.0))),
        };
        let before = self.now;
        if let Err(error) = self.device.advance(until, batch) {
            self.dead = true;
            self.break_off(error.into());
            return;
        }
        self.now = self.device.now();
        if batch.is_empty() {
            self.check_progress(before, until);
        } else {
            self.last_completion = self.now;
        }
        self.unreported += batch.len();
        if self.unreported >= REPORT_EVERY || self.clock == ClockKind::Wall {
            self.report();
        }
    }

    /// Lets time pass with nothing in flight.
    pub fn pause(&mut self, span: Nanos) {
        let end = Nanos(self.now.0.saturating_add(span.0).min(Nanos::MAX.0 - 1));
        let mut none = Vec::new();
        while self.now < end && self.stop.is_none() {
            self.wait(end, &mut none);
        }
    }

    /// Nothing came back: that is fine only while time passes.
    #[inline(never)]
    fn check_progress(&mut self, before: Nanos, until: Nanos) {
        if self.now > LATEST {
            self.break_off(Failure::TooLate { now_ns: self.now.0 });
            return;
        }
        let stuck = match self.clock {
            ClockKind::Virtual => self.now < until,
            ClockKind::Wall => {
                self.barren_waits = if self.now > before { 0 } else { self.barren_waits + 1 };
                let silence = self.now.saturating_sub(self.last_completion);
                self.barren_waits > MOST_BARREN_WAITS
                    || (self.in_flight > 0 && silence > LONGEST_SILENCE)
            }
        };
        if self.in_flight == 0 {
            self.last_completion = self.now;
        }
        if stuck {
            self.dead = true;
            self.break_off(Failure::Stalled {
                in_flight: self.in_flight,
                last_ns: self.last_completion.0,
                now_ns: self.now.0,
            });
        }
    }

    /// Adds up a completion; the slot it frees, unless the device made it up.
    #[inline(always)]
    pub fn settle(&mut self, completion: &Completion) -> Option<u32> {
        let Some(flight) = self.flights.get_mut(completion.id as usize).filter(|f| f.busy) else {
            self.break_off(Failure::UnknownCompletion(completion.id));
            return None;
        };
        flight.busy = false;
        let flight = *flight;
        self.in_flight -= 1;
        let since = match self.latency_from(flight.flow) {
            LatencyFrom::Submission => completion.submitted,
            LatencyFrom::Arrival => flight.due,
        };
        if flight.measured {
            self.tally.span(since, completion.completed);
        }
        match completion.outcome {
            Outcome::Done => {
                self.failures_in_a_row = 0;
                if flight.measured {
                    let Bytes(bytes) = flight.sectors.bytes();
                    let latency = completion.completed.saturating_sub(since);
                    self.tally.add(flight.op, bytes, latency, &completion.attribution);
                }
            }
            Outcome::Failed(errno) => self.count_failure(errno, flight.measured),
        }
        if flight.measured && !self.flows.is_empty() {
            self.count_in_flow(&flight, since, completion);
        }
        if flight.measured && self.records {
            self.record(&flight, since, completion);
        }
        Some(completion.id as u32)
    }

    /// From where the latencies of a flow count; of all, where there are none.
    #[inline]
    fn latency_from(&self, flow: u16) -> LatencyFrom {
        let flow = self.flows.get(usize::from(flow));
        flow.map_or(self.goals.latency_from, |flow| flow.latency_from)
    }

    #[cold]
    fn count_failure(&mut self, errno: i32, measured: bool) {
        self.tally.failed += u64::from(measured);
        self.failures_in_a_row += 1;
        if self.goals.gives_up && self.failures_in_a_row > MOST_FAILURES_IN_A_ROW {
            let in_a_row = self.failures_in_a_row;
            self.break_off(Failure::TooManyFailures { in_a_row, errno });
        }
    }
}
