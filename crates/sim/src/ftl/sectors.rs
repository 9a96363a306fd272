//! Which sectors of a logical page were ever written: what a small write must
//! keep by reading it first, and what it need not.

use crate::cow::CowArray;
use crate::geometry::Lpn;
use std::ops::Range;

/// A bit per sector of every logical page.
#[derive(Clone, Debug)]
pub struct SectorMap {
    words: CowArray<u64>,
    sectors_per_page: u32,
    /// Bits that a page takes: a power of two, so that a page of up to 64 sectors
    /// never straddles words and a longer one fills whole words.
    bits_per_page: u32,
    /// A word of short pages, of which every sector is written.
    full_pages: u64,
}

impl SectorMap {
    /// For `pages` pages, nothing written.
    #[must_use]
    pub fn new(pages: u32, sectors_per_page: u32) -> Self {
        let bits_per_page = sectors_per_page.next_power_of_two();
        let bits = u64::from(pages) * u64::from(bits_per_page);
        let words = CowArray::new(usize::try_from(bits.div_ceil(64)).unwrap_or(usize::MAX));
        let starts = (0..64).step_by(bits_per_page as usize);
        let full_pages = starts.fold(0, |word, bit| word | below(sectors_per_page) << bit);
        Self { words, sectors_per_page, bits_per_page, full_pages }
    }

    /// Pieces of the table that were first written.
    #[must_use]
    pub const fn pieces_made(&self) -> u64 {
        self.words.chunks_made()
    }

    /// Marks `count` sectors of `page` from `first` on as written; returns how many
    /// others of the page hold data.
    #[inline]
    pub fn write(&mut self, page: Lpn, first: u32, count: u32) -> u32 {
        let start_bit = u64::from(page.0) * u64::from(self.bits_per_page);
        let end = first + count;
        if self.bits_per_page <= 64 {
            return self.write_in_word(start_bit, self.bits_per_page, first, end);
        }
        let mut kept = 0;
        for word in (0..self.sectors_per_page).step_by(64) {
            let from = first.clamp(word, word + 64) - word;
            let to = end.clamp(word, word + 64) - word;
            kept += self.write_in_word(start_bit + u64::from(word), 64, from, to);
        }
        kept
    }

    /// Marks every sector of so many pages from `first` on as written.
    #[inline]
    pub fn write_pages(&mut self, first: Lpn, count: u32) {
        for (index, span) in self.spans(first.0..first.0 + count) {
            self.set(index as usize, self.full_word(index) & span);
        }
    }

    /// A word of which every sector is written.
    #[inline]
    fn full_word(&self, index: u64) -> u64 {
        if self.bits_per_page <= 64 {
            return self.full_pages;
        }
        let first = index * 64 % u64::from(self.bits_per_page);
        below(u64::from(self.sectors_per_page).saturating_sub(first).min(64) as u32)
    }

    /// Sets bits of a word, and returns what it was. Most often all are set already, and what is
    /// not changed stays shared.
    #[inline]
    fn set(&mut self, index: usize, bits: u64) -> u64 {
        let word = self.words.get(index);
        if word & bits != bits {
            self.words.set(index, word | bits);
        }
        word
    }

    /// Sets the bits `from` to `to` of the `bits` that begin at `start_bit`, all in one
    /// word; returns how many others of these are set.
    #[inline]
    fn write_in_word(&mut self, start_bit: u64, bits: u32, from: u32, to: u32) -> u32 {
        let shift = (start_bit % 64) as u32;
        let written = span_mask(from, to) << shift;
        let word = self.set((start_bit / 64) as usize, written);
        let kept = word & (below(bits) << shift) & !written;
        kept.count_ones()
    }

    /// Marks every sector of every page as written.
    pub fn fill(&mut self) {
        let words = u64::from(self.bits_per_page.div_ceil(64));
        let pattern: Vec<u64> = (0..words).map(|index| self.full_word(index)).collect();
        self.words.fill(&pattern);
    }

    /// How many sectors of `page` hold data, of those from `first` up to `end`.
    #[must_use]
    pub fn count(&self, page: Lpn, first: u32, end: u32) -> u32 {
        let start_bit = u64::from(page.0) * u64::from(self.bits_per_page);
        let mut held = 0;
        let mut bit = first;
        while bit < end {
            let position = start_bit + u64::from(bit);
            let shift = (position % 64) as u32;
            let count = (end - bit).min(64 - shift);
            let word = self.words.get((position / 64) as usize);
            held += (word >> shift & below(count)).count_ones();
            bit += count;
        }
        held
    }

    /// Forgets everything in pages.
    pub fn clear_pages(&mut self, pages: Range<u32>) {
        for (index, span) in self.spans(pages) {
            *self.words.entry(index as usize) &= !span;
        }
    }

    /// The words that pages have a part in, and the bits of it; none of no pages.
    #[inline]
    fn spans(&self, pages: Range<u32>) -> impl Iterator<Item = (u64, u64)> + use<> {
        let bits = u64::from(self.bits_per_page);
        let (start, end) = (u64::from(pages.start) * bits, u64::from(pages.end) * bits);
        let words = if start < end { start / 64..end.div_ceil(64) } else { 0..0 };
        words.map(move |index| {
            let (from, to) = (start.max(index * 64), end.min(index * 64 + 64));
            (index, span_mask((from - index * 64) as u32, (to - index * 64) as u32))
        })
    }
}

/// Ones from bit `from` up to, not including, bit `to`.
#[inline]
const fn span_mask(from: u32, to: u32) -> u64 {
    below(to) & !below(from)
}

/// Ones below bit `bit`.
#[inline]
const fn below(bit: u32) -> u64 {
    if bit >= 64 { u64::MAX } else { (1 << bit) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdscope_io::rng::Stream;

    #[test]
    fn filling_is_writing_every_page() {
        for sectors in [1, 4, 12, 16, 64, 96, 128, 2048] {
            let (mut written, mut filled) =
                (SectorMap::new(9, sectors), SectorMap::new(9, sectors));
            filled.fill();
            for page in (0..9).map(Lpn) {
                assert_eq!(written.write(page, 0, sectors), 0);
                assert_eq!(filled.count(page, 0, sectors), sectors);
                for (first, count) in [(0, 1), (sectors / 2, sectors / 2)] {
                    let [kept, expected] =
                        [&mut filled, &mut written].map(|map| map.write(page, first, count));
                    assert_eq!(kept, expected, "{sectors}");
                }
            }
        }
    }

    #[test]
    fn pages_in_a_row_are_written_as_one_by_one() {
        for sectors in [1, 4, 12, 16, 64, 96, 128, 2048] {
            let mut map = SectorMap::new(90, sectors);
            map.write_pages(Lpn(1), 75);
            for page in (0..90).map(Lpn) {
                let held = if (1..76).contains(&page.0) { sectors } else { 0 };
                assert_eq!(map.count(page, 0, sectors), held, "{sectors}");
                assert_eq!(map.write(page, 0, 1), held.saturating_sub(1), "{sectors}");
            }
        }
    }

    #[test]
    fn it_agrees_with_a_plain_list_of_flags() {
        for sectors in [1, 4, 8, 12, 16, 64, 96, 128, 256_u32] {
            let mut random = Stream::new(u64::from(sectors), "sectors");
            let mut map = SectorMap::new(5, sectors);
            let mut plain = vec![vec![false; sectors as usize]; 5];
            for _ in 0..300 {
                let page = random.below(5) as u32;
                if random.below(10) == 0 {
                    map.clear_pages(page..page + 1);
                    plain[page as usize].fill(false);
                    continue;
                }
                let first = random.below(u64::from(sectors)) as u32;
                let count = 1 + random.below(u64::from(sectors - first)) as u32;
                let span = first as usize..(first + count) as usize;
                let flags = &mut plain[page as usize];
                let outside = flags
                    .iter()
                    .enumerate()
                    .filter(|&(index, &written)| written && !span.contains(&index))
                    .count();
                let within = flags[span.clone()].iter().filter(|&&written| written).count();
                assert_eq!(map.count(Lpn(page), first, first + count), within as u32, "{sectors}");
                assert_eq!(map.write(Lpn(page), first, count), outside as u32, "{sectors}");
                flags[span].fill(true);
            }
        }
    }
}
