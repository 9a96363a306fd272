//! Whole pages of the host one after the other, each of which is simply the next one of a block
//! that is being filled: most of what is written. Where they go is found in one pass, and the map
//! is written for all of them at once.

use super::Ftl;
use crate::config::Allocation;
use crate::geometry::{Lpn, PlaneId, Ppn};

/// Which plane is next, by its place in the order of planes, and how many pages in a row it has
/// been given.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn {
    pub plane: usize,
    given: u32,
}

impl Ftl {
    /// The turn in which addresses put a page.
    pub(super) fn turn_by_address(&self, page: Lpn) -> Turn {
        let (row, given) = self.in_a_row.divide(page.0);
        Turn { plane: self.by_planes.remainder(row) as usize, given }
    }

    /// The turn after that of a page that was placed.
    #[inline]
    pub(super) fn turn_after(&self, mut turn: Turn) -> Turn {
        turn.given += 1;
        if turn.given == self.in_a_row.value {
            let next = turn.plane + 1;
            turn = Turn { plane: if next == self.plane_order.len() { 0 } else { next }, given: 0 };
        }
        turn
    }

    /// Places so many whole pages from `first` on, as far as each is simply the next one of a
    /// block: it neither begins nor ends it, and nothing is in its way. That is as placing them
    /// by [`Ftl::plane_for`] and [`Ftl::place`], one after the other. Appends where they go.
    pub fn place_run(&mut self, first: Lpn, count: u32, places: &mut Vec<Ppn>) {
        if self.region.exists() {
            return;
        }
        let in_order = self.allocation == Allocation::Order;
        let mut turn = if in_order { self.turn } else { self.turn_by_address(first) };
        for _ in 0..count {
            let Some(place) = self.take_next(self.plane_order[turn.plane]) else { break };
            places.push(place);
            turn = self.turn_after(turn);
        }
        if places.is_empty() {
            return;
        }
        if in_order {
            self.turn = turn;
        }
        let Self { map, planes, geometry, .. } = self;
        map.put_run(first, places, |old| {
            let (plane, block) = geometry.block_and_plane_of(old);
            planes[plane].invalidate(block);
        });
    }

    /// Takes the next page of the block that the host fills in a plane, if that is not its last.
    #[expect(clippy::inline_always, reason = "on the way of every page")]
    #[inline(always)]
    pub(super) fn take_next(&mut self, plane_id: PlaneId) -> Option<Ppn> {
        let plane = &mut self.planes[plane_id];
        if plane.free.len() < self.stop_writes_blocks as usize {
            return None;
        }
        let open = plane.host.as_mut()?;
        let (block, page) = (open.block, open.next);
        if page.0 + 1 == self.geometry.pages_per_block {
            return None;
        }
        open.next.0 += 1;
        plane.valid[block.0 as usize] += 1;
        plane.programming[block.0 as usize] += 1;
        Some(self.geometry.ppn(plane_id, block, page))
    }
}
