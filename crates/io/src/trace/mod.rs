//! Block traces, streamed: any size, plain or compressed, in bounded memory.
//!
//! In reading order:
//!
//! * [`error`]: everything that can be wrong with a trace, said for people.

pub mod error;

pub use error::TraceError;

use crate::request::Op;
use crate::units::{Lba, Nanos, Sectors};

/// A request of a trace, ready for a drive: mapped, aligned and fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedRequest {
    /// When it was issued, counted from the first request of the trace.
    pub arrival: Nanos,
    /// What it does.
    pub op: Op,
    /// First sector on the drive.
    pub lba: Lba,
    /// Length; never zero.
    pub sectors: Sectors,
    /// The line of the trace it came from, counted from 1.
    pub source_line: u64,
}
