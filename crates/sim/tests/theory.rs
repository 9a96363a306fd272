//! Greedy collection against theory. Under uniform random writes to large blocks its write
//! amplification is `A = a / (a + W(-a exp(-a)))`, W being Lambert's function (Luojie and
//! Kurkoski, 2012; PROBING.md 3.2), where `a` is the space that data can lie in over the data.
//!
//! That space is not the raw one. A drive written as fast as it can has run down to
//! `gc.stop_writes_blocks` free blocks (the low-water mark only says when collection starts),
//! and of the two blocks being written half is empty. So
//!
//! `a = (blocks - gc.stop_writes_blocks - 1) x pages per block / exported pages`
//!
//! which is 1.10, 1.22, 1.42 and 1.76 for the over-provisioning of 0.12, 0.25, 0.45 and 0.8.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic and says what it measured"
)]

use ssdscope_io::driver::Unobserved;
use ssdscope_io::{Workload, run_workload};
use ssdscope_sim::{DriveConfig, State};

const BLOCKS: f64 = 512.0;
const PAGES_PER_BLOCK: f64 = 512.0;
const STOP_WRITES_BLOCKS: f64 = 10.0;

const DRIVE: &str = r#"
[nand]
channels = 1
blocks_per_plane = 512
pages_per_block = 512
page_bytes = 4096
read_ns = 50_000
program_ns = 600_000
erase_ns = 3_000_000
[channel]
ns_per_byte = 2.5
[ftl]
kind = "page"
[gc]
policy = "greedy"
stop_writes_blocks = 10
min_free_blocks = 11
"#;

/// Lambert's W for arguments from -1/e to 0, the branch above -1, by Newton's rule.
fn lambert_w(argument: f64) -> f64 {
    let mut w: f64 = argument;
    for _ in 0..100 {
        w -= (w * w.exp() - argument) / (w.exp() * (w + 1.0));
    }
    w
}

fn theory(alpha: f64) -> f64 {
    alpha / (alpha + lambert_w(-alpha * (-alpha).exp()))
}

#[test]
fn the_formula_has_the_values_of_the_literature() {
    for (alpha, expected) in [(1.07, 7.8), (1.1, 5.7), (1.2, 3.2), (1.28, 2.5), (1.444, 1.84)] {
        assert!((theory(alpha) / expected - 1.0).abs() < 0.01, "{alpha}: {}", theory(alpha));
    }
}

/// Overwrites at random as many pages as the drive exports, twice over; the amplification.
fn overwrite_twice(device: &mut dyn ssdscope_io::Device, seed: u64) -> f64 {
    let requests = 2 * device.info().capacity_bytes / 4096;
    let workload = Workload::from_json(&format!(
        r#"{{"rw": "randwrite", "iodepth": 8, "block_bytes": 4096, "requests": {requests}, "seed": {seed}}}"#
    ));
    let summary = run_workload(device, &workload.unwrap(), &mut Unobserved).unwrap();
    assert_eq!((summary.requests, summary.failed_requests), (requests, 0));
    summary.counters.unwrap().waf().unwrap()
}

#[test]
#[cfg_attr(debug_assertions, ignore = "a minute in a debug build; make test runs it in release")]
fn greedy_amplifies_uniform_writes_as_theory_says() {
    for ratio in [0.12, 0.25, 0.45, 0.8] {
        let sets = [format!("over_provisioning_ratio={ratio}")];
        let config = DriveConfig::parse(DRIVE, "drive.toml", &sets).unwrap();
        let mut device = ssdscope_sim::open(&config, Some(State::Random), 1).unwrap();
        let exported = device.info().capacity_bytes as f64 / 4096.0;
        let alpha = (BLOCKS - STOP_WRITES_BLOCKS - 1.0) * PAGES_PER_BLOCK / exported;
        overwrite_twice(&mut *device, 1);
        let (found, expected) = (overwrite_twice(&mut *device, 2), theory(alpha));
        println!("{ratio}: alpha {alpha:.3}, found {found:.3}, theory {expected:.3}");
        assert!((found / expected - 1.0).abs() < 0.05, "{ratio}: {found} against {expected}");
    }
}
