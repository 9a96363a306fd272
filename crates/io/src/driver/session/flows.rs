//! The flows of a run that has several: their queues, and the statistics of each.

use super::{Flight, Session};
use crate::device::ClockKind;
use crate::driver::tally::Tally;
use crate::flow::FlowPlan;
use crate::recorder::Recorder;
use crate::request::{Completion, Op, Outcome, Queue};
use crate::summary::{FlowSummary, LatencyFrom, StopReason};
use crate::units::{Bytes, Nanos};
use crate::workload::Workload;

/// A flow and what it has come to.
pub struct FlowOfRun {
    name: String,
    pub queue: Queue,
    pub latency_from: LatencyFrom,
    workload: Workload,
    end: Option<StopReason>,
    tally: Tally,
}

impl FlowOfRun {
    /// A flow before its first request.
    pub fn new(flow: &FlowPlan, latency_from: LatencyFrom) -> Self {
        Self {
            name: flow.name.clone(),
            queue: flow.queue,
            latency_from,
            workload: flow.plan.workload.clone(),
            end: None,
            tally: Tally::new(false),
        }
    }

    fn summarize(&mut self, stopped_by: StopReason) -> FlowSummary {
        FlowSummary {
            name: self.name.clone(),
            queue: self.queue.index,
            priority: self.queue.priority,
            requests: self.tally.requests(),
            elapsed_ns: self.tally.elapsed().0,
            read: self.tally.summarize(Op::Read),
            write: self.tally.summarize(Op::Write),
            flush: self.tally.summarize(Op::Flush),
            stopped_by: self.end.unwrap_or(stopped_by),
            failed_requests: self.tally.failed,
            latency_from: self.latency_from,
            workload: self.workload.clone(),
        }
    }
}

impl Session<'_> {
    /// Says which flows there are, before the first request. Their number in a request
    /// ([`Planned::flow`](crate::driver::source::Planned)) is their place here.
    pub fn tell_flows(&mut self, flows: impl Iterator<Item = FlowOfRun>) {
        let attributes = self.device.info().attribution;
        self.flows =
            flows.map(|flow| FlowOfRun { tally: Tally::new(attributes), ..flow }).collect();
        let arrives = |flow: &FlowOfRun| flow.latency_from == LatencyFrom::Arrival;
        if self.clock == ClockKind::Wall && self.flows.iter().any(arrives) {
            self.lateness = Some(Recorder::default());
        }
        if self.flows.len() < 2 {
            return;
        }
        if let Some(log) = &mut self.log {
            log.flow = Some(Vec::new());
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.tell_flows();
        }
    }

    /// What the flows are called; nothing where there are none.
    pub(super) fn flow_names(&self) -> impl Iterator<Item = &str> {
        self.flows.iter().map(|flow| flow.name.as_str())
    }

    /// A job of a flow makes no more requests; the last such reason is the flow's.
    pub fn end_flow(&mut self, flow: u16, reason: StopReason) {
        if let Some(flow) = self.flows.get_mut(usize::from(flow)) {
            flow.end = Some(reason);
        }
    }

    /// Adds a request that counts to those of its flow.
    #[inline(never)]
    pub(super) fn count_in_flow(&mut self, flight: &Flight, since: Nanos, done: &Completion) {
        let tally = &mut self.flows[usize::from(flight.flow)].tally;
        tally.span(since, done.completed);
        match done.outcome {
            Outcome::Done => {
                let Bytes(bytes) = flight.sectors.bytes();
                let latency = done.completed.saturating_sub(since);
                tally.add(flight.op, bytes, latency, &done.attribution);
            }
            Outcome::Failed(_) => tally.failed += 1,
        }
    }

    pub(super) fn summarize_flows(&mut self, stopped_by: StopReason) -> Option<Vec<FlowSummary>> {
        let flows = self.flows.iter_mut();
        let flows: Vec<_> = flows.map(|flow| flow.summarize(stopped_by)).collect();
        (!flows.is_empty()).then_some(flows)
    }

    pub(super) fn spill_flows(&mut self) {
        self.flows.iter_mut().for_each(|flow| flow.tally.spill());
    }
}
