//! The write buffer in time. A write is acknowledged when its data are in the buffer; with
//! no room they enter piece by piece as room is made, in the order of arrival. What goes
//! to flash does so through the same pages as the host's writes, as requests of our own.
//!
//! * A flush waits until everything taken in before it is in flash, and a forced write
//!   until its own data are; a protected buffer is as durable as flash, so neither waits.
//! * A discard forgets what waits, and waits for what is on its way.
//! * What is read is in the buffer until it is in flash.
//!
//! Of a wait for room, or of a flush, as much as the run that ended it had itself waited
//! for collection (or a merge) counts as that, and the rest as `buffer`.

use super::host::{HostRequest, Role};
use super::idle::Idle;
use super::memory::Memory;
use super::under_way::MostUnderWay;
use super::{Drive, Scheme};
use crate::cache::{Run, Spans, WriteBuffer};
use crate::clock::Linked;
use crate::config::{Drain, WriteBufferConfig};
use crate::events::Event;
use crate::flash::command::Work;
use crate::ftl::Translation;
use crate::layout::Layout;
use ssdscope_io::{Cause, Counters, Device, DeviceError, Op};
use std::collections::VecDeque;
use std::ops::Range;

/// A request of the host that waits for room, or behind one that does.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    request: u32,
    /// The first sector of a write that found no room yet.
    next: u64,
}

/// Somebody who waits for data to be in flash.
#[derive(Clone, Debug)]
struct Sync {
    request: u32,
    /// The number of the last write that matters.
    last: u64,
    /// Where, if not everywhere.
    span: Option<Range<u64>>,
}

/// The write buffer of a drive, and who waits for it.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    store: WriteBuffer,
    protected: bool,
    most_under_way: MostUnderWay,
    pub memory: Memory,
    /// Whether the host is quiet, and it is emptied then.
    idle: Idle,
    waiting: VecDeque<Waiting>,
    /// Sectors of writes that found no room yet.
    waiting_sectors: u64,
    syncs: Vec<Sync>,
    /// Whether it takes writes.
    on: bool,
    /// Runs on their way to flash.
    runs: u32,
    /// Sectors that reads took from it.
    read_sectors: u64,
    /// Nothing more can be sent: the drive can only be read.
    given_up: bool,
}

impl Buffer {
    /// The buffer that a drive file describes, before flash of such mapping units, best written
    /// so many in a row; none if it has no bytes.
    pub fn new(config: &WriteBufferConfig, layout: &Layout, run_pages: u32) -> Option<Box<Self>> {
        let page_sectors = layout.units().sectors_per_page;
        (config.bytes > 0).then(|| {
            Box::new(Self {
                store: WriteBuffer::new(config, page_sectors.into(), run_pages.into()),
                protected: config.power_loss_protected,
                most_under_way: MostUnderWay::new(config.concurrent_drains, layout.array()),
                memory: Memory::new(config.ns_per_byte),
                idle: Idle::new(config.drain == Drain::Idle, config.idle_ns, Event::BufferIdle),
                waiting: VecDeque::new(),
                waiting_sectors: 0,
                syncs: Vec::new(),
                on: true,
                runs: 0,
                read_sectors: 0,
                given_up: false,
            })
        })
    }

    /// What of `span` must come from flash.
    pub fn missing(&self, span: &Range<u64>) -> Spans {
        self.store.missing(span)
    }

    /// As [`Buffer::missing`], for a read of the host.
    pub fn read(&mut self, span: &Range<u64>) -> Spans {
        let missing = self.store.missing(span);
        self.read_sectors += span.end - span.start - missing.sectors();
        missing
    }

    /// How many requests wait for room.
    pub fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Adds what it counted to a drive's counters.
    pub const fn count(&self, counters: &mut Counters) {
        counters.buffer_coalesced_bytes = self.store.coalesced_sectors() * 512;
        counters.buffer_read_bytes = self.read_sectors * 512;
        counters.simulated.units_buffered = self.store.units_taken();
    }

    /// At rest after a flush: whether it is empty, as it must be unless it is protected.
    #[cfg(test)]
    pub fn is_empty_after_flush(&self) -> bool {
        assert!(self.waiting.is_empty() && self.syncs.is_empty());
        if self.given_up {
            return false;
        }
        assert!(self.runs == 0);
        assert!(self.protected || self.store.is_empty());
        self.store.is_empty()
    }

    /// The next run to send, if one should be.
    fn next_run(&mut self) -> Option<Run> {
        let is_enough = self.most_under_way.is_met(self.runs, self.store.moving_sectors());
        if is_enough || self.given_up {
            return None;
        }
        let store = &mut self.store;
        let unstored = |sync: &Sync| store.send_unstored(sync.last, sync.span.as_ref());
        self.syncs.iter().find_map(unstored).or_else(|| {
            let needs_room = !self.store.will_fit(self.waiting_sectors);
            (needs_room || !self.on || self.store.wants_to_drain(self.idle.has_begun()))
                .then(|| self.store.send_next())
                .flatten()
        })
    }
}

impl<S: Scheme> Drive<S> {
    /// Whether writes go through a buffer.
    #[inline]
    pub(super) fn is_buffered(&self) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| buffer.on)
    }

    /// Lets writes go through the buffer, or empties it and lets them go past it. Nothing is
    /// in flight.
    pub(super) fn switch_buffer(&mut self, on: bool) -> Result<(), DeviceError> {
        let Some(buffer) = &mut self.buffer else { return Ok(()) };
        buffer.on = on;
        self.send_runs();
        while let Some(buffer) = &mut self.buffer
            && !on
            && !buffer.store.is_empty()
        {
            if buffer.given_up {
                buffer.on = true;
                return Err(DeviceError::ReadOnly);
            }
            let next = self.next_event().ok_or_else(|| self.why_stuck())?;
            self.advance(next, &mut Vec::new())?;
        }
        Ok(())
    }

    /// A write, a discard or a flush reaches the buffer.
    pub(super) fn enter_buffer(&mut self, slot: u32) {
        let Some(buffer) = &mut self.buffer else { return };
        let request = &self.front.requests[slot];
        if request.op == Op::Flush && buffer.protected {
            return self.answer(slot, 0);
        }
        if request.op == Op::Write {
            buffer.waiting_sectors += u64::from(request.sectors);
        }
        buffer.waiting.push_back(Waiting { request: slot, next: request.lba.0 });
        if buffer.waiting.len() == 1 {
            self.go_on_buffering(0);
        } else {
            self.send_runs();
        }
    }

    /// Lets those who wait go on, in order, as far as they can; `upkeep_ns` is what the
    /// drive's upkeep had delayed what they waited for.
    fn go_on_buffering(&mut self, upkeep_ns: u64) {
        while let Some(buffer) = &mut self.buffer
            && let Some(&Waiting { request: slot, next }) = buffer.waiting.front()
        {
            let span = self.front.requests[slot].span();
            match self.front.requests[slot].op {
                Op::Write => {
                    let taken_to = buffer.store.put(next..span.end);
                    buffer.waiting_sectors -= taken_to - next;
                    #[cfg(test)]
                    self.shadow.host.put(next..taken_to);
                    if taken_to > next {
                        buffer.waiting[0].next = taken_to;
                        self.forget_cached(&(next..taken_to));
                        self.end_wait(slot, upkeep_ns);
                    }
                    if taken_to < span.end {
                        break;
                    }
                }
                Op::Discard if buffer.store.is_moving(&span) => break,
                _ => self.end_wait(slot, upkeep_ns),
            }
            self.leave_queue(slot);
        }
        self.send_runs();
    }

    /// The request at the head of the queue has what it waited for.
    fn leave_queue(&mut self, slot: u32) {
        let Some(buffer) = &mut self.buffer else { return };
        buffer.waiting.pop_front();
        let span = self.front.requests[slot].span();
        match self.front.requests[slot].op {
            Op::Discard | Op::WriteZeroes => {
                let page = u64::from(self.ftl.geometry().sectors_per_page);
                let whole = span.start.next_multiple_of(page)..span.end / page * page;
                if !whole.is_empty() {
                    buffer.store.forget(&whole);
                }
                self.discard_pages(slot);
                // It may be what a flush was waiting for.
                self.answer_stored(0);
                self.answer(slot, 0);
            }
            Op::Flush => self.wait_for_flash(slot, None),
            Op::Write | Op::Read => self.copy_in(slot),
        }
    }

    /// Copies a write's data into the buffer.
    fn copy_in(&mut self, slot: u32) {
        let Some(buffer) = &mut self.buffer else { return };
        let done_ns = buffer.memory.copy(self.now_ns, self.front.requests[slot].sectors);
        self.copied_at(slot, done_ns);
    }

    /// A request's data will have been copied at an instant.
    pub(super) fn copied_at(&mut self, slot: u32, done_ns: u64) {
        if done_ns == self.now_ns {
            self.copied(slot);
        } else {
            self.events.schedule(done_ns, Event::Copied(slot));
        }
    }

    /// A request's data are copied: it is done, unless it was forced.
    pub(super) fn copied(&mut self, slot: u32) {
        let protected = self.buffer.as_ref().is_none_or(|buffer| buffer.protected);
        let must_be_stored = self.front.requests[slot].fua && !protected;
        self.end_wait(slot, 0);
        let request = &self.front.requests[slot];
        match request.op {
            Op::Read => self.answer(slot, u64::from(request.sectors) * 512),
            _ if must_be_stored => {
                let span = request.span();
                self.wait_for_flash(slot, Some(span));
                self.send_runs();
            }
            _ => self.answer(slot, 0),
        }
    }

    /// Lets a request wait until what was taken in so far, in `span` or anywhere, is in
    /// flash. The caller sends what must be sent for that.
    fn wait_for_flash(&mut self, slot: u32, span: Option<Range<u64>>) {
        let Some(buffer) = &mut self.buffer else { return };
        let last = buffer.store.last_write();
        #[cfg(test)]
        self.shadow.host.promise(slot, span.as_ref());
        buffer.syncs.push(Sync { request: slot, last, span });
        let given_up = buffer.given_up;
        self.answer_stored(0);
        if given_up {
            self.give_up_buffering();
        }
    }

    /// Answers those for whom enough is in flash.
    fn answer_stored(&mut self, upkeep_ns: u64) {
        let Some(buffer) = &mut self.buffer else { return };
        if buffer.syncs.is_empty() {
            return;
        }
        let mut done = Vec::new();
        buffer.syncs.retain(|sync| {
            let stored = buffer.store.is_stored(sync.last, sync.span.as_ref());
            if stored {
                done.push(sync.request);
            }
            !stored
        });
        for slot in done {
            #[cfg(test)]
            self.shadow.host.keep_promise(slot);
            self.end_wait(slot, upkeep_ns);
            self.answer(slot, 0);
        }
    }

    /// A request of the host has what it waited for since it arrived where it is.
    fn end_wait(&mut self, slot: u32, upkeep_ns: u64) {
        let request = &mut self.front.requests[slot];
        let waited_ns = self.now_ns - request.arrived_ns;
        let upkeep_ns = upkeep_ns.min(waited_ns);
        request.attribution[S::UPKEEP] += upkeep_ns;
        request.attribution[Cause::Buffer] += waited_ns - upkeep_ns;
        request.arrived_ns = self.now_ns;
    }

    /// Sends to flash what should go there now.
    fn send_runs(&mut self) {
        while let Some(buffer) = &mut self.buffer
            && let Some(run) = buffer.next_run()
        {
            buffer.runs += 1;
            run.pieces.into_iter().for_each(|parts| self.send_piece(&parts));
        }
        self.kick_touched();
    }

    fn send_piece(&mut self, parts: &Spans) {
        let span = parts.hull();
        let slot = self.own_request(Role::Store, Op::Write, span);
        #[cfg(test)]
        parts.iter().for_each(|part| self.shadow.host.send(slot, part));
        self.start_spans(slot, Work::HostProgram, parts);
    }

    /// A piece is in flash: its room is free.
    pub(super) fn piece_stored(&mut self, slot: u32) {
        let Some(buffer) = &mut self.buffer else { return };
        let HostRequest { lba, attribution, .. } = self.front.requests[slot];
        self.front.requests.remove(slot);
        #[cfg(test)]
        self.shadow.host.stored(slot);
        if buffer.store.stored(lba.0) {
            buffer.runs -= 1;
        }
        let upkeep_ns = attribution[S::UPKEEP];
        self.answer_stored(upkeep_ns);
        self.go_on_buffering(upkeep_ns);
    }

    /// Whether there are data in it that will never be in flash. Only of a drive that can
    /// only be read.
    pub(super) fn holds_what_has_no_place(&self) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| !buffer.protected && !buffer.store.is_empty())
    }

    /// The drive can only be read from now on: those who wait for room or for flash fail.
    pub(super) fn give_up_buffering(&mut self) {
        let Some(buffer) = &mut self.buffer else { return };
        buffer.given_up = true;
        buffer.waiting_sectors = 0;
        let waiting = std::mem::take(&mut buffer.waiting);
        let syncs = std::mem::take(&mut buffer.syncs);
        let waiting = waiting.into_iter().map(|waiting| waiting.request);
        for slot in waiting.chain(syncs.into_iter().map(|sync| sync.request)) {
            #[cfg(test)]
            self.shadow.host.break_promise(slot);
            self.end_wait(slot, u64::MAX);
            self.fail(slot);
        }
    }

    /// The host asks for something: the buffer is not idle.
    pub(super) fn wake_buffer(&mut self) {
        if let Some(buffer) = &mut self.buffer {
            buffer.idle.wake();
        }
    }

    /// The last request in the drive has been answered.
    pub(super) fn buffer_falls_quiet(&mut self) {
        if let Some(buffer) = &mut self.buffer {
            buffer.idle.fall_quiet(self.now_ns, &mut self.events);
        }
    }

    /// The host may have been quiet for `write_buffer.idle_ns`.
    pub(super) fn buffer_idle(&mut self) {
        if let Some(buffer) = &mut self.buffer
            && buffer.idle.begins(self.now_ns, &mut self.events)
        {
            self.send_runs();
        }
    }
}
