//! Writes without time, for preparing a drive's state: the same placement and the
//! same collection as timed writes, done at once.

use super::Ftl;
use crate::error::SimError;
use crate::geometry::{Lpn, PlaneId, Ppn};
use crate::prepare::Prepare;

impl Prepare for Ftl {
    fn pages(&self) -> u32 {
        self.exported_pages()
    }

    fn spare_pages(&self) -> u32 {
        self.geometry.page_count - self.exported_pages()
    }

    fn page_bytes(&self) -> u32 {
        self.geometry.page_bytes
    }

    fn write_page(&mut self, page: u32) -> Result<u32, SimError> {
        let page = Lpn(page);
        let mut moved = 0;
        let mut plane = self.plane_for(page);
        while !self.can_write(plane) {
            let mut planes = self.planes_behind(self.stall_queue(plane));
            let collected = planes.find_map(|plane| self.collect_untimed(plane));
            moved += collected.ok_or_else(|| self.stuck(plane))?;
            plane = self.plane_for(page);
        }
        let placement = self.place(page, 0, self.geometry.sectors_per_page, plane);
        self.programmed(placement.page);
        if placement.filled_block && self.below_low_water(plane) {
            moved += self.collect_untimed(plane).unwrap_or(0);
        }
        Ok(moved)
    }
}

impl Ftl {
    /// Collects one block; returns the pages moved, or nothing if no block is worth it.
    fn collect_untimed(&mut self, plane: PlaneId) -> Option<u32> {
        let mut next = Some(self.begin_collection(plane)?);
        let mut moved = 0;
        let mut pages: Vec<Ppn> = Vec::new();
        while let Some(collection) = next {
            pages.clear();
            self.valid_pages(collection.plane, collection.victim, &mut pages);
            for &page in &pages {
                if let Some((new, _)) = self.relocate(page) {
                    self.programmed(new);
                    moved += 1;
                }
            }
            self.end_collection(collection);
            next = collection.cold.and_then(|cold| self.begin_cold_move(plane, cold));
        }
        Some(moved)
    }

    /// Why writes to `plane` can make no progress.
    #[must_use]
    pub fn stuck(&self, plane: PlaneId) -> SimError {
        let blocks = &self.planes[plane];
        let shape = &self.geometry;
        let (dies, planes) = (shape.dies, shape.planes_per_die);
        SimError::Stuck {
            channel: plane.0 / (planes * dies * shape.ways),
            way: plane.0 / (planes * dies) % shape.ways,
            die: plane.0 / planes % dies,
            plane: plane.0 % planes,
            free_blocks: blocks.free.len() as u32,
            stop_writes_blocks: self.stop_writes_blocks,
        }
    }
}
