//! Where commands wait that could share a multi-plane command.
//!
//! A *spot* is a kind of work (erasing, reading, programming, copying), a die, a plane and,
//! unless it erases, a page offset; of a copy, that of the page it goes to. Commands at spots
//! that differ only in the plane, which have consecutive numbers, can go together: first come
//! those of erases, then of reads. How many wait at each spot is counted, so that the queues are searched
//! only if there is something to be found.

use super::command::{NONE, Work};
use crate::config::Scheduler;
use crate::divisor::Divisor;
use crate::geometry::{BlockId, Geometry, PageId, PlaneId, Ppn};

/// The spots of an array, and how many commands wait at each.
#[derive(Clone, Debug, Default)]
pub struct Spots {
    /// Empty where the array has no multi-plane commands; without those that read and
    /// program, only the spots of erases.
    waiting: Vec<u16>,
    erases: bool,
    pages: bool,
    planes: u32,
    dies: u32,
    planes_per_die: Divisor,
}

impl Spots {
    /// Nobody waits. What has no multi-plane commands has no spots either.
    #[must_use]
    pub fn new(geometry: &Geometry, scheduler: &Scheduler) -> Self {
        let several = geometry.planes_per_die > 1;
        let erases = several && scheduler.multi_plane_erase;
        let pages = several && scheduler.multi_plane;
        let spots = match (erases, pages) {
            (false, false) => 0,
            (true, false) => geometry.plane_count,
            (_, true) => geometry.plane_count * (1 + 3 * geometry.pages_per_block),
        };
        Self {
            waiting: vec![0; spots as usize],
            erases,
            pages,
            planes: geometry.plane_count,
            dies: geometry.plane_count / geometry.planes_per_die,
            planes_per_die: Divisor::new(geometry.planes_per_die),
        }
    }

    /// Whether every command goes alone.
    #[must_use]
    pub const fn none(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many spots there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.waiting.len()
    }

    /// The spot of such work on a page (of a copy: to a page), or [`NONE`] if it goes alone in
    /// any case.
    #[inline]
    #[must_use]
    pub fn of(&self, work: Work, page: Ppn, geometry: &Geometry) -> u32 {
        self.on_plane(work, page, geometry.plane_of(page), geometry)
    }

    /// The same of a page whose plane is known.
    #[inline]
    pub fn on_plane(&self, work: Work, page: Ppn, plane: PlaneId, geometry: &Geometry) -> u32 {
        let erases = work == Work::Erase;
        if !(if erases { self.erases } else { self.pages }) {
            return NONE;
        }
        let kind = match work {
            Work::GcCopy => 2,
            work => u32::from(!work.is_read()),
        };
        if erases {
            return plane.0;
        }
        let (die, plane) = self.planes_per_die.divide(plane.0);
        let offset = (die + kind * self.dies) * geometry.pages_per_block + geometry.page_of(page).0;
        self.planes + offset * self.planes_per_die.value + plane
    }

    /// Appends the spots of such work on many pages.
    pub fn of_each(&self, work: Work, pages: &[Ppn], geometry: &Geometry, into: &mut Vec<u32>) {
        if pages.len() < self.planes as usize {
            return into.extend(pages.iter().map(|&page| self.of(work, page, geometry)));
        }
        let first = |plane| geometry.ppn(PlaneId(plane), BlockId(0), PageId(0));
        let planes = (0..self.planes).map(|plane| self.of(work, first(plane), geometry));
        let first_of: Vec<u32> = planes.collect();
        let stride = if work == Work::Erase { 0 } else { self.planes_per_die.value };
        into.extend(pages.iter().map(|&page| match first_of[geometry.plane_of(page).0 as usize] {
            NONE => NONE,
            first => first + geometry.page_of(page).0 * stride,
        }));
    }

    /// The first of the spots that differ from one only in the plane.
    #[inline]
    #[must_use]
    pub const fn first_beside(&self, spot: u32) -> u32 {
        spot - self.planes_per_die.remainder(spot)
    }

    /// A command begins to wait at `spot`.
    #[inline]
    pub fn enter(&mut self, spot: u32) {
        if let Some(count) = self.waiting.get_mut(spot as usize) {
            *count += 1;
        }
    }

    /// A command no longer waits at `spot`.
    #[inline]
    pub fn leave(&mut self, spot: u32) {
        if let Some(count) = self.waiting.get_mut(spot as usize) {
            *count -= 1;
        }
    }

    /// The first spot that differs from `spot` only in the plane, and the number of such
    /// planes, other than its own, at which commands wait.
    #[inline]
    #[must_use]
    pub fn beside(&self, spot: u32) -> (u32, u32) {
        let first = self.first_beside(spot);
        let group = &self.waiting[first as usize..(first + self.planes_per_die.value) as usize];
        let occupied = group.iter().filter(|&&count| count > 0).count() as u32;
        (first, occupied - u32::from(self.waiting[spot as usize] > 0))
    }
}
