//! The vocabulary of block I/O, shared by simulated and real drives.
//!
//! In reading order:
//!
//! * [`units`]: bytes, sectors, nanoseconds as types that cannot be mixed up;
//! * [`request`]: what a host asks ([`Request`]) and what comes back ([`Completion`]);
//! * [`attribution`]: where the time of a request went, summing to its latency;
//! * [`counters`]: what a drive counted (bytes, erases, collections);
//! * [`device`]: the [`Device`] trait, the only door to any drive; [`caches`]: what it lets
//!   be switched;
//! * [`trace`]: block traces as timed requests that fit a given drive;
//! * [`workload`], [`generator`]: what a synthetic workload asks for, request by request;
//! * [`driver`]: runs workloads, request lists and traces on any device;
//! * [`recorder`], [`histogram`], [`interval`]: percentiles and the interval of the mean;
//! * [`summary`], [`log`], [`timeline`]: what comes out of a run; [`upkeep`]: what the drive does
//!   meanwhile;
//! * [`shown`]: paths in messages;
//! * [`raid0`]: several devices striped into one; [`null`]: one that shows our own overhead.
//!
//! Nothing here knows what is behind the door: no simulator, no kernel call.

pub mod arrivals;
pub mod attribution;
pub mod caches;
pub mod counters;
pub mod device;
pub mod driver;
pub mod flow;
pub mod generator;
pub mod histogram;
pub mod interval;
pub mod log;
#[cfg(test)]
mod mock;
pub mod moved;
pub mod null;
pub mod pauses;
pub mod raid0;
pub mod recorder;
pub mod request;
pub mod rng;
pub mod shown;
pub mod summary;
pub mod timeline;
pub mod trace;
pub mod units;
pub mod upkeep;
pub mod workload;

pub use arrivals::Arrival;
pub use attribution::{Attribution, Cause};
pub use caches::{Cache, CacheControl, CacheInfo, Caches};
pub use counters::Counters;
pub use device::{ClockKind, Device, DeviceError, DeviceInfo, DeviceKind, Queues, Snapshot};
pub use driver::{
    Failure, LogKeeper, Progress, ReplayMode, ReplayOptions, RequestList, RunError, RunObserver,
    Unobserved, replay, run_flows, run_list, run_workload,
};
pub use flow::{Flow, Flows, FlowsError};
pub use log::LogChunk;
pub use moved::Moved;
pub use null::NullDevice;
pub use raid0::{Raid0, Raid0Error};
pub use request::{Completion, Op, Outcome, Priority, Queue, Request};
pub use summary::RunSummary;
pub use trace::{TimedRequest, TraceError};
pub use units::{Bytes, Lba, Nanos, SECTOR_BYTES, Sectors};
pub use upkeep::Upkeep;
pub use workload::Workload;
