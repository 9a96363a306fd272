//! [`HostFile`]: a drive or a file as a [`Device`] on the wall clock.

use crate::attributes::Places;
use crate::attributes::caches::CacheSwitches;
use crate::buffer::{AlignedBuffer, BufferPool};
use crate::contents::Contents;
use crate::engine::{self, Engine, EngineChoice, EngineKind, Finished, Transfer};
use crate::error::HostError;
use crate::guard::{Guard, GuardPlan};
use crate::nbd::store::Region;
use crate::neighbours::Neighbours;
use crate::open::Opened;
use crate::safety::presence::Presence;
use crate::safety::recheck::{Ask, Moment};
use crate::sysfs::SysBlock;
use crate::vetted::Vetted;
use crate::{payload, sys};
use serde::Serialize;
use ssdscope_io::device::check_request;
use ssdscope_io::{
    Attribution, Cache, Caches, ClockKind, Completion, Device, DeviceError, DeviceInfo, DeviceKind,
    Moved, Nanos, Op, Outcome, Request,
};
use std::collections::VecDeque;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The largest request.
pub const REQUEST_BYTES_MAX: u64 = 16 << 20;
/// Memory of all requests that the kernel has at once; more wait here.
const FLIGHT_BYTES_MAX: usize = 512 << 20;

/// How requests reach the drive: what a report must say beside its numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Access {
    /// The engine in use.
    pub engine: EngineKind,
    /// Why it is not `io_uring`, where it is not.
    pub engine_note: Option<String>,
    /// Whether requests go around the page cache.
    pub direct_io: bool,
    /// Why they do not, where they do not.
    pub direct_io_note: Option<String>,
    /// Whether the file lives in memory only, so that no drive is measured.
    pub memory_backed: bool,
    /// The file system, if it writes everything to a new place, so that offsets of the file
    /// say nothing about places on the drive.
    pub copy_on_write: Option<&'static str>,
    /// First byte and size of the part of a block device that is seen, if it is opened for
    /// writing and not whole: offsets count from there.
    pub window: Option<(u64, u64)>,
    /// Whether each write writes back what is there.
    pub preserves_content: bool,
    /// Bytes of the file that no drive stored when it was opened: reading them measures
    /// nothing.
    pub holes_bytes: u64,
    /// Whether blocks are read before they are first written, so that nothing of others is lost.
    pub reads_before_writes: bool,
    /// What use of it by others could not be excluded, if it may be written.
    pub use_note: Option<String>,
}

/// What may be written.
pub(crate) struct Writing {
    /// All that is seen of the target, reads included: nothing outside can be touched.
    pub(crate) window: Range<u64>,
    /// How many bytes in all.
    pub(crate) limit_bytes: Option<u64>,
    /// Whether each write writes back what is there.
    pub(crate) preserves: bool,
    /// What is known of the window where each block is read before it is first written, as data of
    /// others end it.
    pub(crate) vetted: Option<Vetted>,
    /// What is asked again while it is written.
    pub(crate) recheck: Ask,
    /// Devices that share its blocks, and are ours alone meanwhile.
    pub(crate) claims: Vec<File>,
    /// What use of it by others could not be excluded.
    pub(crate) use_note: Option<String>,
}

impl Writing {
    fn guard_plan(&self, path: &Path) -> GuardPlan {
        let (ask, path) = (Arc::clone(&self.recheck), path.to_owned());
        GuardPlan { ask, path, vetted: self.vetted.clone() }
    }
}

/// A request that the kernel has.
struct InFlight {
    id: u64,
    op: Op,
    offset_bytes: u64,
    /// Of data, whose way to the drive the kernel counts.
    bytes: u64,
    /// When it was handed over, if it had to wait here for room.
    handed_over: Option<Nanos>,
    /// Which write it is, if what is written is remembered.
    serial: Option<u64>,
    /// What comes after the reading of what is to be written back: the write, with this `fua`.
    writes_back: Option<bool>,
}

/// A block device or a regular file, or the window of it that may be written.
///
/// The submission time of a request is read from `CLOCK_MONOTONIC` right before the
/// system call, so the `now` of [`Device::submit`] is not used. Requests beyond the
/// engine's depth wait here and their wait counts as latency.
pub struct HostFile {
    // The engine goes first, the memory that it uses after it.
    engine: Box<dyn Engine>,
    pool: BufferPool,
    file: Arc<File>,
    info: DeviceInfo,
    access: Access,
    neighbours: Option<Neighbours>,
    presence: Presence,
    /// Of a target that may be written; and what a server makes its own from.
    guard: Option<Guard>,
    guard_plan: Option<GuardPlan>,
    /// Devices that share its blocks, held as long as it is open.
    _claims: Vec<File>,
    /// Where the window begins on the target.
    base_bytes: u64,
    /// How many more bytes may be written; discards do not count.
    writes_left_bytes: Option<u64>,
    switches: Option<CacheSwitches>,
    slots: Vec<Option<InFlight>>,
    free_slots: Vec<usize>,
    waiting: VecDeque<(Request, Nanos)>,
    /// What ended while it was handed over.
    ended: Vec<Completion>,
    flight_bytes: usize,
    payload_salt: u64,
    writes: u64,
    contents: Contents,
    /// Whether each write writes back what is there, which was read right before.
    preserves: bool,
    /// Why the engine stopped working; then nothing works any more.
    broken: Option<DeviceError>,
}

impl HostFile {
    pub(crate) fn new(
        path: &Path,
        opened: Opened,
        writing: Option<Writing>,
        choice: EngineChoice,
    ) -> Result<Self, HostError> {
        let os = |source| HostError::os(path, "describe it", source);
        let holes_bytes = if opened.is_block { 0 } else { opened.holes_bytes().map_err(os)? };
        let whole = 0..opened.capacity_bytes();
        let window = writing.as_ref().map_or_else(|| whole.clone(), |each| each.window.clone());
        let limit = writing.as_ref().and_then(|writing| writing.limit_bytes);
        let preserves = writing.as_ref().is_some_and(|writing| writing.preserves);
        let use_note = writing.as_ref().and_then(|writing| writing.use_note.clone());
        let guard_plan = writing.as_ref().map(|writing| writing.guard_plan(path));
        let device = opened.file.metadata().map_err(os)?.rdev();
        let places = opened.is_block.then(Places::system);
        let switches = places.and_then(|places| CacheSwitches::of(places, device));
        let caches = switches.as_ref().map_or(Caches::UNKNOWN, CacheSwitches::caches);
        let info = DeviceInfo { caches, ..info_of(&opened, &window, writing.as_ref()) };
        let counted = opened.is_block && opened.buffered_because.is_none();
        let presence = Presence::of(&opened.file, opened.is_block, opened.size_bytes);
        let file = Arc::new(opened.file);
        let (engine, engine_note) = engine::open(choice, Arc::clone(&file))?;
        let access = Access {
            engine: engine.kind(),
            engine_note,
            direct_io: opened.buffered_because.is_none(),
            direct_io_note: opened.buffered_because,
            memory_backed: opened.file_system.memory_backed,
            copy_on_write: opened.file_system.copies_on_write,
            window: (window != whole).then_some((window.start, window.end - window.start)),
            preserves_content: preserves,
            holes_bytes,
            reads_before_writes: guard_plan.as_ref().is_some_and(|plan| plan.vetted.is_some()),
            use_note,
        };
        let depth = engine.depth_max();
        let payload_salt = RandomState::new().build_hasher().finish();
        Ok(Self {
            engine,
            pool: BufferPool::default(),
            info,
            access,
            neighbours: counted.then(|| Neighbours::of(device)).flatten(),
            presence,
            guard: guard_plan.as_ref().map(|plan| plan.guard(Arc::clone(&file), Moment::Phase)),
            guard_plan,
            _claims: writing.map(|writing| writing.claims).unwrap_or_default(),
            base_bytes: window.start,
            writes_left_bytes: limit,
            switches,
            slots: (0..depth).map(|_| None).collect(),
            free_slots: (0..depth).rev().collect(),
            waiting: VecDeque::new(),
            ended: Vec::new(),
            flight_bytes: 0,
            payload_salt,
            writes: 0,
            contents: Contents::new(window.start, payload_salt),
            preserves,
            broken: None,
            file,
        })
    }

    /// How requests reach the drive.
    #[must_use]
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// What the data of this opening is keyed by: write number n (from 0) holds
    /// [`payload::fill`] of this and n.
    #[must_use]
    pub fn payload_salt(&self) -> u64 {
        self.payload_salt
    }

    #[cfg(test)]
    pub(crate) fn guard(&mut self) -> &mut Guard {
        self.guard.as_mut().expect("it may be written")
    }

    /// The handle by which what is stored can be checked.
    #[must_use]
    pub fn contents(&self) -> Contents {
        self.contents.clone()
    }

    /// The handle by which a server gets at the target's own data.
    #[must_use]
    pub fn lender(&self) -> Lender {
        Lender {
            file: Arc::downgrade(&self.file),
            info: self.info.clone(),
            base_bytes: self.base_bytes,
            writes_left_bytes: self.writes_left_bytes,
            guard: self.guard_plan.clone(),
        }
    }

    fn has_room_for(&self, request: &Request) -> bool {
        !self.free_slots.is_empty()
            && (self.flight_bytes == 0
                || self.flight_bytes + buffer_bytes(request) <= FLIGHT_BYTES_MAX)
            && !self.meets_a_write(request)
    }

    /// Hands a request to the engine, for which there is room.
    fn issue(&mut self, request: Request, handed_over: Option<Nanos>) -> Result<(), DeviceError> {
        if self.free_slots.len() == self.slots.len() {
            self.engine.prepare(&mut self.pool).map_err(|error| self.fail(&error))?;
            sys::sharpen_timers();
        }
        if matches!(request.op, Op::Write | Op::Discard | Op::WriteZeroes) {
            self.pass(&request).inspect_err(|error| self.broken = Some(error.clone()))?;
        } else if let Some(guard) = &mut self.guard {
            guard.touch(sys::monotonic_now());
        }
        let offset_bytes = request.lba.byte_offset().0;
        if matches!(request.op, Op::Discard | Op::WriteZeroes) {
            self.contents.forget(offset_bytes, request.bytes().0);
        }
        if request.op == Op::Discard && self.info.kind == DeviceKind::Block {
            self.discard(request, handed_over);
            return Ok(());
        }
        let writes_back = (self.preserves && request.op == Op::Write).then_some(request.fua);
        let buffer = self.buffer_for(&request)?;
        let slot = self.free_slots.pop().expect("the caller has seen to room");
        self.slots[slot] = Some(InFlight {
            id: request.id,
            op: request.op,
            offset_bytes,
            bytes: buffer.as_ref().map_or(0, |_| request.bytes().0),
            handed_over,
            serial: (request.op == Op::Write && self.contents.stamps()).then(|| self.writes - 1),
            writes_back,
        });
        self.flight_bytes += buffer.as_ref().map_or(0, AlignedBuffer::len);
        let transfer = Transfer {
            op: if writes_back.is_some() { Op::Read } else { request.op },
            offset_bytes: self.base_bytes + offset_bytes,
            len_bytes: request.bytes().0 as usize,
            fua: request.fua && writes_back.is_none(),
            buffer,
        };
        self.engine.start(slot, transfer).map_err(|error| self.fail(&error))
    }

    /// Whether what loses data may go on: it is still the same target, nobody uses it, and what
    /// lies there may go.
    fn pass(&mut self, request: &Request) -> Result<(), DeviceError> {
        let now = self.now();
        self.presence.check(&self.file, now)?;
        let Some(guard) = &mut self.guard else { return Ok(()) };
        let start = self.base_bytes + request.lba.byte_offset().0;
        let span = start..start + request.bytes().0;
        let before = self.neighbours.as_ref().filter(|_| guard.begins(now)).map(Neighbours::mark);
        guard.pass(now, &span)?;
        if let (Some(others), Some(before)) = (&mut self.neighbours, before) {
            others.forgive_since(before);
        }
        Ok(())
    }

    /// Discards on a block device, which waits for the end: the kernel maps a hole that is
    /// punched there to writing zeros, and offers a true discard to callers only.
    fn discard(&mut self, request: Request, handed_over: Option<Nanos>) {
        let started = self.now();
        let offset_bytes = self.base_bytes + request.lba.byte_offset().0;
        let result = sys::discard_block(&self.file, offset_bytes, request.bytes().0);
        let errno = |error: std::io::Error| error.raw_os_error().unwrap_or(libc::EIO);
        self.ended.push(Completion {
            id: request.id,
            submitted: handed_over.unwrap_or(started),
            completed: self.now(),
            outcome: result.map_or_else(|error| Outcome::Failed(errno(error)), |()| Outcome::Done),
            attribution: Attribution::ZERO,
        });
    }

    /// Memory for a request, filled if it is a write of something new.
    fn buffer_for(&mut self, request: &Request) -> Result<Option<AlignedBuffer>, DeviceError> {
        if !matches!(request.op, Op::Read | Op::Write) {
            return Ok(None);
        }
        let len = request.bytes().0 as usize;
        let mut buffer = self.pool.take(len, |new| self.engine.adopt(new));
        if request.op == Op::Write && !self.preserves {
            let data = &mut buffer.as_mut_slice()[..len];
            if self.contents.stamps() {
                self.contents.stamp(data, request.lba.byte_offset().0, self.writes)?;
            } else {
                payload::fill(data, self.payload_salt, self.writes);
            }
            self.writes += 1;
        }
        Ok(Some(buffer))
    }

    /// Goes on with what the engine has ended: a read that was made for a write is followed by
    /// the write of the same bytes, whose time counts from there. Everything else is completed.
    fn take(&mut self, end: Finished) -> Result<Option<Completion>, DeviceError> {
        let flight = self.slots[end.slot].as_mut().expect("the engine ends what was started");
        let Some(fua) = flight.writes_back.take().filter(|_| end.result.is_ok()) else {
            return Ok(Some(self.complete(end)));
        };
        let (offset_bytes, len_bytes) = (self.base_bytes + flight.offset_bytes, flight.bytes);
        if let Some(others) = &mut self.neighbours {
            others.count(Op::Read, len_bytes);
        }
        let transfer = Transfer {
            op: Op::Write,
            offset_bytes,
            len_bytes: len_bytes as usize,
            fua,
            buffer: end.buffer,
        };
        self.engine.start(end.slot, transfer).map_err(|error| self.fail(&error))?;
        Ok(None)
    }

    /// Whether a write would read what is there while another one writes it.
    fn meets_a_write(&self, request: &Request) -> bool {
        if !self.preserves || request.op != Op::Write {
            return false;
        }
        let (start, end) = (request.lba.byte_offset().0, request.end().byte_offset().0);
        self.slots.iter().flatten().any(|flight| {
            let meets = flight.offset_bytes < end && start < flight.offset_bytes + flight.bytes;
            flight.op == Op::Write && meets
        })
    }

    fn complete(&mut self, end: Finished) -> Completion {
        let request = self.slots[end.slot].take().expect("the engine ends what was started");
        self.free_slots.push(end.slot);
        if let Some(buffer) = end.buffer {
            self.flight_bytes -= buffer.len();
            if request.op == Op::Read && end.result.is_ok() && self.contents.compares() {
                let data = &buffer.as_slice()[..request.bytes as usize];
                self.contents.check(data, request.offset_bytes);
            }
            self.pool.give(buffer);
        }
        if let Some(serial) = request.serial {
            self.contents.ended(serial, end.result.is_ok());
        }
        if let (Some(others), Ok(())) = (&mut self.neighbours, &end.result) {
            others.count(request.op, request.bytes);
        }
        Completion {
            id: request.id,
            submitted: request.handed_over.unwrap_or(end.started),
            completed: end.finished,
            outcome: end.result.map_or_else(Outcome::Failed, |()| Outcome::Done),
            attribution: Attribution::ZERO,
        }
    }

    /// Fills the room that completions have made.
    fn issue_waiting(&mut self) -> Result<(), DeviceError> {
        while let Some((request, handed_over)) = self.waiting.pop_front() {
            if !self.has_room_for(&request) {
                self.waiting.push_front((request, handed_over));
                break;
            }
            self.issue(request, Some(handed_over))?;
        }
        Ok(())
    }

    /// Takes a write from what may still be written.
    fn count_down(&mut self, request: &Request) -> Result<(), DeviceError> {
        let writes = matches!(request.op, Op::Write | Op::WriteZeroes);
        let Some(left) = self.writes_left_bytes.as_mut().filter(|_| writes) else {
            return Ok(());
        };
        *left = left.checked_sub(request.bytes().0).ok_or_else(|| DeviceError::Os {
            context: format!("write of {}", request.bytes()),
            reason: format!("--write-limit leaves {left} bytes to write"),
        })?;
        Ok(())
    }

    fn fail(&mut self, error: &std::io::Error) -> DeviceError {
        let error = DeviceError::Os {
            context: format!("the {} engine failed", self.access.engine.name()),
            reason: error.to_string(),
        };
        self.broken = Some(error.clone());
        error
    }
}

/// Lends the data of a target to a server, as long as the target is open.
pub struct Lender {
    file: Weak<File>,
    info: DeviceInfo,
    base_bytes: u64,
    writes_left_bytes: Option<u64>,
    guard: Option<GuardPlan>,
}

impl Lender {
    /// What is lent, as a device would show it.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The path by which this process reaches what is open, whatever became of its name.
    #[must_use]
    pub fn link(&self) -> Option<PathBuf> {
        let file = self.file.upgrade()?;
        Some(PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())))
    }

    /// The data, which are reached through the page cache.
    ///
    /// # Errors
    /// If the kernel does not open the target once more.
    pub fn lend(&self) -> std::io::Result<Region> {
        let file = self.file.upgrade().ok_or(std::io::ErrorKind::NotFound)?;
        let file = Arc::new(sys::reopen(&file, self.info.writable)?);
        let guard = self.guard.as_ref().map(|plan| plan.guard(Arc::clone(&file), Moment::Served));
        Ok(Region::new(file, self.base_bytes, self.writes_left_bytes, guard))
    }
}

impl Device for HostFile {
    fn info(&self) -> DeviceInfo {
        self.info.clone()
    }

    fn now(&self) -> Nanos {
        sys::monotonic_now()
    }

    fn submit(&mut self, _now: Nanos, request: Request) -> Result<(), DeviceError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        check_request(&self.info, &request)?;
        if self.preserves && request.op == Op::WriteZeroes {
            return Err(DeviceError::Unsupported("writing zeros where the content is preserved"));
        }
        self.count_down(&request)?;
        let moves_data = matches!(request.op, Op::Read | Op::Write);
        if moves_data && request.bytes().0 > REQUEST_BYTES_MAX {
            return Err(DeviceError::Os {
                context: format!("request of {}", request.bytes()),
                reason: "the largest request to a real drive is 16 MiB".to_owned(),
            });
        }
        if !self.waiting.is_empty() || !self.has_room_for(&request) {
            self.waiting.push_back((request, self.now()));
            return Ok(());
        }
        self.issue(request, None)
    }

    fn next_event(&self) -> Option<Nanos> {
        (self.in_flight() > 0).then(|| self.now())
    }

    fn advance(&mut self, to: Nanos, completions: &mut Vec<Completion>) -> Result<(), DeviceError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        if !self.ended.is_empty() {
            completions.append(&mut self.ended);
            return self.issue_waiting();
        }
        if self.in_flight() == 0 {
            if let Some(guard) = &mut self.guard {
                guard.pause(sys::monotonic_now());
            }
            if to != Nanos::MAX {
                sys::sharpen_timers();
                std::thread::sleep(Duration::from_nanos(to.saturating_sub(self.now()).0));
            }
            return Ok(());
        }
        let mut finished = Vec::new();
        self.engine.wait(to, &mut finished).map_err(|error| self.fail(&error))?;
        let failed = finished.iter().any(|end| end.result.is_err());
        for end in finished {
            completions.extend(self.take(end)?);
        }
        if failed {
            // A request past the end of what has shrunk is no fault of the drive.
            let checked = self.presence.check_now(&self.file);
            checked.inspect_err(|error| self.broken = Some(error.clone()))?;
        }
        self.issue_waiting()
    }

    fn vets_writes(&self) -> bool {
        self.guard.is_some()
    }

    fn expect_writes(
        &mut self,
        spans: &[Range<u64>],
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<bool, DeviceError> {
        let (now, base) = (self.now(), self.base_bytes);
        let Some(guard) = &mut self.guard else { return Ok(true) };
        if spans.is_empty() {
            return Ok(true);
        }
        let before = self.neighbours.as_ref().map(Neighbours::mark);
        guard.begin(now).inspect_err(|error| self.broken = Some(error.clone()))?;
        if let (Some(others), Some(before)) = (&mut self.neighbours, before) {
            others.forgive_since(before);
        }
        let there: Vec<_> = spans.iter().map(|span| base + span.start..base + span.end).collect();
        let read_bytes = guard.look(&there, go_on)?;
        if let (Some(others), Some(bytes)) = (&mut self.neighbours, read_bytes) {
            others.count(Op::Read, bytes);
        }
        Ok(read_bytes.is_some())
    }

    fn set_cache(&mut self, cache: Cache, on: bool) -> Result<(), DeviceError> {
        if self.in_flight() > 0 {
            return Err(DeviceError::Busy(self.in_flight()));
        }
        if self.info.caches.would_change(cache, on)?
            && let Some(switches) = &mut self.switches
        {
            switches.set(cache, on)?;
            self.info.caches = switches.caches();
        }
        Ok(())
    }

    fn foreign_bytes(&self) -> Option<Moved> {
        self.neighbours.as_ref()?.moved()
    }

    fn in_flight(&self) -> usize {
        self.slots.len() - self.free_slots.len() + self.waiting.len() + self.ended.len()
    }
}

impl Drop for HostFile {
    fn drop(&mut self) {
        // The kernel takes a ring apart in the background, and with it the file.
        if self.info.writable {
            sys::unlock(&self.file);
        }
    }
}

fn buffer_bytes(request: &Request) -> usize {
    match request.op {
        Op::Read | Op::Write => BufferPool::size_for(request.bytes().0 as usize),
        Op::Flush | Op::Discard | Op::WriteZeroes => 0,
    }
}

/// What a host knows of a file or block device, but for its caches.
fn info_of(opened: &Opened, window: &Range<u64>, writing: Option<&Writing>) -> DeviceInfo {
    let may_discard = writing.is_some_and(|writing| !writing.preserves);
    DeviceInfo {
        kind: if opened.is_block { DeviceKind::Block } else { DeviceKind::File },
        capacity_bytes: window.end - window.start,
        logical_block_bytes: opened.logical_block_bytes,
        clock: ClockKind::Wall,
        writable: writing.is_some(),
        discard: may_discard && understands_discard(opened),
        attribution: false,
        snapshot: false,
        caches: Caches::UNKNOWN,
    }
}

/// Of a file, tries a discard where nothing is: past its end, and its size stays. Of a block
/// device the kernel says how much it can discard at once.
fn understands_discard(opened: &Opened) -> bool {
    const BLOCK_BYTES: u64 = 4096;
    if opened.is_block {
        let block = opened.file.metadata().ok().and_then(|stat| SysBlock::find(stat.rdev()));
        let most = block.and_then(|block| block.queue().remove("discard_max_bytes"));
        return most.is_some_and(|bytes| bytes != "0");
    }
    let before = opened.file.metadata().and_then(|stat| stat.modified());
    let end = opened.size_bytes.next_multiple_of(BLOCK_BYTES);
    let understood = sys::punch_hole(&opened.file, end, BLOCK_BYTES).is_ok();
    if let (true, Ok(before)) = (understood, before) {
        // Nothing changed, so the file shall not look changed. If it does, no harm is done.
        let _ = opened.file.set_modified(before);
    }
    understood
}
