//! Progress, log and Ctrl-C during a run.

use crate::columns::log_dict;
use crate::error::json;
use crate::signals::Signals;
use pyo3::prelude::*;
use ssdscope_host::quiet::Watch;
use ssdscope_io::Nanos;
use ssdscope_io::driver::{Progress, RunObserver};
use ssdscope_io::log::LogChunk;
use ssdscope_io::timeline::{Interval, MachineReading};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How often progress is told.
const PROGRESS_PERIOD: Duration = Duration::from_millis(100);

/// Calls back into Python.
pub struct PyObserver {
    progress: Option<Py<PyAny>>,
    chunk: Option<Py<PyAny>>,
    timeline: Option<Interval>,
    next_progress: Instant,
    signals: Signals,
    /// Of the machine, where it matters to what is measured.
    watch: Option<Watch>,
}

impl PyObserver {
    pub fn new(progress: Option<Py<PyAny>>, chunk: Option<Py<PyAny>>) -> Self {
        let next_progress = Instant::now() + PROGRESS_PERIOD;
        let (timeline, watch) = (None, None);
        Self { progress, chunk, timeline, next_progress, signals: Signals::new(), watch }
    }

    /// The same, which wants the rate over time in windows of so many nanoseconds; of 0, in as
    /// long ones as fit.
    pub fn cut(self, timeline_ns: Option<u64>) -> Self {
        let interval = |ns| if ns == 0 { Interval::Fitting } else { Interval::Every(Nanos(ns)) };
        Self { timeline: timeline_ns.map(interval), ..self }
    }

    /// The same, which watches the machine meanwhile.
    pub fn watching(self, watch: Option<Watch>) -> Self {
        Self { watch, ..self }
    }

    /// The watch, which ends the watching here.
    pub fn take_watch(&mut self) -> Option<Watch> {
        self.watch.take()
    }

    /// Whether to go on with what comes before a run: a trace is read before it is replayed.
    pub fn keep_going(&mut self) -> bool {
        self.signals.keep_going(|_, _| Ok(()))
    }

    /// Raises what stopped that: nothing has run yet, so there is no summary to return.
    pub fn raise_interrupt(&mut self) -> PyResult<()> {
        self.signals.take()
    }

    /// Raises what a callback or a signal raised; Ctrl-C stands in the summary instead.
    pub fn into_result(self, py: Python<'_>) -> PyResult<()> {
        self.signals.into_result(py)
    }

    fn flow(&self) -> ControlFlow<()> {
        if self.signals.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl RunObserver for PyObserver {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        let Self { progress: callback, next_progress, signals, .. } = self;
        signals.keep_going(|py, now| {
            match callback {
                Some(callback) if now >= *next_progress => {
                    *next_progress = now + PROGRESS_PERIOD;
                    callback.call1(py, (json(progress)?,))?;
                }
                _ => {}
            }
            Ok(())
        });
        self.flow()
    }

    fn begins(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.restart();
        }
    }

    fn chunk(&mut self, chunk: LogChunk) -> ControlFlow<()> {
        if let Some(callback) = &self.chunk {
            let result = Python::attach(|py| {
                callback.call1(py, (log_dict(py, chunk)?,))?;
                Ok(())
            });
            self.signals.keep(result);
        }
        self.flow()
    }

    fn wants_log(&self) -> bool {
        self.chunk.is_some()
    }

    fn timeline(&self) -> Option<Interval> {
        self.timeline
    }

    fn machine(&mut self) -> Option<MachineReading> {
        self.watch.as_ref().map(Watch::so_far)
    }
}

/// The same, with the log kept in memory.
pub struct KeepingObserver {
    pub observer: PyObserver,
    pub log: LogChunk,
}

impl RunObserver for KeepingObserver {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.observer.progress(progress)
    }

    fn begins(&mut self) {
        self.observer.begins();
    }

    fn chunk(&mut self, chunk: LogChunk) -> ControlFlow<()> {
        self.log.append(chunk);
        self.observer.flow()
    }

    fn wants_log(&self) -> bool {
        true
    }
}
