//! Wear-aware: greedy, but worn blocks are spared and given cold data.
//!
//! The rule of the SSD extension of `DiskSim` (Agrawal et al., USENIX ATC 2008,
//! section 3.5), applied to a plane: with `life` the erases a block has left and
//! `mean` the plane's average of it,
//!
//! * a candidate with `life < 0.80 mean` is passed over with the probability
//!   `1 - (life / mean) / 0.80`;
//! * a chosen block with `life < 0.85 mean` is rested: once erased, it takes the
//!   pages of the block that has kept its data longest.

use super::Choice;
use crate::ftl::plane::Plane;
use crate::ftl::victims::NOT_A_VICTIM;
use crate::geometry::BlockId;
use ssdscope_io::rng::Stream;

/// Below this share of the mean life left a block may be passed over.
const PASS_OVER_BELOW: f64 = 0.80;
/// Below this share of the mean life left a chosen block is given cold data.
const REST_BELOW: f64 = 0.85;

/// The policy's state.
#[derive(Clone, Debug)]
pub struct WearAware {
    endurance_erases: u32,
    random: Stream,
}

impl WearAware {
    /// For blocks made for `endurance_erases`, with its own random numbers.
    #[must_use]
    pub const fn new(endurance_erases: u32, random: Stream) -> Self {
        Self { endurance_erases, random }
    }

    fn life(&self, plane: &Plane, block: BlockId) -> f64 {
        f64::from(self.endurance_erases.saturating_sub(plane.erases[block.0 as usize]))
    }

    fn mean_life(&self, plane: &Plane) -> f64 {
        let erases: u64 = plane.erases.iter().map(|&count| u64::from(count)).sum();
        let mean_erases = erases as f64 / plane.erases.len() as f64;
        // Past its rated life a drive has none left to share out; one keeps ratios finite.
        (f64::from(self.endurance_erases) - mean_erases).max(1.0)
    }

    /// The block to collect and, if it is worn, the cold block to move into it.
    pub fn choose(&mut self, plane: &Plane, pages_per_block: u32) -> Option<Choice> {
        let mean = self.mean_life(plane);
        let mut passed_over: Vec<BlockId> = Vec::new();
        let mut candidates: Vec<u32> = plane.victim_keys.iter().copied().collect();
        let victim = loop {
            let least = *candidates.iter().min()?;
            if least >= pages_per_block {
                // Only worn ones are left: the least bad of them, or nothing.
                break *passed_over.first()?;
            }
            let index = candidates.iter().position(|&key| key == least)?;
            let candidate = BlockId(index as u32);
            let ratio = self.life(plane, candidate) / mean;
            let pass =
                ratio < PASS_OVER_BELOW && self.random.unit() < 1.0 - ratio / PASS_OVER_BELOW;
            if !pass {
                break candidate;
            }
            passed_over.push(candidate);
            candidates[index] = NOT_A_VICTIM;
        };
        let worn = self.life(plane, victim) < REST_BELOW * mean;
        let cold = if worn { coldest(plane, victim) } else { None };
        Some(Choice { victim, cold })
    }
}

/// The block other than `victim` that was sealed longest ago.
fn coldest(plane: &Plane, victim: BlockId) -> Option<BlockId> {
    let candidates = plane.victim_keys.iter().enumerate();
    candidates
        .filter(|&(index, &key)| key != NOT_A_VICTIM && index != victim.0 as usize)
        .min_by_key(|&(index, _)| plane.sealed_at[index])
        .map(|(index, _)| BlockId(index as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::plane::BlockState;

    fn plane(erases: &[u32], valid: &[u32]) -> Plane {
        let mut plane = Plane::new(erases.len() as u32);
        plane.free.clear();
        plane.erases = erases.to_vec();
        plane.valid = valid.to_vec();
        for index in 0..erases.len() {
            plane.state[index] = BlockState::Sealed;
            plane.sealed_at[index] = index as u64;
            plane.refresh_key(BlockId(index as u32));
        }
        plane
    }

    #[test]
    fn with_even_wear_it_is_greedy() {
        let mut policy = WearAware::new(100, Stream::new(1, "test"));
        let plane = plane(&[5, 5, 5, 5], &[9, 3, 7, 3]);
        assert_eq!(policy.choose(&plane, 10), Some(Choice { victim: BlockId(1), cold: None }));
    }

    #[test]
    fn a_worn_victim_is_rested_with_the_coldest_data() {
        let mut policy = WearAware::new(100, Stream::new(1, "test"));
        // Mean life 95; block 1 has 80 left: 0.842 of it, so chosen, but rested.
        let plane = plane(&[0, 20, 0, 0], &[9, 3, 7, 8]);
        let expected = Choice { victim: BlockId(1), cold: Some(BlockId(0)) };
        assert_eq!(policy.choose(&plane, 10), Some(expected));
    }

    #[test]
    fn a_spent_block_is_always_passed_over() {
        let mut policy = WearAware::new(100, Stream::new(1, "test"));
        let plane = plane(&[0, 100, 0, 0], &[9, 3, 7, 8]);
        for _ in 0..50 {
            assert_eq!(policy.choose(&plane, 10).unwrap().victim, BlockId(2));
        }
    }
}
