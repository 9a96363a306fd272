//! A log-linear histogram: any number of latencies in bounded memory.
//!
//! Values below 2^12 have a bucket each. Above, every power of two is cut into
//! 2^11 buckets of equal width, and a bucket answers with its middle, so that the
//! relative error is at most 2^-12 (0.024 %).

/// Buckets per power of two, as a power of two.
const BUCKET_BITS: u32 = 11;

/// Counts of values by bucket. Memory grows with the largest value: at most 0.9 MB.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u64>,
}

impl Histogram {
    /// Counts a value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bucket = bucket_of(value);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
    }

    /// The values of the given ranks (1 = smallest), which must ascend.
    #[must_use]
    pub fn at_ranks<const N: usize>(&self, ranks: [u64; N]) -> [u64; N] {
        let mut buckets = self.counts.iter().enumerate();
        let (mut bucket, mut reached) = (0, 0_u64);
        ranks.map(|rank| {
            while reached < rank {
                let Some((next, count)) = buckets.next() else { break };
                bucket = next;
                reached += count;
            }
            middle_of(bucket)
        })
    }
}

/// The bucket that holds `value`.
#[inline]
fn bucket_of(value: u64) -> usize {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(BUCKET_BITS + 1);
    // The shifted value is in [2^11, 2^12) wherever shift > 0.
    ((u64::from(shift) << BUCKET_BITS) + (value >> shift)) as usize
}

/// The middle of a bucket's range.
fn middle_of(bucket: usize) -> u64 {
    let shift = (bucket >> BUCKET_BITS).saturating_sub(1);
    let lowest = (bucket - (shift << BUCKET_BITS)) as u64;
    (lowest << shift) + ((1_u64 << shift) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn buckets_ascend_and_hold_what_they_say() {
        let mut last = 0;
        for value in (0..10_000).chain((0..50).map(|power| (1 << power) + 12_345)) {
            let bucket = bucket_of(value);
            if value < 10_000 {
                assert!(bucket == last || bucket == last + 1, "{value}");
                last = bucket;
            }
            let error = middle_of(bucket).abs_diff(value) as f64;
            assert!(error <= value as f64 / 4096.0, "{value} became {}", middle_of(bucket));
        }
        assert_eq!(middle_of(bucket_of(4095)), 4095);
        assert!(bucket_of(u64::MAX) < 54 << BUCKET_BITS);
    }

    #[test]
    fn any_rank_is_within_the_bound_of_the_sorted_value() {
        let mut stream = Stream::new(3, "values");
        let mut histogram = Histogram::default();
        let mut sorted: Vec<u64> =
            (0..20_000).map(|_| stream.next_u64() >> (20 + stream.below(44))).collect();
        sorted.iter().for_each(|&value| histogram.record(value));
        sorted.sort_unstable();
        let ranks = [1, 10_000, 18_000, 19_000, 19_800, 19_980, 20_000];
        for (rank, found) in ranks.into_iter().zip(histogram.at_ranks(ranks)) {
            let exact = sorted[rank as usize - 1];
            assert!(found.abs_diff(exact) as f64 <= exact as f64 / 4096.0, "{found} for {exact}");
        }
    }
}
