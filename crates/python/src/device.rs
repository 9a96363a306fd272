//! The class `Device`: one method per operation of the trait and per driver.

use crate::columns::log_dict;
use crate::error::{DeviceError, OrPy, UsageError, json};
use crate::machine::{quiet, with_quiet};
use crate::observer::{KeepingObserver, PyObserver};
use crate::read_back::read_back;
use crate::replay::{Options, replay};
use crate::serving::{Callbacks, Places, serve_device, serve_lent};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ssdscope_host::quiet::Watch;
use ssdscope_host::{Contents, Lender};
use ssdscope_io::counters::Simulated;
use ssdscope_io::driver::{self, LATEST, RequestList};
use ssdscope_io::flow::Flows;
use ssdscope_io::log::LogChunk;
use ssdscope_io::workload::Workload;
use ssdscope_io::{ClockKind, Device, Nanos, Snapshot};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

/// How long a wall clock runs between two looks for signals.
const SLICE: Duration = Duration::from_millis(10);

/// An open drive.
#[pyclass(frozen, name = "Device", module = "ssdscope._native")]
pub struct PyDevice {
    /// `None` once the device is a part of another one.
    device: Mutex<Option<Box<dyn Device>>>,
    /// How requests reach a real drive, as JSON.
    access: Option<String>,
    /// The disk beneath a real drive, whose counts the kernel keeps.
    disk: Option<String>,
    /// Of a device that stores what is written: how that is checked.
    contents: Option<Contents>,
    /// Of a file or a block device: how its data are served.
    lender: Option<Lender>,
}

/// The state of a drive, readable only by it and its forks.
#[pyclass(frozen, name = "Snapshot", module = "ssdscope._native")]
pub struct PySnapshot(Snapshot);

type Held<'a> = MutexGuard<'a, Option<Box<dyn Device>>>;

impl PyDevice {
    pub fn new(device: Box<dyn Device>, access: Option<String>) -> Self {
        Self { device: Mutex::new(Some(device)), access, disk: None, contents: None, lender: None }
    }

    /// The same, on a disk of that name.
    pub fn on_disk(self, disk: Option<String>) -> Self {
        Self { disk, ..self }
    }

    /// The same, with data that can be checked.
    pub fn with_contents(self, contents: Contents) -> Self {
        Self { contents: Some(contents), ..self }
    }

    /// The same, with data of its own that can be served.
    pub fn with_lender(self, lender: Lender) -> Self {
        Self { lender: Some(lender), ..self }
    }

    /// Watches the machine, where it matters to what is measured.
    fn watch(&self, py: Python<'_>) -> PyResult<Option<Watch>> {
        let wall = self.with(py, |device| device.info().clock)? == ClockKind::Wall;
        Ok(wall.then(|| Watch::start(self.disk.as_deref())))
    }

    /// Takes the devices out for good; none if one of them cannot be had.
    pub fn take_all<'a>(devices: impl Iterator<Item = &'a Self>) -> PyResult<Vec<Box<dyn Device>>> {
        let mut held = devices.map(Self::hold).collect::<PyResult<Vec<_>>>()?;
        held.iter_mut().try_for_each(|each| present(each).map(drop))?;
        Ok(held.iter_mut().filter_map(|each| each.take()).collect())
    }

    /// An independent copy in the same state.
    pub fn forked(&self, py: Python<'_>) -> PyResult<Box<dyn Device>> {
        self.with(py, |device| device.fork())?.ok_or_else(|| no_such("forks"))
    }

    fn hold(&self) -> PyResult<Held<'_>> {
        match self.device.try_lock() {
            Ok(held) => Ok(held),
            Err(TryLockError::WouldBlock) => {
                Err(DeviceError::new_err("the device is busy in another thread"))
            }
            Err(TryLockError::Poisoned(_)) => {
                Err(DeviceError::new_err("the device broke down in an earlier call"))
            }
        }
    }

    /// Calls `work` with the device, without the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn Device) -> T + Send,
    ) -> PyResult<T> {
        let mut held = self.hold()?;
        let device = present(&mut held)?.as_mut();
        Ok(py.detach(|| work(device)))
    }
}

fn present<'a>(held: &'a mut Held<'_>) -> PyResult<&'a mut Box<dyn Device>> {
    held.as_mut().ok_or_else(|| UsageError::new_err("the device is now a part of another one"))
}

#[pymethods]
impl PyDevice {
    /// What a host knows of the drive beforehand, as JSON.
    fn info(&self, py: Python<'_>) -> PyResult<String> {
        json(&self.with(py, |device| device.info())?)
    }

    /// How requests reach a real drive, as JSON: engine, direct I/O, holes of a file.
    fn access(&self) -> Option<&str> {
        self.access.as_deref()
    }

    /// The path by which this process reaches an open file or block device; None for all others.
    fn link(&self) -> Option<PathBuf> {
        self.lender.as_ref().and_then(Lender::link)
    }

    /// Run a workload to its end; its summary as JSON, with a timeline of windows of so many
    /// nanoseconds if asked, of as long ones as fit if 0.
    #[pyo3(signature = (workload_json, progress, chunk, timeline_ns=None))]
    fn run(
        &self,
        py: Python<'_>,
        workload_json: &str,
        progress: Option<Py<PyAny>>,
        chunk: Option<Py<PyAny>>,
        timeline_ns: Option<u64>,
    ) -> PyResult<String> {
        let workload = Workload::from_json(workload_json).or_py()?;
        let observer = PyObserver::new(progress, chunk).cut(timeline_ns);
        let mut observer = observer.watching(self.watch(py)?);
        let summary =
            self.with(py, |device| driver::run_workload(device, &workload, &mut observer))?;
        let watch = observer.take_watch();
        observer.into_result(py)?;
        with_quiet(&json(&summary.or_py()?)?, watch)
    }

    /// Run several workloads at the same time; the summary as JSON, as of `run`.
    #[pyo3(signature = (flows_json, progress, chunk, timeline_ns=None))]
    fn run_flows(
        &self,
        py: Python<'_>,
        flows_json: &str,
        progress: Option<Py<PyAny>>,
        chunk: Option<Py<PyAny>>,
        timeline_ns: Option<u64>,
    ) -> PyResult<String> {
        let flows = Flows::from_json(flows_json).or_py()?;
        let observer = PyObserver::new(progress, chunk).cut(timeline_ns);
        let mut observer = observer.watching(self.watch(py)?);
        let summary = self.with(py, |device| driver::run_flows(device, &flows, &mut observer))?;
        let watch = observer.take_watch();
        observer.into_result(py)?;
        with_quiet(&json(&summary.or_py()?)?, watch)
    }

    /// Run explicit requests in order: whether Ctrl-C ended it, how quiet the machine was, the log.
    #[expect(clippy::too_many_arguments, reason = "columns cross the border one by one")]
    fn run_list<'py>(
        &self,
        py: Python<'py>,
        ops: PyReadonlyArray1<'py, u8>,
        offsets: PyReadonlyArray1<'py, u64>,
        lengths: PyReadonlyArray1<'py, u64>,
        arrivals_ns: Option<PyReadonlyArray1<'py, u64>>,
        pauses_ns: Option<PyReadonlyArray1<'py, u64>>,
        iodepth: u32,
        thinktime_ns: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(bool, Option<String>, Bound<'py, PyDict>)> {
        let list = RequestList {
            ops: ops.as_slice()?,
            offsets_bytes: offsets.as_slice()?,
            lengths_bytes: lengths.as_slice()?,
            arrivals_ns: arrivals_ns.as_ref().map(|arrivals| arrivals.as_slice()).transpose()?,
            pauses_ns: pauses_ns.as_ref().map(|pauses| pauses.as_slice()).transpose()?,
        };
        let think = Nanos(thinktime_ns);
        let observer = PyObserver::new(progress, None).watching(self.watch(py)?);
        let (summary, mut observer, log) = self.with(py, |device| {
            let log = LogChunk::new(device.info().attribution);
            let mut keeper = KeepingObserver { observer, log };
            let summary = driver::run_list(device, &list, iodepth, think, &mut keeper);
            (summary, keeper.observer, keeper.log)
        })?;
        let watch = observer.take_watch();
        observer.into_result(py)?;
        Ok((summary.or_py()?.interrupted, quiet(watch)?, log_dict(py, log)?))
    }

    /// From now on stamp and remember what is written, and compare what is read if asked;
    /// False where nothing is stored.
    fn verify(&self, compare_reads: bool) -> bool {
        let Some(contents) = &self.contents else { return false };
        contents.verify();
        contents.compare(compare_reads);
        true
    }

    /// Give what came of comparing since it was asked last, as JSON.
    fn take_verdict(&self) -> PyResult<String> {
        json(&self.contents.as_ref().map(Contents::take_verdict))
    }

    /// Read back what was written since `verify`, and compare; what came of it, as JSON.
    fn read_back(
        &self,
        py: Python<'_>,
        request_bytes: u64,
        iodepth: u32,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let Some(contents) = self.contents.clone() else { return Err(no_such("verification")) };
        let mut observer = PyObserver::new(progress, None);
        let work = |device: &mut dyn Device| {
            read_back(device, &contents, request_bytes, iodepth, &mut observer)
        };
        let read = self.with(py, work)?;
        observer.into_result(py)?;
        json(&read)
    }

    /// Replay a trace; the summary as JSON, as of `run`.
    #[expect(clippy::too_many_arguments, reason = "what Python hears crosses the border apart")]
    #[pyo3(signature = (path, options_json, progress, chunk, timeline_ns=None))]
    fn replay(
        &self,
        py: Python<'_>,
        path: PathBuf,
        options_json: &str,
        progress: Option<Py<PyAny>>,
        chunk: Option<Py<PyAny>>,
        timeline_ns: Option<u64>,
    ) -> PyResult<String> {
        let options = Options::from_json(options_json)?;
        let observer = PyObserver::new(progress, chunk).cut(timeline_ns);
        let mut observer = observer.watching(self.watch(py)?);
        let summary = self.with(py, |device| replay(device, &path, &options, &mut observer))?;
        let watch = observer.take_watch();
        observer.into_result(py)?;
        with_quiet(&summary?, watch)
    }

    /// Serve over NBD until a signal comes; the statistics as JSON, and why it broke if it did.
    #[expect(clippy::too_many_arguments, reason = "paths cross the border as they are")]
    fn serve(
        &self,
        py: Python<'_>,
        socket: Option<PathBuf>,
        port: Option<u16>,
        backing: Option<PathBuf>,
        options_json: &str,
        listening: Py<PyAny>,
        asked: Py<PyAny>,
        statistics: Py<PyAny>,
    ) -> PyResult<(String, Option<String>)> {
        let mut held = self.hold()?;
        let device = present(&mut held)?.as_mut();
        let callbacks = Callbacks { listening, asked, statistics };
        if let Some(lender) = &self.lender {
            let places = Places { socket, port, backing };
            return serve_lent(py, lender, places, options_json, callbacks);
        }
        serve_device(py, device, Places { socket, port, backing }, options_json, callbacks)
    }

    /// Let time pass without requests.
    fn idle(&self, py: Python<'_>, ns: u64) -> PyResult<()> {
        let (clock, now) = self.with(py, |device| (device.info().clock, device.now()))?;
        let end = Nanos(now.0.saturating_add(ns));
        if end > LATEST {
            return Err(UsageError::new_err(format!(
                "{ns} ns of idle time end beyond the 2^63 ns (292 years) of a drive's clock"
            )));
        }
        let slice = match clock {
            ClockKind::Virtual => Nanos::MAX.0,
            ClockKind::Wall => u64::try_from(SLICE.as_nanos()).unwrap_or(u64::MAX),
        };
        let mut now = now;
        while now < end {
            now = self
                .with(py, |device| {
                    let to = end.min(Nanos(now.0.saturating_add(slice)));
                    device.advance(to, &mut Vec::new()).map(|()| device.now())
                })?
                .or_py()?;
            py.check_signals()?;
        }
        Ok(())
    }

    /// Switch the write cache on or off; emptying it takes time.
    fn set_write_cache(&self, py: Python<'_>, on: bool) -> PyResult<()> {
        self.with(py, |device| device.set_write_cache(on))?.or_py()
    }

    /// Switch the read cache on or off.
    fn set_read_cache(&self, py: Python<'_>, on: bool) -> PyResult<()> {
        self.with(py, |device| device.set_read_cache(on))?.or_py()
    }

    /// Read the drive's clock.
    fn now_ns(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.with(py, |device| device.now())?.0)
    }

    /// Keep the state as it is.
    fn snapshot(&self, py: Python<'_>) -> PyResult<PySnapshot> {
        let snapshot = self.with(py, |device| device.snapshot())?;
        snapshot.map(PySnapshot).ok_or_else(|| no_such("snapshots"))
    }

    /// Return to a state that was kept.
    fn restore(&self, py: Python<'_>, s: &PySnapshot) -> PyResult<()> {
        self.with(py, |device| device.restore(&s.0))?.or_py()
    }

    /// Make an independent copy in the same state.
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self::new(self.forked(py)?, None))
    }

    /// What the drive counted since it was opened, as JSON; None for real drives.
    fn counters(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |device| device.counters())?.as_ref().map(json).transpose()
    }

    /// What simulating it took since it was opened: commands of the flash one by one, pages read and
    /// programmed, pieces of tables first written, pages freed, units buffered, and parts of a map
    /// read or written back; zeros for real drives.
    fn flash_work(&self, py: Python<'_>) -> PyResult<[u64; 6]> {
        let counted = self.with(py, |device| device.counters())?.unwrap_or_default();
        let pages = counted.flash_pages_read + counted.flash_pages_programmed;
        let Simulated { flash_steps, table_pieces, pages_freed, units_buffered } =
            counted.simulated;
        let loaded = counted.map_loads + counted.map_write_backs;
        Ok([flash_steps, pages, table_pieces, pages_freed, units_buffered, loaded])
    }

    /// Bytes that others read, and wrote, since it was opened; None where nobody counts.
    fn foreign_bytes(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        let moved = self.with(py, |device| device.foreign_bytes())?;
        Ok(moved.map(|moved| (moved.read_bytes, moved.written_bytes)))
    }
}

fn no_such(what: &'static str) -> PyErr {
    Err::<(), _>(ssdscope_io::DeviceError::Unsupported(what)).or_py().expect_err("is an error")
}
