//! Block traces, streamed: any size, plain or compressed, in bounded memory.
//!
//! In reading order:
//!
//! * `format`: the registry of formats; `spc`, `disksim`, `mqsim` turn one
//!   line each into a [`Record`], with `number` reading times as exact decimals;
//! * `source`: opens a plain, gzip or zstd file; `lines` cuts it into bounded lines;
//! * `sniff`: which format it is, where only one reading is possible;
//! * `records`: the lines that count, and a tally of those that do not;
//! * `options`: what the user chose and what is reported back;
//! * `volumes`, `regions`, `fit`: where a request lands on the drive;
//! * `survey`: the first pass, which knows every problem before anything runs;
//! * `order`: late lines put back where their time belongs;
//! * `reader`: [`open_trace`], which combines all of it into an iterator;
//! * `error`: everything that can be wrong, said for people.
//!
//! A trace is read twice: once to learn its volumes, its span and its problems,
//! once to replay it. Hence it must be a file, not a pipe. Nothing here issues I/O
//! to a drive: that is the work of the drivers.
//!
//! A new format is one file with a [`Format`] and one line in [`FORMATS`].

mod disksim;
mod error;
mod fit;
mod format;
mod lines;
mod mqsim;
mod number;
mod options;
mod order;
mod reader;
mod records;
mod regions;
mod sniff;
mod source;
mod spc;
mod survey;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod volumes;

pub use error::TraceError;
pub use format::{FORMATS, Fault, Format, Record};
pub use options::{Align, Fit, Target, TraceOptions, TraceStats, VolumeStats};
pub use reader::{TraceReader, open_trace, open_trace_watched};
pub use sniff::{Sniffed, sniff};
pub use source::Compression;

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
