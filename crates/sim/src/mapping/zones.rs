//! The mapping table in zones: equal spans of the address space, each with a table of its
//! own, of which a few are in RAM (kuo2009, 3.4).
//!
//! One loader brings them in, in the order in which they were asked for. For each it first
//! makes room, if there is none: the table not used for longest goes, written back if a host
//! write has changed it. Nobody uses a table from the moment at which it goes.

use super::lru::Lru;
use super::waiting::Waiting;
use crate::config::ZoneMap;
use crate::geometry::Lpn;
use std::collections::{BTreeSet, VecDeque};

/// What loading a zone comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The zone.
    pub zone: u32,
    /// How long it takes, with the writing back before it.
    pub span_ns: u64,
    /// Whether another one was written back for it.
    pub wrote_back: bool,
}

/// The tables of zones, and what is to be loaded.
#[derive(Clone, Debug)]
pub struct Zones {
    zone_bytes: u64,
    page_bytes: u64,
    load_ns: u64,
    write_back_ns: u64,
    resident: Lru,
    /// Of the resident ones those that differ from what is in flash.
    changed: BTreeSet<u32>,
    loading: Option<u32>,
    queue: VecDeque<u32>,
    /// The commands that wait for each zone being loaded or queued.
    pub waiting: Waiting,
}

impl Zones {
    /// No table loaded, for `pages` logical pages of `page_bytes`.
    #[must_use]
    pub fn new(settings: &ZoneMap, pages: u32, page_bytes: u64) -> Self {
        let zones = (u64::from(pages) * page_bytes).div_ceil(settings.zone_bytes);
        let most = u64::from(settings.resident_zones).min(zones) as u32;
        Self {
            zone_bytes: settings.zone_bytes,
            page_bytes,
            load_ns: settings.load_ns,
            write_back_ns: settings.write_back_ns,
            resident: Lru::new(most),
            changed: BTreeSet::new(),
            loading: None,
            queue: VecDeque::new(),
            waiting: Waiting::default(),
        }
    }

    /// The zone of a page: that of its first byte.
    #[must_use]
    pub const fn zone_of(&self, page: Lpn) -> u32 {
        (page.0 as u64 * self.page_bytes / self.zone_bytes) as u32
    }

    /// Looks a zone up for a command that will change it or not; says whether it is in RAM.
    pub fn touch(&mut self, zone: u32, changes: bool) -> bool {
        let found = self.resident.touch(zone);
        if found && changes {
            self.changed.insert(zone);
        }
        found
    }

    /// Notes that a zone was changed without being looked up: it counts if it is in RAM.
    pub fn note_change(&mut self, zone: u32) {
        if self.resident.contains(zone) {
            self.changed.insert(zone);
        }
    }

    /// Asks for a zone that is neither in RAM nor asked for.
    pub fn ask(&mut self, zone: u32) {
        self.queue.push_back(zone);
    }

    /// Begins with the next zone asked for, if the loader is free.
    pub fn begin(&mut self) -> Option<Load> {
        if self.loading.is_some() {
            return None;
        }
        let zone = self.queue.pop_front()?;
        self.loading = Some(zone);
        let gone = if self.resident.is_full() { self.resident.pop_oldest() } else { None };
        let wrote_back = gone.is_some_and(|gone| self.changed.remove(&gone));
        let before_ns = if wrote_back { self.write_back_ns } else { 0 };
        Some(Load { zone, span_ns: before_ns + self.load_ns, wrote_back })
    }

    /// The loader has ended: the zone is in RAM.
    pub fn end(&mut self) -> Option<u32> {
        let zone = self.loading.take()?;
        self.resident.insert(zone);
        Some(zone)
    }
}
