//! A second account of what the host wrote, sector by sector: what it was told is safe, what
//! is in the write buffer, what is in flash.

use crate::cache::Spans;
use std::collections::BTreeMap;
use std::ops::Range;

/// Versions by sector.
type Versions = BTreeMap<u64, u64>;

#[derive(Clone, Debug, Default)]
pub(super) struct HostShadow {
    versions: u64,
    /// The newest version of all that was written and not discarded.
    newest: Versions,
    /// What of it is in flash.
    stored: Versions,
    /// By request: what it carries to flash.
    sent: BTreeMap<u32, Vec<(u64, u64)>>,
    /// By flush or forced write: what it must find in flash.
    promised: BTreeMap<u32, Versions>,
    /// The last version that was discarded.
    discarded: Versions,
    /// By request: what it reads on its way to the read cache; 0 is what nobody wrote.
    fetches: BTreeMap<u32, Versions>,
    /// What was put in the read cache.
    cached: Versions,
}

impl HostShadow {
    pub(super) fn put(&mut self, span: Range<u64>) {
        self.versions += 1;
        self.newest.extend(span.map(|sector| (sector, self.versions)));
    }

    /// A write has ended in flash without having been in the buffer.
    pub(super) fn write_through(&mut self, span: Range<u64>) {
        self.put(span.clone());
        self.stored.extend(span.map(|sector| (sector, self.versions)));
    }

    pub(super) fn discard(&mut self, span: Range<u64>) {
        for sector in span {
            self.stored.remove(&sector);
            if let Some(version) = self.newest.remove(&sector) {
                self.discarded.insert(sector, version);
            }
        }
    }

    pub(super) fn send(&mut self, request: u32, span: &Range<u64>) {
        let carried = span.clone().map(|sector| (sector, self.newest[&sector]));
        self.sent.entry(request).or_default().extend(carried);
    }

    pub(super) fn stored(&mut self, request: u32) {
        for (sector, version) in self.sent.remove(&request).unwrap() {
            let before = self.stored.insert(sector, version);
            assert!(before < Some(version), "sector {sector} went back from {before:?}");
        }
    }

    /// A request waits until what was written so far is in flash, in `span` or everywhere.
    pub(super) fn promise(&mut self, request: u32, span: Option<&Range<u64>>) {
        let counts = |sector: &u64| span.is_none_or(|span| span.contains(sector));
        let promised = self.newest.iter().filter(|(sector, _)| counts(sector));
        self.promised.insert(request, promised.map(|(&s, &v)| (s, v)).collect());
    }

    /// It failed instead.
    pub(super) fn break_promise(&mut self, request: u32) {
        self.promised.remove(&request);
    }

    pub(super) fn keep_promise(&mut self, request: u32) {
        for (sector, version) in self.promised.remove(&request).unwrap() {
            let discarded = self.discarded.get(&sector) >= Some(&version);
            let kept = self.stored.get(&sector) >= Some(&version);
            assert!(kept || discarded, "sector {sector} was lost by a flush");
        }
    }

    pub(super) fn fetch(&mut self, request: u32, span: &Spans) {
        let version = |sector| (sector, self.newest.get(&sector).copied().unwrap_or(0));
        self.fetches.insert(request, span.iter().cloned().flatten().map(version).collect());
    }

    /// What a request has read and nobody wrote meanwhile is in the read cache.
    pub(super) fn fetched(&mut self, request: u32, valid: &Spans) {
        let read = self.fetches.remove(&request).unwrap();
        self.cached.extend(valid.iter().cloned().flatten().map(|sector| (sector, read[&sector])));
    }

    /// Of a read that finds `unbuffered` not in the buffer, what it takes from flash is
    /// there, and what it takes from the read cache is the newest.
    pub(super) fn check_read(&self, unbuffered: &Spans, from_flash: &Spans) {
        for sector in unbuffered.iter().cloned().flatten() {
            let newest = self.newest.get(&sector).copied();
            if from_flash.overlaps(&(sector..sector + 1)) {
                assert_eq!(newest, self.stored.get(&sector).copied(), "sector {sector}");
            } else {
                let cached = self.fetches.values().chain([&self.cached]);
                let mut versions = cached.filter_map(|held| held.get(&sector));
                let newest = newest.unwrap_or(0);
                assert!(versions.any(|&version| version == newest), "sector {sector} is old");
            }
        }
    }

    /// Everything is in flash.
    pub(super) fn check_all_stored(&self) {
        assert_eq!(self.newest, self.stored);
    }
}
