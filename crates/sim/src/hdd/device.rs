//! A hard disk as a host sees it.

use super::ahead::Ahead;
use super::dirty::Dirty;
use super::geometry::Geometry;
use super::medium::{Arm, Medium};
use super::seek::SeekError;
use super::segments::Segments;
use super::serve::Command;
use crate::clock::{self, Linked};
use crate::config::{DiskConfig, QueueOrder, State};
use crate::error::SimError;
use crate::front::Front;
use crate::link::{Delivery, Link};
use crate::prepare::{RunIn, run_in};
use ssdscope_io::device::check_request;
use ssdscope_io::rng::Stream;
use ssdscope_io::{
    Cache, CacheInfo, Caches, ClockKind, Completion, Device, DeviceError, DeviceInfo, DeviceKind,
    Nanos, Request, Snapshot,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// What the arm is doing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// For which command; `None` is emptying the write-back cache.
    pub command: Option<u32>,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// How large the caches are when they are on.
#[derive(Clone, Copy, Debug)]
struct CacheShape {
    read_segments: u32,
    segment_sectors: u64,
    write_sectors: u64,
}

/// A simulated hard disk.
#[derive(Clone, Debug)]
pub struct HardDisk {
    info: DeviceInfo,
    pub(super) medium: Medium,
    pub(super) arm: Arm,
    /// A flush is alone in the drive, whatever the interface.
    pub(super) front: Front<Command>,
    pub(super) queue_order: QueueOrder,
    pub(super) read_ahead_sectors: u64,
    /// For the arm, by arrival.
    pub(super) waiting: Vec<u32>,
    /// Writes that wait for room in the write-back cache.
    pub(super) no_room: VecDeque<u32>,
    /// The flush that waits for the write-back cache to be empty.
    pub(super) flush: Option<u32>,
    pub(super) work: Option<Work>,
    pub(super) ahead: Option<Ahead>,
    pub(super) segments: Segments,
    pub(super) dirty: Dirty,
    /// Time that the arm has spent on emptying the write-back cache.
    pub(super) stored_ns: u64,
    /// Whether that is what it did last.
    pub(super) stored_last: bool,
    /// How often it did something else while that was wanted.
    pub(super) store_passed: u32,
    pub(super) now_ns: u64,
    /// Sizes of the caches, for when they are switched on again.
    shape: CacheShape,
    /// Shared by all forks, to know their snapshots.
    family: Arc<()>,
}

impl HardDisk {
    /// The disk that `config` describes, its arm on the outermost cylinder. The seed says
    /// how the spindle stands.
    ///
    /// # Errors
    /// If its seek times do not belong to one curve.
    pub fn new(config: &DiskConfig, seed: u64) -> Result<Self, SeekError> {
        let (disk, host) = (&config.disk, &config.host);
        let medium = Medium {
            geometry: Geometry::new(disk),
            seek: disk.seek_curve()?,
            head_switch_ns: disk.head_switch_ns,
            write_settle_ns: disk.write_settle_ns,
            phase_ns: Stream::new(seed, "spindle").below(disk.rotation_ns()),
        };
        let info = DeviceInfo {
            kind: DeviceKind::Simulated,
            capacity_bytes: config.capacity_bytes(),
            logical_block_bytes: host.logical_block_bytes.into(),
            clock: ClockKind::Virtual,
            writable: true,
            discard: false,
            attribution: true,
            snapshot: true,
            caches: Caches {
                write: CacheInfo::of(disk.write_cache_bytes > 0, true),
                read: CacheInfo::of(disk.read_cache_bytes > 0, true),
            },
        };
        let shape = CacheShape {
            read_segments: disk.read_cache_segments,
            segment_sectors: disk.segment_bytes() / 512,
            write_sectors: disk.write_cache_bytes / 512,
        };
        Ok(Self {
            info,
            medium,
            arm: Arm::default(),
            front: Front::new(host, true),
            queue_order: disk.queue_order,
            read_ahead_sectors: disk.read_ahead_bytes / 512,
            waiting: Vec::new(),
            no_room: VecDeque::new(),
            flush: None,
            work: None,
            ahead: None,
            segments: Segments::new(shape.read_segments, shape.segment_sectors),
            dirty: Dirty::new(shape.write_sectors),
            shape,
            stored_ns: 0,
            stored_last: false,
            store_passed: 0,
            now_ns: 0,
            family: Arc::new(()),
        })
    }

    /// A disk in a state: writing in place leaves no trace but in its write-back cache, so every
    /// state is the same, but for what that holds of a steady one.
    ///
    /// # Errors
    /// If its seek times do not belong to one curve, or it gets stuck.
    pub fn open(config: &DiskConfig, state: State, seed: u64) -> Result<Self, SimError> {
        let mut disk =
            Self::new(config, seed).map_err(|error| SimError::State(error.to_string()))?;
        if let State::Steady { window_bytes } = state {
            let bytes = 4 * config.disk.write_cache_bytes;
            run_in(&mut disk, window_bytes, seed, RunIn { bytes, upkeep_runs: 0 })?;
        }
        Ok(disk)
    }
}

impl HardDisk {
    /// Lets writes into the cache, or lets the arm empty it and writes go past it.
    fn switch_write_cache(&mut self, on: bool) -> Result<(), DeviceError> {
        while !on && !self.dirty.is_clean() {
            let next = self.next_event().ok_or_else(|| self.why_stuck())?;
            self.advance(next, &mut Vec::new())?;
        }
        self.dirty = Dirty::new(if on { self.shape.write_sectors } else { 0 });
        Ok(())
    }
}

impl Linked for HardDisk {
    fn link(&mut self) -> &mut Link {
        &mut self.front.link
    }

    fn now_ns(&mut self) -> &mut u64 {
        &mut self.now_ns
    }

    fn unanswered(&self) -> usize {
        self.front.gate.unanswered()
    }

    fn next_time_ns(&self) -> u64 {
        let work = self.work.map_or(u64::MAX, |work| work.end_ns);
        let ahead = self.ahead.map_or(u64::MAX, |ahead| ahead.done_ns);
        self.front.processor.next_ns.min(work).min(ahead)
    }

    fn happen(&mut self, time_ns: u64) {
        self.now_ns = time_ns;
        if let Some(work) = self.work.filter(|work| work.end_ns == time_ns) {
            self.end_work(work);
        }
        while let Some(slot) = self.front.processor.leave_at(time_ns) {
            self.arrive(slot);
        }
        self.catch_up();
        self.kick();
    }

    fn delivered(&mut self, delivery: Delivery, completions: &mut Vec<Completion>) {
        match delivery {
            Delivery::InDrive(slot) => self.enter(slot),
            Delivery::AtHost(slot) => completions.push(self.leave(slot)),
        }
    }

    fn why_stuck(&self) -> DeviceError {
        let waiting = self.unanswered();
        DeviceError::Stuck(format!("{waiting} requests wait for nothing: a fault of the simulator"))
    }
}

impl Device for HardDisk {
    fn info(&self) -> DeviceInfo {
        self.info.clone()
    }

    fn now(&self) -> Nanos {
        Nanos(self.now_ns)
    }

    fn submit(&mut self, now: Nanos, request: Request) -> Result<(), DeviceError> {
        check_request(&self.info, &request)?;
        debug_assert!(now.0 >= self.now_ns, "a request from the past");
        self.take_in(now.0.max(self.now_ns), &request);
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
        if !self.info.caches.would_change(cache, on)? {
            return Ok(());
        }
        match cache {
            Cache::Write => self.switch_write_cache(on)?,
            Cache::Read => {
                let sectors = if on { self.shape.segment_sectors } else { 0 };
                self.segments = Segments::new(self.shape.read_segments, sectors);
                self.ahead = None;
            }
        }
        self.info.caches.note(cache, on);
        Ok(())
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
