//! The only door to a drive: everything above it sees what a host sees.

use crate::caches::{Cache, Caches};
use crate::counters::Counters;
use crate::moved::Moved;
use crate::request::{Completion, Request};
use crate::units::{Bytes, Nanos, Sectors};
use crate::upkeep::Upkeep;
use serde::Serialize;
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Whose time a device lives in. Devices of different clocks cannot be combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClockKind {
    /// Time moves when [`Device::advance`] moves it; an idle hour costs nothing.
    Virtual,
    /// Time is the machine's monotonic clock.
    Wall,
}

/// What is behind the door, in a word, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// A simulated drive.
    Simulated,
    /// A block device of the kernel.
    Block,
    /// A regular file.
    File,
    /// A network block device.
    Nbd,
    /// Several devices striped.
    Raid0,
    /// Completes everything at once: shows our own overhead.
    Null,
}

/// What a host knows of a drive before the first request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceInfo {
    /// What it is.
    pub kind: DeviceKind,
    /// Exported capacity.
    pub capacity_bytes: u64,
    /// Smallest request and its alignment (logical block), a multiple of 512.
    pub logical_block_bytes: u64,
    /// Whose time it lives in.
    pub clock: ClockKind,
    /// Whether writes and discards are allowed.
    pub writable: bool,
    /// Whether discards are understood.
    pub discard: bool,
    /// Whether completions say where the time went.
    pub attribution: bool,
    /// Whether [`Device::snapshot`] works.
    pub snapshot: bool,
    /// Its caches, and whether they can be switched.
    pub caches: Caches,
}

/// The submission queues of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Queues {
    /// How many there are.
    pub count: u16,
    /// Whether a queue's [`Priority`](crate::Priority) makes a difference.
    pub priorities: bool,
}

impl Default for Queues {
    fn default() -> Self {
        Self { count: 1, priorities: false }
    }
}

/// A device's state as an opaque handle: only the device that made it can read it.
#[derive(Clone)]
pub struct Snapshot(pub Arc<dyn Any + Send + Sync>);

/// Why a device refused or failed. `Failed` completions are not errors: the device lives on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The request reaches past the end.
    #[error(
        "request of {len_bytes} bytes at byte {offset_bytes} reaches past the end of the device \
         ({capacity_bytes} bytes)"
    )]
    OutOfRange {
        /// First byte asked.
        offset_bytes: u64,
        /// Bytes asked.
        len_bytes: u64,
        /// Bytes there are.
        capacity_bytes: u64,
    },
    /// The request is not on the device's grid.
    #[error(
        "request of {len_bytes} bytes at byte {offset_bytes} is not a whole number of the \
         device's {unit_bytes}-byte units"
    )]
    Misaligned {
        /// First byte asked.
        offset_bytes: u64,
        /// Bytes asked.
        len_bytes: u64,
        /// The unit that both must be a multiple of.
        unit_bytes: u64,
    },
    /// A write or discard on a device opened for reading.
    #[error("the device is open for reading only")]
    ReadOnly,
    /// The device does not know this operation.
    #[error("the device does not support {0}")]
    Unsupported(&'static str),
    /// A cache does not let itself be switched.
    #[error("the {cache} cannot be switched {}: {reason}", if *.on { "on" } else { "off" })]
    Cache {
        /// Which one.
        cache: &'static str,
        /// What was asked.
        on: bool,
        /// Why not.
        reason: &'static str,
    },
    /// The simulated drive can make no progress and says why.
    #[error("{0}")]
    Stuck(String),
    /// The kernel refused; what was tried, and its answer.
    #[error("{context}: {reason}")]
    Os {
        /// What was tried.
        context: String,
        /// The kernel's answer.
        reason: String,
    },
    /// What was asked would do harm; nothing was done.
    #[error("{0}")]
    Refused(String),
    /// Requests are in flight where none may be.
    #[error("{0} requests are still in flight")]
    Busy(usize),
}

/// A drive.
///
/// Virtual clock: `submit` at the present or a later instant, then `advance`
/// until what you wait for comes back. Wall clock: the same calls, where `now`
/// is taken from the machine and `advance` sleeps.
pub trait Device: Send {
    /// What a host knows beforehand.
    fn info(&self) -> DeviceInfo;

    /// The queues that commands can come through.
    fn queues(&self) -> Queues {
        Queues::default()
    }

    /// The present instant on the device's clock.
    fn now(&self) -> Nanos;

    /// Hands over a request at `now`, which may not lie before [`Device::now`].
    ///
    /// # Errors
    /// If the request is outside the device or off its grid; nothing was done then.
    fn submit(&mut self, now: Nanos, request: Request) -> Result<(), DeviceError>;

    /// When something happens next by itself, if anything does. A wall-clock
    /// device with requests in flight answers with its present.
    fn next_event(&self) -> Option<Nanos>;

    /// Lets time pass until `to`, or until the first instant with completions,
    /// whichever is earlier. Completions are appended to `completions` in order; all
    /// of one instant come together. With nothing in flight a virtual clock moves to
    /// `to` (idle; background work of the drive goes on), except that `to` =
    /// [`Nanos::MAX`] means "until a completion" and leaves an idle clock alone.
    ///
    /// # Errors
    /// If the drive can make no progress, or the kernel fails the device itself.
    fn advance(&mut self, to: Nanos, completions: &mut Vec<Completion>) -> Result<(), DeviceError>;

    /// Whether [`Device::expect_writes`] does anything.
    fn vets_writes(&self) -> bool {
        false
    }

    /// Hears what will be written, discarded or zeroed, in bytes of the device, before the time of
    /// a run counts, and looks at what lies there: a real drive may hold somebody's data. `go_on`
    /// hears how much of the looking is done; false if it wanted to stop.
    ///
    /// # Errors
    /// What would be lost.
    fn expect_writes(
        &mut self,
        _spans: &[Range<u64>],
        _go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<bool, DeviceError> {
        Ok(true)
    }

    /// Switches a cache on or off, with nothing in flight. Emptying a write cache that is
    /// switched off takes time, which has passed when this returns.
    ///
    /// # Errors
    /// If the drive has no such cache, or it cannot be switched, or requests are in flight;
    /// what is so already is no error.
    fn set_cache(&mut self, cache: Cache, on: bool) -> Result<(), DeviceError> {
        match self.info().caches.would_change(cache, on)? {
            false => Ok(()),
            true => Err(DeviceError::Unsupported("switching caches")),
        }
    }

    /// Switches the write cache on or off, see [`Device::set_cache`].
    ///
    /// # Errors
    /// As [`Device::set_cache`].
    fn set_write_cache(&mut self, on: bool) -> Result<(), DeviceError> {
        self.set_cache(Cache::Write, on)
    }

    /// Switches the read cache and its read-ahead on or off, see [`Device::set_cache`].
    ///
    /// # Errors
    /// As [`Device::set_cache`].
    fn set_read_cache(&mut self, on: bool) -> Result<(), DeviceError> {
        self.set_cache(Cache::Read, on)
    }

    /// How many requests were submitted and not yet completed.
    fn in_flight(&self) -> usize;

    /// The drive's counters, where it has any. A drive that puts work off does now what has
    /// happened by now.
    fn counters(&mut self) -> Option<Counters> {
        None
    }

    /// What the drive does beside serving requests, and how full it is, where it tells. Work that
    /// is looked ahead at may count from its beginning on.
    fn upkeep(&self) -> Option<Upkeep> {
        None
    }

    /// What others have moved on this drive since it was opened, where whoever stands between host
    /// and drive counts that; exact while nothing of ours is in flight.
    fn foreign_bytes(&self) -> Option<Moved> {
        None
    }

    /// The state as it is, in time and space proportional to what changed since the last one.
    fn snapshot(&self) -> Option<Snapshot> {
        None
    }

    /// Returns to a state that this device, or a fork of it, has given out.
    ///
    /// # Errors
    /// If the handle is another device's.
    fn restore(&mut self, _snapshot: &Snapshot) -> Result<(), DeviceError> {
        Err(DeviceError::Unsupported("snapshots"))
    }

    /// An independent copy in the same state.
    fn fork(&self) -> Option<Box<dyn Device>> {
        None
    }
}

/// Refuses what no device could serve: off the grid, past the end, empty.
///
/// # Errors
/// The reason, with the numbers.
pub fn check_request(info: &DeviceInfo, request: &Request) -> Result<(), DeviceError> {
    use crate::request::Op;
    if request.op == Op::Flush {
        return Ok(());
    }
    if !info.writable && request.op != Op::Read {
        return Err(DeviceError::ReadOnly);
    }
    if request.op == Op::Discard && !info.discard {
        return Err(DeviceError::Unsupported("discard"));
    }
    let unit = Sectors(info.logical_block_bytes / crate::units::SECTOR_BYTES);
    let offset_bytes = request.lba.0.saturating_mul(crate::units::SECTOR_BYTES);
    let Bytes(len_bytes) = request.bytes();
    // Most often a unit is a sector, and dividing by it would take longer than all the rest.
    let is_whole = |sectors: u64| unit.0 == 1 || sectors.is_multiple_of(unit.0);
    if request.sectors.0 == 0 || !is_whole(request.lba.0) || !is_whole(request.sectors.0) {
        return Err(DeviceError::Misaligned {
            offset_bytes,
            len_bytes,
            unit_bytes: info.logical_block_bytes,
        });
    }
    if offset_bytes.saturating_add(len_bytes) > info.capacity_bytes {
        return Err(DeviceError::OutOfRange {
            offset_bytes,
            len_bytes,
            capacity_bytes: info.capacity_bytes,
        });
    }
    Ok(())
}
