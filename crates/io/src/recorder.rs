//! What is kept of the latencies of a run: moments, percentiles, the interval.
//!
//! Everything is integers until a summary is asked for, so a run's statistics are
//! the same on every machine. Percentiles are nearest-rank: exact up to
//! [`EXACT_SAMPLES`], then within the bound of [`crate::histogram`].

use crate::histogram::Histogram;
use crate::interval::{self, BATCHES_FROM, BatchMeans, Interval};
use serde::Serialize;

/// Up to so many samples are kept one by one: 8 MiB.
pub const EXACT_SAMPLES: usize = 1 << 20;

/// How percentiles were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PercentileMethod {
    /// From all samples: exact.
    Exact,
    /// From a log-linear histogram: relative error at most 2^-12.
    Histogram,
}

/// Samples that wait in a histogram's antechamber.
const PENDING_SAMPLES: usize = 4_096;

/// Latencies of one direction of a run, in nanoseconds.
///
/// Recording only stores the sample; sums are made of many at once, whenever they
/// are asked for or the room is full. Hence everything here takes `&mut self`.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// All samples while there is no histogram, then those not yet counted in it.
    samples: Vec<u64>,
    /// How many of `samples` the sums below include.
    digested: usize,
    histogram: Option<Histogram>,
    count: u64,
    sum: u128,
    sum_of_squares: u128,
    range: Option<(u64, u64)>,
    batches: BatchMeans,
}

impl Recorder {
    /// Takes one latency.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        if self.samples.len() == self.samples.capacity() {
            self.make_room();
        }
        self.samples.push(latency_ns);
    }

    /// More memory for samples kept one by one, or the end of keeping them.
    #[inline(never)]
    fn make_room(&mut self) {
        self.digest();
        if self.histogram.is_none() && self.samples.len() < EXACT_SAMPLES {
            let more = self.samples.len().clamp(PENDING_SAMPLES, EXACT_SAMPLES);
            self.samples.reserve_exact(more.min(EXACT_SAMPLES - self.samples.len()));
            return;
        }
        let histogram = self.histogram.get_or_insert_default();
        self.samples.iter().for_each(|&sample| histogram.record(sample));
        self.samples.clear();
        self.samples.shrink_to(PENDING_SAMPLES);
        self.digested = 0;
    }

    /// Brings all sums up to date.
    fn digest(&mut self) {
        let fresh = &self.samples[self.digested..];
        let (Some(&first), count) = (fresh.first(), fresh.len()) else { return };
        let (mut low, mut high) = self.range.unwrap_or((first, first));
        for &sample in fresh {
            self.sum += u128::from(sample);
            self.sum_of_squares += u128::from(sample) * u128::from(sample);
            low = low.min(sample);
            high = high.max(sample);
        }
        self.range = Some((low, high));
        self.batches.extend(fresh);
        self.count += count as u64;
        self.digested += count;
    }

    /// How many were taken.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count + (self.samples.len() - self.digested) as u64
    }

    /// Their exact sum.
    #[must_use]
    pub fn sum_ns(&mut self) -> u128 {
        self.digest();
        self.sum
    }

    /// The smallest and the largest; `None` without samples.
    #[must_use]
    pub fn range_ns(&mut self) -> Option<(u64, u64)> {
        self.digest();
        self.range
    }

    /// The mean; zero without samples.
    #[must_use]
    pub fn mean_ns(&mut self) -> f64 {
        self.sum_ns() as f64 / self.count().max(1) as f64
    }

    /// The sample standard deviation (n - 1); zero below two samples.
    #[must_use]
    pub fn stddev_ns(&mut self) -> f64 {
        let degrees = self.count().saturating_sub(1).max(1);
        (self.squared_deviations() / degrees as f64).sqrt()
    }

    /// The 95 % interval of the mean; `None` below two samples.
    #[must_use]
    pub fn interval(&mut self) -> Option<Interval> {
        self.digest();
        if self.count < BATCHES_FROM {
            interval::student(self.count, self.squared_deviations())
        } else {
            self.batches.interval()
        }
    }

    /// Keeps the width of a long run's interval, whatever is recorded from now on.
    pub fn freeze_interval(&mut self) {
        self.digest();
        self.batches.freeze();
    }

    /// Half the width of that interval as a share of the mean.
    #[must_use]
    pub fn relative_half_width(&mut self) -> Option<f64> {
        let half_width = self.interval()?.half_width;
        // A mean of zero has no width either: everything took no time at all.
        Some(if half_width == 0.0 { 0.0 } else { half_width / self.mean_ns() })
    }

    /// Nearest-rank percentiles for ascending shares in thousandths (500 = median);
    /// zeros without samples.
    #[must_use]
    pub fn percentiles<const N: usize>(&mut self, thousandths: [u64; N]) -> [u64; N] {
        let Some((low, high)) = self.range_ns() else { return [0; N] };
        let ranks = thousandths.map(|share| nearest_rank(self.count, share));
        let Some(histogram) = &self.histogram else {
            return select_ranks(&mut self.samples, ranks);
        };
        let mut complete = histogram.clone();
        self.samples.iter().for_each(|&sample| complete.record(sample));
        // The ends are known exactly, and a bucket's middle may lie beyond them.
        complete.at_ranks(ranks).map(|value| value.clamp(low, high))
    }

    /// How [`Self::percentiles`] finds them.
    #[must_use]
    pub const fn percentile_method(&self) -> PercentileMethod {
        match self.histogram {
            None => PercentileMethod::Exact,
            Some(_) => PercentileMethod::Histogram,
        }
    }

    /// The sum of squared differences from the mean, without cancellation: an
    /// integer sum around the mean cut to an integer, then the cut corrected.
    fn squared_deviations(&mut self) -> f64 {
        self.digest();
        let count = u128::from(self.count.max(1));
        let (whole, rest) = (self.sum / count, self.sum % count);
        let around_whole = self.sum_of_squares - whole * (self.sum + rest);
        around_whole as f64 - (rest as f64 * rest as f64) / count as f64
    }
}

/// The smallest rank that at least the given share of `count` samples does not exceed.
fn nearest_rank(count: u64, thousandths: u64) -> u64 {
    (u128::from(count) * u128::from(thousandths)).div_ceil(1000).max(1) as u64
}

/// The values of ascending ranks, each by selection in what the one before left above it.
fn select_ranks<const N: usize>(samples: &mut [u64], ranks: [u64; N]) -> [u64; N] {
    let mut start = 0;
    ranks.map(|rank| {
        let index = (rank as usize - 1).max(start);
        let (_, value, _) = samples[start..].select_nth_unstable(index - start);
        start = index;
        *value
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::IntervalMethod;
    use crate::rng::Stream;

    const SHARES: [u64; 5] = [500, 900, 950, 990, 999];

    fn recorded(samples: &[u64]) -> Recorder {
        let mut recorder = Recorder::default();
        samples.iter().for_each(|&sample| recorder.record(sample));
        recorder
    }

    #[test]
    fn moments_by_hand() {
        let mut recorder = recorded(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!(recorder.mean_ns(), 5.0);
        assert_eq!(recorder.range_ns(), Some((2, 9)));
        assert!((recorder.stddev_ns() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(recorder.interval().unwrap().method, IntervalMethod::StudentT);
    }

    #[test]
    fn deviations_survive_a_large_common_part() {
        let mut recorder = recorded(&[1_000_000_000_000, 1_000_000_000_001, 1_000_000_000_003]);
        // Deviations -4/3, -1/3, 5/3: squares sum to 42/9.
        assert!((recorder.squared_deviations() - 42.0 / 9.0).abs() < 1e-9);
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_samples() {
        for count in [1_usize, 2, 3, 10, 99, 100, 101, 1_000, 12_345] {
            let mut stream = Stream::new(count as u64, "samples");
            let mut sorted: Vec<u64> = (0..count).map(|_| stream.below(500)).collect();
            let mut recorder = recorded(&sorted);
            sorted.sort_unstable();
            let expected = SHARES.map(|share| {
                let rank = (count * share as usize).div_ceil(1000);
                sorted[rank - 1]
            });
            assert_eq!(recorder.percentiles(SHARES), expected, "{count} samples");
            assert_eq!(recorder.percentiles(SHARES), expected, "asked again");
        }
    }

    #[test]
    fn many_samples_go_to_the_histogram_and_stay_within_its_bound() {
        let count = EXACT_SAMPLES as u64 + 100_000;
        let mut stream = Stream::new(1, "samples");
        let mut sorted: Vec<u64> = (0..count).map(|_| 50_000 + stream.below(1 << 24)).collect();
        let mut recorder = recorded(&sorted);
        assert_eq!(recorder.percentile_method(), PercentileMethod::Histogram);
        assert_eq!(recorder.interval().unwrap().method, IntervalMethod::BatchMeans);
        sorted.sort_unstable();
        for (share, found) in SHARES.into_iter().zip(recorder.percentiles(SHARES)) {
            let exact = sorted[nearest_rank(count, share) as usize - 1];
            assert!(found.abs_diff(exact) as f64 <= exact as f64 / 4096.0, "{found} for {exact}");
        }
        assert_eq!(recorder.sum_ns(), sorted.iter().map(|&sample| u128::from(sample)).sum());
    }

    #[test]
    fn nothing_recorded_says_nothing() {
        let mut recorder = Recorder::default();
        assert_eq!((recorder.mean_ns(), recorder.range_ns()), (0.0, None));
        assert_eq!(recorder.stddev_ns(), 0.0);
        assert_eq!(recorder.interval(), None);
        assert_eq!(recorder.percentiles(SHARES), [0; 5]);
    }
}
