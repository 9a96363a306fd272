//! What the wear-aware policy does differently from the greedy one.
//!
//! The original walks the list that its search for the fewest valid pages leaves
//! behind: every block that was the best so far, the last one first. A block with
//! less than 85 % of the mean life left in its plane is filled with the data of the
//! block that was erased longest ago, and that block is cleaned instead. Where no
//! such block exists, one below 80 % is passed over with a probability that grows as
//! its life shrinks. The last block of the list is taken as it is.
//!
//! With a life of 50 erasures this takes a block erased 8 times more often than
//! the mean.

use super::element::{BlockState, Element};
use super::geometry::BlockId;
use super::stuck::Stuck;

/// Below this share of the mean life a block gets cold data.
const MIGRATE_BELOW: f64 = 0.85;
/// Below this share of the mean life a block may be passed over.
const SKIP_BELOW: f64 = 0.80;

impl Element {
    /// The block to clean where `head` would be the greedy choice, and what
    /// migration already cost.
    pub fn choose_by_wear(&mut self, plane: u32, head: BlockId) -> Result<(BlockId, u64), Stuck> {
        let mean = self.mean_life(plane);
        if self.life(head) >= MIGRATE_BELOW * mean {
            return Ok((head, 0));
        }
        let list = self.best_so_far(plane);
        for &block in list.iter().skip(1).rev() {
            let life = self.life(block);
            if life < MIGRATE_BELOW * mean {
                if let Some(cold) = self.coldest_but(plane, block) {
                    return Ok((cold, self.migrate(cold, block, plane)?));
                }
                if life < SKIP_BELOW * mean && self.chance.unit() >= life / mean / SKIP_BELOW {
                    continue;
                }
            }
            return Ok((block, 0));
        }
        Ok((list[0], 0))
    }

    /// Erasures left.
    fn life(&self, block: BlockId) -> f64 {
        f64::from(self.endurance - self.blocks.get(block.at()).erases)
    }

    /// Mean of the erasures left over all blocks of a plane.
    fn mean_life(&self, plane: u32) -> f64 {
        let spent = self.planes[plane as usize].erasures as f64;
        f64::from(self.endurance) - spent / f64::from(self.shape.blocks_per_plane)
    }

    fn cleanable(&self, plane: u32) -> impl Iterator<Item = BlockId> {
        (0..self.shape.blocks_per_plane).map(move |index| self.shape.block(plane, index)).filter(
            |id| {
                let block = self.blocks.get(id.at());
                block.state == BlockState::Full && block.erases < self.endurance
            },
        )
    }

    /// The blocks that were the best so far in a search from the lowest number up.
    fn best_so_far(&self, plane: u32) -> Vec<BlockId> {
        let mut least = u16::MAX;
        self.cleanable(plane)
            .filter(|id| {
                let valid = self.blocks.get(id.at()).valid;
                let better = valid <= least;
                least = least.min(valid);
                better
            })
            .collect()
    }

    /// The block with data that was erased longest ago.
    fn coldest_but(&self, plane: u32, worn: BlockId) -> Option<BlockId> {
        self.cleanable(plane)
            .filter(|&id| id != worn && self.blocks.get(id.at()).valid > 0)
            .min_by_key(|id| self.blocks.get(id.at()).erased_at)
    }

    /// Empties `worn` and moves the data of `cold` into it; `cold` is left to be erased.
    fn migrate(&mut self, cold: BlockId, worn: BlockId, plane: u32) -> Result<u64, Stuck> {
        let emptied_ns = self.clean_block(worn, plane)?;
        let pages = u64::from(self.blocks.get(cold.at()).valid);
        self.transplant(cold, worn);
        self.work.pages_read += pages;
        self.work.pages_programmed += pages;
        self.work.pages_migrated += pages;
        Ok(emptied_ns + pages * (self.costs.read_ns + self.costs.program_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msr::swarm::small;
    use crate::msr::{MsrParams, Policy};

    /// One plane with blocks 0, 1, 2 full, and block 2 erased `erases` times of 50.
    fn element(valid: u16, erases: u32) -> Element {
        let params = MsrParams {
            elements: 1,
            planes: 1,
            blocks_per_plane: 8,
            reserve_blocks: 4,
            policy: Policy::WearAware,
            endurance_erases: 50,
            ..small()
        };
        let mut element = Element::new(&params, 0, 1);
        for index in 0..3 {
            element.blocks.entry(index).valid = valid;
        }
        element.blocks.entry(2).erases = erases;
        element.planes[0].erasures = erases.into();
        element.histogram = vec![0; erases as usize + 1];
        element.histogram[erases as usize] = 1;
        element
    }

    #[test]
    fn a_block_near_the_mean_is_cleaned_as_by_the_greedy_policy() {
        // 43 left, the mean 49.125: 87.5 %.
        let mut element = element(5, 7);
        assert_eq!(element.choose_by_wear(0, BlockId(2)), Ok((BlockId(2), 0)));
    }

    #[test]
    fn a_worn_block_gets_the_data_of_the_block_erased_longest_ago() {
        // 41 left, the mean 48.875: 83.9 %.
        let mut element = element(15, 9);
        element.blocks.entry(0).erased_at = 5;
        element.blocks.entry(1).erased_at = 4;
        let (victim, ns) = element.choose_by_wear(0, BlockId(2)).unwrap();
        assert_eq!(victim, BlockId(1));
        // 15 pages moved, which fills the open block, the worn block erased, 15 pages copied.
        let page_ns = 25_000 + 200_000;
        assert_eq!(ns, 15 * page_ns + 213_200 + 1_500_000 + 15 * page_ns);
        let (cold, worn) = (element.blocks.get(1), element.blocks.get(2));
        assert_eq!((cold.valid, worn.valid, worn.erases), (0, 15, 10));
        assert_eq!((worn.state, worn.bsn), (BlockState::Full, cold.bsn));
    }

    #[test]
    fn a_worn_block_without_cold_data_is_passed_over_by_chance() {
        // 30 left, the mean 47.5: 63 %, so it is taken with probability 0.63 / 0.8 = 0.789.
        let mut element = element(0, 20);
        let mut taken = 0;
        for _ in 0..10_000 {
            let (victim, ns) = element.choose_by_wear(0, BlockId(2)).unwrap();
            assert!(ns == 0 && [BlockId(1), BlockId(2)].contains(&victim));
            taken += u32::from(victim == BlockId(2));
        }
        assert!((7_700..8_100).contains(&taken), "{taken}");
    }
}
