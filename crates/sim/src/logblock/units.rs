//! Merge units: the blocks that a log-block drive writes, maps and erases as one.
//!
//! A unit is the blocks of one index over some planes; its pages go round those planes, so
//! many in a row, so that a unit written in order keeps all of them busy. Pages, blocks and
//! planes are those of the drive's [`Layout`].

use super::pools::Division;
use crate::divisor::Divisor;
use crate::ftl::translation::EraseCounts;
use crate::geometry::{BlockId, Geometry, PageId, PlaneId, Ppn};
use crate::layout::Layout;
use std::collections::VecDeque;
use std::ops::Range;

/// A merge unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnitId(pub u32);

/// What a unit is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Erased.
    Free,
    /// Holds a logical block, each page at its own place.
    Data,
    /// Holds newer versions of pages, in order of arrival.
    Log,
    /// Erased as often as it is made for, and used no more.
    Retired,
}

/// Where units lie, and what each is used for. Vectors are indexed by unit.
#[derive(Clone, Debug)]
pub struct Units {
    geometry: Geometry,
    /// All planes, those of a unit next to each other.
    planes: Vec<PlaneId>,
    /// The place of each plane in `planes`.
    place_of_plane: Vec<u32>,
    /// By plane: which units lie on it, of as many as there are of one index.
    group_of_plane: Vec<u32>,
    groups: Divisor,
    /// Planes of a unit.
    width: Divisor,
    /// Pages in a row on a plane.
    in_a_row: Divisor,
    division: Division,
    /// By pool.
    free: Vec<VecDeque<UnitId>>,
    role: Vec<Role>,
    /// The first slot that was not written and may be.
    next: Vec<u32>,
    valid: Vec<u32>,
    erases: Vec<u32>,
    erase_counts: EraseCounts,
    endurance_erases: u32,
    retired: u32,
}

impl Units {
    /// Erased units of `width` blocks over planes that are visited one after the other; they
    /// serve `blocks` logical blocks, so many of these to a pool.
    #[must_use]
    pub fn new(
        layout: &Layout,
        width: u32,
        (blocks, blocks_per_pool): (u32, u32),
        endurance_erases: u32,
    ) -> Self {
        let geometry = *layout.units();
        let planes = layout.plane_order().to_vec();
        let mut place_of_plane = vec![0; planes.len()];
        for (place, plane) in planes.iter().enumerate() {
            place_of_plane[plane.0 as usize] = place as u32;
        }
        let count = geometry.plane_count / width * geometry.blocks_per_plane;
        let division = Division::new(count, blocks, blocks_per_pool);
        let mut free = vec![VecDeque::new(); division.pools()];
        for unit in (0..count).map(UnitId) {
            free[division.of_unit(unit)].push_back(unit);
        }
        Self {
            geometry,
            planes,
            group_of_plane: place_of_plane.iter().map(|place| place / width).collect(),
            groups: Divisor::new(geometry.plane_count / width),
            place_of_plane,
            width: Divisor::new(width),
            in_a_row: Divisor::new(layout.shape().units_in_a_row),
            division,
            free,
            role: vec![Role::Free; count as usize],
            next: vec![0; count as usize],
            valid: vec![0; count as usize],
            erases: vec![0; count as usize],
            erase_counts: EraseCounts::new(count.into(), width * layout.shape().planes()),
            endurance_erases,
            retired: 0,
        }
    }

    /// The array's shape.
    #[must_use]
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.role.len() as u32
    }

    /// Pages of a unit.
    #[must_use]
    pub const fn pages(&self) -> u32 {
        self.width.value * self.geometry.pages_per_block
    }

    /// Slots after which the planes of a unit come again.
    #[must_use]
    pub const fn lap(&self) -> u32 {
        self.width.value * self.in_a_row.value
    }

    /// Blocks of a unit.
    #[must_use]
    pub const fn blocks(&self) -> u32 {
        self.width.value
    }

    /// The page at `slot` of a unit.
    #[must_use]
    pub fn page(&self, unit: UnitId, slot: u32) -> Ppn {
        let (block, group) = self.groups.divide(unit.0);
        let (run, in_run) = self.in_a_row.divide(slot);
        let (round, turn) = self.width.divide(run);
        let plane = self.planes[(group * self.width.value + turn) as usize];
        let (block, page) = (BlockId(block), round * self.in_a_row.value + in_run);
        self.geometry.ppn(plane, block, PageId(page))
    }

    /// The pages at `slots` of a unit.
    #[must_use]
    pub fn pages_at(&self, unit: UnitId, slots: Range<u32>) -> Vec<Ppn> {
        let lap = (self.lap() as usize).min(slots.len());
        let mut pages = Vec::with_capacity(slots.len());
        pages.extend((slots.start..).take(lap).map(|slot| self.page(unit, slot)));
        // A lap later it is the same plane, so many pages further.
        for at in 0..slots.len() - lap {
            pages.push(Ppn(pages[at].0 + self.in_a_row.value));
        }
        pages
    }

    /// The unit of a page.
    #[inline]
    #[must_use]
    pub fn unit_of(&self, page: Ppn) -> UnitId {
        let group = self.group_of_plane[self.geometry.plane_of(page).0 as usize];
        UnitId(self.geometry.block_of(page).0 * self.groups.value + group)
    }

    /// The unit of a page, and its slot there.
    #[must_use]
    pub fn place_of(&self, page: Ppn) -> (UnitId, u32) {
        let plane = self.place_of_plane[self.geometry.plane_of(page).0 as usize];
        let unit = self.unit_of(page);
        let page = self.geometry.page_of(page).0;
        let (round, in_run) = self.in_a_row.divide(page);
        let run = round * self.width.value + self.width.remainder(plane);
        (unit, run * self.in_a_row.value + in_run)
    }

    /// The planes of a unit, in the order in which pages go round them.
    #[must_use]
    pub fn planes_of(&self, unit: UnitId) -> &[PlaneId] {
        let first = self.groups.remainder(unit.0) * self.width.value;
        &self.planes[first as usize..(first + self.width.value) as usize]
    }

    /// The first page of each block of a unit.
    pub fn first_pages(&self, unit: UnitId) -> impl Iterator<Item = Ppn> {
        (0..self.width.value).map(move |plane| self.page(unit, plane * self.in_a_row.value))
    }

    /// How they are divided among pools.
    #[must_use]
    pub const fn division(&self) -> &Division {
        &self.division
    }

    /// Takes the unit of a pool that has been free longest.
    ///
    /// # Panics
    /// If none is free, which a checked drive file rules out.
    pub fn take_free(&mut self, pool: usize, role: Role) -> UnitId {
        let unit = self.free[pool].pop_front().expect("log blocks leave one unit to merge into");
        self.role[unit.0 as usize] = role;
        unit
    }

    /// Uses a unit for something else.
    pub fn convert(&mut self, unit: UnitId, role: Role) {
        self.role[unit.0 as usize] = role;
    }

    /// A unit's blocks are erased: it is free again, or retired.
    pub fn erased(&mut self, unit: UnitId) {
        let index = unit.0 as usize;
        debug_assert_eq!(self.valid[index], 0, "{unit:?} is erased with data in it");
        self.next[index] = 0;
        self.erases[index] += 1;
        self.erase_counts.add(self.erases[index]);
        if self.erases[index] >= self.endurance_erases {
            self.role[index] = Role::Retired;
            self.retired += 1;
            return;
        }
        self.role[index] = Role::Free;
        self.free[self.division.of_unit(unit)].push_back(unit);
    }

    /// What a unit is used for.
    #[must_use]
    pub fn role(&self, unit: UnitId) -> Role {
        self.role[unit.0 as usize]
    }

    /// The first slot that was not written and may be: those before it were, or were
    /// passed over, and pages of a block are programmed in order.
    #[must_use]
    pub fn next(&self, unit: UnitId) -> u32 {
        self.next[unit.0 as usize]
    }

    /// Slots before `slot` will not be written any more.
    pub fn advance(&mut self, unit: UnitId, slot: u32) {
        let next = &mut self.next[unit.0 as usize];
        *next = slot.max(*next);
    }

    /// Pages of a unit that hold the newest version of something.
    #[must_use]
    pub fn valid(&self, unit: UnitId) -> u32 {
        self.valid[unit.0 as usize]
    }

    /// A page now holds the newest version of something.
    pub fn gain(&mut self, page: Ppn) {
        let unit = self.unit_of(page);
        self.valid[unit.0 as usize] += 1;
    }

    /// A page does so no longer.
    pub fn lose(&mut self, page: Ppn) {
        let unit = self.unit_of(page);
        self.valid[unit.0 as usize] -= 1;
    }

    /// So many more pages of a unit do.
    pub fn gain_in(&mut self, unit: UnitId, pages: u32) {
        self.valid[unit.0 as usize] += pages;
    }

    /// So many pages of a unit do no longer.
    pub fn lose_of(&mut self, unit: UnitId, pages: u32) {
        self.valid[unit.0 as usize] -= pages;
    }

    /// How often one may be erased.
    #[must_use]
    pub const fn endurance_erases(&self) -> u32 {
        self.endurance_erases
    }

    /// How many are retired.
    #[must_use]
    pub const fn retired_count(&self) -> u32 {
        self.retired
    }

    /// Number of physical blocks by erase count.
    #[must_use]
    pub fn erase_histogram(&self) -> Vec<u64> {
        self.erase_counts.histogram()
    }

    /// How many of a pool are free.
    #[must_use]
    pub fn free_count(&self, pool: usize) -> usize {
        self.free[pool].len()
    }
}
