//! A synthetic workload as a source for the closed loop.

use super::ahead;
use super::closed::{self, Slots};
use super::flows;
use super::pace::Pace;
use super::session::{Goals, Session};
use super::source::{Next, Planned, Source};
use super::{RunError, RunObserver};
use crate::arrivals::Arrival;
use crate::device::Device;
use crate::generator::{Exhausted, Generated, Generator};
use crate::pauses::Turn;
use crate::request::Op;
use crate::summary::{RunSummary, StopReason};
use crate::units::Nanos;
use crate::workload::{Plan, Workload};

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
    if jobs.jobs.iter().any(|job| job.pace.is_some()) {
        closed::drive(session, &mut jobs, slots)
    } else {
        closed::drive(session, &mut AtOnce(jobs), slots)
    }
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

/// A job: what it asks, and when it may ask next if that is not at once.
struct Job {
    generator: Generator,
    pace: Option<Box<Pace>>,
}

/// All jobs of a workload, one per lane.
pub(super) struct Jobs {
    jobs: Vec<Job>,
    ramp_ends: Nanos,
    fua: bool,
}

impl Jobs {
    pub fn new(plan: &Plan, start: Nanos) -> Self {
        let start = start + Nanos(plan.workload.start_delay_ns);
        let job = |number| Job {
            generator: Generator::new(plan, number),
            pace: Pace::of(plan, number, start).map(Box::new),
        };
        Self {
            jobs: (0..plan.workload.numjobs).map(job).collect(),
            ramp_ends: Nanos(start.0.saturating_add(plan.ramp.0)),
            fua: plan.workload.fua,
        }
    }
}

impl Source for Jobs {
    fn next(&mut self, lane: u32, free_at: Nanos) -> Next {
        let Job { generator, pace } = &mut self.jobs[lane as usize];
        let Some(pace) = pace else { return self.at_once(lane, free_at) };
        let turn = pace.free(free_at);
        paced(generator, pace, turn, self.ramp_ends, self.fua)
    }

    fn resume(&mut self, lane: u32, free_at: Nanos) -> Next {
        let Job { generator, pace: Some(pace) } = &mut self.jobs[lane as usize] else {
            return self.next(lane, free_at);
        };
        let turn = pace.release(free_at);
        paced(generator, pace, turn, self.ramp_ends, self.fua)
    }
}

impl Jobs {
    #[inline(always)]
    fn at_once(&mut self, lane: u32, free_at: Nanos) -> Next {
        let generator = &mut self.jobs[lane as usize].generator;
        if free_at >= self.ramp_ends {
            generator.end_ramp();
        }
        match generator.next_request() {
            Ok(request) => Next::Request(planned(&request, free_at, self.fua)),
            Err(limit) => ended(limit),
        }
    }
}

/// Jobs without a pace: nothing is looked up for a request.
struct AtOnce(Jobs);

impl Source for AtOnce {
    #[inline(always)]
    fn next(&mut self, lane: u32, free_at: Nanos) -> Next {
        self.0.at_once(lane, free_at)
    }
}

/// The next request of a job that does not ask at once.
fn paced(
    generator: &mut Generator,
    pace: &mut Pace,
    turn: Turn,
    ramp_ends: Nanos,
    fua: bool,
) -> Next {
    let Turn::At(free_at) = turn else { return Next::Hold };
    let free_at = free_at.max(pace.start);
    if free_at >= ramp_ends {
        generator.end_ramp();
    }
    match pace.ask(generator, free_at) {
        Ok((request, due)) => Next::Request(planned(&request, due, fua)),
        Err(limit) => ended(limit),
    }
}

#[inline(always)]
fn planned(request: &Generated, due: Nanos, fua: bool) -> Planned {
    Planned {
        due,
        op: request.op,
        lba: request.lba,
        sectors: request.sectors,
        fua: fua && request.op == Op::Write,
        measured: request.measured,
        flow: 0,
    }
}

const fn ended(limit: Exhausted) -> Next {
    match limit {
        Exhausted::Requests => Next::End(StopReason::Requests),
        Exhausted::Bytes => Next::End(StopReason::Bytes),
    }
}
