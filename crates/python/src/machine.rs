//! The machine around a drive: how quiet it was, and what of a disk was set for a while.

use crate::error::{OrPy, UsageError, json};
use pyo3::prelude::*;
use ssdscope_host::attributes::{
    AttributeError, Disk, Places, Restored, Setting, Shared, restore_all, share,
};
use ssdscope_host::quiet::{self, Watch};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Attributes of a disk, set for a while. They are set back when this goes.
#[pyclass(frozen, module = "ssdscope._native")]
pub struct Attributes {
    /// `None` once they are set back.
    session: Mutex<Option<Shared>>,
}

impl Attributes {
    fn hold(&self) -> MutexGuard<'_, Option<Shared>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Attributes {
    /// Set one; what it was before, or None if nothing changed.
    fn set(&self, name: &str, value: &str) -> PyResult<Option<String>> {
        let setting =
            Setting::named(name).ok_or_else(|| AttributeError::Unknown(name.into())).or_py()?;
        let held = self.hold();
        let session = held.as_ref().ok_or_else(|| UsageError::new_err("is set back already"))?;
        session.lock().unwrap_or_else(PoisonError::into_inner).set(setting, value).or_py()
    }

    /// Set all back, unless a device still needs some; what became of each, as JSON.
    fn restore(&self) -> PyResult<String> {
        let last = self.hold().take().and_then(Arc::into_inner);
        let Some(session) = last else { return json(&Vec::<Restored>::new()) };
        let mut session = session.into_inner().unwrap_or_else(PoisonError::into_inner);
        json(&session.restore().or_py()?)
    }
}

fn disk(name: &str) -> PyResult<Disk> {
    Disk::find(&Places::system(), name).or_py()
}

/// The name of the disk that a file lies on, or that a device is or is a part of.
#[pyfunction]
pub fn disk_beneath(path: PathBuf) -> Option<String> {
    quiet::disk_beneath(&path)
}

/// The attributes of a disk that ssdscope may set and that stand in sysfs, as JSON.
#[pyfunction]
pub fn read_attributes(disk_name: &str) -> PyResult<String> {
    let disk = disk(disk_name)?;
    let values: BTreeMap<_, _> = Setting::in_sysfs()
        .filter_map(|setting| Some((setting.name(), disk.read(setting)?)))
        .collect();
    json(&values)
}

/// Take the journal of a disk, to set attributes of it.
#[pyfunction]
pub fn attributes(disk_name: &str) -> PyResult<Attributes> {
    let session = share(&Places::system(), &disk(disk_name)?).or_py()?;
    Ok(Attributes { session: Mutex::new(Some(session)) })
}

/// Set back what killed processes have left; what became of each, as JSON.
#[pyfunction]
pub fn restore_attributes() -> PyResult<String> {
    json(&restore_all(&Places::system()).or_py()?)
}

/// Nanoseconds that reading the clock takes.
#[pyfunction]
pub fn clock_overhead_ns() -> f64 {
    quiet::clock_overhead_ns()
}

/// How quiet the machine was, as JSON; `None` where time is simulated.
pub fn quiet(watch: Option<Watch>) -> PyResult<Option<String>> {
    watch.map(|watch| json(&watch.end())).transpose()
}

/// Adds how quiet the machine was to the JSON of a summary; null where time is simulated.
pub fn with_quiet(summary: &str, watch: Option<Watch>) -> PyResult<String> {
    let quiet = quiet(watch)?.unwrap_or_else(|| "null".to_owned());
    let open = summary
        .strip_suffix('}')
        .ok_or_else(|| UsageError::new_err("a summary that is no JSON object"))?;
    Ok(format!("{open},\"quiet\":{quiet}}}"))
}
