//! A prepared drive is where writing in time would have brought it: nothing settles
//! after it is opened. The first writes would otherwise wait for collection to catch
//! up, and every short measurement would be of that.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ssdscope_io::driver::Unobserved;
use ssdscope_io::{Workload, run_workload};
use ssdscope_sim::{DriveConfig, State};

/// Mean latencies in milliseconds of runs of 2,000 random overwrites, one after the other.
fn means_ms(state: State, iodepth: u32) -> Vec<f64> {
    let path = format!("{}/../../python/ssdscope/drives/mqsim-8g.toml", env!("CARGO_MANIFEST_DIR"));
    let sets = ["over_provisioning_ratio=0.28".to_owned()];
    let text = std::fs::read_to_string(path).unwrap();
    let config = DriveConfig::parse(&text, "mqsim-8g", &sets).unwrap();
    let mut device = ssdscope_sim::open(&config, Some(state), 1).unwrap();
    (1..=4)
        .map(|seed| {
            let workload = Workload::from_json(&format!(
                r#"{{"rw": "randwrite", "block_bytes": 8192, "iodepth": {iodepth},
                    "requests": 2000, "seed": {seed}}}"#
            ));
            let summary = run_workload(&mut *device, &workload.unwrap(), &mut Unobserved).unwrap();
            summary.write.unwrap().latency_ns.mean / 1e6
        })
        .collect()
}

#[test]
fn the_first_writes_are_like_the_later_ones() {
    for state in [State::Random, State::Steady { window_bytes: None }] {
        for iodepth in [1, 16] {
            let means = means_ms(state, iodepth);
            let later = means[1..].iter().sum::<f64>() / 3.0;
            assert!((means[0] / later - 1.0).abs() < 0.3, "{state:?}, depth {iodepth}: {means:?}");
        }
    }
}
