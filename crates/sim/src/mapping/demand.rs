//! The mapping table paged in on demand (Gupta et al., "DFTL", ASPLOS 2009): the table lies
//! in flash, on pages of the translation layer beyond those that the host sees, and the
//! entries used last are in RAM. Where the mapping pages are is always known.
//!
//! A changed entry that gives way is written back to its mapping page, and with it all other
//! changed ones of that page. Until that is programmed its contents are in RAM.

use super::lru::Lru;
use super::waiting::Waiting;
use crate::config::DemandMap;
use crate::geometry::Lpn;
use std::collections::{BTreeMap, BTreeSet};

/// A mapping page to be written, and the sectors of it that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteBack {
    /// The page of the translation layer.
    pub page: Lpn,
    /// The first changed sector.
    pub first: u32,
    /// Sectors from there to the last changed one.
    pub count: u32,
}

/// The entries in RAM.
#[derive(Clone, Debug)]
pub struct Demand {
    settings: DemandMap,
    entries_per_page: u32,
    sectors_per_page: u32,
    /// Pages that the host sees; the mapping pages follow.
    exported_pages: u32,
    entries: Lru,
    /// Of the entries those that differ from what is in flash.
    changed: BTreeSet<u32>,
    /// Mapping pages on their way to flash, and how often.
    leaving: BTreeMap<u32, u32>,
    /// The commands that wait for each mapping page being read.
    pub waiting: Waiting,
}

impl Demand {
    /// No entry loaded, of a table for `exported_pages` pages of `page_bytes`.
    #[must_use]
    pub fn new(settings: &DemandMap, exported_pages: u32, page_bytes: u64) -> Self {
        let most = settings.cache_bytes / u64::from(settings.cached_entry_bytes);
        Self {
            settings: settings.clone(),
            entries_per_page: settings.entries_per_page(page_bytes),
            sectors_per_page: (page_bytes / 512) as u32,
            exported_pages,
            entries: Lru::new(most.min(exported_pages.into()) as u32),
            changed: BTreeSet::new(),
            leaving: BTreeMap::new(),
            waiting: Waiting::default(),
        }
    }

    /// The mapping page of a page of the host.
    #[must_use]
    pub const fn mapping_page(&self, page: Lpn) -> Lpn {
        Lpn(self.exported_pages + page.0 / self.entries_per_page)
    }

    /// The sectors of its mapping page that a miss of `page` reads: (first, count).
    #[must_use]
    pub fn sectors_to_load(&self, page: Lpn) -> (u32, u32) {
        let count = (self.settings.load_bytes / 512) as u32;
        (self.sector_of(page).min(self.sectors_per_page - count), count)
    }

    /// The sector of its mapping page in which the entry of `page` begins.
    const fn sector_of(&self, page: Lpn) -> u32 {
        page.0 % self.entries_per_page * self.settings.entry_bytes / 512
    }

    /// Uses the entry of a page, to change it or not; says whether it is in RAM.
    pub fn touch(&mut self, page: Lpn, changes: bool) -> bool {
        let found = self.entries.touch(page.0);
        if found && changes {
            self.changed.insert(page.0);
        }
        found
    }

    /// Notes that an entry was changed without being looked up: it counts if it is in RAM.
    pub fn note_change(&mut self, page: Lpn) {
        if self.entries.contains(page.0) {
            self.changed.insert(page.0);
        }
    }

    /// Whether the mapping page of `page` is in RAM, on its way to flash.
    #[must_use]
    pub fn is_leaving(&self, page: Lpn) -> bool {
        self.leaving.contains_key(&self.mapping_page(page).0)
    }

    /// Adds the entry of a page, which is not in RAM; returns what must be written back.
    pub fn insert(&mut self, page: Lpn, changes: bool) -> Option<WriteBack> {
        let gone = if self.entries.is_full() { self.entries.pop_oldest() } else { None };
        let write_back =
            gone.filter(|gone| self.changed.contains(gone)).map(|gone| self.write_back(Lpn(gone)));
        self.entries.insert(page.0);
        if changes {
            self.changed.insert(page.0);
        }
        write_back
    }

    /// Takes note of all changed entries of a mapping page being written, that of `page` one
    /// of them.
    fn write_back(&mut self, page: Lpn) -> WriteBack {
        let start = page.0 - page.0 % self.entries_per_page;
        let all = start..start.saturating_add(self.entries_per_page);
        let (mut first, mut last) = (page.0, page.0);
        while let Some(&entry) = self.changed.range(all.clone()).next() {
            self.changed.remove(&entry);
            (first, last) = (first.min(entry), last.max(entry));
        }
        let first = self.sector_of(Lpn(first));
        let last_byte = (last % self.entries_per_page + 1) * self.settings.entry_bytes - 1;
        let page = self.mapping_page(page);
        if self.settings.program_map {
            *self.leaving.entry(page.0).or_default() += 1;
        } else {
            self.leaving.insert(page.0, 1);
        }
        WriteBack { page, first, count: last_byte / 512 + 1 - first }
    }

    /// A mapping page has been programmed.
    pub fn written_back(&mut self, page: Lpn) {
        if let Some(count) = self.leaving.get_mut(&page.0) {
            *count -= 1;
            if *count == 0 {
                self.leaving.remove(&page.0);
            }
        }
    }

    /// Whether changed mapping pages are programmed.
    #[must_use]
    pub const fn programs(&self) -> bool {
        self.settings.program_map
    }

    /// Forgets all entries, none of which is changed.
    pub fn forget(&mut self) {
        self.entries.clear();
    }

    /// Writes all changed entries back, mapping page by mapping page.
    pub fn flush(&mut self) -> Option<WriteBack> {
        let first = *self.changed.first()?;
        Some(self.write_back(Lpn(first)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two entries in RAM; eight sectors of 64 entries make a mapping page.
    fn demand() -> Demand {
        let settings = DemandMap {
            cache_bytes: 16,
            cached_entry_bytes: 8,
            entry_bytes: 8,
            load_bytes: 1024,
            program_map: true,
        };
        Demand::new(&settings, 2000, 4096)
    }

    #[test]
    fn a_miss_reads_the_sectors_around_its_entry() {
        let demand = demand();
        for (page, mapping_page, sectors) in
            [(0, 2000, (0, 2)), (64, 2000, (1, 2)), (511, 2000, (6, 2)), (512, 2001, (0, 2))]
        {
            assert_eq!(demand.mapping_page(Lpn(page)), Lpn(mapping_page));
            assert_eq!(demand.sectors_to_load(Lpn(page)), sectors);
        }
    }

    #[test]
    fn changed_entries_of_a_mapping_page_leave_together() {
        let mut demand = demand();
        assert_eq!(demand.insert(Lpn(70), true), None);
        assert_eq!(demand.insert(Lpn(200), true), None);
        assert!(demand.touch(Lpn(70), false));
        // 200 goes, and 70 is written with it.
        let expected = WriteBack { page: Lpn(2000), first: 1, count: 3 };
        assert_eq!(demand.insert(Lpn(600), false), Some(expected));
        assert!(demand.is_leaving(Lpn(0)) && !demand.is_leaving(Lpn(600)));
        assert_eq!(demand.insert(Lpn(0), false), None, "70 is no longer changed");
        demand.written_back(Lpn(2000));
        assert!(!demand.is_leaving(Lpn(0)));
        assert_eq!(demand.flush(), None);
        assert!(demand.touch(Lpn(600), true));
        assert_eq!(demand.flush(), Some(WriteBack { page: Lpn(2001), first: 1, count: 1 }));
    }
}
