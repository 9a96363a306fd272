//! Where every logical page is, where each is mapped by itself.
//!
//! Physical page `p` holds logical page `l` exactly if `l` maps to `p`; the reverse
//! map may keep stale entries, so no bit per page is needed to say what is valid.

use super::rows::{Given, Places, Rows};
use super::sectors::SectorMap;
use crate::cow::CowArray;
use crate::geometry::{Geometry, Lpn, Ppn};
use std::ops::Range;
use triomphe::Arc;

/// The newest version of each logical page, and what each physical page was given.
#[derive(Clone, Debug)]
pub struct PageMap {
    /// Physical page + 1 of each logical page; 0 = nowhere.
    pub(super) forward: CowArray<u32, Places>,
    /// Logical page + 1 last put in each physical page.
    pub(super) reverse: CowArray<u32, Given>,
    /// Which sectors of each logical page were ever written.
    pub sectors: SectorMap,
    exported_pages: u32,
    logical_pages: u32,
}

impl PageMap {
    /// Of an empty drive with `own_pages` for itself, beyond those that it exports.
    #[must_use]
    pub fn new(geometry: &Geometry, exported_pages: u32, own_pages: u32) -> Self {
        let logical_pages = exported_pages + own_pages;
        Self {
            forward: CowArray::new(logical_pages as usize),
            reverse: CowArray::new(geometry.page_count as usize),
            sectors: SectorMap::new(logical_pages, geometry.sectors_per_page),
            exported_pages,
            logical_pages,
        }
    }

    /// Logical pages of the host; the drive's own follow.
    #[inline]
    #[must_use]
    pub const fn exported_pages(&self) -> u32 {
        self.exported_pages
    }

    /// Logical pages of the host and of the drive.
    #[inline]
    #[must_use]
    pub const fn logical_pages(&self) -> u32 {
        self.logical_pages
    }

    /// Where a logical page is.
    #[inline]
    #[must_use]
    pub fn lookup(&self, page: Lpn) -> Option<Ppn> {
        self.forward.get(page.0 as usize).checked_sub(1).map(Ppn)
    }

    /// The logical page last put in a physical one, newer versions elsewhere or not.
    #[inline]
    #[must_use]
    pub fn was_given(&self, page: Ppn) -> Option<Lpn> {
        self.reverse.get(page.0 as usize).checked_sub(1).map(Lpn)
    }

    /// Puts a logical page in a physical one.
    #[inline]
    pub fn put(&mut self, page: Lpn, new: Ppn) {
        self.reverse.set(new.0 as usize, page.0 + 1);
        self.forward.set(page.0 as usize, new.0 + 1);
    }

    /// Puts logical pages from `first` on, all of whose sectors hold data then, in so many
    /// physical ones; does something with those that they were in.
    #[inline]
    pub fn put_run(&mut self, first: Lpn, places: &[Ppn], mut left: impl FnMut(Ppn)) {
        for (given, place) in (first.0 + 1..).zip(places) {
            self.reverse.set(place.0 as usize, given);
        }
        let first_index = first.0 as usize;
        let mut places_left = places.iter();
        self.forward.change(first_index..first_index + places.len(), |entries| {
            for (entry, place) in entries.iter_mut().zip(&mut places_left) {
                let old = std::mem::replace(entry, place.0 + 1);
                if old > 0 {
                    left(Ppn(old - 1));
                }
            }
        });
        self.sectors.write_pages(first, places.len() as u32);
    }

    /// Puts pages in rows, where nothing was put anywhere before.
    pub(super) fn put_rows(&mut self, rows: Rows) {
        let rows = Arc::new(rows);
        self.forward.lay(Places(Some(Arc::clone(&rows))));
        self.reverse.lay(Given(Some(rows)));
    }

    /// Does something with each of so many physical pages from `first` on that still hold a
    /// logical one, and with that.
    pub fn for_each_held(&self, first: Ppn, count: u32, mut act: impl FnMut(Ppn, Lpn)) {
        let places = first.0 as usize..(first.0 + count) as usize;
        self.reverse.for_each_piece(places, |start, given| {
            for (place, &page) in (start as u32 + 1..).zip(given) {
                if page > 0 && self.forward.get(page as usize - 1) == place {
                    act(Ppn(place - 1), Lpn(page - 1));
                }
            }
        });
    }

    /// Puts logical pages in physical ones from `first` on.
    pub fn put_on(&mut self, pages: &[Lpn], first: Ppn) {
        let given: Vec<u32> = pages.iter().map(|page| page.0 + 1).collect();
        self.reverse.write(first.0 as usize, &given);
        for (place, page) in (first.0 + 1..).zip(pages) {
            self.forward.set(page.0 as usize, place);
        }
    }

    /// Pieces of its tables that were first written.
    pub const fn pieces_made(&self) -> u64 {
        self.forward.chunks_made() + self.reverse.chunks_made() + self.sectors.pieces_made()
    }

    /// Forgets logical pages, and does something with each that was anywhere, and with its place.
    pub fn forget(&mut self, pages: Range<u32>, mut left: impl FnMut(Lpn, Ppn)) {
        // Pages that were somewhere, as far as they follow each other.
        let mut row = pages.start..pages.start;
        let (forward, sectors) = (&mut self.forward, &mut self.sectors);
        forward.take(pages.start as usize..pages.end as usize, |index, place| {
            let page = index as u32;
            if page != row.end {
                sectors.clear_pages(row.clone());
                row = page..page;
            }
            row.end += 1;
            left(Lpn(page), Ppn(place - 1));
        });
        sectors.clear_pages(row);
    }
}
