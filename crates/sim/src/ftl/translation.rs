//! What a drive asks of a translation layer, whichever it is.

use super::sectors::SectorMap;
use crate::geometry::{Geometry, Lpn, Ppn};
use crate::layout::Layout;
use std::fmt::Debug;
use std::ops::Range;

/// Where logical pages are. It knows no time.
pub trait Translation: Clone + Debug + Send + Sync + 'static {
    /// The array in mapping units: the pages, blocks and planes that it works with.
    fn geometry(&self) -> &Geometry;

    /// Where those lie.
    fn layout(&self) -> &Layout;

    /// Where a logical page is.
    fn lookup(&self, page: Lpn) -> Option<Ppn>;

    /// The logical page last put in a physical one, newer versions elsewhere or not.
    fn was_given(&self, page: Ppn) -> Option<Lpn>;

    /// The logical page that a physical page holds, if it still does.
    #[inline]
    fn holds(&self, page: Ppn) -> Option<Lpn> {
        let logical = self.was_given(page)?;
        (self.lookup(logical) == Some(page)).then_some(logical)
    }

    /// Which sectors of each logical page were ever written.
    fn sectors(&self) -> &SectorMap;

    /// Logical pages of the host; the drive's own follow.
    fn exported_pages(&self) -> u32;

    /// Logical pages of the host and of the drive.
    fn logical_pages(&self) -> u32;

    /// Where a page of the map that was never programmed is read: any place with the right timing.
    /// Only a layer that pages its map in has such pages.
    fn blank_map_page(&self, page: Lpn) -> Ppn {
        Ppn(page.0 % self.geometry().page_count)
    }

    /// How many pages it is best to write in a row: one on every plane.
    fn run_pages(&self) -> u32 {
        self.geometry().plane_count * self.layout().shape().groups
    }

    /// Whether a page is in a block written with one bit per cell.
    #[inline]
    fn is_one_bit(&self, _page: Ppn) -> bool {
        false
    }

    /// Of the parts that a region with one bit per cell has, how many take no page of the host,
    /// and how many there are.
    fn region_parts(&self) -> (u64, u64) {
        (0, 0)
    }

    /// Whether a page is in a block that is being collected.
    #[inline]
    fn is_being_collected(&self, _page: Ppn) -> bool {
        false
    }

    /// Forgets logical pages, and does something with each that held anything, in order.
    fn discard(&mut self, pages: Range<u32>, freed: impl FnMut(Lpn));

    /// Pieces of its tables that were first written.
    fn pieces_made(&self) -> u64;

    /// Number of physical blocks by erase count.
    fn erase_histogram(&self) -> Vec<u64>;

    /// Physical blocks that were erased as often as they are made for.
    fn retired_blocks(&self) -> u64;

    /// Whether a physical page was written since its block was erased.
    fn is_written(&self, page: Ppn) -> bool;
}

/// How many blocks were erased how often. It is kept as they are, since a drive may have millions.
#[derive(Clone, Debug)]
pub struct EraseCounts {
    /// Blocks, by erases.
    blocks: Vec<u64>,
    /// Physical blocks of a block.
    each: u64,
}

impl EraseCounts {
    /// Of so many blocks, each of `each` physical ones, none of which was erased.
    #[must_use]
    pub fn new(blocks: u64, each: u32) -> Self {
        Self { blocks: vec![blocks], each: each.into() }
    }

    /// The same, counted anew from the erases of every block.
    #[must_use]
    pub fn recounted(&self, erases: impl Iterator<Item = u32>) -> Self {
        let mut blocks = vec![0];
        for times in erases.map(|times| times as usize) {
            blocks.resize(blocks.len().max(times + 1), 0);
            blocks[times] += 1;
        }
        Self { blocks, each: self.each }
    }

    /// A block was erased, for the `times`th time.
    pub fn add(&mut self, times: u32) {
        let times = times as usize;
        if times == self.blocks.len() {
            self.blocks.push(0);
        }
        self.blocks[times - 1] -= 1;
        self.blocks[times] += 1;
    }

    /// Number of physical blocks by erase count.
    #[must_use]
    pub fn histogram(&self) -> Vec<u64> {
        self.blocks.iter().map(|blocks| blocks * self.each).collect()
    }
}
