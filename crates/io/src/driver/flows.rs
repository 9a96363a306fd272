//! Several flows in one virtual or real time: closed ones, each with its slots, and open
//! ones, whose requests come at their arrivals whatever has been served.

use super::session::{FlowOfRun, Goals, Session};
use super::source::{Next, Planned, Source};
use super::synthetic::Jobs;
use super::{Failure, RunError, RunObserver, ahead, turns};
use crate::arrivals::Arrival;
use crate::device::Device;
use crate::flow::{FlowPlan, Flows};
use crate::summary::{LatencyFrom, RunSummary, StopReason};
use crate::units::Nanos;
use crate::workload::Plan;
use std::collections::BTreeMap;

/// Runs several workloads at the same time, each through its queue; the summary has the
/// statistics of each in [`RunSummary::flows`], and of all together. The log says which flow
/// a request belongs to, if there are several.
///
/// # Errors
/// [`RunError::Flows`] with every fault if the device cannot serve them; otherwise as
/// [`run_workload`](super::run_workload).
pub fn run_flows(
    device: &mut dyn Device,
    flows: &Flows,
    observer: &mut dyn RunObserver,
) -> Result<RunSummary, RunError> {
    let plans = flows.plan(&device.info(), device.queues())?;
    let from = plans.iter().map(|flow| latency_from(&flow.plan));
    let all_arrive = from.clone().all(|from| from == LatencyFrom::Arrival);
    let total_from = if all_arrive { LatencyFrom::Arrival } else { LatencyFrom::Submission };
    let in_turn = flows.in_turn();
    let shortest = plans.iter().map(|flow| flow.plan.runtime).min();
    let goals = Goals {
        requests: sum(&plans, |plan| plan.workload.requests),
        bytes: sum(&plans, |plan| plan.workload.io_bytes),
        runtime: shortest.filter(|_| in_turn).unwrap_or(Nanos::MAX),
        ..Goals::until_the_end(total_from)
    };
    let mut session = Session::new(device, observer, goals)?;
    session.expect_writes(|| ahead::of_plans(plans.iter().map(|flow| &flow.plan)))?;
    session.tell_flows(plans.iter().zip(from).map(|(flow, from)| FlowOfRun::new(flow, from)));
    if in_turn {
        let reason = turns::drive(&mut session, &plans);
        return session.finish(reason);
    }
    let plans: Vec<&Plan> = plans.iter().map(|flow| &flow.plan).collect();
    let reason = drive(&mut session, &plans, flows.exit_all);
    session.finish(reason)
}

/// What all flows together will do, if each says how much.
fn sum(plans: &[FlowPlan], of: impl Fn(&Plan) -> Option<u64>) -> Option<u64> {
    let each = |flow: &FlowPlan| Some(of(&flow.plan)?.saturating_mul(flow.plan.workload.numjobs));
    plans.iter().map(each).reduce(|one, other| Some(one?.saturating_add(other?))).flatten()
}

/// From where the latencies of a workload count.
pub(super) const fn latency_from(plan: &Plan) -> LatencyFrom {
    match plan.workload.arrival {
        Arrival::Closed => LatencyFrom::Submission,
        Arrival::Fixed | Arrival::Poisson => LatencyFrom::Arrival,
    }
}

/// Runs the flows until all have ended or the session stops; why.
pub(super) fn drive(session: &mut Session<'_>, plans: &[&Plan], exit_all: bool) -> StopReason {
    let start = session.now();
    let mut run = Run {
        flows: plans.iter().map(|plan| Runner::new(plan, start)).collect(),
        owners: Vec::new(),
        free: Vec::new(),
        waiting: BTreeMap::new(),
        held: Vec::new(),
        asked: 0,
        exit_all,
    };
    run.begin(session);
    let mut batch = Vec::new();
    while session.stopped().is_none() && (session.in_flight() > 0 || !run.waiting.is_empty()) {
        let to = run.waiting.first_key_value().map_or(Nanos::MAX, |(&(due, _), _)| due);
        session.wait(to, &mut batch);
        for completion in &batch {
            if let Some(slot) = session.settle(completion) {
                run.served(session, slot, completion.completed);
            }
        }
        batch.clear();
        run.issue_due(session);
    }
    run.reason()
}

/// A flow under way.
struct Runner {
    jobs: Jobs,
    lanes: u32,
    depth: u32,
    open: bool,
    runtime: Nanos,
    /// When it makes no more requests; known from its first that counts.
    deadline: Option<Nanos>,
    end: Option<StopReason>,
}

impl Runner {
    fn new(plan: &Plan, start: Nanos) -> Self {
        let full = &plan.workload;
        Self {
            jobs: Jobs::new(plan, start),
            lanes: full.numjobs as u32,
            depth: full.iodepth as u32,
            open: full.arrival != Arrival::Closed,
            runtime: plan.runtime,
            deadline: None,
            end: None,
        }
    }
}

/// Who a slot works for.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Owner {
    flow: u16,
    lane: u32,
}

/// A request whose time has not come. In an open flow it has no slot yet.
struct Waiting {
    owner: Owner,
    slot: Option<u32>,
    planned: Planned,
}

struct Run {
    flows: Vec<Runner>,
    owners: Vec<Owner>,
    /// Slots of open flows that nobody uses.
    free: Vec<u32>,
    /// By due time, and then in the order in which they were planned.
    waiting: BTreeMap<(Nanos, u64), Waiting>,
    /// Slots whose jobs wait until all of theirs was served.
    held: Vec<u32>,
    asked: u64,
    exit_all: bool,
}

impl Run {
    fn begin(&mut self, session: &mut Session<'_>) {
        for flow in 0..self.flows.len() {
            let Runner { lanes, depth, open, .. } = self.flows[flow];
            let slots = if open { lanes } else { lanes * depth };
            for number in 0..slots {
                let owner = Owner { flow: flow as u16, lane: number % lanes };
                let slot = (!open).then(|| self.new_slot(session, owner));
                self.plan(session, owner, slot, session.now());
            }
        }
        self.issue_due(session);
    }

    fn new_slot(&mut self, session: &mut Session<'_>, owner: Owner) -> u32 {
        self.owners.push(owner);
        session.reserve_slots(self.owners.len() as u32);
        self.owners.len() as u32 - 1
    }

    /// The request of a slot has been served.
    fn served(&mut self, session: &mut Session<'_>, slot: u32, completed: Nanos) {
        let owner = self.owners[slot as usize];
        let flow = &self.flows[usize::from(owner.flow)];
        if flow.open {
            self.free.push(slot);
        } else {
            self.plan(session, owner, Some(slot), completed);
        }
    }

    /// Asks for the next request of a job, not before `free_at`.
    fn plan(&mut self, session: &mut Session<'_>, owner: Owner, slot: Option<u32>, free_at: Nanos) {
        let flow = &mut self.flows[usize::from(owner.flow)];
        if session.stopped().is_some() || flow.end == Some(StopReason::Runtime) {
            return;
        }
        let next = flow.jobs.next(owner.lane, free_at);
        self.take(session, owner, slot, next);
    }

    /// Keeps what a job answered.
    fn take(&mut self, session: &mut Session<'_>, owner: Owner, slot: Option<u32>, next: Next) {
        let flow = &self.flows[usize::from(owner.flow)];
        let end = match next {
            Next::Request(planned) if flow.deadline.is_some_and(|end| planned.due >= end) => {
                StopReason::Runtime
            }
            Next::Request(planned) => {
                let planned = Planned { flow: owner.flow, ..planned };
                self.waiting.insert((planned.due, self.asked), Waiting { owner, slot, planned });
                self.asked += 1;
                return self.release(session, owner, planned.due);
            }
            Next::Hold => return self.held.extend(slot),
            Next::End(reason) => reason,
            Next::Broken(error) => return session.break_off(Failure::Source(error)),
        };
        self.end(session, owner.flow, end);
    }

    /// Offers the held slots of a job requests of its own, not before `free_at`.
    fn release(&mut self, session: &mut Session<'_>, owner: Owner, free_at: Nanos) {
        if self.held.is_empty() {
            return;
        }
        let owners = &self.owners;
        let is_of_job = |slot: &mut u32| owners[*slot as usize] == owner;
        let released: Vec<u32> = self.held.extract_if(.., is_of_job).collect();
        for slot in released {
            let next = self.flows[usize::from(owner.flow)].jobs.resume(owner.lane, free_at);
            self.take(session, owner, Some(slot), next);
        }
    }

    /// A flow makes no more requests.
    fn end(&mut self, session: &mut Session<'_>, flow: u16, reason: StopReason) {
        self.flows[usize::from(flow)].end = Some(reason);
        session.end_flow(flow, reason);
        if self.exit_all {
            session.stop(reason);
        }
    }

    /// Submits what has waited long enough.
    fn issue_due(&mut self, session: &mut Session<'_>) {
        while session.stopped().is_none()
            && let Some(first) = self.waiting.first_entry()
            && first.key().0 <= session.now()
        {
            let Waiting { owner, slot, planned } = first.remove();
            let flow = &mut self.flows[usize::from(owner.flow)];
            if flow.deadline.is_some_and(|end| session.now() >= end) {
                // Planned before the deadline was known.
                self.end(session, owner.flow, StopReason::Runtime);
                continue;
            }
            if planned.measured && flow.deadline.is_none() {
                let start = session.now().max(planned.due);
                flow.deadline = Some(Nanos(start.0.saturating_add(flow.runtime.0)));
            }
            let place = slot.or_else(|| self.free.pop());
            let place = place.unwrap_or_else(|| self.new_slot(session, owner));
            self.owners[place as usize] = owner;
            session.submit(place, &planned);
            if slot.is_none() {
                self.plan(session, owner, None, planned.due);
            }
        }
    }

    /// Why the run ended: the reason that all flows have in common, if there is one.
    fn reason(&self) -> StopReason {
        let ends = self.flows.iter().map(|flow| flow.end.unwrap_or(StopReason::End));
        ends.reduce(|one, other| if one == other { one } else { StopReason::End })
            .unwrap_or(StopReason::End)
    }
}
