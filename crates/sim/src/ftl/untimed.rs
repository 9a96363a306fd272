//! Writes without time, for preparing a drive's state: the same placement and the
//! same collection as timed writes, done at once.

use super::plane::Frontier;
use super::rows::{Rows, Split};
use super::{Collection, Ftl};
use crate::error::SimError;
use crate::geometry::{Lpn, PageId, PlaneId, Ppn};
use crate::prepare::Prepare;
use std::collections::VecDeque;

/// More free blocks than any rule looks at beside those it names.
const SOME_BLOCKS: u32 = 4;

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
        self.fill_up_to(self.pages())
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
        let plane = loop {
            match self.plane_for(page) {
                Ok(plane) => break plane,
                Err(full) => moved += self.make_room(full)?,
            }
        };
        let placement = self.place_whole(page, plane);
        self.programmed(placement.page);
        if placement.filled_block {
            moved += self.keep_room(plane);
        }
        Ok(moved)
    }
}

/// What collects in no time: a translation layer, and a map of where its pages are, which need
/// not be its own.
pub(super) trait AtOnce {
    /// The translation layer.
    fn ftl(&mut self) -> &mut Ftl;
    /// Appends the pages that so many physical ones from `first` on, all of them written, hold.
    fn held(&self, first: Ppn, count: u32, pages: &mut Vec<Lpn>);
    /// Puts pages in physical ones from `first` on.
    fn put_on(&mut self, pages: &[Lpn], first: Ppn);

    /// Collects for writes that `plane` cannot take; returns the pages moved. As in time, all
    /// planes that could take them set about it.
    ///
    /// # Errors
    /// If nothing could be collected.
    fn make_room(&mut self, plane: PlaneId) -> Result<u32, SimError> {
        let mut moved = None;
        let queue = self.ftl().stall_queue(plane);
        for behind in self.ftl().planes_behind(queue) {
            if let Some(first) = self.ftl().begin_to_make_room(behind) {
                moved = Some(moved.unwrap_or(0) + self.collect_all(first));
            }
        }
        moved.ok_or_else(|| self.ftl().no_room(plane))
    }

    /// A block of `plane` has been filled: collects if free ones are few. Returns the pages moved.
    fn keep_room(&mut self, plane: PlaneId) -> u32 {
        self.ftl().consider(plane).map_or(0, |first| self.collect_all(first))
    }

    /// Moves the pages of a block, and then does what follows from that; a block that is filled
    /// meanwhile is the occasion to begin another, as in time. Returns the pages moved.
    fn collect_all(&mut self, first: Collection) -> u32 {
        let mut begun = VecDeque::from([first]);
        let mut moved_pages = 0;
        let mut pages: Vec<Lpn> = Vec::new();
        while let Some(collection) = begun.pop_front() {
            let Collection { plane, victim, .. } = collection;
            pages.clear();
            let geometry = self.ftl().geometry;
            let first = geometry.ppn(plane, victim, PageId(0));
            self.held(first, geometry.pages_per_block, &mut pages);
            moved_pages += pages.len() as u32;
            let mut left = pages.as_slice();
            while !left.is_empty() {
                let (new, room) = self.ftl().room_for_moved(plane);
                let (now, later) = left.split_at(left.len().min(room as usize));
                self.put_on(now, new);
                if self.ftl().moved(plane, victim, now.len() as u32) {
                    begun.extend(self.ftl().consider(plane));
                }
                left = later;
            }
            if let Some(cold) = self.ftl().end_collection(collection) {
                begun.push_front(cold);
            }
        }
        moved_pages
    }
}

impl AtOnce for Ftl {
    fn ftl(&mut self) -> &mut Ftl {
        self
    }

    fn held(&self, first: Ppn, count: u32, pages: &mut Vec<Lpn>) {
        self.map.for_each_held(first, count, |_, page| pages.push(page));
    }

    fn put_on(&mut self, pages: &[Lpn], first: Ppn) {
        self.map.put_on(pages, first);
    }
}

impl Ftl {
    /// Writes every page up to `end` once, in order, on a drive that was never written. A region
    /// whose blocks are folded in a pause is empty afterwards, so nothing passes through it.
    ///
    /// # Errors
    /// If collection can free nothing.
    pub fn fill_up_to(&mut self, end: u32) -> Result<(), SimError> {
        self.mark_filled();
        let region = self.region;
        if self.folds_when_idle() {
            self.region = region.closed();
        }
        let mut left = self.fill_rows()..end;
        let filled = left.try_for_each(|page| self.write_page(page).map(drop));
        self.region = region;
        filled
    }

    /// Counts all sectors as holding data, as [`Prepare::write_page`] takes them to.
    pub fn mark_filled(&mut self) {
        self.map.sectors.fill();
    }

    /// Fills a block on every plane, again and again from the first page on, as long as that is
    /// a matter of addresses: there are more free blocks than anything would be collected for.
    /// Returns the pages placed.
    fn fill_rows(&mut self) -> u32 {
        let row = self.geometry.plane_count * self.geometry.pages_per_block;
        let is_whole = self.geometry.pages_per_block.is_multiple_of(self.in_a_row.value)
            && !self.region.exists();
        let (mut placed, mut blocks) = (0, Vec::new());
        while is_whole && placed + row <= self.pages() && self.is_far_from_collecting() {
            self.fill_row(&mut blocks);
            placed += row;
        }
        if placed > 0 {
            self.map.put_rows(Rows::new(self.split(placed), &self.geometry, blocks));
        }
        placed
    }

    /// Which of so many pages are on which plane, where planes take turns.
    pub(super) fn split(&self, pages: u32) -> Split {
        Split { planes: self.by_planes, in_a_row: self.in_a_row, pages }
    }

    /// Whether on every plane a block can be filled and the next one opened, with some to spare.
    fn is_far_from_collecting(&self) -> bool {
        let least = (self.low_water_blocks + self.stop_writes_blocks + SOME_BLOCKS) as usize;
        self.plane_order.iter().all(|&plane| {
            let plane = &self.planes[plane];
            plane.host.is_some_and(|host| host.next.0 == 0) && plane.free.len() > least
        })
    }

    /// Fills the open blocks of all planes, appends their first pages, and opens the next ones.
    fn fill_row(&mut self, blocks: &mut Vec<Ppn>) {
        for id in self.plane_order.clone() {
            let filled = self.places_for_host(id, self.geometry.pages_per_block);
            blocks.extend(filled.map(|(first, _)| first));
            self.end_host_block(id);
        }
    }

    /// Gives pages of the host the next places of the block that it fills in `plane`, as far as
    /// they go, and programs them in no time. Returns the first place, and how many there are.
    pub(super) fn places_for_host(&mut self, plane_id: PlaneId, pages: u32) -> Option<(Ppn, u32)> {
        if self.planes[plane_id].host.is_none() {
            self.open_host_block(plane_id);
        }
        let plane = &mut self.planes[plane_id];
        let Frontier { block, next } = plane.host.as_mut()?;
        let first = self.geometry.ppn(plane_id, *block, *next);
        let count = pages.min(self.geometry.pages_per_block - next.0);
        next.0 += count;
        plane.valid[block.0 as usize] += count;
        Some((first, count))
    }

    /// Seals the block that the host fills in `plane` if it is full, and opens the next one. Says
    /// whether it was.
    pub(super) fn end_host_block(&mut self, plane_id: PlaneId) -> bool {
        let plane = &mut self.planes[plane_id];
        let full = |host: &mut Frontier| host.next.0 == self.geometry.pages_per_block;
        let Some(Frontier { block, .. }) = plane.host.take_if(full) else { return false };
        plane.seal(block, &mut self.sealed);
        plane.refresh_key(block);
        self.open_host_block(plane_id);
        true
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

    pub(super) fn no_room(&self, plane: PlaneId) -> SimError {
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::config::{DriveConfig, Firmware};
    use crate::ftl::Translation;
    use crate::ftl::plane::BlockState;
    use ssdscope_io::rng::Stream;

    pub fn draw(random: &mut Stream) -> Ftl {
        draw_with(random, &[])
    }

    fn draw_with(random: &mut Stream, sets: &[&str]) -> Ftl {
        let mut pick = |values: &[&'static str]| values[random.below(values.len() as u64) as usize];
        let text = format!(
            "over_provisioning_ratio = {}\n[nand]\nchannels = {}\nways = 2\nplanes = {}\n\
             blocks_per_plane = {}\npages_per_block = {}\npage_bytes = 4096\nread_ns = 1\n\
             program_ns = 2\nerase_ns = 3\nendurance_erases = 50\n[channel]\nns_per_byte = 1\n\
             [ftl]\nkind = \"page\"\nallocation = \"{}\"\nplane_order = \"{}\"\n\
             placement_pages = {}\n[gc]\nskip_every = {}\n[wear]\ndynamic = {}\n",
            pick(&["0.25", "0.4", "1"]),
            pick(&["1", "2", "3"]),
            pick(&["1", "2"]),
            pick(&["30", "40", "61"]),
            pick(&["6", "8"]),
            pick(&["address", "order"]),
            pick(&["CWDP", "PDWC"]),
            pick(&["1", "1", "2", "3"]),
            pick(&["0", "3"]),
            pick(&["true", "false"]),
        );
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        match DriveConfig::parse(&text, "test", &sets)
            .unwrap_or_else(|why| panic!("{why}"))
            .firmware
        {
            Firmware::Page(page) => Ftl::new(&page, 1),
            _ => panic!("it maps by the page"),
        }
    }

    #[test]
    fn filling_by_rows_is_filling_page_by_page() {
        let mut rows = 0;
        for seed in 0..60 {
            println!("seed {seed}");
            let mut ftl = draw(&mut Stream::new(seed, "untimed"));
            let mut plain = ftl.clone();
            rows += u32::from(ftl.clone().fill_rows() > 0);
            ftl.fill().unwrap();
            plain.mark_filled();
            for page in 0..plain.pages() {
                plain.write_page(page).unwrap();
            }
            assert_eq!(format!("{ftl:?}"), format!("{plain:?}"));
        }
        assert!(rows > 40, "{rows}");
    }

    #[test]
    fn a_drive_filled_in_order_takes_no_memory_for_its_map() {
        let sets = ["nand.blocks_per_plane=1000", "nand.pages_per_block=600"];
        let mut ftl = draw_with(&mut Stream::new(4, "memory"), &sets);
        ftl.fill().unwrap();
        let taken = 256 * (ftl.map.forward.chunks_owned() + ftl.map.reverse.chunks_owned());
        let pages = ftl.pages() as usize;
        assert!(
            ftl.lookup(Lpn(0)).is_some() && taken < pages / 10,
            "{taken} entries, {pages} pages"
        );
    }

    /// Through a region pages take other ways to their blocks, and wear some: what comes of it is
    /// the same in pages on each plane, and in room. (Where the order of arrival picks the plane,
    /// those that fold just then are passed over.)
    #[test]
    fn a_region_that_is_folded_leaves_what_it_would_leave() {
        let region = [
            "nand.bits_per_cell=2",
            "pslc.dynamic_bytes=1m",
            "pslc.overflow=direct",
            "ftl.allocation=address",
        ];
        let mut rows = 0;
        for seed in 0..60 {
            println!("seed {seed}");
            let mut ftl = draw_with(&mut Stream::new(seed, "region"), &region);
            let mut plain = ftl.clone();
            let mut closed = Ftl { region: ftl.region.closed(), ..ftl.clone() };
            rows += u32::from(closed.fill_rows() > 0);
            ftl.fill().unwrap();
            plain.mark_filled();
            (0..plain.pages()).try_for_each(|page| plain.write_page(page).map(drop)).unwrap();
            plain.rest().unwrap();
            let held = |ftl: &Ftl, plane: PlaneId| ftl.planes[plane].valid.iter().sum::<u32>();
            for plane in (0..ftl.geometry.plane_count).map(PlaneId) {
                assert_eq!(held(&ftl, plane), held(&plain, plane));
                // Pages that are not in full blocks are in those that each way has begun.
                let full = |ftl: &Ftl| {
                    let states = &ftl.planes[plane].state;
                    states.iter().filter(|&&state| state == BlockState::Sealed).count()
                };
                assert!(full(&ftl).abs_diff(full(&plain)) <= 1, "{} full blocks", full(&ftl));
                assert_eq!(ftl.planes[plane].region.borrowed, 0);
            }
            for page in (0..ftl.pages()).map(Lpn) {
                let [place, as_if] = [&ftl, &plain].map(|ftl| ftl.lookup(page).unwrap());
                assert_eq!(ftl.geometry.plane_of(place), ftl.geometry.plane_of(as_if));
                assert_eq!(ftl.was_given(place), Some(page));
            }
        }
        assert!(rows > 30, "{rows}");
    }
}
