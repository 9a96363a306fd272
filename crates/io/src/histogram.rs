//! A log-linear histogram: any number of latencies in bounded memory.
//!
//! With `BITS` = 11, values below 2^12 have a bucket each. Above, every power of two is cut
//! into 2^11 buckets of equal width, and a bucket answers with its middle, so that the
//! relative error is at most 2^-12 (0.024 %). Fewer bits take less memory and err more.

/// Counts of values by bucket, 2^`BITS` of them per power of two. Memory grows with the largest
/// value: with 11 bits to 0.9 MB at most.
#[derive(Clone, Debug, Default)]
pub struct Histogram<const BITS: u32 = 11> {
    counts: Vec<u64>,
}

impl<const BITS: u32> Histogram<BITS> {
    /// One without values.
    #[must_use]
    pub const fn new() -> Self {
        Self { counts: Vec::new() }
    }

    /// Whether nothing was counted.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Counts a value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bucket = bucket_of::<BITS>(value);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(ours, theirs)| *ours += theirs);
    }

    /// How many values were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
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
            middle_of::<BITS>(bucket)
        })
    }
}

/// The bucket that holds `value`.
#[inline]
fn bucket_of<const BITS: u32>(value: u64) -> usize {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(BITS + 1);
    // The shifted value is in [2^BITS, 2^(BITS + 1)) wherever shift > 0.
    ((u64::from(shift) << BITS) + (value >> shift)) as usize
}

/// The middle of a bucket's range.
fn middle_of<const BITS: u32>(bucket: usize) -> u64 {
    let shift = (bucket >> BITS).saturating_sub(1);
    let lowest = (bucket - (shift << BITS)) as u64;
    (lowest << shift) + ((1_u64 << shift) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn check_buckets<const BITS: u32>() {
        let mut last = 0;
        for value in (0..10_000).chain((0..50).map(|power| (1 << power) + 12_345)) {
            let bucket = bucket_of::<BITS>(value);
            if value < 10_000 {
                assert!(bucket == last || bucket == last + 1, "{value}");
                last = bucket;
            }
            let middle = middle_of::<BITS>(bucket);
            let bound = value as f64 / f64::from(2_u32 << BITS);
            assert!(middle.abs_diff(value) as f64 <= bound, "{value} became {middle}");
        }
        let exact = (2 << BITS) - 1;
        assert_eq!(middle_of::<BITS>(bucket_of::<BITS>(exact)), exact);
        assert!(bucket_of::<BITS>(u64::MAX) < (65 - BITS as usize) << BITS);
    }

    #[test]
    fn buckets_ascend_and_hold_what_they_say() {
        check_buckets::<11>();
        check_buckets::<8>();
    }

    #[test]
    fn merged_counts_are_those_of_all_values() {
        let (mut low, mut high, mut all) = <(Histogram, Histogram, Histogram)>::default();
        for value in 0..5_000_u64 {
            let other = value * value;
            low.record(value);
            high.record(other);
            all.record(value);
            all.record(other);
        }
        low.merge(&high);
        assert_eq!(low.count(), 10_000);
        assert_eq!(
            low.at_ranks([1, 5_000, 9_999, 10_000]),
            all.at_ranks([1, 5_000, 9_999, 10_000])
        );
    }

    #[test]
    fn any_rank_is_within_the_bound_of_the_sorted_value() {
        let mut stream = Stream::new(3, "values");
        let mut histogram: Histogram = Histogram::default();
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
