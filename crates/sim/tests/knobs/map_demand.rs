//! The mapping table paged in on demand, on page-mapped drives.
//!
//! Entries of 512 bytes on pages of 4 KB: eight to a mapping page, and 64 exported pages.

use crate::faults::complaint;
use crate::rig::{
    COMMAND, LINK, LOG_DRIVE, NO_LINK, PAGE, PAGE_DRIVE, READ, READ_ARRAY, READ_COMMAND, Rig,
    TRANSFER, WRITE, read, write,
};
use ssdscope_io::{Cause, Op};
use ssdscope_sim::State;

knobs! {
    "map.cache_bytes" => so_many_bytes_of_entries_stay,
    "map.cached_entry_bytes" => smaller_entries_are_more,
    "map.entry_bytes" => a_mapping_page_holds_so_many_entries,
    "map.load_bytes" => a_miss_reads_so_many_sectors,
    "map.read_places" => reading_what_was_never_written_gives_it_a_place,
    "map.program_map" => what_is_written_back_is_programmed_or_stays,
}

const SECTOR: u64 = TRANSFER / 8;
/// Reading a sector of a mapping page.
const LOAD: u64 = READ_COMMAND + READ_ARRAY + SECTOR;

const DEMAND: [&str; 4] =
    ["map.kind=demand", "map.cache_bytes=800", "map.cached_entry_bytes=100", "map.entry_bytes=512"];

/// The drive without a link, written in order, with an empty cache of eight entries.
fn paged(sets: &[&str]) -> Rig {
    Rig::filled(&[&DEMAND, sets].concat())
}

/// Mapping pages read, and written back.
fn traffic(rig: &mut Rig) -> (u64, u64) {
    let counters = rig.counters();
    (counters.map_loads, counters.map_write_backs)
}

fn so_many_bytes_of_entries_stay() {
    for entries in 1..=5 {
        let mut rig = paged(&[&format!("map.cache_bytes={}", entries * 100 + 99)]);
        // Round and round: with one page too many the next one has always just gone.
        for (pages, loads) in [(entries, entries), (entries + 1, 3 * (entries + 1))] {
            let mut rig = rig.fork();
            let spent: u64 = (0..3 * pages).map(|turn| rig.latency_ns(read(turn % pages))).sum();
            assert_eq!(spent, 3 * pages * READ + loads * LOAD, "{entries}, {pages}");
            assert_eq!(traffic(&mut rig), (loads, 0), "{entries}, {pages}");
        }
        assert_eq!(rig.one(read(0)).attribution[Cause::Map], LOAD);
    }
}

fn smaller_entries_are_more() {
    for (bytes, entries) in [(50, 16), (100, 8), (200, 4)] {
        let mut rig = paged(&[&format!("map.cached_entry_bytes={bytes}")]);
        for _ in 0..2 {
            rig.read_pages(0..entries);
        }
        assert_eq!(traffic(&mut rig).0, entries, "{bytes}: all of them fit");
        rig.one(read(entries));
        rig.one(read(0));
        assert_eq!(traffic(&mut rig).0, entries + 2, "{bytes}: one more does not");
    }
}

fn a_mapping_page_holds_so_many_entries() {
    for (bytes, entries) in [(128, 32), (256, 16), (500, 8), (512, 8)] {
        let mut rig = paged(&[&format!("map.entry_bytes={bytes}")]);
        // What misses together shares the reads of mapping pages.
        rig.together(&(0..64).map(read).collect::<Vec<_>>());
        assert_eq!(traffic(&mut rig).0, 64 / entries, "{bytes}");
        let read_bytes = rig.counters().flash_bytes_read;
        assert_eq!(read_bytes, (64 + 64 / entries) * PAGE, "{bytes}");
        // They take room beside the data, not of what is exported.
        assert_eq!(rig.capacity(), 64 * PAGE);
    }
}

fn a_miss_reads_so_many_sectors() {
    for sectors in [1, 2, 5, 8] {
        let mut rig = paged(&[&format!("map.load_bytes={}", sectors * 512)]);
        for page in [0, 7, 60] {
            let done = rig.one(read(page));
            let load = READ_COMMAND + READ_ARRAY + sectors * SECTOR;
            assert_eq!((done.latency().0, done.attribution[Cause::Map]), (load + READ, load));
        }
    }
}

fn reading_what_was_never_written_gives_it_a_place() {
    for (places, kept) in [("false", 0), ("true", 1)] {
        let set = format!("map.read_places={places}");
        let mut rig = Rig::open(PAGE_DRIVE, &[&NO_LINK[..], &[&set]].concat(), None);
        // Then a read takes as long as any other, and what was read is held; else the map answers.
        // Neither programs anything.
        assert_eq!(rig.latency_ns(read(3)), kept * READ, "{places}");
        assert_eq!(rig.counters().flash_bytes_programmed, 0);
        rig.one((Op::Write, 3 * PAGE, 512));
        assert_eq!(rig.counters().rmw_reads, kept, "{places}");
        // The places are those of writes: once all is read, writing all of it needs collection.
        let sets = [&set, "gc.min_free_blocks=6"];
        let mut rig = Rig::open(PAGE_DRIVE, &[&NO_LINK[..], &sets].concat(), None);
        rig.read_pages(0..64);
        rig.write_pages(0..64);
        assert_eq!(rig.rest().gc_runs > 0, kept > 0, "{places}");
    }
    for (places, write_backs) in [("false", 0), ("true", 4)] {
        let places = format!("map.read_places={places}");
        for (state, write_backs) in [(State::Fresh, write_backs), (State::Sequential, 0)] {
            let sets = [&NO_LINK[..], &DEMAND, &["map.cache_bytes=100", &places]].concat();
            let mut rig = Rig::open(PAGE_DRIVE, &sets, Some(state));
            for turn in 0..5 {
                rig.one(read(turn * 8));
            }
            assert_eq!(traffic(&mut rig), (5, write_backs), "{places}, {state:?}");
        }
    }
}

fn what_is_written_back_is_programmed_or_stays() {
    for (programs, misses) in [("true", 1), ("false", 0)] {
        let set = format!("map.program_map={programs}");
        let mut rig = paged(&["map.cache_bytes=100", &set]);
        rig.one(write(0));
        rig.one(read(8));
        rig.rest();
        assert_eq!(traffic(&mut rig), (2, 1), "{programs}");
        // Where its contents have stayed, nothing is read for it any more.
        let done = rig.one(write(1));
        assert_eq!(done.latency().0, WRITE + misses * LOAD, "{programs}");
        rig.one(write(2));
        let counters = rig.rest();
        let own = counters.flash_bytes_programmed / PAGE - 3 - counters.gc_pages_moved;
        assert_eq!(own, if programs == "true" { 2 } else { 0 }, "{programs}");
    }
}

#[test]
fn a_discard_changes_the_entry_that_is_in_ram() {
    for (discarded, write_backs) in [(0, 1), (1, 0)] {
        let mut rig = paged(&["map.cache_bytes=100"]);
        rig.one(read(0));
        rig.one((Op::Discard, discarded * PAGE, PAGE));
        rig.one(read(8));
        assert_eq!(traffic(&mut rig), (2, write_backs), "page {discarded}");
    }
}

#[test]
fn a_write_back_reads_what_it_keeps_and_programs_a_page() {
    for (state, reads) in [(State::Fresh, 0), (State::Sequential, 1)] {
        let sets = [&NO_LINK[..], &DEMAND].concat();
        let mut rig = Rig::open(PAGE_DRIVE, &sets, Some(state));
        assert_eq!(rig.latency_ns(write(0)), LOAD + WRITE);
        rig.read_pages(8..15);
        // The host does not wait for it, but for the die that it works on.
        let data = if state == State::Fresh { 0 } else { READ };
        assert_eq!(rig.latency_ns(read(15)), LOAD + data);
        assert_eq!(traffic(&mut rig), (9, 1));
        let counters = rig.rest();
        assert_eq!(counters.rmw_reads, reads, "{state:?}: preparing wrote the mapping pages");
        assert_eq!(counters.flash_bytes_programmed, 2 * PAGE);
    }
}

#[test]
fn the_changed_entries_of_a_mapping_page_are_written_together() {
    let mut rig = paged(&[]);
    // All eight of a mapping page, then one after the other gives way.
    rig.write_pages(0..8);
    rig.read_pages(8..16);
    rig.rest();
    assert_eq!(traffic(&mut rig), (16, 1));
    // All eight of different ones.
    let mut rig = paged(&[]);
    rig.write_pages((0..8).map(|number| number * 8));
    rig.read_pages((0..8).map(|number| number * 8 + 1));
    rig.rest();
    assert_eq!(traffic(&mut rig), (16, 8));
}

#[test]
fn what_was_never_written_misses_too() {
    let mut rig = Rig::page(&DEMAND);
    for load in [LOAD, 0] {
        assert_eq!(
            rig.latency_ns(read(5)),
            COMMAND + load + LINK,
            "that it is nowhere is an entry"
        );
    }
    assert_eq!(traffic(&mut rig), (1, 0));
}

#[test]
fn mapping_pages_are_collected_like_any_other() {
    // A few blocks more than data and mapping pages take, and random overwrites.
    let sets = ["map.cache_bytes=400", "over_provisioning_ratio=0.9", "nand.blocks_per_plane=18"];
    let mut rig = paged(&sets);
    rig.run(r#"{"rw": "randwrite", "block_bytes": 4096, "requests": 3000}"#);
    let counters = rig.rest();
    let pages = counters.flash_bytes_programmed / PAGE;
    assert_eq!(pages, 3000 + counters.map_write_backs + counters.gc_pages_moved);
    assert!(counters.map_write_backs > 2000, "{}", counters.map_write_backs);
    assert!(counters.block_erases >= (pages - 18 * 8) / 8, "{}", counters.block_erases);
    println!("write amplification {:.2}", counters.waf().unwrap());
}

#[test]
fn demand_paging_that_cannot_be_is_refused_with_both_values() {
    for (text, sets, reason) in [
        (
            PAGE_DRIVE,
            &["map.cache_bytes=99"][..],
            "map.cache_bytes: 99 bytes hold no entry of map.cached_entry_bytes = 100",
        ),
        (PAGE_DRIVE, &["map.load_bytes=1000"], "map.load_bytes: 1000 is not a whole number"),
        (
            PAGE_DRIVE,
            &["map.load_bytes=8k"],
            "8192 is not a whole number of sectors of 512 bytes, \
          or larger than the mapping page of 4096",
        ),
        (PAGE_DRIVE, &["over_provisioning_ratio=0.4"], "over_provisioning_ratio: 0.4 leaves 3"),
    ] {
        let lines = complaint(text, &[&DEMAND, sets].concat());
        assert!(lines.len() == 1 && lines[0].contains(reason), "{sets:?}: {lines:?}");
    }
    let lines = complaint(LOG_DRIVE, &["map.kind=demand"]);
    assert!(lines[0].contains("map.kind: \"demand\" needs ftl.kind = \"page\""), "{lines:?}");
}
