//! A trace as a source: at its times, at its pace, or as fast as possible.

use super::closed::{self, Slots};
use super::open;
use super::session::{Goals, Session};
use super::source::{Next, Planned, Source};
use super::{RunError, RunObserver};
use crate::device::Device;
use crate::summary::{LatencyFrom, RunSummary, StopReason};
use crate::trace::TimedRequest;
use crate::units::Nanos;
use crate::workload::LONGEST_SPAN;
use serde::{Deserialize, Serialize};
use std::error::Error;

/// How the times of a trace are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplayMode {
    /// Every request at its arrival, whatever has completed.
    #[default]
    Open,
    /// At most `iodepth` in flight, with the trace's pauses between issues kept: a
    /// request that waits for a slot delays all that follow, as a waiting host would.
    Closed,
    /// At most `iodepth` in flight, arrivals ignored.
    Asap,
}

/// How a trace is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplayOptions {
    /// How times are taken.
    pub mode: ReplayMode,
    /// Requests in flight, where the loop is closed.
    pub iodepth: u32,
    /// Pause of the host between a completion and the next request in its place, where the
    /// loop is closed.
    pub thinktime: Nanos,
    /// Arrival times are multiplied by this.
    pub time_scale: f64,
    /// How many requests will come, if known: for progress only.
    pub expected_requests: Option<u64>,
    /// From the first arrival to the last, if known: to refuse what no clock holds.
    pub expected_span: Option<Nanos>,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self {
            mode: ReplayMode::Open,
            iodepth: 1,
            thinktime: Nanos::ZERO,
            time_scale: 1.0,
            expected_requests: None,
            expected_span: None,
        }
    }
}

/// Replays a trace. Its first request is issued at once; later ones as its times,
/// scaled, and the mode say. An arrival before its predecessor's counts as that one's.
///
/// # Errors
/// [`RunError::Refused`] if the options make no sense; [`RunError::Broken`] with what
/// was measured if the device fails or the trace cannot be read on.
pub fn replay<I, E>(
    device: &mut dyn Device,
    trace: I,
    options: &ReplayOptions,
    observer: &mut dyn RunObserver,
) -> Result<RunSummary, RunError>
where
    I: Iterator<Item = Result<TimedRequest, E>>,
    E: Error + Send + Sync + 'static,
{
    let &ReplayOptions { mode, iodepth, thinktime, time_scale, .. } = options;
    let &ReplayOptions { expected_requests, expected_span, .. } = options;
    let slots = Slots::of_one_job(iodepth, thinktime)?;
    if mode == ReplayMode::Open && thinktime > Nanos::ZERO {
        return Err(RunError::Refused(format!(
            "think time: {thinktime} means nothing where requests come at the trace's own times\n\n\
             hint: --mode closed keeps the trace's pauses as well, --mode asap only this one"
        )));
    }
    if !(time_scale.is_finite() && time_scale >= 0.0) {
        let hint = "expected a factor such as 0.5 (twice as fast)";
        return Err(RunError::Refused(format!("time scale {time_scale}: {hint}")));
    }
    let span = expected_span.map_or(Nanos::ZERO, |span| scale(span, time_scale));
    if mode != ReplayMode::Asap && span > LONGEST_SPAN {
        return Err(RunError::Refused(format!(
            "time scale {time_scale}: the trace would go on for more than {LONGEST_SPAN}\n\n\
             hint: a smaller --time-scale, or --mode asap, which ignores times"
        )));
    }
    let latency_from = match mode {
        ReplayMode::Open => LatencyFrom::Arrival,
        ReplayMode::Closed | ReplayMode::Asap => LatencyFrom::Submission,
    };
    let goals = Goals { requests: expected_requests, ..Goals::until_the_end(latency_from) };
    let mut session = Session::new(device, observer, goals)?;
    let start = session.now();
    let mut source =
        Replayed { trace, mode, time_scale, start, first: None, arrival: Nanos::ZERO, due: start };
    let reason = match mode {
        ReplayMode::Open => open::drive(&mut session, &mut source),
        ReplayMode::Closed | ReplayMode::Asap => closed::drive(&mut session, &mut source, slots),
    };
    session.finish(reason)
}

struct Replayed<I> {
    trace: I,
    mode: ReplayMode,
    time_scale: f64,
    start: Nanos,
    /// Arrival of the trace's first request, on the trace's clock.
    first: Option<Nanos>,
    /// Scaled arrival of the last request, counted from the first.
    arrival: Nanos,
    /// When the last request was due.
    due: Nanos,
}

impl<I> Replayed<I> {
    /// The instant a request with this arrival is due, given a slot free at `free_at`.
    fn due(&mut self, arrival: Nanos, free_at: Nanos) -> Nanos {
        let first = *self.first.get_or_insert(arrival);
        let since_first = arrival.saturating_sub(first);
        let scaled = scale(since_first, self.time_scale).max(self.arrival);
        let pause = scaled - self.arrival;
        self.arrival = scaled;
        self.due = match self.mode {
            ReplayMode::Open => Nanos(self.start.0.saturating_add(scaled.0)),
            ReplayMode::Closed => Nanos(self.due.0.saturating_add(pause.0)).max(free_at),
            ReplayMode::Asap => free_at,
        };
        self.due
    }
}

/// Exact where nothing is scaled; otherwise to the nearest nanosecond a double holds.
#[expect(clippy::cast_sign_loss, reason = "the factor was checked not to be negative")]
fn scale(time: Nanos, factor: f64) -> Nanos {
    if factor == 1.0 { time } else { Nanos((time.0 as f64 * factor).round() as u64) }
}

impl<I, E> Source for Replayed<I>
where
    I: Iterator<Item = Result<TimedRequest, E>>,
    E: Error + Send + Sync + 'static,
{
    fn next(&mut self, _lane: u32, free_at: Nanos) -> Next {
        match self.trace.next() {
            None => Next::End(StopReason::End),
            Some(Err(error)) => Next::Broken(Box::new(error)),
            Some(Ok(request)) => {
                let due = self.due(request.arrival, free_at);
                let TimedRequest { op, lba, sectors, .. } = request;
                Next::Request(Planned {
                    due,
                    op,
                    lba,
                    sectors,
                    fua: false,
                    measured: true,
                    flow: 0,
                })
            }
        }
    }
}
