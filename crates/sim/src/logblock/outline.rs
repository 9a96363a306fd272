//! Preparing a state without copying pages: a drive that is full, in outline.
//!
//! A page that is in no log block is at its own place in its data block, so only the pages
//! in log blocks need to be known, and a merge is a matter of units. The map is made at the
//! end. What comes out is what writing page by page gives; so many pages would have to be
//! moved for it that a large drive could not be opened.

use super::LogBlockFtl;
use super::units::{Role, UnitId};
use crate::error::SimError;
use crate::ftl::Translation;
use crate::geometry::Lpn;
use crate::prepare::Prepare;

/// The newest version of a page, in a log block.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The page's place in its logical block.
    offset: u32,
    unit: UnitId,
    slot: u32,
}

/// A drive whose state is being prepared.
pub struct Outline {
    ftl: LogBlockFtl,
    /// By logical block: which of its pages are in log blocks.
    logged: Vec<Vec<Entry>>,
    /// By unit in use as a log block: every page written to it, in order.
    written: Vec<Vec<Lpn>>,
    filled: bool,
}

impl Outline {
    /// Of a drive that was never written.
    #[must_use]
    pub fn new(ftl: LogBlockFtl) -> Self {
        Self {
            logged: vec![Vec::new(); ftl.map.blocks() as usize],
            written: vec![Vec::new(); ftl.units.count() as usize],
            ftl,
            filled: false,
        }
    }

    /// The drive with every page in its place.
    #[must_use]
    pub fn finish(mut self) -> LogBlockFtl {
        if self.filled {
            self.ftl.map.fill();
            for block in 0..self.ftl.map.blocks() {
                self.map_block(block);
            }
            // Older versions are in log blocks still.
            for log in self.ftl.logs.open() {
                for (slot, &page) in (0..).zip(&self.written[log.unit.0 as usize]) {
                    self.ftl.map.note_given(self.ftl.units.page(log.unit, slot), page);
                }
            }
        }
        self.ftl
    }

    fn map_block(&mut self, block: u32) {
        let Self { ftl, logged, .. } = self;
        for entry in &logged[block as usize] {
            let page = ftl.units.page(entry.unit, entry.slot);
            ftl.map.put(Lpn(block * ftl.units.pages() + entry.offset), page);
        }
    }

    fn data_unit(&self, block: u32) -> UnitId {
        self.ftl.map.data_of(block).expect("a full drive has them all")
    }

    /// Puts a page in a log block, or says that a merge must come first.
    fn place(&mut self, page: Lpn) -> bool {
        if self.ftl.due.is_some() || self.ftl.is_exhausted() {
            return false;
        }
        let Some((unit, slot)) = self.ftl.slot_for(page) else { return false };
        let (block, offset) = (page.0 / self.ftl.units.pages(), page.0 % self.ftl.units.pages());
        let newest = Entry { offset, unit, slot };
        let data = self.data_unit(block);
        let entries = &mut self.logged[block as usize];
        if let Some(entry) = entries.iter_mut().find(|entry| entry.offset == offset) {
            self.ftl.units.lose_of(entry.unit, 1);
            *entry = newest;
        } else {
            self.ftl.units.lose_of(data, 1);
            entries.push(newest);
        }
        self.ftl.units.gain_in(unit, 1);
        self.written[unit.0 as usize].push(page);
        self.ftl.placed(unit, slot);
        true
    }

    /// Does the merge that is due, if one is; returns the pages it copies.
    fn merge(&mut self) -> u32 {
        let Some(log) = self.ftl.due.take() else { return 0 };
        if self.ftl.units.valid(log) == 0 {
            self.erase_log(log);
            return 0;
        }
        let block = self.block_in(log);
        let (old, pages) = (self.data_unit(block), self.ftl.units.pages());
        let Some(target) = self.target(log, block) else {
            self.ftl.exhausted = true;
            return 0;
        };
        let units = &mut self.ftl.units;
        let copied = pages - units.next(target);
        // Whatever a log block holds of it is at its own place from now on.
        for entry in self.logged[block as usize].drain(..) {
            units.lose_of(entry.unit, 1);
        }
        units.lose_of(old, units.valid(old));
        units.gain_in(target, pages);
        units.advance(target, pages);
        units.erased(old);
        self.ftl.map.assign(target, block);
        if target != log && self.ftl.units.valid(log) == 0 {
            self.erase_log(log);
        }
        copied
    }

    /// The logical block to merge a log block with: its own, or that of its first page.
    fn block_in(&mut self, log: UnitId) -> u32 {
        let open = self.ftl.logs.find(log).expect("log blocks due are in use");
        if let Some(block) = open.owner {
            return block;
        }
        let (first, pages) = (open.first, self.ftl.units.pages());
        let holds = |slot: u32| {
            let block = self.written[log.0 as usize][slot as usize].0 / pages;
            let entries = &self.logged[block as usize];
            let held = entries.iter().any(|entry| (entry.unit, entry.slot) == (log, slot));
            held.then_some((slot, block))
        };
        let found = (first..self.ftl.units.next(log)).find_map(holds);
        let (slot, block) = found.expect("the caller asked whether anything is valid");
        self.ftl.logs.skip_to(log, slot);
        block
    }

    /// The unit that a merge makes the data block: the log block itself if that holds the
    /// beginning of the logical block in order, or else a free one, if there is any.
    fn target(&mut self, log: UnitId, block: u32) -> Option<UnitId> {
        let in_order = |entry: &&Entry| entry.unit == log && entry.slot == entry.offset;
        let entries = &self.logged[block as usize];
        if entries.iter().filter(in_order).count() < self.ftl.units.next(log) as usize {
            let units = &mut self.ftl.units;
            let pool = units.division().of_block(block);
            return (units.free_count(pool) > 0).then(|| units.take_free(pool, Role::Data));
        }
        self.ftl.logs.remove(log);
        self.written[log.0 as usize].clear();
        self.ftl.units.convert(log, Role::Data);
        Some(log)
    }

    fn erase_log(&mut self, log: UnitId) {
        self.ftl.logs.remove(log);
        self.written[log.0 as usize].clear();
        self.ftl.units.erased(log);
    }
}

impl Prepare for Outline {
    fn pages(&self) -> u32 {
        self.ftl.map.logical_pages()
    }

    fn spare_pages(&self) -> u32 {
        self.ftl.geometry().page_count - self.pages()
    }

    fn page_bytes(&self) -> u32 {
        self.ftl.geometry().page_bytes
    }

    fn fill(&mut self) -> Result<(), SimError> {
        let pages = self.ftl.units.pages();
        for block in 0..self.ftl.map.blocks() {
            let pool = self.ftl.units.division().of_block(block);
            let unit = self.ftl.units.take_free(pool, Role::Data);
            self.ftl.map.assign(unit, block);
            self.ftl.units.advance(unit, pages);
            self.ftl.units.gain_in(unit, pages);
        }
        self.ftl.written += u64::from(self.pages());
        self.filled = true;
        Ok(())
    }

    fn write_page(&mut self, page: u32) -> Result<u32, SimError> {
        let mut moved = 0;
        while !self.place(Lpn(page)) {
            if self.ftl.is_exhausted() {
                let endurance_erases = self.ftl.units.endurance_erases();
                return Err(SimError::WornOut { endurance_erases });
            }
            moved += self.merge();
        }
        Ok(moved + self.merge())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{DriveConfig, Firmware, State};
    use crate::geometry::Ppn;
    use crate::prepare;
    use ssdscope_io::rng::Stream;

    /// The same, page by page.
    struct Plain(LogBlockFtl);

    impl Plain {
        fn merge(&mut self) -> u32 {
            let Some(merge) = self.0.begin_merge() else { return 0 };
            let copies: Vec<_> = merge.copies.each(&self.0.units).collect();
            for copy in copies {
                assert!(self.0.relocate(copy));
            }
            self.0.end_merge(&merge);
            merge.copies.len()
        }
    }

    impl Prepare for Plain {
        fn pages(&self) -> u32 {
            self.0.map.logical_pages()
        }

        fn spare_pages(&self) -> u32 {
            self.0.geometry().page_count - self.pages()
        }

        fn page_bytes(&self) -> u32 {
            self.0.geometry().page_bytes
        }

        fn write_page(&mut self, page: u32) -> Result<u32, SimError> {
            let (sectors, mut moved) = (self.0.geometry().sectors_per_page, 0);
            while self.0.place(Lpn(page), 0, sectors).is_none() {
                moved += self.merge();
            }
            Ok(moved + self.merge())
        }
    }

    fn empty(random: &mut Stream) -> LogBlockFtl {
        let mut pick = |values: &[&'static str]| values[random.below(values.len() as u64) as usize];
        let text = format!(
            "over_provisioning_ratio = {}\n[nand]\nchannels = 2\nplanes = 2\nblocks_per_plane = 20\n\
             pages_per_block = {}\npage_bytes = 6144\nread_ns = 1\nprogram_ns = 2\nerase_ns = 3\n\
             [channel]\nns_per_byte = 1\n[ftl]\nkind = \"log-block\"\nlog_blocks = {}\n\
             log_association = \"{}\"\nlog_victim = \"{}\"\n{}",
            pick(&["1", "1.5"]),
            pick(&["2", "8"]),
            pick(&["2", "3", "8"]),
            pick(&["one-to-one", "many-to-one"]),
            pick(&["lru", "fifo"]),
            pick(&["", "placement_pages = 2\n", "map_unit_bytes = 12288\nplacement_pages = 2\n"]),
        );
        let pages = if text.contains("block = 2") { 2 } else { 8 };
        let unit_bytes = 6144 * pages * [1, 4][random.below(2) as usize];
        let mut sets = vec![format!("ftl.merge_unit_bytes={unit_bytes}")];
        if !text.contains("blocks = 8") && random.below(2) == 0 {
            sets.push(format!("map.zone_bytes={}", unit_bytes * 8));
            sets.extend(["map.kind=zones", "map.private_pools=true"].map(str::to_owned));
        }
        let config = DriveConfig::parse(&text, "test", &sets).unwrap_or_else(|why| panic!("{why}"));
        match config.firmware {
            Firmware::LogBlock(log) => LogBlockFtl::new(&log, 1),
            _ => panic!("no log blocks"),
        }
    }

    #[test]
    fn what_comes_out_is_what_writing_page_by_page_gives() {
        for seed in 0..80 {
            println!("seed {seed}");
            let mut random = Stream::new(seed, "outline");
            let ftl = empty(&mut random);
            let state = match random.below(5) {
                0 => State::Fresh,
                1 => State::Sequential,
                2 => State::Random,
                3 => State::Steady { window_bytes: None },
                _ => State::Steady { window_bytes: Some(6144 * 16) },
            };
            let (mut plain, mut outline) = (Plain(ftl.clone()), Outline::new(ftl));
            prepare::bring(&mut plain, state, seed).unwrap();
            prepare::bring(&mut outline, state, seed).unwrap();
            // Some written in order, which other merges follow on.
            if state != State::Fresh {
                let start = random.below(u64::from(plain.pages()) / 2) as u32;
                for page in (start..start + random.below(40) as u32).chain(0..20) {
                    let page = page % plain.pages();
                    let moved = plain.write_page(page).unwrap();
                    assert_eq!(outline.write_page(page).unwrap(), moved, "page {page}");
                }
            }
            same(&plain.0, &outline.finish());
        }
    }

    fn same(plain: &LogBlockFtl, outline: &LogBlockFtl) {
        for page in (0..plain.logical_pages()).map(Lpn) {
            assert_eq!(plain.lookup(page), outline.lookup(page), "{page:?}");
            let sectors = plain.geometry().sectors_per_page;
            let [left, right] = [plain, outline].map(|ftl| ftl.map.sectors.count(page, 0, sectors));
            assert_eq!(left, right, "{page:?}");
        }
        for page in (0..plain.geometry().page_count).map(Ppn) {
            assert_eq!(plain.holds(page), outline.holds(page), "{page:?}");
            if plain.is_written(page) {
                assert_eq!(plain.was_given(page), outline.was_given(page), "{page:?}");
            }
        }
        let books = |ftl: &LogBlockFtl| {
            let logs = format!("{:?}", ftl.logs);
            let data: Vec<_> = (0..ftl.map.blocks()).map(|block| ftl.map.data_of(block)).collect();
            (format!("{:?}", ftl.units), logs, data, ftl.written, ftl.due)
        };
        assert_eq!(books(plain), books(outline));
    }
}
