//! The same seed gives the same bytes on every machine and in every build.
//!
//! A digest of every completion (times, order, attribution) of some runs stands here as a
//! constant, and the suite runs this file in a debug and in a release build. A change of
//! the simulator's behaviour changes a digest: then look why, and write the new one down.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ssdscope_io::driver::RunObserver;
use ssdscope_io::log::LogChunk;
use ssdscope_io::{Workload, run_workload};
use ssdscope_sim::{DriveConfig, State};
use std::ops::ControlFlow;

/// FNV-1a over 64-bit words: not a secret, only the same everywhere.
struct Digest(u64);

impl Digest {
    fn add(&mut self, value: u64) {
        for byte in value.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl RunObserver for Digest {
    fn chunk(&mut self, chunk: LogChunk) -> ControlFlow<()> {
        let parts = chunk.attribution_ns.as_deref().unwrap();
        for row in 0..chunk.len() {
            self.add(chunk.index[row]);
            self.add(u64::from(chunk.op[row]));
            self.add(chunk.offset_bytes[row]);
            self.add(chunk.submit_ns[row]);
            self.add(chunk.complete_ns[row]);
            for part in parts {
                self.add(part[row]);
            }
        }
        ControlFlow::Continue(())
    }

    fn wants_log(&self) -> bool {
        true
    }
}

fn digest(drive: &str, state: State, seed: u64, workload: &str) -> u64 {
    digest_file(&format!("python/ssdscope/drives/{drive}.toml"), state, seed, workload)
}

fn digest_file(drive: &str, state: State, seed: u64, workload: &str) -> u64 {
    digest_of(drive, &[], state, seed, workload)
}

fn digest_of(drive: &str, sets: &[&str], state: State, seed: u64, workload: &str) -> u64 {
    let path = format!("{}/../../{drive}", env!("CARGO_MANIFEST_DIR"));
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let config = DriveConfig::parse(&std::fs::read_to_string(path).unwrap(), drive, &sets).unwrap();
    let mut device = ssdscope_sim::open(&config, Some(state), seed).unwrap();
    let mut digest = Digest(0xcbf2_9ce4_8422_2325);
    let workload = Workload::from_json(workload).unwrap();
    run_workload(&mut *device, &workload, &mut digest).unwrap();
    digest.0
}

const MIXED: &str = r#"{"rw": "randrw", "block_bytes": 4096, "iodepth": 16, "requests": 5000}"#;
const WRITES: &str = r#"{"rw": "randwrite", "block_bytes": 16384, "requests": 3000}"#;

#[test]
fn every_build_completes_the_same_requests_at_the_same_instants() {
    let found = [
        digest("mqsim-8g", State::Fresh, 1, MIXED),
        digest("mqsim-8g", State::Random, 1, MIXED),
        digest("msr-4gb", State::Sequential, 1, WRITES),
        digest("msr-4gb", State::Random, 1, WRITES),
        digest("huang-hdd-s", State::Sequential, 1, MIXED),
    ];
    let expected: [u64; 5] = [
        0xa680_ca9a_60ad_73ff,
        0x9271_63c0_a67b_4a01,
        0x5815_8cb7_b1bc_2c91,
        0x5f4c_057f_89c5_9050,
        0x01a6_845e_84f9_6201,
    ];
    assert_eq!(found, expected, "{found:#018x?}");
}

#[test]
fn every_build_merges_the_same_log_blocks_at_the_same_instants() {
    let drive = "examples/drives/log-block.toml";
    let few = |workload: &str| workload.replace("000}", "00}");
    let found = [
        digest_file(drive, State::Sequential, 1, &few(MIXED)),
        digest_file(drive, State::Fresh, 1, &few(WRITES)),
    ];
    let expected: [u64; 2] = [0x39c2_688d_c978_dd3f, 0x6cb8_b7e7_82c9_6492];
    assert_eq!(found, expected, "{found:#018x?}");
}

#[test]
fn every_build_loads_the_same_parts_of_the_mapping_table() {
    let drive = "python/ssdscope/drives/mqsim-8g.toml";
    let zones = ["map.kind=zones", "map.zone_bytes=64m", "map.resident_zones=16"];
    let demand = ["map.kind=demand", "map.cache_bytes=4k"];
    // The demand-paged one besides borrows blocks for one bit per cell, and folds them.
    let lent = ["nand.bits_per_cell=3", "pslc.dynamic_bytes=16m"];
    let found = [
        digest_of(drive, &zones, State::Random, 1, MIXED),
        digest_of(drive, &[&demand[..], &lent].concat(), State::Fresh, 1, WRITES),
    ];
    let expected: [u64; 2] = [0x2aa0_9553_6946_d822, 0x2b3a_8b0a_6921_7e5d];
    assert_eq!(found, expected, "{found:#018x?}");
}

#[test]
fn every_build_disturbs_the_same_requests_as_much() {
    let sets = [
        "disturbance.noise_sigma=0.1",
        "disturbance.spike_ratio=0.01",
        "disturbance.drift_ratio=0.3",
        "disturbance.foreign_iops=300",
        "disturbance.foreign_write_ratio=0.2",
        "disturbance.foreign_on_ns=20_000_000",
        "disturbance.foreign_off_ns=70_000_000",
    ];
    let drive = "python/ssdscope/drives/mqsim-8g.toml";
    let found = digest_of(drive, &sets, State::Sequential, 1, MIXED);
    assert_eq!(found, 0xf913_cc86_25fb_3757, "{found:#018x}");
}

#[test]
fn another_seed_is_another_run() {
    let one = digest("mqsim-8g", State::Random, 1, MIXED);
    assert_eq!(one, digest("mqsim-8g", State::Random, 1, MIXED));
    assert_ne!(one, digest("mqsim-8g", State::Random, 2, MIXED));
}
