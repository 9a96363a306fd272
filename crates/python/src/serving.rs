//! A device served over NBD.

use crate::error::{IntoPy, OrPy, UsageError, json};
use crate::signals::Signals;
use pyo3::prelude::*;
use serde::Deserialize;
use ssdscope_host::nbd::listen::{Listener, NamedSocket};
use ssdscope_host::nbd::server::{HANDSHAKE, default_store};
use ssdscope_host::nbd::store::Store;
use ssdscope_host::nbd::{NbdError, ServeObserver, ServeOptions, ServeSummary, serve};
use ssdscope_io::Device;
use std::path::PathBuf;

impl IntoPy for NbdError {
    fn into_py(self) -> PyErr {
        let message = match self.hint() {
            Some(hint) => format!("{self}\n\nhint: {hint}"),
            None => self.to_string(),
        };
        match self {
            Self::Device(error) => error.into_py(),
            error if error.is_usage() => UsageError::new_err(message),
            _ => crate::error::DeviceError::new_err(message),
        }
    }
}

/// Where to listen, where the data lie, and what to call the export.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Serving {
    export: String,
    description: String,
    slow_down: f64,
    read_only: bool,
    memory_bytes_max: u64,
}

/// Paths and the port of a server.
pub struct Places {
    pub socket: Option<PathBuf>,
    pub port: Option<u16>,
    pub backing: Option<PathBuf>,
}

/// What Python says and hears while a drive is served.
pub struct Callbacks {
    pub listening: Py<PyAny>,
    pub asked: Py<PyAny>,
    pub statistics: Py<PyAny>,
}

struct Watcher {
    signals: Signals,
    callbacks: Callbacks,
    asked: bool,
}

impl ServeObserver for Watcher {
    fn keep_going(&mut self) -> bool {
        let Self { signals, callbacks, asked } = self;
        signals.keep_going(|py, _| {
            *asked = callbacks.asked.call0(py)?.extract(py)?;
            Ok(())
        })
    }

    fn wants_statistics(&mut self) -> bool {
        std::mem::take(&mut self.asked)
    }

    fn statistics(&mut self, summary: &ServeSummary) {
        let told = json(summary).and_then(|text| {
            Python::attach(|py| self.callbacks.statistics.call1(py, (text,)).map(drop))
        });
        self.signals.keep(told);
    }
}

/// Serves until a signal comes. Gives the statistics, and why it ended if not by a signal.
pub fn serve_device(
    py: Python<'_>,
    device: &mut dyn Device,
    places: Places,
    options_json: &str,
    callbacks: Callbacks,
) -> PyResult<(String, Option<String>)> {
    let serving: Serving = serde_json::from_str(options_json)
        .map_err(|error| UsageError::new_err(error.to_string()))?;
    let options = prepare(device, places, serving).or_py()?;
    let port = options.listeners.iter().find_map(Listener::port);
    callbacks.listening.call1(py, (port,))?;
    let mut watcher = Watcher { signals: Signals::new(), callbacks, asked: false };
    let (summary, broken) = py.detach(|| serve(device, options, &mut watcher)).or_py()?;
    watcher.signals.into_result(py)?;
    Ok((json(&summary)?, broken.map(|error| error.to_string())))
}

fn prepare(
    device: &dyn Device,
    places: Places,
    serving: Serving,
) -> Result<ServeOptions, NbdError> {
    let store = default_store(device, serving.memory_bytes_max)?;
    let store = match places.backing {
        None => store,
        Some(path) => Store::backing_file(&path, device.info().capacity_bytes, serving.read_only)?,
    };
    let socket = places.socket.as_deref().map(NamedSocket::bind).transpose()?.map(Listener::Unix);
    let port = places.port.map(Listener::tcp).transpose()?;
    Ok(ServeOptions {
        export: serving.export,
        description: serving.description,
        slow_down: serving.slow_down,
        read_only: serving.read_only,
        store,
        listeners: socket.into_iter().chain(port).collect(),
        handshake: HANDSHAKE,
    })
}
