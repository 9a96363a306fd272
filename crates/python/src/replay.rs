//! The options of a replay as one JSON object, and its summary with what became of the trace.

use crate::error::{OrPy, UsageError, json};
use crate::observer::PyObserver;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use ssdscope_io::driver::{self, ReplayMode, ReplayOptions};
use ssdscope_io::summary::RunSummary;
use ssdscope_io::trace::{Align, Fit, Target, Times, TraceOptions, TraceStats, open_trace_watched};
use ssdscope_io::{Bytes, Device, DeviceInfo, Nanos};
use std::ops::{ControlFlow, Range};
use std::path::Path;

/// How to read a trace, where to put it, and how to pace it.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    format: Option<String>,
    columns: Option<String>,
    times: Times,
    overlay_volumes: bool,
    mode: ReplayMode,
    iodepth: u32,
    thinktime_ns: u64,
    time_scale: f64,
    align: Align,
    fit: Fit,
    volume: Option<u64>,
    reads_only: bool,
    skip_bad: bool,
    limit: Option<u64>,
    spread_ties: bool,
    offset_bytes: u64,
    size_bytes: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        let ReplayOptions { mode, iodepth, time_scale, .. } = ReplayOptions::default();
        let TraceOptions { format, columns, align, fit, volume, .. } = TraceOptions::default();
        let TraceOptions { times, overlay_volumes, .. } = TraceOptions::default();
        let TraceOptions { reads_only, skip_bad, limit, spread_ties, .. } = TraceOptions::default();
        Self {
            format,
            columns,
            times,
            overlay_volumes,
            mode,
            iodepth,
            thinktime_ns: 0,
            time_scale,
            align,
            fit,
            volume,
            reads_only,
            skip_bad,
            limit,
            spread_ties,
            offset_bytes: 0,
            size_bytes: None,
        }
    }
}

impl Options {
    pub fn from_json(text: &str) -> Result<Self, PyErr> {
        serde_json::from_str(text)
            .map_err(|error| UsageError::new_err(format!("replay options: {error}")))
    }

    /// How to pace the trace.
    const fn pacing(&self, trace: &TraceStats) -> ReplayOptions {
        ReplayOptions {
            mode: self.mode,
            iodepth: self.iodepth,
            thinktime: Nanos(self.thinktime_ns),
            time_scale: self.time_scale,
            expected_requests: Some(trace.requests),
            expected_span: Some(trace.span_ns),
        }
    }

    /// The part of the drive that the trace is to land on.
    fn target(&self, info: &DeviceInfo) -> Result<Target, PyErr> {
        let whole = Target::whole(info);
        let Bytes(unit) = whole.unit;
        let rest = info.capacity_bytes.checked_sub(self.offset_bytes);
        let size = self.size_bytes.or(rest).filter(|&size| size > 0);
        match (size, rest) {
            (Some(size), Some(rest))
                if size <= rest
                    && size.is_multiple_of(unit)
                    && self.offset_bytes.is_multiple_of(unit) =>
            {
                Ok(Target { offset: Bytes(self.offset_bytes), capacity: Bytes(size), ..whole })
            }
            _ => Err(UsageError::new_err(format!(
                "--offset, --size: {} from byte {} is not a part of the drive \
                 ({} bytes) in whole units of {unit} bytes",
                self.size_bytes.map_or("the rest".to_owned(), |size| format!("{size} bytes")),
                self.offset_bytes,
                info.capacity_bytes
            ))),
        }
    }

    /// How to read the trace.
    fn trace(&self) -> TraceOptions {
        let Self { align, fit, volume, reads_only, skip_bad, limit, spread_ties, .. } = *self;
        let Self { times, overlay_volumes, .. } = *self;
        let (format, columns) = (self.format.clone(), self.columns.clone());
        TraceOptions {
            format,
            columns,
            times,
            overlay_volumes,
            align,
            fit,
            volume,
            reads_only,
            skip_bad,
            limit,
            spread_ties,
        }
    }
}

/// Refuses a trace that writes to a drive that may only be read, before it has run halfway.
fn require_writable(info: &DeviceInfo, trace: &TraceStats) -> PyResult<()> {
    let TraceStats { writes, requests, .. } = trace;
    if info.writable || *writes == 0 {
        return Ok(());
    }
    Err(UsageError::new_err(format!(
        "{writes} of the trace's {requests} requests write, and the target is open for reading \
         only\n\nhint: --reads-only leaves them out; for a regular file, doctor --identify prints the \
         token that --destroy-data takes"
    )))
}

/// The bytes of the drive that the trace writes, up to where it cannot be read on.
fn lost_by(path: &Path, options: &Options, target: Target) -> Vec<Range<u64>> {
    let mut never = |_lines| ControlFlow::Continue(());
    let Ok(trace) = open_trace_watched(path, &options.trace(), target, &mut never) else {
        return Vec::new(); // what the replay itself meets is said then
    };
    let requests = trace.map_while(Result::ok).map(|each| (each.op, each.lba, each.sectors));
    driver::of_requests(requests).collect()
}

/// A run's summary with the trace's.
#[derive(Serialize)]
struct ReplaySummary<'a> {
    #[serde(flatten)]
    run: &'a RunSummary,
    trace: &'a TraceStats,
}

/// Replays the trace at `path`; the summary as JSON.
pub fn replay(
    device: &mut dyn Device,
    path: &Path,
    options: &Options,
    observer: &mut PyObserver,
) -> PyResult<String> {
    let target = options.target(&device.info())?;
    let mut watch = |_lines| {
        if observer.keep_going() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let opened = open_trace_watched(path, &options.trace(), target, &mut watch);
    observer.raise_interrupt()?;
    let mut trace = opened.or_py()?;
    require_writable(&device.info(), trace.stats())?;
    let spans = || lost_by(path, options, target);
    if !driver::expect_writes(device, spans, observer).or_py()? {
        observer.raise_interrupt()?;
    }
    let pacing = options.pacing(trace.stats());
    let run = driver::replay(device, &mut trace, &pacing, observer).or_py()?;
    json(&ReplaySummary { run: &run, trace: trace.stats() })
}
