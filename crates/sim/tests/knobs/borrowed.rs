//! Free blocks that a region with one bit per cell borrows, in closed form.
//!
//! The drive has one plane of 16 blocks, one of which is open for the host, and collection
//! begins below [`LOW_WATER`] free ones. With `own` blocks of its own and `used` blocks of data,
//! the region takes [`blocks`] blocks of [`PAGES`] pages.

use crate::faults::complaint;
use crate::pslc::{FOLD, ONE_BIT_READ, ONE_BIT_WRITE, fresh, writes};
use crate::rig::{PAGE_DRIVE, READ, Rig, WRITE, read, write};
use ssdscope_io::Cause;

knobs! {
    "pslc.dynamic_bytes" => so_many_bytes_are_borrowed_as_long_as_blocks_are_free,
}

/// `gc.min_free_blocks`, which is more than `gc.low_water_ratio` comes to.
const LOW_WATER: u64 = 2;
/// Of a block with one bit per cell.
const PAGES: u64 = 4;
/// What borrows all it can.
const ALL: &str = "pslc.dynamic_bytes=1m";

const fn blocks(own: u64, used: u64, borrowed_max: u64) -> u64 {
    let free = 15_u64.saturating_sub(own + used + LOW_WATER);
    own + if free < borrowed_max { free } else { borrowed_max }
}

/// The drive without a region of its own.
fn lent(sets: &[&str]) -> Rig {
    fresh(&[&["pslc.bytes=0", "pslc.overflow=direct"], sets].concat())
}

/// Pages that go to the region before one does not, of writes one after the other from `first`
/// and round the drive again.
fn room(rig: &Rig, first: u64) -> u64 {
    let (mut rig, pages) = (rig.fork(), rig.capacity() / 4096);
    (first..).take_while(|page| rig.latency_ns(write(page % pages)) == ONE_BIT_WRITE).count() as u64
}

fn so_many_bytes_are_borrowed_as_long_as_blocks_are_free() {
    for (own, borrowed) in [(0, 1), (0, 5), (3, 0), (3, 5), (0, 13), (0, 14), (2, 50)] {
        let bytes = |blocks: u64| blocks * PAGES * 4096;
        let sets = [
            format!("pslc.bytes={}", bytes(own)),
            format!("pslc.dynamic_bytes={}", bytes(borrowed)),
        ];
        let rig = lent(&[&sets[0], &sets[1]]);
        assert_eq!(room(&rig, 0), blocks(own, 0, borrowed) * PAGES, "{own} + {borrowed}");
    }
    // A part of a block is none.
    let sets = format!("pslc.dynamic_bytes={}", 3 * PAGES * 4096 - 512);
    assert_eq!(room(&lent(&[&sets]), 0), 2 * PAGES);
    // The fewer blocks collection leaves alone, the more.
    let rig = lent(&[ALL, "gc.min_free_blocks=6"]);
    assert_eq!(room(&rig, 0), (15 - 6) * PAGES);
}

#[test]
fn the_fuller_the_drive_the_smaller_the_region() {
    for (max, set) in [(u64::MAX, ALL), (6, "pslc.dynamic_bytes=96k")] {
        let mut rig = lent(&[set]);
        for page in (0..64).step_by(PAGES as usize) {
            // What is folded fills blocks one after the other.
            assert_eq!(room(&rig, page), blocks(0, page.div_ceil(8), max) * PAGES, "{page} pages");
            rig.write_pages(page..page + PAGES);
            rig.rest();
        }
        // Space that is discarded comes back once it has been collected.
        assert_eq!(rig.counters().pslc_pages_folded, 64);
    }
}

#[test]
fn idle_time_gives_back_what_was_borrowed() {
    let mut rig = lent(&[ALL]);
    for _ in 0..3 {
        // The same pages over and over: what is stale is not moved, and its blocks are erased.
        let fast = room(&rig, 0);
        writes(&mut rig, 0..16);
        assert_eq!(rig.latency_ns(read(15)), ONE_BIT_READ);
        assert_eq!(rig.latency_ns(read(60)), 0, "what was never written is nowhere");
        let before = rig.counters();
        let after = rig.rest();
        assert_eq!(after.pslc_pages_folded - before.pslc_pages_folded, 16);
        assert_eq!((after.block_erases - before.block_erases, after.gc_runs), (4, 0));
        assert_eq!(rig.latency_ns(read(15)), READ);
        assert_eq!(room(&rig, 0), fast - 2 * PAGES, "two full blocks less");
    }
    // Without it, it stays as it is.
    let mut rig = lent(&["pslc.dynamic_bytes=64k", "pslc.fold_when_idle=false"]);
    writes(&mut rig, 0..16);
    assert_eq!((rig.rest().pslc_pages_folded, room(&rig, 16)), (0, 0));
}

#[test]
fn when_all_is_lent_writes_wait_or_go_elsewhere() {
    let mut rig = lent(&["pslc.dynamic_bytes=64k", "pslc.overflow=fold"]);
    let four = [FOLD + ONE_BIT_WRITE, ONE_BIT_WRITE, ONE_BIT_WRITE, ONE_BIT_WRITE];
    assert_eq!(writes(&mut rig, 0..32), [vec![ONE_BIT_WRITE; 16], four.repeat(4)].concat());
    let last = rig.one(write(32));
    assert_eq!(last.attribution[Cause::Gc], FOLD);
    let mut rig = lent(&["pslc.dynamic_bytes=64k", "pslc.overflow=direct"]);
    assert_eq!(writes(&mut rig, 0..32), [[ONE_BIT_WRITE; 16], [WRITE; 16]].concat());
    assert_eq!(rig.counters().pslc_pages_folded, 0);
}

/// Fast while it lasts, then at the speed of the other blocks, and only when these run short at
/// that of folding beside the writes.
#[test]
fn written_past_all_of_it_a_drive_has_three_speeds() {
    for borrowed in [6, 7, 8] {
        let set = format!("pslc.dynamic_bytes={}", borrowed * PAGES * 4096);
        let mut rig = lent(&[&set, "over_provisioning_ratio=0.35"]);
        let pages = rig.capacity() / 4096;
        let found = writes(&mut rig, 0..pages);
        let first = found.iter().take_while(|&&ns| ns == ONE_BIT_WRITE).count() as u64;
        let rest = &found[first as usize..];
        let second = rest.iter().take_while(|&&ns| ns == WRITE).count() as u64;
        assert_eq!(first, borrowed * PAGES);
        // The write that fills the last block above the low-water mark meets its reads.
        assert_eq!(second + 1, (16 - borrowed - LOW_WATER) * 8, "{borrowed}");
        assert!(second + first < pages && rig.counters().pslc_pages_folded > 0);
        assert_eq!(rig.counters().gc_pages_moved, 0, "nothing else is worth it");
    }
}

#[test]
fn a_full_drive_lends_nothing_and_writes_do_not_wait_for_it() {
    for overflow in ["pslc.overflow=fold", "pslc.overflow=direct"] {
        let mut rig = lent(&[ALL, overflow, "over_provisioning_ratio=0.35"]);
        let pages = rig.capacity() / 4096;
        rig.run(r#"{"rw": "randwrite", "block_bytes": 4096, "requests": 2000, "seed": 3}"#);
        rig.rest();
        // Twelve blocks hold the data; more are taken by what is stale.
        assert_eq!(room(&rig, 0), 0, "{overflow}");
        let done = rig.run(r#"{"rw": "randread", "block_bytes": 4096, "requests": 300}"#);
        assert_eq!((done.failed_requests, pages), (0, 94));
    }
}

#[test]
fn a_prepared_drive_has_given_all_back() {
    let sets = ["nand.bits_per_cell=2", ALL, "pslc.program_ns=150000", "pslc.overflow=fold"];
    let mut rig = Rig::filled(&sets);
    assert_eq!(room(&rig, 0), blocks(0, 8, u64::MAX) * PAGES);
    assert_eq!(rig.counters().pslc_pages_folded, 0, "preparing is not counted");
}

#[test]
fn a_block_on_its_last_erase_is_not_lent() {
    for (endurance, times) in [(1, 0), (2, 1), (3, 2)] {
        let set = format!("nand.endurance_erases={endurance}");
        let mut rig = lent(&["pslc.dynamic_bytes=16k", &set]);
        let mut lent = 0;
        // The first page over and over: with each one folded a full block is begun, or goes on.
        for _ in 0..15 * times + 5 {
            let found = (0..PAGES).map(|_| rig.latency_ns(write(0))).collect::<Vec<_>>();
            lent += u64::from(found == [ONE_BIT_WRITE; PAGES as usize]);
            rig.rest();
        }
        let full = lent.div_ceil(8);
        assert!((15 * times - times * full..=15 * times).contains(&lent), "{lent}, {endurance}");
        let counters = rig.counters();
        assert_eq!((counters.block_erases, counters.retired_blocks), (lent, 0));
        assert_eq!(counters.erase_histogram.len() as u64, times + 1);
    }
}

#[test]
fn blocks_are_lent_with_superblocks_and_units_of_several_pages() {
    let shape = ["nand.channels=2", "nand.planes=2", "nand.pages_per_block=12"];
    for layout in [
        &[][..],
        &["ftl.map_unit_bytes=8k", "ftl.placement_pages=1"],
        &["ftl.reclaim_unit_bytes=196608"],
        &["wear.dynamic=true", "wear.static_spread_erases=3", "ftl.allocation=order"],
    ] {
        let mut rig = lent(&[&shape[..], layout, &[ALL]].concat());
        let step = 4 * 6;
        rig.run(r#"{"rw": "write", "block_bytes": 8192, "size_bytes": 786432}"#);
        assert_eq!(rig.counters().pslc_pages_folded, 0, "{layout:?}");
        assert_eq!(rig.rest().pslc_pages_folded, 8 * step, "{layout:?}");
        rig.run(r#"{"rw": "randwrite", "block_bytes": 8192, "iodepth": 8, "requests": 3000}"#);
        let done = rig.run(r#"{"rw": "randread", "block_bytes": 4096, "requests": 300}"#);
        assert_eq!(done.failed_requests, 0);
    }
}

#[test]
fn a_region_that_could_borrow_nothing_is_refused_with_both_values() {
    for (sets, reason) in [
        (&["pslc.dynamic_bytes=64k"][..], "65536 bytes with one bit per cell are nothing special"),
        (
            &["nand.bits_per_cell=2", "pslc.dynamic_bytes=8k"],
            "8192 is below 16384, a block of every plane (or superblock) with \
             1 / nand.bits_per_cell = 1 / 2 of its pages",
        ),
    ] {
        let lines = complaint(PAGE_DRIVE, sets);
        let place = ": pslc.dynamic_bytes: ";
        assert!(lines[0].contains(place) && lines[0].contains(reason), "{sets:?}: {lines:?}");
    }
}
