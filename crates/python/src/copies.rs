//! The class `Copies`: runs on copies of drives over all cores, outcomes one by one in order.

use crate::columns::log_dict;
use crate::device::PyDevice;
use crate::error::{IntoPy, OrPy, json};
use crate::signals::PERIOD;
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ssdscope_io::driver::copies::{Copies, Course, NextOutcome};
use ssdscope_io::workload::Workload;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

/// Runs that have begun; an iterator of what they come to.
#[pyclass(frozen, name = "Copies", module = "ssdscope._native")]
pub struct PyCopies(Mutex<Option<Copies>>);

/// A course as Python gives it: the place of its drive, workloads as JSON, whether it is logged.
type Asked = (usize, Vec<String>, bool);

/// What a course came to: its summaries as JSON, why it ended early if it did, its log if kept.
type Told<'py> = (String, Option<Py<PyBaseException>>, Option<Bound<'py, PyDict>>);

/// Begin to run courses, each on a copy of one of the drives, on so many threads.
#[pyfunction]
pub fn run_on_copies(
    py: Python<'_>,
    drives: Vec<PyRef<'_, PyDevice>>,
    courses: Vec<Asked>,
    threads: Option<NonZero<usize>>,
) -> PyResult<PyCopies> {
    let drives = drives.iter().map(|drive| drive.forked(py)).collect::<PyResult<Vec<_>>>()?;
    let courses = courses.into_iter().map(course).collect::<PyResult<Vec<_>>>()?;
    let copies = py.detach(|| Copies::start(drives, courses, threads)).or_py()?;
    Ok(PyCopies(Mutex::new(Some(copies))))
}

fn course((drive, texts, logged): Asked) -> PyResult<Course> {
    let workloads = texts.iter().map(|text| Workload::from_json(text));
    let workloads = workloads.collect::<Result<Vec<_>, _>>().or_py()?;
    Ok(Course { drive, workloads, logged })
}

#[pymethods]
impl PyCopies {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// What the next course came to: its summaries as JSON, why it ended early, its log.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Told<'py>>> {
        loop {
            let next = py.detach(|| {
                let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                held.as_mut().map_or(NextOutcome::End, |copies| copies.next_within(PERIOD))
            });
            match next {
                NextOutcome::End => return Ok(None),
                NextOutcome::NotYet => py.check_signals()?,
                NextOutcome::Ready(outcome) => {
                    let log = outcome.log.map(|log| log_dict(py, log)).transpose()?;
                    let failure = outcome.failure.map(|error| error.into_py().into_value(py));
                    return Ok(Some((json(&outcome.summaries)?, failure, log)));
                }
            }
        }
    }

    /// End what still runs, and wait for that.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}
