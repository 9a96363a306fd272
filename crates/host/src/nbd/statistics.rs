//! What a server has seen: the keys of a run's summary where they mean the same.

use ssdscope_io::recorder::Recorder;
use ssdscope_io::summary::{LatencyStats, MeanAttribution, SectionSummary};
use ssdscope_io::{Attribution, Cause, Completion, Counters, Nanos, Op, Outcome};

/// How late replies left, on the wall's clock, after the instant that the drive asked for.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Lateness {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest.
    pub max: u64,
}

/// Who came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Clients {
    /// Connections that were taken.
    pub connections: u64,
    /// Most of them at a time.
    pub most_at_once: u64,
    /// Connections beyond the limit.
    pub turned_away: u64,
    /// Connections that did not negotiate in time.
    pub timed_out: u64,
}

/// Everything that a server has seen. Latencies and rates are the drive's own; only the lateness
/// and `wall_ns` are on the wall's clock.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ServeSummary {
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
    /// Trims, if any were served.
    pub discard: Option<SectionSummary>,
    /// Requests to write zeros; absent if none were served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_zeroes: Option<SectionSummary>,
    /// What the drive counted meanwhile; `None` on a drive without counters.
    pub counters: Option<Counters>,
    /// Requests that the drive or the store failed.
    pub failed_requests: u64,
    /// Requests that made no sense.
    pub refused_requests: u64,
    /// How late replies left.
    pub lateness_ns: Option<Lateness>,
    /// How much slower than the wall the drive lived.
    pub slow_down: f64,
    /// How long the server has run, on the wall's clock.
    pub wall_ns: u64,
    /// Bytes of memory or disk that the data take.
    pub stored_bytes: u64,
    /// Who came.
    pub clients: Clients,
}

#[derive(Default)]
struct Section {
    latency: Recorder,
    bytes: u64,
    attribution: [u128; Cause::COUNT],
}

/// Collects.
#[derive(Default)]
pub(crate) struct Statistics {
    sections: [Section; Op::COUNT],
    lateness: Recorder,
    span: Option<(Nanos, Nanos)>,
    pub(crate) failed: u64,
    pub(crate) refused: u64,
    pub(crate) clients: Clients,
}

/// What the summary takes from elsewhere.
pub(crate) struct Surroundings {
    pub(crate) counters: Option<Counters>,
    pub(crate) attributes: bool,
    pub(crate) slow_down: f64,
    pub(crate) wall_ns: u64,
    pub(crate) stored_bytes: u64,
}

impl Statistics {
    /// Counts what the drive completed.
    pub(crate) fn count(&mut self, op: Op, bytes: u64, completion: &Completion) {
        let span = self.span.get_or_insert((completion.submitted, completion.completed));
        span.0 = span.0.min(completion.submitted);
        span.1 = span.1.max(completion.completed);
        if completion.outcome != Outcome::Done {
            return;
        }
        let section = &mut self.sections[op as usize];
        section.latency.record(completion.latency().0);
        section.bytes += bytes;
        add(&mut section.attribution, &completion.attribution);
    }

    /// Counts how late a reply left.
    pub(crate) fn late(&mut self, lateness: Nanos) {
        self.lateness.record(lateness.0);
    }

    pub(crate) fn summarize(&mut self, around: Surroundings) -> ServeSummary {
        let elapsed_ns = self.span.map_or(0, |(first, last)| (last - first).0);
        let mut section =
            |op: Op| self.sections[op as usize].summarize(elapsed_ns, around.attributes);
        let [read, write, flush, discard, write_zeroes] =
            [Op::Read, Op::Write, Op::Flush, Op::Discard, Op::WriteZeroes].map(&mut section);
        let served = [&read, &write, &discard, &write_zeroes].into_iter().flatten();
        ServeSummary {
            requests: served.map(|section| section.requests).sum(),
            elapsed_ns,
            read,
            write,
            flush,
            discard,
            write_zeroes,
            counters: around.counters,
            failed_requests: self.failed,
            refused_requests: self.refused,
            lateness_ns: lateness_of(&mut self.lateness),
            slow_down: around.slow_down,
            wall_ns: around.wall_ns,
            stored_bytes: around.stored_bytes,
            clients: self.clients,
        }
    }
}

fn lateness_of(recorder: &mut Recorder) -> Option<Lateness> {
    let (_, max) = recorder.range_ns()?;
    let [p50, p99] = recorder.percentiles([500, 990]);
    Some(Lateness { mean: recorder.mean_ns(), p50, p99, max })
}

fn add(sums: &mut [u128; Cause::COUNT], attribution: &Attribution) {
    for cause in Cause::ALL {
        sums[cause as usize] += u128::from(attribution[cause]);
    }
}

impl Section {
    fn summarize(&mut self, elapsed_ns: u64, attributes: bool) -> Option<SectionSummary> {
        let latency_ns = LatencyStats::of(&mut self.latency)?;
        let requests = self.latency.count();
        let per_second =
            |amount: u64| (elapsed_ns > 0).then(|| amount as f64 * 1e9 / elapsed_ns as f64);
        let means = self.attribution.map(|sum| sum as f64 / requests as f64);
        Some(SectionSummary {
            requests,
            bytes: self.bytes,
            iops: per_second(requests),
            bandwidth_bytes_per_s: per_second(self.bytes),
            latency_ns,
            percentile_method: self.latency.percentile_method(),
            ci95_method: self.latency.interval().map(|interval| interval.method),
            attribution_ns: attributes.then_some(MeanAttribution(means)),
        })
    }
}
