//! What our own code costs without a drive, for `benchmarks/`: the driver on a device
//! that completes everything at once, or the reading of a trace.
//!
//! ```text
//! overhead null WORKLOAD     overhead trace FILE
//! ```
//!
//! One line of JSON comes out: how many requests, and in how many seconds.

use ssdscope_io::driver::Unobserved;
use ssdscope_io::trace::{Target, TraceOptions, open_trace};
use ssdscope_io::{Bytes, NullDevice, Workload, run_workload};
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

const CAPACITY_BYTES: u64 = 1 << 40;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let started = Instant::now();
    let requests = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["null", workload] => {
            let workload = Workload::from_json(workload)?;
            run_workload(&mut NullDevice::new(CAPACITY_BYTES), &workload, &mut Unobserved)?.requests
        }
        ["trace", path] => read_trace(path)?,
        _ => return Err("usage: overhead null WORKLOAD | overhead trace FILE".into()),
    };
    let run_s = started.elapsed().as_secs_f64();
    let report = serde_json::json!({ "requests": requests, "run_s": run_s });
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}

/// Reads a trace as a replay does: once to survey it, once for its requests.
fn read_trace(path: &str) -> Result<u64, Box<dyn Error>> {
    let capacity = Bytes(CAPACITY_BYTES);
    let target = Target { offset: Bytes(0), capacity, unit: Bytes(512) };
    let mut requests = 0;
    for request in open_trace(Path::new(path), &TraceOptions::default(), target)? {
        request?;
        requests += 1;
    }
    Ok(requests)
}
