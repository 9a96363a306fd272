//! Bad blocks from the factory, on page-mapped and on log-block drives.

use crate::faults::complaint;
use crate::rig::{LOG_DRIVE, NO_LINK, PAGE_DRIVE, config, write};
use ssdscope_io::{Device, Lba, Nanos, Request, Sectors};
use ssdscope_sim::{SimError, State};

knobs! {
    "nand.bad_block_ratio" => bad_blocks_are_taken_from_the_spare,
}

/// Four planes of 100 blocks.
const SHAPE: [&str; 3] = ["nand.channels=4", "nand.blocks_per_plane=100", NO_LINK[0]];

fn open(text: &str, ratio: f64, seed: u64) -> Box<dyn Device> {
    let ratio = format!("nand.bad_block_ratio={ratio}");
    let config = config(text, &[&SHAPE[..], &[&ratio]].concat());
    ssdscope_sim::open(&config, Some(State::Sequential), seed).unwrap()
}

fn blocks_in_use(device: &mut dyn Device) -> u64 {
    device.counters().unwrap().erase_histogram.iter().sum()
}

fn bad_blocks_are_taken_from_the_spare() {
    for text in [PAGE_DRIVE, LOG_DRIVE] {
        let mut whole = open(text, 0.0, 1);
        assert_eq!(blocks_in_use(&mut *whole), 400);
        for ratio in [0.02, 0.1, 0.2] {
            let in_use = (1..30).map(|seed| {
                let mut drive = open(text, ratio, seed);
                assert_eq!(drive.info().capacity_bytes, whole.info().capacity_bytes);
                blocks_in_use(&mut *drive)
            });
            let in_use: Vec<u64> = in_use.collect();
            assert!(in_use.iter().all(|blocks| blocks % 4 == 0), "planes have as many each");
            // The worst of four planes of 100 blocks has a standard deviation more than
            // the mean, give or take one.
            let mean = in_use.iter().sum::<u64>() as f64 / in_use.len() as f64;
            let deviation = (100.0 * ratio * (1.0 - ratio)).sqrt();
            let expected = 4.0 * (100.0 - 100.0 * ratio - 1.03 * deviation);
            assert!((mean - expected).abs() < 4.0, "{ratio}: {mean}, not {expected}");
            assert!(in_use.iter().any(|&blocks| blocks != in_use[0]), "the seed decides");
        }
    }
}

/// Pages rewritten in order before the first block is collected.
fn pages_before_collection(drive: &mut dyn Device) -> u64 {
    let mut done = Vec::new();
    for page in 0.. {
        let (op, offset, bytes) = write(page);
        let (lba, sectors) = (Lba(offset / 512), Sectors(bytes / 512));
        let request = Request::new(page, op, lba, sectors);
        drive.submit(drive.now(), request).unwrap();
        while drive.in_flight() > 0 {
            drive.advance(Nanos::MAX, &mut done).unwrap();
        }
        if drive.counters().unwrap().gc_runs > 0 {
            return page;
        }
    }
    unreachable!("collection never began")
}

#[test]
fn collection_begins_so_many_pages_sooner() {
    let first = pages_before_collection(&mut *open(PAGE_DRIVE, 0.0, 7));
    for ratio in [0.05, 0.1] {
        let mut drive = open(PAGE_DRIVE, ratio, 7);
        let bad = 400 - blocks_in_use(&mut *drive);
        let low_water = |blocks: u64| blocks * 5 / 100;
        let (all, good) = (low_water(100), low_water(100 - bad / 4));
        // A plane's mark is a share of its good blocks.
        let sooner = (bad - 4 * (all - good)) * 8;
        assert_eq!(pages_before_collection(&mut *drive), first - sooner, "{ratio}");
    }
}

#[test]
fn a_drive_that_cannot_spare_its_bad_blocks_is_refused() {
    let ratio = "nand.bad_block_ratio=0.5";
    for (text, key, reason) in [
        (PAGE_DRIVE, "over_provisioning_ratio", "leaves 0 spare blocks in a plane of 8, but 4"),
        (LOG_DRIVE, "ftl.log_blocks", "more than the 0 spare blocks"),
    ] {
        let lines = complaint(text, &[ratio]);
        assert!(lines[0].contains(key) && lines[0].contains(reason), "{lines:?}");
        assert!(lines[0].ends_with("nand.bad_block_ratio = 0.5 takes some of its 16"), "{lines:?}");
        // On average there are enough, with this seed there are not.
        let wide = ["nand.bad_block_ratio=0.25", "nand.channels=32"];
        let merged = ["ftl.merge_unit_bytes=1048576", "ftl.log_blocks=2"];
        let more = if text == LOG_DRIVE { &merged[..] } else { &[] };
        let config = config(text, &[&wide, more].concat());
        match ssdscope_sim::open(&config, None, 3).err() {
            Some(SimError::BadBlocks(message)) => {
                assert!(message.contains("nand.bad_block_ratio = 0.25 and seed 3"), "{message}");
                assert!(message.contains("spare blocks"), "{message}");
            }
            other => panic!("{other:?}"),
        }
    }
}
