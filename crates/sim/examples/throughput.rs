//! One run of one workload on one simulated drive, for `benchmarks/`: how long the
//! drive took to open and the run took to end, and how much memory both needed.
//!
//! ```text
//! throughput DRIVE.toml STATE RAMP_WORKLOAD WORKLOAD [log] [KEY=VALUE ...]
//! ```
//!
//! Both workloads are JSON; an empty string skips the ramp. Attribution is on, there
//! is no log unless the word stands there (its chunks are thrown away), and the
//! library's own driver runs the requests. One line of JSON comes out. Under callgrind the
//! difference of two lengths of WORKLOAD gives the instructions per request, whatever
//! opening and ramp cost.

use serde_json::{Value, json};
use ssdscope_io::driver::{RunObserver, Unobserved};
use ssdscope_io::{Device, RunSummary, Workload, run_workload};
use ssdscope_sim::{DriveConfig, State};
use std::error::Error;
use std::io::Write;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, state, ramp, workload, sets @ ..] = arguments.as_slice() else {
        return Err("usage: throughput DRIVE.toml STATE RAMP WORKLOAD [log] [KEY=VALUE ...]".into());
    };
    let (logged, sets) = match sets {
        [word, sets @ ..] if word == "log" => (true, sets),
        _ => (false, sets),
    };
    let drive = DriveConfig::parse(&std::fs::read_to_string(path)?, path, sets)?;
    let state: State = state.parse()?;
    let rss_before = memory_bytes("VmRSS:")?;

    let opening = Instant::now();
    let mut device = ssdscope_sim::open(&drive, Some(state), 1)?;
    let ready_s = opening.elapsed().as_secs_f64();
    if !ramp.is_empty() {
        run(&mut *device, ramp, &mut Unobserved)?;
    }
    let running = Instant::now();
    let summary = match logged {
        true => run(&mut *device, workload, &mut Logged)?,
        false => run(&mut *device, workload, &mut Unobserved)?,
    };
    let report = json!({
        "ready_s": ready_s,
        "run_s": running.elapsed().as_secs_f64(),
        "requests": summary.requests,
        "waf": summary.counters.as_ref().and_then(|counters| counters.waf()),
        "capacity_bytes": device.info().capacity_bytes,
        "rss_before_bytes": rss_before,
        "rss_peak_bytes": memory_bytes("VmHWM:")?,
        "summary": brief(summary)?,
    });
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}

/// Wants a log, and lets go of it.
struct Logged;

impl RunObserver for Logged {
    fn wants_log(&self) -> bool {
        true
    }
}

fn run(
    device: &mut dyn Device,
    workload: &str,
    observer: &mut dyn RunObserver,
) -> Result<RunSummary, Box<dyn Error>> {
    Ok(run_workload(device, &Workload::from_json(workload)?, observer)?)
}

/// The summary without its longest lists.
fn brief(summary: RunSummary) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(summary)?;
    if let Some(counters) = value.get_mut("counters").and_then(Value::as_object_mut) {
        counters.retain(|_, count| !count.is_array());
    }
    Ok(value)
}

/// A line of this process's `/proc/self/status`, which counts in KiB.
fn memory_bytes(line: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let kibibytes = status
        .lines()
        .find_map(|text| text.strip_prefix(line))
        .and_then(|text| text.trim().strip_suffix(" kB"))
        .ok_or("the kernel does not say how much memory is used")?;
    Ok(kibibytes.parse::<u64>()? * 1024)
}
