//! Drivers: a plan in, a summary and a columnar log out.
//!
//! In reading order:
//!
//! * `source`: what the loops ask for the next request, and when it is due;
//! * `session`: one run against one device: submitting, waiting, adding up, stopping;
//! * `ahead`: what a run will write, for a device that looks at it first;
//! * `closed`: the loop that keeps a number of requests in flight;
//! * `open`: the loop that submits at arrival times, whatever has completed;
//! * `flows`: the loop of several workloads at the same time, open ones or closed; `turns`: of
//!   several that alternate;
//! * [`run_workload`], [`run_flows`], [`run_list`], [`replay`]: synthetic workloads, explicit
//!   requests and traces as sources for the two loops;
//! * [`copies`]: many workloads at a time, each on a copy of a drive, over all cores;
//! * `tally`: sums; [`error`]: why a run did not come to its end.
//!
//! The same drivers run simulated devices in virtual time and real ones on the
//! wall clock. A run ends when every request it issued was served; a device that
//! makes no progress is an error, never a hang.

mod ahead;
mod closed;
pub mod copies;
pub mod error;
mod flows;
mod list;
mod open;
mod pace;
mod replay;
mod session;
mod source;
mod synthetic;
mod tally;
mod turns;

#[cfg(test)]
mod tests;

pub use ahead::{expect_writes, of_requests};
pub use error::{Failure, RunError};
pub use flows::run_flows;
pub use list::{RequestList, run_list};
pub use replay::{ReplayMode, ReplayOptions, replay};
pub use session::LATEST;
pub use synthetic::run_workload;

use crate::log::LogChunk;
use crate::timeline::{Interval, MachineReading};
use serde::Serialize;
use std::ops::ControlFlow;

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Progress {
    /// Requests served, without flushes and ramp.
    pub requests: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Requests that failed.
    pub failed_requests: u64,
    /// Time on the device's clock since the first request that counts.
    pub elapsed_ns: u64,
    /// The share that is done, where an end is known.
    pub fraction: Option<f64>,
    /// Mean latency so far.
    pub mean_latency_ns: f64,
    /// Half the 95 % interval as a share of the mean, where a run stops on it.
    pub relative_half_width: Option<f64>,
    /// Whether the run has not begun: what it would write over is looked at, and `fraction` says
    /// how much of that is done.
    pub looking: bool,
}

impl Progress {
    /// Before anything.
    pub const NONE: Self = Self {
        requests: 0,
        bytes: 0,
        failed_requests: 0,
        elapsed_ns: 0,
        fraction: None,
        mean_latency_ns: 0.0,
        relative_half_width: None,
        looking: false,
    };
}

/// Watches a run.
pub trait RunObserver {
    /// Called often: after every wait on a wall clock (at least 50 times a second),
    /// and every 64 completions in virtual time. It should do nothing most of the time.
    /// `Break` cancels: nothing more is issued, what is in flight is awaited, and the
    /// results are kept.
    fn progress(&mut self, _progress: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The time that counts begins only now: what lies where it will write has been looked at.
    fn begins(&mut self) {}

    /// Takes rows of the log, at most [`CHUNK_ROWS`](crate::log::CHUNK_ROWS) at a time.
    /// `Break` cancels, as above.
    fn chunk(&mut self, _chunk: LogChunk) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Whether a log is wanted at all; asked once, at the start.
    fn wants_log(&self) -> bool {
        false
    }

    /// Into what windows the run is cut, if its rate over time is wanted; asked once, at the start.
    fn timeline(&self) -> Option<Interval> {
        None
    }

    /// Reads what the machine did, on a wall clock, whenever a window of the timeline begins.
    fn machine(&mut self) -> Option<MachineReading> {
        None
    }
}

/// Watches nothing: the fastest observer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl RunObserver for Unobserved {}

/// Keeps the whole log in memory.
#[derive(Clone, Debug, Default)]
pub struct LogKeeper {
    /// The rows so far.
    pub log: LogChunk,
}

impl RunObserver for LogKeeper {
    fn chunk(&mut self, chunk: LogChunk) -> ControlFlow<()> {
        self.log.append(chunk);
        ControlFlow::Continue(())
    }

    fn wants_log(&self) -> bool {
        true
    }
}
