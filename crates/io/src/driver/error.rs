//! Why a run could not start, or did not come to its end.

use crate::device::DeviceError;
use crate::flow::FlowsError;
use crate::summary::RunSummary;
use crate::workload::WorkloadError;
use std::error::Error;

/// What broke a run that had begun.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The device refused a request or failed as a whole.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The device lets time pass without ever completing what it holds.
    #[error(
        "the device makes no progress: {in_flight} requests in flight, \
         the last completion was at {last_ns} ns and it is {now_ns} ns now"
    )]
    Stalled {
        /// Requests the device holds.
        in_flight: usize,
        /// The last completion on the device's clock, or the start of the run.
        last_ns: u64,
        /// The present on the device's clock.
        now_ns: u64,
    },
    /// Time goes on beyond what logs and summaries hold.
    #[error(
        "it is {now_ns} ns on the drive's clock, later than the 2^63 ns (292 years) that a run may \
         take: its pauses, its rate or the times of its trace are too long"
    )]
    TooLate {
        /// The present on the device's clock.
        now_ns: u64,
    },
    /// The device completed something that was never asked, or twice.
    #[error("the device completed request {0}, which is not in flight")]
    UnknownCompletion(u64),
    /// So many requests failed one after the other that going on is pointless.
    #[error("{in_a_row} requests in a row failed, the last with errno {errno}; gave up")]
    TooManyFailures {
        /// How many.
        in_a_row: u64,
        /// The errno of the last.
        errno: i32,
    },
    /// The requests themselves cannot be read on, as with a malformed trace.
    #[error(transparent)]
    Source(Box<dyn Error + Send + Sync>),
}

/// Why there is no complete result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The workload cannot run on this device; nothing was done.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The flows cannot run on this device; nothing was done.
    #[error(transparent)]
    Flows(#[from] FlowsError),
    /// The device or the options do not allow a run; nothing was done.
    #[error("{0}")]
    Refused(String),
    /// The device broke down before; nothing was done.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The run broke; what was measured before is kept, and was logged.
    #[error("{failure}")]
    Broken {
        /// What broke it.
        failure: Failure,
        /// What was measured until then.
        partial: Box<RunSummary>,
    },
}

impl RunError {
    /// What was measured before the run broke.
    #[must_use]
    pub fn partial(&self) -> Option<&RunSummary> {
        match self {
            Self::Broken { partial, .. } => Some(partial),
            Self::Workload(_) | Self::Flows(_) | Self::Refused(_) | Self::Device(_) => None,
        }
    }
}
