//! The read cache and reading ahead, on page-mapped and log-block drives alike. Without a
//! link, what is found in the cache takes no time at all.

use crate::faults::complaint;
use crate::rig::{LOG_DRIVE, PAGE, PAGE_DRIVE, READ, Rig, read, read_sector, write};
use ssdscope_io::{Cause, Op};

knobs! {
    "read_cache.bytes" => the_pages_read_last_are_held,
    "read_cache.unit_bytes" => room_is_taken_in_whole_units,
    "read_cache.read_ahead_bytes" => reads_in_a_row_are_read_ahead,
    "read_cache.ns_per_byte" => a_copy_takes_so_long,
}

/// Both drives with a cache of so many pages, and more keys.
fn cached(pages: u64, sets: &[&str]) -> [Rig; 2] {
    let bytes = format!("read_cache.bytes={}", pages * PAGE);
    let sets = [&[bytes.as_str()], sets].concat();
    // Pages go round the planes of a merge unit as they do on the other drive.
    let unit = ["ftl.merge_unit_bytes=65536"];
    let wide = sets.contains(&"nand.channels=2");
    let log = [&sets[..], if wide { &unit[..] } else { &[] }].concat();
    [Rig::filled(&sets), Rig::logged(&log)]
}

/// Which of some sectors are in the cache.
fn held(rig: &Rig, sectors: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let is_held = |sector: &u64| {
        let mut fork = rig.fork();
        let before = fork.counters().cache_read_bytes;
        fork.latency_ns(read_sector(*sector)) == 0 && fork.counters().cache_read_bytes > before
    };
    sectors.into_iter().filter(is_held).collect()
}

/// The first sectors of pages.
fn pages(pages: std::ops::Range<u64>) -> Vec<u64> {
    pages.map(|page| page * 8).collect()
}

fn the_pages_read_last_are_held() {
    for count in 0..5 {
        for mut rig in cached(count, &[]) {
            for page in 0..8 {
                assert_eq!(rig.latency_ns(read(page)), READ);
            }
            assert_eq!(held(&rig, pages(0..9)), pages(8 - count..8), "{count} pages");
            // In one read that is larger than the cache too.
            rig.one((Op::Read, 10 * PAGE, 6 * PAGE));
            assert_eq!(held(&rig, pages(0..20)), pages(16 - count..16));
            if count > 1 {
                // Used again, the oldest stays.
                let oldest = 16 - count;
                rig.one(read(oldest));
                rig.one(read(7));
                let newest = pages(oldest + 2..16);
                assert_eq!(held(&rig, pages(0..20)), [&[56, oldest * 8], &newest[..]].concat());
                // What is overwritten or discarded is not.
                rig.one(write(7));
                rig.one((Op::Discard, oldest * PAGE, PAGE));
                assert_eq!(held(&rig, pages(0..20)), newest);
            }
        }
    }
}

fn room_is_taken_in_whole_units() {
    // The second sector of pages 0, 1, 5, 7 and 9, in room for 16 KB.
    let asked = [1, 9, 41, 57, 73];
    for (unit, left) in [(512, &asked[..]), (4096, &asked[1..]), (8192, &asked[3..])] {
        let set = format!("read_cache.unit_bytes={unit}");
        for mut rig in cached(4, &[&set]) {
            for sector in asked {
                rig.one(read_sector(sector));
            }
            assert_eq!(held(&rig, 0..80), left, "only what was read, of as many units as fit");
        }
    }
}

fn reads_in_a_row_are_read_ahead() {
    for ahead in [0, 1, 3] {
        let set = format!("read_cache.read_ahead_bytes={}", ahead * PAGE);
        for mut rig in cached(8, &["nand.channels=2", &set]) {
            assert_eq!(rig.latency_ns(read(4)), READ);
            rig.idle(READ);
            assert_eq!(held(&rig, pages(5..9)), [0; 0], "one is not a row");
            assert_eq!(rig.latency_ns(read(5)), READ);
            rig.idle(2 * READ);
            assert_eq!(held(&rig, pages(6..12)), pages(6..6 + ahead), "{ahead} pages");
            assert_eq!(rig.counters().read_ahead_bytes, ahead * PAGE);
            rig.one(read(6));
            rig.idle(2 * READ);
            let more = if ahead == 0 { 0 } else { ahead + 1 };
            assert_eq!(rig.counters().read_ahead_bytes, more * PAGE, "it stays ahead");
            assert_eq!(rig.counters().cache_read_bytes, ahead.min(1) * PAGE);
        }
    }
    // What is being read ahead is waited for: page 2 is read on the other channel while
    // page 1 is.
    for mut rig in cached(8, &["nand.channels=2", "read_cache.read_ahead_bytes=8192"]) {
        rig.one(read(0));
        let both = rig.together(&[read(1), read(2)]);
        let ns = both[1].latency().0;
        assert_eq!((ns, both[1].attribution[Cause::Buffer]), (READ, READ));
        assert_eq!(rig.rest().flash_bytes_read, 5 * PAGE, "and read once");
    }
    // It delays nobody who came later.
    for mut rig in cached(8, &["read_cache.read_ahead_bytes=16384"]) {
        rig.one(read(0));
        let both = rig.together(&[read(1), read(20)]);
        assert_eq!(both[1].latency().0, 2 * READ, "behind page 1 and nothing else");
        assert_eq!(rig.latency_ns(read(30)), 2 * READ, "the die has begun with page 2");
    }
}

fn a_copy_takes_so_long() {
    for (rate, page_ns) in [("0.5", 2048), ("1.3", 5325)] {
        let set = format!("read_cache.ns_per_byte={rate}");
        for mut rig in cached(8, &[&set]) {
            assert_eq!(rig.latency_ns(read(1)), READ, "behind what flash takes");
            let both = rig.together(&[read(1), read(1)]);
            assert_eq!(both[0].attribution[Cause::Buffer], page_ns);
            assert_eq!(both[0].latency().0, page_ns);
            assert_eq!(both[1].latency().0, 2 * page_ns, "one after the other");
        }
    }
}

#[test]
fn what_is_in_the_write_buffer_is_newer() {
    for mut rig in cached(8, &["write_buffer.bytes=16384", "write_buffer.drain=full"]) {
        rig.one(read(0));
        assert_eq!(rig.latency_ns(write(0)), 0);
        assert_eq!(rig.latency_ns((Op::Read, 0, 2 * PAGE)), READ);
        let counters = rig.counters();
        assert_eq!((counters.buffer_read_bytes, counters.cache_read_bytes), (PAGE, 0));
        assert_eq!(rig.latency_ns((Op::Read, 0, 2 * PAGE)), 0, "page 0 from one, 1 from the other");
        assert_eq!(rig.counters().cache_read_bytes, PAGE);
    }
}

#[test]
fn caches_that_cannot_be_are_refused_with_both_values() {
    for (sets, expected) in [
        (
            &["read_cache.bytes=10k"][..],
            "10240 is not a whole number of units of read_cache.unit_bytes = 4096",
        ),
        (
            &["read_cache.bytes=4k", "read_cache.unit_bytes=8k"],
            "4096 is less than one unit of read_cache.unit_bytes = 8192",
        ),
        (
            &["read_cache.bytes=8k", "read_cache.read_ahead_bytes=12k"],
            "12288 does not fit into read_cache.bytes = 8192",
        ),
        (
            &["read_cache.bytes=8k", "read_cache.read_ahead_bytes=700"],
            "700 is not a whole number of sectors of 512 bytes",
        ),
        (&["read_cache.unit_bytes=700"], "700 is not a whole number of sectors of 512 bytes"),
    ] {
        for text in [PAGE_DRIVE, LOG_DRIVE] {
            let lines = complaint(text, sets);
            assert!(lines.len() == 1 && lines[0].ends_with(expected), "{lines:?}");
        }
    }
}
