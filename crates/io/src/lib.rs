//! The vocabulary of block I/O, shared by simulated and real drives.
//!
//! In reading order:
//!
//! * [`units`]: bytes, sectors, nanoseconds as types that cannot be mixed up;
//! * [`request`]: what a host asks ([`Request`]) and what comes back ([`Completion`]);
//! * [`attribution`]: where the time of a request went, summing to its latency;
//! * [`counters`]: what a drive counted (bytes, erases, collections);
//! * [`device`]: the [`Device`] trait, the only door to any drive.
//! * [`trace`]: block traces as timed requests that fit a given drive.
//!
//! Nothing here knows what is behind the door: no simulator, no kernel call.

pub mod attribution;
pub mod counters;
pub mod device;
pub mod request;
pub mod rng;
pub mod trace;
pub mod units;

pub use attribution::{Attribution, Cause};
pub use counters::Counters;
pub use device::{ClockKind, Device, DeviceError, DeviceInfo, DeviceKind, Snapshot};
pub use request::{Completion, Op, Outcome, Request};
pub use trace::{TimedRequest, TraceError};
pub use units::{Bytes, Lba, Nanos, SECTOR_BYTES, Sectors};
