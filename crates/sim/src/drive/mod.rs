//! A drive put together: link, firmware, translation layer, flash.
//!
//! What every drive has, whichever way it maps:
//!
//! * here: the drive as a [`Device`], and its clock;
//! * `host`: commands in, answers out, through the [`front`](crate::front);
//! * `buffer`: writes that wait in memory between the two; `under_way`: how many leave it at once;
//!   `reading`: reads that find their data there; `memory`: how long a copy takes;
//! * `pages`: a request's pages become flash commands, and their ends its end;
//! * `members`: a command on a mapping unit becomes those of its pages;
//! * `counting`: what is counted; a state prepared in time is not;
//! * `lookup`: what waits for a part of the mapping table that is not in RAM;
//! * [`scheme`]: what it asks of the way it maps.
//!
//! The ways it can map:
//!
//! * [`paged`]: page mapping; `collect`: its garbage collection in time, in the
//!   foreground and when idle (`idle`);
//! * [`merging`]: log blocks, and their merges in time; `foreseen`: those that nothing disturbs.

mod buffer;
mod collect;
mod counting;
mod end_of_life;
#[cfg(test)]
mod endurance_run;
mod foreseen;
mod host;
mod idle;
mod lookup;
mod members;
mod memory;
pub mod merging;
pub mod paged;
mod pages;
mod reading;
pub mod scheme;
#[cfg(test)]
mod shadow;
#[cfg(test)]
mod shadow_host;
#[cfg(test)]
mod swarm;
#[cfg(test)]
mod swarm_log;
#[cfg(test)]
mod swarm_units;
mod under_way;

use crate::clock::{self, Linked};
use crate::config::{CacheConfig, Host, Interface};
use crate::events::{Event, EventQueue};
use crate::flash::Flash;
use crate::flash::command::NONE;
use crate::front::Front;
use crate::ftl::Translation;
use crate::link::{Delivery, Link};
use crate::mapping::Table;
use buffer::Buffer;
use counting::Tally;
use host::HostRequest;
pub use merging::LogBlockDrive;
pub use paged::PageDrive;
use reading::Cached;
use scheme::Scheme;
use ssdscope_io::{
    Cache, CacheInfo, Caches, ClockKind, Completion, Counters, Device, DeviceError, DeviceInfo,
    DeviceKind, Nanos, Queues, Request, Sectors, Snapshot, Upkeep, device::check_request,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A simulated drive that maps by `S`.
#[derive(Clone, Debug)]
pub struct Drive<S: Scheme> {
    /// What every fork of one opening has in common.
    family: Arc<()>,
    /// What had been counted when it was opened.
    before: Arc<Counters>,
    info: DeviceInfo,
    /// What is added to the host's addresses: units do not begin with the drive.
    phase: Sectors,
    now_ns: u64,
    /// What the array does up to here, and here, has been done.
    settled_ns: u64,
    events: EventQueue,
    front: Front<HostRequest>,
    ftl: S::Ftl,
    /// What its upkeep has under way.
    work: S,
    buffer: Option<Box<Buffer>>,
    cache: Option<Box<Cached>>,
    flash: Flash,
    /// What of the mapping table is in RAM.
    table: Table,
    queues: Queues,
    /// Flushes that wait for earlier writes.
    flushes: Vec<u32>,
    /// Number of the last write, for flushes to wait for.
    writes_seen: u64,
    /// Writes arrived and not done.
    writes_at_work: u32,
    tally: Tally,
    /// It has reached its end of life.
    read_only: bool,
    touched: Vec<u32>,
    /// The unit of the flash whose program or erase has just ended and is being seen to.
    ending: Option<u32>,
    /// By command that reads what a small write keeps: sectors on each member of the unit.
    kept: BTreeMap<u32, Vec<u32>>,
    #[cfg(test)]
    shadow: shadow::Shadow,
}

impl<S: Scheme> Drive<S> {
    /// Puts a drive together whose state is prepared.
    fn assemble(
        host: &Host,
        table: Table,
        caches: &CacheConfig,
        flash: Flash,
        ftl: S::Ftl,
        work: S,
    ) -> Self {
        let page_sectors = ftl.geometry().sectors_per_page;
        let page_bytes = u64::from(ftl.geometry().page_bytes);
        let queues = host.queues();
        let phase = Sectors(ftl.layout().phase_sectors());
        let mapped_bytes = u64::from(ftl.exported_pages()) * page_bytes;
        let CacheConfig { write_buffer, read_cache } = caches;
        Self {
            family: Arc::new(()),
            before: Arc::default(),
            info: DeviceInfo {
                kind: DeviceKind::Simulated,
                capacity_bytes: mapped_bytes - phase.bytes().0,
                logical_block_bytes: u64::from(host.logical_block_bytes),
                clock: ClockKind::Virtual,
                writable: true,
                discard: true,
                attribution: true,
                snapshot: true,
                caches: Caches {
                    write: CacheInfo::of(write_buffer.bytes > 0, write_buffer.switchable),
                    read: CacheInfo::of(read_cache.bytes > 0, read_cache.switchable),
                },
            },
            phase,
            now_ns: 0,
            settled_ns: 0,
            events: EventQueue::default(),
            front: Front::new(host, matches!(host.interface, Interface::Sata { .. })),
            flash,
            table,
            queues: Queues { count: queues.count, priorities: queues.priorities },
            flushes: Vec::new(),
            writes_seen: 0,
            writes_at_work: 0,
            tally: Tally::default(),
            read_only: false,
            touched: Vec::new(),
            ending: None,
            kept: BTreeMap::new(),
            #[cfg(test)]
            shadow: shadow::Shadow::of(&ftl),
            buffer: Buffer::new(write_buffer, ftl.layout(), ftl.run_pages()),
            cache: Cached::new(read_cache, page_sectors, mapped_bytes / 512),
            ftl,
            work,
        }
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        let now_ns = self.now_ns;
        match event {
            Event::ReadDone(unit) => self.flash.read_done(unit, now_ns, &mut self.events),
            Event::WriteDone(unit) => {
                let mut slot = self.flash.write_done(unit, now_ns, &mut self.events);
                self.ending = Some(unit);
                while slot != NONE {
                    let next = self.flash.commands[slot].next;
                    self.end_command(slot);
                    slot = next;
                }
                self.ending = None;
                self.flash.go_on(unit, now_ns, &mut self.events);
            }
            Event::DataOut(unit) => {
                let slot = self.flash.data_out(unit, now_ns, &mut self.events);
                self.end_command(slot);
                self.flash.kick(self.flash.channel_of(unit), now_ns, &mut self.events);
            }
            Event::ChannelFree(channel) => {
                self.flash.channel_free(channel, now_ns, &mut self.events);
            }
            Event::Foreseen => S::foreseen(self),
            Event::Idle => S::idle_timer(self),
            Event::MapLoaded => self.map_loaded(),
            Event::BufferIdle => self.buffer_idle(),
            Event::Copied(slot) => self.copied(slot),
        }
    }
}

impl<S: Scheme> Linked for Drive<S> {
    fn link(&mut self) -> &mut Link {
        &mut self.front.link
    }

    fn now_ns(&mut self) -> &mut u64 {
        &mut self.now_ns
    }

    fn unanswered(&self) -> usize {
        self.front.gate.unanswered()
    }

    #[inline]
    fn next_time_ns(&self) -> u64 {
        self.events.next_time_ns().min(self.front.processor.next_ns)
    }

    #[inline]
    fn happen(&mut self, time_ns: u64) {
        (self.now_ns, self.settled_ns) = (time_ns, time_ns);
        while let Some(event) = self.events.pop_at(time_ns) {
            self.handle(event);
        }
        while let Some(slot) = self.front.processor.leave_at(time_ns) {
            self.arrive(slot);
        }
    }

    fn settle(&mut self, until_ns: u64) {
        self.settled_ns = until_ns;
    }

    fn delivered(&mut self, delivery: Delivery, completions: &mut Vec<Completion>) {
        match delivery {
            Delivery::InDrive(slot) => self.enter(slot),
            Delivery::AtHost(slot) => completions.push(self.deliver(slot)),
        }
    }

    fn why_stuck(&self) -> DeviceError {
        let reason = S::why_stuck(self).unwrap_or_else(|| {
            format!(
                "{} requests wait for nothing: a fault of the simulator",
                self.front.gate.inside()
            )
        });
        DeviceError::Stuck(reason)
    }
}

impl<S: Scheme> Device for Drive<S> {
    fn info(&self) -> DeviceInfo {
        self.info.clone()
    }

    fn queues(&self) -> Queues {
        self.queues
    }

    fn now(&self) -> Nanos {
        Nanos(self.now_ns)
    }

    fn submit(&mut self, now: Nanos, request: Request) -> Result<(), DeviceError> {
        check_request(&self.info, &request)?;
        debug_assert!(now.0 >= self.now_ns, "a request from the past");
        self.take_in(now.0.max(self.now_ns), request);
        Ok(())
    }

    fn next_event(&self) -> Option<Nanos> {
        let time_ns = self.next_time_ns().min(self.front.link.next_time_ns());
        (time_ns != u64::MAX).then_some(Nanos(time_ns))
    }

    fn advance(&mut self, to: Nanos, completions: &mut Vec<Completion>) -> Result<(), DeviceError> {
        clock::advance(self, to, completions)
    }

    fn in_flight(&self) -> usize {
        self.unanswered()
    }

    fn set_cache(&mut self, cache: Cache, on: bool) -> Result<(), DeviceError> {
        if self.in_flight() > 0 {
            return Err(DeviceError::Busy(self.in_flight()));
        }
        if self.info.caches.would_change(cache, on)? {
            S::interfere(self);
            match cache {
                Cache::Write => self.switch_buffer(on)?,
                Cache::Read => self.switch_read_cache(on),
            }
            self.info.caches.note(cache, on);
        }
        Ok(())
    }

    fn counters(&mut self) -> Option<Counters> {
        // What was looked ahead at has happened in part by now.
        S::interfere(self);
        Some(self.counted().since(&self.before))
    }

    fn upkeep(&self) -> Option<Upkeep> {
        Some(self.at_work())
    }

    fn snapshot(&self) -> Option<Snapshot> {
        Some(Snapshot(Arc::new(self.clone())))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), DeviceError> {
        match snapshot.0.downcast_ref::<Self>() {
            Some(saved) if Arc::ptr_eq(&saved.family, &self.family) => {
                self.clone_from(saved);
                Ok(())
            }
            _ => Err(DeviceError::Unsupported("restoring a snapshot of another drive")),
        }
    }

    fn fork(&self) -> Option<Box<dyn Device>> {
        Some(Box::new(self.clone()))
    }
}
