//! What a merge copies.
//!
//! Most pages of a logical block lie at their own places in its data block. So what goes to another
//! unit is a stretch of that block, but for the few pages that lie in log blocks, or nowhere.

use super::units::{UnitId, Units};
use crate::geometry::{Lpn, Ppn};
use std::ops::Range;

/// A page to copy.
#[derive(Clone, Copy, Debug)]
pub struct Copied {
    /// Its logical page.
    pub page: Lpn,
    /// Where that is.
    pub from: Ppn,
    /// Where it goes.
    pub to: Ppn,
}

/// A page that is not at its own place in the data block.
#[derive(Clone, Copy, Debug)]
pub struct Stray {
    /// The page's place in its logical block.
    pub slot: u32,
    /// Where it is, if anywhere.
    pub page: Option<Ppn>,
}

/// Pages of a logical block, each of which goes to its own place in another unit.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    /// The logical block.
    pub block: u32,
    /// Its places that are copied.
    pub slots: Range<u32>,
    /// Its data block.
    pub from: UnitId,
    /// Where they go.
    pub to: UnitId,
    /// Those of them that are not in the data block, in order.
    pub strays: Vec<Stray>,
}

impl Copies {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.slots.len() as u32 - self.gaps().count() as u32
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place behind the last of them.
    #[must_use]
    pub fn end(&self) -> u32 {
        let gaps_behind = self.strays.iter().rev().zip((self.slots.clone()).rev());
        let behind = gaps_behind.take_while(|(stray, slot)| stray.is_gap_at(*slot)).count();
        self.slots.end - behind as u32
    }

    /// Where those are that are in log blocks.
    pub fn in_logs(&self) -> impl Iterator<Item = Ppn> {
        self.strays.iter().filter_map(|stray| stray.page)
    }

    /// Where they are, in the order in which they are programmed.
    #[must_use]
    pub fn sources(&self, units: &Units) -> Vec<Ppn> {
        let mut pages = units.pages_at(self.from, self.slots.clone());
        for Stray { slot, page } in &self.strays {
            if let Some(page) = page {
                pages[(slot - self.slots.start) as usize] = *page;
            }
        }
        self.without_gaps(pages)
    }

    /// Where they go.
    #[must_use]
    pub fn targets(&self, units: &Units) -> Vec<Ppn> {
        self.without_gaps(units.pages_at(self.to, self.slots.clone()))
    }

    /// One by one.
    pub fn each(&self, units: &Units) -> impl Iterator<Item = Copied> {
        let pages = self.without_gaps(self.slots.clone().collect()).into_iter();
        let places = self.sources(units).into_iter().zip(self.targets(units));
        let first = self.block * units.pages();
        pages.zip(places).map(move |(slot, (from, to))| Copied {
            page: Lpn(first + slot),
            from,
            to,
        })
    }

    fn gaps(&self) -> impl Iterator<Item = u32> {
        self.strays.iter().filter(|stray| stray.page.is_none()).map(|stray| stray.slot)
    }

    /// Of something for each place, what is for those that are copied.
    fn without_gaps<T>(&self, mut all: Vec<T>) -> Vec<T> {
        let mut gaps = self.gaps().peekable();
        if gaps.peek().is_some() {
            let mut slots = self.slots.clone();
            all.retain(|_| gaps.next_if_eq(&slots.next().unwrap_or(0)).is_none());
        }
        all
    }
}

impl Stray {
    fn is_gap_at(&self, slot: u32) -> bool {
        self.slot == slot && self.page.is_none()
    }
}
