//! Collection: which block, and where its valid pages go. `drive` gives it its time,
//! `untimed` does it at once.

use super::plane::{BlockState, Frontier, Plane};
use super::victims::NOT_A_VICTIM;
use super::{Ftl, Translation};
use crate::gc::{self, Choice};
use crate::geometry::{BlockId, PageId, PlaneId, Ppn};

/// A block to collect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collection {
    /// Its plane.
    pub plane: PlaneId,
    /// The block.
    pub victim: BlockId,
    /// A cold block to be moved into it afterwards.
    pub cold: Option<BlockId>,
    /// What for.
    pub purpose: Purpose,
}

/// What a block is collected for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To free space.
    Space,
    /// To even out wear.
    Wear,
    /// To empty a block with one bit per cell.
    Fold,
}

impl Ftl {
    /// Whether fewer blocks are free than collection wants.
    #[must_use]
    pub fn below_low_water(&self, plane: PlaneId) -> bool {
        self.planes[plane].free.len() < self.low_water_blocks as usize
    }

    /// A block of `plane` has been filled: whether another one is to be collected.
    pub fn collection_falls_due(&mut self, plane: PlaneId) -> bool {
        if !self.below_low_water(plane) {
            return false;
        }
        if self.skip_every == 0 {
            return true;
        }
        let due = &mut self.planes[plane].due;
        *due = (*due + 1) % self.skip_every;
        *due != 0
    }

    /// Whether fewer blocks are free than collection in the background wants.
    #[must_use]
    pub fn below_high_water(&self, plane: PlaneId) -> bool {
        self.planes[plane].free.len() < self.high_water_blocks as usize
    }

    /// Whether collection in `plane` may not yield to the host: so few blocks are free, or
    /// writes wait for it.
    #[must_use]
    pub fn is_urgent(&self, plane: PlaneId) -> bool {
        self.planes[plane].free.len() < self.urgent_blocks as usize || !self.can_write(plane)
    }

    /// Starts what gives `plane` free blocks: folding a borrowed block, or else, unless one is
    /// being folded already, collection.
    pub fn begin_reclaim(&mut self, plane: PlaneId) -> Option<Collection> {
        let region = &self.planes[plane].region;
        if region.folding && region.borrowed > 0 {
            return None;
        }
        self.begin_giving_back(plane).or_else(|| self.begin_collection(plane))
    }

    /// Starts collecting a block of `plane`, if one is worth it and there is room.
    fn begin_collection(&mut self, plane_id: PlaneId) -> Option<Collection> {
        let pages = self.geometry.pages_per_block;
        let plane = &self.planes[plane_id];
        if plane.collecting >= self.max_victims {
            return None;
        }
        let mut choice = self.policy.choose(plane, pages, self.sealed)?;
        let mut valid = plane.valid[choice.victim.0 as usize];
        // A block that would be retired gives no room back: another is taken if there is one,
        // unless collection could go on with any block afterwards.
        if self.is_on_last_erase(plane, choice.victim)
            && plane.gc_room(pages) < plane.moves_left + valid + pages - 1
            && let Some(victim) = self.with_life_left(plane)
        {
            choice = Choice { victim, cold: None };
            valid = plane.valid[victim.0 as usize];
        }
        if plane.gc_room(pages) < plane.moves_left + valid {
            return None;
        }
        self.mark_collecting(plane_id, choice.victim);
        Some(Collection {
            plane: plane_id,
            victim: choice.victim,
            cold: choice.cold,
            purpose: Purpose::Space,
        })
    }

    pub(super) fn is_on_last_erase(&self, plane: &Plane, block: BlockId) -> bool {
        plane.erases[block.0 as usize] + 1 >= self.endurance_erases
    }

    /// The block with the fewest valid pages of those that can be used again.
    fn with_life_left(&self, plane: &Plane) -> Option<BlockId> {
        let all = gc::candidates(plane, self.geometry.pages_per_block);
        let alive = all.filter(|one| !self.is_on_last_erase(plane, one.block));
        alive.min_by_key(|one| one.valid).map(|one| one.block)
    }

    /// Goes on from an erased worn block to the cold one that is to fill it, if that
    /// is still there to be moved.
    fn begin_cold_move(&mut self, plane: PlaneId, cold: BlockId) -> Option<Collection> {
        if self.planes[plane].victim_keys[cold.0 as usize] == NOT_A_VICTIM {
            self.planes[plane].release_kept();
            return None;
        }
        self.mark_collecting(plane, cold);
        Some(Collection { plane, victim: cold, cold: None, purpose: Purpose::Wear })
    }

    fn mark_collecting(&mut self, plane: PlaneId, block: BlockId) {
        let plane = &mut self.planes[plane];
        plane.state[block.0 as usize] = BlockState::Collecting;
        plane.victim_keys.set(block.0 as usize, NOT_A_VICTIM);
        plane.collecting += 1;
        plane.moves_left += plane.valid[block.0 as usize];
    }

    /// Appends the valid pages of a block to `pages`, in page order.
    pub fn valid_pages(&self, plane: PlaneId, block: BlockId, pages: &mut Vec<Ppn>) {
        let first = self.geometry.ppn(plane, block, PageId(0));
        self.map.for_each_held(first, self.geometry.pages_per_block, |page, _| pages.push(page));
    }

    /// Gives a page being collected its new place in the same plane, or nothing if
    /// the host has replaced it meanwhile. Says also whether that filled a block.
    ///
    /// # Panics
    /// If there is no room, which [`Ftl::begin_collection`] has made sure of.
    pub fn relocate(&mut self, old: Ppn) -> Option<(Ppn, bool)> {
        let plane_id = self.geometry.plane_of(old);
        self.planes[plane_id].moves_left -= 1;
        let page = self.holds(old)?;
        let frontier = self.planes[plane_id].gc.unwrap_or_else(|| self.open_gc_block(plane_id));
        let (new, filled) = self.take(plane_id, frontier);
        self.planes[plane_id].gc = (!filled)
            .then_some(Frontier { block: frontier.block, next: PageId(frontier.next.0 + 1) });
        self.invalidate(old);
        self.map.put(page, new);
        Some((new, filled))
    }

    /// The next place of the block that collection fills, and how many pages go there.
    pub(super) fn room_for_moved(&mut self, plane_id: PlaneId) -> (Ppn, u32) {
        let frontier = self.planes[plane_id].gc.unwrap_or_else(|| self.open_gc_block(plane_id));
        self.planes[plane_id].gc = Some(frontier);
        let Frontier { block, next } = frontier;
        (self.geometry.ppn(plane_id, block, next), self.geometry.pages_per_block - next.0)
    }

    /// So many pages of a victim were put there, and are programmed in no time. Says whether they
    /// filled the block.
    pub(super) fn moved(&mut self, plane_id: PlaneId, victim: BlockId, count: u32) -> bool {
        let plane = &mut self.planes[plane_id];
        let Some(Frontier { block, next }) = &mut plane.gc else { return false };
        let block = *block;
        next.0 += count;
        let filled = next.0 == self.geometry.pages_per_block;
        plane.moves_left -= count;
        plane.valid[victim.0 as usize] -= count;
        plane.valid[block.0 as usize] += count;
        if filled {
            plane.gc = None;
            plane.seal(block, &mut self.sealed);
            plane.refresh_key(block);
        }
        filled
    }

    fn open_gc_block(&mut self, plane: PlaneId) -> Frontier {
        let plane = &mut self.planes[plane];
        let dynamic = self.wear.dynamic;
        let block = plane
            .kept_for_cold
            .pop_front()
            .or_else(|| if dynamic { plane.take_most_worn() } else { plane.free.pop_front() });
        let block = block.expect("begin_collection keeps room for what it starts");
        plane.state[block.0 as usize] = BlockState::Open;
        Frontier { block, next: PageId(0) }
    }

    /// Whether nothing is under way that could give the writes of a queue room.
    #[must_use]
    pub fn is_dead(&self, queue: PlaneId) -> bool {
        let at_rest = |plane: &Plane| {
            plane.collecting == 0
                && !plane.region.folding
                && plane.programming.iter().all(|&pages| pages == 0)
        };
        self.planes_behind(queue)
            .all(|plane| !self.can_write(plane) && at_rest(&self.planes[plane]))
    }

    /// The victim is erased: it is the region's again or free, or kept for cold data, which are then moved
    /// next, or retired.
    pub fn end_collection(&mut self, done: Collection) -> Option<Collection> {
        let folded = done.purpose == Purpose::Fold;
        if folded && !self.end_fold(done) {
            return None;
        }
        let spread_erases = self.wear.static_spread_erases;
        let plane = &mut self.planes[done.plane];
        let index = done.victim.0 as usize;
        plane.erases[index] += 1;
        self.erases.add(plane.erases[index]);
        plane.collecting -= u32::from(!folded);
        if plane.erases[index] >= self.endurance_erases {
            plane.state[index] = BlockState::Retired;
            plane.release_kept();
            self.retired += 1;
            return None;
        }
        plane.state[index] = BlockState::Free;
        if let Some(cold) = done.cold {
            plane.kept_for_cold.push_back(done.victim);
            return self.begin_cold_move(done.plane, cold);
        }
        plane.free.push_back(done.victim);
        plane.release_kept();
        if spread_erases == 0 || done.purpose == Purpose::Wear {
            return None;
        }
        let cold = plane.resting_too_long(self.region.blocks, spread_erases)?;
        let worn = plane.take_most_worn()?;
        plane.kept_for_cold.push_back(worn);
        self.begin_cold_move(done.plane, cold)
    }
}
