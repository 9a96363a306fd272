//! What is kept of single requests: rows of the log, and the windows of the timeline.

use super::{Flight, Session};
use crate::device::ClockKind;
use crate::log::{CHUNK_ROWS, LogRow};
use crate::request::{Completion, Outcome};
use crate::summary::LatencyFrom;
use crate::timeline::{Reading, Served, TimelineSummary};
use crate::units::Nanos;

impl Session<'_> {
    /// The timeline begins with the first request that counts, or where it should have begun.
    pub(super) fn begin_timeline(&mut self, due: Nanos) {
        if self.timeline.is_none() {
            return;
        }
        let reading = self.reading();
        let arrives = self.goals.latency_from == LatencyFrom::Arrival;
        let start = if arrives { due.min(self.now) } else { self.now };
        if let Some(timeline) = &mut self.timeline {
            timeline.begin(start, reading);
        }
    }

    /// Keeps a completion that counts.
    #[inline(never)]
    pub(super) fn record(&mut self, flight: &Flight, since: Nanos, completion: &Completion) {
        if self.timeline.is_some() {
            self.put_in_window(flight, since, completion);
        }
        if self.log.is_some() {
            self.log_row(flight, since, completion);
        }
    }

    fn put_in_window(&mut self, flight: &Flight, since: Nanos, completion: &Completion) {
        let at = completion.completed;
        let begins = self.timeline.as_ref().is_some_and(|timeline| timeline.begins_window(at));
        let reading = begins.then(|| self.reading());
        let Some(timeline) = &mut self.timeline else { return };
        if let Some(reading) = reading {
            timeline.open(at, reading);
        }
        match completion.outcome {
            Outcome::Failed(_) => timeline.add_failed(at),
            Outcome::Done => timeline.add(
                at,
                &Served {
                    op: flight.op,
                    flow: flight.flow,
                    bytes: flight.sectors.bytes().0,
                    latency_ns: at.saturating_sub(since).0,
                    attribution: &completion.attribution,
                },
            ),
        }
    }

    /// What the drive and the machine do beside the requests.
    fn reading(&mut self) -> Reading {
        let others = self.device.foreign_bytes();
        Reading {
            upkeep: self.device.upkeep(),
            others_bytes: others.map(|moved| moved.read_bytes + moved.written_bytes),
            machine: match self.clock {
                ClockKind::Virtual => None,
                ClockKind::Wall => self.observer.machine(),
            },
        }
    }

    /// What the timeline came to, if there is one.
    pub(super) fn sum_up_timeline(&mut self) -> Option<TimelineSummary> {
        let timeline = self.timeline.take()?;
        let reading = self.reading();
        let names: Vec<&str> = self.flow_names().collect();
        Some(timeline.finish(self.tally.ended(), reading, &names))
    }

    fn log_row(&mut self, flight: &Flight, since: Nanos, completion: &Completion) {
        let Some(log) = &mut self.log else { return };
        log.push(&LogRow {
            index: flight.index,
            flow: flight.flow,
            op: flight.op,
            offset_bytes: flight.lba.byte_offset().0,
            bytes: flight.sectors.bytes().0,
            submit_ns: since.0,
            complete_ns: completion.completed.0,
            outcome: completion.outcome,
            attribution: &completion.attribution,
        });
        if log.len() >= CHUNK_ROWS {
            self.hand_out_log();
        }
    }
}
