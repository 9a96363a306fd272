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
/// Entries of a group.
const SPAN: usize = CHUNK * GROUP;

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
    /// Chunks that were first written, here and in what this is a copy of.
    made: u64,
    /// A group of the default, as soon as one was needed.
    blank: Option<Arc<Group<T>>>,
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
        let groups = vec![empty; len.div_ceil(SPAN)];
        Self { groups, len, made: 0, blank: None, ground: G::default() }
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
        for (number, piece) in pieces(range) {
            if self.is_blank(number, &piece) {
                continue;
            }
            let first = number << CHUNK_BITS;
            match self.chunk(number) {
                Some(chunk) => act(piece.start, &chunk[piece.start - first..piece.end - first]),
                None => act(piece.start, &self.range(piece)),
            }
        }
    }

    /// Whether a part of a chunk certainly is the default.
    fn is_blank(&self, number: usize, piece: &Range<usize>) -> bool {
        match (self.chunk(number), &self.blank) {
            (None, _) => self.ground.is_blank(piece),
            (Some(chunk), Some(blank)) => blank[0].as_ref().is_some_and(|b| Arc::ptr_eq(chunk, b)),
            (Some(_), None) => false,
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
        let (ground, made) = (&self.ground, &mut self.made);
        let chunk = || ground_of(ground, number, made);
        unshared(group[number & (GROUP - 1)].get_or_insert_with(chunk))
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

    /// Sets the entries of a range to the default, and does something with those that were not,
    /// in order: with the index of each, and with what it was. What is blank as a whole takes no
    /// room then, and no time when it is taken again.
    ///
    /// # Panics
    /// If the range ends beyond the last chunk.
    pub fn take(&mut self, range: Range<usize>, mut act: impl FnMut(usize, T))
    where
        T: PartialEq,
    {
        if range.is_empty() {
            return;
        }
        let blank = Arc::clone(self.blank.get_or_insert_with(blank_group));
        for number in range.start / SPAN..range.end.div_ceil(SPAN) {
            if Arc::ptr_eq(&self.groups[number], &blank) {
                continue;
            }
            let piece = range.start.max(number * SPAN)..range.end.min((number + 1) * SPAN);
            self.for_each_piece(piece.clone(), |first, entries| {
                let numbered = (first..).zip(entries.iter().copied());
                numbered.filter(|each| each.1 != T::default()).for_each(|each| act(each.0, each.1));
            });
            if piece.len() == SPAN {
                self.groups[number] = Arc::clone(&blank);
            } else {
                self.clear(piece, &blank);
            }
        }
    }

    /// Sets the entries of a part of a group to the default.
    fn clear(&mut self, range: Range<usize>, blank: &Group<T>) {
        for (number, piece) in pieces(range) {
            if piece.len() == CHUNK {
                let group = unshared(&mut self.groups[number >> GROUP_BITS]);
                group[number & (GROUP - 1)].clone_from(&blank[0]);
            } else {
                let first = number << CHUNK_BITS;
                self.owned(number)[piece.start - first..piece.end - first].fill(T::default());
            }
        }
    }

    /// The first index of a range that may not be the default, chunk by chunk, to step over what
    /// certainly is; its end if there is none.
    #[must_use]
    pub fn next_not_blank(&self, range: Range<usize>) -> usize {
        let end = range.end;
        let mut left = pieces(range).filter(|(number, piece)| !self.is_blank(*number, piece));
        left.next().map_or(end, |(_, piece)| piece.start)
    }

    /// How many chunks were first written since the array was made: here, and before it was copied
    /// in what it is a copy of.
    #[must_use]
    pub const fn chunks_made(&self) -> u64 {
        self.made
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

/// The chunks that a range has a part in, and that part of each.
fn pieces(range: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
    (range.start >> CHUNK_BITS..range.end.div_ceil(CHUNK)).map(move |number| {
        let first = number << CHUNK_BITS;
        (number, range.start.max(first)..range.end.min(first + CHUNK))
    })
}

// Apart, because a chunk is built on the stack: room for one in the frame of every
// `entry` costs more than the entry.

#[cold]
#[inline(never)]
fn ground_of<T: Copy + Default, G: Ground<T>>(
    ground: &G,
    number: usize,
    made: &mut u64,
) -> Chunk<T> {
    *made += 1;
    let first = number << CHUNK_BITS;
    if ground.is_blank(&(first..first + CHUNK)) {
        return Arc::new([T::default(); CHUNK]);
    }
    Arc::new(std::array::from_fn(|place| ground.at(first + place)))
}

#[cold]
#[inline(never)]
fn blank_group<T: Copy + Default>() -> Arc<Group<T>> {
    let chunk: Chunk<T> = Arc::new([T::default(); CHUNK]);
    Arc::new(std::array::from_fn(|_| Some(Arc::clone(&chunk))))
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
        assert_eq!((copy.chunks_owned(), copy.chunks_made()), (1, 10), "none is first written");
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
        assert_eq!(original.next_not_blank(at(1) + 1..original.len()), at(1) + 1);
        assert_eq!(original.next_not_blank(at(1) + CHUNK..original.len()), 2 * GROUP * CHUNK);
    }

    #[test]
    fn what_is_taken_is_blank_and_what_is_blank_takes_no_room() {
        let mut array = CowArray::<u32>::new(5 * CHUNK);
        (0..array.len()).for_each(|index| array.set(index, index as u32));
        let (from, to) = (CHUNK / 2, 4 * CHUNK + 3);
        let mut taken = Vec::new();
        array.take(from..to, |index, entry| taken.push((index, entry)));
        assert!(taken.into_iter().eq((from..to).map(|index| (index, index as u32))));
        assert!((from..to).all(|index| array.get(index) == 0));
        assert_eq!((array.get(from - 1), array.get(to)), (from as u32 - 1, to as u32));
        assert_eq!(array.chunks_owned(), 2, "the first and the last");
        array.take(from..to, |_, _| panic!("there is nothing left"));
        array.take(Range { start: 3, end: 2 }, |_, _| panic!("that is no range"));
        array.set(2 * CHUNK, 7);
        assert_eq!((array.get(2 * CHUNK), array.get(3 * CHUNK)), (7, 0));
    }

    #[test]
    fn of_what_was_taken_before_only_what_was_written_since_is_visited() {
        let mut array = CowArray::<u32>::new(3 * SPAN + 9);
        (0..array.len()).for_each(|index| array.set(index, 1));
        let mut other = array.clone();
        array.take(5..array.len(), |_, _| ());
        assert_eq!(array.chunks_owned(), 2, "the first and the last");
        array.set(SPAN + 3, 2);
        let mut taken = Vec::new();
        array.take(0..array.len(), |index, entry| taken.push((index, entry)));
        assert_eq!(taken, [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (SPAN + 3, 2)]);
        let mut count = 0;
        other.take(0..other.len(), |_, entry| count += entry as usize);
        assert_eq!(count, other.len(), "a copy keeps its own");
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
        assert_eq!(array.next_not_blank(0..array.len()), array.len());
        array.set(2 * CHUNK + 7, 1);
        assert_eq!(array.next_not_blank(0..array.len()), 2 * CHUNK);
        assert_eq!(array.next_not_blank(2 * CHUNK + 9..array.len()), 2 * CHUNK + 9);
        assert_eq!(array.next_not_blank(3 * CHUNK..array.len()), array.len());
        assert_eq!(array.next_not_blank(3..CHUNK + 1), CHUNK + 1, "nothing beyond is asked");
    }
}
