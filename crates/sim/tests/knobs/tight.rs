//! Drives with as little to spare as the check lets through: random overwrites must
//! never get them stuck, whatever else is set, and wear them out at worst.

use crate::rig::PAGE_DRIVE;
use ssdscope_io::driver::Unobserved;
use ssdscope_io::rng::Stream;
use ssdscope_io::{Device, Workload, run_workload};
use ssdscope_sim::{DriveConfig, SimError, State};

/// A drive drawn from `random`, if it passes the check.
fn draw(random: &mut Stream) -> Option<DriveConfig> {
    let mut pick = |values: &[u64]| values[random.below(values.len() as u64) as usize];
    let stop = pick(&[1, 2, 3, 5]);
    let sets = [
        format!("nand.blocks_per_plane={}", pick(&[8, 12, 16, 24])),
        format!("nand.pages_per_block={}", pick(&[2, 4, 8, 15])),
        format!("nand.channels={}", pick(&[1, 2, 3])),
        format!("nand.planes={}", pick(&[1, 2])),
        format!("nand.endurance_erases={}", pick(&[3, 20, 100])),
        format!(
            "over_provisioning_ratio={}",
            pick(&[20, 30, 40, 50, 60, 80, 100, 150]) as f64 / 1e2
        ),
        format!("ftl.allocation={}", ["address", "order"][pick(&[0, 1]) as usize]),
        format!("ftl.placement_pages={}", pick(&[1, 2, 7])),
        format!("gc.policy={}", ["greedy", "wear-aware"][pick(&[0, 1]) as usize]),
        format!("gc.stop_writes_blocks={stop}"),
        format!("gc.min_free_blocks={}", (stop + pick(&[0, 1, 2, 6])).max(2)),
        format!("gc.max_victims={}", pick(&[1, 2, 4, 10])),
        format!("wear.dynamic={}", pick(&[0, 1]) == 1),
        format!("wear.static_spread_erases={}", pick(&[0, 0, 1, 7])),
        format!("gc.preemptible={}", pick(&[0, 1]) == 1),
        format!("gc.urgent_blocks={stop}"),
        format!("gc.background={}", pick(&[0, 1]) == 1),
        format!("scheduler.read_first={}", pick(&[0, 1]) == 1),
        format!("scheduler.host_first={}", pick(&[0, 1]) == 1),
    ];
    DriveConfig::parse(PAGE_DRIVE, "drive.toml", &sets).ok()
}

/// Overwrites a drive at random; what stopped it, if anything did.
fn overwrite(device: &mut dyn Device, random: &mut Stream) -> Option<String> {
    let depth = [1, 8, 64][random.below(3) as usize];
    let bytes = [512, 4096, 8192][random.below(3) as usize];
    let workload = format!(
        r#"{{"rw": "randwrite", "block_bytes": {bytes}, "iodepth": {depth}, "requests": 2000}}"#
    );
    let workload = Workload::from_json(&workload).unwrap();
    run_workload(device, &workload, &mut Unobserved).err().map(|error| error.to_string())
}

#[test]
fn the_least_spare_that_is_accepted_is_enough() {
    let (mut drives, mut worn_out, mut stuck) = (0, 0, Vec::new());
    for seed in 0..600 {
        let mut random = Stream::new(seed, "tight");
        let Some(config) = draw(&mut random) else { continue };
        let states =
            [State::Fresh, State::Sequential, State::Random, State::Steady { window_bytes: None }];
        let state = states[random.below(4) as usize];
        drives += 1;
        match ssdscope_sim::open(&config, Some(state), seed) {
            Ok(mut device) => {
                let reason = overwrite(&mut *device, &mut random);
                let read_only = device.counters().unwrap().read_only;
                worn_out += u32::from(read_only);
                let reason = reason.filter(|_| !read_only);
                stuck.extend(reason.map(|reason| format!("seed {seed}: {reason}")));
            }
            Err(SimError::WornOut { .. }) => worn_out += 1,
            Err(error) => stuck.push(format!("seed {seed}, {state}: {error}")),
        }
    }
    println!("{drives} drives, {worn_out} of them worn out");
    assert!((20..drives - 100).contains(&worn_out), "{worn_out}");
    assert!(drives > 150, "{drives}");
    assert!(stuck.is_empty(), "{stuck:#?}");
}
