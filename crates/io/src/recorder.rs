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

#[derive(Clone, Debug)]
enum Samples {
    All(Vec<u64>),
    Counted(Histogram),
}

/// Latencies of one direction of a run, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Recorder {
    count: u64,
    sum: u128,
    sum_of_squares: u128,
    min: u64,
    max: u64,
    samples: Samples,
    batches: BatchMeans,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            count: 0,
            sum: 0,
            sum_of_squares: 0,
            min: u64::MAX,
            max: 0,
            samples: Samples::All(Vec::new()),
            batches: BatchMeans::default(),
        }
    }
}

impl Recorder {
    /// Takes one latency.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.count += 1;
        self.sum += u128::from(latency_ns);
        self.sum_of_squares += u128::from(latency_ns) * u128::from(latency_ns);
        self.min = self.min.min(latency_ns);
        self.max = self.max.max(latency_ns);
        self.batches.push(latency_ns);
        match &mut self.samples {
            Samples::All(all) if all.len() < EXACT_SAMPLES => all.push(latency_ns),
            _ => self.count_in_histogram(latency_ns),
        }
    }

    #[inline(never)]
    fn count_in_histogram(&mut self, latency_ns: u64) {
        if let Samples::All(all) = &self.samples {
            let mut histogram = Histogram::default();
            all.iter().for_each(|&sample| histogram.record(sample));
            self.samples = Samples::Counted(histogram);
        }
        if let Samples::Counted(histogram) = &mut self.samples {
            histogram.record(latency_ns);
        }
    }

    /// How many were taken.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Their exact sum.
    #[must_use]
    pub const fn sum_ns(&self) -> u128 {
        self.sum
    }

    /// The smallest and the largest; `None` without samples.
    #[must_use]
    pub fn range_ns(&self) -> Option<(u64, u64)> {
        (self.count > 0).then_some((self.min, self.max))
    }

    /// The mean; zero without samples.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// The sample standard deviation (n - 1); zero below two samples.
    #[must_use]
    pub fn stddev_ns(&self) -> f64 {
        if self.count < 2 {
            0.0
        } else {
            (self.squared_deviations() / (self.count - 1) as f64).sqrt()
        }
    }

    /// The 95 % interval of the mean; `None` below two samples.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        if self.count < BATCHES_FROM {
            interval::student(self.count, self.squared_deviations())
        } else {
            self.batches.interval()
        }
    }

    /// Half the width of that interval as a share of the mean.
    #[must_use]
    pub fn relative_half_width(&self) -> Option<f64> {
        let half_width = self.interval()?.half_width;
        // A mean of zero has no width either: everything took no time at all.
        Some(if half_width == 0.0 { 0.0 } else { half_width / self.mean_ns() })
    }

    /// Nearest-rank percentiles for ascending shares in thousandths (500 = median);
    /// zeros without samples. Reorders the samples it keeps, hence `&mut`.
    #[must_use]
    pub fn percentiles<const N: usize>(&mut self, thousandths: [u64; N]) -> [u64; N] {
        if self.count == 0 {
            return [0; N];
        }
        let ranks = thousandths.map(|share| nearest_rank(self.count, share));
        match &mut self.samples {
            Samples::All(all) => select_ranks(all, ranks),
            // The ends are known exactly, and a bucket's middle may lie beyond them.
            Samples::Counted(histogram) => {
                histogram.at_ranks(ranks).map(|value| value.clamp(self.min, self.max))
            }
        }
    }

    /// How [`Self::percentiles`] finds them.
    #[must_use]
    pub const fn percentile_method(&self) -> PercentileMethod {
        match self.samples {
            Samples::All(_) => PercentileMethod::Exact,
            Samples::Counted(_) => PercentileMethod::Histogram,
        }
    }

    /// The sum of squared differences from the mean, without cancellation: an
    /// integer sum around the mean cut to an integer, then the cut corrected.
    fn squared_deviations(&self) -> f64 {
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
        let recorder = recorded(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!(recorder.mean_ns(), 5.0);
        assert_eq!(recorder.range_ns(), Some((2, 9)));
        assert!((recorder.stddev_ns() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(recorder.interval().unwrap().method, IntervalMethod::StudentT);
    }

    #[test]
    fn deviations_survive_a_large_common_part() {
        let recorder = recorded(&[1_000_000_000_000, 1_000_000_000_001, 1_000_000_000_003]);
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
        assert_eq!(recorder.interval(), None);
        assert_eq!(recorder.percentiles(SHARES), [0; 5]);
    }
}
