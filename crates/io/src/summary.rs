//! What a run came to: the JSON that scripts rely on.

use crate::attribution::Cause;
use crate::counters::Counters;
use crate::interval::IntervalMethod;
use crate::recorder::{PercentileMethod, Recorder};
use crate::request::Priority;
use crate::timeline::TimelineSummary;
use crate::workload::Workload;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Why a run issued nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// All requests asked for were made.
    Requests,
    /// All bytes asked for were transferred.
    Bytes,
    /// The time was up.
    Runtime,
    /// The interval of the mean was as narrow as asked for.
    UntilCi,
    /// The list or trace came to its end.
    End,
    /// The observer called it off.
    Interrupted,
    /// Something failed; the error says what.
    Error,
}

/// From which instant latencies count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LatencyFrom {
    /// From the instant the device took the request.
    Submission,
    /// From the instant the request should have been issued, whenever it was.
    Arrival,
}

/// Statistics of the latencies of one direction.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LatencyStats {
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation.
    pub stddev: f64,
    /// Lower end of the 95 % interval of the mean; `None` for a single sample.
    pub ci95_low: Option<f64>,
    /// Upper end of the 95 % interval of the mean; `None` for a single sample.
    pub ci95_high: Option<f64>,
    /// Smallest.
    pub min: u64,
    /// Median; this and the other percentiles are nearest-rank.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// Largest.
    pub max: u64,
}

impl LatencyStats {
    /// The statistics of what was recorded; `None` if that is nothing.
    #[must_use]
    pub fn of(recorder: &mut Recorder) -> Option<Self> {
        let (min, max) = recorder.range_ns()?;
        let mean = recorder.mean_ns();
        let half_width = recorder.interval().map(|interval| interval.half_width);
        let [p50, p90, p95, p99, p99_9] = recorder.percentiles([500, 900, 950, 990, 999]);
        Some(Self {
            mean,
            stddev: recorder.stddev_ns(),
            ci95_low: half_width.map(|half| mean - half),
            ci95_high: half_width.map(|half| mean + half),
            min,
            p50,
            p90,
            p95,
            p99,
            p99_9,
            max,
        })
    }
}

/// Mean nanoseconds per request by [`Cause`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanAttribution(pub [f64; Cause::COUNT]);

impl Serialize for MeanAttribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Cause::COUNT))?;
        for (cause, mean_ns) in Cause::ALL.into_iter().zip(self.0) {
            map.serialize_entry(cause.name(), &mean_ns)?;
        }
        map.end()
    }
}

/// One direction of a run: its served requests.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SectionSummary {
    /// Requests served.
    pub requests: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Requests per second of the run; `None` if the run took no time.
    pub iops: Option<f64>,
    /// Bytes per second of the run; `None` if the run took no time.
    pub bandwidth_bytes_per_s: Option<f64>,
    /// Latencies in nanoseconds.
    pub latency_ns: LatencyStats,
    /// How the percentiles were found.
    pub percentile_method: PercentileMethod,
    /// How the interval was found; `None` for a single sample.
    pub ci95_method: Option<IntervalMethod>,
    /// Where the time went on average; `None` on a device that cannot say.
    pub attribution_ns: Option<MeanAttribution>,
}

/// How late requests with given arrival times were issued, on a wall clock.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Lateness {
    /// Mean.
    pub mean: f64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest.
    pub max: u64,
}

/// One of several flows of a run. Everything counts from its first request after its ramp.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FlowSummary {
    /// What it is called.
    pub name: String,
    /// Its submission queue.
    pub queue: u16,
    /// The class of that.
    pub priority: Priority,
    /// Requests served, without flushes.
    pub requests: u64,
    /// First submission to last completion.
    pub elapsed_ns: u64,
    /// Reads, if any were served; rates are those of its own time.
    pub read: Option<SectionSummary>,
    /// Writes, if any were served.
    pub write: Option<SectionSummary>,
    /// Flushes, if any were served.
    pub flush: Option<SectionSummary>,
    /// Why it issued nothing more.
    pub stopped_by: StopReason,
    /// Requests that failed.
    pub failed_requests: u64,
    /// From which instant latencies count.
    pub latency_from: LatencyFrom,
    /// The workload with every default filled in.
    pub workload: Workload,
}

/// A whole run. Everything counts from the first request after the ramp.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RunSummary {
    /// Requests served, without flushes.
    pub requests: u64,
    /// First submission to last completion.
    pub elapsed_ns: u64,
    /// Reads, if any were served.
    pub read: Option<SectionSummary>,
    /// Writes, if any were served.
    pub write: Option<SectionSummary>,
    /// Flushes, if any were served.
    pub flush: Option<SectionSummary>,
    /// Discards, if any were served.
    pub discard: Option<SectionSummary>,
    /// Requests to write zeros; absent if none were served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_zeroes: Option<SectionSummary>,
    /// What the drive counted meanwhile; `None` on a drive without counters.
    pub counters: Option<Counters>,
    /// Why nothing more was issued.
    pub stopped_by: StopReason,
    /// Whether the observer called the run off.
    pub interrupted: bool,
    /// Requests that failed; they are in no other figure but `elapsed_ns`.
    pub failed_requests: u64,
    /// Whether the interval asked for was reached; `None` if none was asked for.
    pub until_ci_reached: Option<bool>,
    /// From which instant latencies count.
    pub latency_from: LatencyFrom,
    /// How late requests were issued, where arrival times meet a wall clock.
    pub lateness_ns: Option<Lateness>,
    /// The workload with every default filled in; absent for lists and traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<Workload>,
    /// The flows of a run of several; absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<FlowSummary>>,
    /// The rate over time, if that was asked for; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<TimelineSummary>,
}
