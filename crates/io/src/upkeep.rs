//! What a drive does beside serving requests, and how full it is: why it became slower.
//!
//! A reading costs no more than a look at a few counts, so that it can be taken often in a run.

use serde::Serialize;
use std::ops::AddAssign;

/// A reading of a drive. Counts are since it was opened, the rest is as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Upkeep {
    /// Valid pages moved by collection.
    pub gc_pages_moved: u64,
    /// Pages moved from blocks with one bit per cell to others.
    pub pslc_pages_folded: u64,
    /// Pages moved to even out wear.
    pub wear_pages_moved: u64,
    /// Merges that copied pages.
    pub merges: u64,
    /// Parts of the mapping table loaded.
    pub map_loads: u64,
    /// Requests that wait for room in the write buffer.
    pub waiting_for_buffer: u64,
    /// Parts of the region with one bit per cell that take no page of the host.
    pub pslc_parts_full: u64,
    /// Parts that this region has: a plane each; zero where there is no region.
    pub pslc_parts: u64,
}

impl Upkeep {
    /// What was counted since an `earlier` reading; what is as it is, as it is now.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            gc_pages_moved: self.gc_pages_moved - earlier.gc_pages_moved,
            pslc_pages_folded: self.pslc_pages_folded - earlier.pslc_pages_folded,
            wear_pages_moved: self.wear_pages_moved - earlier.wear_pages_moved,
            merges: self.merges - earlier.merges,
            map_loads: self.map_loads - earlier.map_loads,
            ..*self
        }
    }

    /// Appends what a later stretch counted; the state is that of the later one.
    pub const fn extend(&mut self, later: &Self) {
        *self = Self {
            gc_pages_moved: self.gc_pages_moved + later.gc_pages_moved,
            pslc_pages_folded: self.pslc_pages_folded + later.pslc_pages_folded,
            wear_pages_moved: self.wear_pages_moved + later.wear_pages_moved,
            merges: self.merges + later.merges,
            map_loads: self.map_loads + later.map_loads,
            ..*later
        };
    }
}

/// Of several drives as if they were one.
impl AddAssign for Upkeep {
    fn add_assign(&mut self, other: Self) {
        // Taken apart without `..`, so that a new reading cannot be forgotten here.
        let Self {
            gc_pages_moved,
            pslc_pages_folded,
            wear_pages_moved,
            merges,
            map_loads,
            waiting_for_buffer,
            pslc_parts_full,
            pslc_parts,
        } = other;
        self.gc_pages_moved += gc_pages_moved;
        self.pslc_pages_folded += pslc_pages_folded;
        self.wear_pages_moved += wear_pages_moved;
        self.merges += merges;
        self.map_loads += map_loads;
        self.waiting_for_buffer += waiting_for_buffer;
        self.pslc_parts_full += pslc_parts_full;
        self.pslc_parts += pslc_parts;
    }
}
