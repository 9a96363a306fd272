//! Adds up the completions of a run and turns the sums into a summary.

use crate::attribution::{Attribution, Cause};
use crate::recorder::Recorder;
use crate::request::Op;
use crate::summary::{LatencyStats, MeanAttribution, SectionSummary};
use crate::units::Nanos;

/// Sums of attributions: 64 bits to add to, 128 bits to move them to now and then.
#[derive(Clone, Debug, Default)]
struct AttributionSum {
    recent: Attribution,
    spilled_ns: [u128; Cause::COUNT],
}

impl AttributionSum {
    #[inline]
    fn add(&mut self, attribution: &Attribution) {
        self.recent += *attribution;
    }

    fn spill(&mut self) {
        for (sum, part) in self.spilled_ns.iter_mut().zip(self.recent.parts_ns()) {
            *sum += u128::from(*part);
        }
        self.recent = Attribution::ZERO;
    }

    fn means(&mut self, requests: u64) -> MeanAttribution {
        self.spill();
        MeanAttribution(self.spilled_ns.map(|sum_ns| sum_ns as f64 / requests as f64))
    }
}

/// One direction.
#[derive(Clone, Debug, Default)]
struct Section {
    bytes: u64,
    latency: Recorder,
    attribution: AttributionSum,
}

/// All directions of a run.
#[derive(Clone, Debug)]
pub struct Tally {
    attributes: bool,
    sections: [Section; Op::COUNT],
    /// First submission that counts.
    started: Nanos,
    /// Last completion that counts.
    ended: Nanos,
    /// Served requests, flushes included.
    pub served: u64,
    /// Failed requests.
    pub failed: u64,
}

impl Tally {
    pub fn new(attributes: bool) -> Self {
        Self {
            attributes,
            sections: Default::default(),
            started: Nanos::MAX,
            ended: Nanos::ZERO,
            served: 0,
            failed: 0,
        }
    }

    /// Stretches the run over a request, served or failed.
    #[inline]
    pub fn span(&mut self, submitted: Nanos, completed: Nanos) {
        self.started = self.started.min(submitted);
        self.ended = self.ended.max(completed);
    }

    /// Adds a served request.
    #[inline]
    pub fn add(&mut self, op: Op, bytes: u64, latency: Nanos, attribution: &Attribution) {
        self.served += 1;
        let section = &mut self.sections[op as usize];
        section.bytes += bytes;
        section.latency.record(latency.0);
        if self.attributes {
            section.attribution.add(attribution);
        }
    }

    /// To be called every few thousand requests at the latest: 64-bit sums of
    /// attributions then cannot overflow, short of latencies of weeks.
    pub fn spill(&mut self) {
        self.sections.iter_mut().for_each(|section| section.attribution.spill());
    }

    /// Served requests, without flushes.
    pub fn requests(&self) -> u64 {
        self.served - self.count(Op::Flush)
    }

    /// Bytes moved by served requests.
    pub fn bytes(&self) -> u64 {
        self.sections.iter().map(|section| section.bytes).sum()
    }

    /// Served requests of one direction.
    pub const fn count(&self, op: Op) -> u64 {
        self.sections[op as usize].latency.count()
    }

    /// The last completion that counts; zero before any.
    pub const fn ended(&self) -> Nanos {
        self.ended
    }

    /// First submission to last completion.
    pub fn elapsed(&self) -> Nanos {
        self.ended.saturating_sub(self.started)
    }

    /// First submission to `now`.
    pub fn elapsed_at(&self, now: Nanos) -> Nanos {
        now.saturating_sub(self.started)
    }

    /// Mean latency over all directions but flushes.
    pub fn mean_latency_ns(&mut self) -> f64 {
        let data = [Op::Read, Op::Write, Op::Discard, Op::WriteZeroes]
            .map(|op| self.sections[op as usize].latency.sum_ns());
        data.iter().sum::<u128>() as f64 / self.requests().max(1) as f64
    }

    /// The widest relative half-width of the 95 % intervals of reads and writes, once
    /// each direction in `ops` has `least` samples; as shares of what the means may still
    /// sink to, if so many more of a direction come in.
    pub fn widest_interval(&mut self, ops: &[Op], least: u64, more: u64) -> Option<f64> {
        let widths = ops.iter().map(|&op| {
            let latency = &mut self.sections[op as usize].latency;
            if latency.count() < least {
                return None;
            }
            let sinks = more as f64 / latency.count().max(1) as f64;
            latency.relative_half_width().map(|width| width * (1.0 + sinks))
        });
        widths.reduce(|one, other| Some(one?.max(other?))).flatten()
    }

    /// Keeps the widths of all intervals as they are.
    pub fn freeze_intervals(&mut self) {
        self.sections.iter_mut().for_each(|section| section.latency.freeze_interval());
    }

    /// The summary of one direction; `None` if nothing of it was served.
    pub fn summarize(&mut self, op: Op) -> Option<SectionSummary> {
        let elapsed_ns = self.elapsed().0;
        let attributes = self.attributes;
        let section = &mut self.sections[op as usize];
        let latency_ns = LatencyStats::of(&mut section.latency)?;
        let requests = section.latency.count();
        let per_second =
            |amount: u64| (elapsed_ns > 0).then(|| amount as f64 * 1e9 / elapsed_ns as f64);
        Some(SectionSummary {
            requests,
            bytes: section.bytes,
            iops: per_second(requests),
            bandwidth_bytes_per_s: per_second(section.bytes),
            latency_ns,
            percentile_method: section.latency.percentile_method(),
            ci95_method: section.latency.interval().map(|interval| interval.method),
            attribution_ns: attributes.then(|| section.attribution.means(requests)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attribution_sums_survive_spilling_and_huge_parts() {
        let mut sum = AttributionSum::default();
        let mut one = Attribution::ZERO;
        one[Cause::Gc] = 1 << 53;
        one[Cause::Link] = 3;
        for _ in 0..10_000 {
            sum.add(&one);
            sum.spill();
        }
        let MeanAttribution(means) = sum.means(10_000);
        assert_eq!(means[Cause::Gc as usize], (1_u64 << 53) as f64);
        assert_eq!(means[Cause::Link as usize], 3.0);
    }

    #[test]
    fn the_widest_interval_waits_for_every_direction() {
        let mut tally = Tally::new(false);
        for latency in [90, 110, 90, 110] {
            tally.add(Op::Read, 512, Nanos(latency), &Attribution::ZERO);
        }
        assert!(tally.widest_interval(&[Op::Read], 4, 0).is_some());
        assert_eq!(tally.widest_interval(&[Op::Read], 5, 0), None);
        assert_eq!(tally.widest_interval(&[Op::Read, Op::Write], 1, 0), None);
        assert_eq!(tally.widest_interval(&[], 1, 0), None);
        // Four more of no length would halve the mean.
        let wide = |more| tally.clone().widest_interval(&[Op::Read], 4, more).unwrap();
        assert!((wide(4) / wide(0) - 2.0).abs() < 1e-12);
    }
}
