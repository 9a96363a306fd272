//! The `io_uring` engine.
//!
//! One thread submits and reaps, so the ring is made for one issuer and completions are
//! worked off only when that thread asks (`DEFER_TASKRUN`): no interrupt of ours between
//! the drive's and the clock. What is started goes to the kernel with the call that waits for
//! the next end, so a request costs one system call and not two. Such a ring
//! belongs to the thread that made it; a device that moves to another thread between two runs
//! gets a new ring.
#![allow(unsafe_code)]

use super::{Engine, EngineKind, Finished, Transfer};
use crate::buffer::{AlignedBuffer, BufferPool};
use crate::sys;
use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, Probe, opcode, squeue};
use ssdscope_io::{Nanos, Op, SECTOR_BYTES};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::thread::{self, ThreadId};

/// Requests in flight at most.
const DEPTH_MAX: u16 = 1024;
/// Places for registered buffers; what finds none is used unregistered.
const BUFFERS_MAX: u16 = 4096;
/// The only registered file.
const FILE: Fixed = Fixed(0);
/// How long closing waits for a drive that does not answer.
const CLOSE_PATIENCE: Nanos = Nanos(5_000_000_000);
/// So many go to the kernel at once at most: the last one's latency holds the handing over of
/// those before it, about a microsecond each.
const BATCH_MAX: usize = 8;
/// Longer waits are cut by one standing timer, not by one of their own: setting a timer for
/// each request costs a tenth of what a fast drive takes, more in a virtual machine.
const TICK: Nanos = Nanos(10_000_000);
static TICK_SPAN: Timespec = Timespec::new().nsec(TICK.0 as u32);
/// What the timer's end is known by among those of requests.
const TICK_MARK: u64 = u64::MAX;

/// A transfer that the kernel has.
struct Flight {
    transfer: Transfer,
    started: Nanos,
    /// How much a short read or write has moved so far.
    moved_bytes: usize,
}

/// A ring and what is in it.
pub(crate) struct Uring {
    ring: IoUring,
    owner: ThreadId,
    file: Arc<File>,
    flights: Vec<Option<Flight>>,
    in_flight: usize,
    /// Those that stand in the submission queue; the kernel has not been called for them.
    unsent: Vec<usize>,
    /// Whether the standing timer runs.
    ticking: bool,
    /// Next place in the table of registered buffers; `None` where the kernel has no table.
    next_buffer: Option<u16>,
}

/// Whether this process may use a ring that can do what is needed here.
pub(crate) fn usable() -> io::Result<()> {
    let ring = IoUring::new(2)?;
    if !ring.params().is_feature_ext_arg() {
        return Err(io::Error::other("needs Linux 5.11"));
    }
    let mut probe = Probe::new();
    ring.submitter().register_probe(&mut probe)?;
    let needed = [
        opcode::Read::CODE,
        opcode::Write::CODE,
        opcode::ReadFixed::CODE,
        opcode::WriteFixed::CODE,
        opcode::Fsync::CODE,
        opcode::Fallocate::CODE,
        opcode::Timeout::CODE,
    ];
    if needed.iter().all(|&code| probe.is_supported(code)) {
        Ok(())
    } else {
        Err(io::Error::other("the kernel's io_uring lacks an operation"))
    }
}

/// A ring with the best options that the kernel knows, and the file registered.
fn build_ring(file: &File) -> io::Result<(IoUring, Option<u16>)> {
    let entries = u32::from(DEPTH_MAX);
    let ring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(entries)
        .or_else(|_| IoUring::builder().build(entries))?;
    ring.submitter().register_files(&[file.as_raw_fd()])?;
    let table = ring.submitter().register_buffers_sparse(u32::from(BUFFERS_MAX));
    Ok((ring, table.is_ok().then_some(0)))
}

impl Uring {
    pub(crate) fn new(file: Arc<File>) -> io::Result<Self> {
        usable()?;
        let (ring, next_buffer) = build_ring(&file)?;
        let owner = thread::current().id();
        Ok(Self {
            ring,
            owner,
            file,
            flights: (0..DEPTH_MAX).map(|_| None).collect(),
            in_flight: 0,
            unsent: Vec::with_capacity(BATCH_MAX),
            ticking: false,
            next_buffer,
        })
    }

    /// Puts the rest of a flight into the submission queue.
    fn push(&mut self, slot: usize) -> io::Result<()> {
        let flight = self.flights[slot].as_mut().expect("a slot that was just filled");
        let entry = entry(flight).user_data(slot as u64);
        // SAFETY: the entry points into the flight's buffer, which stays in `flights`
        // until the kernel has reported the end (or is leaked in `drop`), and names the
        // registered file, which lives as long as the ring.
        unsafe { self.ring.submission().push(&entry) }
            .map_err(|_| io::Error::other("the submission queue is full"))
    }

    /// Stamps what stands in the submission queue, right before the call that sends it.
    fn stamp(&mut self, now: Nanos) {
        for slot in self.unsent.drain(..) {
            if let Some(flight) = &mut self.flights[slot] {
                flight.started = now;
            }
        }
    }

    /// Sends what stands in the submission queue without waiting for an end.
    fn send(&mut self) -> io::Result<()> {
        self.stamp(sys::monotonic_now());
        loop {
            match self.ring.submit() {
                Err(error) if is_transient(&error) => {}
                result => return result.map(drop),
            }
        }
    }

    /// The slot and the result of a request's end that is already here.
    fn next_end(&mut self) -> Option<(usize, i32)> {
        loop {
            let end = self.ring.completion().next()?;
            if end.user_data() != TICK_MARK {
                return Some((end.user_data() as usize, end.result()));
            }
            self.ticking = false;
        }
    }

    /// Takes what has ended; `now` is when this became known.
    fn reap(&mut self, now: Nanos, finished: &mut Vec<Finished>) -> io::Result<()> {
        while let Some((slot, result)) = self.next_end() {
            let flight = self.flights[slot].as_mut().expect("the kernel ends what was started");
            if let Some(result) = outcome(flight, result) {
                let Flight { transfer, started, .. } =
                    self.flights[slot].take().expect("checked above");
                self.in_flight -= 1;
                let buffer = transfer.buffer;
                finished.push(Finished { slot, result, started, finished: now, buffer });
            } else {
                self.push(slot)?;
            }
        }
        Ok(())
    }

    /// Sends what was started, and sleeps in the kernel until something ends, `until` has
    /// passed, or the standing timer ticks.
    fn sleep(&mut self, until: Nanos) -> io::Result<()> {
        let now = sys::monotonic_now();
        self.stamp(now);
        let span = until.saturating_sub(now);
        let result = if span > TICK {
            self.tick()?;
            self.ring.submit_and_wait(1)
        } else {
            let timeout = Timespec::new().nsec(span.0 as u32);
            self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timeout))
        };
        match result {
            Err(error) if is_transient(&error) => Ok(()),
            Err(error) if error.raw_os_error() == Some(libc::ETIME) => Ok(()),
            result => result.map(drop),
        }
    }

    /// Sees to it that the standing timer runs.
    fn tick(&mut self) -> io::Result<()> {
        if self.ticking {
            return Ok(());
        }
        let timer = opcode::Timeout::new(&raw const TICK_SPAN).build().user_data(TICK_MARK);
        // SAFETY: the entry points to a static.
        unsafe { self.ring.submission().push(&timer) }
            .map_err(|_| io::Error::other("the submission queue is full"))?;
        self.ticking = true;
        Ok(())
    }
}

impl Engine for Uring {
    fn kind(&self) -> EngineKind {
        EngineKind::IoUring
    }

    fn depth_max(&self) -> usize {
        usize::from(DEPTH_MAX)
    }

    fn prepare(&mut self, pool: &mut BufferPool) -> io::Result<()> {
        let current = thread::current().id();
        if self.owner != current {
            (self.ring, self.next_buffer) = build_ring(&self.file)?;
            self.owner = current;
            self.ticking = false;
            for buffer in pool.iter_mut() {
                buffer.registered = None;
                self.adopt(buffer);
            }
        }
        Ok(())
    }

    fn adopt(&mut self, buffer: &mut AlignedBuffer) {
        let Some(place) = self.next_buffer.filter(|&place| place < BUFFERS_MAX) else { return };
        let part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        // SAFETY: `part` describes memory that the buffer owns. The kernel pins its pages,
        // and the buffer names this place only while it lives.
        let result = unsafe {
            self.ring.submitter().register_buffers_update(u32::from(place), &[part], None)
        };
        // A refusal means the limit of locked memory: the buffer works unregistered.
        if result.is_ok() {
            buffer.registered = Some(place);
            self.next_buffer = Some(place + 1);
        }
    }

    fn start(&mut self, slot: usize, transfer: Transfer) -> io::Result<()> {
        if self.owner != thread::current().id() {
            return Err(io::Error::other("requests of another thread are still in flight"));
        }
        assert!(self.flights[slot].is_none(), "slot {slot} is in flight");
        self.flights[slot] = Some(Flight { transfer, started: Nanos::ZERO, moved_bytes: 0 });
        self.in_flight += 1;
        self.push(slot)?;
        self.unsent.push(slot);
        if self.unsent.len() >= BATCH_MAX { self.send() } else { Ok(()) }
    }

    fn wait(&mut self, until: Nanos, finished: &mut Vec<Finished>) -> io::Result<()> {
        while self.in_flight > 0 {
            self.sleep(until)?;
            let now = sys::monotonic_now();
            self.reap(now, finished)?;
            if !finished.is_empty() || now >= until {
                break;
            }
        }
        Ok(())
    }
}

impl Drop for Uring {
    /// Memory that the kernel may still write to is never freed: the drive gets some
    /// time to answer, then the buffers are given up.
    fn drop(&mut self) {
        let patience = Nanos(sys::monotonic_now().0 + CLOSE_PATIENCE.0);
        let mut finished = Vec::new();
        while self.in_flight > 0
            && self.owner == thread::current().id()
            && sys::monotonic_now() < patience
        {
            if self.wait(patience, &mut finished).is_err() {
                break;
            }
            finished.clear();
        }
        if self.in_flight > 0 {
            std::mem::forget(std::mem::take(&mut self.flights));
        } else {
            // The kernel takes a ring apart in the background, and the file with it: whoever
            // opens the drive alone a moment later would find it busy.
            let _ = self.ring.submitter().unregister_files();
        }
    }
}

/// Whether to simply try again: a signal came in between, or the kernel was short of something.
fn is_transient(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY))
}

/// What the number of an end says about the flight; `None` means that it goes on.
fn outcome(flight: &mut Flight, result: i32) -> Option<Result<(), i32>> {
    if result == -libc::EINTR || result == -libc::EAGAIN {
        return None;
    }
    let Ok(moved) = usize::try_from(result) else { return Some(Err(-result)) };
    if !matches!(flight.transfer.op, Op::Read | Op::Write) {
        return Some(Ok(()));
    }
    flight.moved_bytes += moved;
    if flight.moved_bytes >= flight.transfer.len_bytes {
        Some(Ok(()))
    } else if moved == 0 || !flight.moved_bytes.is_multiple_of(SECTOR_BYTES as usize) {
        Some(Err(libc::EIO))
    } else {
        None
    }
}

/// The kernel's form of what is left of a flight.
fn entry(flight: &mut Flight) -> squeue::Entry {
    let moved = flight.moved_bytes;
    let Transfer { op, offset_bytes, len_bytes, fua, ref mut buffer } = flight.transfer;
    let offset = offset_bytes + moved as u64;
    let len = (len_bytes - moved) as u32;
    let flags = if fua { libc::RWF_DSYNC } else { 0 };
    let (start, registered) = buffer.as_mut().map_or((std::ptr::null_mut(), None), |buffer| {
        debug_assert!(len_bytes <= buffer.len(), "{len_bytes} > {}", buffer.len());
        (buffer.as_mut_ptr().wrapping_add(moved), buffer.registered)
    });
    match (op, registered) {
        (Op::Read, Some(place)) => {
            opcode::ReadFixed::new(FILE, start, len, place).offset(offset).build()
        }
        (Op::Read, None) => opcode::Read::new(FILE, start, len).offset(offset).build(),
        (Op::Write, Some(place)) => {
            opcode::WriteFixed::new(FILE, start, len, place).offset(offset).rw_flags(flags).build()
        }
        (Op::Write, None) => {
            opcode::Write::new(FILE, start, len).offset(offset).rw_flags(flags).build()
        }
        (Op::Flush, _) => opcode::Fsync::new(FILE).flags(FsyncFlags::DATASYNC).build(),
        (Op::Discard, _) => opcode::Fallocate::new(FILE, len_bytes as u64)
            .offset(offset)
            .mode(sys::PUNCH_HOLE)
            .build(),
        (Op::WriteZeroes, _) => opcode::Fallocate::new(FILE, len_bytes as u64)
            .offset(offset)
            .mode(sys::ZERO_RANGE)
            .build(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload;

    /// What happens where the limit of locked memory leaves no room for registration.
    #[test]
    fn unregistered_buffers_work_as_well() {
        if usable().is_err() {
            eprintln!("skipped: io_uring is off");
            return;
        }
        let name = format!("ssdscope-uring-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        let file = Arc::new(file.expect("the temporary folder is writable"));
        std::fs::remove_file(&path).expect("removable while open");
        let mut ring = Uring::new(file).expect("usable");
        ring.next_buffer = None;
        let mut pool = BufferPool::default();
        let mut transfer = |op, buffer| {
            let transfer =
                Transfer { op, offset_bytes: 0, len_bytes: 4096, fua: true, buffer: Some(buffer) };
            ring.start(7, transfer).expect("the ring is empty");
            let mut finished = Vec::new();
            ring.wait(Nanos::MAX, &mut finished).expect("the file works");
            let end = finished.pop().expect("one was started");
            assert_eq!((end.slot, end.result), (7, Ok(())));
            end.buffer.expect("it comes back")
        };

        let mut written = pool.take(4096, |_| {});
        payload::fill(written.as_mut_slice(), 1, 2);
        let written = transfer(Op::Write, written);
        let read = transfer(Op::Read, pool.take(4096, |_| {}));
        assert!(written.as_slice() == read.as_slice());
    }

    #[test]
    fn short_transfers_go_on_and_odd_ones_fail() {
        let transfer =
            |op| Transfer { op, offset_bytes: 0, len_bytes: 8192, fua: false, buffer: None };
        let flight = |op| Flight { transfer: transfer(op), started: Nanos::ZERO, moved_bytes: 0 };
        let mut read = flight(Op::Read);
        assert_eq!(outcome(&mut read, 4096), None);
        assert_eq!(outcome(&mut read, -libc::EINTR), None);
        assert_eq!(outcome(&mut read, 4096), Some(Ok(())));
        assert_eq!(outcome(&mut flight(Op::Write), 100), Some(Err(libc::EIO)));
        assert_eq!(outcome(&mut flight(Op::Read), 0), Some(Err(libc::EIO)));
        assert_eq!(outcome(&mut flight(Op::Read), -libc::ENODATA), Some(Err(libc::ENODATA)));
        assert_eq!(outcome(&mut flight(Op::Flush), 0), Some(Ok(())));
    }
}
