//! Which writes have data that are not in flash yet, oldest first.
//!
//! Of every write it is known which groups it may lie in, and counted in how many of them the
//! data that wait, or are on their way, begin with it.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

#[derive(Clone, Debug)]
struct Write {
    groups: RangeInclusive<u64>,
    waiting: u32,
    moving: u32,
}

/// The writes from the oldest that is not in flash on.
#[derive(Clone, Debug, Default)]
pub struct Unstored {
    /// The number of the first one.
    first: u64,
    /// Of what came before this one nothing waits, and never will.
    first_waiting: u64,
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
        self.writes.push_back(Write { groups, waiting: 0, moving: 0 });
    }

    /// What waits of a group begins with a write.
    #[inline]
    pub fn add(&mut self, number: u64) {
        self.of(number).waiting += 1;
    }

    /// A group's data that waited since a write are on their way.
    #[inline]
    pub fn send(&mut self, number: u64) {
        let write = self.of(number);
        (write.waiting, write.moving) = (write.waiting - 1, write.moving + 1);
    }

    /// A group's data that were on their way, and begin with a write, are in flash.
    #[inline]
    pub fn store(&mut self, number: u64) {
        self.of(number).moving -= 1;
        self.forget_stored();
    }

    /// A group's data that waited since a write are forgotten.
    pub fn forget(&mut self, number: u64) {
        self.of(number).waiting -= 1;
        self.forget_stored();
    }

    fn of(&mut self, number: u64) -> &mut Write {
        &mut self.writes[(number - self.first) as usize]
    }

    /// Forgets the first writes, as far as nothing is left of them.
    #[inline]
    pub fn forget_stored(&mut self) {
        while self.writes.front().is_some_and(|write| write.waiting + write.moving == 0) {
            self.writes.pop_front();
            self.first += 1;
        }
    }

    /// The number of the oldest.
    #[must_use]
    pub fn oldest(&self) -> Option<u64> {
        (!self.writes.is_empty()).then_some(self.first)
    }

    /// Those up to number `last` of which something waits, and their groups.
    pub fn waiting(&mut self, last: u64) -> impl Iterator<Item = (u64, RangeInclusive<u64>)> + '_ {
        let from = self.first_waiting.max(self.first);
        let none = |write: &&Write| write.waiting == 0;
        let rest = self.writes.range((from - self.first) as usize..);
        self.first_waiting = from + rest.clone().take_while(none).count() as u64;
        let numbered = (from..=last).zip(rest).filter(|(_, write)| write.waiting > 0);
        numbered.map(|(number, write)| (number, write.groups.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(unstored: &mut Unstored) -> Vec<u64> {
        unstored.waiting(4).map(|one| one.0).collect()
    }

    #[test]
    fn the_oldest_is_the_first_of_which_something_is_left() {
        let mut unstored = Unstored::default();
        for number in 1..=4 {
            unstored.begin(number, number..=number + 1);
            (0..number % 3).for_each(|_| unstored.add(number));
            unstored.forget_stored();
        }
        assert_eq!((unstored.oldest(), waiting(&mut unstored)), (Some(1), vec![1, 2, 4]));
        unstored.send(1);
        unstored.forget(2);
        unstored.send(2);
        assert_eq!((unstored.oldest(), waiting(&mut unstored)), (Some(1), vec![4]));
        unstored.store(2);
        unstored.store(1);
        assert_eq!((unstored.oldest(), waiting(&mut unstored)), (Some(4), vec![4]));
        unstored.send(4);
        unstored.store(4);
        assert_eq!((unstored.oldest(), waiting(&mut unstored)), (None, vec![]));
        unstored.begin(9, 0..=0);
        unstored.add(9);
        assert_eq!((unstored.oldest(), waiting(&mut unstored)), (Some(9), vec![]));
        assert_eq!(unstored.waiting(9).count(), 1);
    }
}
