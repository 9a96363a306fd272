//! The 95 % interval of a mean latency.
//!
//! Latencies of one run are autocorrelated: a collection slows many requests in a
//! row. Student's interval over single requests would then be far too narrow, so
//! it serves only for few samples. Beyond those, the mean is judged by means of
//! *batches*: non-overlapping runs of consecutive samples, 16 to 31 of them, whose
//! length doubles as the run grows (Schmeiser, "Batch size effects in the analysis
//! of simulation output", 1982). What correlation the batches still carry from one
//! to the next widens the interval by the factor of a first-order process, as in
//! Skart (Tafazzoli, Wilson, Lada, Steiger, 2011).

use serde::Serialize;

/// From how many samples on batches are used.
pub const BATCHES_FROM: u64 = 128;

/// So many full batches become half as many of twice the length.
const MOST_BATCHES: usize = 32;

/// Beyond this the correction would rest on noise; the factor is then 3.
const LARGEST_CORRELATION: f64 = 0.8;

/// How an interval was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalMethod {
    /// Student's t over single samples.
    StudentT,
    /// Student's t over the means of batches.
    BatchMeans,
}

/// A two-sided 95 % interval: mean minus and plus `half_width`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Half the width, in the unit of the samples.
    pub half_width: f64,
    /// How it was found.
    pub method: IntervalMethod,
}

/// The interval of the mean of `count` independent samples.
///
/// `squared_deviations` is the sum of squared differences from the mean. `None`
/// below two samples, of which no interval can be given.
#[must_use]
pub fn student(count: u64, squared_deviations: f64) -> Option<Interval> {
    if count < 2 {
        return None;
    }
    let variance_of_mean = squared_deviations / (count - 1) as f64 / count as f64;
    Some(Interval {
        half_width: t_quantile(count - 1) * variance_of_mean.sqrt(),
        method: IntervalMethod::StudentT,
    })
}

/// Sums of consecutive samples in batches of equal, doubling length.
#[derive(Clone, Debug)]
pub struct BatchMeans {
    batch_len: u64,
    sums: Vec<u128>,
    open_sum: u128,
    open_len: u64,
    frozen: bool,
}

impl Default for BatchMeans {
    fn default() -> Self {
        let sums = Vec::with_capacity(MOST_BATCHES);
        Self { batch_len: 1, sums, open_sum: 0, open_len: 0, frozen: false }
    }
}

impl BatchMeans {
    /// Takes no more samples: the width stays as it is.
    pub const fn freeze(&mut self) {
        self.frozen = true;
    }

    /// Takes the next samples, unless frozen.
    pub fn extend(&mut self, mut samples: &[u64]) {
        if self.frozen {
            return;
        }
        while !samples.is_empty() {
            let room = (self.batch_len - self.open_len) as usize;
            let (now, later) = samples.split_at(room.min(samples.len()));
            self.open_sum += now.iter().map(|&sample| u128::from(sample)).sum::<u128>();
            self.open_len += now.len() as u64;
            if self.open_len == self.batch_len {
                self.close_batch();
            }
            samples = later;
        }
    }

    /// How many batches are full, and of how many samples each is.
    #[must_use]
    pub fn shape(&self) -> (usize, u64) {
        (self.sums.len(), self.batch_len)
    }

    fn close_batch(&mut self) {
        self.sums.push(self.open_sum);
        self.open_sum = 0;
        self.open_len = 0;
        if self.sums.len() == MOST_BATCHES {
            for pair in 0..MOST_BATCHES / 2 {
                self.sums[pair] = self.sums[2 * pair] + self.sums[2 * pair + 1];
            }
            self.sums.truncate(MOST_BATCHES / 2);
            self.batch_len *= 2;
        }
    }

    /// The interval of the mean; `None` below two full batches.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        let count = self.sums.len() as u64;
        if count < 2 {
            return None;
        }
        let means = || self.sums.iter().map(|&sum| sum as f64 / self.batch_len as f64);
        let mean = means().sum::<f64>() / count as f64;
        let squares: f64 = means().map(|batch| (batch - mean).powi(2)).sum();
        let products: f64 =
            means().zip(means().skip(1)).map(|(one, next)| (one - mean) * (next - mean)).sum();
        let correlation =
            if squares > 0.0 { (products / squares).clamp(0.0, LARGEST_CORRELATION) } else { 0.0 };
        let widening = ((1.0 + correlation) / (1.0 - correlation)).sqrt();
        student(count, squares).map(|plain| Interval {
            half_width: plain.half_width * widening,
            method: IntervalMethod::BatchMeans,
        })
    }
}

/// The 0.975 quantile of Student's t distribution.
fn t_quantile(degrees: u64) -> f64 {
    const FEW: [f64; 9] = [
        12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004,
        2.262_157,
    ];
    const NORMAL: f64 = 1.959_963_984_540_054;
    if let Some(exact) = (degrees as usize).checked_sub(1).and_then(|index| FEW.get(index)) {
        return *exact;
    }
    // Cornish and Fisher's expansion in 1/degrees; 2e-4 off at 10, then far less.
    let z = NORMAL;
    let nu = degrees as f64;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / nu + second / (nu * nu) + third / (nu * nu * nu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees, printed) in
            [(1, 12.706), (4, 2.776), (9, 2.262), (10, 2.228), (30, 2.042), (120, 1.980)]
        {
            let ours = t_quantile(degrees);
            assert!((ours - printed).abs() < 6e-4, "{degrees}: {ours} and {printed}");
        }
    }

    #[test]
    fn five_samples_by_hand() {
        // 1 2 3 4 5: mean 3, sum of squared deviations 10, s = 1.5811, s/sqrt(5) = 0.70711.
        let interval = student(5, 10.0).unwrap();
        assert!((interval.half_width - 2.776_445 * 0.5_f64.sqrt()).abs() < 1e-6);
        assert_eq!(student(1, 0.0), None);
    }

    #[test]
    fn batches_double_and_keep_the_sum() {
        let mut batches = BatchMeans::default();
        let samples: Vec<u64> = (0..1_000).collect();
        samples.chunks(7).for_each(|some| batches.extend(some));
        let (count, len) = batches.shape();
        assert_eq!((count, len), (31, 32));
        let in_full_batches = count as u64 * len;
        let expected: u64 = (0..in_full_batches).sum();
        assert_eq!(batches.sums.iter().sum::<u128>(), u128::from(expected));
    }

    #[test]
    fn a_frozen_width_stays() {
        let mut batches = BatchMeans::default();
        batches.extend(&[1, 5, 2, 9, 4, 4, 8, 1]);
        let before = batches.interval();
        batches.freeze();
        batches.extend(&[1_000; 1_000]);
        assert_eq!(batches.interval(), before);
    }

    #[test]
    fn constant_samples_have_no_width() {
        let mut batches = BatchMeans::default();
        batches.extend(&[88_906; 500]);
        assert_eq!(batches.interval().unwrap().half_width, 0.0);
    }

    /// The next state of x' = keep x + noise, and a sample near a million made of it.
    #[expect(clippy::cast_sign_loss, reason = "the state stays within 5 of zero")]
    fn step(state: &mut f64, keep: f64, noise: &mut Stream) -> u64 {
        *state = keep * *state + noise.unit() - 0.5;
        (1e6 + 1e5 * *state) as u64
    }

    /// Share of runs whose interval holds the true mean.
    fn coverage(keep: f64, samples: u64) -> f64 {
        let runs = 400;
        let covered = (0..runs)
            .filter(|&run| {
                let mut noise = Stream::new(run, "noise");
                let mut batches = BatchMeans::default();
                let (mut state, mut sum) = (0.0, 0_u64);
                for _ in 0..samples {
                    let sample = step(&mut state, keep, &mut noise);
                    sum += sample;
                    batches.extend(&[sample]);
                }
                let mean = sum as f64 / samples as f64;
                // Samples are cut to integers, half a unit below on average.
                (mean + 0.5 - 1e6).abs() <= batches.interval().unwrap().half_width
            })
            .count();
        covered as f64 / runs as f64
    }

    #[test]
    fn intervals_cover_with_and_without_autocorrelation() {
        for keep in [0.0, 0.9] {
            let share = coverage(keep, 3_000);
            assert!((0.92..=0.99).contains(&share), "keep {keep}: {share}");
        }
    }

    #[test]
    fn correlation_left_between_batches_widens_the_interval() {
        // 300 samples, each 0.9 of the one before: too few for batches alone, which
        // would cover in 85 % of runs.
        let share = coverage(0.9, 300);
        assert!(share >= 0.90, "{share}");
    }

    #[test]
    fn the_width_is_that_of_theory() {
        // The mean of 20,000 samples that keep 0.9 of the last has (1 + 0.9) / (1 - 0.9)
        // = 19 times the variance that Student's interval assumes.
        let ratio = |seed| {
            let mut noise = Stream::new(seed, "noise");
            let mut batches = BatchMeans::default();
            let mut state = 0.0;
            let samples: Vec<u64> =
                (0..20_000).map(|_| step(&mut state, 0.9, &mut noise)).collect();
            batches.extend(&samples);
            let mean = samples.iter().sum::<u64>() as f64 / samples.len() as f64;
            let squares = samples.iter().map(|&sample| (sample as f64 - mean).powi(2)).sum();
            let naive = student(samples.len() as u64, squares).unwrap();
            batches.interval().unwrap().half_width / naive.half_width
        };
        let mean_ratio = (0..30).map(ratio).sum::<f64>() / 30.0;
        assert!((4.2..5.4).contains(&mean_ratio), "{mean_ratio} for {}", 19_f64.sqrt());
    }
}
