//! A queue in a ring: first in, first out, with a way in for those that come late.

/// A queue of plain values. It doubles when it is full and never shrinks.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// As many slots as a power of two, or none.
    slots: Vec<T>,
    head: usize,
    len: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), head: 0, len: 0 }
    }
}

impl<T: Copy + Default> Ring<T> {
    /// Whether nothing waits.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many wait.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// All, in the order in which they would come out.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).map(|index| &self.slots[self.wrapped(self.head + index)])
    }

    /// The same, to be changed.
    pub fn for_each(&mut self, change: impl Fn(&mut T)) {
        for index in 0..self.len {
            let place = self.wrapped(self.head + index);
            change(&mut self.slots[place]);
        }
    }

    /// What would come out next.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        if self.len == 0 { None } else { Some(&self.slots[self.head]) }
    }

    /// Takes out what went in first.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let first = *self.front()?;
        self.head = self.wrapped(self.head + 1);
        self.len -= 1;
        Some(first)
    }

    /// Puts `value` behind all others.
    #[inline]
    pub fn push_back(&mut self, value: T) {
        if self.len == self.slots.len() {
            self.grow();
        }
        let place = self.wrapped(self.head + self.len);
        self.slots[place] = value;
        self.len += 1;
    }

    /// What came in last.
    #[inline]
    #[must_use]
    pub fn back(&self) -> Option<&T> {
        let last = self.len.checked_sub(1)?;
        Some(&self.slots[self.wrapped(self.head + last)])
    }

    /// Puts `value` behind all that it need not pass, looking from the back.
    #[inline(never)]
    pub fn insert(&mut self, value: T, passes: impl Fn(&T) -> bool) {
        if self.len == self.slots.len() {
            self.grow();
        }
        let mut place = self.wrapped(self.head + self.len);
        self.len += 1;
        while place != self.head {
            let before = self.wrapped(place.wrapping_sub(1));
            if !passes(&self.slots[before]) {
                break;
            }
            self.slots[place] = self.slots[before];
            place = before;
        }
        self.slots[place] = value;
    }

    /// Removes the first of those that are `meant`, if there is one.
    pub fn remove(&mut self, meant: impl Fn(&T) -> bool) {
        let Some(found) =
            (0..self.len).find(|&index| meant(&self.slots[self.wrapped(self.head + index)]))
        else {
            return;
        };
        self.len -= 1;
        for index in found..self.len {
            let (to, from) = (self.wrapped(self.head + index), self.wrapped(self.head + index + 1));
            self.slots[to] = self.slots[from];
        }
    }

    #[inline]
    const fn wrapped(&self, place: usize) -> usize {
        place & (self.slots.len() - 1)
    }

    /// Doubles the ring. What fills the new slots is not what comes in, which otherwise would have
    /// to be in memory for this call each time.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.slots.rotate_left(self.head);
        self.head = 0;
        self.slots.resize((2 * self.len).max(4), T::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdscope_io::rng::Stream;
    use std::collections::VecDeque;

    #[test]
    fn it_does_what_a_plain_queue_does() {
        let mut random = Stream::new(1, "ring");
        let (mut ring, mut plain) = (Ring::default(), VecDeque::new());
        for round in 0..10_000_u64 {
            if random.below(100) < 52 {
                ring.push_back(round);
                plain.push_back(round);
            } else {
                assert_eq!(ring.pop_front(), plain.pop_front());
            }
            assert_eq!((ring.front(), ring.is_empty()), (plain.front(), plain.is_empty()));
        }
    }

    #[test]
    fn what_is_removed_leaves_no_gap() {
        let mut ring = Ring::default();
        (0..3).for_each(|number| ring.push_back(number));
        assert_eq!(ring.pop_front(), Some(0));
        (3..6).for_each(|number| ring.push_back(number));
        ring.remove(|&number| number == 3);
        ring.remove(|&number| number == 9);
        ring.remove(|&number| number == 5);
        let left: Vec<_> = std::iter::from_fn(|| ring.pop_front()).collect();
        assert_eq!(left, [1, 2, 4]);
    }

    #[test]
    fn latecomers_pass_only_what_they_must() {
        let mut ring = Ring::default();
        for (key, number) in [(5, 0), (7, 1), (5, 2), (6, 3), (1, 4)] {
            ring.insert((key, number), |other| other.0 > key);
        }
        let order: Vec<_> = std::iter::from_fn(|| ring.pop_front()).collect();
        assert_eq!(order, [(1, 4), (5, 0), (5, 2), (6, 3), (7, 1)]);
    }
}
