//! Which part of the mapping table is in RAM, on page-mapped and log-block drives alike.
//!
//! Both export 256 KB: four zones of 64 KB, 16 pages each.

use crate::faults::complaint;
use crate::rig::{LOG_DRIVE, NO_LINK, PAGE, PAGE_DRIVE, READ, Rig, WRITE, read, write};
use ssdscope_io::{Cause, Op};
use ssdscope_sim::State;

knobs! {
    "map.kind" => a_table_in_ram_is_never_loaded,
    "map.zone_bytes" => a_zone_is_loaded_as_a_whole,
    "map.resident_zones" => so_many_zones_stay,
    "map.load_ns" => a_miss_takes_load_ns,
    "map.write_back_ns" => a_changed_table_is_written_back_first,
}

const LOAD: u64 = 777_000;
const WRITE_BACK: u64 = 1_333_000;
const ZONES: [&str; 4] =
    ["map.kind=zones", "map.zone_bytes=64k", "map.load_ns=777000", "map.write_back_ns=1333000"];

/// Either drive without a link, written in order, with no table loaded.
fn both(sets: &[&str]) -> [Rig; 2] {
    [PAGE_DRIVE, LOG_DRIVE]
        .map(|text| Rig::open(text, &[&NO_LINK, sets].concat(), Some(State::Sequential)))
}

fn zoned(sets: &[&str]) -> [Rig; 2] {
    both(&[&ZONES, sets].concat())
}

/// Zones loaded, and written back.
fn traffic(rig: &mut Rig) -> (u64, u64) {
    let counters = rig.counters();
    (counters.map_loads, counters.map_write_backs)
}

fn a_table_in_ram_is_never_loaded() {
    for (kind, loads) in [("ram", 0), ("zones", 1)] {
        let kind = format!("map.kind={kind}");
        for mut rig in both(&[&ZONES[1..], &[&kind]].concat()) {
            let done = rig.one(read(0));
            assert_eq!(done.latency().0, READ + loads * LOAD, "{kind}");
            assert_eq!(done.attribution[Cause::Map], loads * LOAD, "{kind}");
            assert_eq!(traffic(&mut rig), (loads, 0), "{kind}");
        }
    }
}

fn a_zone_is_loaded_as_a_whole() {
    for (bytes, pages) in [("32k", 8), ("64k", 16), ("96k", 24), ("256k", 64)] {
        let set = format!("map.zone_bytes={bytes}");
        for mut rig in zoned(&[&set, "map.resident_zones=100"]) {
            for page in 0..64 {
                let load = if page % pages == 0 { LOAD } else { 0 };
                assert_eq!(rig.latency_ns(read(page)), READ + load, "{bytes}: page {page}");
            }
            // All of them fit.
            assert_eq!(traffic(&mut rig), (64_u64.div_ceil(pages), 0), "{bytes}");
            assert_eq!(rig.latency_ns(read(0)), READ, "{bytes}");
        }
    }
    // Without merge units a zone may end anywhere: a page is in that of its first byte.
    let sets = [&ZONES[..], &["map.zone_bytes=10000", "map.resident_zones=100"]].concat();
    let mut rig = Rig::filled(&sets);
    for page in 0..64 {
        let starts = page == 0 || (page * PAGE) / 10_000 != (page - 1) * PAGE / 10_000;
        assert_eq!(rig.latency_ns(read(page)), READ + u64::from(starts) * LOAD, "page {page}");
    }
}

fn so_many_zones_stay() {
    for resident in 1..=3 {
        let set = format!("map.resident_zones={resident}");
        // Round and round: with one zone too many the next one has always just gone.
        for (zones, loads) in [(resident, resident), (resident + 1, 3 * (resident + 1))] {
            for mut rig in zoned(&[&set]) {
                let spans = (0..3 * zones).map(|turn| rig.latency_ns(read(turn % zones * 16)));
                assert_eq!(spans.sum::<u64>(), 3 * zones * READ + loads * LOAD, "{set}, {zones}");
                assert_eq!(traffic(&mut rig), (loads, 0), "{set}, {zones}");
            }
        }
    }
}

fn a_miss_takes_load_ns() {
    for load in [0, 1, 1_000_000] {
        for mut rig in zoned(&[&format!("map.load_ns={load}")]) {
            assert_eq!(rig.latency_ns(read(5)), READ + load);
            assert_eq!(rig.latency_ns(write(21)), load + WRITE);
            assert_eq!(traffic(&mut rig).0, 2);
        }
    }
}

fn a_changed_table_is_written_back_first() {
    for mut rig in zoned(&[]) {
        assert_eq!(rig.latency_ns(write(3)), LOAD + WRITE);
        assert_eq!(traffic(&mut rig), (1, 0));
        let done = rig.one(read(16));
        assert_eq!(done.latency().0, WRITE_BACK + LOAD + READ);
        assert_eq!(done.attribution[Cause::Map], WRITE_BACK + LOAD);
        assert_eq!(traffic(&mut rig), (2, 1));
        // The one that goes now was only read.
        assert_eq!(rig.latency_ns(read(3)), LOAD + READ);
        assert_eq!(traffic(&mut rig), (3, 1));
    }
}

#[test]
fn a_discard_changes_the_table_that_is_in_ram() {
    for (discarded, write_backs) in [(3, 1), (35, 0)] {
        for mut rig in zoned(&[]) {
            rig.one(read(0));
            assert_eq!(rig.latency_ns((Op::Discard, discarded * PAGE, PAGE)), 0);
            // One zone goes for the other.
            let expected = write_backs * WRITE_BACK + LOAD + READ;
            assert_eq!(rig.latency_ns(read(16)), expected, "page {discarded}");
            assert_eq!(traffic(&mut rig), (2, write_backs), "page {discarded}");
        }
    }
}

#[test]
fn two_zones_in_turn_load_every_time_or_never() {
    for (resident, loads) in [("1", 20), ("2", 2)] {
        for mut rig in zoned(&[&format!("map.resident_zones={resident}")]) {
            let spans: Vec<u64> =
                (0..20).map(|turn| rig.latency_ns(read(turn % 2 * 16 + turn / 2))).collect();
            for (turn, &span) in spans.iter().enumerate() {
                let load = if turn < loads { LOAD } else { 0 };
                assert_eq!(span, READ + load, "{resident} resident, turn {turn}");
            }
            assert_eq!(traffic(&mut rig), (loads as u64, 0));
        }
    }
}

#[test]
fn the_zone_not_used_for_longest_goes() {
    for mut rig in zoned(&["map.resident_zones=2"]) {
        for page in [0, 16, 1, 32] {
            rig.one(read(page));
        }
        // Zone 1 went, though zone 0 was loaded before it.
        assert_eq!(rig.latency_ns(read(2)), READ);
        assert_eq!(rig.latency_ns(read(17)), LOAD + READ);
        assert_eq!(traffic(&mut rig), (4, 0));
    }
}

#[test]
fn what_waits_for_one_zone_shares_its_load_and_zones_come_one_by_one() {
    let sets = [&ZONES[..], &["nand.channels=4", "map.resident_zones=4"]].concat();
    let mut rig = Rig::filled(&sets);
    let done = rig.together(&[read(0), read(1), read(18), read(35), read(2)]);
    let map = done.iter().map(|done| done.attribution[Cause::Map]);
    assert!(map.eq([LOAD, LOAD, 2 * LOAD, 3 * LOAD, LOAD]));
    for done in &done {
        assert_eq!(done.latency().0, done.attribution[Cause::Map] + READ);
    }
    assert_eq!(traffic(&mut rig), (3, 0));
}

#[test]
fn what_is_in_ram_passes_the_loader() {
    for mut rig in zoned(&["map.resident_zones=2"]) {
        rig.one(read(0));
        let done = rig.together(&[read(16), read(1)]);
        assert_eq!([done[0].latency().0, done[1].latency().0], [LOAD + READ, READ]);
    }
}

#[test]
fn a_request_across_zones_waits_for_all_of_them() {
    for mut rig in zoned(&[]) {
        // Each page goes on as soon as its own zone is there.
        let done = rig.one((Op::Read, 15 * PAGE, 2 * PAGE));
        assert_eq!((done.latency().0, traffic(&mut rig)), (2 * LOAD + READ, (2, 0)));
    }
}

#[test]
fn zones_that_cannot_be_are_refused_with_both_values() {
    for (text, sets, reason) in [
        (
            PAGE_DRIVE,
            &["map.zone_bytes=1m"][..],
            "map.zone_bytes: a zone of 1048576 bytes is larger than the drive, which exports 262144",
        ),
        (LOG_DRIVE, &["map.zone_bytes=512k"], "524288 bytes is larger than the drive"),
        (
            LOG_DRIVE,
            &["map.zone_bytes=40k"],
            "map.zone_bytes: 40960 is not a whole number of merge units of \
             ftl.merge_unit_bytes = 32768",
        ),
        (PAGE_DRIVE, &["map.resident_zones=0"], "expected a whole number from 1"),
        (PAGE_DRIVE, &["map.kind=zone"], "expected one of ram, zones, demand"),
    ] {
        let lines = complaint(text, &[&ZONES, sets].concat());
        assert!(lines.len() == 1 && lines[0].contains(reason), "{sets:?}: {lines:?}");
    }
}
