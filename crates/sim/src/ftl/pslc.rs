//! A region of blocks written with one bit per cell: the first ones of every plane. The host
//! writes there while it has room. *Folding* moves the valid pages of its oldest block to the
//! other blocks, as collection does, and erases it.
//!
//! Folding takes room from the other blocks and gives none back to them, so it begins only if
//! collection can still begin with any block afterwards.

use super::collection::{Collection, Purpose};
use super::plane::{BlockState, Frontier, Plane};
use super::{Ftl, Placement};
use crate::config::{Overflow, PageConfig, Pslc};
use crate::geometry::{BlockId, Lpn, PageId, PlaneId, Ppn};
use std::collections::VecDeque;

/// The region of a drive.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Blocks in every plane.
    pub blocks: u32,
    /// Pages of such a block.
    pages_per_block: u32,
    overflow: Overflow,
    fold_when_idle: bool,
}

impl Region {
    /// The one that a drive file describes.
    #[must_use]
    pub fn new(config: &PageConfig) -> Self {
        let Pslc { bytes, overflow, fold_when_idle, .. } = config.pslc;
        let (nand, layout) = (&config.nand, &config.ftl.layout);
        Self {
            blocks: if bytes > 0 { config.pslc.blocks(nand, layout) } else { 0 },
            pages_per_block: Pslc::pages_per_block(nand, layout),
            overflow,
            fold_when_idle,
        }
    }

    /// Whether idle time is used for folding.
    #[must_use]
    pub const fn folds_when_idle(&self) -> bool {
        self.blocks > 0 && self.fold_when_idle
    }
}

/// A plane's part of the region.
#[derive(Clone, Debug, Default)]
pub struct Share {
    /// Erased blocks, in the order in which they will be used.
    pub free: VecDeque<BlockId>,
    /// Filled ones, oldest first.
    pub filled: VecDeque<BlockId>,
    /// Where the host's pages go.
    pub open: Option<Frontier>,
    /// A block is being folded.
    pub folding: bool,
}

impl Ftl {
    /// Whether a page is in the region.
    #[inline]
    pub(super) const fn is_in_region(&self, page: Ppn) -> bool {
        self.region.blocks > 0 && self.geometry.block_of(page).0 < self.region.blocks
    }

    /// Whether idle time is used for folding.
    #[must_use]
    pub const fn folds_when_idle(&self) -> bool {
        self.region.folds_when_idle()
    }

    /// Whether a plane's part of the region takes a page of the host.
    #[inline]
    pub(super) fn region_has_room(&self, plane: &Plane) -> bool {
        self.region.blocks > 0 && (plane.region.open.is_some() || !plane.region.free.is_empty())
    }

    /// Whether writes go nowhere but to the region.
    #[inline]
    #[must_use]
    pub const fn only_region(&self) -> bool {
        self.region.blocks > 0 && matches!(self.region.overflow, Overflow::Fold)
    }

    /// Puts a page of the host in a plane's part of the region, which has room.
    pub(super) fn place_in_region(&mut self, page: Lpn, plane_id: PlaneId) -> Placement {
        let plane = &mut self.planes[plane_id];
        let frontier = plane.region.open.or_else(|| {
            let block = plane.region.free.pop_front()?;
            plane.state[block.0 as usize] = BlockState::Open;
            Some(Frontier { block, next: PageId(0) })
        });
        let Frontier { block, next } = frontier.expect("the caller asked for room first");
        let index = block.0 as usize;
        plane.valid[index] += 1;
        plane.programming[index] += 1;
        let filled = next.0 + 1 == self.region.pages_per_block;
        plane.region.open = (!filled).then_some(Frontier { block, next: PageId(next.0 + 1) });
        if filled {
            plane.state[index] = BlockState::FilledOneBit;
            plane.region.filled.push_back(block);
        }
        let new = self.geometry.ppn(plane_id, block, next);
        self.replace(page, new, false)
    }

    /// Starts folding a block of `plane`, if there is one and there is room for it; idle time
    /// is used for blocks that are only begun, too.
    pub fn begin_fold(&mut self, plane_id: PlaneId, idle: bool) -> Option<Collection> {
        let plane = &self.planes[plane_id];
        if plane.region.folding {
            return None;
        }
        let at_rest = |block: &BlockId| plane.programming[block.0 as usize] == 0;
        let begun = plane.region.open.map(|open| open.block).filter(|_| idle);
        let victim = plane.region.filled.iter().copied().chain(begun).find(at_rest)?;
        let valid = plane.valid[victim.0 as usize];
        if plane.gc_room(self.geometry.pages_per_block) < self.room_kept(plane) + valid {
            return None;
        }
        let plane = &mut self.planes[plane_id];
        if plane.region.open.is_some_and(|open| open.block == victim) {
            plane.region.open = None;
        }
        plane.region.filled.retain(|&block| block != victim);
        plane.region.folding = true;
        plane.state[victim.0 as usize] = BlockState::Collecting;
        plane.moves_left += valid;
        Some(Collection { plane: plane_id, victim, cold: None, purpose: Purpose::Fold })
    }

    /// Whether a plane's part of the region holds anything.
    #[must_use]
    pub fn has_to_fold(&self, plane: PlaneId) -> bool {
        let region = &self.planes[plane].region;
        region.open.is_some() || !region.filled.is_empty()
    }

    /// Whether a plane has something to fold, and no room for it.
    #[must_use]
    pub fn fold_lacks_room(&self, plane: PlaneId) -> bool {
        let has_to = self.has_to_fold(plane);
        let plane = &self.planes[plane];
        let most = self.region.pages_per_block;
        has_to
            && !plane.region.folding
            && plane.gc_room(self.geometry.pages_per_block) < self.room_kept(plane) + most
    }

    /// A block of the region is erased.
    pub(super) fn end_fold(&mut self, done: Collection) {
        let plane = &mut self.planes[done.plane];
        plane.erases[done.victim.0 as usize] += 1;
        plane.state[done.victim.0 as usize] = BlockState::Free;
        plane.region.folding = false;
        plane.region.free.push_back(done.victim);
    }
}
