//! Glue between Rust and Python: converts, lets go of the interpreter while Rust works,
//! looks for signals, maps errors. No logic.
//!
//! In reading order:
//!
//! * [`device`]: the class `Device`, one method per operation of the trait and per driver;
//! * [`copies`]: many runs at a time, each on a copy of a drive;
//! * [`opening`]: functions that open devices, and describe paths and drive files;
//! * [`keys`]: the keys of a drive file as records;
//! * [`read_back`]: what was written, read back and compared;
//! * [`replay`]: a replay's options and summary as JSON;
//! * [`serving`]: a device served over NBD;
//! * [`trace`]: the requests of a trace, without a drive;
//! * [`machine`]: how quiet the machine was, and attributes of disks;
//! * [`observer`]: progress and log during a run;
//! * [`signals`]: Ctrl-C while Rust works;
//! * [`columns`]: logs and traces as numpy arrays;
//! * [`exhaustion`]: what is said when memory runs out;
//! * [`error`]: every Rust error to one Python class.

#![expect(clippy::needless_pass_by_value, reason = "arguments from Python arrive owned")]

mod columns;
mod copies;
mod device;
mod error;
mod exhaustion;
mod keys;
mod machine;
mod observer;
mod opening;
mod read_back;
mod replay;
mod serving;
mod signals;
mod trace;

use exhaustion::OrExit;
use mimalloc::MiMalloc;
use pyo3::prelude::pymodule;

/// Drives are copied for each run, chunk by chunk, on several threads at a time: a tenth to a
/// fifth of a study's time goes by how memory is given out.
#[global_allocator]
static ALLOCATOR: OrExit = OrExit(MiMalloc);

/// The Rust half of ssdscope. Private: `ssdscope.targets` is the way in.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::copies::{PyCopies, run_on_copies};
    #[pymodule_export]
    use crate::device::{PyDevice, PySnapshot};
    #[pymodule_export]
    use crate::error::{ConfigError, DeviceError, TraceError, UsageError};
    #[pymodule_export]
    use crate::machine::{
        Attributes, attributes, clock_overhead_ns, disk_beneath, read_attributes,
        restore_attributes,
    };
    #[pymodule_export]
    use crate::opening::{
        build, check_drive, check_toml, drive_keys, identify, identify_nbd, open_file, open_nbd,
        open_null, open_raid0, open_sim, resolve_drive, version,
    };
    #[pymodule_export]
    use crate::trace::{read_fio_logs, read_trace, sniff_trace};
}
