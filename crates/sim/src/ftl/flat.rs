//! The map of a plane that is apart: two plain arrays, which nobody shares. They hold the same
//! numbers as those of [`PageMap`](super::PageMap), one above the page, 0 for none.

use crate::geometry::{Lpn, Ppn};

/// Where the pages of a plane are, all of which are somewhere.
pub struct FlatMap {
    /// Physical page + 1 of each logical page.
    pub places: Vec<u32>,
    /// Logical page + 1 last put in each physical page; 0 = none.
    pub given: Vec<u32>,
}

impl FlatMap {
    /// Of so many physical pages, and of logical ones that are still to be told.
    pub fn new(pages: u32, physical_pages: u32) -> Self {
        Self { places: Vec::with_capacity(pages as usize), given: vec![0; physical_pages as usize] }
    }

    /// Puts pages in physical ones from `first` on; does something with those that they were in.
    #[inline]
    pub fn replace(
        &mut self,
        pages: impl ExactSizeIterator<Item = Lpn>,
        first: Ppn,
        mut left: impl FnMut(Ppn),
    ) {
        let given = &mut self.given[first.0 as usize..][..pages.len()];
        for ((page, given), place) in pages.zip(given).zip(first.0 + 1..) {
            *given = page.0 + 1;
            left(Ppn(std::mem::replace(&mut self.places[page.0 as usize], place) - 1));
        }
    }

    /// Puts pages in physical ones from `first` on.
    pub fn put_on(&mut self, pages: &[Lpn], first: Ppn) {
        self.replace(pages.iter().copied(), first, |_| ());
    }

    /// Appends the pages that so many physical ones from `first` on, all of them written, still
    /// hold. Which ones do is as good as random: they are counted, not asked for by a jump.
    pub fn held(&self, first: Ppn, count: u32, pages: &mut Vec<Lpn>) {
        let mut end = pages.len();
        pages.resize(end + count as usize, Lpn(0));
        let given = &self.given[first.0 as usize..][..count as usize];
        for (&page, place) in given.iter().zip(first.0 + 1..) {
            pages[end] = Lpn(page - 1);
            end += usize::from(self.places[page as usize - 1] == place);
        }
        pages.truncate(end);
    }
}
