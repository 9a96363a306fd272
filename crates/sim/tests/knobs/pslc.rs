//! A region written with one bit per cell, in closed form.

use crate::faults::complaint;
use crate::rig::{
    ERASE, NO_LINK, PAGE_DRIVE, PROGRAM_COMMAND, READ, READ_COMMAND, Rig, TRANSFER, WRITE, read,
    write,
};
use ssdscope_io::Cause;

knobs! {
    "nand.bits_per_cell" => a_block_with_one_bit_per_cell_holds_so_much_less,
    "pslc.bytes" => so_many_bytes_are_written_at_full_speed,
    "pslc.read_ns" => what_is_there_is_read_faster,
    "pslc.program_ns" => what_goes_there_is_written_faster,
    "pslc.fold_when_idle" => idle_time_empties_it,
    "pslc.overflow" => when_it_is_full_writes_wait_or_go_elsewhere,
}

pub const ONE_BIT_READ: u64 = READ_COMMAND + 20_000 + TRANSFER;
pub const ONE_BIT_WRITE: u64 = PROGRAM_COMMAND + TRANSFER + 150_000;
/// Moving a block of four pages.
pub const FOLD: u64 = 4 * (ONE_BIT_READ + WRITE) + ERASE;

/// The page-mapped drive without a link, never written, with two bits per cell and four blocks
/// of four pages with one.
pub fn fresh(sets: &[&str]) -> Rig {
    let region = [
        "nand.bits_per_cell=2",
        "pslc.bytes=64k",
        "pslc.read_ns=20000",
        "pslc.program_ns=150000",
        "gc.idle_ns=1000000000",
    ];
    Rig::open(PAGE_DRIVE, &[&NO_LINK[..], &region, sets].concat(), None)
}

/// Latencies of writes of pages in a row, one after the other.
pub fn writes(rig: &mut Rig, pages: std::ops::Range<u64>) -> Vec<u64> {
    pages.map(|page| rig.latency_ns(write(page))).collect()
}

fn so_many_bytes_are_written_at_full_speed() {
    for (bytes, pages) in [("0", 0), ("16k", 4), ("48k", 12), ("64k", 16)] {
        let mut rig = fresh(&[&format!("pslc.bytes={bytes}"), "pslc.overflow=direct"]);
        let fast = vec![ONE_BIT_WRITE; pages];
        let found = writes(&mut rig, 0..32);
        assert_eq!(found, [fast, vec![WRITE; 32 - pages]].concat(), "{bytes}");
    }
}

fn when_it_is_full_writes_wait_or_go_elsewhere() {
    // Direct: at the speed of the other blocks. Fold: one write in four waits for a block.
    let mut rig = fresh(&["pslc.overflow=fold"]);
    let found = writes(&mut rig, 0..32);
    let four = [FOLD + ONE_BIT_WRITE, ONE_BIT_WRITE, ONE_BIT_WRITE, ONE_BIT_WRITE];
    assert_eq!(found, [vec![ONE_BIT_WRITE; 16], four.repeat(4)].concat());
    let counters = rig.rest();
    assert_eq!((counters.pslc_pages_folded, counters.block_erases), (32, 8), "at rest too");
    assert_eq!((counters.gc_pages_moved, counters.gc_runs), (0, 0));
    let waited = fresh(&["pslc.overflow=fold"]).together(&(0..17).map(write).collect::<Vec<_>>());
    assert_eq!(waited[16].attribution[Cause::Gc], waited[16].latency().0 - ONE_BIT_WRITE);
    // What is written over before it is folded is not moved.
    let mut rig = fresh(&["pslc.overflow=fold"]);
    rig.write_pages((0..4).cycle().take(40));
    assert_eq!(rig.counters().pslc_pages_folded, 0);
    assert_eq!(rig.latency_ns(write(0)), ERASE + ONE_BIT_WRITE);
}

fn what_is_there_is_read_faster() {
    for read_ns in [20_000, 45_000] {
        let mut rig = fresh(&[&format!("pslc.read_ns={read_ns}"), "pslc.overflow=direct"]);
        rig.write_pages(0..32);
        let there = READ_COMMAND + read_ns + TRANSFER;
        assert_eq!(rig.latency_ns(read(15)), there);
        assert_eq!(rig.latency_ns(read(16)), READ);
        // Folded, it is like any other.
        rig.rest();
        assert_eq!(rig.latency_ns(read(15)), READ);
        assert_eq!(rig.latency_ns(read(60)), 0, "what was never written is nowhere");
    }
}

fn what_goes_there_is_written_faster() {
    for program_ns in [100_000, 400_000] {
        let mut rig = fresh(&[&format!("pslc.program_ns={program_ns}")]);
        let expected = PROGRAM_COMMAND + TRANSFER + program_ns;
        assert_eq!(rig.latency_ns(write(0)), expected);
    }
}

fn idle_time_empties_it() {
    for (folds, fast) in [(true, 16), (false, 2)] {
        let mut rig = fresh(&[&format!("pslc.fold_when_idle={folds}")]);
        // A block that is only begun is emptied, too, being a good part of four.
        writes(&mut rig, 0..14);
        rig.idle(999_999_999);
        assert_eq!(rig.counters().pslc_pages_folded, 0);
        let counters = rig.rest();
        assert_eq!(counters.pslc_pages_folded, if folds { 14 } else { 0 });
        let found = writes(&mut rig, 20..40);
        assert_eq!(found.iter().position(|&ns| ns != ONE_BIT_WRITE), Some(fast), "{folds}");
    }
    // A prepared drive has had its rest.
    let region = ["nand.bits_per_cell=2", "pslc.bytes=64k", "pslc.program_ns=150000"];
    let mut rig = Rig::filled(&[&region[..], &["pslc.overflow=direct"]].concat());
    let found = writes(&mut rig, 0..20);
    assert_eq!(found.iter().filter(|&&ns| ns == ONE_BIT_WRITE).count(), 16);
}

/// A pause after each write costs nothing: what is erased was written full. In a small region a
/// block that is begun is folded if it holds a sixteenth of it.
#[test]
fn a_pause_folds_only_blocks_that_are_full() {
    for (own, lent, least) in [(16, 0, 4), (0, 16, 4), (9, 20, 4), (4, 4, 2), (6, 3, 3), (4, 0, 1)]
    {
        let mut rig = fresh(&[
            "nand.blocks_per_plane=64",
            &format!("pslc.bytes={}", own * 16_384),
            &format!("pslc.dynamic_bytes={}", lent * 16_384),
        ]);
        for written in 1..=40 {
            rig.write_pages([written]);
            let (counters, erases) = (rig.rest(), written / least);
            let folded = erases * least;
            assert_eq!((counters.block_erases, counters.pslc_pages_folded), (erases, folded));
            assert_eq!(counters.flash_bytes_programmed, (written + folded) * 4096);
        }
    }
}

fn a_block_with_one_bit_per_cell_holds_so_much_less() {
    // As many blocks hold half, a third, a quarter of eight pages.
    for (bits, pages) in [(2, 4), (3, 2), (4, 2)] {
        let sets = [
            &format!("nand.bits_per_cell={bits}")[..],
            &format!("pslc.bytes={}", 3 * pages * 4096),
        ];
        let mut rig = fresh(&sets);
        let found = writes(&mut rig, 0..30);
        let fold = pages * (ONE_BIT_READ + WRITE) + ERASE;
        let waits: Vec<u64> = found.into_iter().filter(|&ns| ns != ONE_BIT_WRITE).collect();
        assert_eq!(
            waits,
            vec![fold + ONE_BIT_WRITE; (30 - 3 * pages as usize).div_ceil(pages as usize)]
        );
    }
}

#[test]
fn a_drive_prepared_in_order_of_arrival_has_its_data_on_all_planes() {
    let sets = [
        "nand.channels=4",
        "nand.blocks_per_plane=40",
        "over_provisioning_ratio=0.6",
        "ftl.allocation=order",
        "nand.bits_per_cell=2",
        "pslc.bytes=256k",
        "gc.idle_ns=1000000000",
    ];
    let overwrites_before_collection = |mut rig: Rig| {
        let pages = rig.capacity() / 4096;
        (0..)
            .take_while(|n| {
                rig.write_pages([n * 7 % pages]);
                rig.counters().gc_runs == 0
            })
            .count()
    };
    let mut by_writes = Rig::open(PAGE_DRIVE, &sets, None);
    by_writes.write_pages(0..by_writes.capacity() / 4096);
    by_writes.rest();
    let fair = overwrites_before_collection(by_writes);
    let prepared = overwrites_before_collection(Rig::filled(&sets));
    assert!(prepared.abs_diff(fair) * 5 < fair, "{prepared} and {fair}");
}

#[test]
fn a_region_goes_with_superblocks_and_units_of_several_pages() {
    let shape = ["nand.channels=2", "nand.planes=2", "nand.pages_per_block=12"];
    for (layout, step) in [
        (&[][..], 4 * 6),
        (&["ftl.map_unit_bytes=8k", "ftl.placement_pages=1"], 4 * 6),
        (&["ftl.reclaim_unit_bytes=196608"], 4 * 6),
    ] {
        let bytes = format!("pslc.bytes={}", 2 * step * 4096);
        let mut rig = fresh(&[&shape[..], layout, &[&bytes, "pslc.overflow=direct"]].concat());
        rig.run(r#"{"rw": "write", "block_bytes": 8192}"#);
        let before = rig.counters();
        assert_eq!(before.pslc_pages_folded, 0, "{layout:?}");
        // All of the region was filled, and is emptied.
        assert_eq!(rig.rest().pslc_pages_folded, 2 * step, "{layout:?}");
        rig.run(r#"{"rw": "randwrite", "block_bytes": 8192, "iodepth": 8, "requests": 3000}"#);
        let done = rig.run(r#"{"rw": "randread", "block_bytes": 4096, "requests": 300}"#);
        assert_eq!(done.failed_requests, 0);
    }
}

#[test]
fn a_region_that_cannot_work_is_refused_with_both_values() {
    for (key, sets, reason) in [
        ("pslc.bytes", &["pslc.bytes=64k"][..], "65536 bytes with one bit per cell are nothing"),
        (
            "pslc.bytes",
            &["nand.bits_per_cell=3", "pslc.bytes=12k"],
            "12288 is not a multiple of 8192, a block of every plane (or superblock) with \
             1 / nand.bits_per_cell = 1 / 3 of its pages",
        ),
        (
            "nand.bits_per_cell",
            &["nand.bits_per_cell=3", "nand.pages_per_block=2", "pslc.bytes=4k"],
            "3 leave no mapping unit in a block of nand.pages_per_block = 2",
        ),
        (
            "over_provisioning_ratio",
            &["nand.bits_per_cell=2", "pslc.bytes=80k"],
            "leaves 3 spare blocks in a plane of 11, but 4 are needed (gc.stop_writes_blocks = 1 \
             + 2 being written + 1 to clean with); pslc.bytes = 81920 takes 5",
        ),
        (
            "pslc.overflow",
            &[
                "nand.bits_per_cell=2",
                "pslc.bytes=16k",
                "pslc.overflow=direct",
                "pslc.fold_when_idle=false",
            ],
            "is \"direct\" while pslc.fold_when_idle = false",
        ),
    ] {
        let lines = complaint(PAGE_DRIVE, sets);
        let place = format!(": {key}: ");
        assert!(lines[0].contains(&place) && lines[0].contains(reason), "{sets:?}: {lines:?}");
    }
}
