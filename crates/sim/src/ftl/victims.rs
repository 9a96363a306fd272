//! The keys of a plane's blocks, by which victims are chosen: a compact array, and the least key
//! of each group of it, so that the least of all is found without looking at every block.

use std::ops::Index;

/// A block's key is its number of valid pages if it may be collected, else this.
pub const NOT_A_VICTIM: u32 = u32::MAX;
/// Blocks of a group.
const GROUP: usize = 64;

/// A key for each block.
#[derive(Clone, Debug)]
pub struct VictimKeys {
    keys: Vec<u32>,
    least_of_group: Vec<u32>,
}

impl VictimKeys {
    /// Of so many blocks, none of which may be collected.
    #[must_use]
    pub fn new(blocks: usize) -> Self {
        let least_of_group = vec![NOT_A_VICTIM; blocks.div_ceil(GROUP)];
        Self { keys: vec![NOT_A_VICTIM; blocks], least_of_group }
    }

    /// Changes a block's key.
    #[inline]
    pub fn set(&mut self, block: usize, key: u32) {
        let old = std::mem::replace(&mut self.keys[block], key);
        let least = self.least_of_group[block / GROUP];
        if key < least {
            self.least_of_group[block / GROUP] = key;
        } else if old == least && key > old {
            self.look_again(block / GROUP);
        }
    }

    /// A block that may have had the least key of its group has it no more.
    fn look_again(&mut self, group: usize) {
        let start = group * GROUP;
        let end = self.keys.len().min(start + GROUP);
        self.least_of_group[group] = least(&self.keys[start..end]);
    }

    /// The least key; and the lowest number of a block that has it, if one may be collected.
    #[must_use]
    pub fn fewest(&self) -> Option<(usize, u32)> {
        let key = least(&self.least_of_group);
        let group = self.least_of_group.iter().position(|&least| least == key)?;
        let start = group * GROUP;
        let place = self.keys[start..].iter().position(|&each| each == key)?;
        (key != NOT_A_VICTIM).then_some((start + place, key))
    }

    /// All keys, by block.
    pub fn iter(&self) -> std::slice::Iter<'_, u32> {
        self.keys.iter()
    }
}

impl Index<usize> for VictimKeys {
    type Output = u32;
    #[inline]
    fn index(&self, block: usize) -> &u32 {
        &self.keys[block]
    }
}

/// A fold rather than `min`, which the compiler does not make vector code of.
fn least(keys: &[u32]) -> u32 {
    keys.iter().copied().fold(NOT_A_VICTIM, u32::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdscope_io::rng::Stream;

    #[test]
    fn the_least_key_is_that_of_a_search_through_all() {
        for blocks in [1, GROUP, 3 * GROUP + 5] {
            let mut keys = VictimKeys::new(blocks);
            assert_eq!(keys.fewest(), None);
            let mut random = Stream::new(3, "victims");
            for _ in 0..3000 {
                let block = random.below(blocks as u64) as usize;
                let drawn = random.below(20) as u32;
                keys.set(block, if drawn < 12 { NOT_A_VICTIM } else { drawn });
                let all = keys.iter().copied().enumerate();
                let expected = all.filter(|one| one.1 != NOT_A_VICTIM).min_by_key(|one| one.1);
                assert_eq!(keys.fewest(), expected);
            }
        }
    }
}
