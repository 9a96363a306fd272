//! One plane: its free blocks, where it writes next, and which block to clean.

/// Blocks per word of the bitmap and per group of the victim index.
const GROUP: u32 = 64;
/// The key of no block.
const NONE: u32 = u32::MAX;

/// A block that can be cleaned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub index: u32,
    pub valid: u32,
}

/// The state of a plane. Copies cost two short arrays.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    /// Index of the block being written.
    pub active_index: u32,
    /// Its sequence number: later opened, larger.
    pub active_bsn: u32,
    /// The page of it that is written next; the summary's number when it is full.
    pub next_page: u32,
    /// How many blocks are free.
    pub free_blocks: u32,
    /// Where the search for a free block starts.
    cursor: u32,
    /// One bit per free block.
    free: Vec<u64>,
    /// Per group of blocks, the least key of those that can be cleaned.
    least: Vec<u32>,
    /// Erasures of all its blocks together.
    pub erasures: u64,
}

/// Fewest valid pages first, of equals the highest number.
const fn key(candidate: Candidate) -> u32 {
    (candidate.valid << 16) | (0xffff - candidate.index)
}

const fn candidate(key: u32) -> Candidate {
    Candidate { index: 0xffff - (key & 0xffff), valid: key >> 16 }
}

impl Plane {
    /// All blocks from `data_blocks` on are free but the first, which is written.
    pub fn new(blocks: u32, data_blocks: u32, active_bsn: u32) -> Self {
        let groups = blocks.div_ceil(GROUP) as usize;
        let mut plane = Self {
            active_index: data_blocks,
            active_bsn,
            next_page: 0,
            free_blocks: 0,
            cursor: 0,
            free: vec![0; groups],
            least: vec![NONE; groups],
            erasures: 0,
        };
        for index in data_blocks + 1..blocks {
            plane.give(index);
        }
        plane
    }

    /// Block `index` becomes free.
    pub fn give(&mut self, index: u32) {
        self.free[(index / GROUP) as usize] |= 1 << (index % GROUP);
        self.free_blocks += 1;
    }

    /// Block `index` is free no longer.
    pub fn take(&mut self, index: u32) {
        self.free[(index / GROUP) as usize] &= !(1 << (index % GROUP));
        self.free_blocks -= 1;
    }

    /// Takes the first free block at or after the cursor, else the first of all.
    pub fn take_next(&mut self, blocks: u32) -> Option<u32> {
        let index = self.first_free_from(self.cursor).or_else(|| self.first_free_from(0))?;
        self.take(index);
        self.cursor = (index + 1) % blocks;
        Some(index)
    }

    fn first_free_from(&self, start: u32) -> Option<u32> {
        let mut group = (start / GROUP) as usize;
        let mut bits = self.free[group] & (u64::MAX << (start % GROUP));
        while bits == 0 {
            group += 1;
            bits = *self.free.get(group)?;
        }
        Some(group as u32 * GROUP + bits.trailing_zeros())
    }

    /// A block can be cleaned, or can be cleaned more cheaply than before.
    #[inline]
    pub fn offer(&mut self, block: Candidate) {
        let least = &mut self.least[(block.index / GROUP) as usize];
        *least = (*least).min(key(block));
    }

    /// Finds the least of a group again, from all of its blocks that can be cleaned.
    pub fn regroup(&mut self, index: u32, cleanable: impl Fn(u32) -> Option<u32>, blocks: u32) {
        let group = index / GROUP;
        let members = group * GROUP..((group + 1) * GROUP).min(blocks);
        self.least[group as usize] = members
            .filter_map(|index| Some(key(Candidate { index, valid: cleanable(index)? })))
            .min()
            .unwrap_or(NONE);
    }

    /// The block to clean, were wear no matter.
    pub fn cheapest(&self) -> Option<Candidate> {
        let least = self.least.iter().copied().min()?;
        (least != NONE).then(|| candidate(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_blocks_are_taken_in_turn_and_wrap() {
        let mut plane = Plane::new(200, 100, 1);
        assert_eq!(plane.free_blocks, 99);
        assert_eq!(plane.take_next(200), Some(101));
        plane.give(7);
        for index in 102..200 {
            assert_eq!(plane.take_next(200), Some(index));
        }
        assert_eq!(plane.take_next(200), Some(7));
        assert_eq!((plane.take_next(200), plane.free_blocks), (None, 0));
    }

    #[test]
    fn cheapest_has_fewest_valid_pages_and_of_equals_the_highest_number() {
        let mut plane = Plane::new(200, 190, 1);
        assert_eq!(plane.cheapest(), None);
        for (index, valid) in [(3, 9), (70, 5), (150, 5), (151, 6), (2, 5)] {
            plane.offer(Candidate { index, valid });
        }
        assert_eq!(plane.cheapest(), Some(Candidate { index: 150, valid: 5 }));
        plane.offer(Candidate { index: 3, valid: 4 });
        assert_eq!(plane.cheapest(), Some(Candidate { index: 3, valid: 4 }));
        plane.regroup(3, |index| (index == 2).then_some(5), 200);
        plane.regroup(150, |index| (index == 151).then_some(6), 200);
        assert_eq!(plane.cheapest(), Some(Candidate { index: 70, valid: 5 }));
    }
}
