//! A synthetic workload as a source for the closed loop.

use super::ahead;
use super::closed::{self, Slots};
use super::flows;
use super::session::{Goals, Session};
use super::source::{Next, Planned, Source};
use super::{RunError, RunObserver};
use crate::arrivals::{Arrival, Arrivals};
use crate::device::Device;
use crate::generator::{Exhausted, Generator};
use crate::pauses::{Pauses, Turn};
use crate::request::Op;
use crate::rng::Stream;
use crate::summary::{RunSummary, StopReason};
use crate::units::{Nanos, SECTOR_BYTES};
use crate::workload::{LONGEST_SPAN, Plan, Workload};

/// Runs a workload to its end.
///
/// Each job keeps `iodepth` requests in flight (unless its requests arrive by themselves,
/// [`Arrival`]); what replaces a completed one is
/// issued at the completion, after the think time, and no earlier than the rate
/// allows. The ramp's requests are issued alike and counted nowhere.
///
/// # Errors
/// [`RunError::Workload`] with every fault if the device cannot serve the workload;
/// [`RunError::Broken`] with what was measured if the device fails on the way.
pub fn run_workload(
    device: &mut dyn Device,
    workload: &Workload,
    observer: &mut dyn RunObserver,
) -> Result<RunSummary, RunError> {
    let plan = workload.plan(&device.info())?;
    let mut session = Session::new(device, observer, goals(&plan))?;
    session.expect_writes(|| ahead::of_plans([&plan].into_iter()))?;
    let full = &plan.workload;
    let reason = if full.arrival == Arrival::Closed {
        closed_loop(&mut session, &plan)
    } else {
        flows::drive(&mut session, &[&plan], false)
    };
    match session.finish(reason) {
        Ok(mut summary) => {
            summary.workload = Some(plan.workload);
            Ok(summary)
        }
        Err(RunError::Broken { failure, mut partial }) => {
            partial.workload = Some(plan.workload);
            Err(RunError::Broken { failure, partial })
        }
        Err(refused) => Err(refused),
    }
}

fn closed_loop(session: &mut Session<'_>, plan: &Plan) -> StopReason {
    let full = &plan.workload;
    let slots = Slots {
        lanes: full.numjobs as u32,
        depth: full.iodepth as u32,
        think: Nanos::ZERO, // the jobs pause themselves
    };
    let mut jobs = Jobs::new(plan, session.now());
    closed::drive(session, &mut jobs, slots)
}

fn goals(plan: &Plan) -> Goals {
    let full = &plan.workload;
    let ops = [(Op::Read, plan.read_percent > 0), (Op::Write, plan.read_percent < 100)];
    let ops = ops.into_iter().filter_map(|(op, used)| used.then_some(op)).collect();
    Goals {
        runtime: plan.runtime,
        requests: full.requests.map(|requests| requests.saturating_mul(full.numjobs)),
        bytes: full.io_bytes.map(|bytes| bytes.saturating_mul(full.numjobs)),
        until_ci: full.until_ci.map(|share| (share, ops)),
        ..Goals::until_the_end(flows::latency_from(plan))
    }
}

/// A job: what it asks, and when it may ask next.
struct Job {
    generator: Generator,
    pauses: Option<Pauses>,
    arrivals: Option<Arrivals>,
    budgets: Option<Budgets>,
    mixed: bool,
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

impl Job {
    fn new(plan: &Plan, number: u64) -> Self {
        let full = &plan.workload;
        let arrivals = full.rate_iops.map(|rate_iops| match full.arrival {
            Arrival::Closed | Arrival::Fixed => Arrivals::even(rate_iops),
            Arrival::Poisson => {
                let stream = Stream::new(full.seed, &format!("job{number}/arrivals"));
                Arrivals::poisson(rate_iops, stream)
            }
        });
        let (pauses, budgets) = (Pauses::of(full), Budgets::of(full));
        let mixed = plan.read_percent > 0 && plan.read_percent < 100;
        Self { generator: Generator::new(plan, number), pauses, arrivals, budgets, mixed }
    }
}

/// All jobs of a workload, one per lane.
pub(super) struct Jobs {
    jobs: Vec<Job>,
    start: Nanos,
    ramp_ends: Nanos,
    fua: bool,
}

impl Jobs {
    pub fn new(plan: &Plan, start: Nanos) -> Self {
        let job = |number| Job::new(plan, number);
        let start = start + Nanos(plan.workload.start_delay_ns);
        Self {
            jobs: (0..plan.workload.numjobs).map(job).collect(),
            start,
            ramp_ends: Nanos(start.0.saturating_add(plan.ramp.0)),
            fua: plan.workload.fua,
        }
    }
}

impl Source for Jobs {
    #[inline(always)]
    fn next(&mut self, lane: u32, free_at: Nanos) -> Next {
        match &mut self.jobs[lane as usize].pauses {
            None => self.plan(lane, free_at),
            Some(pauses) => match pauses.free(free_at) {
                Turn::At(free_at) => self.plan(lane, free_at),
                Turn::Drained => Next::Hold,
            },
        }
    }

    #[inline(never)]
    fn resume(&mut self, lane: u32, free_at: Nanos) -> Next {
        match self.jobs[lane as usize].pauses.as_mut().map(|pauses| pauses.release(free_at)) {
            Some(Turn::Drained) => Next::Hold,
            Some(Turn::At(free_at)) => self.plan(lane, free_at),
            None => self.plan(lane, free_at),
        }
    }
}

impl Jobs {
    #[inline(always)]
    fn plan(&mut self, lane: u32, free_at: Nanos) -> Next {
        let job = &mut self.jobs[lane as usize];
        let free_at = free_at.max(self.start);
        if free_at >= self.ramp_ends {
            job.generator.end_ramp();
        }
        let made = match &job.budgets {
            Some(budgets) if job.mixed => {
                let since = free_at.saturating_sub(self.start);
                job.generator.next_turned(|is_read| budgets.turn(is_read, since))
            }
            _ => job.generator.next_request(),
        };
        let request = match made {
            Ok(request) => request,
            Err(Exhausted::Requests) => return Next::End(StopReason::Requests),
            Err(Exhausted::Bytes) => return Next::End(StopReason::Bytes),
        };
        let mut due = free_at;
        if let Some(arrivals) = &mut job.arrivals
            && request.op != Op::Flush
        {
            due = due.max(self.start + arrivals.next_time());
        }
        if let Some(budgets) = &mut job.budgets
            && request.op != Op::Flush
        {
            let bytes = request.sectors.0 * SECTOR_BYTES;
            due = due.max(self.start + budgets.next_time(request.op == Op::Read, bytes));
        }
        if let Some(pauses) = &mut job.pauses {
            pauses.asked(request.op == Op::Flush);
        }
        Next::Request(Planned {
            due,
            op: request.op,
            lba: request.lba,
            sectors: request.sectors,
            fua: self.fua && request.op == Op::Write,
            measured: request.measured,
            flow: 0,
        })
    }
}
