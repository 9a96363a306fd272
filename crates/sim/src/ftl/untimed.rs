//! Writes without time, for preparing a drive's state: the same placement and the
//! same collection as timed writes, done at once.

use super::{Collection, Ftl};
use crate::error::SimError;
use crate::geometry::{Lpn, PlaneId, Ppn};
use crate::prepare::Prepare;

impl Prepare for Ftl {
    fn pages(&self) -> u32 {
        self.map.exported_pages()
    }

    fn spare_pages(&self) -> u32 {
        self.geometry.page_count - self.map.logical_pages()
    }

    fn page_bytes(&self) -> u32 {
        self.geometry.page_bytes
    }

    fn fill(&mut self) -> Result<(), SimError> {
        self.mark_filled();
        (0..self.pages()).try_for_each(|page| self.write_page(page).map(drop))
    }

    /// Its sectors hold data since the drive was filled.
    fn write_page(&mut self, page: u32) -> Result<u32, SimError> {
        let page = Lpn(page);
        let mut moved = 0;
        let mut plane = self.plane_for(page);
        while !self.can_write(plane) {
            let waits_for_folding = self.waits_for_folding(plane);
            let mut made_room = false;
            for behind in self.planes_behind(self.stall_queue(plane)) {
                let Some(done) = self.make_room_untimed(behind) else { continue };
                moved += done.moved_pages;
                made_room = true;
                // In time all of them fold at once; the first alone would take all the data.
                if !waits_for_folding {
                    break;
                }
            }
            if !made_room {
                return Err(self.no_room(plane));
            }
            plane = self.plane_for(page);
        }
        let placement = self.place_whole(page, plane);
        self.programmed(placement.page);
        if placement.filled_block {
            moved += self.keep_up(plane);
        }
        Ok(moved)
    }
}

/// What collecting one block came to.
struct Collected {
    moved_pages: u32,
    filled_blocks: u32,
}

impl Ftl {
    /// Folds all that is worth it, if idle time is used for that.
    pub fn come_to_rest(&mut self) {
        let planes = if self.folds_when_idle() { self.geometry.plane_count } else { 0 };
        for plane in (0..planes).map(PlaneId) {
            loop {
                let done = match self.begin_fold(plane, true) {
                    Some(fold) => Some(self.collect_all(fold)),
                    None if self.has_to_fold(plane) => self.collect_untimed(plane),
                    None => None,
                };
                let Some(done) = done else { break };
                self.keep_up_with(plane, done.filled_blocks);
            }
        }
    }

    /// Counts all sectors as holding data, as [`Prepare::write_page`] takes them to.
    pub fn mark_filled(&mut self) {
        self.map.sectors.fill();
    }

    /// A block of `plane` has been filled: collects another one if free ones are few, and
    /// one more for each block that collection fills meanwhile, as happens in time. Returns
    /// the pages moved.
    fn keep_up(&mut self, plane: PlaneId) -> u32 {
        self.keep_up_with(plane, 1)
    }

    fn keep_up_with(&mut self, plane: PlaneId, mut filled_blocks: u32) -> u32 {
        let mut moved_pages = 0;
        while filled_blocks > 0 && self.below_low_water(plane) {
            let Some(collected) = self.collect_untimed(plane) else { break };
            moved_pages += collected.moved_pages;
            filled_blocks += collected.filled_blocks;
            filled_blocks -= 1;
        }
        moved_pages
    }

    /// Folds a block, or collects one, or nothing if none is worth it.
    fn make_room_untimed(&mut self, plane: PlaneId) -> Option<Collected> {
        if !self.waits_for_folding(plane) {
            return self.collect_untimed(plane);
        }
        match self.begin_fold(plane, false) {
            Some(fold) => {
                let mut done = self.collect_all(fold);
                done.moved_pages += self.keep_up_with(plane, done.filled_blocks);
                Some(done)
            }
            None => self.collect_untimed(plane),
        }
    }

    /// Gives back or collects one block, or nothing if none is worth it.
    fn collect_untimed(&mut self, plane: PlaneId) -> Option<Collected> {
        let first = self.begin_reclaim(plane)?;
        Some(self.collect_all(first))
    }

    /// Moves the pages of a block, and then what follows from that.
    fn collect_all(&mut self, first: Collection) -> Collected {
        let mut next = Some(first);
        let mut done = Collected { moved_pages: 0, filled_blocks: 0 };
        let mut pages: Vec<Ppn> = Vec::new();
        while let Some(collection) = next {
            pages.clear();
            self.valid_pages(collection.plane, collection.victim, &mut pages);
            for &page in &pages {
                if let Some((new, filled_block)) = self.relocate(page) {
                    self.programmed(new);
                    done.moved_pages += 1;
                    done.filled_blocks += u32::from(filled_block);
                }
            }
            next = self.end_collection(collection);
        }
        done
    }

    fn no_room(&self, plane: PlaneId) -> SimError {
        if self.retired > 0 {
            return SimError::WornOut { endurance_erases: self.endurance_erases };
        }
        self.stuck(plane)
    }

    /// Why writes to `plane` can make no progress.
    #[must_use]
    pub fn stuck(&self, plane: PlaneId) -> SimError {
        let blocks = &self.planes[plane];
        let shape = self.layout.array();
        let plane = self.layout.first_plane(plane);
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
