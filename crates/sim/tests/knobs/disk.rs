//! The moving parts of a hard disk.
//!
//! After a read the head stands behind its last sector. The host sees the answer 512 ns
//! later (a sector on the link), and its next command takes [`COMMAND`].

use crate::rig::{COMMAND, DISK_DRIVE, Rig, config, read_sector, write_sector};
use ssdscope_io::{Cause, Completion, Op};

/// A revolution, and a sector of the outermost zone.
pub const TURN: u64 = 10_000_000;
pub const SECTOR: u64 = 100_000;
/// A sector on the link.
pub const LINK: u64 = 512;

knobs! {
    "disk.rpm" => a_revolution_is_a_minute_by_rpm,
    "disk.surfaces" => surfaces_are_capacity_and_come_before_the_next_cylinder,
    "disk.cylinders" => cylinders_are_capacity,
    "disk.zones" => zones_are_steps_in_the_length_of_tracks,
    "disk.outer_sectors_per_track" => outer_tracks_have_so_many_sectors,
    "disk.inner_sectors_per_track" => inner_tracks_have_so_many_sectors,
    "disk.seek_track_ns" => the_next_cylinder_takes_seek_track_ns,
    "disk.seek_average_ns" => the_mean_of_all_seeks_is_the_average,
    "disk.seek_full_ns" => the_whole_stroke_takes_seek_full_ns,
    "disk.head_switch_ns" => another_surface_takes_a_head_switch,
    "disk.write_settle_ns" => a_write_settles_after_a_move,
    "disk.queue_order" => the_queue_is_served_by_position_or_by_arrival,
}

fn a_revolution_is_a_minute_by_rpm() {
    for (rpm, turn) in [(6000, TURN), (5400, 11_111_111), (7200, 8_333_333), (15_000, 4_000_000)] {
        let mut rig = Rig::disk(&[&format!("disk.rpm={rpm}")]);
        let first = rig.one(read_sector(7));
        let again = rig.one(read_sector(7));
        assert_eq!((again.completed - first.completed).0, turn, "{rpm}");
        let waited = turn - LINK - COMMAND - again.attribution[Cause::Transfer];
        assert_eq!(again.attribution[Cause::Mechanical], waited, "{rpm}");
    }
}

fn surfaces_are_capacity_and_come_before_the_next_cylinder() {
    for surfaces in [1, 2, 5] {
        let mut rig = Rig::disk(&[&format!("disk.surfaces={surfaces}")]);
        assert_eq!(rig.capacity(), surfaces * 10 * (100 + 90 + 80 + 70) * 512);
        // The first sector of the last surface is a head switch away, the next a seek.
        let (last, next) = ((surfaces - 1) * 100, surfaces * 100);
        let switch = if surfaces > 1 { 500_000 } else { 0 };
        assert_eq!(move_ns(&mut rig, 0, last), switch, "{surfaces}");
        assert_eq!(move_ns(&mut rig, 0, next), 1_000_000, "{surfaces}");
    }
}

fn cylinders_are_capacity() {
    for cylinders in [40, 80, 1000] {
        let rig = Rig::disk(&[&format!("disk.cylinders={cylinders}")]);
        assert_eq!(rig.capacity(), 2 * cylinders / 4 * (100 + 90 + 80 + 70) * 512);
    }
}

fn zones_are_steps_in_the_length_of_tracks() {
    for (zones, tracks) in [
        (1, vec![(40, 100)]),
        (2, vec![(20, 100), (20, 70)]),
        (3, vec![(13, 100), (13, 85), (14, 70)]),
        (4, vec![(10, 100), (10, 90), (10, 80), (10, 70)]),
    ] {
        let mut rig = Rig::disk(&[&format!("disk.zones={zones}")]);
        let mut sector = 0;
        for (cylinders, per_track) in tracks {
            assert_eq!(sector_ns(&mut rig, sector), TURN / per_track, "{zones} zones");
            sector += 2 * cylinders * per_track;
        }
        assert_eq!(rig.capacity(), sector * 512, "{zones} zones");
    }
}

fn outer_tracks_have_so_many_sectors() {
    for sectors in [70, 100, 1000] {
        let mut rig = Rig::disk(&[&format!("disk.outer_sectors_per_track={sectors}")]);
        assert_eq!(sector_ns(&mut rig, 0), TURN / sectors);
        let last = rig.capacity() / 512 - 70;
        assert_eq!(sector_ns(&mut rig, last), TURN / 70);
    }
}

fn inner_tracks_have_so_many_sectors() {
    for sectors in [10, 50, 100] {
        let mut rig = Rig::disk(&[&format!("disk.inner_sectors_per_track={sectors}")]);
        let last = rig.capacity() / 512 - sectors;
        assert_eq!(sector_ns(&mut rig, last), TURN / sectors);
        assert_eq!(sector_ns(&mut rig, 0), SECTOR);
    }
}

/// The time of the first sector of a track under the head, to the nanosecond below.
fn sector_ns(rig: &mut Rig, sector: u64) -> u64 {
    rig.one(read_sector(sector)).attribution[Cause::Transfer]
}

/// How long the arm moves from one sector to another: an idle pause makes it come down
/// just before the sector, where nothing of the wait is rotation.
fn move_for(rig: &mut Rig, from: u64, to: u64, write: bool) -> u64 {
    rig.one(read_sector(from));
    let ask = if write { write_sector(to) } else { read_sector(to) };
    let after = |pause_ns: u64| -> Completion {
        let mut fork = rig.fork();
        fork.idle(pause_ns);
        fork.one(ask)
    };
    // The longest pause after which the same revolution is still caught.
    let caught = after(0).completed;
    let (mut low, mut high) = (0, 2 * TURN);
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        if after(middle).completed == caught { low = middle } else { high = middle }
    }
    after(low).attribution[Cause::Mechanical]
}

fn move_ns(rig: &mut Rig, from: u64, to: u64) -> u64 {
    move_for(rig, from, to, false)
}

/// The first sector of a cylinder of the small disk.
fn cylinder(number: u64) -> u64 {
    (0..number).map(|number| 2 * (100 - 10 * (number / 10))).sum()
}

fn the_next_cylinder_takes_seek_track_ns() {
    for track_ns in [1_000_000, 700_001, 2_000_000] {
        let mut rig = Rig::disk(&[&format!("disk.seek_track_ns={track_ns}")]);
        assert_eq!(move_ns(&mut rig, 0, cylinder(1)), track_ns);
        assert_eq!(move_ns(&mut rig, cylinder(25), cylinder(24)), track_ns);
        assert_eq!(move_ns(&mut rig, 0, cylinder(39)), 6_000_000);
    }
}

fn the_mean_of_all_seeks_is_the_average() {
    for average_ns in [3_000_000, 3_500_000, 4_000_000] {
        let mut rig = Rig::disk(&[&format!("disk.seek_average_ns={average_ns}")]);
        // Distance d stands between 40 - d of the 40 * 39 / 2 pairs.
        let sum: f64 = (1..40)
            .map(|distance| {
                let ns = move_ns(&mut rig, 0, cylinder(distance));
                (40 - distance) as f64 * ns as f64
            })
            .sum();
        let mean = sum / (40.0 * 39.0 / 2.0);
        assert!((mean - average_ns as f64).abs() < 1.0, "{mean} for {average_ns}");
    }
}

fn the_whole_stroke_takes_seek_full_ns() {
    for full_ns in [6_000_000, 5_000_003, 8_000_000] {
        let mut rig = Rig::disk(&[&format!("disk.seek_full_ns={full_ns}")]);
        assert_eq!(move_ns(&mut rig, 0, cylinder(39)), full_ns);
        assert_eq!(move_ns(&mut rig, cylinder(39), 0), full_ns);
        assert_eq!(move_ns(&mut rig, 0, cylinder(1)), 1_000_000);
    }
}

fn another_surface_takes_a_head_switch() {
    for switch_ns in [0, 500_000, 1_234_567] {
        let mut rig = Rig::disk(&[&format!("disk.head_switch_ns={switch_ns}")]);
        assert_eq!(move_ns(&mut rig, 0, 100), switch_ns);
        // Both at once take as long as the longer one.
        let both = move_ns(&mut rig, 0, cylinder(1) + 100);
        assert_eq!(both, switch_ns.max(1_000_000));
        // A track that follows waits for as many sectors as hide the switch, and no more.
        let wait = |rig: &mut Rig, sectors: u64| {
            rig.one(read_sector(99));
            rig.one((Op::Read, 0, sectors * 512)).attribution[Cause::Mechanical]
        };
        let more = wait(&mut rig, 200) - wait(&mut rig, 100);
        assert_eq!(more, (switch_ns + 2).div_ceil(SECTOR) * SECTOR);
    }
}

fn a_write_settles_after_a_move() {
    for settle_ns in [0, 300_000, 1_000_001] {
        let mut rig = Rig::disk(&[&format!("disk.write_settle_ns={settle_ns}")]);
        assert_eq!(move_for(&mut rig, 0, cylinder(1), true), 1_000_000 + settle_ns);
        assert_eq!(move_for(&mut rig, 0, 100, true), 500_000 + settle_ns);
        assert_eq!(move_for(&mut rig, 0, cylinder(1), false), 1_000_000);
        assert_eq!(move_for(&mut rig, 0, 50, true), 0, "on the same track");
    }
}

/// When sectors 50, 30 and 10 were read, in sectors behind sector 5 that was asked first.
pub fn order(sets: &[&str]) -> [u64; 3] {
    let mut rig = Rig::disk(sets);
    rig.one(read_sector(0));
    let done = rig.together(&[5, 50, 30, 10].map(read_sector));
    [1, 2, 3].map(|at| ((done[at].completed - done[0].completed).0 + SECTOR / 2) / SECTOR)
}

fn the_queue_is_served_by_position_or_by_arrival() {
    assert_eq!(order(&["disk.queue_order=position"]), [45, 25, 5], "in one revolution");
    assert_eq!(order(&["disk.queue_order=arrival"]), [45, 125, 205], "one more for each");
}

#[test]
fn the_seek_curve_rises_as_the_root_and_then_in_proportion() {
    let mut rig = Rig::disk(&["disk.cylinders=400"]);
    let at = |number: u64| -> u64 { (0..number).map(|at| 2 * (100 - 10 * (at / 100))).sum() };
    let mut seek = |distance: u64| move_ns(&mut rig, 0, at(distance)) as f64;
    // Within the root branch (up to a third of the stroke) and within the straight one.
    let root = (seek(100) - seek(25)) / (seek(25) - seek(1));
    assert!((root - 5.0 / 4.0).abs() < 1e-5, "{root}: (10 - 5) / (5 - 1)");
    let straight = (seek(399) - seek(299)) / (seek(299) - seek(199));
    assert!((straight - 1.0).abs() < 1e-5, "{straight}");
    assert_eq!(config(DISK_DRIVE, &[]).resolved()["disk"]["cylinders"], 40);
}
