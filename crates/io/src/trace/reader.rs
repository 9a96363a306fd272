//! Opens a trace for a drive and hands out its requests.

use super::TimedRequest;
use super::error::TraceError;
use super::fit::Placement;
use super::format::Record;
use super::options::{Target, TraceOptions, TraceStats};
use super::order::{Sorter, WINDOW_REQUESTS};
use super::records::{Records, Watch};
use super::sniff::choose;
use super::source::Source;
use super::survey::Surveyor;
use crate::units::Nanos;
use std::ops::ControlFlow;
use std::path::Path;

/// The requests of a trace by time, the first at zero, each where it lands on the drive.
///
/// Ends after the first error.
pub struct TraceReader {
    stats: TraceStats,
    placement: Placement,
    records: Records<'static>,
    /// Only where the trace is out of order.
    sorter: Option<Sorter>,
    first: Nanos,
    delivered: u64,
    failed: bool,
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
    let source = Source::open(path)?;
    let watch: Watch<'_> = watch;
    let format = choose(&source, options.format.as_deref(), watch)?;
    let surveyor = Surveyor { source: &source, format, options, target };
    let survey = surveyor.survey(watch)?;
    Ok(TraceReader {
        records: Records::new(&source, format, options, None)?,
        sorter: (survey.stats.reordered > 0).then(|| Sorter::new(WINDOW_REQUESTS)),
        stats: survey.stats,
        placement: survey.placement,
        first: survey.first,
        delivered: 0,
        failed: false,
    })
}

impl TraceReader {
    /// What the trace is and what was done to make it fit; complete from the start.
    #[must_use]
    pub const fn stats(&self) -> &TraceStats {
        &self.stats
    }

    fn read(&mut self) -> Result<Option<TimedRequest>, TraceError> {
        let record = match &mut self.sorter {
            None => self.records.next()?,
            Some(sorter) => sorter.next(&mut self.records)?,
        };
        match record {
            Some(record) => {
                self.delivered += 1;
                self.request(&record).map(Some)
            }
            None if self.delivered < self.stats.requests => Err(self.changed(self.records.line())),
            None => Ok(None),
        }
    }

    fn request(&self, record: &Record) -> Result<TimedRequest, TraceError> {
        let arrival = record.arrival.0.checked_sub(self.first.0).map(Nanos);
        match (arrival, self.placement.place(record)) {
            (Some(arrival), Some((lba, sectors))) => {
                Ok(TimedRequest { arrival, op: record.op, lba, sectors, source_line: record.line })
            }
            _ => Err(self.changed(record.line)),
        }
    }

    fn changed(&self, line: u64) -> TraceError {
        TraceError::Changed { path: self.records.label().to_owned(), line }
    }
}

impl Iterator for TraceReader {
    type Item = Result<TimedRequest, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let item = self.read().transpose();
        self.failed = matches!(item, Some(Err(_)));
        item
    }
}
