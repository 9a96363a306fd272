//! Latencies that are longer than the drive's own: noise, spikes, drift.

use crate::config::Disturbance;
use crate::rounding::nearest;
use ssdscope_io::rng::Stream;

/// What holds back the completions of a drive.
#[derive(Clone, Debug)]
pub struct Noise {
    sigma: f64,
    noise: Stream,
    spike_ratio: f64,
    spike_ns: u64,
    spikes: Stream,
    drift_ratio: f64,
    drift_period_ns: u64,
}

impl Noise {
    /// Each kind draws from a stream of its own, so that one does not shift another.
    pub fn new(config: &Disturbance, seed: u64) -> Self {
        Self {
            sigma: config.noise_sigma,
            noise: Stream::new(seed, "noise"),
            spike_ratio: config.spike_ratio,
            spike_ns: config.spike_ns,
            spikes: Stream::new(seed, "spikes"),
            drift_ratio: config.drift_ratio,
            drift_period_ns: config.drift_period_ns,
        }
    }

    /// How long a completion is held back that the drive gave at `now_ns`, after `served_ns`.
    pub fn held_ns(&mut self, served_ns: u64, now_ns: u64) -> u64 {
        let mut factor = 1.0;
        if self.sigma > 0.0 {
            factor *= exp(self.sigma * half_normal(&mut self.noise));
        }
        if self.drift_ratio > 0.0 {
            factor *= 1.0 + self.drift_ratio * triangle(now_ns, self.drift_period_ns);
        }
        let spiked = self.spike_ratio > 0.0 && self.spikes.unit() < self.spike_ratio;
        let spike_ns = if spiked { self.spike_ns } else { 0 };
        nearest(served_ns as f64 * (factor - 1.0)) + spike_ns
    }
}

/// Rises evenly from 0 to 1 over half a period and falls again.
fn triangle(now_ns: u64, period_ns: u64) -> f64 {
    let phase = (now_ns % period_ns) as f64 / period_ns as f64;
    1.0 - (2.0 * phase - 1.0).abs()
}

/// The absolute value of a standard normal variate, by rejection from an exponential one
/// (von Neumann 1951): without logarithms and cosines, which differ between machines.
fn half_normal(stream: &mut Stream) -> f64 {
    loop {
        let value = exponential(stream);
        if exponential(stream) > (value - 1.0) * (value - 1.0) / 2.0 {
            return value;
        }
    }
}

fn exponential(stream: &mut Stream) -> f64 {
    let (whole, fraction) = stream.exponential();
    whole as f64 + fraction as f64 / 2.0_f64.powi(64)
}

/// The exponential of a number that is not negative, by arithmetic that every machine does
/// alike: the series near zero, squared as often as it was halved to come there.
fn exp(value: f64) -> f64 {
    let (mut small, mut halvings) = (value, 0);
    while small > 0.5 {
        (small, halvings) = (small / 2.0, halvings + 1);
    }
    let (mut term, mut sum) = (1.0, 1.0);
    for power in 1..16 {
        term *= small / f64::from(power);
        sum += term;
    }
    (0..halvings).fold(sum, |result, _| result * result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_that_of_the_standard_library() {
        for step in 0..1000 {
            let value = f64::from(step) / 100.0;
            assert!((exp(value) / value.exp() - 1.0).abs() < 1e-13, "{value}");
        }
        assert_eq!(exp(0.0), 1.0);
    }

    #[test]
    fn half_of_a_normal_distribution_lies_where_it_should() {
        let mut stream = Stream::new(1, "noise");
        let count = 200_000;
        let values: Vec<f64> = (0..count).map(|_| half_normal(&mut stream)).collect();
        // P(|z| < x), from tables.
        for (limit, share) in [(0.5, 0.3829), (0.6745, 0.5), (1.0, 0.6827), (2.0, 0.9545)] {
            let below = values.iter().filter(|&&value| value < limit).count() as f64;
            let found = below / f64::from(count);
            // Three standard errors of a share near a half.
            assert!((found - share).abs() < 0.0034, "{found} lie below {limit}, not {share}");
        }
        let square = values.iter().map(|value| value * value).sum::<f64>() / f64::from(count);
        assert!((square - 1.0).abs() < 0.01, "{square}");
    }

    #[test]
    fn a_triangle_rises_for_half_its_period() {
        let at = |now_ns| triangle(now_ns, 1000);
        assert_eq!([at(0), at(250), at(500), at(750), at(1000)], [0.0, 0.5, 1.0, 0.5, 0.0]);
    }
}
