//! The caches of a hard disk, what drains them, and the keys outside any table.

use crate::disk::{LINK, SECTOR, TURN};
use crate::rig::{COMMAND, DISK_DRIVE, FLUSH, Rig, config, read_sector, write_sector};
use ssdscope_io::{Cause, Lba, Nanos, Op, Request, Sectors};
use ssdscope_sim::State;

knobs! {
    "description" => description_is_reported,
    "default_state" => every_state_of_a_disk_is_the_same,
    "disk.read_cache_bytes" => the_read_cache_holds_so_many_bytes,
    "disk.read_cache_segments" => the_read_cache_holds_so_many_runs,
    "disk.read_ahead_bytes" => the_arm_reads_on_so_far,
    "disk.write_cache_bytes" => the_write_cache_takes_so_many_bytes_at_once,
}

/// What a request takes that no medium is needed for.
const CACHED: u64 = COMMAND + LINK;

fn description_is_reported() {
    assert_eq!(config(DISK_DRIVE, &["description=A disk"]).description, "A disk");
}

fn every_state_of_a_disk_is_the_same() {
    let look = |state: &str| {
        let mut rig = Rig::disk(&[&format!("default_state={state}")]);
        assert_eq!(rig.device.now(), Nanos(0));
        [0, 3000, 17].map(|sector| rig.latency_ns(read_sector(sector)))
    };
    let fresh = look("fresh");
    for state in ["sequential", "random", "steady", "steady:1m"] {
        assert_eq!(look(state), fresh, "{state}");
    }
    let config = config(DISK_DRIVE, &["default_state=steady:1m"]);
    assert_eq!(config.default_state, State::Steady { window_bytes: Some(1 << 20) });
}

/// Which of some sectors are in the cache, without moving it.
fn cached(rig: &Rig, sectors: &[u64]) -> Vec<u64> {
    let held = |sector: &u64| rig.fork().latency_ns(read_sector(*sector)) == CACHED;
    sectors.iter().copied().filter(held).collect()
}

fn the_read_cache_holds_so_many_bytes() {
    for sectors in [0, 1, 8, 16] {
        let set = format!("disk.read_cache_bytes={}", sectors * 512);
        let mut rig = Rig::disk(&[&set, "disk.read_cache_segments=1"]);
        rig.one((Op::Read, 0, 20 * 512));
        let all: Vec<u64> = (0..21).collect();
        let last: Vec<u64> = (20 - sectors..20).collect();
        assert_eq!(cached(&rig, &all), last, "the last {sectors} sectors read");
        // Overwritten, they are gone.
        rig.one(write_sector(19));
        assert_eq!(cached(&rig, &all), [0; 0]);
    }
}

fn the_read_cache_holds_so_many_runs() {
    for segments in [1, 3, 8] {
        let set = format!("disk.read_cache_segments={segments}");
        let mut rig = Rig::disk(&["disk.read_cache_bytes=64k", &set]);
        let runs: Vec<u64> = (0..10).map(|number| number * 500).collect();
        for &run in &runs {
            rig.one(read_sector(run));
        }
        assert_eq!(cached(&rig, &runs), runs[10 - segments..], "{segments}");
    }
}

fn the_arm_reads_on_so_far() {
    for ahead in [0, 1, 30] {
        let set = format!("disk.read_ahead_bytes={}", ahead * 512);
        let mut rig = Rig::disk(&[&set, "disk.read_cache_bytes=64k", "disk.read_cache_segments=1"]);
        rig.one(read_sector(40));
        rig.idle(TURN);
        let all: Vec<u64> = (35..80).collect();
        let expected: Vec<u64> = (40..=40 + ahead).collect();
        assert_eq!(cached(&rig, &all), expected);
    }
    // Behind a read-ahead that goes on, a stream loses nothing between its requests; without
    // one, each waits a revolution for the sector it has just missed.
    let stream = |ahead: &str| {
        let mut rig =
            Rig::disk(&[ahead, "disk.read_cache_bytes=64k", "disk.read_cache_segments=1"]);
        let first = rig.one(read_sector(0)).completed;
        let done = (1..50).map(|sector| rig.one(read_sector(sector)).completed).last();
        (done.unwrap() - first).0
    };
    assert_eq!(stream("disk.read_ahead_bytes=32k"), 49 * SECTOR);
    assert_eq!(stream("disk.read_ahead_bytes=0"), 49 * (TURN + SECTOR));
}

fn the_write_cache_takes_so_many_bytes_at_once() {
    for room in [1, 5, 12] {
        let mut rig = Rig::disk(&[&format!("disk.write_cache_bytes={}", room * 512)]);
        let writes: Vec<_> = (0..=room).map(|number| write_sector(number * 300)).collect();
        let done = rig.together(&writes);
        let waits = |at: u64| done[at as usize].attribution[Cause::Buffer];
        assert!((0..room).all(|at| waits(at) == 0), "{room} fit");
        assert!(waits(room) > SECTOR, "one more waits for the first to be written");
        // A write larger than the cache goes through.
        let through = rig.one((Op::Write, 0, (room + 1) * 512));
        assert_eq!(through.attribution[Cause::Transfer], (room + 1) * SECTOR);
    }
    let mut rig = Rig::disk(&["disk.write_cache_bytes=0"]);
    assert_eq!(rig.one(write_sector(0)).attribution[Cause::Transfer], SECTOR);
    assert_eq!(rig.latency_ns(FLUSH), COMMAND, "nothing to write");
}

#[test]
fn a_flush_ends_when_all_is_on_the_medium() {
    let mut rig = Rig::disk(&["disk.write_cache_bytes=64k"]);
    for sector in [10, 2000, 4000] {
        assert_eq!(rig.latency_ns(write_sector(sector)), CACHED);
    }
    rig.submit(FLUSH);
    rig.submit(read_sector(10));
    let done = rig.drain();
    assert_eq!(done[0].attribution[Cause::Buffer], done[0].latency().0 - COMMAND);
    assert!(done[0].latency().0 > 3 * SECTOR);
    assert!(done[1].attribution[Cause::HostQueue] >= done[0].latency().0, "it is not queued");
    assert_eq!(rig.latency_ns(FLUSH), COMMAND);
}

#[test]
fn a_forced_write_goes_to_the_medium_and_replaces_what_was_cached() {
    let mut rig = Rig::disk(&["disk.write_cache_bytes=64k"]);
    rig.one(read_sector(0));
    rig.together(&[write_sector(50), write_sector(60)]);
    let (lba, sectors) = (Lba(60), Sectors(1));
    let request = Request { fua: true, ..Request::write(99, lba, sectors) };
    rig.device.submit(rig.device.now(), request).unwrap();
    let forced = rig.drain()[0];
    assert_eq!(forced.attribution[Cause::Transfer], SECTOR);
    rig.idle(TURN);
    assert_eq!(rig.latency_ns(FLUSH), COMMAND, "written once");
}

#[test]
fn cached_writes_are_read_back_at_once_and_neighbours_are_written_together() {
    let mut rig = Rig::disk(&["disk.write_cache_bytes=64k"]);
    rig.one(read_sector(0));
    let together: Vec<_> = (20..60).map(write_sector).collect();
    rig.together(&together);
    assert_eq!(rig.latency_ns(read_sector(59)), CACHED);
    // The first went out by itself; the other 39 are one run, a revolution later at most.
    let flush = rig.one(FLUSH);
    assert!(flush.latency().0 < 2 * TURN, "{flush:?}");
}

#[test]
fn behind_the_write_cache_a_read_waits_and_says_so() {
    let mut rig = Rig::disk(&["disk.write_cache_bytes=64k"]);
    rig.one(read_sector(0));
    rig.submit(write_sector(80));
    rig.submit(read_sector(3000));
    let read = rig.drain()[1];
    // The write began as soon as it was there, one sector on the link before the read.
    let writing = read.attribution[Cause::Buffer];
    assert!(writing > 70 * SECTOR && writing < 81 * SECTOR, "{read:?}");
}
