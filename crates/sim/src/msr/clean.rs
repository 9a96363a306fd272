//! Cleaning: one block of each unit that has a plane at its low-water mark.
//!
//! **When cleaning is futile.** Let every full block of a plane hold only valid
//! pages, and its open block too. Cleaning a block then moves all its pages and
//! frees as many: the number F of free pages (free blocks times data pages, plus
//! what is left of the open block) stays what it is, and so does what was assumed.
//! After the first round the open block is never untouched, so the plane has
//! floor(F / data pages) free blocks after each, for ever. If that is not above
//! the mark the element never serves a page again, and without that nothing
//! becomes invalid. Whatever else a plane holds, cleaning frees at least one page,
//! at the latest when the open block has become full, so it ends. (Wear-aware
//! cleaning may pass over the block that frees one, but by chance, so not for ever.)

use super::element::Element;
use super::geometry::BlockId;
use super::params::Policy;
use super::plane::Candidate;
use super::stuck::{Stuck, Why};

impl Element {
    /// Whether a plane is at or below its low-water mark.
    #[inline]
    pub const fn needs_cleaning(&self) -> bool {
        self.low_planes > 0
    }

    /// Cleans one block in each unit that needs it and says how long that takes,
    /// which is as long as the slowest unit takes.
    pub fn clean(&mut self) -> Result<u64, Stuck> {
        let mut slowest_ns = 0;
        for unit in 0..self.plane_to_clean.len() {
            if let Some(plane) = self.next_low_plane(unit) {
                slowest_ns = slowest_ns.max(self.clean_plane(plane)?);
            }
        }
        Ok(slowest_ns)
    }

    /// The first low plane of a unit, cyclically from where the last one left off.
    fn next_low_plane(&mut self, unit: usize) -> Option<u32> {
        let planes = self.shape.planes / self.plane_to_clean.len() as u32;
        let first = unit as u32 * planes;
        let start = self.plane_to_clean[unit] - first;
        let low = (0..planes)
            .map(|step| (start + step) % planes)
            .find(|&plane| self.is_low(first + plane))?;
        self.plane_to_clean[unit] = first + (low + 1) % planes;
        Some(first + low)
    }

    fn is_low(&self, plane: u32) -> bool {
        self.planes[plane as usize].free_blocks <= self.low_water
    }

    fn clean_plane(&mut self, plane: u32) -> Result<u64, Stuck> {
        let Some(cheapest) = self.planes[plane as usize].cheapest() else {
            return Err(Stuck { plane, why: Why::NothingToClean });
        };
        if self.is_futile(plane, cheapest) {
            return Err(Stuck { plane, why: Why::NothingInvalid });
        }
        let head = self.shape.block(plane, cheapest.index);
        let (victim, migration_ns) = match self.policy {
            Policy::Greedy => (head, 0),
            Policy::WearAware => self.choose_by_wear(plane, head)?,
        };
        Ok(migration_ns + self.clean_block(victim, plane)?)
    }

    /// Whether no cleaning of this plane can ever raise it above the mark.
    fn is_futile(&self, plane: u32, cheapest: Candidate) -> bool {
        let data_pages = self.shape.data_pages();
        let at = &self.planes[plane as usize];
        let open = self.blocks.get(self.shape.block(plane, at.active_index).at());
        let written = if at.next_page == data_pages { 0 } else { at.next_page };
        let open_valid = if at.next_page == data_pages { 0 } else { u32::from(open.valid) };
        let free_pages = u64::from(at.free_blocks) * u64::from(data_pages)
            + u64::from(data_pages - at.next_page);
        cheapest.valid == data_pages
            && open_valid == written
            && free_pages / u64::from(data_pages) <= u64::from(self.low_water)
    }

    /// Moves the valid pages of a full block to the plane's open one and erases it.
    pub fn clean_block(&mut self, victim: BlockId, plane: u32) -> Result<u64, Stuck> {
        let mut ns = self.costs.erase_ns;
        self.work.cleans += 1;
        self.for_each_valid(victim, |element, _, lpn| {
            let full = element.append(lpn, plane)?;
            ns += element.costs.read_ns + element.costs.program_ns;
            if full {
                ns += element.costs.summary_ns();
            }
            element.work.pages_read += 1;
            element.work.pages_moved += 1;
            Ok(())
        })?;
        self.erase(victim);
        Ok(ns)
    }
}
