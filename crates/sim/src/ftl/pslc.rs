//! A region of blocks written with one bit per cell: the first ones of every plane, and
//! beyond them free blocks that it *borrows* while there are more of them than collection
//! wants. The host writes there while it has room. *Folding* moves the valid pages of its
//! oldest block to the other blocks, as collection does, and erases it; a borrowed one is then
//! free like any other.
//!
//! Folding a block of the region's own takes room from the other blocks and gives none back to
//! them, so it begins only if collection can still begin with any block afterwards. A borrowed
//! block gives back more than it takes, so it is folded in the place of collection, too. It is
//! never one on its last erase, which would give nothing back.

use super::collection::{Collection, Purpose};
use super::plane::{BlockState, Frontier, Plane};
use super::{Ftl, Placement};
use crate::config::{Overflow, PageConfig, Pslc};
use crate::geometry::{BlockId, Lpn, PageId, PlaneId, Ppn};
use std::collections::VecDeque;

/// Of the region; a block that is begun is folded in a pause if it holds one of them. Regions of
/// as many blocks or more fold only full ones.
const PARTS_WORTH_FOLDING: u64 = 16;

/// The region of a drive.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Its own blocks in every plane.
    pub blocks: u32,
    /// Blocks that it may borrow in every plane.
    borrowed_max: u32,
    /// Pages of a block with one bit per cell.
    pages_per_block: u32,
    overflow: Overflow,
    fold_when_idle: bool,
}

impl Region {
    /// The one that a drive file describes.
    #[must_use]
    pub fn new(config: &PageConfig) -> Self {
        let Pslc { bytes, dynamic_bytes, overflow, fold_when_idle, .. } = config.pslc;
        let (nand, layout) = (&config.nand, &config.ftl.layout);
        let blocks = |bytes| if bytes > 0 { Pslc::blocks(bytes, nand, layout) } else { 0 };
        Self {
            blocks: blocks(bytes),
            borrowed_max: blocks(dynamic_bytes),
            pages_per_block: Pslc::pages_per_block(nand, layout),
            overflow,
            fold_when_idle,
        }
    }

    /// Whether there is one.
    pub(super) const fn exists(&self) -> bool {
        self.blocks > 0 || self.borrowed_max > 0
    }

    /// The same, into which nothing can be written.
    pub(super) const fn closed(self) -> Self {
        Self { blocks: 0, borrowed_max: 0, ..self }
    }

    /// Takes its own blocks of a plane that was never written.
    pub fn set_up(&self, plane: &mut Plane) {
        let own = plane.free.len().min(self.blocks as usize);
        plane.region.free = plane.free.drain(..own).collect();
        if self.exists() {
            plane.one_bit = (0..plane.state.len()).map(|block| block < own).collect();
        }
    }

    /// The block that is only begun, if it holds so much of what the region can hold in a plane
    /// that a pause is to give it back. Otherwise it is left to be filled: to erase it in every
    /// pause would wear it out for a few pages.
    fn begun_and_worth_it(&self, plane: &Plane) -> Option<BlockId> {
        let blocks = u64::from(self.blocks) + u64::from(self.borrowed_max);
        let most_pages = blocks.min(plane.state.len() as u64) * u64::from(self.pages_per_block);
        let open = plane.region.open?;
        (u64::from(open.next.0) * PARTS_WORTH_FOLDING >= most_pages).then_some(open.block)
    }

    /// Whether a block is one of its own.
    pub const fn owns(&self, block: BlockId) -> bool {
        block.0 < self.blocks
    }
}

/// A plane's part of the region.
#[derive(Clone, Debug, Default)]
pub struct Share {
    /// Erased blocks of the region's own, in the order in which they will be used.
    pub free: VecDeque<BlockId>,
    /// Blocks that were borrowed and have not been given back.
    pub borrowed: u32,
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
    pub(super) fn is_in_region(&self, page: Ppn) -> bool {
        let is_one_bit = || {
            let plane = &self.planes[self.geometry.plane_of(page)];
            plane.one_bit[self.geometry.block_of(page).0 as usize]
        };
        self.region.exists() && is_one_bit()
    }

    /// Whether idle time is used for folding.
    #[must_use]
    pub const fn folds_when_idle(&self) -> bool {
        self.region.exists() && self.region.fold_when_idle
    }

    /// Whether a plane's part of the region takes a page of the host.
    #[inline]
    pub(super) fn region_has_room(&self, plane: &Plane) -> bool {
        self.region.exists()
            && (plane.region.open.is_some()
                || !plane.region.free.is_empty()
                || self.to_borrow(plane).is_some())
    }

    /// How many planes have no room in the region, and how many planes have a part of it.
    pub(super) fn full_parts(&self) -> (u64, u64) {
        if !self.region.exists() {
            return (0, 0);
        }
        let full = self.planes.iter().filter(|plane| !self.region_has_room(plane)).count();
        (full as u64, self.planes.iter().len() as u64)
    }

    /// Which of the free blocks of a plane, by its place among them, the region may borrow:
    /// none if that left fewer than collection wants.
    fn to_borrow(&self, plane: &Plane) -> Option<usize> {
        if plane.region.borrowed >= self.region.borrowed_max
            || plane.free.len() <= self.low_water_blocks as usize
            || !self.may_open(plane)
        {
            return None;
        }
        let place = self.next_for_host(plane)?;
        (!self.is_on_last_erase(plane, plane.free[place])).then_some(place)
    }

    /// Whether writes wait for folding in a plane rather than go to its other blocks.
    #[inline]
    #[must_use]
    pub fn waits_for_folding(&self, plane: PlaneId) -> bool {
        self.region.exists()
            && matches!(self.region.overflow, Overflow::Fold)
            && (self.planes[plane].region.folding || self.has_to_fold(plane))
    }

    /// The block of the region that a plane's next page goes to.
    fn open_region_block(&mut self, plane_id: PlaneId) -> Option<BlockId> {
        if let Some(own) = self.planes[plane_id].region.free.pop_front() {
            return Some(own);
        }
        let place = self.to_borrow(&self.planes[plane_id])?;
        let plane = &mut self.planes[plane_id];
        let block = plane.free.remove(place)?;
        plane.region.borrowed += 1;
        plane.one_bit[block.0 as usize] = true;
        Some(block)
    }

    /// Puts a page of the host in a plane's part of the region, which has room.
    pub(super) fn place_in_region(&mut self, page: Lpn, plane_id: PlaneId) -> Placement {
        let open = self.planes[plane_id].region.open;
        let Frontier { block, next } = open
            .or_else(|| {
                let block = self.open_region_block(plane_id)?;
                self.planes[plane_id].state[block.0 as usize] = BlockState::Open;
                Some(Frontier { block, next: PageId(0) })
            })
            .expect("the caller asked for room first");
        let plane = &mut self.planes[plane_id];
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

    /// Starts folding the oldest block of `plane`, if there is one and there is room for it;
    /// idle time is used for a block that is only begun, too, if it holds much of the region.
    pub fn begin_fold(&mut self, plane_id: PlaneId, idle: bool) -> Option<Collection> {
        let plane = &self.planes[plane_id];
        let begun = self.region.begun_and_worth_it(plane).filter(|_| idle);
        let all = plane.region.filled.iter().copied().chain(begun);
        let victim = self.first_at_rest(plane_id, all)?;
        self.begin_fold_of(plane_id, victim)
    }

    /// Starts folding the oldest borrowed block of `plane`, likewise.
    pub(super) fn begin_giving_back(&mut self, plane_id: PlaneId) -> Option<Collection> {
        let filled = self.planes[plane_id].region.filled.iter().copied();
        let borrowed = filled.filter(|&block| !self.region.owns(block));
        let victim = self.first_at_rest(plane_id, borrowed)?;
        self.begin_fold_of(plane_id, victim)
    }

    /// The first block of which no page is being programmed, unless another is being folded.
    fn first_at_rest(
        &self,
        plane: PlaneId,
        mut blocks: impl Iterator<Item = BlockId>,
    ) -> Option<BlockId> {
        let plane = &self.planes[plane];
        if plane.region.folding {
            return None;
        }
        blocks.find(|block| plane.programming[block.0 as usize] == 0)
    }

    fn begin_fold_of(&mut self, plane_id: PlaneId, victim: BlockId) -> Option<Collection> {
        let valid = self.planes[plane_id].valid[victim.0 as usize];
        if !self.has_room_to_fold(&self.planes[plane_id], victim, valid) {
            return None;
        }
        let plane = &mut self.planes[plane_id];
        if plane.region.open.is_some_and(|open| open.block == victim) {
            plane.region.open = None;
        }
        // It is among the first: of blocks in their order, the first that may be folded.
        if let Some(place) = plane.region.filled.iter().position(|&block| block == victim) {
            plane.region.filled.remove(place);
        }
        plane.region.folding = true;
        plane.state[victim.0 as usize] = BlockState::Collecting;
        plane.moves_left += valid;
        Some(Collection { plane: plane_id, victim, cold: None, purpose: Purpose::Fold })
    }

    /// Whether so many pages of a block of the region can go to others.
    fn has_room_to_fold(&self, plane: &Plane, block: BlockId, valid: u32) -> bool {
        let kept = if self.region.owns(block) { self.room_kept(plane) } else { plane.moves_left };
        plane.gc_room(self.geometry.pages_per_block) >= kept + valid
    }

    /// Whether a plane's part of the region holds anything that is worth folding.
    #[must_use]
    pub fn has_to_fold(&self, plane: PlaneId) -> bool {
        let plane = &self.planes[plane];
        !plane.region.filled.is_empty() || self.region.begun_and_worth_it(plane).is_some()
    }

    /// Whether a plane has something to fold, and no room for it.
    #[must_use]
    pub fn fold_lacks_room(&self, plane: PlaneId) -> bool {
        let plane = &self.planes[plane];
        let begun = self.region.begun_and_worth_it(plane);
        let oldest = plane.region.filled.front().copied().or(begun);
        !plane.region.folding
            && oldest.is_some_and(|block| {
                !self.has_room_to_fold(plane, block, self.region.pages_per_block)
            })
    }

    /// A block of the region is erased; says whether it was borrowed, and is given back.
    pub(super) fn end_fold(&mut self, done: Collection) -> bool {
        let borrowed = !self.region.owns(done.victim);
        let index = done.victim.0 as usize;
        let plane = &mut self.planes[done.plane];
        plane.region.folding = false;
        if borrowed {
            plane.region.borrowed -= 1;
            plane.one_bit[index] = false;
        } else {
            plane.erases[index] += 1;
            self.erases.add(plane.erases[index]);
            plane.state[index] = BlockState::Free;
            plane.region.free.push_back(done.victim);
        }
        borrowed
    }
}
