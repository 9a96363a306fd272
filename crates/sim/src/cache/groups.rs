//! A few of very many numbered things, found by number.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::RangeInclusive;

/// Fibonacci hashing, for numbers that nobody chooses to harm us.
#[derive(Clone, Copy, Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The table takes its place from the low bits, which depend on low bits only.
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// Things by number. Results depend on numbers alone, and so on no order of the hash.
#[derive(Clone, Debug)]
pub struct Groups<T>(HashMap<u64, T, BuildHasherDefault<Spread>>);

impl<T> Default for Groups<T> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<T> Groups<T> {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one of that number.
    #[inline]
    #[must_use]
    pub fn get(&self, number: u64) -> Option<&T> {
        self.0.get(&number)
    }

    /// The one of that number, to change it.
    #[inline]
    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.0.get_mut(&number)
    }

    /// The place of that number.
    #[inline]
    pub fn entry(&mut self, number: u64) -> Entry<'_, u64, T> {
        self.0.entry(number)
    }

    /// All of them, in no order.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.0.values()
    }

    /// Adds one.
    #[inline]
    pub fn insert(&mut self, number: u64, thing: T) {
        self.0.insert(number, thing);
    }

    /// Takes one out.
    #[inline]
    pub fn remove(&mut self, number: u64) -> Option<T> {
        self.0.remove(&number)
    }

    /// Those with a number in `range`, in order.
    pub fn within(&self, range: RangeInclusive<u64>) -> impl Iterator<Item = (u64, &T)> {
        // Of a range longer than there are things, each of these is asked for its number.
        let (asked, mut found) = if range.end() - range.start() <= self.0.len() as u64 {
            (range, Vec::new())
        } else {
            let inside = self.0.keys().copied().filter(|number| range.contains(number));
            (RangeInclusive::new(1, 0), inside.collect())
        };
        found.sort_unstable();
        asked.chain(found).filter_map(|number| self.get(number).map(|thing| (number, thing)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdscope_io::rng::Stream;
    use std::collections::BTreeMap;

    #[test]
    fn it_finds_what_a_tree_finds() {
        let mut random = Stream::new(1, "groups");
        let (mut groups, mut tree) = (Groups::default(), BTreeMap::new());
        assert!(groups.is_empty());
        for step in 0..3000_u64 {
            let number = random.below(200) << 20;
            if random.below(2) == 0 {
                groups.insert(number, step);
                tree.insert(number, step);
            } else {
                assert_eq!(groups.remove(number), tree.remove(&number));
            }
            assert_eq!(groups.is_empty(), tree.is_empty());
            assert_eq!(groups.get_mut(number), tree.get_mut(&number));
            let first = random.below(200) << 20;
            let last = first + (random.below(100) << random.below(20));
            let expected = tree.range(first..=last).map(|(&number, thing)| (number, thing));
            assert!(groups.within(first..=last).eq(expected), "{first} to {last}");
        }
    }
}
