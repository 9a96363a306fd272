//! Where every logical page is: at its own place in the data block of its logical block, or
//! in a log block.
//!
//! As in such a drive itself, the data block is known by the logical block, and only what is
//! in log blocks by the page. So a merge changes one entry for each page that it takes out of
//! a log block, however many it copies, and a full drive takes hardly any memory.

use super::copies::{Copies, Stray};
use super::units::{Role, UnitId, Units};
use crate::cow::CowArray;
use crate::ftl::SectorMap;
use crate::geometry::{Geometry, Lpn, Ppn};
use std::ops::Range;

/// In `BlockMap::places`: at its own place in the data block, or nowhere.
const IN_DATA: u32 = u32::MAX;
const NOWHERE: u32 = 0;
/// Places that are compared at once.
const AT_ONCE: u32 = 16;

/// The newest version of each logical page, and what pages of log blocks were given.
#[derive(Clone, Debug)]
pub struct BlockMap {
    /// By logical page: `NOWHERE`, `IN_DATA`, or 1 + the physical page where else it is.
    places: CowArray<u32>,
    /// By physical page: 1 + the logical page that it was given as part of a log block.
    logged: CowArray<u32>,
    /// By logical block: 1 + its data block; 0 = none yet.
    data: Vec<u32>,
    /// By unit: the logical block that it is, or is being made, the data block of.
    block: Vec<u32>,
    /// Which sectors of each logical page were ever written.
    pub sectors: SectorMap,
    logical_pages: u32,
}

impl BlockMap {
    /// Of an empty drive of so many logical blocks.
    #[must_use]
    pub fn new(geometry: &Geometry, units: &Units, blocks: u32) -> Self {
        let logical_pages = blocks * units.pages();
        Self {
            places: CowArray::new(logical_pages as usize),
            logged: CowArray::new(geometry.page_count as usize),
            data: vec![0; blocks as usize],
            block: vec![0; units.count() as usize],
            sectors: SectorMap::new(logical_pages, geometry.sectors_per_page),
            logical_pages,
        }
    }

    /// Pieces of its tables that were first written.
    #[must_use]
    pub const fn pieces_made(&self) -> u64 {
        self.places.chunks_made() + self.logged.chunks_made() + self.sectors.pieces_made()
    }

    /// How many pages the host may use.
    #[must_use]
    pub const fn logical_pages(&self) -> u32 {
        self.logical_pages
    }

    /// How many logical blocks there are.
    #[must_use]
    pub const fn blocks(&self) -> u32 {
        self.data.len() as u32
    }

    /// The data block of a logical block.
    #[must_use]
    pub fn data_of(&self, block: u32) -> Option<UnitId> {
        self.data[block as usize].checked_sub(1).map(UnitId)
    }

    /// The logical block that a unit is, or is being made, the data block of.
    #[must_use]
    pub fn block_of(&self, unit: UnitId) -> u32 {
        self.block[unit.0 as usize]
    }

    /// Begins to make a unit the data block of a logical block: the pages of that stay where
    /// they are until it is handed over, or they are moved.
    pub fn promise(&mut self, unit: UnitId, block: u32) {
        self.block[unit.0 as usize] = block;
    }

    /// Makes a unit the data block of a logical block, of which no page is elsewhere.
    pub fn assign(&mut self, unit: UnitId, block: u32) {
        self.promise(unit, block);
        self.data[block as usize] = unit.0 + 1;
    }

    /// Makes the unit that was promised the data block of its logical block: all pages of that
    /// which are anywhere have been moved there.
    pub fn hand_over(&mut self, unit: UnitId, units: &Units) {
        let block = self.block_of(unit);
        self.assign(unit, block);
        for Stray { slot, page } in self.strays(block, 0..units.pages(), units) {
            if page.is_some() {
                self.places.set((block * units.pages() + slot) as usize, IN_DATA);
            }
        }
    }

    /// What of a logical block is to be copied to be at its place in a unit, from `slot` on.
    #[must_use]
    pub fn copies(&self, block: u32, unit: UnitId, slot: u32, units: &Units) -> Copies {
        let (from, slots) = (self.data_of(block).unwrap_or(unit), slot..units.pages());
        let strays = self.strays(block, slots.clone(), units);
        Copies { block, slots, from, to: unit, strays }
    }

    /// The pages of a logical block that are not at their own place, of those at some places.
    fn strays(&self, block: u32, slots: Range<u32>, units: &Units) -> Vec<Stray> {
        let first = (block * units.pages()) as usize;
        let places = self.places.range(first + slots.start as usize..first + slots.end as usize);
        let mut strays = Vec::new();
        for (pieces, some) in (0..).zip(places.chunks(AT_ONCE as usize)) {
            // Nearly all are in their places, and a whole piece is compared at once.
            if some.iter().fold(true, |all, &place| all & (place == IN_DATA)) {
                continue;
            }
            let slots = (slots.start + pieces * AT_ONCE..).zip(some);
            strays.extend(
                slots
                    .filter(|(_, place)| **place != IN_DATA)
                    .map(|(slot, place)| Stray { slot, page: place.checked_sub(1).map(Ppn) }),
            );
        }
        strays
    }

    /// Where a logical page is.
    #[inline]
    #[must_use]
    pub fn lookup(&self, page: Lpn, units: &Units) -> Option<Ppn> {
        match self.places.get(page.0 as usize) {
            NOWHERE => None,
            IN_DATA => {
                let (block, slot) = (page.0 / units.pages(), page.0 % units.pages());
                self.data_of(block).map(|unit| units.page(unit, slot))
            }
            place => Some(Ppn(place - 1)),
        }
    }

    /// The logical page last put in a physical one, newer versions elsewhere or not.
    #[must_use]
    pub fn was_given(&self, page: Ppn, units: &Units) -> Option<Lpn> {
        let (unit, slot) = units.place_of(page);
        match units.role(unit) {
            Role::Data => Some(Lpn(self.block_of(unit) * units.pages() + slot)),
            _ => self.logged.get(page.0 as usize).checked_sub(1).map(Lpn),
        }
    }

    /// Notes that a page of a log block was given a logical one, wherever that is now.
    pub fn note_given(&mut self, page: Ppn, given: Lpn) {
        self.logged.set(page.0 as usize, given.0 + 1);
    }

    /// Puts a logical page at its own place in its data block.
    pub fn put_in_data(&mut self, page: Lpn) {
        self.places.set(page.0 as usize, IN_DATA);
    }

    /// Puts a logical page anywhere else.
    pub fn put(&mut self, page: Lpn, new: Ppn) {
        self.places.set(page.0 as usize, new.0 + 1);
    }

    /// Puts every logical page at its own place.
    pub fn fill(&mut self) {
        self.places.fill(&[IN_DATA]);
        self.sectors.fill();
    }

    /// Forgets a logical page.
    pub fn forget(&mut self, page: Lpn) {
        self.places.set(page.0 as usize, NOWHERE);
        self.sectors.clear_pages(page.0..page.0 + 1);
    }

    /// The first logical page from `page` to before `end` that may be somewhere; `end` if none.
    #[must_use]
    pub fn next_maybe_mapped(&self, page: Lpn, end: Lpn) -> Lpn {
        Lpn(self.places.next_not_blank(page.0 as usize..end.0 as usize) as u32)
    }
}
