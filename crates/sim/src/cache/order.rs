//! A set in order whose members mostly enter at the end and leave near the beginning.
//!
//! It is what a `BTreeSet` is, and cheaper where numbers of writes are the order: what
//! enters behind all others goes to the end of a list, and only what enters in between
//! goes to a tree. What leaves the middle of the list leaves a gap there; gaps are closed
//! when they are most of it.

use std::collections::{BTreeSet, VecDeque};

/// A set, lowest first.
#[derive(Clone, Debug)]
pub struct InOrder<T> {
    /// Members and gaps, ascending; neither the first nor the last is a gap.
    list: VecDeque<(T, bool)>,
    gaps: usize,
    /// Members that are not in the list, nor gaps of it.
    others: BTreeSet<T>,
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self { list: VecDeque::new(), gaps: 0, others: BTreeSet::new() }
    }
}

impl<T: Ord + Copy> InOrder<T> {
    /// Where it is in the list, or would be.
    #[inline]
    fn place(&self, member: &T) -> Result<usize, usize> {
        match self.list.front() {
            Some((first, _)) if first == member => Ok(0),
            _ => self.list.binary_search_by(|(other, _)| other.cmp(member)),
        }
    }

    /// Adds what is no member yet.
    pub fn insert(&mut self, member: T) {
        debug_assert!(!self.others.contains(&member), "it is there");
        if self.list.back().is_none_or(|(last, _)| *last < member) {
            self.list.push_back((member, true));
        } else if let Ok(place) = self.place(&member) {
            self.gaps -= usize::from(!self.list[place].1);
            self.list[place].1 = true;
        } else {
            self.others.insert(member);
        }
    }

    /// Takes a member out.
    pub fn remove(&mut self, member: &T) {
        let Ok(place) = self.place(member) else {
            self.others.remove(member);
            return;
        };
        self.gaps += usize::from(self.list[place].1);
        self.list[place].1 = false;
        while self.list.front().is_some_and(|&(_, there)| !there) {
            self.list.pop_front();
            self.gaps -= 1;
        }
        while self.list.back().is_some_and(|&(_, there)| !there) {
            self.list.pop_back();
            self.gaps -= 1;
        }
        if self.gaps > self.list.len() / 2 {
            self.list.retain(|&(_, there)| there);
            self.gaps = 0;
        }
    }

    /// The lowest.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<T> {
        let listed = self.list.front().map(|&(member, _)| member);
        let other = self.others.first().copied();
        listed.into_iter().chain(other).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdscope_io::rng::Stream;

    /// Members enter `spread` or less behind the end so far, and leave anywhere.
    fn agrees_with_a_tree(spread: u64, most: usize) {
        let mut random = Stream::new(spread, "in-order");
        let (mut set, mut tree) = (InOrder::default(), BTreeSet::new());
        for step in 0..4000_u64 {
            let late = random.below(4) == 0;
            let member = step + 100 - if late { random.below(spread) } else { 0 };
            if tree.insert(member) {
                set.insert(member);
            }
            while tree.len() > random.below(most as u64) as usize {
                let place = random.below(2) * random.below(tree.len() as u64);
                let leaves = *tree.iter().nth(place as usize).unwrap();
                set.remove(&leaves);
                tree.remove(&leaves);
                set.remove(&(leaves + 1));
                tree.remove(&(leaves + 1));
            }
            assert_eq!(set.first(), tree.first().copied());
            assert!(set.list.len() <= 2 * tree.len() + 1, "gaps stay");
        }
    }

    #[test]
    fn it_is_a_set_in_order() {
        for (spread, most) in [(1, 3), (10, 20), (100, 200), (100, 20)] {
            agrees_with_a_tree(spread, most);
        }
    }
}
