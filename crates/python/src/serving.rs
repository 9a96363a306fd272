//! A device served over NBD.

use crate::error::{IntoPy, OrPy, UsageError, json};
use crate::signals::Signals;
use pyo3::prelude::*;
use serde::Deserialize;
use ssdscope_host::Lender;
use ssdscope_host::nbd::listen::{Listener, NamedSocket};
use ssdscope_host::nbd::server::{HANDSHAKE, default_store};
use ssdscope_host::nbd::store::Store;
use ssdscope_host::nbd::{NbdError, ServeObserver, ServeOptions, ServeSummary, serve};
use ssdscope_io::{Device, NullDevice};
use std::path::{Path, PathBuf};

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

impl Serving {
    fn from_json(text: &str) -> PyResult<Self> {
        serde_json::from_str(text).map_err(|error| UsageError::new_err(error.to_string()))
    }
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
    let serving = Serving::from_json(options_json)?;
    let store = store_for(device, places.backing.as_deref(), &serving).or_py()?;
    let options = prepare(store, &places, serving).or_py()?;
    run(py, device, options, callbacks)
}

/// The same of a real drive or file, with its own data.
pub fn serve_lent(
    py: Python<'_>,
    lender: &Lender,
    places: Places,
    options_json: &str,
    callbacks: Callbacks,
) -> PyResult<(String, Option<String>)> {
    let serving = Serving::from_json(options_json)?;
    let region = lender.lend().map_err(|error| {
        crate::error::DeviceError::new_err(format!("cannot open the target once more: {error}"))
    })?;
    let options = prepare(Store::Region(region), &places, serving).or_py()?;
    run(py, &mut NullDevice::in_place_of(lender.info().clone()), options, callbacks)
}

fn run(
    py: Python<'_>,
    device: &mut dyn Device,
    options: ServeOptions,
    callbacks: Callbacks,
) -> PyResult<(String, Option<String>)> {
    let port = options.listeners.iter().find_map(Listener::port);
    callbacks.listening.call1(py, (port,))?;
    let mut watcher = Watcher { signals: Signals::new(), callbacks, asked: false };
    let (summary, broken) = py.detach(|| serve(device, options, &mut watcher)).or_py()?;
    watcher.signals.into_result(py)?;
    Ok((json(&summary)?, broken.map(|error| error.to_string())))
}

fn store_for(
    device: &dyn Device,
    backing: Option<&Path>,
    serving: &Serving,
) -> Result<Store, NbdError> {
    let store = default_store(device, serving.memory_bytes_max)?;
    match backing {
        None => Ok(store),
        Some(path) => Store::backing_file(path, device.info().capacity_bytes, serving.read_only),
    }
}

fn prepare(store: Store, places: &Places, serving: Serving) -> Result<ServeOptions, NbdError> {
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
