//! Every block of a region once, in random order, in little memory.
//!
//! A network of Feistel permutes as many numbers as the next power of four has; what lies beyond
//! the region is permuted again until it lies within (Black and Rogaway, "Ciphers with arbitrary
//! finite domains", 2002). Blocks are at least a quarter of the numbers, so few rounds suffice.

use crate::rng::Stream;

const ROUNDS: usize = 4;

/// An order of the blocks of a region.
#[derive(Clone, Debug)]
pub(super) struct Once {
    blocks: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
    /// Blocks that were visited.
    pub visited: u64,
}

impl Once {
    /// Of so many blocks.
    pub fn new(blocks: u64, keys: &mut Stream) -> Self {
        let bits = (u64::BITS - blocks.saturating_sub(1).leading_zeros()).max(2);
        let keys = std::array::from_fn(|_| keys.next_u64());
        Self { blocks, half_bits: bits.div_ceil(2), keys, visited: 0 }
    }

    /// Whether so many are all of them.
    pub fn are_all(&self, visited: u64) -> bool {
        visited >= self.blocks
    }

    /// The next block.
    pub fn next(&mut self) -> u64 {
        let mut block = self.visited % self.blocks.max(1);
        self.visited += 1;
        loop {
            block = self.permuted(block);
            if block < self.blocks.max(1) {
                return block;
            }
        }
    }

    fn permuted(&self, number: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits & mask, number & mask);
        for key in self.keys {
            (left, right) = (right, left ^ mixed(right ^ key) & mask);
        }
        left << self.half_bits | right
    }
}

/// A number whose every bit hangs on every bit of the given one (Stafford's thirteenth mix).
const fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_comes_once_and_not_in_order() {
        for blocks in [1_u64, 2, 3, 15, 16, 17, 1_000, 4_096, 5_000] {
            let mut once = Once::new(blocks, &mut Stream::new(7, "once"));
            let order: Vec<u64> = (0..blocks).map(|_| once.next()).collect();
            assert!(once.are_all(once.visited));
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..blocks).collect::<Vec<_>>(), "{blocks}");
            let in_order = order.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
            assert!(blocks < 100 || in_order < 8, "{in_order} of {blocks}");
        }
    }

    #[test]
    fn the_halves_of_an_order_reach_everywhere_alike() {
        let mut once = Once::new(10_000, &mut Stream::new(3, "once"));
        let low = (0..5_000).filter(|_| once.next() < 5_000).count();
        // 2,500 of 5,000 with a standard deviation of 25.
        assert!((2_400..2_600).contains(&low), "{low}");
    }
}
