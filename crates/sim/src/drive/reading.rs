//! Reads through the drive's memory: what is in the write buffer or the read cache is copied
//! from there, the rest comes from flash, and enters the read cache on its way.
//!
//! Behind reads that follow each other the drive reads ahead into the cache. A read-ahead
//! waits at every die behind the reads of the host (where the scheduler puts these before
//! collection's), so it delays one by no more than what a die or a channel has begun; a read
//! of what is being read ahead waits for it. What is written or discarded meanwhile does not
//! enter the cache.
//!
//! A read from memory alone takes the time of the copy; of any other the copy is hidden
//! behind the flash.

use super::host::Role;
use super::memory::Memory;
use super::{Drive, Scheme};
use crate::cache::{ReadAhead, ReadCache, Spans};
use crate::config::ReadCacheConfig;
use crate::flash::command::Work;
use crate::ftl::Translation;
use ssdscope_io::{Counters, Op};
use std::ops::Range;

/// Sectors on their way from flash to the cache.
#[derive(Clone, Debug)]
struct Fetch {
    /// The host's read, or ours.
    request: u32,
    /// What was not written since.
    valid: Spans,
    /// Whether it is a read-ahead, and which reads wait for it.
    ahead: bool,
    waiting: Vec<u32>,
}

/// The read cache of a drive, and what is on its way to it.
#[derive(Clone, Debug)]
pub(super) struct Cached {
    store: ReadCache,
    ahead: ReadAhead,
    pub memory: Memory,
    on: bool,
    fetches: Vec<Fetch>,
    /// Sectors that reads found in it.
    hit_sectors: u64,
    /// Sectors that were read ahead.
    ahead_sectors: u64,
}

impl Cached {
    /// The cache that a drive file describes, before so many sectors of flash in such pages;
    /// none if it has no bytes.
    pub fn new(config: &ReadCacheConfig, page_sectors: u32, end: u64) -> Option<Box<Self>> {
        (config.bytes > 0).then(|| {
            let ahead_sectors = config.read_ahead_bytes / 512;
            Box::new(Self {
                store: ReadCache::new(config),
                ahead: ReadAhead::new(ahead_sectors, page_sectors.into(), end),
                memory: Memory::new(config.ns_per_byte),
                on: true,
                fetches: Vec::new(),
                hit_sectors: 0,
                ahead_sectors: 0,
            })
        })
    }

    /// Adds what it counted to a drive's counters.
    pub const fn count(&self, counters: &mut Counters) {
        counters.cache_read_bytes = self.hit_sectors * 512;
        counters.read_ahead_bytes = self.ahead_sectors * 512;
    }

    /// Whether nothing is on its way.
    #[cfg(test)]
    pub fn is_at_rest(&self) -> bool {
        self.fetches.is_empty()
    }

    /// Takes what is here out of `missing`.
    fn hit(&mut self, missing: &mut Spans) {
        let before = missing.sectors();
        self.store.use_held(missing);
        self.hit_sectors += before - missing.sectors();
    }

    /// Lets a read wait for what is being read ahead of it, which leaves `missing`; returns
    /// for how many read-aheads.
    fn wait_for_ahead(&mut self, slot: u32, missing: &mut Spans) -> u32 {
        let mut waits = 0;
        for fetch in self.fetches.iter_mut().filter(|fetch| fetch.ahead) {
            let before = missing.sectors();
            missing.cut_all(&fetch.valid);
            if missing.sectors() < before {
                self.hit_sectors += before - missing.sectors();
                fetch.waiting.push(slot);
                waits += 1;
            }
        }
        waits
    }

    fn fetch(&mut self, request: u32, valid: Spans, ahead: bool) {
        self.fetches.push(Fetch { request, valid, ahead, waiting: Vec::new() });
    }
}

impl<S: Scheme> Drive<S> {
    /// Whether reads look into memory first.
    #[inline]
    pub(super) const fn reads_memory(&self) -> bool {
        self.buffer.is_some() || self.cache.is_some()
    }

    /// Serves a read of the host.
    pub(super) fn read_through(&mut self, slot: u32) {
        let span = self.front.requests[slot].span();
        let mut missing = match &mut self.buffer {
            Some(buffer) => buffer.read(&span),
            None => Spans::from(span.clone()),
        };
        #[cfg(test)]
        let unbuffered = missing.clone();
        if let Some(cache) = &mut self.cache {
            cache.hit(&mut missing);
            self.front.requests[slot].waits_for = cache.wait_for_ahead(slot, &mut missing);
        }
        #[cfg(test)]
        self.shadow.host.check_read(&unbuffered, &missing);
        if !missing.is_empty() {
            self.fetch(slot, Work::HostRead, &missing);
        } else if self.front.requests[slot].waits_for == 0 {
            self.copy_out(slot);
        }
        self.read_ahead(&span);
        self.kick_touched();
    }

    /// Lets reads go through the cache, or forgets what is in it and on its way.
    pub(super) fn switch_read_cache(&mut self, on: bool) {
        if let Some(cache) = &mut self.cache {
            cache.on = on;
            cache.store.clear();
            cache.fetches.iter_mut().for_each(|fetch| fetch.valid = Spans::default());
        }
    }

    /// Reads `missing` from flash, on its way into the cache if there is one.
    fn fetch(&mut self, slot: u32, work: Work, missing: &Spans) {
        if let Some(cache) = &mut self.cache
            && cache.on
        {
            #[cfg(test)]
            self.shadow.host.fetch(slot, missing);
            cache.fetch(slot, missing.clone(), work == Work::AheadRead);
        }
        self.start_spans(slot, work, missing);
    }

    /// Reads ahead of a read, if it is one of several in a row.
    fn read_ahead(&mut self, span: &Range<u64>) {
        let Some(cache) = self.cache.as_mut().filter(|cache| cache.on) else { return };
        let Some(ahead) = cache.ahead.follow(span) else { return };
        let mut missing = match &self.buffer {
            Some(buffer) => buffer.missing(&ahead),
            None => Spans::from(ahead),
        };
        cache.store.cut_held(&mut missing);
        cache.fetches.iter().for_each(|fetch| missing.cut_all(&fetch.valid));
        cache.ahead_sectors += missing.sectors();
        // Page by page, so that a read waits for no more than it needs.
        let page_sectors = u64::from(self.ftl.geometry().sectors_per_page);
        for page in missing.in_steps(page_sectors) {
            let slot = self.own_request(Role::Ahead, Op::Read, page.hull());
            self.fetch(slot, Work::AheadRead, &page);
        }
    }

    /// Copies a read's data out of memory.
    fn copy_out(&mut self, slot: u32) {
        // Where both have a part in it, the cache's memory is the one that counts.
        let memory = match (&mut self.cache, &mut self.buffer) {
            (Some(cache), _) => &mut cache.memory,
            (None, Some(buffer)) => &mut buffer.memory,
            (None, None) => return,
        };
        let done_ns = memory.copy(self.now_ns, self.front.requests[slot].sectors);
        self.copied_at(slot, done_ns);
    }

    /// The host's read has come from flash: its data enter the cache.
    pub(super) fn host_fetched(&mut self, slot: u32) {
        self.take_fetched(slot);
    }

    /// What was read ahead is there: those who waited for it go on.
    pub(super) fn ahead_fetched(&mut self, slot: u32) {
        self.front.requests.remove(slot);
        for waiting in self.take_fetched(slot) {
            let request = &mut self.front.requests[waiting];
            request.waits_for -= 1;
            if request.waits_for == 0 {
                self.take_fetched(waiting);
                self.copy_out(waiting);
            }
        }
    }

    /// Puts what a request has read into the cache; returns who waited for it.
    fn take_fetched(&mut self, slot: u32) -> Vec<u32> {
        let Some(cache) = &mut self.cache else { return Vec::new() };
        let Some(at) = cache.fetches.iter().position(|fetch| fetch.request == slot) else {
            return Vec::new();
        };
        let fetch = cache.fetches.swap_remove(at);
        #[cfg(test)]
        self.shadow.host.fetched(slot, &fetch.valid);
        cache.store.fill(&fetch.valid);
        fetch.waiting
    }

    /// A write of the host has ended in flash: what the cache had is old, and so is what was
    /// read from flash meanwhile.
    pub(super) fn write_ended(&mut self, slot: u32) {
        if self.reads_memory() {
            let span = self.front.requests[slot].span();
            #[cfg(test)]
            self.shadow.host.write_through(span.clone());
            self.forget_cached(&span);
        }
    }

    /// Keeps the cache from giving out what `span` replaces.
    pub(super) fn forget_cached(&mut self, span: &Range<u64>) {
        if let Some(cache) = &mut self.cache {
            cache.store.forget(span);
            cache.fetches.iter_mut().for_each(|fetch| fetch.valid.cut(span));
        }
    }
}
