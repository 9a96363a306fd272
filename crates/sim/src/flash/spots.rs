//! Where commands wait that could share a multi-plane command.
//!
//! A *spot* is a kind of work (reading, programming), a die, a page offset and a plane.
//! Commands at spots that differ only in the plane, which have consecutive numbers, can
//! go together. How many wait at each spot is counted, so that the queues are searched
//! only if there is something to be found.

use super::command::{NONE, Work};
use crate::geometry::{Geometry, Ppn};

/// The spots of an array, and how many commands wait at each.
#[derive(Clone, Debug)]
pub struct Spots {
    /// Empty where the array has no multi-plane commands.
    waiting: Vec<u16>,
    dies: u32,
    planes_per_die: u32,
}

impl Spots {
    /// Nobody waits. Without `multi_plane` no command has a spot.
    #[must_use]
    pub fn new(geometry: &Geometry, multi_plane: bool) -> Self {
        let spots = 2 * geometry.plane_count * geometry.pages_per_block;
        let used = multi_plane && geometry.planes_per_die > 1;
        Self {
            waiting: vec![0; if used { spots as usize } else { 0 }],
            dies: geometry.plane_count / geometry.planes_per_die,
            planes_per_die: geometry.planes_per_die,
        }
    }

    /// The spot of a command, or [`NONE`] if it goes alone in any case.
    #[inline]
    #[must_use]
    pub fn of(&self, work: Work, page: Ppn, geometry: &Geometry) -> u32 {
        if self.waiting.is_empty() || work == Work::Erase {
            return NONE;
        }
        let plane = geometry.plane_of(page).0;
        let (die, plane) = (plane / self.planes_per_die, plane % self.planes_per_die);
        let die = if work.is_read() { die } else { die + self.dies };
        (die * geometry.pages_per_block + geometry.page_of(page).0) * self.planes_per_die + plane
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
        let first = spot - spot % self.planes_per_die;
        let group = &self.waiting[first as usize..(first + self.planes_per_die) as usize];
        let occupied = group.iter().filter(|&&count| count > 0).count() as u32;
        (first, occupied - u32::from(self.waiting[spot as usize] > 0))
    }
}
