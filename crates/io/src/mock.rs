//! A drive for tests whose every latency is known beforehand.
//!
//! `servers` requests are served at a time, first come, first served; each takes
//! a constant plus a time per byte.

use crate::attribution::{Attribution, Cause};
use crate::caches::Caches;
use crate::counters::Counters;
use crate::device::{
    ClockKind, Device, DeviceError, DeviceInfo, DeviceKind, Queues, Snapshot, check_request,
};
use crate::request::{Completion, Op, Outcome, Request};
use crate::units::Nanos;
use std::ops::Range;
use std::sync::Arc;

/// What goes wrong, for tests of bad drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// Every n-th request fails with EIO.
    FailEvery(u64),
    /// From this request on nothing ever completes.
    SwallowFrom(u64),
    /// The device as a whole fails at this request.
    BreakAt(u64),
    /// Completes what was never asked.
    Invent,
}

/// The drive. Cloning forks it.
#[derive(Clone, Debug)]
pub struct MockDevice {
    pub info: DeviceInfo,
    pub queues: Queues,
    pub base_ns: u64,
    pub ns_per_byte: u64,
    pub fault: Fault,
    /// Every request that was submitted, in order, with its instant.
    pub seen: Vec<(Nanos, Request)>,
    /// What it heard that would be written, if it wants to; a write of anything else is a defect.
    pub expected: Option<Vec<Range<u64>>>,
    now: Nanos,
    servers: Vec<Nanos>,
    pending: Vec<Completion>,
    counters: Counters,
}

impl MockDevice {
    pub fn new(servers: usize, base_ns: u64, ns_per_byte: u64) -> Self {
        Self {
            info: DeviceInfo {
                kind: DeviceKind::Simulated,
                capacity_bytes: 1 << 30,
                logical_block_bytes: 512,
                clock: ClockKind::Virtual,
                writable: true,
                discard: true,
                attribution: true,
                snapshot: true,
                caches: Caches::ABSENT,
            },
            queues: Queues::default(),
            base_ns,
            ns_per_byte,
            fault: Fault::None,
            seen: Vec::new(),
            expected: None,
            now: Nanos::ZERO,
            servers: vec![Nanos::ZERO; servers],
            pending: Vec::new(),
            counters: Counters::default(),
        }
    }

    fn serve(&mut self, now: Nanos, request: &Request) -> Completion {
        let server = self.servers.iter_mut().min().expect("at least one server");
        let begin = (*server).max(now);
        let service = Nanos(self.base_ns + self.ns_per_byte * request.bytes().0);
        *server = begin + service;
        let mut attribution = Attribution::ZERO;
        attribution[Cause::DieWait] = (begin - now).0;
        attribution[Cause::Nand] = service.0;
        let count = self.seen.len() as u64;
        let failed = matches!(self.fault, Fault::FailEvery(n) if count.is_multiple_of(n));
        Completion {
            id: request.id + if self.fault == Fault::Invent { 1_000 } else { 0 },
            submitted: now,
            completed: begin + service,
            outcome: if failed { Outcome::Failed(5) } else { Outcome::Done },
            attribution,
        }
    }
}

impl Device for MockDevice {
    fn info(&self) -> DeviceInfo {
        self.info.clone()
    }

    fn queues(&self) -> Queues {
        self.queues
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn submit(&mut self, now: Nanos, request: Request) -> Result<(), DeviceError> {
        check_request(&self.info, &request)?;
        assert!(now >= self.now, "submitted in the past: {now} after {}", self.now);
        self.seen.push((now, request));
        let loses = matches!(request.op, Op::Write | Op::Discard | Op::WriteZeroes);
        if let Some(expected) = self.expected.as_ref().filter(|_| loses) {
            let (start, end) = (request.lba.byte_offset().0, request.end().byte_offset().0);
            let covers = |span: &Range<u64>| span.start <= start && end <= span.end;
            assert!(expected.iter().any(covers), "nobody said that {request:?} comes");
        }
        let count = self.seen.len() as u64;
        if self.fault == Fault::BreakAt(count) {
            return Err(DeviceError::Stuck("plane 3 is full".to_owned()));
        }
        match request.op {
            Op::Read => self.counters.host_bytes_read += request.bytes().0,
            Op::Write => self.counters.host_bytes_written += request.bytes().0,
            Op::Flush | Op::Discard | Op::WriteZeroes => {}
        }
        let mut completion = self.serve(now, &request);
        if matches!(self.fault, Fault::SwallowFrom(first) if count >= first) {
            completion.completed = Nanos::MAX;
        }
        self.pending.push(completion);
        Ok(())
    }

    fn next_event(&self) -> Option<Nanos> {
        let next = self.pending.iter().map(|completion| completion.completed).min();
        next.filter(|&instant| instant < Nanos::MAX)
    }

    fn advance(&mut self, to: Nanos, completions: &mut Vec<Completion>) -> Result<(), DeviceError> {
        match self.next_event() {
            Some(instant) if instant <= to => {
                self.now = instant;
                completions.extend(self.pending.iter().filter(|one| one.completed == instant));
                self.pending.retain(|one| one.completed != instant);
            }
            _ if to == Nanos::MAX => {}
            _ => self.now = to,
        }
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.pending.len()
    }

    fn vets_writes(&self) -> bool {
        self.expected.is_some()
    }

    fn expect_writes(
        &mut self,
        spans: &[Range<u64>],
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<bool, DeviceError> {
        self.expected.get_or_insert_default().extend_from_slice(spans);
        Ok(go_on(1.0))
    }

    fn counters(&mut self) -> Option<Counters> {
        Some(self.counters.clone())
    }

    fn snapshot(&self) -> Option<Snapshot> {
        Some(Snapshot(Arc::new(self.clone())))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), DeviceError> {
        let state = snapshot.0.downcast_ref::<Self>();
        *self = state.ok_or(DeviceError::Unsupported("another device's snapshot"))?.clone();
        Ok(())
    }

    fn fork(&self) -> Option<Box<dyn Device>> {
        Some(Box::new(self.clone()))
    }
}
