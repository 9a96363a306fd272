//! Pages written in order on a drive that was never written, before anything is collected: where
//! each is follows from its number. A map that rests on this takes no time to write, and no memory.
//!
//! [`Split`] says which page is the how manieth on which plane; [`Rows`] which blocks those are.

use crate::cow::Ground;
use crate::divisor::Divisor;
use crate::geometry::{Geometry, Lpn, Ppn};
use std::ops::Range;
use triomphe::Arc;

/// Which of the host's pages are on which plane, where planes take turns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub planes: Divisor,
    pub in_a_row: Divisor,
    pub pages: u32,
}

impl Split {
    /// The turn of the plane that a page is on, and its number there.
    #[inline]
    pub fn apart(self, page: u32) -> (usize, u32) {
        let (run, place) = self.in_a_row.divide(page);
        let (row, turn) = self.planes.divide(run);
        (turn as usize, row * self.in_a_row.value + place)
    }

    /// Pages that planes hold in a row, together.
    pub fn row(self) -> u32 {
        self.planes.value * self.in_a_row.value
    }

    /// The pages of a plane.
    pub fn pages_of(self, turn: u32) -> u32 {
        let (in_a_row, row) = (self.in_a_row.value, self.row());
        let rest = (self.pages % row).saturating_sub(turn * in_a_row);
        self.pages / row * in_a_row + rest.min(in_a_row)
    }

    /// The page that has this number on the plane of this turn.
    #[inline]
    pub fn together(self, turn: usize, page: u32) -> u32 {
        let (row, place) = self.in_a_row.divide(page);
        (row * self.planes.value + turn as u32) * self.in_a_row.value + place
    }
}

/// Blocks that were filled in rows, one on every plane.
#[derive(Debug)]
pub(super) struct Rows {
    split: Split,
    pages_per_block: Divisor,
    /// The first page of each block, row by row, the planes in the order of their turns.
    blocks: Vec<Ppn>,
    /// Of every block of the drive its place among those, one above; 0 = none.
    places: Vec<u32>,
}

impl Rows {
    /// So many of the first pages in these blocks.
    pub fn new(split: Split, geometry: &Geometry, blocks: Vec<Ppn>) -> Self {
        let pages_per_block = geometry.by_block;
        let mut places = vec![0; pages_per_block.quotient(geometry.page_count) as usize];
        for (place, first) in (1..).zip(&blocks) {
            places[pages_per_block.quotient(first.0) as usize] = place;
        }
        Self { split, pages_per_block, blocks, places }
    }

    /// Where a page is, if it is here.
    #[inline]
    fn lookup(&self, page: Lpn) -> Option<Ppn> {
        if page.0 >= self.split.pages {
            return None;
        }
        let (turn, number) = self.split.apart(page.0);
        let (row, offset) = self.pages_per_block.divide(number);
        let block = self.blocks[row as usize * self.split.planes.value as usize + turn];
        Some(Ppn(block.0 + offset))
    }

    /// What a place was given, if anything.
    #[inline]
    fn was_given(&self, place: Ppn) -> Option<Lpn> {
        let (block, offset) = self.pages_per_block.divide(place.0);
        let among = self.places.get(block as usize)?.checked_sub(1)?;
        let (row, turn) = self.split.planes.divide(among);
        let number = row * self.pages_per_block.value + offset;
        Some(Lpn(self.split.together(turn as usize, number)))
    }
}

/// The ground of a map from pages to places, one above each; 0 = nowhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Places(pub Option<Arc<Rows>>);

/// The ground of a map from places to what they were given, one above each; 0 = nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Given(pub Option<Arc<Rows>>);

impl Ground<u32> for Places {
    #[inline]
    fn at(&self, page: usize) -> u32 {
        let place = self.0.as_ref().and_then(|rows| rows.lookup(Lpn(page as u32)));
        place.map_or(0, |place| place.0 + 1)
    }

    fn is_blank(&self, pages: &Range<usize>) -> bool {
        self.0.as_ref().is_none_or(|rows| pages.start >= rows.split.pages as usize)
    }
}

impl Ground<u32> for Given {
    #[inline]
    fn at(&self, place: usize) -> u32 {
        let page = self.0.as_ref().and_then(|rows| rows.was_given(Ppn(place as u32)));
        page.map_or(0, |page| page.0 + 1)
    }

    fn is_blank(&self, places: &Range<usize>) -> bool {
        self.0.as_ref().is_none_or(|rows| {
            let block = |place: usize| rows.pages_per_block.quotient(place as u32) as usize;
            let last = block(places.end - 1).min(rows.places.len() - 1);
            rows.places[block(places.start)..=last].iter().all(|&place| place == 0)
        })
    }
}
