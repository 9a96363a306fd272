//! Random numbers: one seed, split by name, the same on every machine.
//!
//! Adding a stream does not shift the others, because each stream is seeded by
//! (seed, name) alone. The generator is named, since a "standard" one may change.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A named stream of random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    generator: Xoshiro256PlusPlus,
}

impl Stream {
    /// The stream called `name` of a run with `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a over the name, then the generator's own SplitMix expansion.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mixed = hash.wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Self { generator: Xoshiro256PlusPlus::seed_from_u64(mixed) }
    }

    /// Uniform over all 64-bit values.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Uniform over `0..bound` without bias (Lemire 2019, "Fast random integer
    /// generation in an interval").
    ///
    /// # Panics
    /// If `bound` is zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "an empty range has no random member");
        let mut product = u128::from(self.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Uniform over `[0, 1)` with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Exponential of mean 1, as a whole number and a fraction of 2^64. Von Neumann's
    /// method ("Various techniques used in connection with random digits", 1951) only
    /// compares integers: unlike a logarithm it gives the same on every machine.
    pub fn exponential(&mut self) -> (u64, u64) {
        let mut whole = 0;
        loop {
            let first = self.next_u64();
            let (mut last, mut falling) = (first, 1_u64);
            loop {
                let next = self.next_u64();
                if next >= last {
                    break;
                }
                (last, falling) = (next, falling + 1);
            }
            if falling % 2 == 1 {
                return (whole, first);
            }
            whole += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let draw = |seed, name| Stream::new(seed, name).next_u64();
        assert_eq!(draw(1, "gc"), draw(1, "gc"));
        assert_ne!(draw(1, "gc"), draw(1, "offsets"));
        assert_ne!(draw(1, "gc"), draw(2, "gc"));
    }

    #[test]
    fn below_stays_below_and_reaches_all() {
        let mut stream = Stream::new(7, "test");
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[stream.below(10) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (850..1150).contains(&count)), "{seen:?}");
    }
}
