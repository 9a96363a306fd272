//! Which writes have data that are not in flash yet, oldest first.
//!
//! Of every write it is known which groups it may lie in, and counted in how many of them the
//! data that wait, or are on their way, begin with it.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

#[derive(Clone, Debug)]
struct Write {
    groups: RangeInclusive<u64>,
    left: u32,
}

/// The writes from the oldest that is not in flash on.
#[derive(Clone, Debug, Default)]
pub struct Unstored {
    /// The number of the first one.
    first: u64,
    /// One after the other; of the first one something is left, except while it begins.
    writes: VecDeque<Write>,
}

impl Unstored {
    /// The next write begins, in these groups.
    #[inline]
    pub fn begin(&mut self, number: u64, groups: RangeInclusive<u64>) {
        if self.writes.is_empty() {
            self.first = number;
        }
        debug_assert_eq!(number, self.first + self.writes.len() as u64);
        self.writes.push_back(Write { groups, left: 0 });
    }

    /// A group's data begin with a write.
    #[inline]
    pub fn add(&mut self, number: u64) {
        self.writes[(number - self.first) as usize].left += 1;
    }

    /// A group's data that began with a write are in flash, or forgotten.
    #[inline]
    pub fn remove(&mut self, number: u64) {
        self.writes[(number - self.first) as usize].left -= 1;
        self.forget_stored();
    }

    /// Forgets the first writes, as far as nothing is left of them.
    #[inline]
    pub fn forget_stored(&mut self) {
        while self.writes.front().is_some_and(|write| write.left == 0) {
            self.writes.pop_front();
            self.first += 1;
        }
    }

    /// The number of the oldest.
    #[must_use]
    pub fn oldest(&self) -> Option<u64> {
        (!self.writes.is_empty()).then_some(self.first)
    }

    /// Those up to number `last` of which something is left, and their groups.
    pub fn up_to(&self, last: u64) -> impl Iterator<Item = (u64, RangeInclusive<u64>)> + '_ {
        let numbered = (self.first..=last).zip(&self.writes);
        let left = numbered.filter(|(_, write)| write.left > 0);
        left.map(|(number, write)| (number, write.groups.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_the_first_of_which_something_is_left() {
        let mut unstored = Unstored::default();
        for number in 1..=4 {
            unstored.begin(number, number..=number + 1);
            (0..number % 3).for_each(|_| unstored.add(number));
            unstored.forget_stored();
        }
        let left = |unstored: &Unstored| unstored.up_to(4).map(|one| one.0).collect::<Vec<_>>();
        assert_eq!((unstored.oldest(), left(&unstored)), (Some(1), vec![1, 2, 4]));
        unstored.remove(2);
        unstored.remove(1);
        assert_eq!((unstored.oldest(), left(&unstored)), (Some(2), vec![2, 4]));
        unstored.remove(2);
        assert_eq!((unstored.oldest(), left(&unstored)), (Some(4), vec![4]));
        unstored.remove(4);
        assert_eq!((unstored.oldest(), left(&unstored)), (None, vec![]));
        unstored.begin(9, 0..=0);
        unstored.add(9);
        assert_eq!(unstored.oldest(), Some(9));
    }
}
