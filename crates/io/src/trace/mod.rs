//! Block traces, streamed: any size, plain or compressed, in bounded memory.
//!
//! In reading order:
//!
//! * `format`: the registry of formats; `spc`, `msr`, `systor`, `alibaba`, `tencent`, `fiu`,
//!   `disksim`, `mqsim` and `fio` turn one line each into a [`Record`], `vscsi` binary records,
//!   `csv` rows whose columns have names, and `biosnoop` lines of requests that are done, with
//!   `number` reading times as exact decimals;
//! * `blktrace` (binary), `blkparse` and `ftrace`: events, of which `events` makes requests;
//! * `source`: opens a plain, gzip or zstd file, and all files of a `recording`; `lines` cuts it
//!   into bounded lines;
//! * `sniff`: which format it is, where only one reading is possible; `strangers`: what is none;
//! * `plausible`: whether its sectors may as well be bytes;
//! * `records`: the lines that count, and a tally of those that do not;
//! * `options`: what the user chose and what is reported back;
//! * `volumes`, `regions`, `fit`: where a request lands on the drive;
//! * `survey`: the first pass, which knows every problem before anything runs;
//! * `order`: late lines put back where their time belongs;
//! * `ties`: requests of one instant spread until the next;
//! * `reader`: [`open_trace`], which combines all of it into an iterator, and
//!   [`open_records`] for the requests as the trace has them, without a drive;
//! * `columns`: those as columns;
//! * `fio_log`: the logs of a run of fio, latency by latency, as rows of our log;
//! * `error`: everything that can be wrong, said for people.
//!
//! A trace is read twice: once to learn its volumes, its span and its problems,
//! once to replay it. Hence it must be a file, not a pipe. Nothing here issues I/O
//! to a drive: that is the work of the drivers.
//!
//! A new format is one file with a [`Format`] and one line in [`FORMATS`].

mod alibaba;
mod biosnoop;
mod blkparse;
mod blktrace;
mod columns;
mod csv;
mod disksim;
mod error;
mod events;
mod fio;
mod fio_log;
mod fit;
mod fiu;
mod format;
mod ftrace;
mod lines;
mod mqsim;
mod msr;
mod number;
mod options;
mod order;
mod plausible;
mod reader;
mod recording;
mod records;
mod regions;
#[cfg(test)]
mod samples;
mod sniff;
mod source;
mod spc;
mod strangers;
mod survey;
mod systor;
mod tencent;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod ties;
mod volumes;
mod vscsi;

pub use columns::{CHUNK_ROWS, TraceColumns};
pub use error::TraceError;
pub use fio_log::{FioLogFile, FioLogOptions, FioLogs, read_fio_logs};
pub use format::{FORMATS, Fault, Format, Framing, Noted, Parser, Record};
pub use options::{
    Align, Fit, Target, Times, TraceOptions, TraceStats, TracedLatency, VolumeStats,
};
pub use plausible::InSectors;
pub use reader::{RecordReader, TraceReader, open_records, open_trace, open_trace_watched};
pub use records::BadLine;
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
    /// Length; zero only for a flush.
    pub sectors: Sectors,
    /// The line of the trace it came from, counted from 1.
    pub source_line: u64,
}
