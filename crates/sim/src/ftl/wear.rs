//! Wear levelling: which free block is used, and when data that rest are moved.
//!
//! *Dynamic*: the host, whose data soon change again, writes to the free block that was
//! erased least; what collection moves has proved to last, and goes to the one erased most.
//! *Static*: blocks whose data never change are never erased by collection, however worn the
//! others are. So when a block has been collected and the most and least erased ones are too
//! far apart, the data of the least erased block (of equals the one filled longest ago) go to
//! the most erased free one. One such move for one collected block, so that the host never
//! waits for a series of them.

use super::plane::{BlockState, Plane};
use super::victims::NOT_A_VICTIM;
use crate::geometry::BlockId;

impl Plane {
    /// Where in the list of free blocks the one erased least is; of equals the one that has
    /// been free longest.
    #[must_use]
    pub fn least_worn(&self) -> Option<usize> {
        let places = 0..self.free.len();
        places.min_by_key(|&place| self.erases[self.free[place].0 as usize])
    }

    /// Takes the free block erased most; of equals the one that has been free longest.
    pub fn take_most_worn(&mut self) -> Option<BlockId> {
        let places = (0..self.free.len()).rev();
        let place = places.max_by_key(|&place| self.erases[self.free[place].0 as usize])?;
        self.free.remove(place)
    }

    /// The block to move if blocks from the `first` on may be `spread_erases` erases apart,
    /// and one is further.
    #[must_use]
    pub fn resting_too_long(&self, first: u32, spread_erases: u32) -> Option<BlockId> {
        let in_use = self.erases.iter().zip(&self.state).skip(first as usize);
        let in_use = in_use.filter(|&(_, &state)| state != BlockState::Retired);
        let most = *in_use.map(|(erases, _)| erases).max()?;
        let filled =
            (0..self.erases.len()).filter(|&index| self.victim_keys[index] != NOT_A_VICTIM);
        let least = filled.min_by_key(|&index| (self.erases[index], self.sealed_at[index]))?;
        (most - self.erases[least] > spread_erases).then_some(BlockId(least as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(erases: &[u32]) -> Plane {
        let mut plane = Plane::new(erases.len() as u32);
        plane.erases = erases.to_vec();
        plane
    }

    #[test]
    fn free_blocks_are_taken_by_their_wear() {
        let mut plane = plane(&[5, 2, 7, 2, 7]);
        let take_least_worn = |plane: &mut Plane| {
            let place = plane.least_worn()?;
            plane.free.remove(place)
        };
        assert_eq!(take_least_worn(&mut plane), Some(BlockId(1)));
        assert_eq!(plane.take_most_worn(), Some(BlockId(2)));
        assert_eq!(take_least_worn(&mut plane), Some(BlockId(3)));
        assert_eq!(plane.take_most_worn(), Some(BlockId(4)));
        assert_eq!((plane.take_most_worn(), plane.least_worn()), (Some(BlockId(0)), None));
    }

    #[test]
    fn the_least_erased_block_that_holds_data_rests_too_long() {
        let mut plane = plane(&[12, 3, 1, 3, 0]);
        plane.sealed_at = vec![0, 9, 8, 7, 0];
        for block in 0..4 {
            plane.state[block] = BlockState::Sealed;
        }
        plane.state[2] = BlockState::Open;
        (0..5).for_each(|block| plane.refresh_key(BlockId(block)));
        assert_eq!(plane.resting_too_long(0, 8), Some(BlockId(3)), "filled before block 1");
        assert_eq!(plane.resting_too_long(0, 9), None, "nine apart, which is allowed");
    }
}
