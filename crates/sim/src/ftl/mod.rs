//! The page-mapped translation layer: where every logical page is, where the next
//! one goes, what collection may take. It knows no time; `drive` adds that.
//!
//! [`plane`] is the bookkeeping of blocks, [`victims`] finds those to collect, `run` places many
//! pages at once, `rows` knows where those are that were written in order, `collection` frees
//! blocks, `wear` spreads erases over them, [`pslc`] is a region with one bit per cell, `untimed`
//! does whole writes at once for preparing states, plane by plane where they can be `apart`, each
//! with a `flat` map.
//! [`translation`], [`map`] and [`sectors`] (where pages are, which of their sectors were
//! written) serve the log-block layer too.

mod apart;
mod collection;
mod flat;
pub mod map;
pub mod plane;
pub mod pslc;
mod rows;
mod run;
pub mod sectors;
pub mod translation;
mod untimed;
pub mod victims;
mod wear;

pub use collection::{Collection, Purpose};
pub use map::PageMap;
pub use sectors::SectorMap;
pub use translation::Translation;

use crate::config::{Allocation, PageConfig, Wear};
use crate::divisor::Divisor;
use crate::gc::Policy;
use crate::geometry::{Geometry, Lpn, PageId, PlaneId, Ppn, SharedPerPlane};
use crate::layout::Layout;
use crate::rounding::share_of;
use plane::{BlockState, Frontier, Plane};
use pslc::Region;
use run::Turn;
use std::ops::Range;
use translation::EraseCounts;

/// Where a written page goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Its new place.
    pub page: Ppn,
    /// Where it was, if it was anywhere.
    pub old: Option<Ppn>,
    /// Sectors of the old page that the write does not replace.
    pub kept_sectors: u32,
    /// Whether this was the last page of its block.
    pub filled_block: bool,
}

/// The translation layer.
#[derive(Clone, Debug)]
pub struct Ftl {
    /// The array in mapping units: what `layout` makes of it.
    geometry: Geometry,
    layout: Layout,
    map: PageMap,
    planes: SharedPerPlane<Plane>,
    plane_order: Vec<PlaneId>,
    allocation: Allocation,
    /// Pages in a row on a plane.
    in_a_row: Divisor,
    by_planes: Divisor,
    /// Whose turn it is where the order of arrival picks the plane.
    turn: Turn,
    policy: Policy,
    sealed: u64,
    low_water_blocks: u32,
    high_water_blocks: u32,
    stop_writes_blocks: u32,
    max_victims: u32,
    urgent_blocks: u32,
    skip_every: u32,
    endurance_erases: u32,
    retired: u64,
    erases: EraseCounts,
    wear: Wear,
    region: Region,
}

impl Ftl {
    /// An empty drive.
    #[must_use]
    pub fn new(config: &PageConfig, seed: u64) -> Self {
        let layout = Layout::new(&config.nand, &config.ftl.layout, seed);
        let geometry = *layout.units();
        let exported_pages = config.exported_pages();
        let blocks = geometry.blocks_per_plane;
        let low_water_blocks = config.gc.low_water_blocks(blocks);
        let mut ftl = Self {
            map: PageMap::new(
                &geometry,
                exported_pages,
                config.map.pages_in_flash(exported_pages, geometry.page_bytes),
            ),
            planes: SharedPerPlane::new(Plane::new(blocks), geometry.plane_count),
            plane_order: layout.plane_order().to_vec(),
            allocation: config.ftl.allocation,
            in_a_row: Divisor::new(layout.shape().units_in_a_row),
            by_planes: Divisor::new(geometry.plane_count),
            turn: Turn::default(),
            policy: Policy::new(&config.gc, config.nand.endurance_erases, seed),
            sealed: 0,
            low_water_blocks,
            high_water_blocks: share_of(blocks, config.gc.high_water_ratio).max(low_water_blocks),
            stop_writes_blocks: config.gc.stop_writes_blocks,
            max_victims: config.gc.max_victims,
            urgent_blocks: config.gc.urgent_blocks,
            skip_every: config.gc.skip_every,
            endurance_erases: config.nand.endurance_erases,
            retired: 0,
            erases: EraseCounts::new(
                u64::from(geometry.plane_count) * u64::from(blocks),
                layout.shape().planes(),
            ),
            wear: config.wear,
            region: Region::new(config),
            geometry,
            layout,
        };
        for plane in 0..geometry.plane_count {
            let blocks = &mut ftl.planes[PlaneId(plane)];
            ftl.region.set_up(blocks);
            ftl.open_host_block(PlaneId(plane));
        }
        ftl
    }

    /// A plane's bookkeeping.
    #[must_use]
    pub fn plane(&self, plane: PlaneId) -> &Plane {
        &self.planes[plane]
    }

    fn plane_by_address(&self, page: Lpn) -> PlaneId {
        self.plane_order[self.turn_by_address(page).plane]
    }

    /// The plane that a write of `page` goes to. Where the order of arrival decides,
    /// planes that can take no page now are passed over if any other can.
    ///
    /// # Errors
    /// The plane to wait for, if it can take no page now.
    pub fn plane_for(&self, page: Lpn) -> Result<PlaneId, PlaneId> {
        let first = match self.allocation {
            Allocation::Address => self.plane_by_address(page),
            Allocation::Order => self.plane_order[self.turn.plane],
        };
        if self.can_write(first) {
            return Ok(first);
        }
        if self.allocation == Allocation::Address {
            return Err(first);
        }
        let (before, after) = self.plane_order.split_at(self.turn.plane);
        let mut others = after.iter().chain(before).copied();
        let found = others.find(|&plane| self.can_write(plane));
        found.ok_or(first)
    }

    /// The queue for writes that `plane` cannot take: its own where addresses decide,
    /// else the one that all planes share, as any of them will do.
    #[must_use]
    pub fn stall_queue(&self, plane: PlaneId) -> PlaneId {
        if self.allocation == Allocation::Address { plane } else { PlaneId(0) }
    }

    /// The planes of which one must get free blocks before that queue moves.
    pub fn planes_behind(&self, queue: PlaneId) -> impl Iterator<Item = PlaneId> + use<> {
        let count = self.geometry.plane_count;
        let range =
            if self.allocation == Allocation::Address { queue.0..queue.0 + 1 } else { 0..count };
        range.map(PlaneId)
    }

    /// Whether a page of the host may be put in `plane` now.
    #[inline]
    #[must_use]
    pub fn can_write(&self, plane_id: PlaneId) -> bool {
        let plane = &self.planes[plane_id];
        if self.region_has_room(plane) {
            return true;
        }
        !self.waits_for_folding(plane_id)
            && plane.free.len() >= self.stop_writes_blocks as usize
            && (plane.host.is_some() || self.may_open(plane))
    }

    /// Whether the host may take a free block: collection must still be able to finish
    /// what it began, or if it rests, to begin with any block that is not full.
    fn may_open(&self, plane: &Plane) -> bool {
        let pages = self.geometry.pages_per_block;
        !plane.free.is_empty() && plane.gc_room(pages) >= self.room_kept(plane) + pages
    }

    /// Pages of room that must be left in a plane whatever else is put there.
    fn room_kept(&self, plane: &Plane) -> u32 {
        let to_begin = if plane.collecting > 0 { 0 } else { self.geometry.pages_per_block - 1 };
        plane.moves_left + to_begin
    }

    /// Which of the free blocks of a plane, by its place among them, the host fills next.
    fn next_for_host(&self, plane: &Plane) -> Option<usize> {
        if self.wear.dynamic { plane.least_worn() } else { (!plane.free.is_empty()).then_some(0) }
    }

    fn open_host_block(&mut self, plane: PlaneId) {
        if !self.may_open(&self.planes[plane]) {
            return;
        }
        let place = self.next_for_host(&self.planes[plane]);
        let plane = &mut self.planes[plane];
        if let Some(block) = place.and_then(|place| plane.free.remove(place)) {
            plane.state[block.0 as usize] = BlockState::Open;
            plane.host = Some(Frontier { block, next: PageId(0) });
        }
    }

    /// Puts `count` sectors from `first` of logical page `page` into `plane`, which
    /// must be able to take it.
    ///
    /// # Panics
    /// If [`Ftl::can_write`] is false.
    pub fn place(&mut self, page: Lpn, first: u32, count: u32, plane: PlaneId) -> Placement {
        let kept_sectors = self.map.sectors.write(page, first, count);
        Placement { kept_sectors, ..self.place_whole(page, plane) }
    }

    /// Puts a logical page, all of whose sectors are known to hold data or about to, into
    /// `plane`.
    fn place_whole(&mut self, page: Lpn, plane: PlaneId) -> Placement {
        if self.region_has_room(&self.planes[plane]) {
            return self.place_in_region(page, plane);
        }
        if let Some(new) = self.take_next(plane) {
            return self.replace(page, new, false);
        }
        if self.planes[plane].host.is_none() {
            self.open_host_block(plane);
        }
        let frontier = self.planes[plane].host.expect("the caller asked can_write first");
        let (new, filled_block) = self.take(plane, frontier);
        if filled_block {
            self.planes[plane].host = None;
            self.open_host_block(plane);
        } else if let Some(frontier) = &mut self.planes[plane].host {
            frontier.next.0 += 1;
        }
        self.replace(page, new, filled_block)
    }

    /// A logical page of the host has a new place.
    fn replace(&mut self, page: Lpn, new: Ppn, filled_block: bool) -> Placement {
        if self.allocation == Allocation::Order {
            self.turn = self.turn_after(self.turn);
        }
        let old = self.map.lookup(page);
        if let Some(old) = old {
            self.invalidate(old);
        }
        self.map.put(page, new);
        Placement { page: new, old, kept_sectors: 0, filled_block }
    }

    /// Takes the next page of a frontier; says whether it was the last one.
    #[inline]
    fn take(&mut self, plane_id: PlaneId, frontier: Frontier) -> (Ppn, bool) {
        let new = self.geometry.ppn(plane_id, frontier.block, frontier.next);
        let index = frontier.block.0 as usize;
        let plane = &mut self.planes[plane_id];
        plane.valid[index] += 1;
        plane.programming[index] += 1;
        let filled = frontier.next.0 + 1 == self.geometry.pages_per_block;
        if filled {
            plane.seal(frontier.block, &mut self.sealed);
        }
        (new, filled)
    }

    fn invalidate(&mut self, page: Ppn) {
        let (plane, block) = self.geometry.block_and_plane_of(page);
        self.planes[plane].invalidate(block);
    }

    /// The programming of `page` has ended.
    #[inline]
    pub fn programmed(&mut self, page: Ppn) {
        let (plane, block) = self.geometry.block_and_plane_of(page);
        let plane = &mut self.planes[plane];
        let programming = &mut plane.programming[block.0 as usize];
        *programming -= 1;
        if *programming == 0 {
            plane.refresh_key(block);
        }
    }
}

impl Translation for Ftl {
    #[inline]
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    #[inline]
    fn layout(&self) -> &Layout {
        &self.layout
    }

    #[inline]
    fn lookup(&self, page: Lpn) -> Option<Ppn> {
        self.map.lookup(page)
    }

    #[inline]
    fn was_given(&self, page: Ppn) -> Option<Lpn> {
        self.map.was_given(page)
    }

    fn sectors(&self) -> &SectorMap {
        &self.map.sectors
    }

    #[inline]
    fn exported_pages(&self) -> u32 {
        self.map.exported_pages()
    }

    fn logical_pages(&self) -> u32 {
        self.map.logical_pages()
    }

    /// On the plane that its number falls to, from the last page on: the first blocks may be of
    /// one bit per cell.
    fn blank_map_page(&self, page: Lpn) -> Ppn {
        let (plane, number) = (self.plane_by_address(page), self.by_planes.quotient(page.0));
        let pages = self.geometry.pages_per_plane;
        Ppn(plane.0 * pages + pages - 1 - number % pages)
    }

    #[inline]
    fn is_one_bit(&self, page: Ppn) -> bool {
        self.is_in_region(page)
    }

    fn region_parts(&self) -> (u64, u64) {
        self.full_parts()
    }

    fn discard(&mut self, pages: Range<u32>, mut freed: impl FnMut(Lpn)) {
        let (geometry, planes) = (&self.geometry, &mut self.planes);
        self.map.forget(pages, |page, old| {
            let (plane, block) = geometry.block_and_plane_of(old);
            planes[plane].invalidate(block);
            freed(page);
        });
    }

    #[inline]
    fn is_being_collected(&self, page: Ppn) -> bool {
        let plane = &self.planes[self.geometry.plane_of(page)];
        plane.state[self.geometry.block_of(page).0 as usize] == BlockState::Collecting
    }

    fn pieces_made(&self) -> u64 {
        self.map.pieces_made()
    }

    fn erase_histogram(&self) -> Vec<u64> {
        self.erases.histogram()
    }

    fn retired_blocks(&self) -> u64 {
        self.retired * u64::from(self.layout.shape().planes())
    }

    fn is_written(&self, page: Ppn) -> bool {
        let plane = &self.planes[self.geometry.plane_of(page)];
        let (block, offset) = (self.geometry.block_of(page), self.geometry.page_of(page));
        let beyond = |frontier: Option<Frontier>| {
            frontier.is_some_and(|open| open.block == block && open.next <= offset)
        };
        !matches!(plane.state[block.0 as usize], BlockState::Free | BlockState::Retired)
            && !beyond(plane.host)
            && !beyond(plane.gc)
            && !beyond(plane.region.open)
    }
}
