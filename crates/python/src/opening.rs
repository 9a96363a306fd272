//! Functions that open devices, and describe paths and drive files.

use crate::device::PyDevice;
use crate::error::{ConfigError, DeviceError, OrPy, UsageError, json};
use crate::keys::KeyRecord;
use crate::signals::watched;
use pyo3::prelude::*;
use serde::Serialize;
use ssdscope_host::nbd::{NbdAddress, NbdClient, NbdTarget, Patience, identify_export};
use ssdscope_host::{Consent, EngineChoice, open_read, open_write};
use ssdscope_io::{NullDevice, Raid0};
use ssdscope_sim::config::keys::KEYS;
use ssdscope_sim::{DriveConfig, State};
use std::path::PathBuf;

/// As the feature of pyo3 in `Cargo.toml` has it, and the name of a wheel.
const INTERFACE: &str = "abi3 cp311";

/// What to do where a drive takes more memory than there is.
const SMALLER: &str =
    "fewer or larger pages, or the state fresh, need less; so does another machine";

/// The version of the native module.
#[pyfunction]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// What the module is compiled from and by: the commit, the compiler, the interface to Python.
#[pyfunction]
pub fn build() -> (&'static str, &'static str, &'static str) {
    (env!("SSDSCOPE_COMMIT"), env!("SSDSCOPE_COMPILER"), INTERFACE)
}

/// Open a block device or a file for reading, or with its token for writing.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords cross the border one by one")]
pub fn open_file(
    py: Python<'_>,
    path: PathBuf,
    destroy_token: Option<&str>,
    overwrite_existing: bool,
    allow_virtual: bool,
    window: Option<(u64, Option<u64>)>,
    write_limit_bytes: Option<u64>,
    preserve_content: bool,
) -> PyResult<PyDevice> {
    let opened = py.detach(|| match destroy_token {
        None => open_read(&path, EngineChoice::Auto),
        Some(token) => {
            let consent = Consent {
                token,
                overwrite_existing,
                allow_virtual,
                window,
                write_limit_bytes,
                preserve_content,
            };
            open_write(&path, &consent, EngineChoice::Auto)
        }
    });
    let device = opened.or_py()?;
    let access = json(device.access())?;
    let (contents, lender) = (device.contents(), device.lender());
    let disk = lender.link().and_then(|link| ssdscope_host::quiet::disk_beneath(&link));
    let device = PyDevice::new(Box::new(device), Some(access)).on_disk(disk);
    Ok(device.with_contents(contents).with_lender(lender))
}

/// Say what a device or file is, as JSON.
#[pyfunction]
pub fn identify(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    json(&py.detach(|| ssdscope_host::identify(&path)).or_py()?)
}

/// Open an export of an NBD server for reading, or with its token for writing.
#[pyfunction]
pub fn open_nbd(
    py: Python<'_>,
    socket: Option<PathBuf>,
    port: Option<u16>,
    export: String,
    slow_down: f64,
    destroy_token: Option<String>,
) -> PyResult<PyDevice> {
    let address = address(socket, port)?;
    let patience = Patience::default();
    let target = NbdTarget { address, export, slow_down, destroy_token, patience };
    let access = json(&NbdAccess::of(&target))?;
    // A server that keeps silent takes seconds to give up, hence the watched thread.
    let device = watched(py, move || NbdClient::open(&target))?.or_py()?;
    let contents = device.contents();
    Ok(PyDevice::new(Box::new(device), Some(access)).with_contents(contents))
}

/// Say what a server offers under a name, as JSON; nothing is read or written.
#[pyfunction]
pub fn identify_nbd(
    py: Python<'_>,
    socket: Option<PathBuf>,
    port: Option<u16>,
    export: String,
) -> PyResult<String> {
    let (address, patience) = (address(socket, port)?, Patience::default());
    let target = NbdTarget { address, export, slow_down: 1.0, destroy_token: None, patience };
    json(&watched(py, move || identify_export(&target))?.or_py()?)
}

fn address(socket: Option<PathBuf>, port: Option<u16>) -> PyResult<NbdAddress> {
    match (socket, port) {
        (Some(path), _) => Ok(NbdAddress::Unix(path)),
        (None, Some(port)) => Ok(NbdAddress::Loopback(port)),
        (None, None) => Err(UsageError::new_err("expected a socket or a port")),
    }
}

/// How requests reach an export: the keys of a file's access.
#[derive(Serialize)]
struct NbdAccess {
    engine: &'static str,
    engine_note: Option<String>,
    direct_io: bool,
    direct_io_note: Option<String>,
    memory_backed: bool,
    holes_bytes: u64,
    slow_down: f64,
}

impl NbdAccess {
    fn of(target: &NbdTarget) -> Self {
        Self {
            engine: "nbd",
            engine_note: Some(format!(
                "through {}, times divided by {}",
                target.address, target.slow_down
            )),
            direct_io: false,
            direct_io_note: Some("the server decides".to_owned()),
            memory_backed: false,
            holes_bytes: 0,
            slow_down: target.slow_down,
        }
    }
}

/// A device that completes everything at once: shows our own overhead.
#[pyfunction]
pub fn open_null(capacity_bytes: u64) -> PyDevice {
    PyDevice::new(Box::new(NullDevice::new(capacity_bytes)), None)
}

/// Open a simulated drive from the text of a drive file, which messages call `label`.
#[pyfunction]
pub fn open_sim(
    py: Python<'_>,
    toml: &str,
    label: &str,
    sets: Vec<String>,
    state: Option<&str>,
    seed: u64,
) -> PyResult<PyDevice> {
    let drive = DriveConfig::parse(toml, label, &sets).or_py()?;
    let state = state.map(str::parse::<State>).transpose().map_err(UsageError::new_err)?;
    let opened = state.unwrap_or(drive.default_state);
    crate::exhaustion::opening(&format!("{label} ({opened})"));
    ssdscope_host::memory::require(drive.firmware.tables_bytes(opened)).map_err(|short| {
        DeviceError::new_err(format!("{label}, {opened}: {short}\n\nhint: {SMALLER}"))
    })?;
    // A settled state of a large drive takes minutes, hence the watched thread.
    let device = watched(py, move || ssdscope_sim::open(&drive, state, seed))?.or_py()?;
    Ok(PyDevice::new(device, None))
}

/// Stripe devices into one; they belong to it from then on.
#[pyfunction]
pub fn open_raid0(members: Vec<Py<PyDevice>>, chunk_bytes: u64) -> PyResult<PyDevice> {
    let twice = |(index, member): (usize, &Py<PyDevice>)| {
        members[..index].iter().any(|other| other.is(member))
    };
    if members.iter().enumerate().any(twice) {
        return Err(UsageError::new_err("a device cannot be two members of one RAID-0"));
    }
    let devices = PyDevice::take_all(members.iter().map(Py::get))?;
    Ok(PyDevice::new(Box::new(Raid0::new(devices, chunk_bytes).or_py()?), None))
}

/// Every key of a drive with its value, defaults included, as JSON.
#[pyfunction]
pub fn resolve_drive(toml: &str, label: &str, sets: Vec<String>) -> PyResult<String> {
    json(DriveConfig::parse(toml, label, &sets).or_py()?.resolved())
}

/// Every fault of a drive file, a line each; none if it works.
#[pyfunction]
pub fn check_drive(toml: &str, label: &str) -> Vec<String> {
    DriveConfig::parse(toml, label, &[]).err().map_or_else(Vec::new, |faults| faults.lines())
}

/// Refuse TOML that is nested too deeply to be read in any time, before it is parsed.
#[pyfunction]
pub fn check_toml(toml: &str, label: &str) -> PyResult<()> {
    ssdscope_sim::config::check_shape(toml)
        .map_err(|(line, why)| ConfigError::new_err(format!("{label}:{line}: {why}")))
}

/// Every key that a drive file may hold, as JSON.
#[pyfunction]
pub fn drive_keys() -> PyResult<String> {
    let keys: Vec<_> = KEYS.iter().map(KeyRecord::from).collect();
    json(&keys)
}
