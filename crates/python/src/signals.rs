//! Ctrl-C while Rust works: Python only notes a signal, somebody has to look.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How often to look.
pub const PERIOD: Duration = Duration::from_millis(10);

/// Looks for signals now and then, and keeps what they raised.
pub struct Signals {
    next_look: Instant,
    raised: Option<PyErr>,
}

impl Signals {
    pub fn new() -> Self {
        Self { next_look: Instant::now() + PERIOD, raised: None }
    }

    /// Whether to go on. Cheap between two looks; calls `work` at each look, whose
    /// exception counts like a signal's.
    pub fn keep_going(&mut self, work: impl FnOnce(Python<'_>, Instant) -> PyResult<()>) -> bool {
        let now = Instant::now();
        if now >= self.next_look && self.raised.is_none() {
            self.next_look = now + PERIOD;
            let result = Python::attach(|py| py.check_signals().and_then(|()| work(py, now)));
            self.keep(result);
        }
        self.raised.is_none()
    }

    /// Keeps the first exception.
    pub fn keep(&mut self, result: PyResult<()>) {
        if let Err(error) = result {
            self.raised.get_or_insert(error);
        }
    }

    /// Whether anything was raised.
    pub fn is_raised(&self) -> bool {
        self.raised.is_some()
    }

    /// Raises what was raised.
    pub fn take(&mut self) -> PyResult<()> {
        self.raised.take().map_or(Ok(()), Err)
    }

    /// Raises what was raised, unless it is Ctrl-C, which a run reports in its summary.
    pub fn into_result(self, py: Python<'_>) -> PyResult<()> {
        match self.raised {
            Some(error) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(error),
            _ => Ok(()),
        }
    }
}

/// Does `work` that cannot be asked to stop on a thread of its own, and returns without
/// its result when a signal raises something; the thread then ends by itself.
pub fn watched<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    // Nobody receives the result of work that was given up.
    let worker = thread::Builder::new().spawn(move || drop(sender.send(work())))?;
    py.detach(move || {
        loop {
            match receiver.recv_timeout(PERIOD) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
                Err(RecvTimeoutError::Disconnected) => panicked(worker),
            }
        }
    })
}

/// Lets the panic of a thread go on in this one.
fn panicked(worker: thread::JoinHandle<()>) -> ! {
    match worker.join() {
        Err(panic) => std::panic::resume_unwind(panic),
        Ok(()) => unreachable!("a thread that ends in peace has sent its result"),
    }
}
