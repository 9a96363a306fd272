//! When the requests of a job arrive: as soon as there is room, evenly, or at random.

use crate::rng::Stream;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// What makes a job ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrival {
    /// A request takes the place of one that was served; a rate is an upper bound.
    #[default]
    Closed,
    /// Requests arrive evenly at the rate, whatever has been served.
    Fixed,
    /// Requests arrive as a Poisson process of the rate, whatever has been served.
    Poisson,
}

/// The arrival times of one job with a rate, counted from its start.
#[derive(Clone, Debug)]
pub struct Arrivals {
    rate_iops: u64,
    /// Requests so far.
    count: u64,
    /// For random gaps: the stream, and the next arrival in 2^-64 ns.
    random: Option<(Stream, u128)>,
}

const SECOND_NS: u128 = 1_000_000_000;

impl Arrivals {
    /// At even gaps.
    #[must_use]
    pub const fn even(rate_iops: u64) -> Self {
        Self { rate_iops, count: 0, random: None }
    }

    /// A Poisson process that draws from `stream`.
    #[must_use]
    pub fn poisson(rate_iops: u64, mut stream: Stream) -> Self {
        let first = gap(&mut stream, rate_iops);
        Self { rate_iops, count: 0, random: Some((stream, first)) }
    }

    /// When the next request arrives.
    #[inline]
    pub fn next_time(&mut self) -> Nanos {
        let count = self.count;
        self.count += 1;
        let Some((stream, next)) = &mut self.random else {
            // Request k at k / rate, computed without drift.
            return Nanos((u128::from(count) * SECOND_NS / u128::from(self.rate_iops)) as u64);
        };
        let time = Nanos((*next >> 64) as u64);
        *next = next.saturating_add(gap(stream, self.rate_iops));
        time
    }
}

/// An exponential gap in 2^-64 ns.
fn gap(stream: &mut Stream, rate_iops: u64) -> u128 {
    let (whole, fraction) = stream.exponential();
    let in_means = (u128::from(whole) << 64) + u128::from(fraction);
    in_means * SECOND_NS / u128::from(rate_iops)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_arrivals_do_not_drift() {
        let mut arrivals = Arrivals::even(3);
        let times: Vec<u64> = (0..4).map(|_| arrivals.next_time().0).collect();
        assert_eq!(times, [0, 333_333_333, 666_666_666, 1_000_000_000]);
    }

    #[test]
    fn poisson_gaps_are_exponential() {
        let mut arrivals = Arrivals::poisson(50_000, Stream::new(1, "arrivals"));
        let count = 100_000;
        let times: Vec<u64> = (0..count).map(|_| arrivals.next_time().0).collect();
        assert!(times.is_sorted());
        let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // The mean of 100,000 gaps has a standard error of 0.3 %.
        assert!((mean / 20_000.0 - 1.0).abs() < 0.01, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "as wide as its mean");
        for (means, share) in [(0.5, 0.6065), (1.0, 0.3679), (3.0, 0.0498)] {
            let longer = gaps.iter().filter(|&&gap| gap > means * 20_000.0).count();
            let found = longer as f64 / gaps.len() as f64;
            assert!((found - share).abs() < 0.006, "{found} are longer than {means} means");
        }
    }
}
