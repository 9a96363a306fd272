//! A bounded set of numbers that remembers which was used last. Everything takes constant
//! time, and a copy shares its memory with the original until one of them changes.

use crate::cow::CowArray;

/// So many keys are neighbours: their buckets take two lines of memory.
const NEIGHBOUR_BITS: u32 = 5;

/// A member, or a free slot. Links are slots + 1; 0 = none.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    key: u32,
    /// The member used last before this one; of a free slot: the next free one.
    older: u32,
    newer: u32,
    /// The next member in the same bucket.
    chain: u32,
}

/// The set.
#[derive(Clone, Debug)]
pub struct Lru {
    nodes: CowArray<Node>,
    /// First member of each bucket: slot + 1; 0 = none.
    buckets: CowArray<u32>,
    bucket_bits: u32,
    /// Slots that were ever used.
    touched: u32,
    free: u32,
    newest: u32,
    oldest: u32,
    len: u32,
    capacity: u32,
}

impl Lru {
    /// An empty set for up to `capacity` members, at least one.
    #[must_use]
    pub fn new(capacity: u32) -> Self {
        let capacity = capacity.max(1);
        let bucket_bits = u64::from(capacity).next_power_of_two().trailing_zeros();
        Self {
            nodes: CowArray::new(capacity as usize),
            buckets: CowArray::new(1 << bucket_bits),
            bucket_bits,
            touched: 0,
            free: 0,
            newest: 0,
            oldest: 0,
            len: 0,
            capacity,
        }
    }

    /// How many members there are.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether a new member needs room.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.len == self.capacity
    }

    /// Fibonacci hashing of whole neighbourhoods: those within one lie in the same lines of memory,
    /// so that what is asked for in order is found there, too. Where in it a key lies hangs on the
    /// neighbourhood, since keys at equal distances would meet otherwise.
    const fn bucket(&self, key: u32) -> usize {
        let mixed = ((key >> NEIGHBOUR_BITS) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hood = mixed.unbounded_shr(64 + NEIGHBOUR_BITS - self.bucket_bits);
        let within = (key as u64 ^ mixed >> 32) & ((1 << NEIGHBOUR_BITS) - 1);
        (hood << NEIGHBOUR_BITS | within) as usize & ((1 << self.bucket_bits) - 1)
    }

    fn node(&self, link: u32) -> Node {
        self.nodes.get(link as usize - 1)
    }

    fn entry(&mut self, link: u32) -> &mut Node {
        self.nodes.entry(link as usize - 1)
    }

    fn find(&self, key: u32) -> u32 {
        let mut link = self.buckets.get(self.bucket(key));
        while link != 0 {
            let Node { key: found, chain, .. } = self.node(link);
            if found == key {
                break;
            }
            link = chain;
        }
        link
    }

    /// Whether `key` is a member.
    #[must_use]
    pub fn contains(&self, key: u32) -> bool {
        self.find(key) != 0
    }

    /// Notes that `key` is used now, if it is a member, and says whether it is.
    pub fn touch(&mut self, key: u32) -> bool {
        let link = self.find(key);
        if link != 0 && link != self.newest {
            self.unlink(link);
            self.link_newest(link);
        }
        link != 0
    }

    /// Adds a member, used now.
    ///
    /// # Panics
    /// In debug builds, if it is one already or there is no room.
    pub fn insert(&mut self, key: u32) {
        debug_assert!(!self.is_full() && !self.contains(key));
        let link = if self.free == 0 {
            self.touched += 1;
            self.touched
        } else {
            let link = self.free;
            self.free = self.node(link).older;
            link
        };
        let bucket = self.bucket(key);
        let chain = self.buckets.get(bucket);
        *self.entry(link) = Node { key, chain, ..Node::default() };
        self.buckets.set(bucket, link);
        self.link_newest(link);
        self.len += 1;
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        *self = Self::new(self.capacity);
    }

    /// Removes the member not used for longest.
    pub fn pop_oldest(&mut self) -> Option<u32> {
        let link = self.oldest;
        if link == 0 {
            return None;
        }
        let key = self.node(link).key;
        self.unlink(link);
        self.leave_bucket(key, link);
        let free = self.free;
        self.entry(link).older = free;
        self.free = link;
        self.len -= 1;
        Some(key)
    }

    fn link_newest(&mut self, link: u32) {
        let before = self.newest;
        let node = self.entry(link);
        (node.older, node.newer) = (before, 0);
        if before == 0 {
            self.oldest = link;
        } else {
            self.entry(before).newer = link;
        }
        self.newest = link;
    }

    fn unlink(&mut self, link: u32) {
        let Node { older, newer, .. } = self.node(link);
        match newer {
            0 => self.newest = older,
            _ => self.entry(newer).older = older,
        }
        match older {
            0 => self.oldest = newer,
            _ => self.entry(older).newer = newer,
        }
    }

    fn leave_bucket(&mut self, key: u32, link: u32) {
        let (bucket, rest) = (self.bucket(key), self.node(link).chain);
        let mut before = self.buckets.get(bucket);
        if before == link {
            self.buckets.set(bucket, rest);
            return;
        }
        while self.node(before).chain != link {
            before = self.node(before).chain;
        }
        self.entry(before).chain = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdscope_io::rng::Stream;
    use std::collections::VecDeque;

    #[test]
    fn it_agrees_with_a_plain_list_in_order_of_use() {
        for capacity in [1, 2, 3, 8, 100, 5000] {
            let mut random = Stream::new(u64::from(capacity), "lru");
            let mut lru = Lru::new(capacity);
            let mut plain: VecDeque<u32> = VecDeque::new();
            for _ in 0..6000 {
                let key = random.below(u64::from(capacity) * 2) as u32 * 77_777;
                let place = plain.iter().position(|&other| other == key);
                assert_eq!(lru.contains(key), place.is_some());
                assert_eq!(lru.touch(key), place.is_some());
                if let Some(place) = place {
                    plain.remove(place);
                } else {
                    if lru.is_full() || random.below(50) == 0 {
                        assert_eq!(lru.pop_oldest(), plain.pop_front());
                    }
                    lru.insert(key);
                }
                plain.push_back(key);
                assert_eq!((lru.len() as usize, lru.is_empty()), (plain.len(), false));
            }
            while let Some(key) = plain.pop_front() {
                assert_eq!(lru.pop_oldest(), Some(key));
            }
            assert_eq!((lru.pop_oldest(), lru.is_empty()), (None, true));
        }
    }

    #[test]
    fn a_large_one_costs_nothing_before_it_is_used() {
        let mut lru = Lru::new(1 << 28);
        lru.insert(u32::MAX);
        assert_eq!((lru.nodes.chunks_owned(), lru.buckets.chunks_owned()), (1, 1));
    }
}
