//! Writes without time, for preparing a drive's state: the same placement and the
//! same collection as timed writes, done at once.

use super::{Collection, Ftl};
use crate::error::SimError;
use crate::geometry::{Lpn, PlaneId, Ppn};
use crate::prepare::Prepare;
use std::collections::VecDeque;

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

    /// Folds all that is worth it, if idle time is used for that.
    fn rest(&mut self) -> Result<(), SimError> {
        let planes = if self.folds_when_idle() { self.geometry.plane_count } else { 0 };
        for plane in (0..planes).map(PlaneId) {
            loop {
                let first = match self.begin_fold(plane, true) {
                    None if self.has_to_fold(plane) => self.begin_reclaim(plane),
                    fold => fold,
                };
                let Some(first) = first else { break };
                self.collect_all(first);
            }
        }
        Ok(())
    }

    /// Its sectors hold data since the drive was filled.
    fn write_page(&mut self, page: u32) -> Result<u32, SimError> {
        let page = Lpn(page);
        let mut moved = 0;
        let mut plane = self.plane_for(page);
        while !self.can_write(plane) {
            let mut made_room = false;
            // As in time, where all of them set about it.
            for behind in self.planes_behind(self.stall_queue(plane)) {
                if let Some(first) = self.begin_to_make_room(behind) {
                    moved += self.collect_all(first);
                    made_room = true;
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
            moved += self.consider(plane).map_or(0, |first| self.collect_all(first));
        }
        Ok(moved)
    }
}

impl Ftl {
    /// Counts all sectors as holding data, as [`Prepare::write_page`] takes them to.
    pub fn mark_filled(&mut self) {
        self.map.sectors.fill();
    }

    /// A block of `plane` has been filled: begins to collect another one if free ones are few.
    fn consider(&mut self, plane: PlaneId) -> Option<Collection> {
        if self.collection_falls_due(plane) { self.begin_reclaim(plane) } else { None }
    }

    /// Begins to fold a block, or to collect one, or nothing if none is worth it.
    fn begin_to_make_room(&mut self, plane: PlaneId) -> Option<Collection> {
        if self.waits_for_folding(plane)
            && let Some(fold) = self.begin_fold(plane, false)
        {
            return Some(fold);
        }
        self.begin_reclaim(plane)
    }

    /// Moves the pages of a block, and then does what follows from that; a block that is filled
    /// meanwhile is the occasion to begin another, as in time. Returns the pages moved.
    fn collect_all(&mut self, first: Collection) -> u32 {
        let mut begun = VecDeque::from([first]);
        let mut moved_pages = 0;
        let mut pages: Vec<Ppn> = Vec::new();
        while let Some(collection) = begun.pop_front() {
            pages.clear();
            self.valid_pages(collection.plane, collection.victim, &mut pages);
            for &page in &pages {
                if let Some((new, filled_block)) = self.relocate(page) {
                    self.programmed(new);
                    moved_pages += 1;
                    if filled_block {
                        begun.extend(self.consider(collection.plane));
                    }
                }
            }
            if let Some(cold) = self.end_collection(collection) {
                begun.push_front(cold);
            }
        }
        moved_pages
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
