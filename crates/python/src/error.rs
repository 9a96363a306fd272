//! Every error of the Rust crates to one Python class, in one place.
//!
//! A hint follows the message after a blank line.

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use ssdscope_host::HostError;
use ssdscope_host::attributes::AttributeError;
use ssdscope_io::DeviceError as IoDeviceError;
use ssdscope_io::driver::{Failure, RunError};
use ssdscope_io::flow::FlowsError;
use ssdscope_io::raid0::Raid0Error;
use ssdscope_io::trace::TraceError as IoTraceError;
use ssdscope_io::workload::WorkloadError;
use ssdscope_sim::SimError;
use ssdscope_sim::config::Faults;

create_exception!(ssdscope._native, ConfigError, PyValueError, "A drive file that cannot work.");
create_exception!(
    ssdscope._native,
    TraceError,
    PyValueError,
    "A trace that cannot be read or replayed."
);
create_exception!(ssdscope._native, UsageError, PyValueError, "A request that cannot be meant.");
create_exception!(ssdscope._native, DeviceError, PyRuntimeError, "A drive that failed.");

/// What the crates' errors become.
pub trait IntoPy {
    /// The Python exception.
    fn into_py(self) -> PyErr;
}

impl IntoPy for HostError {
    fn into_py(self) -> PyErr {
        let message = match self.hint() {
            Some(hint) => format!("{self}\n\nhint: {hint}"),
            None => self.to_string(),
        };
        if self.is_usage() { UsageError::new_err(message) } else { DeviceError::new_err(message) }
    }
}

impl IntoPy for AttributeError {
    fn into_py(self) -> PyErr {
        let message = match self.hint() {
            Some(hint) => format!("{self}\n\nhint: {hint}"),
            None => self.to_string(),
        };
        match self {
            Self::Unknown(_) | Self::NotOffered { .. } | Self::Value { .. } => {
                UsageError::new_err(message)
            }
            _ => DeviceError::new_err(message),
        }
    }
}

impl IntoPy for Faults {
    fn into_py(self) -> PyErr {
        ConfigError::new_err(self.to_string())
    }
}

impl IntoPy for SimError {
    fn into_py(self) -> PyErr {
        let message = self.to_string();
        match self {
            Self::Config(faults) => faults.into_py(),
            Self::State(_) | Self::BadBlocks(_) | Self::WornOut { .. } => {
                UsageError::new_err(message)
            }
            Self::Stuck { .. } | Self::Livelock(_) => DeviceError::new_err(message),
        }
    }
}

impl IntoPy for IoTraceError {
    fn into_py(self) -> PyErr {
        TraceError::new_err(self.to_string())
    }
}

impl IntoPy for Raid0Error {
    fn into_py(self) -> PyErr {
        UsageError::new_err(self.to_string())
    }
}

impl IntoPy for WorkloadError {
    fn into_py(self) -> PyErr {
        UsageError::new_err(self.to_string())
    }
}

impl IntoPy for FlowsError {
    fn into_py(self) -> PyErr {
        UsageError::new_err(self.to_string())
    }
}

impl IntoPy for RunError {
    /// What was measured before the run broke is the exception's `partial`, as JSON.
    fn into_py(self) -> PyErr {
        match self {
            Self::Workload(error) => error.into_py(),
            Self::Device(error) => error.into_py(),
            Self::Broken { failure, partial } => {
                let error = failure.into_py();
                Python::attach(|py| {
                    let attached = json(&partial)
                        .and_then(|partial| error.value(py).setattr("partial", partial));
                    attached.err().unwrap_or(error)
                })
            }
            refused => UsageError::new_err(refused.to_string()),
        }
    }
}

impl IntoPy for Failure {
    fn into_py(self) -> PyErr {
        match self {
            Self::Device(error) => error.into_py(),
            Self::Source(error) => match error.downcast::<IoTraceError>() {
                Ok(error) => error.into_py(),
                Err(error) => DeviceError::new_err(error.to_string()),
            },
            other => DeviceError::new_err(other.to_string()),
        }
    }
}

impl IntoPy for IoDeviceError {
    fn into_py(self) -> PyErr {
        let message = self.to_string();
        match self {
            Self::OutOfRange { .. }
            | Self::Misaligned { .. }
            | Self::ReadOnly
            | Self::Refused(_)
            | Self::Cache { .. }
            | Self::Unsupported(_) => UsageError::new_err(message),
            Self::Stuck(_) | Self::Os { .. } | Self::Busy(_) => DeviceError::new_err(message),
        }
    }
}

/// `?` for results whose error is one of ours.
pub trait OrPy<T> {
    /// The value, or the Python exception.
    fn or_py(self) -> Result<T, PyErr>;
}

impl<T, E: IntoPy> OrPy<T> for Result<T, E> {
    fn or_py(self) -> Result<T, PyErr> {
        self.map_err(IntoPy::into_py)
    }
}

/// A record as JSON text.
pub fn json<T: Serialize>(record: &T) -> Result<String, PyErr> {
    serde_json::to_string(record).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
