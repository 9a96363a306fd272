//! What wear-aware cleaning does that greedy does not. No row of the reference gets
//! here: with a life of 50 a block must be erased 8 times more often than the mean.

use super::{sample, serve};
use ssdscope_io::rng::Stream;
use ssdscope_io::{Counters, Device, DeviceError, Lba, Request, Sectors};
use ssdscope_sim::msr::{MsrDrive, MsrParams, Policy};

/// A small drive whose blocks can be erased `endurance_erases` times.
fn drive(policy: Policy, endurance_erases: u32) -> MsrDrive {
    let small = MsrParams { elements: 2, planes: 2, pages_per_block: 16, ..sample(64, 15, 5) };
    MsrDrive::new(MsrParams { policy, endurance_erases, ..small }, 1).unwrap()
}

/// Writes single pages, 99 of 100 into the first tenth of the drive, until `count` are
/// written or it is stuck; how many were written.
fn skewed(drive: &mut MsrDrive, count: u64, seed: u64) -> (u64, Option<String>) {
    let pages = drive.info().capacity_bytes / 4096;
    let mut random = Stream::new(seed, "skewed");
    for id in 0..count {
        let span = if random.below(100) < 99 { pages / 10 } else { pages };
        let request = Request::write(id, Lba(random.below(span) * 8), Sectors(8));
        match serve(drive, request) {
            Ok(_) => {}
            Err(DeviceError::Stuck(message)) => return (id, Some(message)),
            Err(other) => panic!("{other}"),
        }
    }
    (count, None)
}

/// Standard deviation over mean of the erasures per block.
fn unevenness(counters: &Counters) -> f64 {
    let counts = || (0_u32..).map(f64::from).zip(&counters.erase_histogram);
    let blocks: u64 = counters.erase_histogram.iter().sum();
    let mean = counts().map(|(erases, &count)| erases * count as f64).sum::<f64>() / blocks as f64;
    let square = counts().map(|(erases, &count)| (erases - mean).powi(2) * count as f64);
    (square.sum::<f64>() / blocks as f64).sqrt() / mean
}

#[test]
fn migration_evens_out_wear_on_long_skewed_runs() {
    let (mut greedy, mut aware) = (drive(Policy::Greedy, 400), drive(Policy::WearAware, 400));
    assert_eq!(skewed(&mut greedy, 100_000, 1).1, None);
    assert_eq!(skewed(&mut aware, 100_000, 1).1, None);
    let (greedy, aware) = (greedy.counters().unwrap(), aware.counters().unwrap());
    println!(
        "unevenness: greedy {:.3}, wear-aware {:.3}; {} pages migrated, WAF {:.3} against {:.3}",
        unevenness(&greedy),
        unevenness(&aware),
        aware.wear_pages_moved,
        greedy.waf().unwrap(),
        aware.waf().unwrap()
    );
    assert_eq!(greedy.wear_pages_moved, 0);
    assert!(aware.wear_pages_moved > 1000);
    assert!(unevenness(&aware) < 0.5 * unevenness(&greedy));
}

#[test]
fn a_drive_lives_longer_where_wear_is_even() {
    // The drive is stuck for good when a plane has no block left that may be erased.
    let (greedy, why) = skewed(&mut drive(Policy::Greedy, 50), u64::MAX, 1);
    let (aware, _) = skewed(&mut drive(Policy::WearAware, 50), u64::MAX, 1);
    println!("pages until worn out: greedy {greedy}, wear-aware {aware}");
    assert!(why.unwrap().contains("blocks are worn out (erased 50 times)"));
    assert!(aware > greedy, "{aware} pages, greedy {greedy}");
}

#[test]
fn even_wear_gives_the_policies_nothing_to_differ_in() {
    let run = |policy| {
        let mut drive = drive(policy, 100_000);
        skewed(&mut drive, 20_000, 2);
        (drive.now(), drive.counters().unwrap())
    };
    assert_eq!(run(Policy::Greedy), run(Policy::WearAware));
}
