//! Keys outside any table: description, state, over-provisioning.

use crate::rig::{COMMAND, LINK, PAGE_DRIVE, Rig, WRITE, config, write};
use ssdscope_io::Op;

knobs! {
    "description" => description_is_reported,
    "default_state" => default_state_is_what_open_prepares,
    "over_provisioning_ratio" => over_provisioning_sets_capacity_and_amplification,
}

fn description_is_reported() {
    let config = config(PAGE_DRIVE, &["description=A drive of tests"]);
    assert_eq!(config.description, "A drive of tests");
    assert_eq!(config.resolved()["description"], "A drive of tests");
}

fn default_state_is_what_open_prepares() {
    // What the first small write reads first, and how many blocks are worn.
    let look = |state: &str| {
        let mut rig = Rig::page(&[&format!("default_state={state}")]);
        let worn: u64 = rig.counters().erase_histogram.iter().skip(1).sum();
        rig.one((Op::Write, 0, 512));
        (rig.counters().rmw_reads, worn)
    };
    assert_eq!(look("fresh"), (0, 0));
    assert_eq!(look("sequential"), (1, 0));
    let (reads, worn_by_random) = look("random");
    assert!(reads == 1 && worn_by_random > 0);
    let (reads, worn_by_steady) = look("steady");
    assert!(reads == 1 && worn_by_steady > worn_by_random);
    assert_eq!(look("steady:64k").0, 1);
    // Nothing of the preparation is counted, though the last of it takes time.
    let mut rig = Rig::page(&["default_state=steady"]);
    let counters = rig.counters();
    assert_eq!((counters.flash_bytes_programmed, counters.block_erases), (0, 0));
    assert!(rig.device.now().0 > 0);
    for state in ["sequential", "random"] {
        let rig = Rig::page(&[&format!("default_state={state}")]);
        assert_eq!(rig.device.now().0, 0, "{state}");
    }
    assert!(rig.latency_ns(write(0)) >= COMMAND + LINK + WRITE);
}

/// Write amplification of uniform overwrites with a queue of blocks, first written first
/// collected: a page is still valid after a cycle with probability `u`, where
/// `u = exp(-(1 - u) physical / logical)`. Greedy does not do worse.
fn first_in_first_out(physical: f64, logical: f64) -> f64 {
    let mut valid = 0.0_f64;
    for _ in 0..10_000 {
        valid = (-(1.0 - valid) * physical / logical).exp();
    }
    1.0 / (1.0 - valid)
}

fn over_provisioning_sets_capacity_and_amplification() {
    let mut before = f64::INFINITY;
    for ratio in [0.2, 0.4, 0.7, 1.0, 2.0] {
        let sets = [
            &format!("over_provisioning_ratio={ratio}"),
            "nand.blocks_per_plane=64",
            "nand.pages_per_block=16",
        ];
        let mut rig = Rig::page(&sets);
        let raw = 64.0 * 16.0;
        let exported = (raw / (1.0 + ratio)) as u32;
        assert_eq!(rig.capacity(), u64::from(exported) * 4096, "{ratio}");
        rig.run(r#"{"rw": "write"}"#);
        let overwrite = |requests| format!(r#"{{"rw": "randwrite", "requests": {requests}}}"#);
        rig.run(&overwrite(8_000));
        let waf = rig.run(&overwrite(8_000)).counters.unwrap().waf().unwrap();
        // Two blocks are kept free and two are being written.
        let bound = first_in_first_out(raw - 4.0 * 16.0, exported.into());
        println!("over-provisioning {ratio}: waf {waf:.3}, first in first out {bound:.3}");
        assert!(waf < bound && waf > 0.6 * bound, "{ratio}: {waf} against {bound}");
        assert!(waf < before, "{ratio}: {waf} is not below {before}");
        before = waf;
    }
}
