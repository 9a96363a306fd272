//! Logs and traces as numpy arrays.

use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ssdscope_io::Cause;
use ssdscope_io::log::LogChunk;
use ssdscope_io::trace::TraceColumns;
use std::sync::OnceLock;
use std::thread::{self, JoinHandle};

/// A column per name, all of equal length. Numbers are signed, so that a difference of two columns
/// is right whichever is larger.
pub fn log_dict<'py>(py: Python<'py>, log: LogChunk) -> PyResult<Bound<'py, PyDict>> {
    load_numpy(py);
    let columns = PyDict::new(py);
    set(&columns, "index", signed(log.index))?;
    set(&columns, "op", log.op)?;
    set(&columns, "offset_bytes", signed(log.offset_bytes))?;
    set(&columns, "bytes", signed(log.bytes))?;
    set(&columns, "submit_ns", signed(log.submit_ns))?;
    set(&columns, "complete_ns", signed(log.complete_ns))?;
    set(&columns, "error", log.error)?;
    if let Some(flow) = log.flow {
        set(&columns, "flow", flow.into_iter().map(i32::from).collect())?;
    }
    if let Some(parts) = log.attribution_ns {
        for (cause, part_ns) in Cause::ALL.into_iter().zip(*parts) {
            set(&columns, &format!("attr_{}_ns", cause.name()), signed(part_ns))?;
        }
    }
    Ok(columns)
}

/// The same numbers with a sign, in the same memory: none reaches 2^63.
fn signed(values: Vec<u64>) -> Vec<i64> {
    values.into_iter().map(u64::cast_signed).collect()
}

/// The requests of a trace.
pub fn trace_dict<'py>(py: Python<'py>, trace: TraceColumns) -> PyResult<Bound<'py, PyDict>> {
    load_numpy(py);
    let columns = PyDict::new(py);
    set(&columns, "arrival_ns", trace.arrival_ns)?;
    set(&columns, "op", trace.op)?;
    set(&columns, "volume", trace.volume)?;
    set(&columns, "offset_bytes", trace.offset_bytes)?;
    set(&columns, "bytes", trace.bytes)?;
    set(&columns, "latency_ns", trace.latency_ns)?;
    Ok(columns)
}

/// Loads numpy where no signal can break in: Python handles signals on its main thread only, and
/// an exception from a handler while the interface of numpy is first asked for is a panic there.
fn load_numpy(py: Python<'_>) {
    static LOADED: OnceLock<()> = OnceLock::new();
    py.detach(|| {
        LOADED.get_or_init(|| {
            let load = || Python::attach(|py| drop(PyArray1::<u8>::from_slice(py, &[])));
            // A numpy that cannot be loaded says so where it is asked for, on the main thread.
            let _ = thread::Builder::new().spawn(load).map(JoinHandle::join);
        });
    });
}

/// Up to so many bytes are copied: the array of a `Vec` costs as much as that.
const COPIED_BYTES: usize = 4_096;

/// Adds a column; a long one is the array's memory from now on.
fn set<T: Element>(columns: &Bound<'_, PyDict>, name: &str, values: Vec<T>) -> PyResult<()> {
    let array = if size_of_val(values.as_slice()) <= COPIED_BYTES {
        PyArray1::from_slice(columns.py(), &values)
    } else {
        PyArray1::from_vec(columns.py(), values)
    };
    columns.set_item(name, array)
}
