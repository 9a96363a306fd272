//! When a job may ask, where that is not as soon as it has been served: from its start on, at its
//! rates, after its pauses.

use crate::arrivals::{Arrival, Arrivals};
use crate::generator::{Exhausted, Generated, Generator};
use crate::pauses::{Pauses, Turn};
use crate::request::Op;
use crate::rng::Stream;
use crate::units::{Nanos, SECTOR_BYTES};
use crate::workload::{LONGEST_SPAN, Plan, Workload};

/// What a job waits for.
pub(super) struct Pace {
    /// Nothing is asked before.
    pub start: Nanos,
    pauses: Option<Pauses>,
    arrivals: Option<Arrivals>,
    budgets: Option<Budgets>,
    mixed: bool,
}

impl Pace {
    /// That of a job that begins at `start`; `None` if it asks at once, always.
    pub fn of(plan: &Plan, number: u64, start: Nanos) -> Option<Self> {
        let full = &plan.workload;
        let arrivals = full.rate_iops.map(|rate_iops| match full.arrival {
            Arrival::Closed | Arrival::Fixed => Arrivals::even(rate_iops),
            Arrival::Poisson => {
                let stream = Stream::new(full.seed, &format!("job{number}/arrivals"));
                Arrivals::poisson(rate_iops, stream)
            }
        });
        let (pauses, budgets) = (Pauses::of(full), Budgets::of(full));
        let waits =
            full.start_delay_ns > 0 || pauses.is_some() || arrivals.is_some() || budgets.is_some();
        let mixed = plan.read_percent > 0 && plan.read_percent < 100;
        waits.then_some(Self { start, pauses, arrivals, budgets, mixed })
    }

    /// A place of the queue is free from `free_at` on: its first time, or since it was served.
    pub fn free(&mut self, free_at: Nanos) -> Turn {
        self.pauses.as_mut().map_or(Turn::At(free_at), |pauses| pauses.free(free_at))
    }

    /// A place that was held may ask again.
    pub fn release(&mut self, free_at: Nanos) -> Turn {
        self.pauses.as_mut().map_or(Turn::At(free_at), |pauses| pauses.release(free_at))
    }

    /// The next request from `free_at` on, and when it is due.
    pub fn ask(
        &mut self,
        generator: &mut Generator,
        free_at: Nanos,
    ) -> Result<(Generated, Nanos), Exhausted> {
        let mut due = free_at;
        let request = match &self.budgets {
            Some(budgets) if self.mixed => {
                let since = due.saturating_sub(self.start);
                generator.next_turned(|is_read| budgets.turn(is_read, since))?
            }
            _ => generator.next_request()?,
        };
        let is_flush = request.op == Op::Flush;
        if let Some(arrivals) = self.arrivals.as_mut().filter(|_| !is_flush) {
            due = due.max(self.start + arrivals.next_time());
        }
        if let Some(budgets) = self.budgets.as_mut().filter(|_| !is_flush) {
            let bytes = request.sectors.0 * SECTOR_BYTES;
            due = due.max(self.start + budgets.next_time(request.op == Op::Read, bytes));
        }
        if let Some(pauses) = &mut self.pauses {
            pauses.asked(is_flush);
        }
        Ok((request, due))
    }
}

/// Bytes per second of reads and of writes, each at its own pace, as fio's `rate`: in a mix a
/// direction that is ahead of its rate leaves its turn to the other one.
#[derive(Clone, Copy)]
struct Budgets {
    /// Of reads, then of writes; `None` = no limit.
    rates: [Option<u64>; 2],
    /// Bytes so far.
    bytes: [u64; 2],
}

impl Budgets {
    fn of(full: &Workload) -> Option<Self> {
        let rates = [full.read_rate_bytes, full.write_rate_bytes];
        rates.iter().any(Option::is_some).then_some(Self { rates, bytes: [0; 2] })
    }

    /// When the next read or write may start: once all before it have had their time.
    fn due(&self, is_read: bool) -> Nanos {
        let direction = usize::from(!is_read);
        let Some(rate) = self.rates[direction] else { return Nanos::ZERO };
        let wait = u128::from(self.bytes[direction]) * 1_000_000_000 / u128::from(rate);
        Nanos(u64::try_from(wait).unwrap_or(LONGEST_SPAN.0).min(LONGEST_SPAN.0))
    }

    /// The same, for a request that is made then.
    fn next_time(&mut self, is_read: bool, bytes: u64) -> Nanos {
        let due = self.due(is_read);
        let so_far = &mut self.bytes[usize::from(!is_read)];
        *so_far = so_far.saturating_add(bytes);
        due
    }

    /// Whether it is a read's turn, so long after the start, if a read, or else a write, was drawn.
    fn turn(&self, drew_read: bool, now: Nanos) -> bool {
        let (own, other) = (self.due(drew_read), self.due(!drew_read));
        if own <= now || own <= other { drew_read } else { !drew_read }
    }
}
