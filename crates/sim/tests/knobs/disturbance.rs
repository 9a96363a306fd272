//! The table `[disturbance]` on every kind of drive: completions that are held back, and
//! requests that fail. The other user's requests are in `foreign`.
//!
//! None of these drives takes time in its firmware, so that what a request is said to have
//! spent there is how long it was held back.

use crate::rig::{DISK_DRIVE, FLUSH, LOG_DRIVE, MSR_DRIVE, PAGE, PAGE_DRIVE, Rig, read, write};
use ssdscope_io::{Cause, Completion, Outcome};
use ssdscope_sim::State;

knobs! {
    "disturbance.noise_sigma" => noise_has_its_median_and_is_never_below_one,
    "disturbance.spike_ratio" => so_many_requests_are_spikes,
    "disturbance.spike_ns" => a_spike_is_so_long,
    "disturbance.drift_ratio" => drift_rises_to_its_ratio_and_falls_to_nothing,
    "disturbance.drift_period_ns" => drift_is_a_triangle_of_its_period,
    "disturbance.fault_offset_bytes" => requests_that_touch_the_fault_fail,
    "disturbance.fault_bytes" => the_fault_ends_where_it_should,
    "disturbance.gone_after_requests" => a_drive_that_is_gone_says_so,
    "disturbance.flush" => a_flush_is_honoured_ignored_or_refused,
}

/// Every kind of drive.
pub const DRIVES: [&str; 4] = [PAGE_DRIVE, LOG_DRIVE, MSR_DRIVE, DISK_DRIVE];

/// So that reads take the time of the flash.
pub const WRITTEN: Option<State> = Some(State::Sequential);

/// How long a request was held back, and how long the drive itself took.
fn held_and_served(done: &Completion) -> (u64, u64) {
    let held_ns = done.attribution[Cause::Firmware];
    (held_ns, done.latency().0 - held_ns)
}

/// Reads pages one after the other from a drive that is disturbed so.
fn reads(drive: &str, sets: &[&str], count: u64) -> Vec<Completion> {
    let mut rig = Rig::open(drive, sets, WRITTEN);
    (0..count).map(|index| rig.one(read(index * 7 % 50))).collect()
}

/// Latency over what the drive itself took, ascending.
fn factors(drive: &str, sets: &[&str], count: u64) -> Vec<f64> {
    let reads = reads(drive, sets, count);
    let factor = |done: &Completion| done.latency().0 as f64 / held_and_served(done).1 as f64;
    let mut factors: Vec<f64> = reads.iter().map(factor).collect();
    factors.sort_unstable_by(f64::total_cmp);
    factors
}

fn noise_has_its_median_and_is_never_below_one() {
    let count = 4000;
    for drive in DRIVES {
        for sigma in [0.05, 0.2] {
            let found = factors(drive, &[&format!("disturbance.noise_sigma={sigma}")], count);
            assert!(found[0] >= 1.0, "it cannot answer before the drive");
            // Quantiles of |z|: P(|z| < 0.6745) = 1/2, P(|z| < 1.645) = 0.9.
            for (share, z) in [(0.5, 0.6745), (0.9, 1.6449)] {
                let quantile = found[(share * count as f64) as usize];
                let expected = f64::exp(sigma * z);
                println!("sigma {sigma}: quantile {share} is {quantile:.4}, not {expected:.4}");
                // Three standard errors of the quantile of z are at most 0.07.
                assert!((quantile / expected - 1.0).abs() < 0.08 * sigma, "{sigma} {share}");
            }
        }
    }
}

fn spikes(drive: &str, ratio: f64, spike_ns: u64, count: u64) -> u64 {
    let sets =
        [format!("disturbance.spike_ratio={ratio}"), format!("disturbance.spike_ns={spike_ns}")];
    let reads = reads(drive, &[&sets[0], &sets[1]], count);
    let held = reads.iter().map(|done| held_and_served(done).0);
    let spikes = held.filter(|&held_ns| held_ns > 0).inspect(|&held_ns| {
        assert_eq!(held_ns, spike_ns, "all or nothing");
    });
    spikes.count() as u64
}

fn so_many_requests_are_spikes() {
    for drive in DRIVES {
        for ratio in [0.01, 0.2] {
            let found = spikes(drive, ratio, 5_000_000, 5000) as f64 / 5000.0;
            let error = (ratio * (1.0 - ratio) / 5000.0).sqrt();
            assert!((found - ratio).abs() < 3.0 * error, "{found} of the requests, not {ratio}");
        }
        assert_eq!(spikes(drive, 1.0, 5_000_000, 50), 50);
    }
}

fn a_spike_is_so_long() {
    for drive in DRIVES {
        // The same requests are spikes, whatever their length.
        assert_eq!(spikes(drive, 0.3, 1, 300), spikes(drive, 0.3, 70_000_000, 300));
    }
}

fn drift_rises_to_its_ratio_and_falls_to_nothing() {
    for drive in DRIVES {
        for ratio in [0.1, 0.5] {
            let set = format!("disturbance.drift_ratio={ratio}");
            let found = factors(drive, &[&set, "disturbance.drift_period_ns=20_000_000"], 2000);
            let (least, most) = (found[0], found[found.len() - 1]);
            println!("ratio {ratio}: factors from {least:.4} to {most:.4}");
            assert!((1.0..1.0 + 0.1 * ratio).contains(&least));
            assert!((1.0 + 0.95 * ratio..=1.0 + ratio).contains(&most));
        }
    }
}

fn drift_is_a_triangle_of_its_period() {
    for drive in DRIVES {
        for period_ns in [10_000_000_u64, 60_000_000] {
            let set = format!("disturbance.drift_period_ns={period_ns}");
            for done in reads(drive, &["disturbance.drift_ratio=0.5", &set], 300) {
                let (held_ns, served_ns) = held_and_served(&done);
                let phase_ns = (done.completed.0 - held_ns) % period_ns;
                let rise_ns = phase_ns.min(period_ns - phase_ns);
                // Half of the latency at the top, which is half a period away.
                let expected = served_ns as f64 * rise_ns as f64 / period_ns as f64;
                assert!((held_ns as f64 - expected).abs() <= 1.0, "{held_ns} is not {expected}");
            }
        }
    }
}

/// Which of the first eight pages cannot be read, and which not written.
fn failing(drive: &str, offset: u64, bytes: u64) -> [Vec<u64>; 2] {
    let sets = [
        format!("disturbance.fault_offset_bytes={offset}"),
        format!("disturbance.fault_bytes={bytes}"),
    ];
    [read, write].map(|ask| {
        let mut rig = Rig::open(drive, &[&sets[0], &sets[1]], None);
        let mut whole = Rig::open(drive, &[], None);
        let fails = |page: &u64| {
            let (done, served) = (rig.one(ask(*page)), whole.one(ask(*page)));
            assert_eq!(done.latency(), served.latency(), "it fails when it would have ended");
            match done.outcome {
                Outcome::Done => false,
                Outcome::Failed(errno) => {
                    assert_eq!(errno, 5);
                    true
                }
            }
        };
        (0..8).filter(fails).collect()
    })
}

fn requests_that_touch_the_fault_fail() {
    for drive in DRIVES {
        for (offset, page) in [(0, 0), (2 * PAGE + 512, 2), (7 * PAGE - 512, 6)] {
            assert_eq!(failing(drive, offset, 512), [vec![page], vec![page]]);
        }
    }
}

fn the_fault_ends_where_it_should() {
    for drive in DRIVES {
        for (bytes, pages) in [(1, 1), (PAGE, 1), (PAGE + 1, 2), (3 * PAGE, 3)] {
            let expected: Vec<u64> = (4..4 + pages).collect();
            assert_eq!(failing(drive, 4 * PAGE, bytes), [expected.clone(), expected]);
        }
        let mut rig = Rig::open(drive, &["disturbance.fault_bytes=8192"], None);
        assert_eq!(rig.one(FLUSH).outcome, Outcome::Done, "a flush touches nothing");
    }
}

fn a_drive_that_is_gone_says_so() {
    for drive in DRIVES {
        for last in [1, 10] {
            let mut rig =
                Rig::open(drive, &[&format!("disturbance.gone_after_requests={last}")], None);
            for index in 0..last + 5 {
                let ask = if index % 2 == 0 { write(index) } else { read(index) };
                let done = rig.one(ask);
                if index < last {
                    assert_eq!(done.outcome, Outcome::Done);
                } else {
                    assert_eq!((done.outcome, done.latency().0), (Outcome::Failed(19), 10_000));
                }
            }
            assert_eq!(rig.one(FLUSH).outcome, Outcome::Failed(19));
        }
    }
    let mut rig = Rig::page(&["write_buffer.bytes=8192", "disturbance.gone_after_requests=1"]);
    rig.device.set_write_cache(false).unwrap();
    rig.device.set_write_cache(true).unwrap();
    rig.one(write(0));
    let error = rig.device.set_write_cache(false).unwrap_err();
    assert_eq!(error.to_string(), "switching a cache: the drive is gone");
}

/// A write and the flush behind it; the drive has a buffer if it can.
fn write_and_flush(drive: &str, flush: &str) -> Completion {
    let buffer: &[&str] = match drive {
        MSR_DRIVE => &[],
        DISK_DRIVE => &["disk.write_cache_bytes=65536"],
        _ => &["write_buffer.bytes=8192", "write_buffer.drain=full"],
    };
    let flush = format!("disturbance.flush={flush}");
    let mut rig = Rig::open(drive, &[buffer, &[&flush]].concat(), None);
    rig.one(write(0));
    rig.one(FLUSH)
}

fn a_flush_is_honoured_ignored_or_refused() {
    for drive in DRIVES {
        let buffered = drive != MSR_DRIVE;
        let honoured = write_and_flush(drive, "honoured");
        assert_eq!(honoured.outcome, Outcome::Done);
        assert_eq!(honoured.latency().0 > 500_000, buffered, "it is written then");
        let ignored = write_and_flush(drive, "ignored");
        assert_eq!((ignored.outcome, ignored.latency().0), (Outcome::Done, 0));
        let refused = write_and_flush(drive, "refused");
        assert_eq!((refused.outcome, refused.latency().0), (Outcome::Failed(95), 0));
    }
}
