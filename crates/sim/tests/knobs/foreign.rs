//! The requests of another user (`disturbance.foreign_*`) on every kind of drive. A disk has
//! no counters: what others ask of it shows in the time of its host's requests.

use crate::disturbance::{DRIVES, WRITTEN};
use crate::rig::{DISK_DRIVE, MSR_DRIVE, NO_LINK, Rig, read};
use ssdscope_io::{Cause, Completion, Nanos};

knobs! {
    "disturbance.foreign_iops" => reads_wait_for_those_of_the_other_user,
    "disturbance.foreign_bytes" => foreign_requests_are_so_large,
    "disturbance.foreign_write_ratio" => so_many_foreign_requests_write,
    "disturbance.foreign_on_ns" => the_other_user_asks_for_so_long,
    "disturbance.foreign_off_ns" => the_other_user_pauses_for_so_long,
}

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// Drives that count.
const COUNTING: [&str; 3] = [DRIVES[0], DRIVES[1], DRIVES[2]];

/// Bytes that the other user has read and written in a time without requests of the host.
fn foreign_bytes(drive: &str, sets: &[&str], ns: u64) -> [u64; 2] {
    let mut rig = Rig::open(drive, sets, None);
    rig.idle(ns);
    assert_eq!((rig.device.now(), rig.device.in_flight()), (Nanos(ns), 0), "idle is idle");
    let counters = rig.counters();
    [counters.host_bytes_read, counters.host_bytes_written]
}

/// Holds a number of random arrivals against what is expected of a Poisson process.
fn hold(found: u64, expected: u64) {
    let distance = found.abs_diff(expected) as f64;
    println!("{found} requests, {expected} expected");
    assert!(distance <= 3.5 * (expected as f64).sqrt(), "{found} is not {expected}");
}

/// Mean latency of reads, each of which comes to a drive that has forgotten the last.
fn mean_read_ns(drive: &str, sets: &[&str], count: u64, of: impl Fn(&Completion) -> u64) -> f64 {
    let mut rig = Rig::open(drive, sets, WRITTEN);
    let mut sum_ns = 0;
    for index in 0..count {
        sum_ns += of(&rig.one(read(index * 7 % 50)));
        rig.idle(SECOND / 1000);
    }
    sum_ns as f64 / count as f64
}

/// What a read waits for the die, or for the element of an SSD extension.
fn die_wait_ns(done: &Completion) -> u64 {
    done.attribution[Cause::DieWait] + done.attribution[Cause::ChannelWait]
}

fn reads_wait_for_those_of_the_other_user() {
    for drive in COUNTING {
        let no_link = if drive == MSR_DRIVE { &NO_LINK[1..] } else { &NO_LINK };
        let service_ns = Rig::open(drive, no_link, WRITTEN).latency_ns(read(0)) as f64;
        for iops in [500, 2000] {
            let set = format!("disturbance.foreign_iops={iops}");
            hold(foreign_bytes(drive, &[&set], 10 * SECOND)[0] / 4096, 10 * iops);
            // One server, Poisson arrivals, equal service: Pollaczek and Khinchine.
            let load = iops as f64 * service_ns / 1e9;
            let expected = load * service_ns / (2.0 * (1.0 - load));
            let sets = [no_link, &[&set]].concat();
            let found = mean_read_ns(drive, &sets, 40_000, die_wait_ns);
            println!("{iops}/s: a read waits {found:.0} ns, expected {expected:.0}");
            assert!((found / expected - 1.0).abs() < 0.1);
        }
    }
    let mean = |iops: u64| {
        let set = format!("disturbance.foreign_iops={iops}");
        mean_read_ns(DISK_DRIVE, &[&set], 1000, |done| done.latency().0)
    };
    let means = [0, 20, 60].map(mean);
    println!("disk: {means:.0?} ns");
    assert!(means[1] > 1.1 * means[0] && means[2] > 1.3 * means[1]);
}

fn foreign_requests_are_so_large() {
    for drive in COUNTING {
        let read = ["4k", "16k"].map(|bytes| {
            let set = format!("disturbance.foreign_bytes={bytes}");
            foreign_bytes(drive, &["disturbance.foreign_iops=100", &set], 10 * SECOND)[0]
        });
        assert_eq!(read[1], 4 * read[0], "they come at the same times");
    }
    let mean = |bytes: &str| {
        let set = format!("disturbance.foreign_bytes={bytes}");
        mean_read_ns(DISK_DRIVE, &["disturbance.foreign_iops=30", &set], 1000, |done| {
            done.latency().0
        })
    };
    assert!(mean("64k") > 1.5 * mean("512"));
}

fn so_many_foreign_requests_write() {
    for drive in COUNTING {
        for (ratio, writes) in [("0", 0), ("0.25", 500), ("1", 2000)] {
            let set = format!("disturbance.foreign_write_ratio={ratio}");
            let sets = ["disturbance.foreign_iops=100", &set];
            let [read, written] = foreign_bytes(drive, &sets, 20 * SECOND);
            hold(written / 4096, writes);
            hold(read / 4096, 2000 - writes);
        }
    }
    // A write has to settle, for which a read of the host waits.
    let mean = |ratio: &str| {
        let set = format!("disturbance.foreign_write_ratio={ratio}");
        let sets = ["disturbance.foreign_iops=30", "disk.write_settle_ns=9_000_000", &set];
        mean_read_ns(DISK_DRIVE, &sets, 1000, |done| done.latency().0)
    };
    assert!(mean("1") > 1.1 * mean("0"));
}

/// Sets for bursts of so many milliseconds with pauses of so many.
fn bursts(on_ms: u64, off_ms: u64) -> [String; 3] {
    [
        "disturbance.foreign_iops=1000".to_owned(),
        format!("disturbance.foreign_on_ns={}", on_ms * MS),
        format!("disturbance.foreign_off_ns={}", off_ms * MS),
    ]
}

fn the_other_user_asks_for_so_long() {
    for drive in COUNTING {
        for on_ms in [10, 50] {
            let sets = bursts(on_ms, 100 - on_ms);
            let read = foreign_bytes(drive, &sets.each_ref().map(String::as_str), 20 * SECOND)[0];
            hold(read / 4096, 20 * 10 * on_ms);
        }
    }
    // With next to no pause a disk is kept from its host for longer.
    let mean = |on_ms: u64| {
        let sets = bursts(on_ms, 100 - on_ms);
        let sets = [&sets.each_ref().map(String::as_str)[1..], &["disturbance.foreign_iops=40"]];
        mean_read_ns(DISK_DRIVE, &sets.concat(), 1000, |done| done.latency().0)
    };
    assert!(mean(95) > 1.1 * mean(20));
}

fn the_other_user_pauses_for_so_long() {
    for drive in DRIVES {
        for off_ms in [500, 5000] {
            let sets = bursts(10, off_ms);
            let mut rig = Rig::open(drive, &sets.each_ref().map(String::as_str), None);
            for burst in 1..5 {
                // Long after all of a burst is served, nothing happens until the next one.
                let begin = burst * (10 + off_ms) * MS;
                rig.idle(begin - MS - rig.device.now().0);
                let next = rig.device.next_event().unwrap().0;
                assert!((begin..begin + 10 * MS).contains(&next), "{next} is not after {begin}");
            }
        }
    }
}
