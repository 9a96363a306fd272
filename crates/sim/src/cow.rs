//! A large array that is cheap to open, cheap to copy and pays for what changes.
//!
//! Chunks are allocated when first written (an unwritten entry reads as the
//! default) and shared between copies until one of them writes. So a drive of a
//! terabyte opens at once, and a snapshot costs one pointer per chunk.

use std::sync::Arc;

const CHUNK_BITS: usize = 12;
const CHUNK: usize = 1 << CHUNK_BITS;

/// A fixed-length array of `T` with copy-on-write chunks.
#[derive(Clone, Debug)]
pub struct CowArray<T> {
    chunks: Vec<Option<Arc<[T; CHUNK]>>>,
    len: usize,
}

impl<T: Copy + Default> CowArray<T> {
    /// `len` entries, all `T::default()`, in no memory to speak of.
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self { chunks: vec![None; len.div_ceil(CHUNK)], len }
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
        match &self.chunks[index >> CHUNK_BITS] {
            Some(chunk) => chunk[index & (CHUNK - 1)],
            None => T::default(),
        }
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

    /// A chunk that no other copy has.
    #[inline]
    fn owned(&mut self, number: usize) -> &mut [T; CHUNK] {
        let chunk = self.chunks[number].get_or_insert_with(blank);
        if Arc::strong_count(chunk) > 1 {
            copy(chunk);
        }
        match Arc::get_mut(chunk) {
            Some(entries) => entries,
            None => unreachable!("a chunk without other owners is nobody else's"),
        }
    }

    /// Replaces many entries. Those of a chunk in a row cost one look at whose it is.
    ///
    /// # Panics
    /// If an index is beyond the last chunk.
    pub fn set_all(&mut self, entries: impl Iterator<Item = (usize, T)>) {
        let mut entries = entries.peekable();
        while let Some(&(index, _)) = entries.peek() {
            let number = index >> CHUNK_BITS;
            let chunk = self.owned(number);
            while let Some((index, value)) = entries.next_if(|next| next.0 >> CHUNK_BITS == number)
            {
                chunk[index & (CHUNK - 1)] = value;
            }
        }
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
        for (number, chunk) in self.chunks.iter_mut().enumerate() {
            *chunk = Some(Arc::clone(&kinds[number % kinds.len()]));
        }
    }

    /// The first index at or after `index` whose chunk was ever written, to step
    /// over what is certainly default; `len` if there is none.
    #[must_use]
    pub fn next_allocated(&self, index: usize) -> usize {
        let mut chunk = index >> CHUNK_BITS;
        if chunk < self.chunks.len() && self.chunks[chunk].is_some() {
            return index.min(self.len);
        }
        while chunk < self.chunks.len() && self.chunks[chunk].is_none() {
            chunk += 1;
        }
        (chunk << CHUNK_BITS).min(self.len)
    }

    /// How many chunks this copy does not share with any other.
    #[must_use]
    pub fn chunks_owned(&self) -> usize {
        self.chunks.iter().flatten().filter(|chunk| Arc::strong_count(chunk) == 1).count()
    }
}

// Apart, because a chunk is built on the stack: room for one in the frame of every
// `entry` costs more than the entry.

#[cold]
#[inline(never)]
fn blank<T: Copy + Default>() -> Arc<[T; CHUNK]> {
    Arc::new([T::default(); CHUNK])
}

#[cold]
#[inline(never)]
fn chunk_of<T: Copy>(pattern: &[T], from: usize) -> Arc<[T; CHUNK]> {
    Arc::new(std::array::from_fn(|index| pattern[(from + index) % pattern.len()]))
}

#[cold]
#[inline(never)]
fn copy<T: Copy>(chunk: &mut Arc<[T; CHUNK]>) {
    *chunk = Arc::new(**chunk);
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
    }

    #[test]
    fn filling_repeats_the_pattern() {
        for length in [1, 4, 4 * CHUNK] {
            let pattern: Vec<u32> = (0..length as u32).map(|value| value + 3).collect();
            let mut array = CowArray::new(9 * CHUNK + 5);
            array.fill(&pattern);
            assert!((0..array.len()).all(|index| array.get(index) == pattern[index % length]));
            array.set(CHUNK + 1, 0);
            assert_eq!(
                (array.get(CHUNK + 1), array.get(5 * CHUNK + 1)),
                (0, pattern[(CHUNK + 1) % length])
            );
        }
    }

    #[test]
    fn unwritten_chunks_read_as_default_and_can_be_skipped() {
        let mut array = CowArray::<u32>::new(5 * CHUNK + 3);
        assert_eq!(array.get(5 * CHUNK + 2), 0);
        assert_eq!(array.next_allocated(0), array.len());
        array.set(2 * CHUNK + 7, 1);
        assert_eq!(array.next_allocated(0), 2 * CHUNK);
        assert_eq!(array.next_allocated(2 * CHUNK + 9), 2 * CHUNK + 9);
        assert_eq!(array.next_allocated(3 * CHUNK), array.len());
    }
}
