//! Traces without a drive: what a file is, and its requests as columns.

use crate::columns::{log_dict, trace_dict};
use crate::error::{OrPy, UsageError, json};
use crate::signals::Signals;
use pyo3::prelude::*;
use ssdscope_io::trace::{self, CHUNK_ROWS, TraceColumns, TraceOptions, open_records, sniff};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Say which format a trace is in, as JSON.
#[pyfunction]
pub fn sniff_trace(py: Python<'_>, path: PathBuf, options_json: &str) -> PyResult<String> {
    let options = options_of(options_json)?;
    json(&py.detach(|| sniff(&path, &options)).or_py()?)
}

fn options_of(text: &str) -> PyResult<TraceOptions> {
    serde_json::from_str(text)
        .map_err(|error| UsageError::new_err(format!("trace options: {error}")))
}

/// Read the requests of a trace, by time, some at a time; what it is, as JSON.
#[pyfunction]
pub fn read_trace(
    py: Python<'_>,
    path: PathBuf,
    options_json: &str,
    chunk: Py<PyAny>,
) -> PyResult<String> {
    let options = options_of(options_json)?;
    let give = |columns: TraceColumns| {
        Python::attach(|py| chunk.call1(py, (trace_dict(py, columns)?,)).map(drop))
    };
    py.detach(|| {
        let mut signals = Signals::new();
        let mut watch = |_lines| match signals.keep_going(|_, _| Ok(())) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let opened = open_records(&path, &options, &mut watch);
        signals.take()?;
        let mut records = opened.or_py()?;
        let mut columns = TraceColumns::default();
        for record in records.by_ref() {
            columns.push(&record.or_py()?);
            if columns.len() == CHUNK_ROWS {
                give(std::mem::take(&mut columns))?;
            }
        }
        if !columns.is_empty() {
            give(columns)?;
        }
        json(records.stats())
    })
}

/// Read fio's logs, merged by time, some rows at a time; what they hold, as JSON.
#[pyfunction]
pub fn read_fio_logs(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options_json: &str,
    chunk: Py<PyAny>,
) -> PyResult<String> {
    let options = serde_json::from_str(options_json)
        .map_err(|error| UsageError::new_err(format!("fio log options: {error}")))?;
    py.detach(|| {
        let mut signals = Signals::new();
        let mut watch = |_lines| match signals.keep_going(|_, _| Ok(())) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let mut failed = None;
        let mut give = |rows| {
            let given = Python::attach(|py| chunk.call1(py, (log_dict(py, rows)?,)).map(drop));
            failed = given.err();
            if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let told = trace::read_fio_logs(&paths, &options, &mut give, &mut watch);
        failed.map_or(Ok(()), Err)?;
        signals.take()?;
        json(&told.or_py()?)
    })
}
