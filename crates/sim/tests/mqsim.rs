//! The anchor rows of MQSim (FAST'18) on a fresh drive: latencies measured with that
//! program on the same drive. Depth 1 is exact to 10 ns; deeper within 3 % in mean and
//! median and 8 % in the 99th percentile. `mqsim_gc` has the rows with collection.
#![allow(
    clippy::unwrap_used,
    clippy::cast_sign_loss,
    clippy::print_stdout,
    reason = "a test may panic, says what it measured, and its shares are not below zero"
)]

use ssdscope_io::driver::Unobserved;
use ssdscope_io::summary::RunSummary;
use ssdscope_io::{Device, Workload, run_workload};
use ssdscope_sim::{DriveConfig, State};

fn drive(name: &str, sets: &[&str]) -> Box<dyn Device> {
    let path = format!("{}/../../python/ssdscope/drives/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let config =
        DriveConfig::parse(&text, name, &sets.iter().map(ToString::to_string).collect::<Vec<_>>())
            .unwrap();
    ssdscope_sim::open(&config, Some(State::Fresh), 1).unwrap()
}

fn run(device: &mut dyn Device, workload: &str) -> RunSummary {
    let workload = Workload::from_json(workload).unwrap();
    run_workload(device, &workload, &mut Unobserved).unwrap()
}

/// Mean, p50 and p99 of the run's reads or writes, in microseconds.
fn latency_us(summary: &RunSummary) -> (f64, f64, f64) {
    let section = summary.read.as_ref().or(summary.write.as_ref()).unwrap();
    let latency = &section.latency_ns;
    (latency.mean / 1e3, latency.p50 as f64 / 1e3, latency.p99 as f64 / 1e3)
}

fn check(name: &str, workload: &str, expected_us: (f64, f64, f64), exact: bool) {
    check_with(&[], name, workload, expected_us, exact);
}

fn check_with(
    sets: &[&str],
    name: &str,
    workload: &str,
    expected_us: (f64, f64, f64),
    exact: bool,
) {
    let mut device = drive("mqsim-512g", sets);
    let found = latency_us(&run(&mut *device, workload));
    println!("{name}: found {found:?}, expected {expected_us:?}");
    let (mean, p50, p99) = (found.0, found.1, found.2);
    if exact {
        for (found, expected) in [(mean, expected_us.0), (p50, expected_us.1), (p99, expected_us.2)]
        {
            assert!((found - expected).abs() <= 0.010, "{name}: {found} is not {expected}");
        }
        return;
    }
    for (what, found, expected, bound) in [
        ("mean", mean, expected_us.0, 0.03),
        ("p50", p50, expected_us.1, 0.03),
        ("p99", p99, expected_us.2, 0.08),
    ] {
        let error = found / expected - 1.0;
        assert!(error.abs() <= bound, "{name}: {what} {found} against {expected} ({error:+.3})");
    }
}

#[test]
fn reads_at_depth_1_are_exact() {
    let workload = r#"{"rw": "randread", "block_bytes": 4096, "requests": 20000}"#;
    check("4k random read, depth 1", workload, (88.906, 88.906, 88.906), true);
    let workload = r#"{"rw": "read", "block_bytes": 131072, "requests": 5000}"#;
    check("128k sequential read, depth 1", workload, (164.458, 164.458, 164.458), true);
}

#[test]
fn writes_at_depth_1_are_exact() {
    let workload = r#"{"rw": "randwrite", "block_bytes": 8192, "requests": 20000}"#;
    check("8k random write, depth 1", workload, (777.501, 777.501, 777.501), true);
}

#[test]
fn random_reads_queue_as_in_mqsim() {
    for (depth, requests, expected) in [
        (4, 400_000, (94.690, 88.906, 176.496)),
        (32, 1_000_000, (166.831, 125.553, 544.433)),
        (256, 1_000_000, (1023.462, 697.031, 4663.644)),
    ] {
        let workload = format!(
            r#"{{"rw": "randread", "block_bytes": 4096, "iodepth": {depth}, "requests": {requests}}}"#
        );
        check(&format!("4k random read, depth {depth}"), &workload, expected, false);
    }
}

/// A mapping cache of 2 MiB: every miss reads a sector of a mapping page first.
const CACHED: [&str; 2] = ["map.kind=demand", "map.cache_bytes=2097152"];

#[test]
fn a_miss_of_the_mapping_cache_is_exact() {
    let workload = r#"{"rw": "randread", "block_bytes": 4096, "requests": 2000}"#;
    let name = "4k random read, depth 1, mapping cache";
    check_with(&CACHED, name, workload, (165.752, 165.752, 165.752), true);
}

#[test]
fn random_reads_miss_the_mapping_cache_as_in_mqsim() {
    let workload = r#"{"rw": "randread", "block_bytes": 4096, "iodepth": 32, "requests": 1000000}"#;
    let name = "4k random read, depth 32, mapping cache";
    check_with(&CACHED, name, workload, (209.997, 173.614, 719.466), false);
}

#[test]
fn sequential_reads_share_their_chips_as_in_mqsim() {
    let workload = r#"{"rw": "read", "block_bytes": 131072, "iodepth": 4, "requests": 50000}"#;
    check("128k sequential read, depth 4", workload, (347.222, 347.228, 347.228), false);
}

#[test]
fn writes_queue_as_in_mqsim() {
    let workload =
        r#"{"rw": "randwrite", "block_bytes": 8192, "iodepth": 32, "requests": 1000000}"#;
    check("8k random write, depth 32", workload, (1309.874, 847.206, 3882.377), false);
    let workload = r#"{"rw": "write", "block_bytes": 131072, "iodepth": 8, "requests": 100000}"#;
    check("128k sequential write, depth 8", workload, (1975.416, 1766.464, 2476.242), false);
}
