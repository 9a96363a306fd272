//! Opens a trace for a drive and hands out its requests.

use super::TimedRequest;
use super::error::TraceError;
use super::fit::Placement;
use super::format::Record;
use super::options::{Align, Fit, Target, TraceOptions, TraceStats};
use super::order::{Sorter, WINDOW_REQUESTS};
use super::records::{Records, Watch};
use super::sniff::choose;
use super::source::Source;
use super::survey::Surveyor;
use super::ties::Ties;
use crate::units::{Bytes, Nanos};
use std::ops::ControlFlow;
use std::path::Path;

/// The requests of a trace by time, the first at zero, each as the trace has it: in its
/// own volume, at its own bytes.
///
/// Ends after the first error.
pub struct RecordReader {
    stats: TraceStats,
    records: Records<'static>,
    /// Only where the trace is out of order.
    sorter: Option<Sorter>,
    /// Only where requests of one instant are to be spread.
    ties: Option<Ties>,
    first: Nanos,
    delivered: u64,
    failed: bool,
}

/// The requests of a trace by time, the first at zero, each where it lands on the drive.
///
/// Ends after the first error.
pub struct TraceReader {
    records: RecordReader,
    placement: Placement,
    failed: bool,
}

/// Opens the trace at `path` for no drive in particular; otherwise as [`open_trace_watched`].
///
/// # Errors
/// Whatever keeps the trace from being read.
pub fn open_records(
    path: &Path,
    options: &TraceOptions,
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<RecordReader, TraceError> {
    // A drive that everything fits on as it is.
    let anywhere = Target { offset: Bytes(0), capacity: Bytes(u64::MAX), unit: Bytes(1) };
    let options = TraceOptions { align: Align::Refuse, fit: Fit::Refuse, ..options.clone() };
    open(path, &options, anywhere, watch).map(|(records, _)| records)
}

/// Opens the trace at `path` for `target`: reads it once to know its volumes, its span and
/// every problem, and stands ready to read it again.
///
/// ```no_run
/// use ssdscope_io::Bytes;
/// use ssdscope_io::trace::{Align, Target, TraceOptions, open_trace};
///
/// let drive = Target { offset: Bytes(0), capacity: Bytes(32 << 30), unit: Bytes(4096) };
/// let options = TraceOptions { align: Align::Expand, ..TraceOptions::default() };
/// for request in open_trace("Financial1.spc.zst".as_ref(), &options, drive)? {
///     println!("{:?}", request?);
/// }
/// # Ok::<(), ssdscope_io::TraceError>(())
/// ```
///
/// # Errors
/// Whatever keeps the whole trace from running on this drive, with counts and the option
/// that helps; nothing was replayed then.
///
/// # Panics
/// If the unit of `target` is zero.
pub fn open_trace(
    path: &Path,
    options: &TraceOptions,
    target: Target,
) -> Result<TraceReader, TraceError> {
    open_trace_watched(path, options, target, &mut |_| ControlFlow::Continue(()))
}

/// As [`open_trace`], calling `watch` with the number of lines read every few
/// milliseconds of the first pass; `Break` cancels it.
///
/// # Errors
/// As [`open_trace`], and [`TraceError::Interrupted`].
///
/// # Panics
/// As [`open_trace`].
pub fn open_trace_watched(
    path: &Path,
    options: &TraceOptions,
    target: Target,
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<TraceReader, TraceError> {
    let (records, placement) = open(path, options, target, watch)?;
    Ok(TraceReader { records, placement, failed: false })
}

fn open(
    path: &Path,
    options: &TraceOptions,
    target: Target,
    watch: Watch<'_>,
) -> Result<(RecordReader, Placement), TraceError> {
    let source = Source::open(path)?;
    let format = choose(&source, options, watch)?;
    let surveyor = Surveyor { source: &source, format, options, target };
    let survey = surveyor.survey(watch)?;
    let records = RecordReader {
        records: Records::new(&source, format, options, None)?,
        sorter: (survey.stats.reordered > 0).then(|| Sorter::new(WINDOW_REQUESTS)),
        ties: options.spread_ties.then(Ties::default),
        stats: survey.stats,
        first: survey.first,
        delivered: 0,
        failed: false,
    };
    Ok((records, survey.placement))
}

impl RecordReader {
    /// What the trace is; complete from the start.
    #[must_use]
    pub const fn stats(&self) -> &TraceStats {
        &self.stats
    }

    #[inline]
    fn read(&mut self) -> Result<Option<Record>, TraceError> {
        let Self { records, sorter, ties, .. } = self;
        let mut sorted = || match sorter {
            None => records.next(),
            Some(sorter) => sorter.next(records),
        };
        let record = match ties {
            None => sorted()?,
            Some(ties) => ties.next(sorted)?,
        };
        match record {
            Some(record) => {
                self.delivered += 1;
                let arrival = record.arrival.0.checked_sub(self.first.0).map(Nanos);
                let arrival = arrival.ok_or_else(|| self.changed(record.line))?;
                Ok(Some(Record { arrival, ..record }))
            }
            None if self.delivered < self.stats.requests => Err(self.changed(self.records.line())),
            None => Ok(None),
        }
    }

    fn changed(&self, line: u64) -> TraceError {
        TraceError::Changed { path: self.records.label().to_owned(), line }
    }
}

impl Iterator for RecordReader {
    type Item = Result<Record, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let item = self.read().transpose();
        self.failed = matches!(item, Some(Err(_)));
        item
    }
}

impl TraceReader {
    /// What the trace is and what was done to make it fit; complete from the start.
    #[must_use]
    pub const fn stats(&self) -> &TraceStats {
        self.records.stats()
    }

    fn request(&self, record: &Record) -> Result<TimedRequest, TraceError> {
        let &Record { arrival, op, line: source_line, .. } = record;
        let (lba, sectors) =
            self.placement.place(record).ok_or_else(|| self.records.changed(source_line))?;
        Ok(TimedRequest { arrival, op, lba, sectors, source_line })
    }
}

impl Iterator for TraceReader {
    type Item = Result<TimedRequest, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let item = self.records.next()?.and_then(|record| self.request(&record));
        self.failed = item.is_err();
        Some(item)
    }
}
