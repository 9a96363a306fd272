//! A large array that is cheap to open, cheap to copy and pays for what changes.
//!
//! Chunks are allocated when first written (an unwritten entry reads as the
//! default) and shared between copies until one of them writes. So a drive of a
//! terabyte opens at once. Chunks are short, since a merge or a collection writes
//! little in each of many places; hence they are held in groups, which are shared
//! in the same way, and a snapshot costs one pointer per group. Nothing refers to them weakly:
//! to see that one has a single owner then takes no locked instruction on each write.

use std::fmt::{self, Debug, Formatter};
use std::ops::Range;
use triomphe::Arc;

const CHUNK_BITS: usize = 8;
const CHUNK: usize = 1 << CHUNK_BITS;
const GROUP_BITS: usize = 6;
const GROUP: usize = 1 << GROUP_BITS;

type Chunk<T> = Arc<[T; CHUNK]>;
type Group<T> = [Option<Chunk<T>>; GROUP];

/// What entries read as that were never written: known by their number, in no memory to speak of.
pub trait Ground<T>: Clone + Debug + Default {
    /// The entry at `index`.
    fn at(&self, index: usize) -> T;

    /// Whether it is the default wherever `at` is asked for any of a range.
    fn is_blank(&self, range: &Range<usize>) -> bool;
}

/// Every entry is the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blank;

impl<T: Default> Ground<T> for Blank {
    #[inline]
    fn at(&self, _index: usize) -> T {
        T::default()
    }

    fn is_blank(&self, _range: &Range<usize>) -> bool {
        true
    }
}

/// A fixed-length array of `T` with copy-on-write chunks over a ground.
#[derive(Clone)]
pub struct CowArray<T, G = Blank> {
    groups: Vec<Arc<Group<T>>>,
    len: usize,
    ground: G,
}

impl<T: Copy + Default + Debug, G: Ground<T>> Debug for CowArray<T, G> {
    /// The entries: two arrays of the same entries are printed alike, wherever these come from.
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries((0..self.len).map(|index| self.get(index))).finish()
    }
}

impl<T: Copy + Default, G: Ground<T>> CowArray<T, G> {
    /// `len` entries, all `T::default()`, in no memory to speak of.
    #[must_use]
    pub fn new(len: usize) -> Self {
        let empty = Arc::new(std::array::from_fn(|_| None));
        Self { groups: vec![empty; len.div_ceil(CHUNK * GROUP)], len, ground: G::default() }
    }

    /// Gives an array that was never written another ground.
    ///
    /// # Panics
    /// If it was written.
    pub fn lay(&mut self, ground: G) {
        assert!(self.is_untouched(), "what was written hides the ground");
        self.ground = ground;
    }

    /// Whether no entry was ever written.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.groups.iter().all(|group| group.iter().all(Option::is_none))
    }

    /// The number of entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no entries at all.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entry at `index`.
    ///
    /// # Panics
    /// If `index` is beyond the last chunk.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> T {
        match self.chunk(index >> CHUNK_BITS) {
            Some(chunk) => chunk[index & (CHUNK - 1)],
            None => self.bare(index),
        }
    }

    /// The entry of the ground at `index`. Apart, so that it takes no room where entries are.
    #[inline(never)]
    fn bare(&self, index: usize) -> T {
        self.ground.at(index)
    }

    /// The entries of a range, copied.
    ///
    /// # Panics
    /// If it ends beyond the last chunk.
    #[must_use]
    pub fn range(&self, range: Range<usize>) -> Vec<T> {
        let mut entries = Vec::with_capacity(range.len());
        while entries.len() < range.len() {
            let index = range.start + entries.len();
            let within = index & (CHUNK - 1)..CHUNK.min((index & (CHUNK - 1)) + range.end - index);
            match self.chunk(index >> CHUNK_BITS) {
                Some(chunk) => entries.extend_from_slice(&chunk[within]),
                None => entries.extend((index..index + within.len()).map(|at| self.ground.at(at))),
            }
        }
        entries
    }

    /// Does something with what of a range may not be the default, piece by piece: each with the
    /// index of its first entry.
    ///
    /// # Panics
    /// If the range ends beyond the last chunk.
    pub fn for_each_piece(&self, range: Range<usize>, mut act: impl FnMut(usize, &[T])) {
        for number in range.start >> CHUNK_BITS..range.end.div_ceil(CHUNK) {
            let first = number << CHUNK_BITS;
            let piece = range.start.max(first)..range.end.min(first + CHUNK);
            if let Some(chunk) = self.chunk(number) {
                act(piece.start, &chunk[piece.start - first..piece.end - first]);
            } else if !self.ground.is_blank(&piece) {
                act(piece.start, &self.range(piece.clone()));
            }
        }
    }

    #[inline]
    fn chunk(&self, number: usize) -> Option<&Chunk<T>> {
        self.groups[number >> GROUP_BITS][number & (GROUP - 1)].as_ref()
    }

    /// Replaces the entry at `index`.
    ///
    /// # Panics
    /// If `index` is beyond the last chunk.
    #[inline]
    pub fn set(&mut self, index: usize, value: T) {
        *self.entry(index) = value;
    }

    /// A mutable reference to the entry at `index`.
    ///
    /// # Panics
    /// If `index` is beyond the last chunk.
    #[inline]
    pub fn entry(&mut self, index: usize) -> &mut T {
        &mut self.owned(index >> CHUNK_BITS)[index & (CHUNK - 1)]
    }

    /// Replaces the entries from `index` on.
    ///
    /// # Panics
    /// If they end beyond the last chunk.
    pub fn write(&mut self, index: usize, mut values: &[T]) {
        self.change(index..index + values.len(), |entries| {
            let (here, rest) = values.split_at(entries.len());
            entries.copy_from_slice(here);
            values = rest;
        });
    }

    /// Lets the entries of a range be changed, piece by piece as they lie in memory.
    ///
    /// # Panics
    /// If it ends beyond the last chunk.
    #[inline]
    pub fn change(&mut self, range: Range<usize>, mut act: impl FnMut(&mut [T])) {
        let mut index = range.start;
        while index < range.end {
            let from = index & (CHUNK - 1);
            let count = (range.end - index).min(CHUNK - from);
            act(&mut self.owned(index >> CHUNK_BITS)[from..from + count]);
            index += count;
        }
    }

    /// A chunk that no other copy has.
    #[inline]
    fn owned(&mut self, number: usize) -> &mut [T; CHUNK] {
        let group = unshared(&mut self.groups[number >> GROUP_BITS]);
        let ground = &self.ground;
        unshared(group[number & (GROUP - 1)].get_or_insert_with(|| ground_of(ground, number)))
    }

    /// Sets all entries to `pattern`, again and again. Chunks that come out alike are one.
    ///
    /// # Panics
    /// If the pattern's length is no power of two.
    pub fn fill(&mut self, pattern: &[T]) {
        assert!(pattern.len().is_power_of_two(), "{} entries", pattern.len());
        let kinds: Vec<_> = (0..pattern.len().div_ceil(CHUNK))
            .map(|kind| chunk_of(pattern, kind * CHUNK))
            .collect();
        let group_from = |first: usize| {
            Arc::new(std::array::from_fn(|place| {
                Some(Arc::clone(&kinds[(first + place) % kinds.len()]))
            }))
        };
        let groups: Vec<_> =
            (0..kinds.len().div_ceil(GROUP)).map(|kind| group_from(kind * GROUP)).collect();
        for (number, group) in self.groups.iter_mut().enumerate() {
            *group = Arc::clone(&groups[number % groups.len()]);
        }
    }

    /// The first index at or after `index` that may not be the default, chunk by chunk, to step
    /// over what certainly is; `len` if there is none.
    #[must_use]
    pub fn next_not_blank(&self, index: usize) -> usize {
        let count = self.len.div_ceil(CHUNK);
        let first = index >> CHUNK_BITS;
        let chunk = |number: usize| number << CHUNK_BITS..(number + 1) << CHUNK_BITS;
        let blank =
            |&number: &usize| self.chunk(number).is_none() && self.ground.is_blank(&chunk(number));
        let found = (first..count).find(|number| !blank(number)).unwrap_or(count);
        index.max(found << CHUNK_BITS).min(self.len)
    }

    /// How many chunks this copy does not share with any other.
    #[must_use]
    pub fn chunks_owned(&self) -> usize {
        let owned = self.groups.iter().filter(|group| Arc::count(group) == 1);
        let chunks = owned.flat_map(|group| group.iter().flatten());
        chunks.filter(|chunk| Arc::count(chunk) == 1).count()
    }
}

/// What no other copy has from now on.
#[inline]
pub fn unshared<U: Clone>(shared: &mut Arc<U>) -> &mut U {
    if Arc::count(shared) > 1 {
        copy(shared);
    }
    match Arc::get_mut(shared) {
        Some(own) => own,
        None => unreachable!("what has no other owners is nobody else's"),
    }
}

// Apart, because a chunk is built on the stack: room for one in the frame of every
// `entry` costs more than the entry.

#[cold]
#[inline(never)]
fn ground_of<T: Copy + Default, G: Ground<T>>(ground: &G, number: usize) -> Chunk<T> {
    let first = number << CHUNK_BITS;
    if ground.is_blank(&(first..first + CHUNK)) {
        return Arc::new([T::default(); CHUNK]);
    }
    Arc::new(std::array::from_fn(|place| ground.at(first + place)))
}

#[cold]
#[inline(never)]
fn chunk_of<T: Copy>(pattern: &[T], from: usize) -> Chunk<T> {
    Arc::new(std::array::from_fn(|index| pattern[(from + index) % pattern.len()]))
}

#[cold]
#[inline(never)]
fn copy<U: Clone>(shared: &mut Arc<U>) {
    *shared = Arc::new(U::clone(shared));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_pays_only_for_what_it_writes() {
        let mut original = CowArray::<u32>::new(10 * CHUNK);
        for index in 0..original.len() {
            original.set(index, index as u32);
        }
        let mut copy = original.clone();
        assert_eq!(copy.chunks_owned(), 0);
        copy.set(5, 99);
        assert_eq!((original.get(5), copy.get(5)), (5, 99));
        assert_eq!(copy.chunks_owned(), 1);
        assert_eq!(copy.get(9 * CHUNK), 9 * CHUNK as u32);
        assert_eq!(original.chunks_owned(), 1, "the others are in groups of both");
    }

    #[test]
    fn groups_are_copied_apart() {
        let at = |group: usize| group * GROUP * CHUNK + 5;
        let mut original = CowArray::<u32>::new(at(3));
        (0..3).for_each(|group| original.set(at(group), group as u32 + 1));
        let mut copy = original.clone();
        copy.set(at(1), 9);
        copy.set(at(1) + CHUNK, 8);
        assert_eq!((0..3).map(|group| copy.get(at(group))).collect::<Vec<_>>(), [1, 9, 3]);
        assert_eq!((original.get(at(1)), original.get(at(1) + CHUNK)), (2, 0));
        assert_eq!(original.next_not_blank(at(1) + 1), at(1) + 1);
        assert_eq!(original.next_not_blank(at(1) + CHUNK), 2 * GROUP * CHUNK);
    }

    #[test]
    fn filling_repeats_the_pattern() {
        for length in [1, 4, 4 * CHUNK, 2 * GROUP * CHUNK] {
            let pattern: Vec<u32> = (0..length as u32).map(|value| value + 3).collect();
            let mut array = CowArray::<u32>::new((3 * GROUP + 9) * CHUNK + 5);
            array.fill(&pattern);
            assert!((0..array.len()).all(|index| array.get(index) == pattern[index % length]));
            array.set(CHUNK + 1, 0);
            assert_eq!(
                (array.get(CHUNK + 1), array.get(5 * CHUNK + 1)),
                (0, pattern[(5 * CHUNK + 1) % length])
            );
        }
    }

    #[test]
    fn unwritten_chunks_read_as_default_and_can_be_skipped() {
        let mut array = CowArray::<u32>::new(5 * CHUNK + 3);
        assert_eq!(array.get(5 * CHUNK + 2), 0);
        assert_eq!(array.next_not_blank(0), array.len());
        array.set(2 * CHUNK + 7, 1);
        assert_eq!(array.next_not_blank(0), 2 * CHUNK);
        assert_eq!(array.next_not_blank(2 * CHUNK + 9), 2 * CHUNK + 9);
        assert_eq!(array.next_not_blank(3 * CHUNK), array.len());
    }
}
