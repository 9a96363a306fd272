//! What spoils measurements, around any drive: the table `[disturbance]`.
//!
//! * here: [`Disturbed`], a drive with a drive inside;
//! * `noise`: how long completions are held back;
//! * `foreign`: the requests of another user;
//! * `faults`: requests that fail.
//!
//! The drive inside never runs ahead of the host: it is advanced to the next instant at
//! which a completion is handed out that was held back, or at which the other user asks.
//! What a completion is held back counts as `firmware`, so that the parts still sum up.

mod faults;
mod foreign;
mod noise;

use crate::config::Disturbance;
use crate::slab::Slab;
use faults::{Fate, Faults};
use foreign::Foreign;
use noise::Noise;
use ssdscope_io::device::check_request;
use ssdscope_io::{
    Attribution, Cache, Cause, Completion, Counters, Device, DeviceError, DeviceInfo, Moved, Nanos,
    Op, Outcome, Queues, Request, Snapshot, Upkeep,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// While a request of the host has been in the drive for so long, the other user does not
/// ask: a drive that can make no progress comes to rest, and says so.
const PATIENCE_NS: u64 = 10_000_000_000;

/// Whose request it is that the drive inside has.
#[derive(Clone, Copy, Debug)]
enum Flight {
    /// The host's, under its own number; with an errno it fails in the end.
    Host { id: u64, errno: Option<i32> },
    /// The other user's.
    Foreign(Op),
}

/// All that changes but the drive inside.
#[derive(Clone, Debug)]
struct State {
    noise: Noise,
    foreign: Option<Foreign>,
    faults: Faults,
    /// By the number under which the drive inside knows them.
    flights: Slab<Flight>,
    /// Of those, the host's.
    inside: usize,
    /// When the host was last answered by the drive inside, or asked.
    heard_ns: u64,
    /// Completions by the instant at which the host sees them, then as they came.
    held: BTreeMap<(u64, u64), Completion>,
    sequence: u64,
}

/// A drive whose completions are held back, that others use too, or that fails.
pub struct Disturbed {
    inner: Box<dyn Device>,
    state: State,
    /// Kept for its allocation.
    batch: Vec<Completion>,
}

/// A state to return to.
struct Saved {
    inner: Snapshot,
    state: State,
}

impl Disturbed {
    /// `inner`, disturbed as `config` says.
    #[must_use]
    pub fn new(inner: Box<dyn Device>, config: &Disturbance, seed: u64) -> Self {
        let state = State {
            noise: Noise::new(config, seed),
            foreign: Foreign::new(config, inner.info().capacity_bytes, seed),
            faults: Faults::new(config),
            flights: Slab::default(),
            inside: 0,
            heard_ns: 0,
            held: BTreeMap::new(),
            sequence: 0,
        };
        Self { inner, state, batch: Vec::new() }
    }

    /// Lets the drive inside run to `to`, or until it completes something; whether it did.
    fn run(&mut self, to: Nanos) -> Result<bool, DeviceError> {
        self.inner.advance(to, &mut self.batch)?;
        for completion in &self.batch {
            self.state.settle(completion);
        }
        let any = !self.batch.is_empty();
        self.batch.clear();
        Ok(any)
    }

    /// Hands in what the other user asks until `now`; whether there was anything.
    fn ask_foreign(&mut self, now: Nanos) -> Result<bool, DeviceError> {
        let mut any = false;
        while let Some((at, request)) = self.state.next_foreign(self.inner.now(), now) {
            self.inner.submit(at, request)?;
            any = true;
        }
        Ok(any)
    }

    /// Waits for what the other user has under way, and lets nothing more in.
    fn wait_for_foreign(&mut self) -> Result<(), DeviceError> {
        while self.inner.in_flight() > 0 {
            if !self.run(Nanos::MAX)? {
                return Err(DeviceError::Busy(self.inner.in_flight()));
            }
        }
        Ok(())
    }
}

impl State {
    /// When something of ours happens next.
    fn next_ns(&self) -> u64 {
        let held_ns = self.held.first_key_value().map_or(u64::MAX, |(&(due_ns, _), _)| due_ns);
        held_ns.min(self.next_foreign_ns())
    }

    fn next_foreign_ns(&self) -> u64 {
        let asks = self.foreign.as_ref().filter(|_| !self.faults.gone());
        let next_ns = asks.map_or(u64::MAX, Foreign::next_ns);
        let waits = self.inside > 0 && next_ns > self.heard_ns.saturating_add(PATIENCE_NS);
        if waits { u64::MAX } else { next_ns }
    }

    /// The other user's next request until `now`, and when it arrives. What would have
    /// arrived before `since`, while nothing was let in, is left out.
    fn next_foreign(&mut self, since: Nanos, now: Nanos) -> Option<(Nanos, Request)> {
        loop {
            let at_ns = self.next_foreign_ns();
            if at_ns > now.0 {
                return None;
            }
            let user = self.foreign.as_mut()?;
            if at_ns < since.0 {
                user.skip_to(since.0);
                continue;
            }
            let slot = self.flights.insert(Flight::Foreign(Op::Read));
            match user.ask(slot.into()) {
                Some(request) => {
                    self.flights[slot] = Flight::Foreign(request.op);
                    return Some((Nanos(at_ns), request));
                }
                None => self.flights.remove(slot),
            }
        }
    }

    /// The drive inside is done with a request.
    fn settle(&mut self, served: &Completion) {
        let slot = served.id as u32;
        let flight = self.flights[slot];
        self.flights.remove(slot);
        match flight {
            Flight::Foreign(op) => {
                if let Some(user) = &mut self.foreign {
                    user.answered(op);
                }
            }
            Flight::Host { id, errno } => {
                self.inside -= 1;
                self.heard_ns = served.completed.0;
                let held_ns = self.noise.held_ns(served.latency().0, served.completed.0);
                let outcome = errno.map_or(served.outcome, Outcome::Failed);
                self.hold(Completion { id, outcome, ..*served }, held_ns);
            }
        }
    }

    /// Keeps a completion for so long.
    fn hold(&mut self, mut completion: Completion, ns: u64) {
        completion.completed += Nanos(ns);
        completion.attribution[Cause::Firmware] += ns;
        self.held.insert((completion.completed.0, self.sequence), completion);
        self.sequence += 1;
    }

    /// Gives out what is due.
    fn deliver(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        while let Some(first) = self.held.first_entry()
            && first.key().0 <= now.0
        {
            completions.push(first.remove());
        }
    }
}

impl Device for Disturbed {
    fn info(&self) -> DeviceInfo {
        self.inner.info()
    }

    fn queues(&self) -> Queues {
        self.inner.queues()
    }

    fn now(&self) -> Nanos {
        self.inner.now()
    }

    fn submit(&mut self, now: Nanos, request: Request) -> Result<(), DeviceError> {
        check_request(&self.inner.info(), &request)?;
        let now = now.max(self.inner.now());
        self.ask_foreign(now)?;
        let errno = match self.state.faults.judge(&request) {
            Fate::Served => None,
            Fate::Fails(errno) => Some(errno),
            Fate::Answered(outcome, ns) => {
                let completion = Completion {
                    id: request.id,
                    submitted: now,
                    completed: now,
                    outcome,
                    attribution: Attribution::ZERO,
                };
                self.state.hold(completion, ns);
                return Ok(());
            }
        };
        let slot = self.state.flights.insert(Flight::Host { id: request.id, errno });
        self.state.inside += 1;
        self.state.heard_ns = now.0;
        self.inner.submit(now, Request { id: slot.into(), ..request })
    }

    fn next_event(&self) -> Option<Nanos> {
        let ours = Some(Nanos(self.state.next_ns())).filter(|&at| at < Nanos::MAX);
        let theirs = self.inner.next_event();
        ours.into_iter().chain(theirs).min()
    }

    fn advance(&mut self, to: Nanos, completions: &mut Vec<Completion>) -> Result<(), DeviceError> {
        if to == Nanos::MAX && self.in_flight() == 0 {
            return Ok(());
        }
        let before = completions.len();
        loop {
            let until = to.min(Nanos(self.state.next_ns()));
            let served = self.run(until)?;
            let now = self.inner.now();
            let asked = self.ask_foreign(now)?;
            self.state.deliver(now, completions);
            // What was asked at this instant may still begin at it.
            let at_end = now >= to && !served && !asked;
            // A drive that neither answers nor lets time pass is for the caller to judge.
            let stands_still = !served && now < until;
            if completions.len() > before || at_end || stands_still {
                return Ok(());
            }
        }
    }

    fn in_flight(&self) -> usize {
        self.state.inside + self.state.held.len()
    }

    fn set_cache(&mut self, cache: Cache, on: bool) -> Result<(), DeviceError> {
        if self.in_flight() > 0 {
            return Err(DeviceError::Busy(self.in_flight()));
        }
        if !self.info().caches.would_change(cache, on)? {
            return Ok(());
        }
        if self.state.faults.gone() {
            let context = "switching a cache".to_owned();
            return Err(DeviceError::Os { context, reason: "the drive is gone".to_owned() });
        }
        self.wait_for_foreign()?;
        self.inner.set_cache(cache, on)
    }

    fn counters(&mut self) -> Option<Counters> {
        self.inner.counters()
    }

    fn upkeep(&self) -> Option<Upkeep> {
        self.inner.upkeep()
    }

    fn foreign_bytes(&self) -> Option<Moved> {
        Some(self.state.foreign.as_ref().map_or_else(Moved::default, Foreign::moved))
    }

    fn snapshot(&self) -> Option<Snapshot> {
        let inner = self.inner.snapshot()?;
        Some(Snapshot(Arc::new(Saved { inner, state: self.state.clone() })))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), DeviceError> {
        let Some(saved) = snapshot.0.downcast_ref::<Saved>() else {
            return Err(DeviceError::Unsupported("restoring a snapshot of another drive"));
        };
        self.inner.restore(&saved.inner)?;
        self.state.clone_from(&saved.state);
        Ok(())
    }

    fn fork(&self) -> Option<Box<dyn Device>> {
        let inner = self.inner.fork()?;
        Some(Box::new(Self { inner, state: self.state.clone(), batch: Vec::new() }))
    }
}
