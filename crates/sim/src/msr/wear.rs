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
