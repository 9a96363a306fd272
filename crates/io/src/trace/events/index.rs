//! Requests on their way by volume and first sector.
//!
//! Few are, most of the time: they stand in a short sorted list. What does not fit goes to a tree,
//! which traces without completions fill.

use std::collections::BTreeSet;

/// Volume, first sector, and the number of the request.
pub type Key = (u64, u64, u64);

/// How many stand in the list: so many are moved in the time that a tree takes.
const LISTED: usize = 128;

#[derive(Default)]
pub struct Index {
    listed: Vec<Key>,
    others: BTreeSet<Key>,
}

impl Index {
    #[inline]
    pub fn insert(&mut self, key: Key) {
        if self.listed.len() == LISTED {
            self.others.extend(self.listed.drain(..));
        }
        let at = self.listed.partition_point(|listed| *listed < key);
        self.listed.insert(at, key);
    }

    #[inline]
    pub fn remove(&mut self, key: Key) {
        match self.listed.binary_search(&key) {
            Ok(at) => drop(self.listed.remove(at)),
            Err(_) => drop(self.others.remove(&key)),
        }
    }

    /// Adds the numbers of those from `from` on and before `to` that fit.
    #[inline]
    pub fn find(&self, from: Key, to: Key, fits: impl Fn(u64) -> bool, numbers: &mut Vec<u64>) {
        let begin = self.listed.partition_point(|listed| *listed < from);
        let listed = self.listed[begin..].iter().take_while(|listed| **listed < to);
        numbers.extend(listed.map(|&(_, _, number)| number).filter(|&number| fits(number)));
        if !self.others.is_empty() && from < to {
            let others = self.others.range(from..to).map(|&(_, _, number)| number);
            numbers.extend(others.filter(|&number| fits(number)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_finds_what_a_tree_finds(
            keys in prop::collection::vec((0_u64..3, 0_u64..50), 1..400),
            gone in prop::collection::vec(0_usize..400, 0..200),
            from in (0_u64..3, 0_u64..50),
            span in 0_u64..30,
        ) {
            let (mut index, mut tree) = (Index::default(), BTreeSet::new());
            for (&(volume, sector), number) in keys.iter().zip(0..) {
                index.insert((volume, sector, number));
                tree.insert((volume, sector, number));
            }
            for number in gone.into_iter().filter(|&number| number < keys.len()) {
                let key = (keys[number].0, keys[number].1, number as u64);
                index.remove(key);
                tree.remove(&key);
            }
            let (from, to) = ((from.0, from.1, 0), (from.0, from.1 + span, 0));
            let odd = |number: u64| number % 2 == 1;
            let mut found = Vec::new();
            index.find(from, to, odd, &mut found);
            found.sort_unstable();
            let within = tree.range(from..to).map(|key| key.2).filter(|&number| odd(number));
            let mut expected: Vec<_> = within.collect();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
