//! What a session tells: progress on the way, the log in chunks, the summary at the end.

use super::{REPORT_EVERY, Session};
use crate::counters::Counters;
use crate::driver::{Progress, RunError};
use crate::request::Op;
use crate::summary::{Lateness, RunSummary, StopReason};
use crate::units::Nanos;
use std::ops::ControlFlow;

/// Fewer samples than this per direction never stop a run.
const LEAST_SAMPLES_FOR_CI: u64 = 200;
/// Nor do fewer than this per request in flight.
const SAMPLES_PER_SLOT: u64 = 8;
/// Fewer samples than this per direction never count as an interval reached.
const LEAST_SAMPLES_AT_END: u64 = 30;

impl Session<'_> {
    /// Gives the rows of the log so far to the observer.
    pub(super) fn hand_out_log(&mut self) {
        let Some(log) = &mut self.log else { return };
        if !log.is_empty() && self.observer.chunk(log.take()) == ControlFlow::Break(()) {
            self.stop.get_or_insert(StopReason::Interrupted);
        }
    }

    /// Tells the observer, and looks whether the interval is narrow enough.
    #[inline(never)]
    pub(super) fn report(&mut self) {
        self.unreported = 0;
        self.tally.spill();
        self.spill_flows();
        if self.tally.served >= self.next_ci_check {
            self.next_ci_check =
                self.tally.served + (self.tally.served / 16).max(REPORT_EVERY as u64);
            self.check_interval();
        }
        let progress = self.progress();
        if self.observer.progress(&progress) == ControlFlow::Break(()) {
            self.stop(StopReason::Interrupted);
        }
    }

    /// Stops the run if every interval is narrow enough. What is in flight then still
    /// comes in, on an emptying queue: it counts for the means but not for the widths,
    /// and even if it took no time at all the verdict would hold.
    fn check_interval(&mut self) {
        let Some((share, ops)) = &self.goals.until_ci else { return };
        let in_flight = self.in_flight as u64;
        let least = LEAST_SAMPLES_FOR_CI.max(SAMPLES_PER_SLOT * in_flight);
        self.relative_half_width = self.tally.widest_interval(ops, least, in_flight);
        if self.relative_half_width.is_some_and(|width| width <= *share) {
            self.tally.freeze_intervals();
            self.stop(StopReason::UntilCi);
        }
    }

    fn progress(&mut self) -> Progress {
        let mean_latency_ns = self.tally.mean_latency_ns();
        let (requests, bytes) = (self.tally.requests(), self.tally.bytes());
        let Nanos(elapsed_ns) = self.tally.elapsed_at(self.now);
        let share = |done: u64, goal: u64| Some((done as f64 / goal.max(1) as f64).min(1.0));
        let runtime = (self.goals.runtime < Nanos::MAX).then_some(self.goals.runtime.0);
        let shares = [
            self.goals.requests.and_then(|goal| share(requests, goal)),
            self.goals.bytes.and_then(|goal| share(bytes, goal)),
            runtime.and_then(|goal| share(elapsed_ns, goal)),
        ];
        Progress {
            requests,
            bytes,
            failed_requests: self.tally.failed,
            elapsed_ns,
            fraction: shares.into_iter().flatten().reduce(f64::max),
            mean_latency_ns,
            relative_half_width: self.relative_half_width,
            looking: false,
        }
    }

    /// Waits for everything in flight, then sums up.
    pub fn finish(mut self, reason: StopReason) -> Result<RunSummary, RunError> {
        self.stop(reason);
        let mut batch = Vec::new();
        while self.in_flight > 0 && !self.dead {
            self.wait(Nanos::MAX, &mut batch);
            for completion in batch.drain(..) {
                self.settle(&completion);
            }
        }
        self.hand_out_log();
        let summary = self.summarize();
        match self.failure {
            None => Ok(summary),
            Some(failure) => Err(RunError::Broken { failure, partial: Box::new(summary) }),
        }
    }

    fn summarize(&mut self) -> RunSummary {
        let stopped_by = self.stop.unwrap_or(StopReason::End);
        let counters = match (self.device.counters(), &self.counters_before) {
            (Some(after), Some(before)) => Some(Counters {
                // The ramp had to be simulated, too.
                simulated: after.simulated.since(self.simulated_before),
                ..after.since(before)
            }),
            _ => None,
        };
        let until_ci_reached = self.goals.until_ci.as_ref().map(|(share, ops)| {
            let width = self.tally.widest_interval(ops, LEAST_SAMPLES_AT_END, 0);
            width.is_some_and(|width| width <= *share)
        });
        let lateness_ns = self.lateness.as_mut().and_then(|recorder| {
            let (_, max) = recorder.range_ns()?;
            let [p99] = recorder.percentiles([990]);
            Some(Lateness { mean: recorder.mean_ns(), p99, max })
        });
        RunSummary {
            requests: self.tally.requests(),
            elapsed_ns: self.tally.elapsed().0,
            read: self.tally.summarize(Op::Read),
            write: self.tally.summarize(Op::Write),
            flush: self.tally.summarize(Op::Flush),
            discard: self.tally.summarize(Op::Discard),
            write_zeroes: self.tally.summarize(Op::WriteZeroes),
            counters,
            stopped_by,
            interrupted: stopped_by == StopReason::Interrupted,
            failed_requests: self.tally.failed,
            until_ci_reached,
            latency_from: self.goals.latency_from,
            lateness_ns,
            workload: None,
            flows: self.summarize_flows(stopped_by),
            timeline: self.sum_up_timeline(),
        }
    }
}
