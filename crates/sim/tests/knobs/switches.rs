//! Caches switched by the host: on flash drives, on a hard disk, on several drives at once.

use crate::rig::{DISK_DRIVE, Rig, WRITE, read, read_sector, write, write_sector};
use ssdscope_io::{
    Cache, CacheControl, CacheInfo, Device, DeviceError, Lba, Nanos, Raid0, Request, Sectors,
};

knobs! {
    "write_buffer.switchable" => a_write_buffer_is_switched_where_the_drive_allows_it,
    "read_cache.switchable" => a_read_cache_is_switched_where_the_drive_allows_it,
}

const BUFFER: [&str; 2] = ["write_buffer.bytes=16384", "write_buffer.drain=full"];
const CACHE: [&str; 2] = ["read_cache.bytes=16384", "read_cache.read_ahead_bytes=8192"];

fn both(sets: &[&str]) -> [Rig; 2] {
    [Rig::filled(sets), Rig::logged(sets)]
}

fn info(rig: &Rig, cache: Cache) -> (CacheControl, bool) {
    let CacheInfo { control, on } = rig.device.info().caches.get(cache);
    (control, on)
}

/// Holds a cache that may not be switched against its refusal.
fn check_refusals(rig: &mut Rig, cache: Cache, on: bool, reason: &str) {
    let before = rig.device.info();
    assert_eq!(rig.device.set_cache(cache, on), Ok(()), "as it is already");
    let refused = rig.device.set_cache(cache, !on).unwrap_err();
    assert!(refused.to_string().ends_with(reason), "{refused}");
    assert_eq!(rig.device.info(), before);
}

fn a_write_buffer_is_switched_where_the_drive_allows_it() {
    for mut rig in both(&BUFFER) {
        assert_eq!(info(&rig, Cache::Write), (CacheControl::Switchable, true));
        let started = rig.device.now().0;
        assert_eq!([1, 2, 3].map(|page| rig.latency_ns(write(page))), [0, 0, 0]);
        let saved = rig.device.snapshot().unwrap();
        rig.device.set_write_cache(false).unwrap();
        assert_eq!(rig.device.now().0 - started, 3 * WRITE, "it is emptied first");
        assert_eq!(info(&rig, Cache::Write), (CacheControl::Switchable, false));
        assert_eq!(rig.latency_ns(write(5)), WRITE);
        assert!(rig.latency_ns(read(5)) > 0);
        rig.device.set_write_cache(true).unwrap();
        assert_eq!(rig.latency_ns(write(4)), 0);
        rig.submit(write(6));
        assert_eq!(rig.device.set_write_cache(false), Err(DeviceError::Busy(1)));
        rig.drain();
        rig.device.set_write_cache(false).unwrap();
        rig.device.restore(&saved).unwrap();
        assert_eq!(
            info(&rig, Cache::Write),
            (CacheControl::Switchable, true),
            "a part of the state"
        );
    }
    for mut rig in both(&[&BUFFER[..], &["write_buffer.switchable=false"]].concat()) {
        assert_eq!(info(&rig, Cache::Write), (CacheControl::Fixed, true));
        check_refusals(&mut rig, Cache::Write, true, "switched off: the drive keeps it on");
        assert_eq!(rig.latency_ns(write(1)), 0);
    }
    for mut rig in both(&[]) {
        check_refusals(&mut rig, Cache::Write, false, "switched on: the drive has none");
    }
}

fn a_read_cache_is_switched_where_the_drive_allows_it() {
    for mut rig in both(&CACHE) {
        assert_eq!(info(&rig, Cache::Read), (CacheControl::Switchable, true));
        rig.one(read(0));
        rig.one(read(1));
        // With read-ahead under way.
        rig.device.set_read_cache(false).unwrap();
        rig.rest();
        let before = rig.counters();
        assert!([0, 1, 2].iter().all(|&page| rig.latency_ns(read(page)) > 0));
        assert_eq!(rig.rest().cache_read_bytes, before.cache_read_bytes);
        assert_eq!(rig.counters().read_ahead_bytes, before.read_ahead_bytes);
        rig.device.set_read_cache(true).unwrap();
        assert!(rig.latency_ns(read(2)) > 0, "it was forgotten");
        assert_eq!(rig.latency_ns(read(2)), 0);
    }
    for mut rig in both(&[&CACHE[..], &["read_cache.switchable=false"]].concat()) {
        check_refusals(&mut rig, Cache::Read, true, "switched off: the drive keeps it on");
        rig.one(read(3));
        assert_eq!(rig.latency_ns(read(3)), 0);
    }
    for mut rig in both(&[]) {
        check_refusals(&mut rig, Cache::Read, false, "switched on: the drive has none");
    }
}

#[test]
fn the_caches_of_a_disk_are_switched() {
    let sets = [
        "disk.read_cache_bytes=16384",
        "disk.read_cache_segments=2",
        "disk.read_ahead_bytes=2048",
        "disk.write_cache_bytes=16384",
    ];
    let mut rig = Rig::open(DISK_DRIVE, &sets, None);
    let cached = rig.fork().latency_ns(write_sector(700));
    rig.one(write_sector(700));
    rig.one(write_sector(70));
    let before = rig.device.now();
    rig.device.set_write_cache(false).unwrap();
    assert!(rig.device.now().0 > before.0 + 1_000_000, "the arm emptied it");
    assert!(rig.latency_ns(write_sector(200)) > cached + 1_000_000);
    rig.device.set_write_cache(true).unwrap();
    assert_eq!(rig.latency_ns(write_sector(500)), cached);
    rig.idle(1_000_000_000);
    rig.one(read_sector(10));
    assert_eq!(rig.fork().latency_ns(read_sector(10)), cached);
    rig.device.set_read_cache(false).unwrap();
    for _ in 0..2 {
        assert!(rig.latency_ns(read_sector(10)) > cached);
    }
    rig.device.set_read_cache(true).unwrap();
    rig.one(read_sector(10));
    assert_eq!(rig.latency_ns(read_sector(10)), cached);
}

#[test]
fn an_array_switches_all_members_and_keeps_one_clock() {
    let member = |sets: &[&str]| Rig::filled(sets).device;
    let mut array = Raid0::new(vec![member(&BUFFER), member(&BUFFER), member(&[])], 4096).unwrap();
    assert_eq!(array.info().caches.write, CacheInfo::of(true, true));
    // Two pages on the first member, one on the second.
    for page in [0, 1, 3] {
        array.submit(array.now(), Request::write(page, Lba(8 * page), Sectors(8))).unwrap();
    }
    let mut done = Vec::new();
    while done.len() < 3 {
        array.advance(Nanos::MAX, &mut done).unwrap();
    }
    assert!(done.iter().all(|done| done.latency().0 == 0));
    array.set_write_cache(false).unwrap();
    assert_eq!(array.now().0, 2 * WRITE, "as long as the slowest takes");
    assert!(!array.info().caches.write.on);
    array.submit(array.now(), Request::write(9, Lba(8), Sectors(8))).unwrap();
    assert_eq!(array.set_write_cache(true), Err(DeviceError::Busy(1)));
    done.clear();
    array.advance(Nanos::MAX, &mut done).unwrap();
    assert_eq!(done[0].latency().0, WRITE);
    let fixed = [&BUFFER[..], &["write_buffer.switchable=false"]].concat();
    let mut array = Raid0::new(vec![member(&BUFFER), member(&fixed)], 4096).unwrap();
    assert!(array.set_write_cache(false).is_err() && array.info().caches.write.on);
}
